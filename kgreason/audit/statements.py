"""Statements of a store of ours, in which subject and object are never triples themselves."""

from collections.abc import Iterable, Iterator
from typing import Protocol, cast

import pyoxigraph as ox

from kgreason.base.store import Term

Subject = ox.NamedNode | ox.BlankNode


class Statement(Protocol):
    """A quad or triple. In a record that someone else wrote the object may still be a triple."""

    @property
    def subject(self) -> Subject:
        """What it is about."""

    @property
    def predicate(self) -> ox.NamedNode:
        """The property."""

    @property
    def object(self) -> Term:
        """The value."""


def statements(
    store: ox.Store,
    subject: Term | None = None,
    predicate: ox.NamedNode | None = None,
    value: Term | None = None,
    graph: ox.NamedNode | None = None,
) -> Iterator[Statement]:
    """Return the statements that fit a pattern; a literal is the subject of none."""
    if isinstance(subject, ox.Literal):
        return iter(())
    return plain(store.quads_for_pattern(subject, predicate, value, graph))


def plain(quads: Iterable[ox.Quad | ox.Triple]) -> Iterator[Statement]:
    """Take quads or triples for statements."""
    return cast("Iterator[Statement]", iter(quads))
