"""Hypotheses that hang on each other: a refuted premise settles, a broken exclusion is told."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jsonschema
import pyoxigraph as ox
import pytest

from kgreason.audit import audit
from kgreason.base.errors import OptionError
from kgreason.base.resources import DEFAULT_POLICY
from kgreason.base.store import Store
from kgreason.base.terms import TRAILS
from kgreason.decide.settle import settle
from kgreason.hypothesize.suggestions import read_suggestions
from kgreason.record import Record, policy
from kgreason.report import markdown
from kgreason.report.as_json import as_dict
from kgreason.review.rejudge import Evidence
from tests.linked_support import SUGGESTIONS, kin_record, linked_record

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Record:
    return linked_record(tmp_path_factory.mktemp("linked"), DEFAULT_POLICY)


@pytest.fixture(scope="module")
def told(record: Record) -> dict[str, Any]:
    return as_dict(record)


def _statuses(told: dict[str, Any]) -> dict[str, str]:
    return {h["id"]: h["status"] for s in told["symptoms"] for h in s["hypotheses"]}


def test_what_hangs_on_a_refuted_premise_is_settled_and_no_cause(
    record: Record, told: dict[str, Any]
) -> None:
    (settled,) = told["settled"]
    known = _statuses(told)
    assert [known[premise] for premise in settled["premises"]] == ["refuted"]
    assert known[settled["hypothesis"]] == "inconclusive"
    assert not any(settled["hypothesis"] in cause["hypotheses"] for cause in told["causes"])
    text = markdown.render(record)
    assert "Its own tests supported it: look at what was said of the two." in text


def test_an_exclusion_of_two_supported_ones_is_a_finding(record: Record) -> None:
    """As if the maker had been said to exclude red, and both had been supported."""
    inner = ox.Store()
    inner.extend(record.store.quads())
    inner.update(_BOTH)
    copy = Record(Store(inner, "a copy"), record.iri)
    for _ in range(2):  # told once, however often it is asked for
        settle(SimpleNamespace(record=copy))  # type: ignore[arg-type]
    found = as_dict(copy)
    (broken,) = found["broken_exclusions"]
    known = _statuses(found)
    assert [known[one] for one in broken["hypotheses"]] == ["supported", "supported"]
    assert f"- {broken['statement']}" in markdown.render(copy)
    assert found["settled"] == []


_BOTH = """PREFIX trails: <https://w3id.org/trails#>
DELETE { GRAPH ?g { ?old ?p ?o . } } WHERE { GRAPH ?g { ?old a trails:Settlement ; ?p ?o . } } ;
DELETE { GRAPH ?g { ?s trails:onlyIf ?name . } } INSERT { GRAPH ?g { ?s trails:excludes ?name . } }
WHERE { GRAPH ?g { ?s trails:onlyIf ?name . } } ;
DELETE { GRAPH ?g { ?h trails:status ?status . } }
INSERT { GRAPH ?g { ?h trails:status trails:Supported . } }
WHERE { GRAPH ?g { ?h a trails:Hypothesis ; trails:catchAll false ; trails:status ?status . } }
"""


def test_the_record_holds_and_is_the_same_when_it_is_judged_again(
    record: Record, told: dict[str, Any]
) -> None:
    assert audit(record).rules == set()
    schema = json.loads((ROOT / "docs" / "result.schema.json").read_text(encoding="utf-8"))
    jsonschema.validate(told, schema)
    given = json.loads((ROOT / "docs" / "hypotheses.schema.json").read_text(encoding="utf-8"))
    jsonschema.validate(SUGGESTIONS, given)
    again = Evidence(record).judged(policy.load(DEFAULT_POLICY))
    assert _statuses(as_dict(again)) == _statuses(told)


@pytest.mark.parametrize(
    ("links", "why"),
    [
        ([{"only_if": "blue"}, {}], "no hypothesis has the name 'blue'"),
        ([{"name": "a"}, {"name": "a"}], "is that of another one"),
        ([{"name": "a", "only_if": "b"}, {"name": "b", "only_if": ["a"]}], "hold only if it holds"),
        ([{"name": "a", "excludes": "a"}, {}], "would exclude itself"),
        ([{"name": "a", "excludes": 3}, {}], "is the name of another hypothesis, or a list"),
    ],
)
def test_links_that_lead_nowhere_are_refused(links: list[dict[str, Any]], why: str) -> None:
    bare = {key: SUGGESTIONS[0][key] for key in ("statement", "symptom", "condition")}
    with pytest.raises(OptionError, match=why):
        read_suggestions([bare | one for one in links], None)


@pytest.fixture(scope="module")
def kin(tmp_path_factory: pytest.TempPathFactory) -> Record:
    return kin_record(tmp_path_factory.mktemp("kin"), DEFAULT_POLICY)


def test_a_family_may_say_what_its_hypotheses_hang_on(kin: Record) -> None:
    told = as_dict(kin)
    known = _statuses(told)
    (settled,) = told["settled"]
    hypothesis, (premise,) = settled["hypothesis"], settled["premises"]
    said = [_family(kin, one) for one in (hypothesis, premise)]
    assert said == ["told-maker", "told-red"]
    assert (known[hypothesis], known[premise]) == ("inconclusive", "refuted")
    assert not any(hypothesis in cause["hypotheses"] for cause in told["causes"])
    assert audit(kin).rules == set()
    again = Evidence(kin).judged(policy.load(DEFAULT_POLICY))
    assert _statuses(as_dict(again)) == known


def _family(record: Record, hypothesis: str) -> str:
    (value,) = record.store.values(ox.NamedNode(hypothesis), TRAILS.family, record.iri)
    assert isinstance(value, ox.Literal)
    return value.value


def test_an_exclusion_of_families_is_about_one_symptom(kin: Record) -> None:
    """As if the maker had been said to exclude red, and all had been supported."""
    inner = ox.Store()
    inner.extend(kin.store.quads())
    inner.update(_BOTH.replace("onlyIf", "onlyIfFamily").replace("excludes", "excludesFamily"))
    copy = Record(Store(inner, "a copy"), kin.iri)
    assert "exclusion-told" in audit(copy).rules
    settle(SimpleNamespace(record=copy))  # type: ignore[arg-type]
    (broken,) = as_dict(copy)["broken_exclusions"]
    assert sorted(_family(copy, one) for one in broken["hypotheses"]) == ["told-maker", "told-red"]
    assert not {"exclusion-told", "exclusion-pair"} & audit(copy).rules
