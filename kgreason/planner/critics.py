"""Critics: what speaks against the report of a strategy. By rules, or by a model beside them."""

import json
from dataclasses import dataclass
from typing import Any, Final, Protocol

from kgreason.audit import audit, recheck
from kgreason.graph import Graph
from kgreason.model.calling import Asking, Caller, judged
from kgreason.model.prompts import fenced, prompt
from kgreason.planner.strategy_protocol import PlanResult
from kgreason.record import Record
from kgreason.record.agents import ENGINE, Agent
from kgreason.record.model_calls import ModelCall
from kgreason.record.plan_steps import FAILED, REFUSED
from kgreason.record.ranking import is_faint
from kgreason.review.fragility import on_one_test

PURPOSE: Final = "criticise a report"
_ANSWER: Final = 600
_MOST: Final = 5


@dataclass(frozen=True)
class Criticism:
    """What a critic says of a report: the reasons to send it back; it may stand without any."""

    reasons: tuple[str, ...]
    by: Agent = ENGINE
    calls: tuple[ModelCall, ...] = ()


class Critic(Protocol):
    """Holds the report of a strategy against what it asks of one."""

    def criticise(self, made: PlanResult, graph: Graph, /) -> Criticism:
        """Return what speaks against a report."""
        ...


class RuleCritic:
    """Asks for an answer, a clean audit, live citations, pure causes, and more than one test."""

    def criticise(self, made: PlanResult, graph: Graph, /) -> Criticism:
        """Return what speaks against a report, each reason as a sentence."""
        told, record = made.as_dict(), made.result.record
        reasons = []
        if not made.answered:
            reasons.append("It does not answer the question.")
        if told["budget"]["cut"]:
            reasons.append(f"The work {told['budget']['cut']}.")
        rules = sorted(audit(record).rules)
        if rules:
            reasons.append(f"The audit finds something wrong: {', '.join(rules[:_MOST])}.")
        stale = recheck(record, graph, regions=False)
        if stale:
            reasons.append(f"{len(stale)} of its figures or citations no longer hold in the data.")
        if made.causes and not made.citations and not told["steps"]:
            reasons.append("It cites nothing.")
        not_done = [s for s in made.steps if s.status in {FAILED, REFUSED}]
        reasons += [f"The step “{s.action}” {_became(s.status)}." for s in not_done]
        reasons += _impure(told)
        reasons += _fragile(record, told)
        return Criticism(tuple(dict.fromkeys(reasons)))


def _became(status: str) -> str:
    return "was refused" if status == REFUSED else status


def _impure(told: dict[str, Any]) -> list[str]:
    """Describe causes in whose region fewer nodes fail than a cause explains."""
    known = {h["id"]: h for s in told["symptoms"] for h in s["hypotheses"]}
    out = []
    for cause in told["causes"]:
        inside = known[cause["hypotheses"][0]]["inside"]
        if inside["population"] and is_faint(inside["failing"], inside["population"]):
            out.append(
                f"Of the {inside['population']} nodes that {cause['id']} is about only "
                f"{inside['failing']} fail."
            )
    return out


def _fragile(record: Record, told: dict[str, Any]) -> list[str]:
    """Describe causes that hang on one test of one half of the data.

    What is checked node by node, or pays by its bits on all nodes, comes out the same with other
    halves; so only what was told by halves is worth sending back for this.
    """
    halves = {h["id"] for s in told["symptoms"] for h in s["hypotheses"] if h["proof"] == "halves"}
    among = {h for cause in told["causes"] for h in cause["hypotheses"]} & halves
    thin = set(on_one_test(record, among)) if among else set()
    return [
        f"{cause['id']} would not be supported with one test less, and was told by halves of the "
        "data."
        for cause in told["causes"]
        if set(cause["hypotheses"]) <= thin
    ]


class ModelCritic:
    """Asks a language model what is wrong with a report; it only adds reasons."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def criticise(self, made: PlanResult, graph: Graph, /) -> Criticism:
        """Return what the model says; nothing where it gives no usable answer."""
        del graph
        steps = "\n".join(f"- {s.thought} {s.action}: {s.observation}" for s in made.steps)
        question = made.as_dict()["question"] or ""
        text = prompt("criticise", question=question, report=fenced(f"{made.answer}\n{steps}"))
        reply, calls = self._caller.ask(Asking(PURPOSE, text, "criticism", _SCHEMA, _ANSWER))
        said: list[str] = []
        if reply is not None:
            try:
                found = json.loads(reply.text[reply.text.find("{") : reply.text.rfind("}") + 1])
                said = [" ".join(str(one).split()) for one in found["reasons"]][:_MOST]
            except (ValueError, KeyError, TypeError, RecursionError):
                calls = judged(calls, wrong="The answer is no list of reasons.")
        return Criticism(tuple(filter(None, said)), self._caller.agent, tuple(calls))


_SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {"reasons": {"type": "array", "items": {"type": "string"}}},
    "required": ["reasons"],
    "additionalProperties": False,
}
