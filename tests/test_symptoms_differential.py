"""Random shapes and data beside pySHACL, over all of SHACL; known differences have their reasons.

What pySHACL gets wrong is put right one thing at a time (kgreason/shacl/corrected.py), each with
its reason, place in the specification and example in shacl_differences.toml. After that no result
may differ: a new difference fails.
"""

import warnings
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import rdflib

from kgreason.base.errors import RunError
from kgreason.base.store import Term
from kgreason.base.terms import SH
from kgreason.graph import Graph, load
from kgreason.shacl import Shapes, compile_shapes, read_shapes
from kgreason.shacl import corrected as corrections
from kgreason.shacl.pyshacl_run import Reference
from kgreason.shacl.values import as_stored
from tests.shacl_dice import PREFIXES, Dice
from tests.symptoms_support import DIFFERENCES, observed, short

PAIRS = 400
AT_ONCE = 20


class Failing(NamedTuple):
    """A focus node that fails a constraint of a shape, and the value at fault."""

    shape: str
    component: str
    focus: str
    value: str


def read(data: str, shapes: str, folder: Path) -> tuple[Graph, Shapes]:
    (folder / "data.ttl").write_text(PREFIXES + data, encoding="utf-8")
    (folder / "shapes.ttl").write_text(PREFIXES + shapes, encoding="utf-8")
    return load([folder / "data.ttl"]), read_shapes([folder / "shapes.ttl"])


def failing(shape: Term | None, component: str, focus: Term, value: Term | None) -> Failing:
    if value is not None and short(component) in DIFFERENCES["values"]:
        value = as_stored(value)
    return Failing(str(shape), short(component), str(focus), str(value))


def ours(graph: Graph, shapes: Shapes) -> set[Failing]:
    return {
        failing(constraint.shape, constraint.component.value, result.focus, result.value)
        for constraint, observation in observed(graph, compile_shapes(shapes, graph))
        for result in observation.results
    }


def theirs(graph: Graph, shapes: Shapes) -> set[Failing]:
    return {
        failing(
            result[SH.sourceShape],
            str(getattr(result[SH.sourceConstraintComponent], "value", "")),
            result[SH.focusNode],
            result.get(SH.value),
        )
        for result in Reference(graph).validate(shapes.triples(), shapes.prefixes)
    }


def asked_as_the_store(sign: str, one: Any, other: Any) -> bool:
    """Compare in a query as the store does where [[queries]] says why that is not strict SPARQL."""
    literals = isinstance(one, rdflib.Literal) and isinstance(other, rdflib.Literal)
    if sign in corrections.ORDER and literals:
        (kind, left), (kind2, right) = map(corrections.kind_and_value, (one, other))
        if kind == kind2 == "boolean":
            raise TypeError(sign)
        alike = corrections.same_term(one, other)
        if alike and (kind in {"", "language"} or left != left):  # noqa: PLR0124 - NaN
            return sign in {"<=", ">="}
        if kind == kind2 == "language" and left[1] == right[1]:
            return corrections.ORDER[sign](left[0], right[0])
    return corrections.compared(sign, one, other)


def check(seed: int, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corrections, "asked", asked_as_the_store)
    dice = Dice(seed)
    data, drawn = dice.data(), dice.shapes()
    graph, shapes = read(data, drawn, folder)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of rdflib, on ill-typed booleans
        mine, other = ours(graph, shapes), theirs(graph, shapes)
    assert mine == other, f"seed {seed}\n{data}\n{drawn}"


@pytest.mark.parametrize("seed", range(12))
def test_some_pairs(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check(seed, tmp_path, monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("start", range(10_000, 10_000 + PAIRS, AT_ONCE))
def test_many_pairs(start: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(start, start + AT_ONCE):
        check(seed, tmp_path, monkeypatch)


@pytest.mark.parametrize("seed", range(10))
def test_a_query_with_minus_is_passed_over_and_told(seed: int, tmp_path: Path) -> None:
    drawn = Dice(seed).sparql(with_path=False, minus=True)
    shapes = f"ex:S sh:targetSubjectsOf ex:p ; sh:sparql [ {drawn} ] ; sh:maxLength 0 ."
    graph, read_ = read("ex:a ex:p 1 .", shapes, tmp_path)
    compiled = compile_shapes(read_, graph)
    assert [short(c.component.value) for c in compiled.constraints] == ["MaxLength"]
    assert "uses MINUS, which SHACL does not allow" in compiled.ill_formed[0]


def test_every_correction_has_its_reason() -> None:
    reasons = DIFFERENCES["corrected"]
    assert sorted({entry["name"] for entry in reasons}) == sorted(corrections.CORRECTIONS)
    assert all(entry["reason"] and entry["specification"] for entry in reasons)


@pytest.mark.parametrize("entry", DIFFERENCES["corrected"], ids=lambda e: e["name"])
def test_every_correction_is_needed(
    entry: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph, shapes = read(entry["data"], entry["shapes"], tmp_path)
    mine = ours(graph, shapes)
    assert sorted(short_iri(found.focus) for found in mine) == entry["failing"]
    assert mine == theirs(graph, shapes)
    monkeypatch.delitem(corrections.CORRECTIONS, entry["name"])
    if "fails" in entry:
        with pytest.raises(RunError):
            theirs(graph, shapes)
    else:
        assert theirs(graph, shapes) != mine


@pytest.mark.parametrize("entry", DIFFERENCES["queries"], ids=lambda e: e["name"])
def test_where_a_query_of_the_author_is_answered_as_the_store_does(
    entry: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert entry["reason"]
    assert entry["specification"]
    graph, shapes = read(entry["data"], entry["shapes"], tmp_path)
    mine = ours(graph, shapes)
    assert sorted(short_iri(found.focus) for found in mine) == entry["failing"]
    assert mine != theirs(graph, shapes)
    monkeypatch.setattr(corrections, "asked", asked_as_the_store)
    assert mine == theirs(graph, shapes)


def short_iri(text: str) -> str:
    return text.replace("<http://example.org/", "ex:").rstrip(">")
