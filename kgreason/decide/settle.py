"""Settle: what hangs on a refuted premise, and exclusions that two supported hypotheses break.

Suggestions may say that they hold only if another one holds, or that they exclude another one. Of
hypotheses about several symptoms, a premise is the one about the same symptom, where there is one.
A family may say the same of its hypotheses, of those that another family proposes about the same
symptom.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

import pyoxigraph as ox

from kgreason.base.templates import template
from kgreason.base.terms import PROV, TRAILS
from kgreason.context.context import Context
from kgreason.record.record import now

_FAMILY: Final = "family:"
"""How the name of a family begins among names, as queries/record/linked-hypotheses.rq gives it."""


@dataclass
class Linked:
    """A hypothesis with links, or one that is named in a link, as it stands."""

    iri: ox.NamedNode
    symptom: str
    status: str
    statement: str
    names: set[str] = field(default_factory=set)
    premises: set[str] = field(default_factory=set)
    excludes: set[str] = field(default_factory=set)
    settled: bool = False

    @property
    def supported(self) -> bool:
        """Whether it stands as a cause."""
        return self.status == TRAILS.Supported.value

    @property
    def gone(self) -> bool:
        """Whether what hangs on it cannot hold."""
        return self.settled or self.status == TRAILS.Refuted.value


def settle(context: Context) -> None:
    """Settle what hangs on refuted premises, step by step, until nothing more follows."""
    while _settled(context, linked(context)):
        pass


def linked(context: Context) -> list[Linked]:
    """Return the hypotheses with links, in their order."""
    found: dict[str, Linked] = {}
    for row in context.record.select("linked-hypotheses"):
        one = found.setdefault(
            row["hypothesis"].value,
            Linked(
                ox.NamedNode(row["hypothesis"].value),
                row["symptom"].value,
                row["status"].value,
                row["statement"].value,
            ),
        )
        one.names |= {row["name"].value} if "name" in row else set()
        one.settled |= "settled" in row
        one.premises |= {row["premise"].value} if "premise" in row else set()
        one.excludes |= {row["excluded"].value} if "excluded" in row else set()
    return list(found.values())


def _settled(context: Context, known: Sequence[Linked]) -> bool:
    """Record what follows from how hypotheses stand, as one step; False where nothing is new."""
    fallen = [(one, gone) for one in known if (gone := _gone(one, known))]
    new = [(one, gone) for one, gone in fallen if one.supported or not one.settled]
    broken = _broken(context, known)
    if not new and not broken:
        return False
    step = context.record.step("Settle")
    for one, premises in new:
        said = "; ".join(premise.statement for premise in premises)
        node = step.make(
            "Settlement",
            PROV.Activity,
            hypothesis=one.iri,
            premise=[premise.iri for premise in premises],
            cause=f"It holds only if this holds, which was refuted: {said}",
        )
        step.add(node, PROV.startedAtTime, now())
        step.add(node, PROV.endedAtTime, now())
    for one, other in broken:
        step.make(
            "BrokenExclusion",
            PROV.Entity,
            hypothesis=[one.iri, other.iri],
            statement=f"“{one.statement}” excludes “{other.statement}”, as was said, and both are "
            "supported: one of them, or what was said, is wrong.",
        )
    names = {"investigation": context.record.iri, "step": step.node}
    step.apply(template("record", "settle-status").render(**names))
    context.record.commit(step)
    return True


def _meant(name: str, symptom: str, known: Iterable[Linked]) -> list[Linked]:
    """Return the hypotheses of a name: those about a symptom, or all where none is about it."""
    named = [one for one in known if name in one.names]
    about = [one for one in named if one.symptom == symptom]
    return about if name.startswith(_FAMILY) else about or named


def _gone(one: Linked, known: Sequence[Linked]) -> list[Linked]:
    """Return the premises of a hypothesis that cannot hold."""
    out: list[Linked] = []
    for name in sorted(one.premises):
        premises = [each for each in _meant(name, one.symptom, known) if each is not one]
        if premises and all(premise.gone for premise in premises):
            out += premises
    return out


def _broken(context: Context, known: Sequence[Linked]) -> list[tuple[Linked, Linked]]:
    """Return pairs about one symptom that exclude each other and are supported, told once."""
    told = {
        frozenset((row["one"].value, row["other"].value))
        for row in context.record.select("broken-exclusions")
    }
    pairs: dict[frozenset[str], tuple[Linked, Linked]] = {}
    for one in known:
        for name in one.excludes if one.supported else ():
            for other in known:
                alike = name in other.names and other.symptom == one.symptom and other is not one
                key = frozenset((one.iri.value, other.iri.value))
                if alike and other.supported and key not in told:
                    pairs.setdefault(key, (one, other))
    return list(pairs.values())
