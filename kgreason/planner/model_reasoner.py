"""A language model as a reasoner: it names one of the tools offered, or answers with what it cites.

An answer is taken where it cites calls that were made and no number stands in it that they did not
give; else it is sent back with the reason, as often as `policy:choiceTries` says.
"""

import json
import re
from typing import Any, Final

from kgreason.base.templates import role
from kgreason.model.calling import Asking, Caller, judged
from kgreason.model.choosing import TRIES
from kgreason.model.prompts import fenced, prompt
from kgreason.planner.reasoner import Move, Situation
from kgreason.record.model_calls import ModelCall

PURPOSE: Final = "decide what to do next"
_ANSWER: Final = 1200
_END: Final = "answer"
_NUMBER: Final = re.compile(r"\d+(?:[.,]\d+)*")


class ModelReasoner:
    """Asks a model for each move."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def next(self, situation: Situation, /) -> Move:
        """Return the move that the model names; without one the work ends unanswered."""
        calls: list[ModelCall] = []
        refused = ""
        for _ in range(TRIES):
            offered = (*sorted(situation.tools), _END)
            made = prompt("react", refused=refused, **_told(situation))
            asking = Asking(PURPOSE, made, "move", _schema(offered), _ANSWER, offered)
            reply, asked = self._caller.ask(asking, situation.budget)
            if reply is None:
                calls += asked
                break
            move, refused = _read(reply.text, situation)
            if move is not None:
                chosen = [move.tool or _END]
                made_calls = (*calls, *judged(asked, chosen))
                return Move(
                    move.thought,
                    move.tool,
                    move.arguments,
                    move.answer,
                    move.answered,
                    move.cites,
                    by=self._caller.agent,
                    calls=made_calls,
                )
            calls += judged(asked, wrong=refused)
        said = calls[-1].reason if calls else "it was not asked"
        end = f"The model gave no move that can be taken: {said}"
        return Move(end, answer=end, answered=False, by=self._caller.agent, calls=tuple(calls))


def _told(situation: Situation) -> dict[str, Any]:
    tools = "\n".join(
        f"- {one.name}: {one.about} Arguments: {'; '.join(one.takes) or 'none'}"
        for one in situation.tools.values()
    )
    queries = "\n".join(f"- {n}: {t.header['summary']}" for n, t in role("look").items())
    seen = "\n".join(
        f"{place}. {one.query or one.tool}: {one.observation.found} found. {one.observation.told}"
        for place, one in enumerate(situation.seen, start=1)
    )
    read = situation.understood
    terms = {
        "classes": ", ".join(one.value for one in read.classes),
        "property": read.property.value if read.property else "",
        "value": str(read.value) if read.value else "",
        "node": read.node.value if read.node else "",
    }
    named = "\n".join(f"{name}: {text}" for name, text in terms.items() if text) or "nothing"
    return {
        "question": situation.question,
        "tools": tools,
        "queries": queries,
        "named": fenced(named),
        "seen": fenced(seen or "nothing yet"),
    }


def _schema(offered: tuple[str, ...]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {
            "thought": {"type": "string"},
            "tool": {"type": "string", "enum": list(offered)},
            "arguments": {"type": "object"},
            "answer": {"type": "string"},
            "cites": {"type": "array", "items": {"type": "integer"}},
        },
        "required": ["thought", "tool"],
        "additionalProperties": False,
    }


def _read(  # noqa: PLR0911 - a return for each thing that may be wrong
    text: str, situation: Situation
) -> tuple[Move | None, str]:
    """Return the move of an answer, or why it cannot be taken."""
    try:
        found = json.loads(text[text.find("{") : text.rfind("}") + 1])
        thought, tool = str(found["thought"]).strip(), str(found["tool"]).strip()
        arguments, answer = found.get("arguments") or {}, str(found.get("answer") or "").strip()
        cites = tuple(int(one) - 1 for one in found.get("cites") or ())
    except (ValueError, KeyError, TypeError, RecursionError):
        return None, "The answer is no JSON object of thought, tool, arguments, answer and cites."
    if not thought:
        return None, "The answer has no thought."
    if tool in situation.tools:
        if not isinstance(arguments, dict):
            return None, "The arguments are no JSON object."
        return Move(thought, tool, arguments), ""
    if tool != _END:
        return None, f"There is no tool {tool!r}; there are {', '.join(situation.tools)}."
    if not answer:
        return None, "The tool is answer, and there is no answer."
    if not cites:
        return Move(thought, answer=f"Not from the graph: {answer}", answered=False, cites=()), ""
    seen = situation.seen
    if any(not 0 <= one < len(seen) or seen[one].observation.failed for one in cites):
        return None, "The answer cites a call that was not made, or that failed."
    said = " ".join(
        f"{situation.seen[n].observation.found} {situation.seen[n].observation.told}" for n in cites
    )
    stray = set(_NUMBER.findall(answer)) - set(_NUMBER.findall(f"{said} {situation.question}"))
    if stray:
        return None, f"The answer says {min(stray)}, which none of the calls it cites gave."
    return Move(thought, answer=answer, cites=cites), ""
