"""A plain answer: where there is no time for hypotheses to compete, a model answers by itself.

It is asked once and shown what a proposer is shown. Nothing in its answer is tested, and the report
says so.
"""

import json
from collections.abc import Sequence
from typing import Any, Final

from kgreason.base.figures import integer
from kgreason.base.terms import PROV
from kgreason.context.context import Context, view_of
from kgreason.context.symptom import Symptom
from kgreason.model.calling import Asking, Caller, judged
from kgreason.model.data_summary import summary
from kgreason.model.options import options
from kgreason.model.prompts import fenced, prompt
from kgreason.observe.request import Request
from kgreason.record.agents import introduce
from kgreason.record.model_calls import write_calls
from kgreason.shacl import names

PURPOSE: Final = "answer plainly"
SKIPPED: Final = "was to give a plain answer, so that no hypotheses competed"
_ANSWER: Final = 800
_LONGEST: Final = 1000
_SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {"answer": {"type": "string"}},
    "required": ["answer"],
    "additionalProperties": False,
}


def skipped(request: Request) -> bool:
    """Check whether a request leaves no competition: it says so, or there is too little time."""
    if request.model is None:
        return False
    short = integer("competitionSeconds")
    return request.plain or (request.max_seconds is not None and request.max_seconds < short)


def answer_plainly(context: Context, symptoms: Sequence[Symptom], caller: Caller) -> None:
    """Ask a model about the symptoms with the most failures, and record its answers: one step."""
    rows = context.record.select("question")
    question = rows[0]["question"].value if rows else ""
    step = context.record.step("Narrate")
    introduce(context.record, step, (caller.agent,))
    for symptom in sorted(symptoms, key=lambda s: (-len(s.failing), s.index))[:1]:
        view = view_of(context, symptom, 1)
        offered = options(view, context.names, select=False)
        made = prompt(
            "plain",
            question=question or f"Why: {names([symptom.constraint])[0]}?",
            data=fenced(summary(view, offered, context.names)),
        )
        reply, calls = caller.ask(Asking(PURPOSE, made, "answer", _SCHEMA, _ANSWER), context.budget)
        text = "" if reply is None else _read(reply.text)
        if reply is not None and not text:
            calls = judged(calls, wrong="The answer is no plain answer.")
        nodes = write_calls(context.record, step, calls)
        for call in nodes:
            step.describe(call, symptom=symptom.node)
        if text:
            node = step.make(
                "PlainAnswer",
                PROV.Entity,
                symptom=symptom.node,
                statement=text,
                modelCall=nodes[-1],
            )
            step.describe(node, index=int(node.value.rpartition(":")[2]))
            step.add(node, PROV.wasAttributedTo, caller.agent.iri)
    context.record.commit(step)


def _read(text: str) -> str:
    """Return the answer as one line of bounded length; "" for what is none."""
    try:
        found = json.loads(text[text.find("{") : text.rfind("}") + 1])["answer"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return ""
    if not isinstance(found, str):
        return ""
    return " ".join("".join(c if c.isprintable() else " " for c in found).split())[:_LONGEST]
