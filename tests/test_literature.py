"""Literature services, each against a server on loopback that speaks its documented format."""

import json
import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any, Protocol

import pytest

from kgreason.base import fetching, figures
from kgreason.base.fetching import Fetch, SourceError, retry_after
from kgreason.base.figures import integer
from kgreason.sources.described import services
from kgreason.sources.passages import best
from kgreason.sources.sources_opening import connected
from kgreason.sources.works import Studies, Work
from tests.literature_server import EMPTY, WRONG, Answering, literature_server

pytest.importorskip("httpx")
TERMS = ["aspirin", "headache"]
DOI = "https://doi.org/10.1000/abc.1"


class Asking(Protocol):
    fetch: Fetch

    def search(self, terms: Any, most: int, /) -> Any: ...


@pytest.fixture
def server() -> Iterator[Answering]:
    with literature_server() as answering:
        yield answering


def asking(server: Answering, name: str, cache: Path | None = None) -> Any:
    """Give a service on loopback, with a clock that goes on by what is slept."""
    made: Any = connected(replace(services()[name], address=f"{server.address}{name}/"), cache)
    made.fetch.slept = []
    clock = [0.0]

    def sleep(seconds: float) -> None:
        made.fetch.slept.append(seconds)
        clock[0] += seconds

    made.fetch.sleep, made.fetch.now = sleep, lambda: clock[0]
    return made


def test_the_six_services_are_described() -> None:
    assert list(services()) == [
        "arxiv", "crossref", "europepmc", "openalex", "pubmed", "semanticscholar",
    ]  # fmt: skip
    assert all(one.address.startswith("https://") for one in services().values())


@pytest.mark.parametrize(
    ("name", "locator", "words"),
    [
        ("pubmed", "abstract, results", "Aspirin eased headache in 61 of 100 patients."),
        ("europepmc", "abstract", "Results Aspirin eased headache in 61 of 100 patients."),
        ("semanticscholar", "abstract", "Aspirin eased headache in 61 of 100 patients."),
        ("openalex", "abstract", "Aspirin eased headache."),
        ("crossref", "abstract", "Aspirin eased headache & pain."),
        ("arxiv", "abstract", "We model how aspirin eases headache."),
    ],
)
def test_each_service_gives_works_with_their_doi_and_passages(
    server: Answering, name: str, locator: str, words: str
) -> None:
    answer = asking(server, name).search(TERMS, 10)
    work = answer.works[0]
    assert work.work == DOI
    assert "doi:10.1000/abc.1" in work.ids
    assert (locator, words) in [(part.locator, part.text) for part in work.parts]
    assert answer.raw


@pytest.mark.parametrize(
    ("name", "parameter", "said"),
    [
        ("pubmed", "term", '"aspirin" AND "headache"'),
        ("europepmc", "query", '"aspirin" AND "headache"'),
        ("semanticscholar", "query", "aspirin headache"),
        ("openalex", "search", '"aspirin" AND "headache"'),
        ("crossref", "query.bibliographic", "aspirin headache"),
        ("arxiv", "search_query", 'all:"aspirin" AND all:"headache"'),
    ],
)
def test_each_service_is_asked_for_all_terms_together(
    server: Answering, name: str, parameter: str, said: str
) -> None:
    asking(server, name).search(TERMS, 10)
    assert server.asked[0][1][parameter] == said


def test_the_operators_of_a_term_are_no_operators(server: Answering) -> None:
    asking(server, "pubmed").search(['a" OR all[filter] ("x'], 10)
    assert server.asked[0][1]["term"] == '"a OR all filter x"'


def test_a_work_without_all_terms_is_left_out_of_what_crossref_gives(server: Answering) -> None:
    works = asking(server, "crossref").search(TERMS, 10).works
    assert [work.work for work in works] == [DOI]


@pytest.mark.parametrize("name", EMPTY)
def test_a_service_that_has_nothing_gives_no_work(server: Answering, name: str) -> None:
    server.always = EMPTY[name]
    answer = asking(server, name).search(TERMS, 10)
    assert answer.works == ()
    assert answer.raw == (EMPTY[name],)


@pytest.mark.parametrize("name", WRONG)
def test_an_error_that_a_service_tells_is_told(server: Answering, name: str) -> None:
    status, text = WRONG[name]
    server.first = [(status, {}, text)]
    with pytest.raises(SourceError, match=r"."):
        asking(server, name).search(TERMS, 10)
    assert len(server.asked) == 1, "what is wrong stays wrong"


@pytest.mark.parametrize("name", EMPTY)
@pytest.mark.parametrize(
    "text", ["", "{", "<html>Bad gateway</html>", "[1]", '{"x": ', "<feed", "null"]
)
@pytest.mark.slow
def test_an_answer_that_cannot_be_read_is_an_error(server: Answering, name: str, text: str) -> None:
    server.always = text
    with pytest.raises(SourceError):
        asking(server, name).search(TERMS, 10)


@pytest.mark.parametrize("status", [429, 500, 503])
def test_what_may_pass_is_asked_for_again_with_back_off(server: Answering, status: int) -> None:
    server.first = [(status, {}, "busy")] * 2
    service = asking(server, "europepmc")
    assert service.search(TERMS, 10).works
    assert [s for s in service.fetch.slept if s >= 1] == [1.0, 2.0]


def test_after_all_tries_the_error_names_the_host_and_the_status(server: Answering) -> None:
    server.first = [(500, {}, "no")] * 9
    with pytest.raises(SourceError, match=r"127\.0\.0\.1:\d+ answered 500, 4 times"):
        asking(server, "openalex").search(TERMS, 10)
    assert len(server.asked) == integer("fetchTries")


def test_retry_after_is_kept_to(server: Answering) -> None:
    server.first = [(429, {"Retry-After": "7"}, "")]
    service = asking(server, "semanticscholar")
    assert service.search(TERMS, 10).works
    assert 7.0 in service.fetch.slept


def test_a_service_that_wants_a_long_rest_is_given_up(server: Answering) -> None:
    server.first = [(429, {"Retry-After": "3600"}, "")]
    with pytest.raises(SourceError, match="left alone for 3600 s"):
        asking(server, "openalex").search(TERMS, 10)
    assert len(server.asked) == 1


def test_retry_after_may_be_a_date() -> None:
    then = datetime.now(UTC) + timedelta(seconds=90)
    found = retry_after({"retry-after": format_datetime(then)})
    assert found is not None
    assert 80 < found <= 90
    assert retry_after({"retry-after": "soon"}) is None
    assert retry_after({}) is None


def test_a_service_that_does_not_answer_is_given_up(
    server: Answering, monkeypatch: pytest.MonkeyPatch
) -> None:
    free = threading.Event()

    def wait() -> None:
        free.wait(30)

    server.before = wait
    known = dict(figures.figures()) | {"fetchTries": "1"}
    monkeypatch.setattr(fetching, "integer", lambda name: int(known[name]))
    monkeypatch.setattr(fetching, "_SECONDS", 1)
    try:
        with pytest.raises(SourceError, match=r"did not (answer|end its answer) within 1 s"):
            asking(server, "arxiv").search(TERMS, 10)
    finally:
        free.set()


def test_a_service_that_is_not_there_is_told() -> None:
    made: Any = connected(replace(services()["arxiv"], address="http://127.0.0.1:9/"))
    made.fetch.sleep = lambda _: None
    with pytest.raises(SourceError, match="cannot be reached"):
        made.search(TERMS, 10)


def test_a_service_is_asked_no_faster_than_it_allows(server: Answering) -> None:
    service = asking(server, "arxiv")
    service.search(["one"], 10)
    service.search(["two"], 10)
    assert sum(service.fetch.slept) == pytest.approx(1 / 0.33)


def test_arxiv_says_in_words_that_it_was_asked_too_often(server: Answering) -> None:
    server.always = "Rate exceeded."
    with pytest.raises(SourceError, match="too often"):
        asking(server, "arxiv").search(TERMS, 10)


def test_entities_are_not_expanded(server: Answering) -> None:
    server.always = '<!DOCTYPE x [<!ENTITY a "aaaa">]><feed>&a;</feed>'
    with pytest.raises(SourceError, match="entities"):
        asking(server, "arxiv").search(TERMS, 10)


def test_an_answer_is_kept_and_not_asked_for_again(server: Answering, tmp_path: Path) -> None:
    first = asking(server, "pubmed", tmp_path / "kept").search(TERMS, 10)
    asked = len(server.asked)
    again = asking(server, "pubmed", tmp_path / "kept").search(TERMS, 10)
    assert again == first
    assert len(server.asked) == asked


def test_a_key_is_sent_and_stands_nowhere_else(
    server: Answering, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NCBI_API_KEY", "hunter2hunter2")
    monkeypatch.setenv("S2_API_KEY", "hunter3hunter3")
    asking(server, "pubmed", tmp_path).search(TERMS, 10)
    asking(server, "semanticscholar", tmp_path).search(TERMS, 10)
    assert server.asked[0][1]["api_key"] == "hunter2hunter2"
    assert server.asked[-1][2]["x-api-key"] == "hunter3hunter3"
    kept = "".join(f"{p.name}{p.read_text()}" for p in tmp_path.iterdir())
    assert "hunter" not in kept
    server.first = [(400, {}, "no")]
    with pytest.raises(SourceError) as caught:
        asking(server, "pubmed").search(["other"], 10)
    assert "hunter" not in str(caught.value)


def test_one_study_from_several_services_is_one_study(server: Answering) -> None:
    studies = Studies()
    names = ("pubmed", "europepmc", "openalex", "semanticscholar", "crossref", "arxiv")
    works = [asking(server, name).search(TERMS, 10).works[0] for name in names]
    assert {studies.of(work) for work in works} == {"doi:10.1000/abc.1"}


def test_works_are_one_study_by_a_number_they_share_or_a_long_title() -> None:
    studies = Studies()
    first = Work("a", "Aspirin and headache in adults", (), ("doi:10.1/a", "pmid:1"))
    assert studies.of(first) == studies.of(Work("b", "Another", (), ("pmid:1",)))
    assert studies.of(first) == studies.of(Work("c", "aspirin and headache, in adults", ()))
    assert studies.of(Work("d", "Editorial", ())) != studies.of(Work("e", "Editorial", ()))


def test_one_study_fills_no_more_than_its_share_of_what_is_quoted(server: Answering) -> None:
    works = asking(server, "pubmed").search(TERMS, 10).works
    found = best(works, TERMS, Studies())
    assert len({one.study for one in found}) == len(found) == 2
    assert json.dumps([one.quote for one in found])
