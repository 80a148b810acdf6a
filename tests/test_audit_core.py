"""Every core constraint of the shapes finds the node that breaks it, and no node that keeps it."""

import re
from collections.abc import Callable
from typing import Any, Final

import pyoxigraph as ox
import pytest

from kgreason.audit import core_constraints as core
from kgreason.audit.merged import History
from kgreason.audit.record_shapes import Limit, Shape, shapes
from kgreason.base.store import Store
from kgreason.base.terms import SH, TYPE, XSD
from kgreason.record import Record

IRI: Final = ox.NamedNode("urn:example:investigation")
NODE, NOTHING, FITTING = (ox.NamedNode(f"urn:example:{n}") for n in ("node", "nothing", "fitting"))
WORD: Final = ox.Literal("word")
SAMPLES: Final = {
    XSD.string: "word",
    XSD.integer: "1",
    XSD.decimal: "1.0",
    XSD.boolean: "true",
    XSD.dateTime: "2026-01-05T10:00:00Z",
}
FITS: Final = (*("0" * length for length in (12, 16, 64)), "a-word", "symptom,class")
"""Texts one of which fits each pattern of the shapes."""
ABOUT: Final = [shape for shape in shapes().shapes if shape.limits]


def literal(datatype: Any) -> ox.Literal:
    return ox.Literal(SAMPLES.get(datatype, "{}"), datatype=datatype)


def decimal(number: Any) -> ox.Literal:
    return ox.Literal(str(number), datatype=XSD.decimal)


def _fitting(pattern: str) -> ox.Literal:
    return ox.Literal(next(text for text in FITS if re.match(pattern, text)))


RIGHT: Final[dict[str, Callable[[Limit], list[Any]]]] = {
    "minCount": lambda _: [WORD],
    "maxCount": lambda _: [WORD],
    "datatype": lambda limit: [literal(limit.value)],
    "class": lambda _: [FITTING],
    "nodeKind": lambda limit: [NOTHING if limit.value == SH.IRI else WORD],
    "in": lambda limit: sorted(limit.allowed, key=str),
    "hasValue": lambda limit: [limit.value],
    "minInclusive": lambda limit: [decimal(limit.number)],
    "maxInclusive": lambda limit: [decimal(limit.number)],
    "minExclusive": lambda limit: [decimal(limit.number + 1)],
    "pattern": lambda limit: [_fitting(limit.value.value)],
    "minLength": lambda limit: [ox.Literal("w" * int(limit.number))],
}
"""Values that keep a constraint, each by itself."""
WRONG: Final[dict[str, Callable[[Limit], list[list[Any]]]]] = {
    "minCount": lambda _: [[]],
    "maxCount": lambda _: [[WORD, NOTHING]],
    "datatype": lambda limit: [
        [NOTHING],
        [ox.Literal("1", datatype=XSD.float)],
        [*RIGHT["datatype"](limit), NOTHING],
    ],
    "class": lambda _: [[NOTHING], [WORD], [FITTING, NOTHING]],
    "nodeKind": lambda limit: [[WORD if limit.value == SH.IRI else NOTHING]],
    "in": lambda _: [[NOTHING], [WORD]],
    "hasValue": lambda _: [[], [NOTHING]],
    "minInclusive": lambda limit: [[decimal(limit.number - 1)], [WORD]],
    "maxInclusive": lambda limit: [[decimal(limit.number + 1)], [WORD]],
    "minExclusive": lambda limit: [[decimal(limit.number)], [WORD]],
    "pattern": lambda _: [[ox.Literal("no such thing")]],
    "minLength": lambda _: [[ox.Literal("")]],
}
"""Sets of values that break one."""


def speaks(shape: Shape, limit: Limit, values: list[Any]) -> bool:
    """Tell whether a constraint speaks of a node with these values."""
    kind = min(shape.classes, key=str)
    said = [(NODE, TYPE, kind), *((NODE, limit.path, value) for value in values)]
    if limit.component == "class":
        said.append((FITTING, TYPE, limit.value))
    store = ox.Store()
    store.extend(ox.Quad(*triple, IRI) for triple in said)
    history = History(Record(Store(store, "a ledger"), IRI))
    return shape.rule(limit) in {finding.rule for finding in core.check_node(history, NODE)}


@pytest.mark.parametrize("shape", ABOUT, ids=lambda shape: shape.name)
def test_a_limit_speaks_where_it_is_broken_and_only_there(shape: Shape) -> None:
    for path, many in shape.limits.items():
        for limit in many if path != TYPE else ():
            kept, broken = RIGHT[limit.component](limit), WRONG[limit.component](limit)
            assert not [value for value in kept if speaks(shape, limit, [value])], limit
            assert all(speaks(shape, limit, values) for values in broken), limit
    types = shape.limits.get(TYPE, ())
    asked = {limit.value for limit in types}
    for limit in types:
        assert speaks(shape, limit, [])
        assert not speaks(shape, limit, list(asked))
