"""From a record to the result of a plan: the same steps whatever strategy made it."""

from decimal import Decimal
from typing import Any

from kgreason.base.store import Row
from kgreason.base.terms import TRAILS
from kgreason.planner.strategy_protocol import FoundCause, PlanResult, PlanStep, Usage
from kgreason.record import Record, node_name
from kgreason.record.fanning import expected_below
from kgreason.record.plan_steps import answer_of
from kgreason.record.ranking import NO_CAUSE
from kgreason.report.result import Result


def trajectory(record: Record) -> tuple[PlanStep, ...]:
    """Return the steps of an investigation with what was thought, done, seen and written."""
    wrote: dict[str, list[str]] = {}
    for row in record.select("written-nodes"):
        wrote.setdefault(row["step"].value, []).append(row["node"].value)
    return tuple(
        PlanStep(
            int(row["index"].value),
            row["phase"].value,
            _text(row, "thought"),
            _text(row, "action") or row["phase"].value,
            _text(row, "observation"),
            tuple(wrote.get(row["step"].value, ())),
            _text(row, "status") or "complete",
        )
        for row in record.select("trajectory")
    )


def _text(row: Row, name: str) -> str:
    return row[name].value if name in row else ""


def plan_result(result: Result, strategy: str) -> PlanResult:
    """Return what a strategy made, from the result of its investigation."""
    record, told = result.record, result.as_dict()
    given = answer_of(record)
    return PlanResult(
        strategy,
        trajectory(record),
        given["text"] if given else _answer(result, told),
        given["answered"] if given else _settled(told),
        tuple(citations(record, told)),
        usage(record, told),
        record.iri.value,
        result,
        causes_of(told),
    )


def causes_of(told: dict[str, Any]) -> tuple[FoundCause, ...]:
    """Return the causes of a result, as it tells them."""
    known = {h["id"]: h["confidence"] for s in told["symptoms"] for h in s["hypotheses"]}
    return tuple(
        FoundCause(one["statement"], max(known[h] for h in one["hypotheses"]))
        for one in told["causes"]
    )


def _settled(told: dict[str, Any]) -> bool:
    """Check whether an investigation answers why: by a cause, or as none of it has one."""
    verdicts = {one["verdict"] for one in told["symptoms"]}
    return bool(told["causes"]) or verdicts == {NO_CAUSE}


def _answer(result: Result, told: dict[str, Any]) -> str:
    """Return what an investigation answers: its first sentence, and its causes."""
    return " ".join([result.headline, *(cause["statement"] for cause in told["causes"])])


def citations(record: Record, told: dict[str, Any]) -> list[str]:
    """Return the nodes that an answer rests on, or that the evidence for the causes cites."""
    given = answer_of(record)
    if given:
        rows = record.select("plan-citations")
        return [node_name(r["node"]) for r in rows if r["answer"].value == given["id"]]
    wanted = {h for cause in told["causes"] for h in cause["hypotheses"]}
    cited = (
        c["node"]
        for s in told["symptoms"]
        for h in s["hypotheses"]
        if h["id"] in wanted
        for e in h["evidence"]
        for c in e["citations"]
    )
    return sorted(set(cited))


def usage(record: Record, told: dict[str, Any]) -> Usage:
    """Return what an investigation used, with its sub-investigations on all levels."""
    below = [Record(record.store, one.session) for one in expected_below(record)]
    tests, calls, tokens, usd = 0, 0, 0, Decimal(0)
    for one in (record, *below):
        counts = {row["kind"]: int(row["count"].value) for row in one.select("counts")}
        tests += counts.get(TRAILS.Evidence, 0)
        calls += counts.get(TRAILS.ModelCall, 0)
        (costs,) = one.select("costs")
        tokens += int(costs["tokens"].value)
        usd += Decimal(costs["usd"].value)
    budget = told["budget"]
    return Usage(budget["steps"], budget["seconds"], tests, calls, tokens, usd)
