"""By which properties a population is chosen, where one of several does."""

from functools import lru_cache

from pyoxigraph import NamedNode

from kgreason.base.terms import TRAILS
from kgreason.shacl.constraint import Constraint
from kgreason.shacl.query_row import UnreadError
from kgreason.shacl.query_tree import parsed, rows_of, settled


def chosen_by(constraint: Constraint) -> tuple[NamedNode, ...]:
    """Return the properties of which a focus node has to have one, whichever, in their order.

    Who asks about the nodes with one property or another takes these for ways to say one thing.
    Nothing where each node has to have the same property, where some nodes need have none, or where
    an outcome query cannot be read.
    """
    aim = constraint.aim
    if constraint.component == TRAILS.OutcomeQuery:
        return _asked(constraint.target.text)
    if aim is None or aim.kind != "union" or any(part.kind != "subjects" for part in aim.parts):
        return ()
    terms = (part.terms[0] for part in aim.parts)
    return tuple(term for term in terms if isinstance(term, NamedNode))


@lru_cache(maxsize=32)
def _asked(target: str) -> tuple[NamedNode, ...]:
    """Return what the rows of the query that gives the nodes do not have in common."""
    try:
        whole = rows_of(parsed(f"SELECT ?focus WHERE {{ {target} }}"))
        rows = [each for row in whole for each in settled(row)]
    except (UnreadError, RecursionError):
        return ()
    had = [_had(row.triples) for row in rows]
    if len(had) < 2 or not all(had):  # noqa: PLR2004 - a choice is of two at least
        return ()
    all_have = set(had[0]).intersection(*had[1:])
    return tuple(dict.fromkeys(NamedNode(p) for row in had for p in row if p not in all_have))


def _had(triples: tuple[tuple[object, object, object], ...]) -> list[str]:
    """Return the properties of ?focus in the triples of a row."""
    return [
        str(path)
        for subject, path, _ in triples
        if str(subject) == "focus" and type(path).__name__ == "URIRef"
    ]
