"""Write the record of one investigation: one transaction a step, each step sealed by a hash."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal

import pyoxigraph as ox

from kgreason.base.errors import RecordError, RunError
from kgreason.base.store import Row, Store, Term
from kgreason.base.templates import template
from kgreason.base.terms import PROV, TRAILS, TYPE, XSD
from kgreason.record.blobs import Blobs
from kgreason.record.closing import stray
from kgreason.record.seal import Functions, Written

_BLANK = "urn:kgreason:blank:"

Node = ox.NamedNode
Value = ox.NamedNode | ox.Literal | str | int | bool | Decimal


class Step:
    """What one transaction is going to write."""

    def __init__(self, record: "Record", node: Node, phase: Node) -> None:
        self.node = node
        self.phase = phase
        self.triples: list[ox.Triple] = []
        self.updates: list[str] = []
        self._record = record

    def add(self, subject: Node, predicate: Node, *values: Value) -> None:
        """Add statements about a node."""
        self.triples += [ox.Triple(subject, predicate, literal(value)) for value in values]

    def make(
        self, kind_: str, /, *types: Node, **properties: Value | Iterable[Value] | None
    ) -> Node:
        """Mint a node of a trails class, give it its properties, and tell which step made it.

        Properties are trails terms by name; None is left out.
        """
        node = self._record.mint(kind_)
        self.add(node, TYPE, TRAILS[kind_], *types)
        self.add(node, TRAILS.step, self.node)
        if PROV.Entity in types:
            self.add(node, PROV.wasGeneratedBy, self.node)
        self.describe(node, **properties)
        return node

    def describe(self, node: Node, /, **properties: Value | Iterable[Value] | None) -> None:
        """Add trails properties by name."""
        for name, value in properties.items():
            if value is None:
                continue
            self.add(node, TRAILS[name], *((value,) if isinstance(value, Value) else value))

    def apply(self, text: str) -> None:
        """Add an update template's text to the transaction."""
        self.updates.append(text.rstrip().rstrip(";"))


@dataclass(frozen=True)
class Preface:
    """What stands before a step in its transaction: steps written elsewhere, sealed already.

    `head` is the last of them, and `hash` its seal.
    """

    head: Node
    hash: str
    updates: Sequence[str]


class Record:
    """The named graph of one investigation.

    `check` says what is wrong with what a step is about to write; such a step is refused. `told`
    is called with each step that was written; `costs` gives what is to be said of the costs of a
    step, by the names of the properties. `blobs` keep long texts.
    """

    def __init__(self, store: Store, iri: Node, blobs: Blobs | None = None) -> None:
        self.store = store
        self.iri = iri
        self.blobs = blobs or Blobs()
        self.check: Callable[[Written], Iterable[str]] = lambda _: ()
        self.told: Callable[[Node], None] = lambda _: None
        self.costs: Callable[[], Mapping[str, Value]] = dict
        self._counts: Counter[str] | None = None

    def select(
        self, name: str, role: str = "record", **values: ox.NamedNode | ox.Literal
    ) -> list[Row]:
        """Run a stored query of the record, with the investigation as its first parameter."""
        text = template(role, name).render(investigation=self.iri, **values)
        return list(self.store.select(text))

    def mint(self, kind: str) -> Node:
        """Return the next IRI of a kind; numbers follow what is in the ledger."""
        if self._counts is None:
            rows = self.select("counts")
            self._counts = Counter(
                {r["kind"].value.rpartition("#")[2]: int(r["count"].value) for r in rows}
            )
        self._counts[kind] += 1
        return ox.NamedNode(f"{self.iri.value}:{kind.lower()}:{self._counts[kind]}")

    def step(self, phase: str, *types: Node) -> Step:
        """Begin a step; nothing is written before `commit`."""
        node = self.mint("Step")
        step = Step(self, node, TRAILS[phase])
        step.add(node, TYPE, TRAILS.Step, PROV.Activity, *types)
        step.add(node, TRAILS.step, node)
        step.describe(
            node,
            phase=TRAILS[phase],
            investigation=self.iri,
            index=int(node.value.rpartition(":")[2]),
        )
        step.add(node, PROV.startedAtTime, now())
        return step

    def forget(self) -> None:
        """Make the numbers free again that were minted for what was never written."""
        self._counts = None

    def pass_over(self, kind: str, number: int) -> None:
        """Leave out so many numbers of a kind, which a preface takes."""
        self.mint(kind)
        assert self._counts is not None  # noqa: S101 - mint has counted
        self._counts[kind] += number - 1

    def commit(
        self,
        step: Step,
        *,
        expect: dict[str, int] | None = None,
        preface: Preface | None = None,
    ) -> None:
        """Write a step as one transaction, with its link in the chain: all of it, or nothing.

        `expect` says how many nodes of a class the step must write, whether by hand or by
        templates; a `preface` is written before it. Raises RecordError where another number would
        be written, or where `check` says that something is wrong; the record is then as it was
        before.
        """
        before = self.link(step, preface)
        self._closed(step)
        names = {"investigation": self.iri, "step": step.node}
        parts = [
            *(preface.updates if preface else ()),
            *self.writes(step),
            template("record", "seal").render(**names, before=before),
            template("record", "refuse").render(**names),
        ]
        if not before.value:  # its first step
            parts.append(template("record", "take-number").render(investigation=self.iri))
        own: dict[Term | ox.Triple, list[Term | ox.Triple]] = {}
        for triple in step.triples:
            if triple.predicate == TYPE:
                own.setdefault(triple.subject, []).append(triple.object)
        if preface is not None:
            own[preface.head] = [TRAILS.Step]
        functions = Functions(
            lambda written: self._faults(written, expect or {}),
            lambda node: self._types(node, own.get(node, ())),
        )
        try:
            self.store.update(request(parts), functions.plain)
        except RunError as error:
            self.forget()
            if functions.told:
                more = len(functions.told) - 1
                others = f" ({more} more)" if more else ""
                raise RecordError(
                    f"{step.node.value}: this step is not written: {functions.told[0]}{others}"
                ) from error
            raise
        self.told(step.node)

    def _closed(self, step: Step) -> None:
        """Refuse a step that would write of earlier nodes what no later step may."""
        for node, name, why in stray(step.node, step.triples, step.updates):
            wrong = why
            if not why and self.store.values(self.iri, name, self.iri):
                wrong = "it has a value already"
            if wrong or (not why and node != self.iri):
                self.forget()
                raise RecordError(
                    f"{step.node.value}: this step is not written: it would write {name.value} of "
                    f"{str(node).strip('<>')}, but {wrong or 'an earlier step wrote that node'}."
                )

    def link(self, step: Step, preface: Preface | None = None) -> ox.Literal:
        """End a step, and link it to the one before; gives the hash of that, or nothing."""
        step.add(step.node, PROV.endedAtTime, now())
        step.describe(step.node, **self.costs())
        if preface is not None:
            step.describe(step.node, previous=preface.head)
            step.add(step.node, PROV.wasInformedBy, preface.head)
            return ox.Literal(preface.hash)
        for head in self.store.values(self.iri, TRAILS.head, self.iri)[:1]:
            for seal in self.store.values(head, TRAILS.hash, self.iri)[:1]:
                step.describe(step.node, previous=ox.NamedNode(head.value))
                step.add(step.node, PROV.wasInformedBy, ox.NamedNode(head.value))
                return ox.Literal(seal.value)
        return ox.Literal("")

    def writes(self, step: Step) -> list[str]:
        """Return the updates that write a step and make it the head, without its seal."""
        lines = "\n".join(f"  {t.subject} {t.predicate} {t.object} ." for t in step.triples)
        move = template("record", "move-head").render(investigation=self.iri, step=step.node)
        return [f"INSERT DATA {{ GRAPH {self.iri} {{\n{lines}\n}} }}", *step.updates, move]

    def _types(self, node: Term, own: Iterable[Term | ox.Triple]) -> Iterable[Term]:
        """Return the types of a node that an earlier step wrote, else its `own` in this step."""
        known: list[Term | ox.Triple] = [*self.store.values(node, TYPE, self.iri)]
        return (kind for kind in known or own if not isinstance(kind, ox.Triple))

    def _faults(self, written: Written, expect: dict[str, int]) -> Iterable[str]:
        for kind, number in expect.items():
            found = written.count(TRAILS[kind])
            if found != number:
                yield f"{number} nodes of trails:{kind} had to be written, {found} were."
        yield from self.check(written)


def request(parts: Iterable[str]) -> str:
    """Make one request of several updates: all PREFIX lines stand in front."""
    prologue: dict[str, None] = {}
    bodies = []
    for part in parts:
        rows = part.split("\n")  # splitlines would cut literals at U+0085 or U+2028
        prologue.update(dict.fromkeys(r for r in rows if r.startswith("PREFIX ")))
        bodies.append("\n".join(r for r in rows if not r.startswith("PREFIX ")))
    return "\n".join([*prologue, " ;\n".join(bodies)])


def literal(value: Value) -> ox.NamedNode | ox.Literal:
    """Make an RDF term of a Python value; decimals get at most nine places."""
    if isinstance(value, ox.NamedNode | ox.Literal):
        return value
    if isinstance(value, bool):
        return ox.Literal("true" if value else "false", datatype=XSD.boolean)
    if isinstance(value, int):
        return ox.Literal(str(value), datatype=XSD.integer)
    if isinstance(value, Decimal):
        return ox.Literal(format(value, "f"), datatype=XSD.decimal)
    return ox.Literal(value)


def now() -> ox.Literal:
    """Return the time as xsd:dateTime in UTC."""
    text = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return ox.Literal(text, datatype=XSD.dateTime)


def cited(term: Term) -> ox.NamedNode | ox.Literal:
    """Return a node of investigated graph as it stands in the ledger: blank nodes get an IRI."""
    return ox.NamedNode(_BLANK + term.value) if isinstance(term, ox.BlankNode) else term


def uncited(node: Term) -> Term:
    """Return a node that stands in the ledger as it is in the graph: the reverse of `cited`."""
    if isinstance(node, ox.NamedNode) and node.value.startswith(_BLANK):
        return ox.BlankNode(node.value.removeprefix(_BLANK))
    return node


def node_name(term: Term | str) -> str:
    """Return a cited node as a reader knows it: an absolute IRI, or `_:id`."""
    text = term if isinstance(term, str) else term.value
    return "_:" + text.removeprefix(_BLANK) if text.startswith(_BLANK) else text
