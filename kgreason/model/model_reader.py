"""A language model as a reader of passages: what they say of a hypothesis, and by which words.

It chooses among the passages that it is shown, gives two probabilities for each, which are clamped,
and quotes words of it. What it quotes has to stand in the passage; else the reading is refused, and
sent back with the reason.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from kgreason.base.figures import integer
from kgreason.context.view import View
from kgreason.model.answers import READ
from kgreason.model.calling import Asking, Caller, judged
from kgreason.model.likelihoods import clamped, one_line, side
from kgreason.model.prompts import fenced, prompt
from kgreason.record.model_calls import ModelCall
from kgreason.test.finding import Reading

PURPOSE: Final = "read passages"
_ANSWER: Final = 1500
_LONGEST: Final = 1000
_SAID: Final = {1: "supports", -1: "contradicts", 0: "neither"}


@dataclass
class ModelReader:
    """Asks a model what passages say; it never raises for what a model does."""

    caller: Caller
    _kept: list[ModelCall] = field(default_factory=list, init=False, repr=False)

    def read_passages(
        self, view: View, statement: str, quotes: Mapping[str, str], /
    ) -> Mapping[str, Reading]:
        """Return what passages, by their keys, say of a hypothesis.

        What is refused is sent back with the reason, and in the end not read.
        """
        keys = {f"P{n}": key for n, key in enumerate(quotes, start=1)}
        found: dict[str, Reading] = {}
        left, refused = dict(keys), ""
        for _ in range(integer("readingTries")):
            shown = {name: quotes[key] for name, key in left.items()}
            lines = "\n".join(f"{name} {json.dumps(text)}" for name, text in shown.items())
            made = prompt(
                "read", hypothesis=fenced(statement), passages=fenced(lines), refused=refused
            )
            offered = tuple(f"passage {key}" for key in left.values())
            asking = Asking(PURPOSE, made, "read", _schema(list(left)), _ANSWER, offered)
            reply, calls = self.caller.ask(asking, view.budget)
            if reply is None:
                self._kept += calls
                break
            read, faults = _read(reply.text, shown)
            refused = "\n".join(f"- {name}: {why}" for name, why in faults.items())
            told = " ".join(f"{keys.get(name, name)}: {why}" for name, why in faults.items())
            chosen = [f"passage {keys[name]}" for name in read]
            self._kept += judged(calls, chosen, "" if read else told, told)
            found |= {keys[name]: one for name, one in read.items()}
            left = {name: key for name, key in left.items() if name not in read}
            if not faults or not left:
                break
        return found

    def taken(self) -> tuple[ModelCall, ...]:
        """Return the calls that are not recorded yet, and forget them."""
        calls, self._kept = tuple(self._kept), []
        return calls


def _schema(names: list[str]) -> dict[str, Any]:
    one = {
        "type": "object",
        "properties": {
            "passage": {"type": "string", "enum": names},
            "if_true": {"type": "number"},
            "if_false": {"type": "number"},
            "span": {"type": "string"},
        },
        "required": ["passage", "if_true", "if_false", "span"],
        "additionalProperties": False,
    }
    return {
        "type": "object",
        "properties": {"readings": {"type": "array", "items": one}},
        "required": ["readings"],
        "additionalProperties": False,
    }


def _read(text: str, quotes: Mapping[str, str]) -> tuple[dict[str, Reading], dict[str, str]]:
    """Return the readings of an answer that hold, and why others do not, by name of passage."""
    try:
        several = json.loads(text[text.find("{") : text.rfind("}") + 1])["readings"]
    except (ValueError, KeyError, TypeError, RecursionError):
        several = None
    if not isinstance(several, list):
        return {}, {"answer": 'It is no object {"readings": [...]}.'}
    read: dict[str, Reading] = {}
    faults: dict[str, str] = {}
    for one in several[:READ]:
        name = one_line(one.get("passage"), 20) if isinstance(one, Mapping) else ""
        if name not in quotes:
            faults[name or "answer"] = "There is no such passage."
        elif name not in read:
            try:
                read[name] = _reading(one, quotes[name])
            except (KeyError, TypeError, ValueError) as error:
                faults[name] = f"{error}"
    return read, faults


def _reading(one: Mapping[str, Any], quote: str) -> Reading:
    """Return one reading; raises TypeError or ValueError, with a sentence, for one of no use."""
    try:
        pair = clamped(one["if_true"]), clamped(one["if_false"])
    except (KeyError, TypeError) as error:
        raise ValueError("Both probabilities have to be numbers.") from error
    said, span = _SAID[side(*pair)], one_line(one.get("span"), _LONGEST)
    if said != "neither":
        if span not in quote:
            raise ValueError("The words of the span do not stand in the passage.")
        least = min(integer("spanWords"), len(quote.split()))
        if len(span.split()) < least:
            raise ValueError(f"The span has fewer than {least} words.")
    return Reading(said, span if span in quote else "", pair)
