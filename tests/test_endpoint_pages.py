"""Pages of nodes on an endpoint, and samples of them: as few looks at all nodes as may be."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pyoxigraph as ox
import pytest

from kgreason.base.templates import Fragment
from kgreason.endpoint import asking_endpoint
from kgreason.endpoint.asking_endpoint import AskingEndpoint, Truncated
from kgreason.endpoint.named_endpoint import NamedEndpoint
from kgreason.endpoint.paging import Besides, Checked, Listed, Page, Pages, Plain, digest
from tests.endpoint_server import Served, oxigraph_server

pytest.importorskip("httpx")


@pytest.fixture(scope="module")
def hundreds() -> Iterator[Served]:
    """A server with three hundred nodes, of which the first sixty are part, and a blank one."""
    said = "".join(f"<urn:n:{n}> a <urn:all> .\n" for n in range(300)) + "[] a <urn:all> .\n"
    said += "".join(f"<urn:n:{n}> <urn:of> 1, 2 .\n" for n in range(60))
    with oxigraph_server({"": said.encode()}) as served:
        yield served


@pytest.mark.parametrize("cap", [None, 61, 20])
@pytest.mark.parametrize("known", [0, 9, 60])
@pytest.mark.slow
def test_pages_are_those_of_the_smallest_digests(
    hundreds: Served, cap: int | None, known: int
) -> None:
    asking = AskingEndpoint(NamedEndpoint(hundreds.address))
    asking.cap = cap
    pages = Pages(asking, 3)
    target, part = Fragment("?focus a <urn:all> ."), Fragment("?focus <urn:of> ?value .")
    nodes = [f"urn:n:{n}" for n in range(300)]
    bad, good = (sorted(n, key=lambda one: digest(3, one)) for n in (nodes[:60], nodes[60:]))
    whole = Fragment(f"{{ SELECT DISTINCT ?focus WHERE {{ {target.text} {part.text} }} }}")
    failing = Checked(whole, target, part)
    besides = Besides(failing, Listed(60, tuple(bad[:known])))
    assert pages.population(target) == 301
    for most in (1, 25, 1000):
        assert pages.sample(failing, most) == Listed(60, tuple(bad[:most]))
        passing = pages.sample(Plain(target), most, besides=besides)
        assert passing == Listed(240, tuple(good[:most]))


def test_a_page_holds_what_is_wanted_and_known_nodes_are_not_asked_for(hundreds: Served) -> None:
    asking = AskingEndpoint(NamedEndpoint(hundreds.address))
    asking.cap = 200
    pages, target = Pages(asking, 3), Fragment("?focus a <urn:all> .")
    failing = Plain(Fragment("?focus <urn:of> ?value ."))
    bad = pages.sample(failing, 40)
    before = asking.asked.queries
    pages.sample(Plain(target), 60, besides=Besides(failing, bad))
    assert asking.asked.queries == before + 3  # all nodes, those of a page, and which these are


@pytest.mark.parametrize(("given", "queries"), [(216, 4), (215, 10), (150, 10), (None, 10)])
def test_a_large_sample_is_one_page_where_answers_may_be_that_long(
    hundreds: Served, monkeypatch: pytest.MonkeyPatch, given: int | None, queries: int
) -> None:
    """Whether they may is asked by an answer that has more rows than a page."""
    monkeypatch.setattr(asking_endpoint, "_PAGE", 20)
    monkeypatch.setattr(asking_endpoint, "_LONG", 150)
    asking = AskingEndpoint(NamedEndpoint(hundreds.address))
    ask, probe = asking.solutions, asking_endpoint._long_answer()[0]

    def answers(query: str) -> Any:
        found = ask(query)
        if query == probe:
            if given is None:
                raise Truncated("cut")
            found = replace(found, rows=found.rows[:given])
        return found

    monkeypatch.setattr(asking, "solutions", answers)
    pages, target = Pages(asking, 3), Plain(Fragment("?focus a <urn:all> ."))
    nodes = sorted((f"urn:n:{n}" for n in range(300)), key=lambda one: digest(3, one))
    assert pages.sample(target, 40) == Listed(300, tuple(nodes[:40]))
    assert asking.asked.queries == queries
    assert pages.sample(target, 4) == Listed(300, tuple(nodes[:4]))
    assert asking.asked.queries == queries + 3, "it is asked once, and only where it matters"


def test_an_answer_longer_than_a_long_page_is_asked_for() -> None:
    query, rows = asking_endpoint._long_answer()
    found = ox.Store().query(query)
    assert isinstance(found, ox.QuerySolutions)
    assert sum(1 for _ in found) == rows > asking_endpoint._LONG


def test_only_the_nodes_of_a_page_are_checked() -> None:
    violation = Fragment("FILTER NOT EXISTS { ?focus <urn:of> ?value . }")
    target = Fragment("?focus a <urn:all> .")
    checked = Checked(Fragment(f"{target.text} {violation.text}"), target, violation)
    text = checked.inside(Page(16, 4096), 3).text
    assert text.index("MD5") < text.index("NOT EXISTS")
