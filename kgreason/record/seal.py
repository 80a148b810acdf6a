"""The text that the hash of a step is taken over, and what a step is about to write.

The text is made here and not in SPARQL: the order in which GROUP_CONCAT takes its values is no
one's promise, and a literal may hold a line end and what looks like a statement after it. So each
statement is a line of canonical N-Triples, in which a literal has no line end, and the lines are
sorted by code point. The hash is SHA-256 over the hash of the step before, a line end and these
lines. What a later step replaces stays outside.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from hashlib import sha256
from typing import Final

import pyoxigraph as ox

from kgreason.base.store import AnyTerm, Term
from kgreason.base.terms import TRAILS, TYPE

Node = ox.NamedNode
_NOTED: Final = ox.NamedNode("urn:kgreason:function:noted")
_SEALED: Final = ox.NamedNode("urn:kgreason:function:sealed")

REPLACED: Final = frozenset(
    TRAILS[name]
    for name in (
        "status",
        "confidence",
        "eProcess",
        "head",
        "state",
        "hash",
        "supportingEvidence",
        "contradictingEvidence",
        "lastUpdate",
    )
)
"""Properties whose values are replaced or added to later."""


def lines(node: Term, properties: Mapping[Node, Iterable[Term]]) -> Iterator[str]:
    """Return what is said of a node as lines of canonical N-Triples, without their line ends.

    Line ends, quotes, backslashes and control characters of a literal are escaped. What is
    replaced later is left out.
    """
    subject = str(node)
    for predicate, values in properties.items():
        if predicate not in REPLACED:
            start = f"{subject} {_written(predicate)} "
            for value in values:
                yield f"{start}{value} ."


@cache
def _written(predicate: Node) -> str:
    return str(predicate)


def seal(before: str, lines: Iterable[str]) -> str:
    """Return the hash of a step: SHA-256 over the hash before it and its sorted lines."""
    return sha256("\n".join([before, *sorted(lines)]).encode()).hexdigest()


Earlier = Callable[[Term], Iterable[Term]]
"""Returns the types of a node that is not of the step itself."""


class Written:
    """What a step is about to write: by node the values by property, and the types of values.

    `earlier` is asked for the types of what other steps wrote.
    """

    def __init__(self, earlier: Earlier = lambda _: ()) -> None:
        self.nodes: dict[Term, dict[Node, list[Term]]] = {}
        self._earlier = earlier
        self._types: dict[Term, set[Term]] = {}

    def properties(self, node: Term) -> Mapping[Node, list[Term]]:
        """Return what the step says of a node."""
        return self.nodes.get(node, {})

    def types(self, node: Term) -> set[Term]:
        """Return the types of a node or value of the step, whichever step wrote it."""
        known = self._types.get(node)
        if known is None:
            known = set(self.properties(node).get(TYPE, ())) | set(self._earlier(node))
            self._types[node] = known
        return known

    def note(self, node: Term, predicate: Node, value: Term) -> None:
        """Note a statement; each is noted once."""
        properties = self.nodes.get(node)
        if properties is None:
            properties = self.nodes[node] = {}
        properties.setdefault(predicate, []).append(value)

    def lines(self) -> Iterator[str]:
        """Return the lines that are sealed."""
        return (said for node, about in self.nodes.items() for said in lines(node, about))

    def count(self, kind: Term) -> int:
        """Count the nodes of a class among those that the step wrote."""
        return sum(1 for properties in self.nodes.values() if kind in properties.get(TYPE, ()))


class Functions:
    """What `queries/record/seal.ru` calls in the embedded store; one for each step.

    `refuse` gives what is wrong with what is about to be written; where it gives anything, or
    fails, the step gets no hash, and so is not written. `written` and `told` say afterwards what
    was looked at and what was said. `earlier` is as in `Written`.
    """

    def __init__(
        self, refuse: Callable[[Written], Iterable[str]], earlier: Earlier = lambda _: ()
    ) -> None:
        self.written = Written(earlier)
        self.told: list[str] = []
        self._refuse = refuse
        self._noted = 0

    @property
    def plain(self) -> dict[Node, Callable[..., AnyTerm | None]]:
        """The functions by IRI."""
        return {_NOTED: self._note, _SEALED: self._seal}

    def _note(self, node: Term, predicate: Node, value: Term) -> Term:
        self._noted += 1
        self.written.note(node, predicate, value)
        return predicate

    def _seal(self, before: Term, count: Term) -> Term | None:
        # The store would pass over an exception, so it becomes a reason to refuse.
        try:
            self.told = list(self._refuse(self.written))
            if int(count.value) != self._noted:
                self.told.append(f"{count.value} statements had to be read, {self._noted} were.")
        except Exception as error:  # noqa: BLE001 - whatever went wrong, it is told
            self.told = [f"it could not be checked ({error!r})"]
        return None if self.told else ox.Literal(seal(before.value, self.written.lines()))
