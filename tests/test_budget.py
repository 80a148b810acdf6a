"""The budget is asked before each unit of work, and what is over budget is never begun."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

import pytest

from kgreason import run
from kgreason.audit import audit
from kgreason.base.budget import Allowance, Budget, Cost, Limits, Spent, ask
from kgreason.base.store import Store
from kgreason.hypothesize.conditions.seam import candidates
from kgreason.loop import Investigation
from kgreason.observe.request import request_of
from kgreason.record import Record
from kgreason.report.result import Result
from tests.conditions_world import World, strike, view, world
from tests.lifetime_support import of
from tests.resume_support import several, steps_of
from tests.test_conditions import PLANTED

REASON: Final = "stopped by the script"
KINDS: Final = {
    *("population", "path", "condition", "family", "filter", "candidate"),
    *("test", "rivals", "confounders", "repair"),
}
"""What a run asks for that has no conjunctions."""


@dataclass
class Scripted:
    """A budget that allows so many units of work, and once more each time after it is spent.

    It charges `cost` for each unit, and notes what it was asked.
    """

    units: int
    cost: Cost = field(default_factory=Cost)
    asked: list[str] = field(default_factory=list)
    charged: list[Cost] = field(default_factory=list)

    def spent(self, unit: str, /) -> str | None:
        self.asked.append(unit)
        return REASON if len(self.asked) == self.units + 1 else None

    def charge(self, cost: Cost, /) -> None:
        self.charged.append(cost)


def investigated(options: Mapping[str, Any], budget: Budget) -> Result:
    options = dict(options)
    return run.begin(request_of(options.pop("data"), **options), None, budget=budget)


@pytest.fixture(scope="module")
def options(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return several(tmp_path_factory.mktemp("several"))


@pytest.fixture(scope="module")
def single(options: Mapping[str, Any]) -> dict[str, Any]:
    """Give what to ask with of one rule, of whose causes there is one that can be mended."""
    return {**options, "only": "https://example.org/lab/Price"}


@pytest.fixture(scope="module")
def asked(options: Mapping[str, Any]) -> Sequence[str]:
    budget = Scripted(10**9)
    with investigated(options, budget):
        return budget.asked


def test_every_kind_of_work_is_asked_for(asked: Sequence[str]) -> None:
    assert {unit.split()[0] for unit in asked} == KINDS
    assert {"family cohort-class", "filter room"} <= set(asked)


@pytest.mark.slow
def test_between_two_queries_on_the_graph_somebody_was_asked(
    options: Mapping[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """While causes are proposed, no unit of work asks the graph more than a few queries."""
    budget, queries, most = Scripted(10**9), [0], [0]
    select = Store.select

    def counted(self: Store, query: str) -> Any:
        if self.where != "the ledger in memory":
            queries[0] += 1
        return select(self, query)

    def spent(unit: str) -> None:
        if unit.startswith(("family", "filter", "candidate")):
            most[0] = max(most[0], queries[0])
        queries[0] = 0

    monkeypatch.setattr(Store, "select", counted)
    monkeypatch.setattr(budget, "spent", spent)
    with investigated(options, budget):
        pass
    assert 0 < most[0] <= 12


def test_the_search_in_conditions_is_asked_for_path_by_path(tmp_path: Path) -> None:
    seen = view(struck("three-steps"), tmp_path)
    budget = Scripted(10**9)
    found = candidates(replace(seen, budget=budget), 4)
    assert found
    paths = [place for place, unit in enumerate(budget.asked) if unit == "path"]
    assert len(paths) > 5
    assert "condition" in budget.asked
    for units in (0, paths[5], budget.asked.index("condition")):
        with pytest.raises(Spent, match=REASON):
            # What was kept of the search before is not asked for again.
            candidates(replace(seen, budget=Scripted(units), kept={}), 4)


def struck(name: str) -> World:
    made = world(5)
    strike(made, PLANTED[name][0], 5)
    return made


def cut_at(asked: Sequence[str]) -> list[int]:
    """Give the place of the first and of the last unit of each kind."""
    kinds = [unit.split()[0] for unit in asked]
    first = {kind: kinds.index(kind) for kind in kinds}
    last = {kind: len(kinds) - 1 - kinds[::-1].index(kind) for kind in kinds}
    return sorted({*first.values(), *last.values()})


@pytest.mark.slow
def test_a_budget_may_end_before_any_unit_and_the_record_is_sound(
    single: Mapping[str, Any],
) -> None:
    """Where it is spent nothing more is begun, though it would be allowed again."""
    whole = Scripted(10**9)
    with investigated(single, whole):
        asked = whole.asked
    assert {unit.split()[0] for unit in asked} == KINDS
    for units in cut_at(asked):
        budget = Scripted(units)
        with investigated(single, budget) as result:
            where = f"before unit {units}, {asked[units]}"
            assert budget.asked == list(asked[: units + 1]), where
            assert result.as_dict()["budget"]["cut"] == REASON, where
            found = audit(result.record)
            assert found.ok, f"{where}: {found}"


def test_what_was_not_looked_into_is_set_aside(
    options: Mapping[str, Any], asked: Sequence[str]
) -> None:
    """Cut off among the families of the second symptom, the first stands, the others are open."""
    populations = [place for place, unit in enumerate(asked) if unit == "population"]
    units = next(p for p in range(populations[1], len(asked)) if asked[p].startswith("family")) + 3
    with investigated(options, Scripted(units)) as result:
        plans = sorted(
            of(result.record, "HypothesisPlan").values(), key=lambda s: int(s["index"][0])
        )
        assert [said.get("cut") for said in plans] == [None, *[[REASON]] * 3]
        verdicts = [symptom.verdict for symptom in result.symptoms]
        assert verdicts.count("inconclusive") >= 3


def test_a_clock_that_runs_out_among_the_families_ends_their_search(
    options: Mapping[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each look at the clock takes a second here."""
    looked = [0.0]

    def elapsed(_: Investigation) -> float:
        looked[0] += 1
        return looked[0]

    monkeypatch.setattr(Investigation, "elapsed", property(elapsed))
    budgeted = dict(options, max_seconds=6.0)
    request = request_of(budgeted.pop("data"), **budgeted)
    with run.begin(request, None) as result:
        assert result.as_dict()["budget"]["cut"] == "stopped after 6 seconds"
        steps = steps_of(result.record)
        assert not [step for step in steps if step.startswith(("Design", "Execute"))]


class Charging(Scripted):
    """A budget that is charged for each family, as a model would be, by who asks it."""

    def __init__(self, inner: list[Budget], cost: Cost) -> None:
        super().__init__(10**9, cost)
        self.inner = inner

    def spent(self, unit: str, /) -> str | None:
        if self.inner and unit.startswith("family"):
            self.inner[0].charge(self.cost)
        return super().spent(unit)


@pytest.mark.slow
def test_what_is_charged_is_recorded_and_counts_when_the_run_goes_on(
    options: Mapping[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    inner: list[Budget] = []
    budget = Charging(inner, Cost(7, Decimal("0.001")))
    begun = Investigation.run

    def running(self: Investigation) -> None:
        inner.append(self.context.budget)
        begun(self)

    monkeypatch.setattr(Investigation, "run", running)
    with investigated(options, budget) as result:
        assert len(budget.charged) > 20
        steps = of(result.record, "Step").values()
        tokens = sum(int(said["tokens"][0]) for said in steps if "tokens" in said)
        assert tokens == 7 * len(budget.charged)
        row = result.record.select("costs")[0]
        assert int(row["tokens"].value) == tokens
        assert Decimal(row["usd"].value) == Decimal("0.001") * len(budget.charged)
        # No model was called here, and the audit sees it.
        unpaid = {finding.rule for finding in audit(result.record).findings}
        assert unpaid == {"tokens-called", "usd-called"}
        assert allowance(result.record, Limits(tokens=tokens + 1)).spent("test") is None
        over = allowance(result.record, Limits(tokens=tokens)).spent("test")
        assert over == f"stopped after {tokens} tokens"
        limit = allowance(result.record, Limits(usd=0.05))
        assert limit.spent("test") == "stopped after 0.05 USD"


def allowance(record: Record, limits: Limits) -> Allowance:
    row = record.select("costs")[0]
    cost = Cost(int(row["tokens"].value), Decimal(row["usd"].value))
    return Allowance(limits, lambda: 0.0, lambda: 0, cost)


def test_each_limit_is_held_against_what_was_used() -> None:
    used = Allowance(Limits(steps=3, seconds=2.5, tokens=10, usd=0.5), lambda: 2.5, lambda: 2)
    ask(used, "test")
    used.charge(Cost(9, Decimal("0.4")))
    ask(used, "test")
    used.charge(Cost(1))
    with pytest.raises(Spent, match="stopped after 10 tokens"):
        ask(used, "test")
    paid = Allowance(Limits(usd=0.5), lambda: 0.0, lambda: 0, Cost(0, Decimal("0.5")))
    assert paid.spent("test") == "stopped after 0.5 USD"
    assert Allowance(Limits(steps=3), lambda: 0.0, lambda: 3).spent("") == "stopped after 3 steps"
    late = Allowance(Limits(seconds=2.5), lambda: 2.6, lambda: 0)
    assert late.spent("") == "stopped after 2.5 seconds"


def test_a_budget_without_limits_is_never_spent() -> None:
    assert Allowance(Limits(), lambda: 1e9, lambda: 10**9, Cost(10**9)).spent("test") is None
