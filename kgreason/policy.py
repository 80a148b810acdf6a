"""Policies: the versioned data that rules confidence, status and gates."""

from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from typing import Final

import pyoxigraph as ox

from kgreason.errors import OptionError
from kgreason.resources import folder
from kgreason.store import Store
from kgreason.templates import template
from kgreason.terms import POLICY, RDFS, TRAILS, TYPE

DEFAULT: Final = "frame"


@dataclass(frozen=True)
class Likelihood:
    """What a policy says of one outcome class of a kind of test."""

    polarity: ox.NamedNode
    strength: Decimal


@dataclass(frozen=True)
class Policy:
    """A policy: its IRI, its numbers by name, its outcome table, and its triples for the record."""

    iri: ox.NamedNode
    version: str
    numbers: dict[str, Decimal]
    outcomes: dict[tuple[str, str], Likelihood]
    triples: tuple[ox.Triple, ...]

    def number(self, name: str) -> Decimal:
        """Give one number; raises OptionError if the policy lacks it."""
        try:
            return self.numbers[name]
        except KeyError as error:
            raise OptionError(f"The policy {self.iri.value} has no policy:{name}.") from error


@cache
def _store() -> Store:
    inner = ox.Store()
    root = folder("ontology")
    for path in [root / "trails.ttl", root / "policy.ttl", *sorted(root.glob("policies/*.ttl"))]:
        inner.load(path=str(path), format=ox.RdfFormat.TURTLE)
    return Store(inner, "the policies")


def names() -> list[str]:
    """Give the names of the policies at hand, sorted."""
    found = _store().inner.quads_for_pattern(None, TYPE, TRAILS.Policy, None)
    return sorted(
        q.subject.value.rpartition("#")[2] for q in found if isinstance(q.subject, ox.NamedNode)
    )


def load(name: str = DEFAULT) -> Policy:
    """Give a policy by name; raises OptionError, which lists the names, if there is none."""
    if name not in names():
        raise OptionError(f"There is no policy {name!r}; there are: {', '.join(names())}.")
    iri = POLICY[name]
    store = _store()
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
    return Policy(iri, version, numbers, outcomes, _triples(iri))


def kinds() -> dict[str, tuple[ox.NamedNode, str]]:
    """Give each kind of cause with its IRI and its gate: statistics, direct or none."""
    rows = _store().select(template("record", "kinds").render())
    return {r["name"].value: (ox.NamedNode(r["kind"].value), r["gate"].value) for r in rows}


def _triples(iri: ox.NamedNode) -> tuple[ox.Triple, ...]:
    """Give a policy's triples with its inner nodes named, as they go into a record."""
    inner = _store().inner
    out: list[ox.Triple] = []
    named: dict[ox.BlankNode, ox.NamedNode] = {}
    rows = sorted(inner.quads_for_pattern(iri, None, None, None), key=lambda q: _sortable(inner, q))
    for number, quad in enumerate(rows):
        value = quad.object
        if quad.predicate in {RDFS.label, RDFS.comment}:
            continue
        if isinstance(value, ox.BlankNode):
            node = named.setdefault(value, ox.NamedNode(f"{iri.value}-{number}"))
            out += [
                ox.Triple(node, q.predicate, q.object)
                for q in inner.quads_for_pattern(value, None, None, None)
            ]
            value = node
        out.append(ox.Triple(iri, quad.predicate, value))
    return tuple(out)


def _sortable(inner: ox.Store, quad: ox.Quad) -> str:
    if not isinstance(quad.object, ox.BlankNode):
        return f"{quad.predicate} {quad.object}"
    inside = inner.quads_for_pattern(quad.object, None, None, None)
    return f"{quad.predicate} " + " ".join(sorted(f"{q.predicate} {q.object}" for q in inside))
