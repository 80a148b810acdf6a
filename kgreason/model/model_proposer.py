"""A language model as a proposer: it is asked for causes of a symptom, and told what is refused."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Final

from kgreason.context.view import View
from kgreason.graph.names import Names
from kgreason.hypothesize.candidates import Candidate
from kgreason.hypothesize.proposal_rules import LEAST, MOST, WORDS, Asked
from kgreason.hypothesize.proposer import Advice, Brief, Suggestion
from kgreason.model.answers import Answer, read_answer, schema
from kgreason.model.client import Client, ModelError, Question, Reply
from kgreason.model.data_summary import summary
from kgreason.model.options import Options, options
from kgreason.model.prompts import Prompt, fenced, prompt
from kgreason.model.spending import Spending
from kgreason.record.agents import Agent, model_agent
from kgreason.record.model_calls import ModelCall

PURPOSE: Final = "propose causes"
_ANSWER: Final = 4000
_RETRIES: Final = 2
"""How often a call that failed for a reason that may pass is made again."""
_PAUSE: Final = 0.5


@dataclass
class ModelProposer:
    """Asks a model for causes; whatever it answers goes the way of all candidates.

    It is shown the discovery half alone. It never raises for what a model does: a call that fails
    is recorded, and the run goes on without it. `earlier` are calls that were made before there was
    a record, and go into it with the first that are made here. `pause` is the seconds before a call
    is repeated.
    """

    client: Client
    spending: Spending = field(default_factory=Spending)
    select: bool = True
    pause: float = _PAUSE
    earlier: tuple[ModelCall, ...] = ()
    mines: bool = False
    blinded: bool = True

    @property
    def agent(self) -> Agent:
        """The model, by its provider and name."""
        return agent_of(self.client)

    def propose(self, view: View, /) -> Iterator[Suggestion]:
        """Return the suggestions of one answer, without being asked again."""
        said = self.advise(view, Brief(Asked("Why?"))).suggestions
        return (one for one in said if isinstance(one, Suggestion))

    def refine(
        self, _view: View, _parent: Candidate, _others: Sequence[Candidate], /
    ) -> Iterator[Suggestion]:
        """Return nothing: a model is asked for causes alone."""
        return iter(())

    def advise(self, view: View, brief: Brief, /) -> Advice:
        """Ask the model once, again where the server failed, and read what it answers."""
        names = Names(view.graph)
        key = f"options:{view.marks.failing.value}"
        offered: Options = view.kept.setdefault(key, None) or options(
            view, names, select=self.select
        )
        view.kept[key] = offered
        made = _prompt(view, brief, offered, names)
        calls, self.earlier = list(self.earlier), ()
        for attempt in range(_RETRIES + 1):
            reply, call, again = self._call(view, made, offered)
            if reply is not None:
                answer = read_answer(reply.text, view, offered)
                return self._advice(answer, reply, call, calls)
            calls.append(call)
            if not again or attempt == _RETRIES:
                break
            time.sleep(self.pause * 2**attempt)
        return Advice((), tuple(calls), final=True)

    def _advice(
        self, answer: Answer, reply: Reply, call: ModelCall, before: Sequence[ModelCall]
    ) -> Advice:
        """Return an answer as advice, with the call that brought it as the last one."""
        done = replace(call, chosen=answer.chosen, answer=reply.text)
        if answer.wrong:
            done = replace(done, outcome="unusable", reason=answer.wrong)
        return Advice(answer.suggestions, (*before, done))

    def _call(
        self, view: View, made: Prompt, offered: Options
    ) -> tuple[Reply | None, ModelCall, bool]:
        """Make one call, if the budgets allow it; gives whether to repeat it may help."""

        def call(outcome: str, reason: str = "", reply: Reply | None = None) -> ModelCall:
            reply = reply or Reply("")
            price = self.spending.price
            return ModelCall(
                self.agent,
                PURPOSE,
                self.client.model,
                made.template,
                made.text,
                offered.recorded,
                outcome=outcome,
                reason=reason,
                input_tokens=reply.input_tokens,
                output_tokens=reply.output_tokens,
                usd=price.of(reply.input_tokens, reply.output_tokens) if price else None,
                seconds=Decimal(f"{time.monotonic() - begun:.3f}"),
            )

        begun = time.monotonic()
        most, why = self.spending.left(made.text, _ANSWER)
        cut = view.budget.spent("model call")
        if cut is not None:
            return None, call("not made", f"The run {cut}."), False
        if not most:
            return None, call("not made", f"The budget is spent: {why}."), False
        try:
            reply = self.client.complete(Question(made.text, "propose", schema(offered), most))
        except ModelError as error:
            return None, call("failed", str(error)), error.again
        view.budget.charge(self.spending.charge(reply.input_tokens, reply.output_tokens))
        return reply, call("answered", reply=reply), False


def agent_of(client: Client) -> Agent:
    """Return the agent that a model is, by its provider and name."""
    return model_agent(f"{client.provider}:{client.model}")


def _prompt(view: View, brief: Brief, offered: Options, names: Names) -> Prompt:
    """Fill in the prompt; whatever comes from the graph or from a model stands in a fence."""
    past = [f"{one.name} ({one.status}): {one.statement}" for one in brief.asked.past]
    refused = [f"- {one.statement}: {one.fault.reason}" for one in brief.refused]
    return prompt(
        "propose",
        question=brief.asked.question,
        data=fenced(summary(view, offered, names)),
        past=fenced("\n".join(past)) if past else "",
        kept=fenced("\n".join(f"- {one}" for one in brief.kept)) if brief.kept else "",
        refused=fenced("\n".join(refused)) if refused else "",
        lacking=brief.lacking.reason if brief.lacking else "",
        attempt=brief.attempt,
        least=LEAST,
        most=MOST,
        words=WORDS,
        kinds=offered.kinds,
        select=offered.select,
    )
