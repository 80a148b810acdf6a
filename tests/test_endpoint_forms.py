"""Literals that an endpoint may have rewritten: what fails by how they are written is not told."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pyoxigraph as ox
import pytest

import kgreason
from kgreason.audit import audit
from kgreason.base.templates import role
from kgreason.base.terms import XSD
from kgreason.review.replay import replay
from kgreason.shacl.seen_forms import seen_of
from tests.endpoint_server import Proxy, Served, oxigraph_server, proxy_before
from tests.fuseki_server import fuseki_server
from tests.lifetime_support import of

pytest.importorskip("httpx")
HEAD: Final = """@prefix e: <https://example.org/lab/> .
@prefix sh: <http://www.w3.org/ns/shacl#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""
SHAPE: Final = f"{HEAD} e:S a sh:NodeShape ; sh:targetClass e:Sample ;"
CODE: Final = f'{SHAPE} sh:property [ sh:path e:code ; sh:pattern "^[0-9]{{3}}$" ] .'
RUN: dict[str, Any] = {"try_repairs": False, "seed": 3}
PROBES: Final = {
    one.render(): one.header["expects"]
    for one in role("probe").values()
    if one.header.get("follows") == "lost"
}


def samples(form: str) -> str:
    rows = (
        f'e:s{n} a e:Sample ; e:code "{format(n, form)}"^^xsd:integer ; e:site e:t{n % 4} ; '
        f'e:level "{n}.5"^^xsd:decimal ; e:name "sample {n}" ; e:on "2026-01-02"^^xsd:date .'
        for n in range(200)
    )
    return "\n".join([HEAD, *rows])


@pytest.fixture(scope="module")
def server() -> Iterator[Served]:
    with oxigraph_server({"": samples("03").encode()}) as served:
        yield served


def keeps_constants(query: str, status: int, headers: dict[str, str], body: bytes) -> Any:
    """Answer as a store that gives literals of a query as they are, but rewrites its own."""
    if query in PROBES:
        answer = {"answer": {"type": "literal", "value": PROBES[query]}}
        told = {"head": {"vars": ["answer"]}, "results": {"bindings": [answer]}}
        body = json.dumps(told).encode()
    return status, headers | {"Content-Length": str(len(body))}, body


def pads(query: str, status: int, headers: dict[str, str], body: bytes) -> Any:
    """Answer as such a store would that had been given zeros before its numbers, and keeps them."""
    told = json.loads(body)
    for row in told["results"]["bindings"]:
        value = row.get("value", {})
        if value.get("datatype", "").endswith("#integer") and len(value["value"]) == 1:
            value["value"] = f"0{value['value']}"
    return keeps_constants(query, status, headers, json.dumps(told).encode())


@pytest.fixture
def proxy(server: Served) -> Iterator[Proxy]:
    with proxy_before(server.base) as made:
        made.every = keeps_constants
        yield made


def shapes_of(folder: Path, text: str) -> Path:
    path = folder / "shapes.ttl"
    path.write_text(text, encoding="utf-8")
    return path


def test_what_fails_since_a_store_rewrites_is_not_told(proxy: Proxy, tmp_path: Path) -> None:
    """By the files, all codes have three figures."""
    shapes = shapes_of(tmp_path, CODE)
    ledger = tmp_path / "ledger"
    with kgreason.investigate(proxy.address, shapes=shapes, ledger=ledger, **RUN) as found:
        told = found.as_dict()
        assert (told["symptoms"], told["causes"]) == ([], [])
        (notice,) = (one for one in told["notices"] if one.startswith("Pattern at"))
        assert "nothing shows that the endpoint gives those of xsd:integer" in notice
        assert "give the files that were loaded there" in notice
        (extract,) = of(found.record, "Extract").values()
        assert extract["formsLost"] == ["false"]
        probes = {one["probeName"][0]: one for one in of(found.record, "Probe").values()}
        assert probes["form-of-integer"]["passed"] == ["true"]
        assert probes[f"stored-form {XSD.integer.value}"]["passed"] == ["false"]
        assert not any("string" in name for name in probes)
        assert audit(found.record).ok, str(audit(found.record))
    assert replay(ledger).same


@pytest.mark.parametrize(
    ("rule", "failing"),
    [
        ('sh:path e:name ; sh:pattern "[02468]$"', 100),  # texts are kept
        ("sh:path e:code ; sh:datatype xsd:decimal", 200),  # decimals stand there as decimals
        ("sh:path e:code ; sh:datatype xsd:long", 0),  # a long may have become an integer
        ("sh:path e:code ; sh:datatype xsd:date", 200),  # but no date has
        ("sh:path e:code ; sh:in ( 1 2 3 )", 197),
        ('sh:path e:code ; sh:in ( "001"^^xsd:integer 2 3 )', 0),
        ("sh:path e:code ; sh:hasValue 7", 199),
        ('sh:path e:on ; sh:pattern "^2025"', 200),  # a day can be written in one way
        ('sh:path e:level ; sh:pattern "^.[.]"', 0),
        ("sh:path e:site ; sh:minCount 2", 200),  # of nodes no two have become one
        ("sh:path e:level ; sh:minCount 2", 0),
    ],
)
@pytest.mark.slow
def test_what_rewriting_cannot_have_done_is_told(
    rule: str, failing: int, proxy: Proxy, tmp_path: Path
) -> None:
    shapes = shapes_of(tmp_path, f"{SHAPE} sh:property [ {rule} ] .")
    seen = kgreason.symptoms(proxy.address, shapes=shapes)
    assert [one.failing for one in seen] == ([failing] if failing else [])
    told = any("nothing shows that the endpoint gives" in one for one in seen.notices)
    assert told == (not failing)


@pytest.mark.parametrize(("path", "found"), [("name", [100]), ("code", [])])
def test_of_a_shape_within_only_what_it_looks_at_matters(
    path: str, found: list[int], proxy: Proxy, tmp_path: Path
) -> None:
    inner = f'[ sh:property [ sh:path e:{path} ; sh:pattern "[02468]$" ] ]'
    shapes = shapes_of(tmp_path, f"{SHAPE} sh:node {inner} .")
    seen = kgreason.symptoms(proxy.address, shapes=shapes)
    assert [one.failing for one in seen] == found


def test_a_form_that_no_engine_gives_shows_that_forms_are_kept(
    proxy: Proxy, tmp_path: Path
) -> None:
    proxy.every = pads
    seen = kgreason.symptoms(proxy.address, shapes=shapes_of(tmp_path, CODE))
    assert [one.failing for one in seen] == [100]


def literal(kind: str, form: str) -> ox.Literal:
    return ox.Literal(form, datatype=XSD[kind])


@pytest.mark.parametrize(
    ("kind", "forms", "shown"),
    [
        ("integer", ["7", "-12", "0"], False),
        ("integer", ["7", "007"], True),
        ("integer", ["+7"], True),
        ("integer", ["00000123456789012345678901"], False),  # TDB keeps what is too long for it
        ("int", ["07"], True),
        ("decimal", ["1.50", "0.5", "5.0"], False),  # TDB keeps these, and not 01.5
        ("decimal", ["01.5"], True),
        ("double", ["1.0e0", "1.0E0", "1E0", "1.5", "1e-05", "1.500000e+00"], False),
        ("double", ["1.50e0"], True),
        ("boolean", ["true", "false"], False),
        ("boolean", ["1", "0"], False),
        ("boolean", ["1", "false"], True),
        ("dateTime", ["2026-01-02T00:00:00Z", "2026-01-02T00:00:00+00:00"], False),
        ("dateTime", ["2026-01-02T00:00:00.000Z", "2026-01-02T00:00:00.500Z"], False),
        ("dateTime", ["2026-01-02T00:00:00.000Z", "2026-01-02T00:00:00Z"], True),
        ("dateTime", ["2026-01-02T00:00:00.10Z"], True),
        ("dateTime", ["9999-01-02T00:00:00.10Z"], False),
        ("date", ["2026-01-02Z", "2026-01-02+00:00"], False),
        ("hexBinary", ["0a", "0A"], False),
    ],
)
def test_only_forms_that_engines_do_not_give_show_anything(
    kind: str, forms: list[str], *, shown: bool
) -> None:
    found = seen_of([ox.NamedNode("urn:x"), *(literal(kind, form) for form in forms)])
    assert list(found.values()) == [shown]
    assert seen_of([ox.Literal("a"), ox.Literal("a", language="en"), literal("token", "a")]) == {}


@pytest.mark.slow
@pytest.mark.parametrize("on_disk", [False, True], ids=["in-memory", "on-disk"])
def test_fuseki_keeps_forms_in_memory_and_not_on_disk(tmp_path: Path, *, on_disk: bool) -> None:
    shapes = shapes_of(tmp_path, CODE)
    quads = tmp_path / "data.nq"
    parsed = ox.parse(samples("03" if on_disk else "02"), format=ox.RdfFormat.TURTLE)
    with quads.open("wb") as file:
        ox.serialize(parsed, file, format=ox.RdfFormat.N_QUADS)
    with fuseki_server([quads], on_disk=on_disk) as served:
        seen = kgreason.symptoms(served.address, shapes=shapes)
    assert [one.failing for one in seen] == ([] if on_disk else [100])
    told = any("nothing shows that the endpoint gives" in one for one in seen.notices)
    assert told == on_disk
