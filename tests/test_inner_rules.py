"""What values break that do not conform to an inner shape: told in a notice, with where to mend."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import kgreason
from kgreason.graph import load
from kgreason.observe.look import look
from kgreason.observe.request import Request
from tests.endpoint_server import Served, oxigraph_server

HEAD = "@prefix ex: <https://example.org/> . @prefix sh: <http://www.w3.org/ns/shacl#> .\n"
DATA = (
    "".join(f"ex:o{n} a ex:Order ; ex:of ex:p{n % 3} . " for n in range(6))
    + 'ex:p0 ex:born "1980" . ex:p1 ex:name "b" . ex:p9 a ex:Order .'
)
PERSON = """ex:Free a sh:NodeShape . ex:Person a sh:NodeShape ; sh:targetClass ex:Person ;
  sh:property [ sh:path ex:born ; sh:name "birth" ; sh:minCount 1 ] ,
    [ sh:path ex:name ; sh:name "name" ; sh:minCount 1 ] ."""
# p0 lacks a name, p1 a birth, p2 both; p9 is pointed at by nobody.
VALUES = """“of fits the shape Person” fails for what is said of the values: 3 nodes break “birth” \
(2), “name” (2) of the inner shape, and that is where to mend. With the target sh:targetObjectsOf \
<https://example.org/of> at the inner shape, causes are looked for among them."""
ITSELF = """“Order fits the shape Person” asks for an inner shape, of which 7 nodes break “birth” \
(all), “name” (all)."""
BILLS = "".join(f"ex:b{n} a ex:Bill . " for n in range(30))
SOME = """“Order fits the shape Person” asks for an inner shape, of which 20 nodes that were taken \
break “birth” (all), “name” (all)."""


@pytest.mark.parametrize(
    ("shape", "notice"),
    [
        ("sh:property [ sh:path ex:of ; sh:node ex:Person ]", VALUES),
        ("sh:property [ sh:path ex:of ; sh:node ex:Free ]", None),
        ("sh:node ex:Person", ITSELF),
    ],
)
def test_what_the_values_break_is_told(shape: str, notice: str | None, tmp_path: Path) -> None:
    data, shapes = tmp_path / "data.ttl", tmp_path / "shapes.ttl"
    data.write_text(HEAD + DATA, encoding="utf-8")
    order = f"ex:Order a sh:NodeShape ; sh:targetClass ex:Order ; {shape} . "
    shapes.write_text(HEAD + order + PERSON, encoding="utf-8")
    seen = look(load([data]), Request(data=(str(data),), shapes=(str(shapes),)))
    told = [one for one in seen.notices if "inner shape" in one]
    assert told == ([] if notice is None else [notice])


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    pytest.importorskip("httpx")
    with oxigraph_server({"": (HEAD + DATA + BILLS).encode()}) as server:
        yield server


@pytest.mark.parametrize(
    ("shape", "more", "told"),
    [
        ("sh:property [ sh:path ex:of ; sh:node ex:Person ]", {}, [VALUES]),
        ("sh:property [ sh:path ex:of ; sh:node ex:Person ]", {"hops": 1}, []),
        ("sh:property [ sh:path ex:of ; sh:node ex:Free ]", {}, []),
        ("sh:node ex:Person", {}, [ITSELF]),
        ("sh:targetClass ex:Bill ; sh:node ex:Person", {"cap": 20}, [SOME]),
    ],
)
def test_it_is_told_of_an_endpoint_too(
    shape: str, more: dict[str, Any], told: list[str], served: Served, tmp_path: Path
) -> None:
    shapes = tmp_path / "shapes.ttl"
    aim = "" if "target" in shape else "sh:targetClass ex:Order ; "
    order = f"ex:Order a sh:NodeShape ; {aim}{shape} . "
    shapes.write_text(HEAD + order + PERSON, encoding="utf-8")
    with kgreason.investigate(served.address, shapes=shapes, try_repairs=False, **more) as found:
        notices = found.as_dict()["notices"]
    assert [one for one in notices if "inner shape" in one] == told


AUTHORS = """ex:Book a sh:NodeShape ; sh:targetClass ex:Book ;
  sh:property [ sh:path ex:by ; {asked} ] .
ex:Person a sh:NodeShape ; sh:targetClass ex:Person ;
  sh:property [ sh:path ex:name ; sh:name "name" ; sh:minCount 1 ] .
ex:Team a sh:NodeShape ; sh:targetClass ex:Team ;
  sh:property [ sh:path ex:size ; sh:name "size" ; sh:minCount 1 ] ."""


@pytest.mark.parametrize("asked", ["sh:node ex:Person", "sh:or ( ex:Team ex:Person )"])
def test_who_fails_for_what_it_points_at_is_told_so(asked: str, tmp_path: Path) -> None:
    # Of ten persons and a team two lack a name; each has written three books.
    data, shapes = tmp_path / "data.ttl", tmp_path / "shapes.ttl"
    books = [f"ex:b{n} a ex:Book ; ex:by ex:p{n % 10} . " for n in range(30)]
    persons = [
        f"ex:p{n} a ex:Person{'' if n in {3, 7} else f' ; ex:name {n}'} . " for n in range(10)
    ]
    data.write_text(HEAD + "".join(books + persons), encoding="utf-8")
    shapes.write_text(HEAD + AUTHORS.format(asked=asked), encoding="utf-8")
    with kgreason.investigate(data, shapes=shapes) as found:
        book = next(s for s in found.as_dict()["symptoms"] if s["failing"] == 6)
    assert book["verdict"] == "explained"
    leading = book["hypotheses"][0]
    assert leading["statement"] == "What by points at breaks rules of its own: “name” (6)."
    assert leading["proof"] == "direct"
    assert leading["inside"] == {"failing": 6, "population": 6}
