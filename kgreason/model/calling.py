"""Calling: one question to a model, within the budgets, and how it is recorded."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any, Final

from kgreason.base.budget import UNLIMITED, Budget
from kgreason.model.client import Client, ModelError, Question, Reply
from kgreason.model.prompts import Prompt
from kgreason.model.spending import Spending
from kgreason.record.agents import Agent, model_agent
from kgreason.record.model_calls import ModelCall

_RETRIES: Final = 2
"""How often a call that failed for a reason that may pass is made again."""
PAUSE: Final = 0.5
"""Seconds before a call is made again the first time; then twice as many."""


@dataclass(frozen=True)
class Asking:
    """What is asked: the purpose, the prompt, the name and schema of the answer, all options."""

    purpose: str
    made: Prompt
    name: str
    schema: dict[str, Any] = field(repr=False)
    most: int
    offered: tuple[str, ...] = ()


@dataclass
class Caller:
    """A model with what it may cost; it never raises for what a model does.

    `pause` is the seconds before a call that failed is repeated.
    """

    client: Client
    spending: Spending = field(default_factory=Spending)
    pause: float = PAUSE

    @property
    def agent(self) -> Agent:
        """The model, by its provider and name."""
        return model_agent(f"{self.client.provider}:{self.client.model}")

    def ask(
        self, asking: Asking, budget: Budget = UNLIMITED
    ) -> tuple[Reply | None, list[ModelCall]]:
        """Return the reply, or None, and the calls that were made or not made, in their order.

        A call that the server failed is made again; what is over budget is not made.
        """
        calls: list[ModelCall] = []
        for attempt in range(_RETRIES + 1):
            reply, call, again = self._once(asking, budget)
            calls.append(call)
            if reply is not None or not again or attempt == _RETRIES:
                return reply, calls
            time.sleep(self.pause * 2**attempt)
        return None, calls

    def _once(self, asking: Asking, budget: Budget) -> tuple[Reply | None, ModelCall, bool]:
        """Make one call, if the budgets allow it; gives whether to repeat it may help."""
        begun = time.monotonic()

        def call(outcome: str, reason: str = "", reply: Reply | None = None) -> ModelCall:
            reply = reply or Reply("")
            price = self.spending.price
            return ModelCall(
                self.agent,
                asking.purpose,
                self.client.model,
                asking.made.template,
                asking.made.text,
                asking.offered,
                answer=reply.text,
                outcome=outcome,
                reason=reason,
                input_tokens=reply.input_tokens,
                output_tokens=reply.output_tokens,
                usd=price.of(reply.input_tokens, reply.output_tokens) if price else None,
                seconds=Decimal(f"{time.monotonic() - begun:.3f}"),
            )

        most, why = self.spending.left(asking.made.text, asking.most)
        cut = budget.spent("model call")
        if cut is not None:
            return None, call("not made", f"The run {cut}."), False
        if not most:
            return None, call("not made", f"The budget is spent: {why}."), False
        try:
            question = Question(asking.made.text, asking.name, asking.schema, most)
            reply = self.client.complete(question)
        except ModelError as error:
            return None, call("failed", str(error)), error.again
        budget.charge(self.spending.charge(reply.input_tokens, reply.output_tokens))
        return reply, call("answered", reply=reply), False


def judged(
    calls: Sequence[ModelCall], chosen: Sequence[str] = (), wrong: str = "", partly: str = ""
) -> list[ModelCall]:
    """Return calls of which the last one says what was taken of its answer, or what is wrong.

    `partly` says what was refused of an answer of which the rest was taken.
    """
    last = replace(calls[-1], chosen=tuple(dict.fromkeys(chosen)), reason=partly)
    if wrong:
        last = replace(last, outcome="unusable", reason=wrong)
    return [*calls[:-1], last]
