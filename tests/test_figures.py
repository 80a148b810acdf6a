"""The figures by which the engine judges are data: they stand in `ontology/engine.ttl` alone."""

import ast
from collections import Counter
from decimal import Decimal
from pathlib import Path

import pyoxigraph as ox
import pytest

from kgreason.base.errors import RunError
from kgreason.base.figures import copied, figure, figures, integer
from kgreason.base.terms import DCT, POLICY, RDFS, TRAILS, TYPE, XSD
from kgreason.record import policy, test_kinds
from kgreason.test import direct_check, sibling_spread

ROOT = Path(__file__).resolve().parents[1]
ROOMS = ("context", "hypothesize", "test", "decide")
ARITHMETIC = {0.0, 1.0, 2.0}
"""Literals of formulas: a start, the whole, a square or a power of two."""
ALLOWED = {
    ("hypothesize/conditions/code.py", "LENGTH_BITS"): "a code: bits of each length of a path",
    ("decide/slices.py", "_OFTEN"): "what is drawn in a report, and decides nothing",
    ("hypothesize/conditions/drawn.py", "_RATES"): "a grid of rates at which windows are tried",
    ("hypothesize/conditions/scale.py", "_SLACK"): "keeps a bound above what it bounds, rounded",
    ("hypothesize/conditions/seam.py", "_MOST_BITS"): "no end, which no decimal can say",
    ("hypothesize/conditions/search.py", "_MOST_E"): "keeps a power of two within a float",
    ("hypothesize/conditions/units.py", "_MEANS"): "a grid over which is summed",
    ("hypothesize/conditions/units.py", "_NEAR"): "a grid over which is summed",
    ("hypothesize/conditions/units.py", "_SPREADS"): "a grid over which is summed",
    (
        "hypothesize/conditions/units.py",
        "_learned",
    ): "a half is added to each; a rate below 1",
    ("test/stratification.py", "pull"): "a half is added to each count (Haldane and Anscombe)",
    ("test/stratification.py", "_shown"): "words for an odds ratio without bound",
    ("test/rescaling.py", "_KS"): "the 95 % quantile of the Kolmogorov distribution",
    ("test/rescaling.py", "_MIDDLE_HALF"): "the width of the middle half of a normal distribution",
    ("test/rescaling.py", "_sizes"): "quartiles",
    ("test/direct_check.py", "HOLDS"): "policy:directRate has it too",
    ("test/recurrence.py", "read"): "a half is added to each count (Haldane and Anscombe)",
    ("test/sibling_spread.py", "TAIL"): "policy:siblingTail has it too",
    ("test/counterexamples.py", "read"): "the rate of a region of which nothing is known",
    ("hypothesize/filters/clustering.py", "_dispersion"): "the root in Wilson and Hilferty",
}
"""What else may hold a literal with a point: file and name, with the reason."""


def literals() -> Counter[tuple[str, str]]:
    """Count the literals with a point that are no arithmetic, by file and top-level name."""
    found: Counter[tuple[str, str]] = Counter()
    for room in ROOMS:
        for path in sorted((ROOT / "kgreason" / room).rglob("*.py")):
            name = path.relative_to(ROOT / "kgreason").as_posix()
            for top in ast.parse(path.read_text(encoding="utf-8")).body:
                for owner, node in _owned(top):
                    if isinstance(node, ast.Constant) and isinstance(node.value, float):
                        found[name, owner] += node.value not in ARITHMETIC
    return +found


def _owned(top: ast.stmt) -> list[tuple[str, ast.AST]]:
    parts = top.body if isinstance(top, ast.ClassDef) else [top]
    return [(_name(part), node) for part in parts for node in ast.walk(part)]


def _name(node: ast.stmt) -> str:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return node.name
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return " ".join(t.id for t in targets if isinstance(t, ast.Name))


def test_no_figure_stands_in_python() -> None:
    found = set(literals())
    assert found - set(ALLOWED) == set(), "put these into ontology/engine.ttl, or say why not"
    assert set(ALLOWED) - found == set(), "these are allowed, but are no longer there"


def ontology() -> ox.Store:
    store = ox.Store()
    store.load(path=str(ROOT / "ontology" / "engine.ttl"), format=ox.RdfFormat.TURTLE)
    return store


def test_every_figure_is_declared_with_its_unit_and_its_meaning() -> None:
    store = ontology()
    declared = {q.subject for q in store.quads_for_pattern(None, TYPE, TRAILS.EngineFigure, None)}
    assert declared == {POLICY[name] for name in figures()}
    for node in declared:
        for predicate in (TRAILS.unit, RDFS.label, RDFS.comment, RDFS.range):
            assert len(list(store.quads_for_pattern(node, predicate, None, None))) == 1, node


def test_every_figure_has_one_value_of_its_datatype() -> None:
    store = ontology()
    said = [t for t in copied() if t.predicate in POLICY]
    assert len(said) == len(figures())
    for triple in said:
        (range_,) = store.quads_for_pattern(triple.predicate, RDFS.range, None, None)
        assert isinstance(triple.object, ox.Literal)
        assert triple.object.datatype == range_.object
        assert range_.object in {XSD.integer, XSD.decimal, XSD.string}


def test_every_figure_is_used_once() -> None:
    used: Counter[str] = Counter()
    for path in sorted((ROOT / "kgreason").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
                continue
            if node.func.id in {"figure", "integer", "word_list", "number_list"}:
                (name,) = node.args
                assert isinstance(name, ast.Constant), path
                used[str(name.value)] += 1
    # What no program reads is read by queries, from the record, as it was when the record began.
    asked = "\n".join(p.read_text(encoding="utf-8") for p in (ROOT / "queries").rglob("*.rq"))
    elsewhere = {name for name in figures() if name not in used and f"policy:{name} ?" in asked}
    assert used == Counter(dict.fromkeys(figures().keys() - elsewhere, 1))


def test_a_figure_is_read_as_it_is_written() -> None:
    assert figure("clearRate") == float(Decimal(figures()["clearRate"]))
    assert figure("siblingUsual") == 2 / 3
    assert integer("familyLimit") == int(figures()["familyLimit"])


def test_a_figure_that_is_not_there_is_an_error() -> None:
    with pytest.raises(RunError, match="engine has no policy:wisdom"):
        figure("wisdom")


def test_a_source_is_told_where_a_figure_is_a_quantile() -> None:
    store = ontology()
    for name in ("minG", "clearG", "noSignG", "clusterG", "clusterSpread"):
        assert list(store.quads_for_pattern(POLICY[name], DCT.source, None, None)), name


@pytest.mark.parametrize("name", policy.names())
def test_what_the_readers_of_tests_ask_is_what_the_policies_that_come_along_ask(name: str) -> None:
    numbers = policy.load(name).numbers
    asked = tuple(float(numbers[name]) for name in ("directRate", "placeboRate"))
    assert asked == (direct_check.HOLDS, test_kinds.CLEARS)
    # What is within the spread of its siblings speaks against a cause; a gate may ask for more.
    assert float(numbers["siblingTail"]) <= sibling_spread.TAIL
