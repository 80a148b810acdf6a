"""Policies: the versioned data that rules confidence, status and gates.

A policy is one of those that come along, by its name, or a Turtle file of the user's own, which is
held to `shapes/policy.ttl` before it is used.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import Final

import pyoxigraph as ox

from kgreason.base.errors import OptionError, RunError
from kgreason.base.extensions import active, cached
from kgreason.base.figures import figures
from kgreason.base.resources import DEFAULT_POLICY, folder
from kgreason.base.store import AnyTerm, Store, triple
from kgreason.base.templates import Template, role, template
from kgreason.base.terms import POLICY, RDFS, TRAILS, TYPE
from kgreason.graph.bounds import check_depth
from kgreason.record import Record, Written
from kgreason.record.catalogue import phase_of
from kgreason.record.test_kinds import kinds as test_kinds
from kgreason.record.test_kinds import outcomes_of
from kgreason.record.whole_shapes import whole_shapes

_PARTS: Final = frozenset({POLICY.likelihood, POLICY.transition, POLICY.allows})
_SHARED: Final = {POLICY.rowsOf: POLICY.likelihood, POLICY.transitionsOf: POLICY.transition}
"""What names a table that several policies share, and what its rows are."""
_FILE: Final = ".ttl"
_PLACES: Final = Decimal("1e-6")


@dataclass(frozen=True)
class Likelihood:
    """What a policy says of one outcome class of a kind of test."""

    polarity: ox.NamedNode
    strength: Decimal


@dataclass(frozen=True)
class Policy:
    """A policy: its IRI, its numbers by name, its outcome table, and its triples for the record.

    `rules` are the templates of `queries/confidence/` that evidence is put to, `last_rules` those
    that are applied once, when the verdicts are given; `gates` are those of `queries/status/` by
    which a status changes, in their order.
    """

    iri: ox.NamedNode
    version: str
    numbers: dict[str, Decimal]
    outcomes: dict[tuple[str, str], Likelihood]
    triples: tuple[ox.Triple, ...]
    rules: tuple[Template, ...]
    last_rules: tuple[Template, ...]
    gates: tuple[Template, ...]

    def priors(self, members: int) -> tuple[Decimal, Decimal]:
        """Return where each of so many rivals starts, and where the catch-all of their frame does.

        Six places. A policy without policy:prior shares what its catch-all leaves. A catch-all
        alone in its frame starts no higher: the rest is with causes that nobody proposed.
        """
        none = self.number("catchAllPrior")
        shared = self.numbers.get("prior", (1 - none) / max(1, members))
        return shared.quantize(_PLACES), none.quantize(_PLACES)

    def gates_of(self, phase: str) -> list[Template]:
        """Return the gates that are applied in a phase, in their order."""
        return [gate for gate in self.gates if phase_of(gate) == phase]

    def forbidden(self, written: Written) -> Iterator[str]:
        """Describe which changes of status in a step are not in the table of transitions."""
        for node, properties in written.nodes.items():
            if TRAILS.StatusTransition in properties.get(TYPE, ()):
                ends = [properties.get(TRAILS[name], [None])[0] for name in ("from", "to")]
                if tuple(ends) not in self.transitions:
                    told = " to ".join(str(end).rpartition("#")[2].strip(">") for end in ends)
                    yield f"{node.value}: {told} is not a transition of {self.iri.value}."

    @cached_property
    def transitions(self) -> frozenset[tuple[object, object]]:
        """The allowed changes of status, each with where it starts and ends."""
        ends: dict[object, dict[ox.NamedNode, object]] = {}
        for said in self.triples:
            if said.predicate in {TRAILS["from"], TRAILS.to}:
                ends.setdefault(said.subject, {})[said.predicate] = said.object
        return frozenset((end.get(TRAILS["from"]), end.get(TRAILS.to)) for end in ends.values())

    def row(self, kind: str, outcome: str) -> Likelihood:
        """Return the row of an outcome of a test kind; raises RunError if the policy lacks it."""
        try:
            return self.outcomes[kind, outcome]
        except KeyError as error:
            raise RunError(
                f"The policy {self.iri.value} has no likelihood of {outcome!r} for {kind}."
            ) from error

    def number(self, name: str) -> Decimal:
        """Return one number; raises OptionError if the policy lacks it."""
        try:
            return self.numbers[name]
        except KeyError as error:
            raise OptionError(f"The policy {self.iri.value} has no policy:{name}.") from error


@cached
def _store() -> Store:
    """Return the policies that come along, with those and the rows that extensions add."""
    inner = ox.Store()
    root = folder("ontology")
    for path in [root / "trails.ttl", root / "policy.ttl", *sorted(root.glob("policies/*.ttl"))]:
        inner.load(path=str(path), format=ox.RdfFormat.TURTLE)
    known = Store(inner, "the policies")
    for extension in active():
        for path in extension.policies():
            _add(known, path)
    _share_rows(inner, inner)
    return known


def _add(known: Store, path: Path) -> None:
    """Add the policies of an extension, and its rows for others; raises OptionError."""
    own = _turtle(path, path.read_bytes(), str(path))
    for iri in _policies(own):
        if _local(iri) in map(_local, _policies(known)):
            raise OptionError(f"{path}: there is a policy {_local(iri)} already; rename this one.")
    _share_rows(own.inner, known.inner)
    for fault in _broken_shapes(own, known):
        raise OptionError(f"{path}: {fault}")
    policies = {*_policies(own), *_policies(known)}
    taken = _rows(known)
    for row in _rows(own):
        if row[0] not in policies:
            raise OptionError(f"{path}: there is no policy {row[0].value} that could have a row.")
        if row in taken:
            raise OptionError(
                f"{path}: the policy {_local(row[0])} has a row for the outcome {row[2]!r} of the "
                f"test {row[1]!r} already; a policy of your own can have another."
            )
    known.inner.extend(own.inner)


def _rows(store: Store) -> set[tuple[ox.NamedNode, str, str]]:
    """Return the policy, test kind and outcome class of each row that a policy itself states."""
    found = set()
    for quad in store.inner.quads_for_pattern(None, POLICY.likelihood, None, None):
        kind, outcome = (
            [
                q.object.value
                for q in _said_of(store.inner, quad.object, POLICY[name])
                if isinstance(q.object, ox.Literal)
            ][:1]
            for name in ("testKind", "outcomeClass")
        )
        if kind and outcome and isinstance(quad.subject, ox.NamedNode):
            found.add((quad.subject, kind[0], outcome[0]))
    return found


def _local(iri: ox.NamedNode) -> str:
    return re.split("[#/]", iri.value)[-1]


def _share_rows(inner: ox.Store, known: ox.Store) -> None:
    """Add to each policy the rows of the tables that it shares with others."""
    for shares, of in _SHARED.items():
        for link in list(inner.quads_for_pattern(None, shares, None, None)):
            for row in _said_of(known, link.object, of):
                inner.add(ox.Quad(link.subject, of, row.object))
                if inner is not known:
                    inner.extend(_said_of(known, row.object))


def _said_of(
    known: ox.Store, node: AnyTerm, predicate: ox.NamedNode | None = None
) -> list[ox.Quad]:
    if isinstance(node, ox.Literal):
        return []
    return list(known.quads_for_pattern(node, predicate, None, None))


def names() -> list[str]:
    """Return the names of the policies at hand, sorted."""
    return sorted(map(_local, _policies(_store())))


def is_file(name: str) -> bool:
    """Check whether a policy is meant as a file: its name ends with .ttl."""
    return name.endswith(_FILE)


def load(name: str = DEFAULT_POLICY) -> Policy:
    """Return a policy by its name or from a Turtle file.

    Raises OptionError if there is none of that name (which lists the names), or if the file is not
    a policy that can be used (which says what is wrong).
    """
    if is_file(name):
        store = _read(Path(name))
        (iri,) = _policies(store)
        return _complete(_made(store, iri, name), f"--policy {name}")
    return _of_catalogue(name)


@cached
def _of_catalogue(name: str) -> Policy:
    """Return a policy that comes along, or that an extension brings."""
    for iri in _policies(_store()):
        if _local(iri) == name:
            return _complete(_made(_store(), iri, name), f"The policy {name}")
    raise OptionError(
        f"There is no policy {name!r}; there are: {', '.join(names())}, or a FILE{_FILE}."
    )


def _complete(made: Policy, where: str) -> Policy:
    """Return a policy as it is; raises OptionError where it has no row for a kind of test."""
    for fault in _without_rows(made):
        raise OptionError(f"{where}: {fault}")
    return made


def _without_rows(made: Policy) -> Iterator[str]:
    """Describe the outcomes of tests at hand that a policy has no row for."""
    for kind in test_kinds():
        declared = outcomes_of(kind)
        missing = [name for name in declared if (kind, name) not in made.outcomes]
        if not declared and not any(known == kind for known, _ in made.outcomes):
            yield f"there is no policy:likelihood for the test {kind!r}; add one an outcome."
        for name in missing:
            yield (
                f"there is no policy:likelihood for the outcome {name!r} of the test {kind!r}; "
                "add a row for it, or take those of another policy with policy:rowsOf."
            )


def recorded(triples: Iterable[ox.Triple], iri: ox.NamedNode) -> Policy:
    """Return the policy that a record holds a copy of, from the statements of that copy.

    Raises OptionError where it names rules or gates that are no longer there.
    """
    inner = ox.Store()
    kept = tuple(sorted(triples, key=str))
    inner.extend(ox.Quad(t.subject, t.predicate, t.object) for t in kept)
    made = _made(Store(inner, "the recorded policy"), iri, iri.value)
    return replace(made, triples=kept)


def of_record(record: Record) -> Policy:
    """Return the policy that a record holds a copy of; raises OptionError as `recorded` does."""
    rows = record.select("policy")
    triples = {triple(r["node"], r["property"], r["value"]) for r in rows}
    return recorded(triples, ox.NamedNode(rows[0]["policy"].value))


def _made(store: Store, iri: ox.NamedNode, where: str) -> Policy:
    numbers: dict[str, Decimal] = {}
    version = "?"
    outcomes: dict[tuple[str, str], Likelihood] = {}
    for row in store.select(template("record", "policy-numbers").render(policy=iri)):
        numbers[row["name"].value] = Decimal(row["value"].value)
    for row in store.select(template("record", "policy-outcomes").render(policy=iri)):
        polarity = row["polarity"]
        if isinstance(polarity, ox.NamedNode):
            key = (row["kind"].value, row["class"].value)
            outcomes[key] = Likelihood(polarity, Decimal(row["strength"].value))
    for row in store.select(template("record", "policy-version").render(policy=iri)):
        version = row["version"].value
    rules = _templates(store, iri, POLICY.rule, "confidence", where)
    gates = _templates(store, iri, POLICY.gate, "status", where)
    for made in (*rules, *gates):
        for needed in made.header.get("numbers", "").split():
            if needed not in numbers:
                raise OptionError(
                    f"{where}: {made.name!r} needs policy:{needed}, which is missing."
                )
    last = tuple(rule for rule in rules if rule.header["moves"] == "supported")
    usual = tuple(rule for rule in rules if rule not in last)
    return Policy(iri, version, numbers, outcomes, _triples(store, iri), usual, last, gates)


def _templates(
    store: Store, iri: ox.NamedNode, term: ox.NamedNode, folder_: str, where: str
) -> tuple[Template, ...]:
    """Return the templates that a policy names, in the order that their headers say."""
    known = {found.name: found for found in role(folder_).values() if found.is_update}
    named = [q.object for q in store.inner.quads_for_pattern(iri, term, None, None)]
    wanted = sorted(value.value for value in named if isinstance(value, ox.Literal))
    for name in wanted:
        if name not in known:
            raise OptionError(
                f"{where}: there is no {term.value.rpartition('#')[2]} {name!r}; "
                f"there are: {', '.join(sorted(known))}."
            )
    return tuple(
        sorted((known[n] for n in wanted), key=lambda t: (int(t.header.get("order", 0)), t.name))
    )


# A user's own


def _read(path: Path) -> Store:
    """Read a file with a policy, and refuse it where it cannot be used."""
    try:
        return _checked(path, path.read_bytes())
    except OSError as error:
        why = error.strerror or error
        raise OptionError(f"--policy {path}: the file cannot be read ({why}).") from error


@cached
def _checked(path: Path, text: bytes) -> Store:
    store = _turtle(path, text, f"--policy {path}")
    _share_rows(store.inner, _store().inner)
    found = _policies(store)
    if len(found) != 1:
        raise OptionError(
            f"--policy {path}: the file has to describe one trails:Policy with an IRI; "
            f"it describes {len(found) or 'none'}."
        )
    for fault in _faults(store, found[0]):
        raise OptionError(f"--policy {path}: {fault}")
    return store


def _turtle(path: Path, text: bytes, where: str) -> Store:
    inner = ox.Store()
    check_depth(path, text, ox.RdfFormat.TURTLE)
    try:
        inner.load(text, ox.RdfFormat.TURTLE)
    except (SyntaxError, ValueError) as error:
        raise OptionError(f"{where}: this is not Turtle ({error}).") from error
    return Store(inner, f"the policy {path}")


def _policies(store: Store) -> list[ox.NamedNode]:
    found = store.inner.quads_for_pattern(None, TYPE, TRAILS.Policy, None)
    return sorted({q.subject for q in found if isinstance(q.subject, ox.NamedNode)}, key=str)


def _faults(store: Store, iri: ox.NamedNode) -> Iterator[str]:
    """Describe what is wrong with a policy of a user, the gravest first."""
    if iri in _policies(_store()):
        yield f"{iri.value} is the name of a policy that comes with kgreason; give yours another."
    for name in sorted(figures().keys() & _made(store, iri, "the policy").numbers.keys()):
        yield (
            f"policy:{name} is a figure of the engine (ontology/engine.ttl), which no policy can "
            "change; leave it out."
        )
    yield from _broken_shapes(store, _store())
    yield from _without_rows(_made(store, iri, "the policy"))


def _broken_shapes(store: Store, known: Store) -> Iterator[str]:
    """Describe what the shapes say of what a user wrote, beside the terms that are known."""
    import pyshacl  # noqa: PLC0415 - takes half a second to load, and few need it
    import rdflib  # noqa: PLC0415

    data = rdflib.Graph()
    others = set(_policies(known))
    for inner in (known.inner, store.inner):
        terms = (q for q in inner if inner is store.inner or not _is_part(q.subject, others))
        text = ox.serialize((q.triple for q in terms), format=ox.RdfFormat.N_TRIPLES)
        data.parse(data=text, format="nt")
    _, results, _ = pyshacl.validate(data, shacl_graph=whole_shapes("prefixes", "policy"))
    sh = rdflib.Namespace("http://www.w3.org/ns/shacl#")
    if isinstance(results, rdflib.Graph):
        for result in sorted(results.objects(None, sh.result), key=str):
            path, value = (results.value(result, sh[n]) for n in ("resultPath", "value"))
            said = results.value(result, sh.resultMessage)
            where = f"{path}: ".rpartition("#")[2] if path is not None else ""
            yield f"{where}{said}" + (f" (it is {value})" if value is not None and path else "")


def _is_part(node: object, policies: set[ox.NamedNode]) -> bool:
    """Check whether a node is one of these policies, or a part of one (which has no name)."""
    return isinstance(node, ox.BlankNode) or node in policies


def kinds() -> dict[str, tuple[ox.NamedNode, str]]:
    """Return each kind of cause with its IRI and its gate: statistics, direct or none."""
    rows = _store().select(template("record", "kinds").render())
    return {r["name"].value: (ox.NamedNode(r["kind"].value), r["gate"].value) for r in rows}


def _triples(store: Store, iri: ox.NamedNode) -> tuple[ox.Triple, ...]:
    """Return a policy's triples with its inner nodes named, as they go into a record."""
    inner = store.inner
    out: list[ox.Triple] = []
    named: dict[object, ox.NamedNode] = {}
    rows = sorted(inner.quads_for_pattern(iri, None, None, None), key=lambda q: _sortable(inner, q))
    for number, quad in enumerate(rows):
        value = quad.object
        if quad.predicate in {RDFS.label, RDFS.comment, *_SHARED}:
            continue
        if quad.predicate in _PARTS and isinstance(value, ox.NamedNode | ox.BlankNode):
            # A part may have a name of its own; in a record each has that of its policy.
            node = named.setdefault(value, ox.NamedNode(f"{iri.value}-{number}"))
            out += [
                ox.Triple(node, q.predicate, q.object)
                for q in inner.quads_for_pattern(value, None, None, None)
            ]
            value = node
        out.append(ox.Triple(iri, quad.predicate, value))
    return tuple(out)


def _sortable(inner: ox.Store, quad: ox.Quad) -> str:
    if quad.predicate not in _PARTS or not isinstance(quad.object, ox.NamedNode | ox.BlankNode):
        return f"{quad.predicate} {quad.object}"
    inside = inner.quads_for_pattern(quad.object, None, None, None)
    return f"{quad.predicate} " + " ".join(sorted(f"{q.predicate} {q.object}" for q in inside))
