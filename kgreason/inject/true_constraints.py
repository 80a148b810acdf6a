"""Constraints that are true of the clean data: derived from it, or taken from given shapes."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Final

import pyoxigraph as ox

from kgreason.base.store import Store, Term
from kgreason.base.terms import PREFIXES, SH, TYPE, XSD
from kgreason.graph import load
from kgreason.inject.base_graph import BaseGraph
from kgreason.inject.fault import Table, Target, Values

HELD: Final = 0.98
"""A constraint is taken for true if at least this share of the instances meets it."""
LANG_STRING: Final = ox.NamedNode(PREFIXES["rdf"] + "langString")
NUMBERS: Final = frozenset({XSD.integer, XSD.decimal, XSD.double, XSD.float})
_TEXTS: Final = frozenset({XSD.string, LANG_STRING})
_RUN: Final = re.compile(r"(?P<capitals>[A-Z]+)|(?P<small>[a-z]+)|(?P<digits>[0-9]+)|.", re.DOTALL)
_CLASSES: Final = {"capitals": "[A-Z]+", "small": "[a-z]+", "digits": "[0-9]+"}
_COUNTS: Final = ("MinCount", "MaxCount")
_NOTHING: Final = Store(ox.Store(), "nothing")
_OF_VALUES: Final = ("NodeKind", "Class", "Datatype", "Pattern")

Test = Callable[[Term], bool]
Maker = Callable[[str, Term | None, int], Iterator[Target]]


def derive(base: BaseGraph) -> list[Target]:
    """Return every constraint of a simple form that holds in the clean data, nearly or quite."""
    classes = _classes(base.store)
    return [
        target
        for table in base.tables
        for path in sorted(table.values, key=lambda p: p.value)
        if path != TYPE
        for target in _derived(table, path, classes)
    ]


def _classes(store: ox.Store) -> dict[object, set[ox.NamedNode]]:
    out: dict[object, set[ox.NamedNode]] = {}
    for quad in store.quads_for_pattern(None, TYPE, None, None):
        if isinstance(quad.object, ox.NamedNode):
            out.setdefault(quad.subject, set()).add(quad.object)
    return out


def _derived(
    table: Table, path: ox.NamedNode, classes: dict[object, set[ox.NamedNode]]
) -> Iterator[Target]:
    values, size = table.values[path], len(table.nodes)
    if len(values) < HELD * size:
        return

    def made(component: str, value: Term | None, failing: int) -> Iterator[Target]:
        if failing <= (1 - HELD) * size:
            yield Target(table.cls, path, component, value, size, failing)

    for component in _COUNTS:
        yield from made(component, None, _miscounted(component, values, size))
    everything = [v for vs in values.values() for v, _ in vs]
    if all(isinstance(v, ox.NamedNode) for v in everything):
        yield from made("NodeKind", SH.IRI, 0)
        shared = Counter(c for v in set(everything) for c in classes.get(v, ()))
        for cls, _ in shared.most_common(1):
            failing = _fails(values, _not_of(cls, classes))
            yield from made("Class", cls, failing)
    kinds = Counter(v.datatype for v in everything if isinstance(v, ox.Literal))
    for datatype, _ in kinds.most_common(1):
        failing = _fails(values, _not_typed(datatype))
        yield from made("Datatype", datatype, failing)
        yield from _of_form(made_of=made, values=values, datatype=datatype)


def _fails(values: Values, wrong: Test) -> int:
    return sum(any(wrong(v) for v, _ in vs) for vs in values.values())


def _not_of(cls: ox.NamedNode, classes: dict[object, set[ox.NamedNode]]) -> Test:
    return lambda value: cls not in classes.get(value, ())


def _not_typed(datatype: ox.NamedNode) -> Test:
    return lambda value: not isinstance(value, ox.Literal) or value.datatype != datatype


def _of_form(*, made_of: Maker, values: Values, datatype: ox.NamedNode) -> Iterator[Target]:
    """Return the pattern that all texts have, and the bounds that all numbers keep."""
    everything = [v for vs in values.values() for v, _ in vs if isinstance(v, ox.Literal)]
    if datatype in _TEXTS:
        patterns = {pattern_of(v.value) for v in everything}
        if len(patterns) == 1:
            yield from made_of("Pattern", ox.Literal(patterns.pop()), 0)
        lengths = [len(v.value) for v in everything]
        yield from made_of("MaxLength", ox.Literal(max(lengths)), 0)
        yield from made_of("MinLength", ox.Literal(min(lengths)), 0)
    elif datatype in NUMBERS:
        numbers = sorted(float(v.value) for v in everything if _is_number(v.value))
        if len(numbers) == len(everything):
            yield from made_of("MaxInclusive", _bound(numbers[-1]), 0)
            yield from made_of("MinInclusive", _bound(numbers[0]), 0)


def _bound(number: float) -> ox.Literal:
    return ox.Literal(repr(number), datatype=XSD.double)


def _is_number(text: str) -> bool:
    return re.fullmatch(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?", text) is not None


def pattern_of(text: str) -> str:
    """Return a regular expression for texts of this form: runs of capitals, letters, digits."""

    def run(found: re.Match[str]) -> str:
        return _CLASSES.get(found.lastgroup or "") or re.escape(found[0])

    return f"^{_RUN.sub(run, text)}$"


def given(base: BaseGraph, shapes: Sequence[Path]) -> list[Target]:
    """Return those constraints of given shapes that hold for nearly all of a large class.

    Only property shapes on a single predicate with a class as their target are taken; the others
    have no place that is known beforehand. Raises GraphError for shapes that cannot be read.
    """
    store = load(list(shapes), lenient=True).store.inner
    tables = {table.cls: table for table in base.tables}
    classes = _classes(base.store)
    out = []
    for cls, path, shape in _property_shapes(store):
        asked = {q.predicate: q.object for q in _about(store, shape)}
        if cls not in tables or path not in tables[cls].values:
            continue
        values, size = tables[cls].values[path], len(tables[cls].nodes)
        for component in (*_COUNTS, *_OF_VALUES):
            value = asked.get(SH[component[0].lower() + component[1:]])
            if not isinstance(value, ox.NamedNode | ox.Literal):
                continue
            if component in _COUNTS:
                # Of counts only "at least one" and "at most one" can be broken by one value.
                failing = _miscounted(component, values, size) if value.value == "1" else size
                value = None
            else:
                failing = _fails(values, _wrong(component, value, classes))
            if failing <= (1 - HELD) * size:
                out.append(Target(cls, path, component, value, size, failing))
    return out


def _miscounted(component: str, values: Values, size: int) -> int:
    if component == "MinCount":
        return size - len(values)
    return sum(len({v for v, _ in vs}) > 1 for vs in values.values())


def _wrong(
    component: str, value: ox.NamedNode | ox.Literal, classes: dict[object, set[ox.NamedNode]]
) -> Test:
    """Return the test of a value by one of the components that look at values."""
    if component == "Datatype" and isinstance(value, ox.NamedNode):
        return _not_typed(value)
    if component == "Class" and isinstance(value, ox.NamedNode):
        return _not_of(value, classes)
    if component == "NodeKind":
        return lambda held: value != SH.IRI or not isinstance(held, ox.NamedNode)
    return lambda held: isinstance(held, ox.BlankNode) or not _matches(held.value, value.value)


@lru_cache(maxsize=100_000)
def _matches(text: str, pattern: str) -> bool:
    """Check whether a text matches; the store's own expressions never go back without bound."""
    asked = f"ASK {{ FILTER (REGEX({ox.Literal(text)}, {ox.Literal(pattern)})) }}"
    return _NOTHING.ask(asked)


def _about(store: ox.Store, node: object) -> Iterable[ox.Quad]:
    if isinstance(node, ox.NamedNode | ox.BlankNode):
        yield from store.quads_for_pattern(node, None, None, ox.DefaultGraph())


def _property_shapes(
    store: ox.Store,
) -> Iterator[tuple[ox.NamedNode, ox.NamedNode, ox.NamedNode | ox.BlankNode]]:
    for quad in store.quads_for_pattern(None, SH.targetClass, None, ox.DefaultGraph()):
        for inner in _about(store, quad.subject):
            shape = inner.object
            if inner.predicate != SH.property or not isinstance(shape, ox.NamedNode | ox.BlankNode):
                continue
            for path in store.quads_for_pattern(shape, SH.path, None, ox.DefaultGraph()):
                if isinstance(quad.object, ox.NamedNode) and isinstance(path.object, ox.NamedNode):
                    yield quad.object, path.object, shape
