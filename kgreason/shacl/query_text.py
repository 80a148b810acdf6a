"""Parts of a parsed query written as SPARQL again, with other names for its variables."""

from collections.abc import Callable
from typing import Any, Final

import pyoxigraph as ox

from kgreason.base.store import Term
from kgreason.shacl.query_row import Row, Rows, UnreadError, plain

Names = Callable[[str], str]
"""Gives the text that stands for a variable."""

_SIGNS: Final = {"UnaryNot": "!", "UnaryMinus": "-", "UnaryPlus": "+"}


class Writer:
    """Writes rows and expressions; raises UnreadError for a form that it does not know.

    `named` gives the text of a variable, `bound` the expressions that BIND gave names, and
    `renamed` the predicate of a triple: of all that it leaves, the full IRI.
    """

    def __init__(
        self,
        named: Names,
        bound: dict[str, Any],
        renamed: "Callable[[tuple[Any, Any, Any]], str | None]",
    ) -> None:
        self._named, self._bound, self._renamed = named, bound, renamed

    def row(self, row: Row) -> str:
        """Return a row as the inside of a group."""
        triples = [self.triple(*one) for one in row.triples]
        tests = [f"FILTER ({self.expression(one)})" for one in row.tests]
        lacks = [f"FILTER NOT EXISTS {{ {self.rows(one)} }}" for one in row.lacks]
        return " ".join([*triples, *tests, *lacks])

    def rows(self, rows: Rows) -> str:
        """Return the rows of a group: one, or all of them as a UNION."""
        if len(rows) == 1:
            return self.row(rows[0])
        return " UNION ".join(f"{{ {self.row(row)} }}" for row in rows)

    def triple(self, subject: Any, predicate: Any, value: Any) -> str:
        """Return a triple pattern, or one with a path."""
        along = self._renamed((subject, predicate, value)) or self.term(predicate)
        return f"{self.term(subject)} {along} {self.term(value)} ."

    def term(self, term: Any) -> str:
        """Return a term, a variable or a path."""
        kind = type(term).__name__
        if kind in {"Variable", "BNode"}:
            bound = self._bound.get(str(term))
            return self._named(str(term)) if bound is None else f"({self.expression(bound)})"
        if getattr(term, "name", "") == "literal":
            return self._literal(term)
        if kind == "str" or _unfinished(term):  # no term, such as UNDEF
            raise UnreadError(kind)
        return str(term.n3())

    def expression(self, given: Any) -> str:
        """Return an expression, in brackets where it is made of several."""
        if isinstance(given, tuple):
            return self._own(given)
        one = plain(given)
        name = getattr(one, "name", "")
        if name in {"", "literal"}:
            return self.term(one)
        if name.startswith("Builtin_"):
            return self._builtin(name.removeprefix("Builtin_"), one)
        if name == "Function":
            return f"{one.iri.n3()}({self._listed(one.expr)})"
        if name == "RelationalExpression":
            return self._compared(one)
        return self._of_parts(name, one)

    def _of_parts(self, name: str, one: Any) -> str:
        """Return an expression that signs make of others."""
        if name in {"ConditionalAndExpression", "ConditionalOrExpression"}:
            sign = " && " if name == "ConditionalAndExpression" else " || "
            return f"({sign.join(self.expression(each) for each in (one.expr, *one.other))})"
        if name in _SIGNS:
            return f"{_SIGNS[name]}({self.expression(one.expr)})"
        if name in {"AdditiveExpression", "MultiplicativeExpression"}:
            parts = [self.expression(one.expr)]
            for sign, other in zip(one.op, one.other, strict=True):
                parts += [sign, self.expression(other)]
            return f"({' '.join(parts)})"
        raise UnreadError(name)

    def _own(self, given: tuple[Any, ...]) -> str:
        """Return what the reader of trees made itself: a denial, a list, a bound."""
        if given[0] == "denied":
            return f"!({self.expression(given[1])})"
        if given[0] == "listed":
            return f"{self.term(given[1])} IN ({self._listed(given[2])})"
        return f"({self.expression(given[1])} >= {given[2]})"

    def _compared(self, one: Any) -> str:
        left = self.expression(one.expr)
        if one.op in {"IN", "NOT IN"}:
            listed = self._listed(one.other) if isinstance(one.other, list) else ""
            return f"({left} {one.op} ({listed}))"
        return f"({left} {one.op} {self.expression(one.other)})"

    def _builtin(self, name: str, one: Any) -> str:
        if name in {"EXISTS", "NOTEXISTS"}:
            raise UnreadError(name)
        order = (
            *("arg", "arg1", "arg2", "arg3", "text", "pattern"),
            *("start", "length", "replacement", "flags"),
        )
        given = [one[key] for key in order if key in one and one[key] is not None]
        parts = [self._listed(each) if isinstance(each, list) else self.expression(each)
                 for each in given]  # fmt: skip
        return f"{name}({', '.join(part for part in parts if part)})"

    def _listed(self, parts: Any) -> str:
        return ", ".join(self.expression(each) for each in parts)

    def _literal(self, one: Any) -> str:
        text = one.string.n3()
        if one.lang:
            return f"{text}@{one.lang}"
        return f"{text}^^{one.datatype.n3()}" if one.datatype else text


def _unfinished(path: Any) -> bool:
    """Check whether the parser left a part of a path as it was: an inverse step that is denied."""
    inner = [*getattr(path, "args", ()), getattr(path, "arg", None), getattr(path, "path", None)]
    return any(hasattr(one, "name") or _unfinished(one) for one in inner if one is not None)


def as_term(term: Any) -> Term | None:
    """Return a term of rdflib as one of the store; None for a variable, a blank node or a path."""
    kind = type(term).__name__
    if kind == "URIRef":
        return ox.NamedNode(str(term))
    if getattr(term, "name", "") == "literal":
        if term.lang:
            return ox.Literal(str(term.string), language=str(term.lang))
        datatype = ox.NamedNode(str(term.datatype)) if term.datatype else None
        return ox.Literal(str(term.string), datatype=datatype)
    if kind == "Literal":
        datatype = ox.NamedNode(str(term.datatype)) if term.datatype else None
        return ox.Literal(str(term), datatype=datatype)
    return None
