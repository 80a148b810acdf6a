"""Hypotheses are looked up in a user's documents: cited, counted once, replayed, audited."""

import json
import re
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyoxigraph as ox
import pytest

import kgreason
from kgreason.audit import audit
from kgreason.base.errors import OptionError
from kgreason.base.figures import integer
from kgreason.base.resources import folder as shipped
from kgreason.base.terms import TRAILS
from kgreason.record import Record
from kgreason.review.replay import replay
from kgreason.sources.core_terms import core_terms
from kgreason.sources.described import Described
from kgreason.sources.document_folder import DocumentFolder
from kgreason.sources.look_up import FALLBACK_KIND, LookUp
from kgreason.sources.passages import best
from kgreason.sources.readings import key_of, readings_of
from kgreason.sources.sources_opening import source_testers
from kgreason.sources.works import Part, Studies, Work
from kgreason.test.tester import Member, Standing
from tests.audit_support import lab, own_policy, tiny
from tests.lifetime_support import of
from tests.source_support import documents, looked_up_record

COLOUR = "https://example.org/lab/colour"


def looked_up(record: Record, kind: str = "look-up") -> dict[str, dict[str, list[str]]]:
    return {n: e for n, e in of(record, "Evidence").items() if e["testKind"] == [kind]}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("sources")


@pytest.fixture(scope="module")
def unread(folder: Path) -> Record:
    """An investigation with documents that nobody read, and tests that somebody designed."""
    tests = [
        {"query": "ASK { ?s a <https://example.org/lab/Sample> }", "expect": True},
        {
            "query": "SELECT ?s { ?s a <https://example.org/lab/Sample> }",
            "code": "len(rows)",
            "expect": {"least": 1000},
        },
    ]
    given = documents(folder)
    return tiny(folder, sources=given, tests=tests, ledger=folder / "ledger")


def test_a_passage_is_cited_by_file_and_character(unread: Record, folder: Path) -> None:
    cited = of(unread, "Passage").values()
    assert cited
    for one in cited:
        (work,), (locator,) = one["work"], one["locator"]
        text = (folder / work).read_text(encoding="utf-8")
        start = int(locator.removeprefix("character "))
        assert text[start:].split()[:3] == one["quote"][0].split()[:3]


def test_what_nobody_read_is_a_mention_and_moves_nothing(unread: Record) -> None:
    found = looked_up(unread)
    assert {said["outcomeClass"][0] for said in found.values()} <= {"mentions", "silent"}
    assert any(said["outcomeClass"] == ["mentions"] for said in found.values())
    assert {said["polarity"][0] for said in found.values()} == {TRAILS.Neutral.value}
    for update in of(unread, "ConfidenceUpdate").values():
        if update["evidence"][0] in found:
            # A likelihood that is the same for all is rounded off all the same.
            before, after = (Decimal(update[name][0]) for name in ("before", "after"))
            assert abs(before - after) <= Decimal("0.000000002")


def test_the_sources_at_hand_and_those_taken_are_recorded(unread: Record, folder: Path) -> None:
    choices = of(unread, "SourceChoice").values()
    assert choices
    options = of(unread, "SourceOption")
    for choice in choices:
        assert 1 <= len(choice["coreTerm"]) <= integer("coreTerms")
        (option,) = (options[node] for node in choice["sourceOption"])
        assert option["sourceName"] == [str((folder / "documents").resolve())]
        assert option["sourceKind"] == [TRAILS.DocumentFolder.value]
        assert option["taken"] == ["true"]


def test_the_audit_passes_and_sees_that_it_cannot_rerun(unread: Record) -> None:
    found = audit(unread)
    assert found.ok, str(found)
    assert "which cannot be rerun" in str(found)


def test_a_designed_test_is_registered_with_what_is_expected(unread: Record) -> None:
    tests = [t for t in of(unread, "Test").values() if t["kind"] == ["designed-code"]]
    assert tests
    for one in tests:
        assert json.loads(one["query"][0])["expect"] == {"least": 1000}
    for kind, outcome in (("designed-query", "as-expected"), ("designed-code", "otherwise")):
        found = looked_up(unread, kind).values()
        assert {said["outcomeClass"][0] for said in found} == {outcome}
    told = next(iter(looked_up(unread, "designed-code").values()))
    assert unread.blobs.get(told["computed"][0]).isdigit()


def test_it_is_replayed_without_the_documents(unread: Record, folder: Path) -> None:
    assert of(unread, "Retrieval")
    hidden = (folder / "documents").rename(folder / "gone")
    try:
        again = replay(folder / "ledger")
    finally:
        hidden.rename(folder / "documents")
    assert again.same, (again.recorded[:3], again.replayed[:3])


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> Record:
    """An investigation with documents of which every passage was read as support."""
    return looked_up_record(tmp_path_factory.mktemp("read"))


def test_a_reading_moves_the_odds_by_what_the_policy_says_and_no_more(read: Record) -> None:
    found = {n: s for n, s in looked_up(read).items() if s["outcomeClass"] == ["says-so"]}
    assert found
    for node, said in found.items():
        assert said["group"][0].partition(":")[2].startswith("study:")
        for update in of(read, "ConfidenceUpdate").values():
            if update["evidence"] == [node] and update["hypothesis"] == said["hypothesis"]:
                before, after = (Decimal(update[n][0]) for n in ("before", "after"))
                if 0 < before < 1 and after < 1:
                    odds = (after / (1 - after)) / (before / (1 - before))
                    assert Decimal("0.99") < odds < Decimal("1.51")


def test_the_record_with_readings_passes_the_audit(read: Record) -> None:
    assert audit(read).ok, str(audit(read))


def test_readings_of_a_file_are_found_by_their_key(tmp_path: Path) -> None:
    key = key_of("Samples of feed 3 lack a mass.", "The scale was damp.")
    path = tmp_path / "readings.json"
    path.write_text(json.dumps({key: "contradicts"}), encoding="utf-8")
    known = readings_of(path)
    assert known.read("Samples of feed 3 lack a mass.", "The scale was damp.") == "contradicts"
    assert known.read("Another hypothesis.", "The scale was damp.") == ""


@pytest.mark.parametrize(
    ("text", "said"),
    [("[", "it is no JSON"), ("[]", "write a JSON object"), ('{"a": "maybe"}', "is 'maybe'")],
)
def test_readings_that_cannot_be_used_are_refused(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "readings.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(OptionError, match=said):
        readings_of(path)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"sources": "pubmde"}, "there is no such service or folder"),
        ({"sources": "no/such/folder"}, "there is no such folder"),
        ({"sources": "graph:https://example.org/none"}, "no named graph of this IRI"),
        ({"readings": "r.json"}, "name them by --source"),
        ({"tests": [{"query": "ASK {}"}]}, "give query and expect"),
        ({"tests": [{"query": "DELETE WHERE { ?s ?p ?o }", "expect": 1}]}, "query"),
        ({"tests": [{"query": "ASK { SERVICE <http://x.y/> {} }", "expect": True}]}, "SERVICE"),
        ({"tests": [{"query": "ASK FROM <urn:a> {}", "expect": True}]}, "FROM"),
        ({"tests": [{"query": "ASK { GRAPH <urn:x-kgreason:work:marks> { ?s ?p ?o } }",
                     "expect": True}]}, "as they are"),
        ({"tests": [{"query": "ASK {}", "expect": {"about": 3}}]}, "least and most"),
    ],
)  # fmt: skip
def test_what_cannot_be_asked_is_refused_in_one_sentence(
    options: dict[str, Any], said: str, tmp_path: Path
) -> None:
    with pytest.raises(kgreason.KgreasonError, match=said) as caught:
        tiny(tmp_path, ledger=tmp_path / "ledger", **options)
    assert caught.value.exit_code in {1, 2}


def test_a_folder_without_documents_is_refused(tmp_path: Path) -> None:
    (tmp_path / "picture.png").write_bytes(b"")
    with pytest.raises(OptionError, match="has no document that can be read"):
        DocumentFolder(tmp_path)


def test_a_link_out_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    made = documents(tmp_path)
    (tmp_path / "secret.txt").write_text("samples of the feed lack a mass", encoding="utf-8")
    (made / "link.txt").symlink_to(tmp_path / "secret.txt")
    assert not [one for one in DocumentFolder(made).works if "link" in one.work]


def member(statement: str) -> Member:
    nothing: Any = None
    return Member(ox.NamedNode("urn:h"), statement, "", "", nothing)


def fallen_back(names: tuple[str, ...], standing: Standing) -> list[tuple[Any, Any, list[str]]]:
    nothing: Any = None
    found = LookUp({}, Described(names)).fall_back(
        nothing, [member("Patients of the trial lack a dose.")], standing
    )
    return [
        (
            one.sent and one.sent.fallback,
            json.loads(one.query)["source"],
            json.loads(one.query)["terms"],
        )
        for one in found
        if one.kind == FALLBACK_KIND
    ]


def test_a_hypothesis_of_which_two_sources_are_silent_falls_back_to_a_universal_one() -> None:
    names = ("pubmed", "arxiv", "crossref")
    silent = Standing([["silent", "silent"]], "Why is the dose missing?")
    assert fallen_back(names, silent) == [("hypothesis", "crossref", ["Patients"])]
    assert fallen_back(names, replace(silent, outcomes=[["silent"]])) == []
    assert fallen_back(names, replace(silent, outcomes=[["silent", "mentions"]])) == []
    assert fallen_back(("pubmed", "arxiv"), silent) == [], "none of them is universal"


def test_where_nothing_held_after_all_rounds_the_question_is_looked_up() -> None:
    names = ("pubmed", "crossref")
    ended = Standing([["mentions"]], "Why is the dose missing?", held=False, last=True)
    assert fallen_back(names, ended) == [("question", "crossref", ["dose", "missing"])]
    assert fallen_back(names, replace(ended, held=True)) == []


def test_the_question_is_looked_up_where_no_hypothesis_held(tmp_path: Path) -> None:
    own = own_policy(tmp_path)
    rows = (shipped("ontology") / "policies" / "look-up.ttl").read_text(encoding="utf-8")
    text = own.read_text(encoding="utf-8").replace("policy:threshold 0.8", "policy:threshold 1.0")
    own.write_text(text + rows.replace("policy:frame ", "<urn:example:policy> "), encoding="utf-8")
    given = documents(tmp_path)
    record = tiny(tmp_path, sources=given, policy=own, question="Is the canteen closed?")
    (back,) = (c for c in of(record, "SourceChoice").values() if c.get("fallback") == ["question"])
    assert set(back["coreTerm"]) == {"canteen", "closed"}
    quotes = [one["quote"] for one in of(record, "Passage").values()]
    assert ["The canteen is closed on Friday."] in quotes
    assert audit(record).ok, str(audit(record))


def test_two_sources_are_chosen_by_cues_then_priority() -> None:
    described = Described(("crossref", "arxiv", "pubmed", "openalex"))

    def first(text: str) -> list[str]:
        return [one.name for one in described.options(text)[:2]]

    assert first("Patients of the trial lack a dose.") == ["pubmed", "openalex"]
    assert first("Papers in a journal of an open access publisher.")[0] == "openalex"
    assert first("Nothing of any domain.") == ["openalex", "pubmed"], "by priority"


def test_a_folder_describes_itself(tmp_path: Path) -> None:
    made = documents(tmp_path)
    (made / "source.ttl").write_text(
        "@prefix trails: <https://w3id.org/trails#> .\n"
        "<> a trails:RetrievalSource ; trails:domainCue 'scales', 'weighing' ; "
        "trails:priority 7 .\n",
        encoding="utf-8",
    )
    (option,) = Described((str(made),)).options("The scale was not used for weighing.")
    assert (option.priority, option.matched, option.universal) == (7, 2, True)
    (made / "source.ttl").write_text("nonsense", encoding="utf-8")
    with pytest.raises(OptionError, match=r"source\.ttl: describe the folder"):
        Described((str(made),))


def test_core_terms_are_names_and_words_and_no_digests_or_dates() -> None:
    assert core_terms("Papers whose venue is “Nova Letters” are open.") == (
        "Nova Letters", "Papers", "venue",
    )  # fmt: skip
    assert core_terms("Samples whose mass is “redacted:3f9ac012ab77” or “2026-05-04” fail.") == (
        "Samples", "mass",
    )  # fmt: skip
    assert core_terms("Fails more often.") == ()


def test_html_is_cited_by_where_its_words_stand(tmp_path: Path) -> None:
    made = documents(tmp_path)
    (work,) = (one for one in DocumentFolder(made).works if one.work.endswith(".html"))
    page = (made / "old" / "colours.html").read_text(encoding="utf-8")
    assert not any("samples feed mass" in part.text for part in work.parts), "a script is no text"
    part = work.parts[-1]
    at = int(part.locator.removeprefix("character "))
    assert part.text.startswith("Samples whose colour is green")
    assert page[at:].startswith("Samples whose colour is <b>green</b>")


def test_the_passage_with_the_rarer_words_comes_first_and_all_are_short() -> None:
    long = " ".join(f"Sentence {n} tells of samples." for n in range(60))
    works = [
        Work("a", "", (Part(long, "p. 1"),)),
        Work("b", "", (Part("The samples of the damp feed have no mass.", "p. 2"),)),
    ]
    found = best(works, ["samples", "damp"], Studies())
    assert found[0].locator == "p. 2"
    assert all(len(one.quote.split()) <= integer("passageWords") for one in found)
    assert len(found) == 2, "one of each study"


def test_no_source_is_asked_unless_it_is_named() -> None:
    request = kgreason.observe.request.request_of("a.ttl", shapes="s.ttl")
    assert source_testers(request) == ()


def test_values_that_are_kept_out_are_in_no_passage_and_no_term(tmp_path: Path) -> None:
    made = documents(tmp_path)
    (made / "paint.txt").write_text("What came by feed 3 was painted green by hand.\n", "utf-8")
    record = lab(tmp_path, sources=made, redact=COLOUR)
    quotes = [quote for one in of(record, "Passage").values() for quote in one["quote"]]
    assert any("by hand" in quote for quote in quotes)
    assert not any("green" in quote for quote in quotes)
    terms = [term for one in of(record, "SourceChoice").values() for term in one["coreTerm"]]
    assert not any(re.search("green|[0-9a-f]{8}", term) for term in terms)
