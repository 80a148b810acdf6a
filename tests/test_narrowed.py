"""A place where most pass is told as such: it narrows the failures down, and explains none."""

from __future__ import annotations

import random
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import pyoxigraph as ox
import pytest

import kgreason
from kgreason.audit import audit
from kgreason.base.statistics import Table
from kgreason.base.store import Row
from kgreason.decide.decide import outcome
from kgreason.record import Ledger, policy
from kgreason.test.counterexamples import read
from kgreason.test.finding import Setting
from tests.cli_support import run

SHAPES = """@prefix sh: <http://www.w3.org/ns/shacl#> .
@prefix ex: <http://ex.org/> .
ex:S a sh:NodeShape ; sh:targetClass ex:Vase ; sh:property [ sh:path ex:date ; sh:minCount 1 ] .
"""


def vases(inside: tuple[int, int], outside: tuple[int, int]) -> str:
    """Return vases of one workshop and of four others, some of which (failing, all) lack a date."""
    drawn = random.Random(1)
    lines = ["@prefix ex: <http://ex.org/> ."]
    for place, (failing, nodes) in (("atelier", inside), ("", outside)):
        for n in range(nodes):
            maker = place or drawn.choice(["north", "south", "east", "west"])
            dated = "" if n < failing else f' ; ex:date "{drawn.randrange(1000)}"'
            lines.append(f"ex:{place or 'other'}{n} a ex:Vase ; ex:maker ex:{maker}{dated} .")
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("narrowed")
    (folder / "data.ttl").write_text(vases((32, 90), (5, 600)), encoding="utf-8")
    (folder / "shapes.ttl").write_text(SHAPES, encoding="utf-8")
    kgreason.investigate(
        folder / "data.ttl", shapes=folder / "shapes.ttl", ledger=folder / "ledger"
    ).close()
    return folder / "ledger"


@pytest.fixture
def result(ledger: Path) -> Iterator[kgreason.Result]:
    with kgreason.open(ledger) as opened, opened.result() as made:
        yield made


def test_a_third_that_fails_narrows_down(result: kgreason.Result) -> None:
    (symptom,) = result.symptoms
    assert (symptom.verdict, symptom.explained, symptom.narrowed) == ("narrowed down", 0, 32)
    assert symptom.excess == pytest.approx((32 - 90 * 5 / 600) / 37, abs=1e-6)
    leader = symptom.hypotheses[0]
    assert leader.status == "supported"
    assert leader.statement == "Nodes whose maker is atelier fail more often than others."
    (cause,) = result.causes
    assert (cause.narrows, cause.adds, cause.explains) == (True, None, 32)
    assert result.as_dict()["explanation"] == {"failures": 37, "explained": 0, "causes": 0}


def test_what_passes_is_no_evidence_for_it(result: kgreason.Result) -> None:
    (counted,) = [
        one for one in result.symptoms[0].hypotheses[0].evidence if one.test == "counterexamples"
    ]
    assert (counted.polarity, counted.strength) == ("neutral", 0)


@pytest.mark.parametrize(("failing", "says"), [(9, "some"), (10, "few")])
def test_counterexamples_count_by_their_share(failing: int, says: str) -> None:
    passing = [ox.NamedNode(f"urn:n:{n}") for n in range(20 - failing)]
    rows: list[Row] = [{"focus": node, "fails": ox.Literal("false")} for node in passing]
    rows.append({"failing": ox.Literal(str(failing))})
    found = read(rows, Setting(Table(10, 20, 0, 100)))
    assert (found.outcome, found.figures["inside"]) == (says, 20)


def test_the_report_gives_both_rates_and_does_not_say_explained(result: kgreason.Result) -> None:
    text = result.markdown()
    assert "1 is narrowed down, and not explained." in text
    assert "36 % of these vases fail, of the others 0.8 %: this narrows the failures down" in text
    assert "32 of them lie where less than half of the nodes fail" in text
    assert "(84 % of all are beyond the rate of the other nodes)" in text
    assert "Narrowed down, not explained: Nodes whose maker is atelier fail more often" in text
    assert "32 lie where less than half of the nodes fail: narrowed down" in text
    assert "No cause was found that explains any of the 37 failures." in text
    assert 'class="badge narrowed-down"' in result.html()


def test_it_is_no_cause_for_a_gate(ledger: Path) -> None:
    data, shapes = ledger.parent / "data.ttl", ledger.parent / "shapes.ttl"
    for fail_on, code in (("cause", 0), ("violation", 1)):
        asked = ("investigate", data, "--shapes", shapes, "--fail-on", fail_on)
        assert run(*asked, "--ledger", ledger.parent / f"by-{fail_on}").code == code


def test_the_audit_works_it_out_again(ledger: Path) -> None:
    with Ledger.read(ledger) as store:
        found = audit(store.record(store.entry(None)))
    assert found.ok, found


def test_none_outside_has_an_upper_bound() -> None:
    data = vases((60, 60), (0, 700))
    with kgreason.investigate(data, shapes=SHAPES) as made:
        text = made.markdown()
    assert "against none of the 700 outside (at most 0.5 %)" in text  # 3 / 700 is 0.43 %
    assert "100 % of these vases fail, of the others none (at most 0.5 %)." in text


@pytest.mark.parametrize(
    ("share", "wide", "told"),
    [
        ("0.80", "0.80", "explained"),
        ("0.79", "0.95", "partly explained"),
        ("0.15", "0.95", "partly explained"),
        ("0.14", "0.95", "narrowed down"),
        ("0", "0.15", "narrowed down"),
        ("0", "0.14", "no systematic cause"),
    ],
)
def test_the_verdict_goes_by_what_explains(share: str, wide: str, told: str) -> None:
    assert outcome(policy.load("frame"), Decimal(share), Decimal(wide), open_=False) == told
