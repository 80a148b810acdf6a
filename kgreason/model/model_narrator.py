"""A language model as a narrator: it resolves the competition in words, with what tests returned.

Each sentence cites evidence. One that cites none, or has a number that stands in none of what it
cites, is sent back twice with the reason, then dropped, and the record says so.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pyoxigraph as ox

from kgreason.base.figures import integer
from kgreason.base.terms import PROV
from kgreason.context.context import Context
from kgreason.context.symptom import Symptom
from kgreason.hypothesize.consulting import TRIES
from kgreason.model.calling import Asking, Caller, judged
from kgreason.model.dossier import Dossier, dossier
from kgreason.model.prompts import fenced, prompt
from kgreason.record import Step
from kgreason.record.agents import introduce
from kgreason.record.model_calls import ModelCall, write_calls
from kgreason.shacl import names

PURPOSE: Final = "narrate"
_MOST: Final = integer("narratedMost")
_ANSWER: Final = 2000
_LONGEST: Final = 400
_NUMBER: Final = re.compile(r"\d+(?:[.,]\d+)*")
_NAMES: Final = re.compile(r"\b[EH]\d+\b")


@dataclass(frozen=True)
class Told:
    """A sentence with the names of what it cites, the call it came with, and what is wrong."""

    text: str
    cites: tuple[str, ...]
    call: int
    wrong: str = ""


@dataclass
class ModelNarrator:
    """Asks a model how the hypotheses on a symptom compete; the report is complete without it."""

    caller: Caller

    def tell(
        self, question: str, known: Dossier, context: Context
    ) -> tuple[list[Told], list[ModelCall]]:
        """Return sentences by place, each kept or wrong in the end, and the calls."""
        told: dict[int, Told] = {}
        calls: list[ModelCall] = []
        offered = tuple(line.name for line in known.evidence)
        for attempt in range(1, TRIES + 1):
            made = prompt(
                "narrate",
                question=question,
                dossier=fenced(known.text),
                kept=_fenced([f"{n}. {one.text}" for n, one in told.items() if not one.wrong]),
                refused=_fenced(
                    [f"{n}. {one.text}: {one.wrong}" for n, one in told.items() if one.wrong]
                ),
                attempt=attempt,
                most=_MOST,
            )
            asking = Asking(PURPOSE, made, "narrate", _schema(offered), _ANSWER, offered)
            reply, asked = self.caller.ask(asking, context.budget)
            if reply is None:
                calls += asked
                break
            found = _read(reply.text, known, len(calls) + len(asked) - 1)
            wrong = "" if found is not None else "The answer is no list of sentences."
            chosen = [name for one in (found or {}).values() if not one.wrong for name in one.cites]
            calls += judged(asked, chosen, wrong)
            for place, one in (found or {}).items():
                if place not in told or told[place].wrong:
                    told[place] = one
            if told and not any(one.wrong for one in told.values()):
                break
        return [told[place] for place in sorted(told)], calls


def narrate(context: Context, symptoms: Sequence[Symptom], narrator: ModelNarrator) -> None:
    """Ask a narrator about the symptoms with the most failures, and record what it tells: one step.

    Where there is nothing that a test returned, nobody is asked.
    """
    rows = context.record.select("question")
    question = rows[0]["question"].value if rows else ""
    largest = sorted(symptoms, key=lambda s: (-len(s.failing), s.index))
    about = [(one, dossier(context.record, one.node)) for one in largest]
    about = [(one, known) for one, known in about if known.evidence]
    if not about:
        return
    step = context.record.step("Narrate")
    introduce(context.record, step, (narrator.caller.agent,))
    for symptom, known in about[: integer("narratedSymptoms")]:
        asked = question or f"Why: {names([symptom.constraint])[0]}?"
        told, calls = narrator.tell(asked, known, context)
        _write(context, step, symptom, narrator, known, told, calls)
    context.record.commit(step)


def _write(
    context: Context,
    step: Step,
    symptom: Symptom,
    narrator: ModelNarrator,
    known: Dossier,
    told: Sequence[Told],
    calls: Sequence[ModelCall],
) -> None:
    """Record the sentences on a symptom, those that were dropped too, with the calls."""
    nodes = write_calls(context.record, step, calls)
    for call in nodes:
        step.describe(call, symptom=symptom.node)
    evidence: Mapping[str, ox.NamedNode] = {line.name: line.node for line in known.evidence}
    for one in told:
        node = step.make(
            "DroppedSentence" if one.wrong else "NarratedSentence",
            PROV.Entity,
            symptom=symptom.node,
            statement=one.text,
            reason=one.wrong or None,
            modelCall=nodes[one.call],
        )
        step.describe(node, index=int(node.value.rpartition(":")[2]))
        step.add(node, PROV.wasAttributedTo, narrator.caller.agent.iri)
        if not one.wrong:
            step.add(node, PROV.wasDerivedFrom, *(evidence[name] for name in one.cites))


def _schema(offered: Sequence[str]) -> dict[str, Any]:
    sentence = {
        "type": "object",
        "properties": {
            "place": {"type": "integer"},
            "text": {"type": "string"},
            "cites": {"type": "array", "items": {"type": "string", "enum": list(offered)}},
        },
        "required": ["place", "text", "cites"],
        "additionalProperties": False,
    }
    return {
        "type": "object",
        "properties": {"sentences": {"type": "array", "items": sentence}},
        "required": ["sentences"],
        "additionalProperties": False,
    }


def _read(text: str, known: Dossier, call: int) -> dict[int, Told] | None:
    """Return the sentences of an answer by their places, or None for what is no answer."""
    try:
        found = json.loads(text[text.find("{") : text.rfind("}") + 1])["sentences"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    if not isinstance(found, list):
        return None
    out: dict[int, Told] = {}
    for number, one in enumerate(found[:_MOST], start=1):
        if isinstance(one, Mapping) and isinstance(one.get("text"), str):
            place = one.get("place")
            place = place if isinstance(place, int) and 0 < place < 100 else number  # noqa: PLR2004
            told = _sentence(one, known, call)
            if told.text:
                out[place] = told
    return out


def _sentence(one: Mapping[str, Any], known: Dossier, call: int) -> Told:
    """Return a sentence with what is wrong with it: its citations, its length, its numbers."""
    text = "".join(c if c.isprintable() else " " for c in one["text"][: 2 * _LONGEST])
    text = " ".join(text.split())
    lines = {line.name: line for line in known.evidence}
    given = one.get("cites")
    cites = [str(name) for name in given] if isinstance(given, list) else []
    strange = [name for name in cites if name not in lines]
    taken = tuple(dict.fromkeys(name for name in cites if name in lines))
    wrong = ""
    if strange:
        wrong = f"It cites {strange[0][:_LONGEST]!r}, which no test returned."
    elif not taken:
        wrong = "It cites nothing that a test returned."
    elif len(text) > _LONGEST:
        wrong = f"It has more than {_LONGEST} letters."
    else:
        about = {lines[name].hypothesis for name in taken}
        facts = [lines[name].told for name in taken]
        facts += [known.hypotheses[name] for name in about if name in known.hypotheses]
        seen = set(_NUMBER.findall(" ".join(facts)))
        for number in _NUMBER.findall(_NAMES.sub(" ", text)):
            if number not in seen:
                wrong = f"It has the number {number}, which is in nothing that it cites."
                break
    return Told(text[:_LONGEST], taken, call, wrong)


def _fenced(lines: Sequence[str]) -> str:
    return fenced("\n".join(lines)) if lines else ""
