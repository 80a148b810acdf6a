"""Contradictions between parts of a divided question, weighed by the evidence of all of them.

Two parts that look into the same hypothesis ask the graph about the same nodes, so what the graph
gave is there in the one with most evidence, which stands for all. What sources outside the graph
gave may differ: one of them did not answer, or was asked at another time. Where parts come to
different statuses, the one that stands takes that over from its twins, each finding once, and moves
by the rules of the policy; then the gates decide as they do on any hypothesis under test. All this
happens on the scratch copy of fan-in.
"""

from collections.abc import Sequence
from itertools import permutations
from typing import Final

import pyoxigraph as ox

from kgreason.base.templates import template
from kgreason.base.terms import TRAILS
from kgreason.planner.registered import Registered, Same
from kgreason.record import Record
from kgreason.record.policy import Policy
from kgreason.record.record import Node

_AGAIN: Final = ":again"
"""How the names end of what was taken over; queries/record/weigh-twin.ru makes them."""


def weighed(made: Record, groups: Sequence[Same], used: set[str], policy: Policy) -> None:
    """Let what parts disagree on stand by the evidence of all, on a scratch copy.

    `used` are the IRIs of the investigations that are joined.
    """
    for one in groups:
        members = [member for member in one.members if member.investigation in used]
        if one.contradictory and members and members[0] == one.first:
            _link(made, groups)
            for twin in members[1:]:
                _take(made, one.first, twin)
            taken = _taken(made, one.first)
            for node in taken:
                _count(made, node, policy)
            if taken:
                _set_status(made, one.first.iri, TRAILS.Testing)


def _link(made: Record, groups: Sequence[Same]) -> None:
    """Say on the scratch copy which hypotheses are the same, each of the others."""
    inner = made.store.inner
    for one in groups:
        for a, b in permutations(one.members, 2):
            inner.add(ox.Quad(a.iri, TRAILS.toldAs, b.iri, made.iri))


def _take(made: Record, first: Registered, twin: Registered) -> None:
    names = {"investigation": made.iri, "hypothesis": first.iri, "twin": twin.iri}
    made.store.update(template("record", "weigh-twin").render(**names))


def _taken(made: Record, first: Registered) -> list[Node]:
    """Return the evidence that was taken over."""
    about = made.store.inner.quads_for_pattern(None, TRAILS.hypothesis, first.iri, made.iri)
    nodes = (quad.subject for quad in about if isinstance(quad.subject, ox.NamedNode))
    return sorted((n for n in nodes if n.value.endswith(_AGAIN)), key=lambda n: n.value)


def _count(made: Record, evidence: Node, policy: Policy) -> None:
    """Let evidence that was taken over move confidence, as when it was found.

    Its e-value does not move the e-process: that is the mean over all parts.
    """
    (step,) = made.store.values(evidence, TRAILS.step, made.iri)
    names = {"investigation": made.iri, "step": ox.NamedNode(step.value), "evidence": evidence}
    for rule in policy.rules:
        if "needs" not in rule.header:
            made.store.update(rule.render(**names))


def _set_status(made: Record, hypothesis: Node, status: Node) -> None:
    inner = made.store.inner
    for quad in list(inner.quads_for_pattern(hypothesis, TRAILS.status, None, made.iri)):
        inner.remove(quad)
    inner.add(ox.Quad(hypothesis, TRAILS.status, status, made.iri))
