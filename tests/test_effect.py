"""A numeric outcome keeps its numbers: the effect stands in the outcome's own unit."""

import random
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

import kgreason
from kgreason.audit import Sample, audit
from kgreason.base.terms import TRAILS
from kgreason.review.held import Given, held
from tests.test_report_result import SCHEMA

HEAD = "@prefix ex: <https://example.org/> .\n"
DAYS = "SELECT ?focus ?outcome WHERE { ?focus <https://example.org/days> ?outcome }"
LATE = "SELECT ?focus (?d > 12 AS ?outcome) WHERE { ?focus <https://example.org/days> ?d }"


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Orders that take about five days, and with one carrier about twenty."""
    monkeypatch.chdir(tmp_path)
    dice = random.Random(3)
    lines = [HEAD]
    for n in range(240):
        carrier = n % 6
        days = dice.gauss(20 if carrier == 2 else 5, 2)
        lines.append(f"ex:o{n} ex:carrier ex:c{carrier} ; ex:days {days:.3f} .")
    Path("data.ttl").write_text("\n".join(lines), encoding="utf-8")
    return tmp_path


def test_the_effect_is_told_in_the_unit_of_the_outcome() -> None:
    with kgreason.investigate("data.ttl", outcome=f"{DAYS}\n", at=12) as result:
        told = result.as_dict()
        Draft202012Validator(SCHEMA).validate(told)
        (symptom,) = told["symptoms"]
        leader = next(h for h in symptom["hypotheses"] if h["rank"] == 1)
        (effect,) = [e["effect"] for e in leader["evidence"] if e["effect"]]
        assert effect["low"] < 15 < effect["high"]
        assert effect["high"] - effect["low"] < 3
        assert effect["difference"] == pytest.approx(effect["inside"] - effect["outside"])
        one = next(e for h in result.symptoms[0].hypotheses for e in h.evidence if e.effect)
        assert one.effect is not None
        assert one.effect.difference == effect["difference"]
        page = result.markdown()
        assert "In the outcome's own numbers, on the half held out: " in page
        assert "1 factor goes with 40 of 40 nodes with the outcome." in page
        assert "causes it, an association alone does not show." in page
        assert "in the region of a factor found" in page
        again = held(audit(result.record), result.record, Given(["data.ttl"]), Sample(None))
        assert [f.message for f in again.findings] == []


def test_an_outcome_that_is_true_or_false_has_none() -> None:
    with kgreason.investigate("data.ttl", outcome=f"{LATE}\n") as result:
        assert not any(
            e["effect"]
            for h in result.as_dict()["symptoms"][0]["hypotheses"]
            for e in h["evidence"]
        )
        assert "own numbers" not in result.markdown()


@pytest.mark.parametrize("name", ["effect", "effectUntil", "meanInside"])
def test_an_effect_that_does_not_follow_from_its_means_is_found(name: str) -> None:
    with kgreason.investigate("data.ttl", outcome=f"{DAYS}\n", at=12) as result:
        store = result.record.store
        store.inner.update(
            f"DELETE {{ GRAPH ?g {{ ?e <{TRAILS.iri}{name}> ?x }} }} "
            f"INSERT {{ GRAPH ?g {{ ?e <{TRAILS.iri}{name}> 1.0 }} }} "
            f"WHERE {{ GRAPH ?g {{ ?e <{TRAILS.iri}{name}> ?x }} }}"
        )
        assert "figures" in {one.rule for one in audit(result.record).findings}
