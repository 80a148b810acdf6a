"""A patch: the quads that a repair removes and adds, just as they are written in the data."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyoxigraph as ox

from kgreason.base.store import Row, Term
from kgreason.base.terms import WORK
from kgreason.graph import Graph
from kgreason.graph.graph import exact
from kgreason.shacl.values import as_stored

Subject = ox.NamedNode | ox.BlankNode


@dataclass(frozen=True)
class Change:
    """One quad that is removed or added, as written, with the focus node it is changed for."""

    adds: bool
    graph: ox.NamedNode
    subject: Subject
    predicate: ox.NamedNode
    value: Term
    focus: Term

    @property
    def line(self) -> str:
        """The change as a line of an RDF Patch, which has no place for the focus node."""
        letter = "A" if self.adds else "D"
        return f"{letter} {self.subject} {self.predicate} {self.value} {self.graph} ."

    @property
    def place(self) -> tuple[Subject, ox.NamedNode]:
        """Subject and property."""
        return (self.subject, self.predicate)


@dataclass(frozen=True)
class Patch:
    """Changes, each once; what is removed and added again is left out."""

    changes: tuple[Change, ...]

    @property
    def lines(self) -> list[str]:
        """The lines, removals first, sorted."""
        return sorted({c.line for c in self.changes}, key=lambda x: (x[0] == "A", x))

    @property
    def digest(self) -> str:
        """SHA-256 over the sorted lines, in hexadecimal."""
        return hashlib.sha256("\n".join(self.lines).encode()).hexdigest()

    def __len__(self) -> int:
        return len(self.lines)


def read_changes(graph: Graph, rows: Iterable[Row]) -> Patch:
    """Make a patch of the rows of `queries/test/intervention.rq` that remove or add.

    Values that the store has rewritten are given back their form: of the statement that is removed,
    or of the statement that an added value is a copy of.
    """
    found: dict[tuple[object, ...], Change] = {}
    for row in rows:
        change = row["change"].value
        if change not in {"remove", "add"}:
            continue
        subject, predicate = row.get("subject"), row.get("predicate")
        name, value = row.get("graph"), row.get("object")
        if (
            not isinstance(subject, Subject)
            or not isinstance(predicate, ox.NamedNode)
            or not isinstance(name, ox.NamedNode)
            or value is None
        ):
            continue  # what is no triple cannot be written; an update passes over it too
        copied = (row.get("source"), row.get("from"))
        here = copied if change == "add" else (subject, predicate)
        for form in _forms(graph, *here, value):
            made = Change(change == "add", name, subject, predicate, form, row["focus"])
            found.setdefault((made.adds, name, subject, predicate, form), made)
    both = {key[1:] for key in found if key[0]} & {key[1:] for key in found if not key[0]}
    return Patch(tuple(c for key, c in found.items() if key[1:] not in both))


def _forms(graph: Graph, subject: object, predicate: object, value: Term) -> Sequence[Term]:
    """Return a stored value as it was written in a statement; a value that was made is as it is."""
    plain = exact(value)
    if (
        plain != value
        or not isinstance(value, ox.Literal)
        or not isinstance(subject, Subject)
        or not isinstance(predicate, ox.NamedNode)
        or predicate not in graph.formed
    ):
        return [plain]
    forms = [v for v in graph.exact_values(subject, predicate) if as_stored(v) == value]
    return forms or [plain]


# Written down


def plain_names(graph: Graph) -> frozenset[ox.NamedNode]:
    """Return the graphs that stand for files: their triples had no graph name of their own."""
    return frozenset({*(source.iri for source in graph.sources), WORK.shapes})


def as_rdf_patch(patch: Patch, nameless: frozenset[ox.NamedNode], why: Iterable[str]) -> str:
    """Write an RDF Patch (rdf-delta): removals, then additions, in one transaction.

    A quad of a graph in `nameless` is written without a graph. `why` are comment lines. Raises
    ValueError for blank nodes, whose labels are not those of the data.
    """
    _no_blanks(patch)
    lines = [*_comments(why), f"H id <urn:sha256:{patch.digest}> .", "TX ."]
    lines += [_short(line, nameless) for line in patch.lines]
    return "\n".join([*lines, "TC ."]) + "\n"


def _short(line: str, nameless: frozenset[ox.NamedNode]) -> str:
    body = line.removesuffix(" .")
    for name in nameless:
        if body.endswith(f" {name}"):
            return f"{body.removesuffix(f' {name}')} ."
    return line


def _comments(why: Iterable[str]) -> Iterator[str]:
    for text in why:
        for line in text.splitlines() or [""]:
            yield f"# {line}".rstrip()


def as_update(patch: Patch, nameless: frozenset[ox.NamedNode], why: Iterable[str]) -> str:
    """Write a SPARQL UPDATE with DELETE DATA and INSERT DATA; raises ValueError for blank nodes."""
    _no_blanks(patch)
    parts = []
    for word, adds in (("DELETE", False), ("INSERT", True)):
        chosen = [c for c in patch.changes if c.adds == adds]
        if chosen:
            parts.append(f"{word} DATA {{\n{_data(chosen, nameless)}\n}}")
    return "\n".join([*_comments(why), " ;\n".join(parts)]) + "\n"


def _no_blanks(patch: Patch) -> None:
    if any(isinstance(t, ox.BlankNode) for c in patch.changes for t in (c.subject, c.value)):
        raise ValueError("a blank node has no name by which a patch could reach it")


def _data(changes: Sequence[Change], nameless: frozenset[ox.NamedNode]) -> str:
    groups: dict[ox.NamedNode | None, set[str]] = {}
    for c in changes:
        name = None if c.graph in nameless else c.graph
        groups.setdefault(name, set()).add(f"  {c.subject} {c.predicate} {c.value} .")
    out = []
    for name, lines in sorted(groups.items(), key=lambda item: str(item[0])):
        body = "\n".join(sorted(lines))
        out.append(body if name is None else f"  GRAPH {name} {{\n{body}\n  }}")
    return "\n".join(out)


def grouped(patch: Patch) -> Mapping[ox.NamedNode, Sequence[Change]]:
    """Return the changes by named graph."""
    out: dict[ox.NamedNode, list[Change]] = {}
    for change in patch.changes:
        out.setdefault(change.graph, []).append(change)
    return out
