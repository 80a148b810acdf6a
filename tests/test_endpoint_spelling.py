"""What an engine gets wrong is asked of it in another way, and says the same."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyoxigraph as ox
import pytest

import kgreason
from kgreason.base.templates import Fragment, role
from kgreason.endpoint.asking_endpoint import AskingEndpoint
from kgreason.endpoint.dialect import named
from kgreason.endpoint.probing import Probed
from kgreason.shacl.constraint import Texts
from tests.endpoint_server import Served, oxigraph_server
from tests.test_endpoint import SHAPES, feeds

pytest.importorskip("httpx")
HEAD = "@prefix e: <https://example.org/lab/> ."


@pytest.fixture(scope="module")
def server() -> Iterator[Served]:
    with oxigraph_server(feeds()) as served:
        yield served


def mistaken_by(monkeypatch: pytest.MonkeyPatch, probed: str) -> list[str]:
    """Have endpoints answer a probe wrong; gives the queries that they are asked, as they come."""
    ask, asked = AskingEndpoint.solutions, list[str]()

    def answers(self: AskingEndpoint, query: str) -> Any:
        asked.append(query)
        if query == probed:
            query = query.replace('"true", "false"', '"false", "true"')
        return ask(self, query)

    monkeypatch.setattr(AskingEndpoint, "solutions", answers)
    return asked


def test_groups_within_exists_are_asked_in_another_way_where_an_engine_gets_them_wrong(
    server: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    probed = role("probe")["grouped-exists"].render()
    asked = mistaken_by(monkeypatch, probed)
    shapes = tmp_path / "shapes.ttl"
    rules = " ; ".join(
        f"sh:property [ sh:path e:box ; {rule} ]" for rule in ("sh:maxCount 1", "sh:minCount 2")
    )
    shapes.write_text(f"{SHAPES} e:SampleShape {rules} .", encoding="utf-8")
    found = kgreason.estimate(server.address, shapes=shapes)
    assert list(found.failing.values()) == [(40, 240), (240, 240)]
    assert not found.refused
    own = [one for one in asked if "HAVING" in one and one != probed]
    assert any("{ SELECT ?focus WHERE { ?focus <https://example.org/lab/box>" in o for o in own)
    assert any("FILTER (COALESCE(?several < " in one for one in asked)
    assert not any("EXISTS { SELECT ?focus" in one for one in asked)


def test_classes_and_terms_are_asked_in_another_way_where_an_engine_gets_them_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = mistaken_by(monkeypatch, role("probe")["same-term"].render())
    below = "<http://www.w3.org/2000/01/rdf-schema#subClassOf>"
    graphs = feeds()
    graphs["https://example.org/boxes"] += f"""
e:Crate {below} e:Case . e:Case {below} e:Box . e:Case {below} e:Crate . e:Sample {below} e:Thing .
e:s1-1 e:colour e:b1 . e:s1-2 e:colour e:b2 .""".encode()
    graphs["https://example.org/boxes"] = graphs["https://example.org/boxes"].replace(
        b"e:b1 a e:Box", b"e:b1 a e:Crate"
    )
    shapes = tmp_path / "shapes.ttl"
    rules = SHAPES.replace("e:Sample ;", "e:Thing ;").rstrip(" .\n")
    colour = "sh:property [ sh:path e:colour ; sh:in ( e:b1 e:b3 ) ]"
    shapes.write_text(f"{rules} ;\n  {colour} .", encoding="utf-8")
    with oxigraph_server(graphs) as served:
        lists = kgreason.estimate(served.address, shapes=shapes, dialect="virtuoso")
        assert not any("?focus rdf:type/rdfs" in one for one in asked if "?value" in one)
        assert any("COALESCE(?value = <" in one for one in asked)
        monkeypatch.undo()
        paths = kgreason.estimate(served.address, shapes=shapes, dialect="oxigraph")
    assert lists.failing == paths.failing
    assert list(lists.failing.values()) == [(40, 240), (1, 240)]


def test_a_text_is_asked_for_by_what_holds_of_no_other_term() -> None:
    same = role("probe")["same-term"]
    texts = Texts(
        Fragment(""), Fragment(r'FILTER (sameTerm(?value, "a \"b\"") || sameTerm(?v, 1))')
    )
    spelled = Probed(named("plain"), (), (same,)).spelled(texts)
    assert spelled.violation.text == (
        r'FILTER (COALESCE(?value = "a \"b\"" && LANG(?value) = "", false) || sameTerm(?v, 1))'
    )


TERMS = (
    *('"a"', '"a"@en', '"a"@fr', '"b"@en', '"1"', '"01"', "1", "1.0", "e:a", "<urn:a>"),
    *('"urn:a"', '"1"^^e:own', '"2"^^e:own', '"1"^^e:other'),
)


def differing(probe: str, query: str) -> list[str]:
    """Return what a query finds in another spelling, where a probe failed."""
    store = ox.Store()
    store.load(f"{HEAD} e:x e:of {', '.join(TERMS)} . e:y e:at e:x .".encode(), ox.RdfFormat.TURTLE)
    spelled = Probed(named("plain"), (), (role("probe")[probe],)).spelled(
        Texts(Fragment(""), Fragment(query))
    )
    assert spelled.violation.text != query
    assert not Probed(named("plain"), (), (role("probe")[probe],)).refuses(spelled)
    texts = (query, spelled.violation.text)
    found = [store.query(f"PREFIX e: <https://example.org/lab/> {text}") for text in texts]
    out = [sorted(str(row) for row in one) for one in found if isinstance(one, ox.QuerySolutions)]
    assert out[0] == out[1]
    return out[0]


def test_two_values_are_the_same_by_what_holds_of_no_two_others() -> None:
    pairs = "SELECT ?a ?b WHERE { ?x e:of ?a . ?x e:of ?b . FILTER (sameTerm(?a, ?b)) }"
    assert len(differing("same-term", pairs)) > 10


@pytest.mark.parametrize("way", ["EXISTS", "NOT EXISTS"])
def test_a_filter_alone_within_exists_is_asked_without_it(way: str) -> None:
    alone = f"{way} {{ FILTER NOT EXISTS {{ ?focus e:at ?value . }} }}"
    query = f"SELECT DISTINCT ?focus WHERE {{ ?focus ?p ?o . FILTER ({alone} || false) }}"
    assert len(differing("lone-filter", query)) == 1


def test_the_datatype_of_a_text_with_a_language_is_asked_of_any_variable() -> None:
    of = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#langString>"
    query = f"SELECT ?v20 WHERE {{ ?focus e:of ?v20 . FILTER (DATATYPE(?v20) = {of}) }}"
    assert len(differing("language-datatype", query)) == 3
