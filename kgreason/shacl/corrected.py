"""pySHACL with what it gets wrong put right, so that a constraint means the same on either way.

Each function of CORRECTIONS changes one thing while a block runs. Why, is in the tests' list of
differences (shacl_differences.toml) under its name, with an example that shows it.
"""

import contextlib
import datetime as dt
import operator
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any, Literal

import pyshacl.constraints.core.property_pair_constraints as pairs
import pyshacl.constraints.core.string_based_constraints as strings
import pyshacl.constraints.core.value_range_constraints as ranges
import pyshacl.helper.sparql_query_helper as queries
import pyshacl.shape
import rdflib
from pyshacl.consts import (
    SH_alternativePath,
    SH_inversePath,
    SH_oneOrMorePath,
    SH_zeroOrMorePath,
    SH_zeroOrOnePath,
)
from rdflib.namespace import XSD
from rdflib.paths import AlternativePath, InvPath, MulPath, SequencePath
from rdflib.plugins.sparql import operators as functions
from rdflib.plugins.sparql import parser
from rdflib.plugins.sparql.sparql import SPARQLError, SPARQLTypeError

WHOLE = {
    *("integer", "int", "long", "short", "byte", "nonNegativeInteger", "positiveInteger"),
    *("nonPositiveInteger", "negativeInteger", "unsignedInt", "unsignedLong", "unsignedShort"),
    "unsignedByte",
}
KINDS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    **dict.fromkeys([*WHOLE, "decimal"], ("number", lambda value: Decimal(str(value)))),
    **dict.fromkeys(["double", "float"], ("number", float)),
    **dict.fromkeys(["boolean", "date", "dateTime"], ("", lambda value: value)),
}
ORDER: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def kind_and_value(term: Any) -> tuple[str, Any]:
    """Return kind and the value of a literal that SPARQL compares; ("", None) if it has none."""
    datatype = str(term.datatype or XSD.string).removeprefix(str(XSD))
    if term.language:
        return "language", (str(term), str(term.language).lower())
    if datatype == "string":
        return "string", str(term)
    if term.ill_typed or term.value is None or datatype not in KINDS:
        return "", None
    kind, made = KINDS[datatype]
    return kind or datatype, made(term.value)


def compared(sign: str, one: Any, other: Any) -> bool:
    """Compare two terms as the operators of SPARQL do; raises TypeError where they do not."""
    if sign in {"=", "!="}:
        return equal(one, other) is (sign == "=")
    if not (isinstance(one, rdflib.Literal) and isinstance(other, rdflib.Literal)):
        raise TypeError(sign)
    (kind, left), (kind2, right) = kind_and_value(one), kind_and_value(other)
    if kind != kind2 or kind in {"", "language"}:
        raise TypeError(sign)
    return ORDER[sign](*in_one_type(left, right))


def asked(sign: str, one: Any, other: Any) -> bool:
    """Compare two terms as the operators of a query do."""
    return compared(sign, one, other)


def in_one_type(left: Any, right: Any) -> tuple[Any, Any]:
    """Promote numbers; raises TypeError for times of which one alone has a zone."""
    if isinstance(left, float) or isinstance(right, float):
        return float(left), float(right)
    if isinstance(left, dt.datetime) and (left.tzinfo is None) != (right.tzinfo is None):
        day = dt.timedelta(hours=14)
        plain = [t.replace(tzinfo=None) - (t.utcoffset() or day * 0) for t in (left, right)]
        if abs(plain[0] - plain[1]) <= day:
            raise TypeError("a time zone is not known")
        return plain[0], plain[1]
    return left, right


def equal(one: Any, other: Any) -> bool:
    """Return SPARQL's = of two terms; raises TypeError where it has no answer."""
    if not (isinstance(one, rdflib.Literal) and isinstance(other, rdflib.Literal)):
        return bool(one == other)
    (kind, left), (kind2, right) = kind_and_value(one), kind_and_value(other)
    if kind and kind2:
        if kind != kind2:
            return False
        with contextlib.suppress(TypeError):
            left, right = in_one_type(left, right)
        return bool(left == right)
    if same_term(one, other):
        return True
    if "language" in {kind, kind2}:
        return False  # whatever the other means, it is no text in a language
    raise TypeError("=")


def same_term(one: Any, other: Any) -> bool:
    """Check whether two literals are one term."""
    return (str(one), one.datatype, one.language) == (str(other), other.datatype, other.language)


@contextlib.contextmanager
def _replaced(holder: Any, name: str, made: Any) -> Iterator[None]:
    """Put something in the place of an attribute while a block runs."""
    before = getattr(holder, name)
    setattr(holder, name, made)
    try:
        yield
    finally:
        setattr(holder, name, before)


@contextlib.contextmanager
def value_ranges() -> Iterator[None]:
    """Let sh:minInclusive and the like compare as SPARQL's operators do."""

    def compare(one: Any, other: Any) -> int:
        for sign, answer in (("<", -1), (">", 1), ("=", 0)):
            if compared(sign, one, other):
                return answer
        raise TypeError("NaN")

    with _replaced(ranges, "compare_literal", compare):
        yield


def _pairs(sign: str) -> Callable[..., tuple[bool, list[Any]]]:
    def compare(self: Any, values: Any, others: Any, graph: Any, focus: Any) -> tuple[bool, Any]:
        failing = []
        for value in values:
            for other in others:
                try:
                    fine = compared(sign, value, other)
                except TypeError:
                    fine = False
                if not fine:
                    failing.append(self.make_v_result(graph, focus, value_node=value))
        return bool(failing), failing

    return compare


@contextlib.contextmanager
def value_pairs() -> Iterator[None]:
    """Let sh:lessThan and sh:lessThanOrEquals compare as SPARQL's operators do."""
    less, at_most = pairs.LessThanConstraintComponent, pairs.LessThanOrEqualsConstraintComponent
    with (
        _replaced(less, "_compare_lt", _pairs("<")),
        _replaced(at_most, "_compare_ltoe", _pairs("<=")),
    ):
        yield


@contextlib.contextmanager
def operators() -> Iterator[None]:
    """Let the operators of a query compare by value, and say where they cannot."""

    def relational(expression: Any, _: Any) -> Any:
        one, other, sign = expression.expr, expression.other, expression.op
        if other is None:
            return one
        if sign in {"IN", "NOT IN"}:
            members = [] if other == rdflib.RDF.nil else list(other)
            return rdflib.Literal(_among(one, members) is (sign == "IN"))
        for term in (one, other):
            if isinstance(term, SPARQLError):
                raise term
        try:
            return rdflib.Literal(asked(sign, one, other))
        except TypeError as error:
            raise SPARQLError(*error.args) from error

    with _replaced(parser.RelationalExpression, "evalfn", relational):
        yield


def _among(term: Any, members: list[Any]) -> bool:
    failed = False
    for member in members:
        try:
            if equal(term, member):
                return True
        except TypeError:
            failed = True
    if failed:
        raise SPARQLError("IN")
    return False


@contextlib.contextmanager
def paths() -> Iterator[None]:
    """Write paths for $PATH with brackets, and IRIs in full."""
    with _replaced(queries, "shacl_path_to_sparql_path", _path):
        yield


def _path(shapes: Any, node: Any, prefixes: Any = None, recursion: int = 0) -> str:  # noqa: ARG001
    if isinstance(node, rdflib.URIRef):
        return f"<{node}>"
    for parameter, form in _FORMS.items():
        for inner in shapes.objects(node, parameter):
            if parameter == SH_alternativePath:
                return _joined(shapes, inner, "|")
            return f"({form.format(_path(shapes, inner))})"
    return _joined(shapes, node, "/")


def _joined(shapes: Any, head: Any, sign: str) -> str:
    return f"({sign.join(_path(shapes, member) for member in shapes.graph.items(head))})"


_SIGNS: dict[str, Literal["*", "+", "?"]] = {"{}*": "*", "{}+": "+", "{}?": "?"}
_FORMS = {
    SH_inversePath: "^{}",
    SH_zeroOrMorePath: "{}*",
    SH_oneOrMorePath: "{}+",
    SH_zeroOrOnePath: "{}?",
    SH_alternativePath: "{}",
}


@contextlib.contextmanager
def no_length() -> Iterator[None]:
    """Let blank nodes break sh:minLength 0 too."""

    def rule(self: Any, least: Any, graph: Any, nodes: Any) -> tuple[bool, list[Any]]:
        failing = [
            self.make_v_result(graph, focus, value_node=value)
            for focus, values in nodes.items()
            for value in values
            if isinstance(value, rdflib.BNode)
            or len(self.value_node_to_string(value)) < int(least.value)
        ]
        return bool(failing), failing

    with _replaced(strings.MinLengthConstraintComponent, "_evaluate_string_rule", rule):
        yield


@contextlib.contextmanager
def numbers() -> Iterator[None]:
    """Let no query compute with a literal that has no value."""
    given = functions.numeric

    def numeric(term: Any) -> Any:
        if isinstance(term, rdflib.Literal) and kind_and_value(term)[0] != "number":
            raise SPARQLTypeError(f"{term!r} is no number")
        return given(term)

    with _replaced(functions, "numeric", numeric):
        yield


@contextlib.contextmanager
def walks() -> Iterator[None]:
    """Let a path reach all that it reaches, in shapes and in queries."""
    with contextlib.ExitStack() as stack:
        for kind in (InvPath, SequencePath, AlternativePath, MulPath):
            stack.enter_context(_replaced(kind, "eval", _pairs_of))
        stack.enter_context(_replaced(pyshacl.shape, "value_nodes_from_path", _value_nodes))
        yield


def _value_nodes(shapes: Any, focus: Any, path: Any, graph: Any, recursion: int = 0) -> Any:  # noqa: ARG001
    return _ends(graph, _compiled(shapes, path), focus)


def _compiled(shapes: Any, node: Any) -> Any:
    if isinstance(node, rdflib.URIRef):
        return node
    steps = list(shapes.graph.items(node))
    if steps:
        return SequencePath(*(_compiled(shapes, p) for p in steps))
    for parameter, sign in _FORMS.items():
        for inner in shapes.objects(node, parameter):
            if parameter == SH_alternativePath:
                return AlternativePath(*(_compiled(shapes, p) for p in shapes.graph.items(inner)))
            made = _compiled(shapes, inner)
            return InvPath(made) if parameter == SH_inversePath else MulPath(made, _SIGNS[sign])
    raise ValueError(f"{node} is no path")


def _pairs_of(path: Any, graph: Any, subj: Any = None, obj: Any = None) -> Iterator[Any]:
    if subj is None and obj is not None:
        yield from ((start, obj) for start in _ends(graph, path, obj, forward=False))
        return
    for start in graph.all_nodes() if subj is None else [subj]:
        yield from ((start, end) for end in _ends(graph, path, start) if obj in {None, end})


def _ends(graph: Any, path: Any, node: Any, *, forward: bool = True) -> set[Any]:
    """Return all nodes that a path reaches from a node, or that reach it."""
    if isinstance(path, InvPath):
        return _ends(graph, path.arg, node, forward=not forward)
    if isinstance(path, AlternativePath):
        return {end for part in path.args for end in _ends(graph, part, node, forward=forward)}
    if isinstance(path, SequencePath):
        reached = {node}
        for part in path.args if forward else reversed(path.args):
            reached = {end for one in reached for end in _ends(graph, part, one, forward=forward)}
        return reached
    if isinstance(path, MulPath):
        return _repeated(graph, path, node, forward=forward)
    return set(graph.objects(node, path) if forward else graph.subjects(path, node))


def _repeated(graph: Any, path: Any, node: Any, *, forward: bool) -> set[Any]:
    found = {node} if path.zero else set()
    waiting = [node]
    while waiting:
        ends = _ends(graph, path.path, waiting.pop(), forward=forward) - found
        found |= ends
        if path.more:
            waiting += ends
    return found


def _rule(element: Any, name: str) -> Any:
    """Find a rule of the grammar in another."""
    if element.name == name:
        return element
    parts = (_rule(part, name) for part in getattr(element, "exprs", ()))
    return next((part for part in parts if part is not None), None)


@contextlib.contextmanager
def texts() -> Iterator[None]:
    """Let a blank node have no text in a query."""
    made = _rule(parser.BuiltInCall, "Builtin_STR")
    given = functions.Builtin_STR

    def text(expression: Any, context: Any) -> Any:
        if isinstance(expression.arg, rdflib.BNode):
            raise SPARQLTypeError("a blank node has no text")
        return given(expression, context)

    with _replaced(made, "evalfn", text):
        yield


CORRECTIONS = {
    made.__name__: made
    for made in (value_ranges, value_pairs, operators, numbers, texts, paths, walks, no_length)
}


@contextlib.contextmanager
def corrected(*names: str) -> Iterator[None]:
    """Put pySHACL right, in all that is known or in the parts named, while the block runs."""
    with contextlib.ExitStack() as stack:
        for name in names or CORRECTIONS:
            stack.enter_context(CORRECTIONS[name]())
        yield
