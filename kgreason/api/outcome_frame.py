"""An outcome as a frame: what happened to each node, put as the query that an outcome is."""

import math
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import pyoxigraph as ox

from kgreason.base.errors import OptionError
from kgreason.graph.given import Text

Frame = Any
"""A frame with the columns node and value, or pairs of these."""
_COLUMNS: Final = ("node", "value")


def outcome_of(given: Any) -> Any:
    """Return an outcome as a source: a frame or pairs become a query, all else stays as it is.

    A frame is any object with the columns `node` (an IRI) and `value` (a boolean or a number);
    pairs are a list of those, or a mapping. A value that is missing leaves its node out. Raises
    OptionError for what is none of these.
    """
    if given is None or isinstance(given, str | Path | Text):
        return given
    rows = [
        f"({_node(node)} {literal})" for node, value in _pairs(given) if (literal := _value(value))
    ]
    if not rows:
        raise OptionError("outcome: there is no node with a value in it.")
    return f"SELECT ?focus ?outcome WHERE {{ VALUES (?focus ?outcome) {{ {' '.join(rows)} }} }}"


def _pairs(given: Any) -> Iterator[tuple[Any, Any]]:
    """Return the pairs of node and value in a frame, a mapping or a list; raises OptionError."""
    names = getattr(given, "column_names", None) or getattr(given, "columns", None)
    if names is None and isinstance(given, Mapping):
        names = [*given] if {*_COLUMNS} <= {*given} else None
        if names is None:
            yield from given.items()
            return
    if names is not None:
        missing = [name for name in _COLUMNS if name not in list(names)]
        if missing:
            known = ", ".join(str(name) for name in names)
            raise OptionError(
                f"outcome: the frame has no column {missing[0]!r}, it has: {known}; it needs the "
                "columns node and value."
            )
        yield from zip(*(_column(given[name]) for name in _COLUMNS), strict=True)
        return
    if not isinstance(given, Iterable):
        raise OptionError("outcome: give a query, a file, a frame of node and value, or pairs.")
    for one in given:
        if not isinstance(one, tuple | list) or len(one) != len(_COLUMNS):
            raise OptionError(f"outcome: {one!r} is no pair of a node and a value.")
        yield one[0], one[1]


def _column(column: Any) -> Iterable[Any]:
    """Return the values of a column as Python has them."""
    for name in ("to_pylist", "to_list", "tolist"):
        if hasattr(column, name):
            return list(getattr(column, name)())
    return list(column)


def _node(node: Any) -> str:
    text = str(getattr(node, "value", node)).removeprefix("<").removesuffix(">")
    try:
        return str(ox.NamedNode(text))
    except ValueError as error:
        raise OptionError(f"outcome: {text!r} is no absolute IRI of a node.") from error


def _value(value: Any) -> str | None:
    """Return a value as a literal in SPARQL, None where it is missing; raises OptionError."""
    own = value.item() if hasattr(value, "item") else value
    if own is None or (isinstance(own, float) and math.isnan(own)):
        return None
    if not isinstance(own, bool | int | float) or own in {math.inf, -math.inf}:
        raise OptionError(f"outcome: {own!r} is neither a boolean nor a number.")
    return str(ox.Literal(own))
