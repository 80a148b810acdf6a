"""Several terms that a family binds at once, such as the properties that a closed shape lacks.

A query binds them as one literal of the datatype work:terms: each IRI in angle brackets, and after
it how many nodes it is about. A parameter of the type `terms` is given the IRIs as a list.
"""

import json
import re
from collections import Counter
from collections.abc import Callable
from typing import Final

from pyoxigraph import Literal, NamedNode

from kgreason.base.store import Term
from kgreason.base.terms import WORK
from kgreason.graph.names import Names, unlabelled

_ENTRY: Final = re.compile(r"<([^<>\s]+)>(?:\s+(\d+))?")
_NAMED: Final = 6
"""How many terms a sentence names."""


def is_several(term: Term | None) -> bool:
    """Check whether a term stands for several."""
    return isinstance(term, Literal) and term.datatype == WORK.terms


def entries(term: Term) -> list[tuple[NamedNode, int]]:
    """Return the terms with their nodes, by most nodes."""
    found = {iri: int(count or 0) for iri, count in _ENTRY.findall(getattr(term, "value", ""))}
    ranked = sorted(found.items(), key=lambda each: (-each[1], each[0]))
    return [(NamedNode(iri), count) for iri, count in ranked]


def of_bindings(text: str) -> tuple[NamedNode, ...]:
    """Return the terms that bindings, as JSON, have under `levels`."""
    plain = json.loads(text).get("values", {}).get("levels", "")
    return tuple(NamedNode(iri) for iri, _ in _ENTRY.findall(plain))


def sorted_terms(term: Term) -> Term:
    """Return the same terms in their order: a query gives them in any."""
    if not is_several(term):
        return term
    text = " ".join(f"<{each.value}> {count}" for each, count in entries(term))
    return Literal(text, datatype=WORK.terms)


def told(term: Term, names: Names) -> str:
    """Return the names of the terms with their nodes, such as “size (16 nodes) and colour (9)”."""
    found = entries(term)
    local = Counter(unlabelled(each) for each, _ in found)
    # Two properties of the same local name are told by their full IRIs.
    return phrase(term, lambda one: str(one) if local[unlabelled(one)] > 1 else names(one))


def phrase(term: Term, name: Callable[[NamedNode], str], plain: Callable[[str], str] = str) -> str:
    """Return the first of the terms, each by its name and its nodes, and how many more there are.

    `plain` is put around what is no name; an audit makes a regular expression of it.
    """
    found = entries(term)
    said = []
    for place, (each, count) in enumerate(found[:_NAMED]):
        unit = "" if place else " node" if count == 1 else " nodes"
        said.append(name(each) + plain(f" ({count}{unit})"))
    if len(found) > _NAMED:
        said.append(plain(f"{len(found) - _NAMED} more"))
    head, last = said[:-1], said[-1:]
    return plain(" and ").join([plain(", ").join(head), *last] if head else last)
