"""Whether a query looks at how literals are written, and not only at the names of nodes.

STR, STRSTARTS and their like read how a literal is written, which a store may have changed. Of a
variable that stands as the subject or predicate of a triple they read an IRI, which none changes:
STRSTARTS(STR(?p), "http://…") after `$this ?p ?o` looks at no literal.
"""

import re
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from typing import Any, Final

from kgreason.shacl.query_row import UnreadError, plain
from kgreason.shacl.query_tree import parsed

_NAMES: Final = (
    *("STR", "DATATYPE", "STRLEN", "REGEX", "CONTAINS", "STRSTARTS", "STRENDS", "SUBSTR"),
    *("REPLACE", "sameTerm", "IN"),
)
_WRITTEN: Final = re.compile(rf"\b(?:{'|'.join(_NAMES)})\b|string>?\s*\(", re.IGNORECASE)
_TYPED: Final = "^^"
_BUILTINS: Final = frozenset(f"builtin_{name}".lower() for name in _NAMES)
_EXISTS: Final = frozenset({"Builtin_EXISTS", "Builtin_NOTEXISTS"})
_LISTED: Final = frozenset({"IN", "NOT IN"})


def reads_forms(query: str) -> bool:
    """Check whether a query looks at how literals are written; True where that is not known."""
    if _TYPED in query:
        return True
    if not _WRITTEN.search(query):
        return False
    try:
        return any(_in_select(parsed(query)))
    except UnreadError:
        return True


def _in_select(select: Any) -> Iterator[bool]:
    nodes = _nodes(select.where)
    yield from _in_group(select.where, frozenset())
    head = [one.expr for one in select.projection or () if one.evar is not None]
    having = select.having.condition if select.having is not None else ()
    grouped = select.groupby.condition if select.groupby is not None else ()
    for expression in (*head, *having, *grouped):
        yield from _in_expression(expression, nodes)


def _in_group(group: Any, around: AbstractSet[str]) -> Iterator[bool]:
    """Return for each part of a group whether it reads forms; `around` are nodes from outside."""
    if group.name == "SubSelect":
        yield from _in_select(group)
        return
    nodes = _nodes(group) | around
    for part in getattr(group, "part", None) or ():
        if part.name in {"Filter", "Bind"}:
            yield from _in_expression(part.expr, nodes)
        elif part.name == "SubSelect":
            yield from _in_select(part)
        elif part.name not in {"TriplesBlock", "InlineData"}:
            # What is bound outside is not seen within, but for EXISTS.
            inner = part.graph if isinstance(part.graph, list) else [part.graph]
            for each in inner:
                yield from _in_group(each, frozenset())


def _nodes(group: Any) -> frozenset[str]:
    """Return the variables that are subjects or predicates in each solution of a group."""
    found = set[str]()
    for part in getattr(group, "part", None) or ():
        if part.name == "TriplesBlock":
            for block in part.triples:
                ends = (term for start in (0, 1) for term in block[start::3])
                found.update(str(term) for term in ends if _free(term))
    return frozenset(found)


def _in_expression(given: Any, nodes: AbstractSet[str]) -> Iterator[bool]:
    one = plain(given)
    name = getattr(one, "name", "")
    if name in _EXISTS:
        yield from _in_group(one.graph, nodes)
        return
    listed = name == "RelationalExpression" and str(one.op).upper() in _LISTED
    if listed or name == "Function" or name.lower() in _BUILTINS:
        yield any(variable not in nodes for variable in _variables(one))
    for inner in _parts(one):
        yield from _in_expression(inner, nodes)


def _variables(one: Any) -> Iterator[str]:
    if _free(one):
        yield str(one)
    for inner in _parts(one):
        yield from _variables(plain(inner))


def _parts(one: Any) -> Iterator[Any]:
    """Return what an expression is made of."""
    for value in one.values() if isinstance(one, dict) else ():
        yield from value if isinstance(value, list) else [value]


def _free(term: Any) -> bool:
    return type(term).__name__ == "Variable"
