"""A model proposes goals for a supervisor; what each names in the graph decides if it is taken.

A goal is taken where it reads as a question on what is broken: it names at least one rule that is
broken, in few words, and no other goal says the same. All others are refused; both are recorded.
Where no goal is taken, the model is asked again with the reasons, as often as `policy:choiceTries`
says; then the question is divided by its broken rules, without the model.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from kgreason.base.figures import integer
from kgreason.base.store import Row
from kgreason.context.context import Context
from kgreason.context.symptom import Observed
from kgreason.hypothesize.proposal_rules import WORDS
from kgreason.model.calling import Asking, Caller, judged
from kgreason.model.choosing import TRIES
from kgreason.model.prompts import fenced, prompt
from kgreason.planner.splitting import GoalReader
from kgreason.record import Record
from kgreason.record.fanning import ProposedGoal, write_proposed_goals
from kgreason.record.model_calls import ModelCall

PURPOSE: Final = "divide a question into goals"
_ANSWER: Final = 1000
_MOST: Final = integer("goalsMost")
_SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {"goals": {"type": "array", "items": {"type": "string"}}},
    "required": ["goals"],
    "additionalProperties": False,
}


@dataclass(frozen=True)
class Proposed:
    """Goals as a model proposed them, in their order, and the calls that were made."""

    goals: tuple[ProposedGoal, ...]
    calls: tuple[ModelCall, ...]

    @property
    def taken(self) -> tuple[str, ...]:
        """The goals that are looked into."""
        return tuple(one.statement for one in self.goals if not one.refused)


def goals_of(caller: Caller, question: str, context: Context, observed: Observed) -> Proposed:
    """Ask a model for goals, and say of each whether it is taken; nothing is recorded."""
    reader = GoalReader(context, observed)
    offered = reader.told()
    calls: list[ModelCall] = []
    every: list[ProposedGoal] = []
    refused = ""
    for _ in range(TRIES):
        data = fenced("\n".join(f"- {one}" for one in offered.values()))
        made = prompt(
            "goals", question=question, data=data, refused=refused, most=_MOST, words=WORDS
        )
        asking = Asking(PURPOSE, made, "goals", _SCHEMA, _ANSWER, tuple(offered.values()))
        reply, asked = caller.ask(asking, context.budget)
        if reply is None:
            calls += asked
            break
        found = _judged(_read(reply.text), reader)
        every += found
        taken = {key for one in found if not one.refused for key in one.symptoms}
        refused = " ".join(one.refused for one in found if one.refused)
        refused = refused or "" if found else "The answer is no JSON object with goals."
        if taken:
            chosen = [said for key, said in offered.items() if key in taken]
            calls += judged(asked, chosen, partly=refused)
            break
        calls += judged(asked, wrong=refused)
    return Proposed(tuple(every), tuple(calls))


def record_goals(record: Record, caller: Caller, proposed: Proposed) -> None:
    """Record the calls, and each goal with what became of it, as one step."""
    step = record.step("Plan")
    write_proposed_goals(record, step, proposed.goals, proposed.calls, caller.agent)
    record.commit(step)


def recorded_goals(record: Record) -> tuple[str, ...]:
    """Return the goals of a model that an investigation took, before it was interrupted."""
    rows: Sequence[Row] = list(record.select("proposed-goals"))
    return tuple(row["goal"].value for row in rows if row["accepted"].value in {"true", "1"})


def _read(text: str) -> list[object]:
    """Return what an answer lists as goals; nothing where it is no such answer."""
    try:
        found = json.loads(text[text.find("{") : text.rfind("}") + 1])["goals"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return []
    return list(found) if isinstance(found, list) else []


def _judged(found: Sequence[object], reader: GoalReader) -> list[ProposedGoal]:
    """Return each goal with the rules that it names, or with why it is refused."""
    out: list[ProposedGoal] = []
    for one in found:
        text = " ".join(one.split()) if isinstance(one, str) else ""
        if not text:
            continue
        keys = reader.names(text)
        taken = [each for each in out if not each.refused]
        out.append(ProposedGoal(text, keys, _fault(text, keys, taken)))
    return out


def _fault(text: str, keys: Sequence[str], taken: Sequence[ProposedGoal]) -> str:
    """Return why a goal is refused, "" where it is taken."""
    if len(text.split()) > WORDS:
        return f"“{' '.join(text.split()[:6])} …”: a goal has at most {WORDS} words."
    if not keys:
        return f"“{text}” names nothing that is broken."
    if any(set(keys) == set(one.symptoms) for one in taken):
        return f"“{text}” is about the same rules as a goal before it."
    if len(taken) >= _MOST:
        return f"“{text}” is more than {_MOST} goals."
    return ""
