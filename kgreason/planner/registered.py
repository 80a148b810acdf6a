"""The hypotheses of a correlation: which of them are the same, and what counts of each.

Sub-investigations may register the same hypothesis: where their parts overlap, or where a part was
given out again. Their tests look at the same nodes and are one dependence group, so that it counts
once in the family of e-BH, with the mean of the e-values of those that were tested.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from decimal import ROUND_DOWN, Decimal
from typing import Final

import pyoxigraph as ox

from kgreason.base.store import Row, Store
from kgreason.base.templates import template
from kgreason.base.terms import TRAILS
from kgreason.record.record import Node

STATISTICS: Final = "statistics"
_PLACES: Final = Decimal("0.000001")
_SUPPORTED: Final = frozenset({TRAILS.Supported.value, TRAILS.Converged.value})


@dataclass(frozen=True)
class Registered:
    """A hypothesis that an investigation of a correlation registered.

    `status` is an IRI, `items` counts its evidence, `supporting` and `opposing` are summed
    strengths.
    """

    iri: Node
    investigation: str
    key: tuple[str, ...]
    gate: str
    status: str
    confidence: Decimal
    e: Decimal
    statement: str
    items: int
    supporting: Decimal
    opposing: Decimal

    @property
    def supported(self) -> bool:
        """Whether its own investigation supports it."""
        return self.status in _SUPPORTED


@dataclass(frozen=True)
class Same:
    """One hypothesis, however many sub-investigations registered it; the first one stands for it.

    `e` is that of all of them.
    """

    members: tuple[Registered, ...]
    e: Decimal

    @property
    def first(self) -> Registered:
        """The one that stands for all: that with most evidence, of several the least sure."""
        return self.members[0]

    @property
    def contradictory(self) -> bool:
        """Whether one sub-investigation supports what another one that tested it does not."""
        return len({one.supported for one in self.members if one.items}) > 1


def registered(store: Store, correlation: str) -> list[Registered]:
    """Return all hypotheses that the investigations of a correlation registered."""
    text = template("record", "registered").render(correlation=ox.Literal(correlation))
    return [_registered(row) for row in store.select(text)]


def _registered(row: Row) -> Registered:
    region = row["region"].value if "region" in row else row["hypothesis"].value
    return Registered(
        ox.NamedNode(row["hypothesis"].value),
        row["investigation"].value,
        (row["graph"].value, row["key"].value, row["family"].value, region),
        row["gate"].value,
        row["status"].value,
        Decimal(row["confidence"].value),
        Decimal(row["e"].value),
        row["statement"].value,
        int(row["items"].value),
        Decimal(row["supporting"].value),
        Decimal(row["opposing"].value),
    )


def same(known: Sequence[Registered], used: Collection[str]) -> list[Same]:
    """Group what is the same; `used` are the IRIs of the investigations that are joined.

    Within one investigation nothing is the same: that has looked for near duplicates itself. What
    is joined stands for what is not.
    """
    groups: dict[tuple[object, ...], list[Registered]] = {}
    seen: dict[tuple[str, tuple[str, ...]], int] = {}
    for one in sorted(known, key=lambda r: (r.investigation, _number(r.iri))):
        place = seen[one.investigation, one.key] = seen.get((one.investigation, one.key), 0) + 1
        groups.setdefault((*one.key, place), []).append(one)
    return [_same(members, used) for members in groups.values()]


def _same(members: Sequence[Registered], used: Collection[str]) -> Same:
    def order(one: Registered) -> tuple[bool, int, Decimal, str]:
        return one.investigation not in used, -one.items, one.confidence, one.iri.value

    ranked = tuple(sorted(members, key=order))
    tested = [one.e for one in ranked if one.items] or [Decimal(1)]
    mean = (sum(tested, Decimal(0)) / len(tested)).quantize(_PLACES, ROUND_DOWN)
    return Same(ranked, ranked[0].e if len(ranked) == 1 else mean)


def _number(iri: Node) -> int:
    return int(iri.value.rpartition(":")[2])


def counted(inner: ox.Store, graph: Node, groups: Sequence[Same], used: Collection[str]) -> None:
    """Let the family of e-BH on a scratch copy be that of the whole correlation.

    Of what is the same the first counts, with the e-value of all. What no sub-investigation that is
    joined registered is there as a bare number: it counts, and nothing is said of it.
    """
    for one in groups:
        if len(one.members) > 1:
            for member in one.members:
                _set(inner, graph, member.iri, TRAILS.eProcess, one.e)
            for member in one.members[1:]:
                for quad in list(inner.quads_for_pattern(member.iri, TRAILS.gate, None, graph)):
                    inner.remove(quad)
        if one.first.investigation not in used and one.first.gate == STATISTICS:
            inner.add(ox.Quad(one.first.iri, TRAILS.gate, ox.Literal(STATISTICS), graph))
            _set(inner, graph, one.first.iri, TRAILS.eProcess, one.e)


def _set(inner: ox.Store, graph: Node, node: Node, name: Node, value: Decimal) -> None:
    for quad in list(inner.quads_for_pattern(node, name, None, graph)):
        inner.remove(quad)
    decimal = ox.NamedNode("http://www.w3.org/2001/XMLSchema#decimal")
    inner.add(ox.Quad(node, name, ox.Literal(format(value, "f"), datatype=decimal), graph))
