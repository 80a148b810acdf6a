"""Closed writing: a step writes the classes and properties that the ontology allows its phase.

The ontology says in which phases nodes of a class may be written (`trails:writtenIn`); the shapes
of its classes, and the domains of properties, say what may be said of it. Some properties, such as
the relations of PROV, any node may have (`trails:anywhere`). What others defined (prov:Entity and
the like) is a class beside a trails class, never alone.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Final

import pyoxigraph as ox

from kgreason.audit.record_shapes import ontology, shapes
from kgreason.audit.statements import plain
from kgreason.base.store import Term
from kgreason.base.terms import POLICY, PROV, RDFS, TRAILS, TYPE
from kgreason.record import Written

_BESIDE: Final = frozenset(
    PROV[name] for name in ("Entity", "Activity", "Plan", "SoftwareAgent", "Person")
)


def faults(written: Written) -> Iterator[str]:
    """Describe what a step is about to write that its phase does not allow."""
    nodes = written.nodes
    phase = next(
        (about[TRAILS.phase][0] for about in nodes.values() if TRAILS.phase in about), None
    )
    for node, about in nodes.items():
        if len(about.get(TRAILS.step, ())) > 1:
            yield f"{node.value}: an earlier step wrote this node; it cannot be written again."
        kinds = frozenset(about.get(TYPE, ()))
        wrong, known = _allowed(kinds, phase)
        for fault in wrong:
            yield f"{node.value}: {fault}"
        if known is not None and not about.keys() <= known:
            names = ", ".join(sorted(_short(kind) for kind in kinds - _BESIDE))
            for name in sorted(about.keys() - known, key=str):
                yield f"{node.value}: {_short(name)} is no property that {names} may have."


@cache
def _allowed(
    kinds: frozenset[Term], phase: Term | None
) -> tuple[tuple[str, ...], frozenset[Term] | None]:
    """Return what is wrong with classes in a phase, and the properties of a node of them.

    None for the properties means that they are not limited.
    """
    phases, copied = _classes()
    own = kinds - _BESIDE
    wrong = []
    if not own:
        wrong.append("it is of no class that a step may write.")
    for kind in sorted(own, key=str):
        if kind not in phases:
            wrong.append(f"{_short(kind)} is no class that a step may write.")
        elif phase is not None and phase not in phases[kind]:
            wrong.append(f"a step of the phase {_short(phase)} may not write a {_short(kind)}.")
    if wrong or own & copied:
        return tuple(wrong), None
    about = [shape for shape in shapes().shapes if not own.isdisjoint(shape.classes)]
    known: set[Term] = {path for shape in about for path in shape.paths}
    domains, figures = _properties()
    if TRAILS.Step in own:  # with copies of the thresholds that it used
        known |= figures
    above = {c for kind in own for c in shapes().above.get(kind, (kind,))}
    known = known.union(*(domains.get(kind, ()) for kind in (*above, TRAILS.anywhere)))
    return (), frozenset(known)


@cache
def _properties() -> tuple[Mapping[Term, set[Term]], frozenset[Term]]:
    """Return the properties by their domains, and the figures of policies.

    The properties that any node may have are under `trails:anywhere`.
    """
    domains: dict[Term, set[Term]] = {}
    figures: set[Term] = set()
    for link in plain(ontology()):
        if link.predicate == RDFS.domain:
            domains.setdefault(link.object, set()).add(link.subject)
        elif link.predicate == TRAILS.anywhere:
            domains.setdefault(TRAILS.anywhere, set()).add(link.subject)
        if isinstance(link.subject, ox.NamedNode) and link.subject in POLICY:
            figures.add(link.subject)
    return domains, frozenset(figures)


@cache
def _classes() -> tuple[Mapping[Term, frozenset[Term]], frozenset[Term]]:
    """Return the phases of each class that is written, and the classes that are copied."""
    phases: dict[Term, set[Term]] = {}
    copied: set[Term] = set()
    for link in plain(ontology()):
        if link.predicate == TRAILS.writtenIn:
            phases.setdefault(link.subject, set()).add(link.object)
        elif link.predicate == TRAILS.copied:
            copied.add(link.subject)
    return {kind: frozenset(among) for kind, among in phases.items()}, frozenset(copied)


def _short(term: Term) -> str:
    return term.value.rpartition("#")[2] if term in TRAILS else str(term)
