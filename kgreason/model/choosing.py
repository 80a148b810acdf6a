"""A model says which of several readings of a question is meant: a number among those offered."""

import json
import time
from collections.abc import Sequence
from decimal import Decimal
from typing import Any, Final

from kgreason.base.figures import integer
from kgreason.model.client import Client, ModelError, Question, Reply
from kgreason.model.model_proposer import agent_of
from kgreason.model.prompts import fenced, prompt
from kgreason.model.spending import Spending
from kgreason.observe.question import Offered
from kgreason.record.model_calls import ModelCall

PURPOSE: Final = "choose a reading"
_ANSWER: Final = 500


def choose(
    client: Client, spending: Spending, question: str, offered: Sequence[Offered]
) -> tuple[int, tuple[ModelCall, ...]]:
    """Return the place of the reading that a model chooses, from 0, and the calls for the record.

    A choice that is not offered is refused, and the model is asked again; then the first reading
    is taken, which fits the most words.
    """
    options = tuple(f"reading {n}: {one.words}" for n, one in enumerate(offered, start=1))
    calls: list[ModelCall] = []
    refused = ""
    for _ in range(integer("choiceTries")):
        made = prompt("choose", question=question, data=fenced("\n".join(options)), refused=refused)
        begun = time.monotonic()
        reply, outcome, reason = _asked(client, spending, made.text)
        place = None if reply is None else _place(reply.text, len(offered))
        if reply is not None and place is None:
            outcome = "unusable"
            reason = refused = f"The answer names none of the readings 1 to {len(offered)}."
        price, reply = spending.price, reply or Reply("")
        calls.append(
            ModelCall(
                agent_of(client),
                PURPOSE,
                client.model,
                made.template,
                made.text,
                options,
                () if place is None else (options[place],),
                reply.text,
                outcome,
                reason,
                reply.input_tokens,
                reply.output_tokens,
                price.of(reply.input_tokens, reply.output_tokens) if price else None,
                Decimal(f"{time.monotonic() - begun:.3f}"),
            )
        )
        if place is not None:
            return place, tuple(calls)
        if outcome != "unusable":
            break
    return 0, tuple(calls)


def _asked(client: Client, spending: Spending, text: str) -> tuple[Reply | None, str, str]:
    """Make a call; gives the reply or None, the outcome and the reason."""
    most, why = spending.left(text, _ANSWER)
    if not most:
        return None, "not made", f"The budget is spent: {why}."
    try:
        reply = client.complete(Question(text, "choose", _SCHEMA, most))
    except ModelError as error:
        return None, "failed", str(error)
    spending.charge(reply.input_tokens, reply.output_tokens)
    return reply, "answered", ""


_SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {"choice": {"type": "integer"}},
    "required": ["choice"],
    "additionalProperties": False,
}


def _place(text: str, many: int) -> int | None:
    try:
        found = json.loads(text[text.find("{") : text.rfind("}") + 1])
        number = found["choice"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    whole = isinstance(number, int) and not isinstance(number, bool)
    return number - 1 if whole and 1 <= number <= many else None
