"""The text that the hash of a step is taken over, and what a step is about to write.

The text is made here and not in SPARQL: the order in which GROUP_CONCAT takes its values is no
one's promise, and a literal may hold a line end and what looks like a statement after it. So each
statement is a line of canonical N-Triples, in which a literal has no line end, and the lines are
sorted by code point. The hash is SHA-256 over the hash of the step before, a line end and these
lines. What a later step replaces stays outside.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Final

import pyoxigraph as ox

from kgreason.store import AnyTerm, Term
from kgreason.terms import TRAILS, TYPE, XSD

Node = ox.NamedNode
_FUNCTIONS: Final = "urn:kgreason:function:"

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


def line(subject: Term, predicate: Node, value: Term) -> str:
    """Give a statement as a line of canonical N-Triples, without its line end.

    Line ends, quotes, backslashes and control characters of a literal are escaped.
    """
    return f"{subject} {predicate} {value} ."


def seal(before: str, lines: Iterable[str]) -> str:
    """Give the hash of a step: SHA-256 over the hash before it and its sorted lines."""
    return sha256("\n".join([before, *sorted(lines)]).encode()).hexdigest()


@dataclass
class Written:
    """What a step is about to write: by node the values by property, and the types of values."""

    nodes: dict[Term, dict[Node, list[Term]]] = field(default_factory=dict)
    kinds: dict[Term, set[Term]] = field(default_factory=dict)

    def properties(self, node: Term) -> Mapping[Node, list[Term]]:
        """Give what the step says of a node."""
        return self.nodes.get(node, {})

    def types(self, node: Term) -> set[Term]:
        """Give the types of a node or value of the step, whichever step wrote it."""
        return self.kinds.get(node, set()) | set(self.properties(node).get(TYPE, ()))

    def note(self, node: Term, predicate: Node, value: Term, kind: Term) -> None:
        """Note a statement; `kind` is a type of its value, or a literal where it has none."""
        values = self.nodes.setdefault(node, {}).setdefault(predicate, [])
        if value not in values:
            values.append(value)
        if isinstance(kind, ox.NamedNode):
            self.kinds.setdefault(value, set()).add(kind)

    def count(self, kind: Term) -> int:
        """Count the nodes of a class among those that the step wrote."""
        return sum(1 for properties in self.nodes.values() if kind in properties.get(TYPE, ()))


class _Sorted:
    """The aggregate that sorts lines; a line told twice counts once."""

    def __init__(self) -> None:
        self._lines: set[str] = set()

    def accumulate(self, term: Term) -> None:
        if term.value:
            self._lines.add(term.value)

    def finish(self) -> Term:
        return ox.Literal("\n".join(sorted(self._lines)))


class Functions:
    """What `queries/record/seal.ru` calls in the embedded store; one for each step.

    `refuse` gives what is wrong with what is about to be written; where it gives anything, or
    fails, the step gets no hash, and so is not written. `written` and `told` say afterwards what
    was looked at and what was said.
    """

    def __init__(self, refuse: Callable[[Written], Iterable[str]]) -> None:
        self.written = Written()
        self.told: list[str] = []
        self._refuse = refuse

    @property
    def plain(self) -> dict[Node, Callable[..., AnyTerm | None]]:
        """The functions by IRI."""
        made: dict[str, Callable[..., AnyTerm | None]] = {
            "line": self._line,
            "allowed": self._allowed,
        }
        return {ox.NamedNode(_FUNCTIONS + name): function for name, function in made.items()}

    @property
    def aggregates(self) -> dict[Node, Callable[[], _Sorted]]:
        """The aggregates by IRI."""
        return {ox.NamedNode(_FUNCTIONS + "sorted"): _Sorted}

    def _line(self, node: Term, predicate: Node, value: Term, kind: Term) -> Term:
        self.written.note(node, predicate, value, kind)
        return ox.Literal("" if predicate in REPLACED else line(node, predicate, value))

    def _allowed(self, _: Term) -> Term:
        # The store would pass over an exception, so it becomes a reason to refuse.
        try:
            self.told = list(self._refuse(self.written))
        except Exception as error:  # noqa: BLE001 - whatever went wrong, it is told
            self.told = [f"it could not be checked ({error!r})"]
        yes = "false" if self.told else "true"
        return ox.Literal(yes, datatype=XSD.boolean)
