"""Parts of a divided question contradict each other: one supports what another one refutes.

Both ask the graph about the same nodes, so they differ by what sources outside of it gave: here by
certificates that one of them could not read, or that say different things. Certificates are read by
a tester; the parts are real ones, and so are their records.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyoxigraph as ox
import pytest

from kgreason.audit import audit
from kgreason.base.budget import Limits
from kgreason.base.terms import TRAILS
from kgreason.context.view import View
from kgreason.observe.opening import recorded_request
from kgreason.planner.strategy_protocol import PlanResult
from kgreason.planner.sub_investigations import Place
from kgreason.planner.supervisor import Supervisor
from kgreason.record import Record
from kgreason.record.agents import Agent
from kgreason.run import opened_elsewhere
from kgreason.test.finding import Finding, Passage
from kgreason.test.plans import PlannedTest
from kgreason.test.tester import KindOfTest, Member, RegisteredTest, planned
from tests.audit_support import own_policy
from tests.test_supervisor import _of, asked, factory

KIND = "certificate"
READER = Agent(ox.NamedNode("https://example.org/reader"), "reader", software=True)
MAKER = "Nodes whose madeBy is m0 fail."
OF_THE_GRAPH = 1.8
"""What the tests on the graph of this cause weigh, in each of the parts."""
ROWS = "\n".join(
    f"""<urn:example:policy> policy:likelihood [ a trails:Likelihood ;
      policy:testKind "{KIND}" ; policy:outcomeClass "{name}" ; policy:underSelf {own} ;
      policy:underRival {other} ; policy:underNone {other} ;
      policy:polarity trails:{polarity} ; policy:strength 0.9 ] ."""
    for name, own, other, polarity in (
        ("confirms", 0.99, 0.01, "Supports"),
        ("denies", 0.01, 0.99, "Contradicts"),
    )
)


@dataclass(frozen=True)
class Certificates:
    """Reads certificates, each of which confirms a cause or denies it."""

    say: tuple[str, ...]
    agent: Agent = READER
    modality: str = "literature"
    kinds: tuple[KindOfTest, ...] = (KindOfTest(KIND, ("confirms", "denies")),)

    def design(self, _: View, frame: Sequence[Member], /) -> Iterator[PlannedTest]:
        for place, member in enumerate(frame):
            if member.statement == MAKER:
                for number in range(len(self.say)):
                    yield planned(KIND, f"What does certificate {number} say?", place)

    def run(self, _: View, test: RegisteredTest, /) -> Finding:
        number = int(test.query.split()[3])
        paper = ox.NamedNode(f"https://example.org/certificate-{number}")
        passages = (Passage(paper, "The mass of each part.", "page 1"),)
        said = self.say[number]
        return Finding(said, f"It {said} this.", source=paper.value, passages=passages)


@dataclass(frozen=True)
class Reads:
    """Carries each part on with the certificates that it can read."""

    parts: tuple[tuple[str, ...], ...]

    def carry(self, sessions: Sequence[Any], place: Place, _: float | None, /) -> None:
        for session, say in zip(sessions, self.parts, strict=True):
            record = Record(place.ledger.store, session, place.ledger.blobs)
            made = opened_elsewhere(record, recorded_request(record), place.graph, place.observed)
            made.testers = (Certificates(say),) if say else ()
            made.run()


def disagreeing(folder: Path, *parts: tuple[str, ...]) -> PlanResult:
    """Divide a question into two parts that both look into the mass, and join them."""
    factory(folder)
    rules = own_policy(folder, "code")
    rules.write_text(rules.read_text(encoding="utf-8") + ROWS, encoding="utf-8")
    context = asked(folder, folder / "ledger")
    request = replace(context.request, policy=str(rules))
    goals = {"goals": ("What about the mass?", "What of each Part?")}
    context = replace(context, request=request, more=goals)
    return Supervisor(carrier=Reads(parts)).run("Why?", context, Limits())


@pytest.mark.parametrize(
    ("parts", "status"),
    [
        ((("denies",) * 3, ()), "refuted"),
        pytest.param((("denies",) * 3, ("confirms",) * 3), "supported", marks=pytest.mark.slow),
        pytest.param((("confirms",), ("denies",) * 3), "inconclusive", marks=pytest.mark.slow),
    ],
)
@pytest.mark.slow
def test_what_is_supported_and_refuted_stands_by_the_evidence_of_both(
    tmp_path: Path, parts: tuple[tuple[str, ...], ...], status: str
) -> None:
    made = disagreeing(tmp_path, *parts)
    record, told = made.result.record, made.as_dict()
    (contradiction,) = _of(record, "Contradiction")
    found = {one["id"]: one for one in told["synthesis"]["hypotheses"]}
    pair = [
        found[one.value]
        for one in record.store.values(contradiction, TRAILS.hypothesis, record.iri)
    ]
    assert sorted(one["provisional"] for one in pair) == ["refuted", "supported"]
    assert {one["status"] for one in pair} == {status}
    assert (MAKER in [cause["statement"] for cause in told["causes"]]) == (status == "supported")
    pro, con = (0.9 * sum(p.count(one) for p in parts) for one in ("confirms", "denies"))
    said = f"for it {OF_THE_GRAPH + pro:.2f}, against it {con:.2f}"
    assert said in made.result.markdown(), "tests on the same nodes count once"
    (first,) = (
        one for s in told["symptoms"] for one in s["hypotheses"] if one["statement"] == MAKER
    )
    assert (first["confidence"] > 0.9) == (status == "supported")
    assert audit(record).rules == set()
    made.result.close()
