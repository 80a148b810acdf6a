"""What shapes ask for and the data have no trace of, for want of an ontology or of any node."""

from collections.abc import Iterable, Iterator
from typing import Final

import pyoxigraph as ox

from kgreason.base.store import Term
from kgreason.base.templates import template
from kgreason.base.terms import OWL, RDF, RDFS, SH, XSD
from kgreason.graph import Graph
from kgreason.shacl.constraint import Compiled, Constraint
from kgreason.shacl.shapes import LISTS_OF_SHAPES, SINGLE_SHAPES, Shapes
from kgreason.shacl.targets import Target

_NAMED: Final = 5
_CLASS: Final = SH["class"]
_EVERYWHERE: Final = (RDF, RDFS, OWL, SH, XSD)
"""Vocabularies that no ontology has to declare."""


def missing(graph: Graph, compiled: Compiled, failing: Iterable[Constraint]) -> str | None:
    """Describe which terms an ontology would have to declare; None where there is nothing to miss.

    These are classes and properties of targets that have no node, and classes that failing
    constraints want of a value, where the graph neither declares nor uses them.
    """
    wanted: set[ox.NamedNode] = set()
    for target in compiled.unmet:
        wanted.update(_aimed_at(target))
    asking = [set(_classes(constraint)) for constraint in failing]
    terms = _unknown(graph, wanted.union(*asking))
    if not terms:
        return None
    failed = sum(1 for classes in asking if classes & set(terms))
    asks = f", and {failed} of those that fail ask for such a class" if failed else ""
    named = ", ".join(f"<{term.value}>" for term in terms[:_NAMED])
    more = f" and {len(terms) - _NAMED} more" if len(terms) > _NAMED else ""
    what = "a class or property" if len(terms) == 1 else f"{len(terms)} classes or properties"
    return (
        f"Is an ontology missing? The shapes name {what} that nothing which was read declares or "
        f"uses: {named}{more}. {_counted(compiled.empty, 'has', 'have')} no node to look at{asks}. "
        f"Schema and vocabularies are given with --ontology FILE.{_namesakes(graph, terms)}"
    )


def _namesakes(graph: Graph, terms: list[ox.NamedNode]) -> str:
    """Return what is in use under the names of some terms in other namespaces, as a sentence."""
    rows = graph.store.select(template("context", "namesakes").render(terms=list(terms)))
    told = [f"<{row['namesake'].value}> for <{row['term'].value}>" for row in rows[:_NAMED]]
    more = f" and {len(rows) - _NAMED} more" if len(rows) > _NAMED else ""
    if not told:
        return ""
    return f" Or are namespaces mixed up? In use under the same names are {', '.join(told)}{more}."


def nothing(compiled: Compiled) -> str:
    """Explain that no constraint has a node to look at."""
    why = (
        f": {_counted(compiled.empty, 'has', 'have')} no node to look at" if compiled.empty else ""
    )
    return f"Nothing was checked, so nothing can be said of the data{why}."


def _counted(number: int, one: str, several: str) -> str:
    return f"{number} constraint {one}" if number == 1 else f"{number} constraints {several}"


def _unknown(graph: Graph, terms: Iterable[ox.NamedNode]) -> list[ox.NamedNode]:
    asked = sorted((t for t in terms if not any(t in v for v in _EVERYWHERE)), key=str)
    if not asked:
        return []
    rows = graph.store.select(template("context", "unknown").render(terms=list(asked)))
    return [ox.NamedNode(row["term"].value) for row in rows]


def _aimed_at(target: Target) -> Iterator[ox.NamedNode]:
    """Return the classes and properties that a target goes by, those of its parts too."""
    if target.kind in {"class", "subjects", "objects"}:
        yield from (term for term in target.terms if isinstance(term, ox.NamedNode))
    for part in target.parts:
        yield from _aimed_at(part)


def _classes(constraint: Constraint) -> Iterator[ox.NamedNode]:
    """Return the classes that a constraint wants of values, also within the shapes it refers to."""
    for path, values in constraint.parameters.items():
        for value in values:
            if path == _CLASS and isinstance(value, ox.NamedNode):
                yield value
            elif path in {*SINGLE_SHAPES, *LISTS_OF_SHAPES} and constraint.shapes is not None:
                yield from _within(constraint.shapes, [value])


def _within(shapes: Shapes, begin: list[Term]) -> Iterator[ox.NamedNode]:
    left, seen = begin, set(begin)
    while left:
        node = left.pop()
        for value in shapes.objects(node, _CLASS):
            if isinstance(value, ox.NamedNode):
                yield value
        inner = [value for p in (SH.property, *SINGLE_SHAPES) for value in shapes.objects(node, p)]
        heads = [value for p in LISTS_OF_SHAPES for value in shapes.objects(node, p)]
        for head in (node, *heads):
            inner += shapes.list(head) or ()
        left += [value for value in inner if value not in seen]
        seen.update(inner)
