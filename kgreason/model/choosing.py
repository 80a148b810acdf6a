"""A model says which of several readings of a question is meant: a number among those offered."""

import json
from collections.abc import Sequence
from typing import Any, Final

from kgreason.base.figures import integer
from kgreason.model.calling import Asking, Caller, judged
from kgreason.model.client import Client
from kgreason.model.prompts import fenced, prompt
from kgreason.model.spending import Spending
from kgreason.observe.question import Offered
from kgreason.record.model_calls import ModelCall

PURPOSE: Final = "choose a reading"
TRIES: Final = integer("choiceTries")
"""As often a model is asked for a choice."""
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
    caller, refused = Caller(client, spending), ""
    for _ in range(TRIES):
        made = prompt("choose", question=question, data=fenced("\n".join(options)), refused=refused)
        reply, asked = caller.ask(Asking(PURPOSE, made, "choose", _SCHEMA, _ANSWER, options))
        if reply is None:
            calls += asked
            break
        place = _place(reply.text, len(offered))
        if place is not None:
            return place, (*calls, *judged(asked, [options[place]]))
        refused = f"The answer names none of the readings 1 to {len(offered)}."
        calls += judged(asked, wrong=refused)
    return 0, tuple(calls)


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
