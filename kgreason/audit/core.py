"""The core constraints of the shapes, checked on one node at a time."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Final, Protocol

import pyoxigraph as ox

from kgreason.audit.history import History
from kgreason.audit.report import Finding
from kgreason.audit.shapes import Limit, Shape, shapes
from kgreason.store import Term
from kgreason.terms import SH, TYPE, XSD

_FORMS: Final = {
    XSD.integer: re.compile(r"[+-]?\d+"),
    XSD.decimal: re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)"),
    XSD.boolean: re.compile(r"true|false|0|1"),
    XSD.dateTime: re.compile(r"-?\d{4,}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)?"),
}
_NUMBERS: Final = frozenset({XSD.integer, XSD.decimal})
_KINDS: Final = {str(SH.IRI): ox.NamedNode, str(SH.Literal): ox.Literal}


class Readable(Protocol):
    """What a node is looked up in: a whole record, or what one step is about to write."""

    def properties(self, node: Term) -> Mapping[ox.NamedNode, list[Term]]:
        """Give what is said of a node."""

    def types(self, node: Term) -> set[Term]:
        """Give the types of a node."""


def findings(history: History) -> Iterator[Finding]:
    """Check every node that a shape is about."""
    for shape in shapes().shapes:
        if shape.limits:
            nodes = {node for kind in shape.classes for node in history.instances(kind)}
            for node in nodes:
                yield from _check(history, shape, node, history.properties(node))


def check_node(history: Readable, node: Term) -> Iterator[Finding]:
    """Check one node against every shape that is about it."""
    properties = history.properties(node)
    kinds = set(properties.get(TYPE, ()))
    for shape in shapes().shapes:
        if shape.limits and not kinds.isdisjoint(shape.classes):
            yield from _check(history, shape, node, properties)


def _check(
    history: Readable, shape: Shape, node: Term, properties: Mapping[ox.NamedNode, list[Term]]
) -> Iterator[Finding]:
    for limit in shape.required:
        if limit.path not in properties:
            yield Finding(shape.rule(limit), node.value, _say(limit, (), ()), shape.severity)
    for path, values in properties.items():
        for limit in shape.limits.get(path, ()):
            wrong = _broken(history, values, limit)
            if wrong is not None:
                said = _say(limit, values, wrong)
                yield Finding(shape.rule(limit), node.value, said, shape.severity)


def _broken(history: Readable, values: Sequence[Term], limit: Limit) -> Sequence[Term] | None:
    """Give the values at fault (none where their number is), or None where the limit is kept."""
    counted = _COUNTED.get(limit.component)
    if counted is not None:
        return None if counted(values, limit) else ()
    holds = _HOLDS[limit.component]
    return [value for value in values if not holds(history, value, limit)] or None


def _say(limit: Limit, values: Sequence[Term], wrong: Sequence[Term]) -> str:
    asked = f"{limit.component} {_short(limit.value)}"
    if limit.allowed:
        asked = "one of " + ", ".join(sorted(_short(term) for term in limit.allowed))
    if wrong:
        return f"{_short(limit.path)} is {_short(wrong[0])}, but must fit: {asked}."
    return f"{_short(limit.path)} has {len(values)} values, but must fit: {asked}."


def _short(term: Term) -> str:
    return term.value.rpartition("#")[2] if isinstance(term, ox.NamedNode) else term.value


_COUNTED: Final[dict[str, Callable[[Sequence[Term], Limit], bool]]] = {
    "minCount": lambda values, _: len(values) > 0,
    "maxCount": lambda values, _: len(values) <= 1,
    "hasValue": lambda values, limit: limit.value in values,
}


def _is_datatype(_: Readable, value: Term, limit: Limit) -> bool:
    if not isinstance(value, ox.Literal) or value.datatype != limit.value:
        return False
    form = _FORMS.get(value.datatype)
    return form is None or form.fullmatch(value.value) is not None


def _is_class(history: Readable, value: Term, limit: Limit) -> bool:
    above = shapes().above
    return any(
        limit.value == kind or limit.value in above.get(kind, ()) for kind in history.types(value)
    )


def _compare(holds: Callable[[Decimal, Decimal], bool]) -> Callable[[Readable, Term, Limit], bool]:
    def check(_: Readable, value: Term, limit: Limit) -> bool:
        if not isinstance(value, ox.Literal) or value.datatype not in _NUMBERS:
            return False
        try:
            return holds(Decimal(value.value), limit.number)
        except InvalidOperation:
            return False

    return check


def _matches(_: Readable, value: Term, limit: Limit) -> bool:
    blank = isinstance(value, ox.BlankNode)
    return not blank and re.search(limit.value.value, value.value) is not None


def _long_enough(_: Readable, value: Term, limit: Limit) -> bool:
    return not isinstance(value, ox.BlankNode) and len(value.value) >= limit.number


_HOLDS: Final[dict[str, Callable[[Readable, Term, Limit], bool]]] = {
    "datatype": _is_datatype,
    "class": _is_class,
    "nodeKind": lambda _, value, limit: isinstance(value, _KINDS[str(limit.value)]),
    "in": lambda _, value, limit: value in limit.allowed,
    "minInclusive": _compare(lambda number, least: number >= least),
    "maxInclusive": _compare(lambda number, most: number <= most),
    "minExclusive": _compare(lambda number, least: number > least),
    "pattern": _matches,
    "minLength": _long_enough,
}
