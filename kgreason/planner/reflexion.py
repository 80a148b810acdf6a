"""The strategy `reflexion`: another strategy works, and critics send its report back, boundedly.

What is sent back is worked on otherwise: an investigation with other halves of the data (the next
seed), a plan that did not answer by the next best pattern of the type. The causes that both
investigations found are told as such.
"""

from dataclasses import replace
from decimal import Decimal
from typing import Any, Final

import pyoxigraph as ox

from kgreason.base.budget import Cost, Limits
from kgreason.base.errors import OptionError
from kgreason.base.figures import integer
from kgreason.loop import Investigation
from kgreason.observe.cite import cite
from kgreason.observe.opening import load_graph
from kgreason.planner.contrasts import CITED
from kgreason.planner.critics import Critic, Criticism, ModelCritic, RuleCritic
from kgreason.planner.plan_result import plan_result
from kgreason.planner.question_understood import as_json
from kgreason.planner.strategy_protocol import PlanContext, PlanResult, Strategy, shares
from kgreason.planner.tool_catalogue import scopes_of, tools, tools_of
from kgreason.record.plan_steps import (
    FAILED,
    Answered,
    Call,
    write_answer,
    write_call,
    write_critique,
)
from kgreason.record.record import Node
from kgreason.routing.task_types import task_types
from kgreason.run import Opened, carried_out

_LOOP: Final = "hypothesis"
_WHY: Final = "is cited by the report"


class Reflexion:
    """Lets one of `among`, strategies by name, work, and critics review what it reports."""

    name = "reflexion"

    def __init__(self, among: dict[str, Strategy]) -> None:
        self._among = among

    def run(self, goal: str, context: PlanContext, budget: Limits, /) -> PlanResult:
        """Work, criticise, and work again where there is reason to; raises KgreasonError."""
        most = integer("critiques")
        parts = shares(budget, most)
        critics: list[Critic] = [RuleCritic()]
        if context.caller is not None:
            critics.append(ModelCritic(context.caller))
        graph = load_graph(context.request)
        made: list[tuple[PlanResult, dict[str, Any], list[Criticism]]] = []
        for part, asked in zip(parts, self._order(context, most), strict=False):
            name, seed = asked
            inner = replace(context, request=replace(context.request, seed=seed))
            try:
                found = self._among[name].run(goal, inner, part)
            except OptionError:
                if not made:
                    raise
                break  # what was sent back can be worked on in no other way
            said = [one.criticise(found, graph) for one in critics]
            made.append((found, {"strategy": name, "seed": seed}, said))
            if not any(one.reasons for one in said):
                break
        result = carried_out(
            replace(context.request, question=goal),
            context.ledger,
            lambda investigation, opened: _written(investigation, opened, made),
            context.progress,
            told=context.told,
        )
        for found, _, _ in made:
            found.result.close()
        told = plan_result(result, self.name)
        # What was tried has records of its own.
        return replace(
            told,
            usage=sum((found.usage for found, _, _ in made), told.usage),
            causes=made[_best(made)][0].causes,
        )

    def _order(self, context: PlanContext, most: int) -> list[tuple[str, int]]:
        """Return what is tried in turn: strategies of the routing by their scores, with seeds."""
        routing = context.request.routing or {}
        ranked = sorted(
            (one for one in routing.get("candidates", ()) if one["of"] == "pattern"),
            key=lambda one: -float(one["score"]),
        )
        valid = [one["name"] for one in ranked if one["name"] in self._among]
        names = valid or ["react"]
        seed = context.request.seed
        if names[0] == _LOOP:
            return [(_LOOP, seed + n) for n in range(most)]
        return [(name, seed) for name in [*names, _LOOP][:most]]


def _written(
    investigation: Investigation,
    opened: Opened,
    made: list[tuple[PlanResult, dict[str, Any], list[Criticism]]],
) -> None:
    """Record what was tried, what the critics said, and the answer that stands."""
    del opened
    record = investigation.record
    pattern = task_types().patterns[Reflexion.name].iri
    tool = tools()["investigate"]
    offered = tuple(one.iri for one in tools_of(pattern).values())
    calls: list[Node] = []
    for place, (found, asked, said) in enumerate(made):
        again = " once more, since it was sent back" if place else ""
        step = record.step("Plan")
        node = write_call(
            record,
            step,
            Call(
                pattern,
                f"{asked['strategy']} works on the question{again}.",
                tool.iri,
                offered,
                tool.scope,
                scopes_of(pattern),
                as_json(asked | {"investigation": found.investigation}),
                found.answer,
                "complete" if found.answered else FAILED,
                found=len(found.citations),
            ),
        )
        for cited in found.citations[:CITED]:
            if not cited.startswith("_:"):
                cite(investigation.context, step, node, ox.NamedNode(cited), None, None, _WHY)
        for one in said:
            write_critique(record, step, node, one.reasons, one.by, one.calls)
            for call in one.calls:
                investigation.context.budget.charge(Cost(call.tokens, call.usd or Decimal()))
        record.commit(step)
        calls.append(node)
    text, answered, rests = _standing(made, calls)
    step = record.step("Plan")
    write_answer(record, step, Answered(pattern, text, answered, tuple(rests)))
    record.commit(step)


def _best(made: list[tuple[PlanResult, dict[str, Any], list[Criticism]]]) -> int:
    """Return the place of what stands: what answers, has least said against it, and is latest."""

    def against(place: int) -> tuple[bool, int, int]:
        found, _, said = made[place]
        return not found.answered, sum(len(one.reasons) for one in said), -place

    return min(range(len(made)), key=against)


def _standing(
    made: list[tuple[PlanResult, dict[str, Any], list[Criticism]]], calls: list[Node]
) -> tuple[str, bool, list[Node]]:
    """Return the answer that stands, whether it is one, and the calls it rests on.

    It is the last one if no critic speaks against it, else the one with an answer against which
    the least is said; the reasons are told with it.
    """
    best = _best(made)
    found, asked, said = made[best]
    text = [found.answer]
    reasons = [reason for one in said for reason in one.reasons]
    if reasons:
        text.append(f"What the critics said of it still holds: {' '.join(reasons)}")
    both = _found_again(made)
    if both:
        text.append(f"With other halves of the data it was found again: {' '.join(both)}")
    elif len(made) > 1 and asked["strategy"] == _LOOP and found.causes:
        text.append("With other halves of the data, nothing of it was found again.")
    return " ".join(text), found.answered, [calls[best]] if found.answered else []


def _found_again(made: list[tuple[PlanResult, dict[str, Any], list[Criticism]]]) -> list[str]:
    """Return the statements of causes that every investigation of several found."""
    runs = [one.as_dict()["causes"] for one, asked, _ in made if asked["strategy"] == _LOOP]
    if len(runs) < 2:  # noqa: PLR2004 - one run repeats nothing
        return []
    common = set.intersection(*({c["fingerprint"] for c in causes} for causes in runs))
    return [cause["statement"] for cause in runs[0] if cause["fingerprint"] in common]
