"""How the nodes of a sample are spread over sources, beside all nodes at the endpoint.

Failing and passing nodes are drawn over all sources alike, so a source has in the sample the share
that it has at the endpoint, but for chance. One with few failing nodes may have hardly any in the
sample, and what is wrong with it is then not found.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import pyoxigraph as ox

from kgreason.base.fetching import SourceError
from kgreason.base.figures import integer
from kgreason.base.templates import Fragment, template
from kgreason.endpoint.asking_endpoint import AskingEndpoint
from kgreason.endpoint.paging import ROLE

MOST: Final = integer("strataNodes")
_LISTED: Final = 50
_LEAST: Final = integer("strataLeast")
_TIMES: Final = 2


@dataclass(frozen=True)
class Stratum:
    """A named graph: how many nodes that it describes fail and pass there, and were taken."""

    graph: str
    failing_there: int
    failing: int
    passing_there: int
    passing: int

    @property
    def rate(self) -> float:
        """The share of its nodes that fail at the endpoint."""
        return self.failing_there / max(1, self.failing_there + self.passing_there)


def strata(
    asking: AskingEndpoint,
    target: Fragment,
    failing: Iterable[Fragment],
    quads: Iterable[ox.Quad],
    members: Collection[str],
    failed: Collection[str],
) -> tuple[Stratum, ...]:
    """Return the sources of a sample, those with most failing nodes; none where that is not told.

    A node that several named graphs describe counts in each. `failing` are patterns of which no two
    have a node in common. `members` were taken, of whom `failed`
    fail; `quads` are what is said of them.
    """
    try:
        everyone, bad = _by_graph(asking, target), Counter[str]()
        for pattern in failing:
            bad += _by_graph(asking, pattern)
    except SourceError:
        return ()
    taken, of_them = _taken(quads, members), _taken(quads, failed)
    found = [
        Stratum(
            graph, bad[graph], of_them[graph], there - bad[graph], taken[graph] - of_them[graph]
        )
        for graph, there in everyone.items()
    ]
    return tuple(sorted(found, key=lambda one: (-one.failing_there, one.graph))[:_LISTED])


def unseen(found: Iterable[Stratum], rate: float) -> Iterator[Stratum]:
    """Return the sources that fail much more often than all, but hardly in the sample."""
    for one in found:
        if one.failing < _LEAST <= one.failing_there and one.rate >= _TIMES * rate:
            yield one


def _by_graph(asking: AskingEndpoint, pattern: Fragment) -> Counter[str]:
    rows = asking.select(template(ROLE, "by-graph").render(pattern=pattern))
    return Counter({row["graph"].value: int(float(row["n"].value)) for row in rows})


def _taken(quads: Iterable[ox.Quad], nodes: Collection[str]) -> Mapping[str, int]:
    wanted = frozenset(nodes)
    pairs = {
        (quad.graph_name.value, quad.subject.value)
        for quad in quads
        if isinstance(quad.graph_name, ox.NamedNode)
        and isinstance(quad.subject, ox.NamedNode)
        and quad.subject.value in wanted
    }
    return Counter(graph for graph, _ in pairs)
