"""The core constraints of the shapes, checked on one node at a time."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Final, Protocol

import pyoxigraph as ox

from kgreason.audit.findings import Finding
from kgreason.audit.record_shapes import Limit, Shape, shapes
from kgreason.base.extensions import cached
from kgreason.base.store import Term
from kgreason.base.terms import SH, TYPE, XSD

_FORMS: Final[dict[Term, re.Pattern[str]]] = {
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
        """Return what is said of a node."""

    def types(self, node: Term) -> set[Term]:
        """Return the types of a node."""


@dataclass(frozen=True)
class _Plan:
    """What nodes of the same types are checked for.

    `required` has to have values at all; `limits` are checked on the values of a path.
    """

    required: Sequence[tuple[Shape, Limit]]
    limits: Mapping[ox.NamedNode, Sequence[tuple[Shape, Limit, "_Fault"]]]


def check_node(history: Readable, node: Term) -> Iterator[Finding]:
    """Check one node against every shape that is about it."""
    return check(history, node, history.properties(node))


def check(
    history: Readable, node: Term, properties: Mapping[ox.NamedNode, list[Term]]
) -> Iterator[Finding]:
    """Check a node, of which all is given that is said of it."""
    plan = _plan(frozenset(properties.get(TYPE, ())))
    for shape, limit in plan.required:
        if limit.path not in properties:
            yield Finding(shape.rule(limit), node.value, _say(limit, (), ()), shape.severity)
    for path, values in properties.items():
        for shape, limit, fault in plan.limits.get(path, ()):
            wrong = fault(history, values)
            if wrong is not None:
                said = _say(limit, values, wrong)
                yield Finding(shape.rule(limit), node.value, said, shape.severity)


@cached
def _plan(kinds: frozenset[Term]) -> _Plan:
    about = [s for s in shapes().shapes if s.limits and not kinds.isdisjoint(s.classes)]
    required = [(shape, limit) for shape in about for limit in shape.required]
    limits: dict[ox.NamedNode, list[tuple[Shape, Limit, _Fault]]] = {}
    for shape in about:
        for path, many in shape.limits.items():
            for limit in many:
                if limit.component != "minCount":  # a path that has values has one
                    limits.setdefault(path, []).append((shape, limit, _fault_of(limit)))
    return _Plan(required, limits)


def _say(limit: Limit, values: Sequence[Term], wrong: Sequence[Term]) -> str:
    asked = f"{limit.component} {_short(limit.value)}"
    if limit.allowed:
        asked = "one of " + ", ".join(sorted(_short(term) for term in limit.allowed))
    if wrong:
        return f"{_short(limit.path)} is {_short(wrong[0])}, but must fit: {asked}."
    return f"{_short(limit.path)} has {len(values)} values, but must fit: {asked}."


def _short(term: Term) -> str:
    return term.value.rpartition("#")[2] if isinstance(term, ox.NamedNode) else term.value


_Fault = Callable[[Readable, Sequence[Term]], Sequence[Term] | None]
"""Returns the values at fault (none where their number is), or None where the limit is kept."""


def _fault_of(limit: Limit) -> _Fault:
    if limit.component == "maxCount":
        return lambda _, values: () if len(values) > 1 else None
    if limit.component == "hasValue":
        return lambda _, values: None if limit.value in values else ()
    holds = _HOLDS[limit.component](limit)
    return lambda history, values: [v for v in values if not holds(history, v)] or None


_Holds = Callable[[Readable, Term], bool]


def _is_datatype(limit: Limit) -> _Holds:
    datatype = limit.value
    form = _FORMS.get(datatype)

    def holds(_: Readable, value: Term) -> bool:
        if not isinstance(value, ox.Literal) or value.datatype != datatype:
            return False
        return form is None or form.fullmatch(value.value) is not None

    return holds


def _is_class(limit: Limit) -> _Holds:
    fitting = {limit.value} | {c for c, above in shapes().above.items() if limit.value in above}
    return lambda history, value: not fitting.isdisjoint(history.types(value))


def _compare(holds: Callable[[Decimal, Decimal], bool]) -> Callable[[Limit], _Holds]:
    def check_of(limit: Limit) -> _Holds:
        def check(_: Readable, value: Term) -> bool:
            if not isinstance(value, ox.Literal) or value.datatype not in _NUMBERS:
                return False
            try:
                return holds(Decimal(value.value), limit.number)
            except InvalidOperation:
                return False

        return check

    return check_of


def _matches(limit: Limit) -> _Holds:
    search = re.compile(limit.value.value).search
    return lambda _, value: not isinstance(value, ox.BlankNode) and search(value.value) is not None


def _long_enough(limit: Limit) -> _Holds:
    return lambda _, value: not isinstance(value, ox.BlankNode) and len(value.value) >= limit.number


_HOLDS: Final[dict[str, Callable[[Limit], _Holds]]] = {
    "datatype": _is_datatype,
    "class": _is_class,
    "nodeKind": lambda limit: lambda _, value: isinstance(value, _KINDS[str(limit.value)]),
    "in": lambda limit: lambda _, value: value in limit.allowed,
    "minInclusive": _compare(lambda number, least: number >= least),
    "maxInclusive": _compare(lambda number, most: number <= most),
    "minExclusive": _compare(lambda number, least: number > least),
    "pattern": _matches,
    "minLength": _long_enough,
}
