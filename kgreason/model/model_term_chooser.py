"""A language model chooses, among words offered, by which a hypothesis is looked up further."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from kgreason.context.view import View
from kgreason.model.answers import READ
from kgreason.model.calling import Asking, Caller, judged
from kgreason.model.choosing import TRIES
from kgreason.model.likelihoods import one_line
from kgreason.model.prompts import fenced, prompt
from kgreason.record.model_calls import ModelCall

PURPOSE: Final = "choose terms"
_ANSWER: Final = 600


class LookedUp(Protocol):
    """What is to be looked up: a hypothesis, the terms that would be asked for, and all words."""

    @property
    def kind(self) -> str:
        """The kind of look-up."""
        ...

    @property
    def statement(self) -> str:
        """The words of the hypothesis."""
        ...

    @property
    def terms(self) -> tuple[str, ...]:
        """The terms that are asked for where nobody chooses."""
        ...

    @property
    def most(self) -> int:
        """As many terms may be chosen."""
        ...

    @property
    def words(self) -> tuple[str, ...]:
        """The words of which the terms may be made."""
        ...


@dataclass
class ModelTermChooser:
    """Asks a model for terms; it never raises for what a model does."""

    caller: Caller
    _kept: list[ModelCall] = field(default_factory=list, init=False, repr=False)

    def choose_terms(
        self, view: View, asked: Sequence[LookedUp], /
    ) -> Mapping[int, tuple[str, ...]]:
        """Return terms by the place of the look-up; what is refused stays as it is.

        What is refused is sent back with the reason.
        """
        names = {f"Q{n}": place for place, n in enumerate(range(1, len(asked) + 1))}
        words = dict.fromkeys(word for one in asked for word in one.words)
        offered = tuple(f"term {word}" for word in words)
        lines = "\n".join(_told(name, asked[place]) for name, place in names.items())
        found: dict[int, tuple[str, ...]] = {}
        refused: list[str] = []
        for _ in range(TRIES):
            shown = "\n".join(f"- {why}" for why in refused)
            most = max((one.most for one in asked), default=0)
            made = prompt("terms", queries=fenced(lines), most=most, refused=shown)
            asking = Asking(PURPOSE, made, "terms", _schema(list(names)), _ANSWER, offered)
            reply, calls = self.caller.ask(asking, view.budget)
            if reply is None:
                self._kept += calls
                break
            read, refused = _read(reply.text, {n: asked[p] for n, p in names.items()})
            chosen = [f"term {term}" for terms in read.values() for term in terms]
            why = one_line(" ".join(refused), 600)
            self._kept += judged(calls, chosen, "" if read else why, why)
            found |= {names[name]: terms for name, terms in read.items()}
            if not refused:
                break
        return found

    def taken(self) -> tuple[ModelCall, ...]:
        """Return the calls that are not recorded yet, and forget them."""
        calls, self._kept = tuple(self._kept), []
        return calls


def _told(name: str, one: LookedUp) -> str:
    wanted = "against it" if one.kind.startswith("adversarial") else "whether it holds"
    said = {"hypothesis": one.statement, "wanted": wanted, "words": list(one.words)}
    return f"{name} {json.dumps(said, ensure_ascii=False)}"


def _schema(names: list[str]) -> dict[str, Any]:
    terms = {"type": "array", "items": {"type": "string"}}
    one = {
        "type": "object",
        "properties": {"about": {"type": "string", "enum": names}, "terms": terms},
        "required": ["about", "terms"],
        "additionalProperties": False,
    }
    return {
        "type": "object",
        "properties": {"queries": {"type": "array", "items": one}},
        "required": ["queries"],
        "additionalProperties": False,
    }


def _read(text: str, asked: Mapping[str, LookedUp]) -> tuple[dict[str, tuple[str, ...]], list[str]]:
    """Return the terms of an answer by name, and why others are refused."""
    try:
        several = json.loads(text[text.find("{") : text.rfind("}") + 1])["queries"]
    except (ValueError, KeyError, TypeError, RecursionError):
        several = None
    if not isinstance(several, list):
        return {}, ['The answer is no object {"queries": [...]}.']
    read: dict[str, tuple[str, ...]] = {}
    refused: list[str] = []
    for one in several[:READ]:
        name = one_line(one.get("about"), 20) if isinstance(one, Mapping) else ""
        terms = one.get("terms") if isinstance(one, Mapping) else None
        if name not in asked:
            refused.append(f"There is no query {name!r}.")
        elif not isinstance(terms, list) or not 1 <= len(terms) <= asked[name].most:
            refused.append(f"{name}: give one to {asked[name].most} terms.")
        elif wrong := [one_line(t, 40) for t in terms if t not in asked[name].words]:
            refused.append(f"{name}: {wrong[0]!r} is none of its words.")
        else:
            read[name] = tuple(dict.fromkeys(terms))
    return read, refused
