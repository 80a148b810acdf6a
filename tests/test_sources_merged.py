"""One work from several sources is one study, capped before it is merged; leaders are contested."""

import json
from dataclasses import dataclass
from typing import Any

import pyoxigraph as ox
import pytest

import kgreason
from kgreason.audit import audit
from kgreason.base.figures import integer
from kgreason.model.calling import Caller
from kgreason.model.model_term_chooser import ModelTermChooser
from kgreason.record import Record
from kgreason.sources.described import Described
from kgreason.sources.further import ADVERSARIAL_KIND, GAP_KIND, contrary
from kgreason.sources.look_up import FURTHER_KINDS, LookUp
from kgreason.sources.passages import with_any
from kgreason.sources.works import Answer, Part, Studies, Work
from kgreason.test.tester import Member, Standing
from tests import chat_server
from tests.audit_support import tiny
from tests.lifetime_support import of
from tests.model_support import Stub
from tests.source_support import Says


@dataclass(frozen=True)
class Shelf:
    """A source that gives the same works whatever it is asked for."""

    name: str
    works: tuple[Work, ...]

    def search(self, _terms: Any, most: int, /) -> Answer:
        return Answer(self.works[:most])


def work(name: str, text: str, *ids: str) -> Work:
    return Work(name, "", (Part(text, "abstract"),), ids)


ABSTRACT = "Samples of feed 3 lack a mass, although it was weighed."
FIRST = Shelf("crossref", (work("https://doi.org/10.1/a", ABSTRACT, "doi:10.1/a"),))
MANY = tuple(work(f"w{n}", f"Sample {n} lacks a mass.", f"doi:10.2/{n}") for n in range(9))
SECOND = Shelf(
    "semanticscholar",
    (work("s1", ABSTRACT, "pmid:1", "doi:10.1/a"), work("s2", ABSTRACT, "pmid:2"), *MANY),
)


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Record:
    """An investigation with two services that share a work, all of which is read as support."""
    names = (FIRST.name, SECOND.name)
    look = LookUp({one.name: one for one in (FIRST, SECOND)}, Described(names), Says("supports"))
    return tiny(tmp_path_factory.mktemp("merged"), testers=[look])


def quoted(record: Record) -> list[tuple[str, str, str]]:
    """Give source, hypothesis and study of each passage of evidence."""
    passages = of(record, "Passage")
    return [
        (e["evidenceSource"][0], e["hypothesis"][0], passages[p]["study"][0])
        for e in of(record, "Evidence").values()
        for p in e.get("quotes", [])
    ]


def test_a_work_that_two_sources_give_is_quoted_from_one_and_told_as_merged(
    record: Record,
) -> None:
    found = quoted(record)
    both: dict[tuple[str, str], set[str]] = {}
    for source, hypothesis, study in found:
        both.setdefault((hypothesis, study), set()).add(source)
    assert both
    assert all(len(sources) == 1 for sources in both.values())
    assert any(study == "doi:10.1/a" for _, study in both)
    retrievals = of(record, "Retrieval").values()
    assert any(one.get("merged") == ["1"] for one in retrievals)
    keys = [p["workKey"] for p in of(record, "Passage").values() if p["study"] == ["doi:10.1/a"]]
    assert all("doi:10.1/a" in one for one in keys)


def test_the_dependence_group_of_what_counts_names_its_studies(record: Record) -> None:
    counting = [e for e in of(record, "Evidence").values() if e["outcomeClass"] == ["says-so"]]
    assert counting
    assert all(e["group"][0].partition(":")[2].startswith("study:") for e in counting)


def test_each_source_is_capped_before_it_is_merged(record: Record) -> None:
    passages = of(record, "Passage")
    for one in of(record, "Evidence").values():
        studies = [passages[p]["study"][0] for p in one.get("quotes", [])]
        assert len(studies) <= integer("passagesQuoted")
        assert len(studies) == len(set(studies))


def test_the_leader_is_contested_and_the_audit_passes(record: Record) -> None:
    tests = [t for t in of(record, "Test").values() if t["kind"] == [ADVERSARIAL_KIND]]
    assert tests
    assert all(json.loads(t["query"][0])["any"] == list(contrary()) for t in tests)
    passages = of(record, "Passage")
    found = [e for e in of(record, "Evidence").values() if e["testKind"] == [ADVERSARIAL_KIND]]
    for one in found:
        assert all("although" in passages[p]["quote"][0] for p in one.get("quotes", []))
    assert audit(record).ok, str(audit(record))


def member(statement: str, confidence: float, more: str = "") -> Member:
    nothing: Any = None
    return Member(ox.NamedNode("urn:h"), statement, more, more, nothing, confidence)


FRAME = (
    member("Patients of the trial lack a dose.", 0.7, "The pharmacy lost the label."),
    member("Nurses of the clinic lack a dose.", 0.2, "The pharmacy lost the label."),
    member("Trucks lack a dose.", 0.04, "The engine broke."),
)


def asked(frame: Any, standing: Standing, **more: Any) -> dict[str, tuple[int, dict[str, Any]]]:
    look = LookUp({}, Described(("crossref",)), **more)
    view: Any = type("Seen", (), {"budget": kgreason.base.budget.UNLIMITED})()
    planned = look.fall_back(view, frame, standing)
    return {p.kind: (p.tested, json.loads(p.query)) for p in planned if p.kind in FURTHER_KINDS}


OPEN = Standing([["mentions"]] * 3, "Why is the dose missing?")


def test_what_lies_in_the_gap_is_looked_up_by_words_that_were_not_asked_for() -> None:
    found = asked(FRAME, OPEN)
    assert set(found) == {ADVERSARIAL_KIND, GAP_KIND}
    position, query = found[ADVERSARIAL_KIND]
    assert (position, query["terms"]) == (0, ["Patients", "trial"])
    assert "not" in query["any"]
    position, query = found[GAP_KIND]
    assert (position, query["terms"]) == (1, ["Nurses", "pharmacy", "lost"])
    assert "any" not in query


def test_in_the_end_and_under_other_rules_nothing_is_looked_up_further() -> None:
    ended = Standing([["mentions"]] * 3, "Why is the dose missing?", last=True)
    assert asked(FRAME, ended) == {}
    assert asked(FRAME, OPEN, further=False) == {}
    look = LookUp({}, Described(("crossref",)), further=False)
    assert not {kind.name for kind in look.kinds} & set(FURTHER_KINDS)


def test_a_model_chooses_among_the_words_and_nothing_else() -> None:
    stub = Stub(chat_server.good_chooser)
    chooser = ModelTermChooser(Caller(stub, pause=0))
    found = asked(FRAME, OPEN, chooser=chooser)
    assert found[ADVERSARIAL_KIND][1]["terms"] == ["Patients", "label"]
    assert found[GAP_KIND][1]["terms"] == ["Nurses", "label"]
    (call,) = chooser.taken()
    assert set(call.chosen) == {"term Patients", "term Nurses", "term label"}
    assert set(call.chosen) <= set(call.offered)


def test_words_that_were_not_offered_are_refused_and_the_rules_choose() -> None:
    stub = Stub(chat_server.hostile_chooser)
    chooser = ModelTermChooser(Caller(stub, pause=0))
    assert asked(FRAME, OPEN, chooser=chooser) == asked(FRAME, OPEN)
    calls = chooser.taken()
    assert [call.outcome for call in calls] == ["unusable"] * 3
    assert "'passwords' is none of its words" in stub.prompts[1]


def test_only_passages_with_a_contrary_word_are_kept() -> None:
    works = [
        Work("a", "", (Part("It was so. ", "1"), Part("It was not so.", "2"))),
        Work("b", "", (Part("Nothing of it is knotted.", "1"),)),
    ]
    assert [[p.locator for p in one.parts] for one in with_any(works, contrary())] == [["2"]]
    assert with_any(works, ()) == works


def test_studies_are_known_from_the_record_so_that_a_resumed_run_merges_as_well() -> None:
    known = Studies({"doi:10.1/a": "pmid:1"})
    assert known.of(FIRST.works[0]) == "pmid:1"
