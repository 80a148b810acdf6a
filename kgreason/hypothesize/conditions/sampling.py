"""Which nodes of a large population a search looks at: a sample by outcome, numbered anew.

Of nodes that pass and of nodes that fail as many are taken as are needed to tell them apart, each
by a seeded digest of its IRI, so that whether a node is taken depends on nothing else that is true
of it. Failing nodes are then as exchangeable with those that pass as they are in the population:
an odds ratio and an e-value hold among them, and rates do not (J. A. Anderson, Separate sample
logistic discrimination, Biometrika 59, 1972). What a search finds is counted in the whole
population before it is told.
"""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from operator import itemgetter
from typing import Final

from kgreason.base.figures import integer
from kgreason.graph.marks import Focus, Population, places

WHOLE: Final = integer("searchNodes")
"""The most nodes of a population that are all looked at."""
PASSING: Final = integer("searchPassing")
FAILING: Final = integer("searchFailing")
"""Of a larger one, the most that fail and the most that are drawn from all."""
TIMES: Final = integer("searchTimes")
"""So many times as many passing nodes as failing ones are enough."""


class Lots:
    """The order in which nodes of a population are drawn."""

    def __init__(self, population: Population, seed: int) -> None:
        self._population, self._seed = population, seed

    @cached_property
    def _lots(self) -> list[bytes]:
        salt = f"{self._seed}\nsearch\n".encode()
        return [hashlib.sha256(salt + n.value.encode()).digest() for n in self._population.nodes]

    def drawn(self, mask: int, most: int) -> int:
        """Return at most so many of some nodes."""
        if mask.bit_count() <= most:
            return mask
        lots = self._lots
        return united(1 << place for place in sorted(places(mask), key=lots.__getitem__)[:most])


def united(masks: Iterable[int]) -> int:
    """Return the union of sets; few of them, or of few nodes."""
    out = 0
    for mask in masks:
        out |= mask
    return out


@dataclass(frozen=True)
class Sample:
    """Nodes of a population that are looked at, with numbers of their own from 0 on.

    `drawn` are those of all nodes, whoever fails; the others fail, of one symptom or another, and
    at most so many of each.
    """

    population: Population = field(repr=False)
    mask: int = field(repr=False)
    drawn: int = field(repr=False)
    most: int
    _own: dict[int, int] = field(default_factory=dict, repr=False)

    @cached_property
    def nodes(self) -> Sequence[Focus]:
        """The nodes by their numbers."""
        return [self.population.nodes[place] for place in places(self.mask)]

    @cached_property
    def _digits(self) -> Callable[[str], Sequence[str]]:
        """What takes the digits of these nodes, the last one first, from those of all."""
        width = len(self.population.nodes)
        return itemgetter(*(width - 1 - place for place in sorted(places(self.mask))[::-1]))

    def own(self, mask: int) -> int:
        """Return the nodes of a set that are looked at, by their numbers here."""
        if mask not in self._own:
            text = f"{mask:0{len(self.population.nodes)}b}"
            self._own[mask] = int("".join(self._digits(text)), 2)
        return self._own[mask]


def shared(
    population: Population, failing: Sequence[int], lots: Lots, passes: int, fails: int
) -> Sample:
    """Draw a sample for all symptoms of a population, of which these nodes fail.

    That is so many of all nodes, and so many failing ones of each symptom.
    """
    drawn = lots.drawn((1 << len(population.nodes)) - 1, passes)
    bad = united(lots.drawn(mask, fails) for mask in failing)
    return Sample(population, drawn | bad, drawn, fails)


def alone(
    population: Population, passing: int, failing: int, lots: Lots, passes: int, fails: int
) -> Sample:
    """Draw a sample for one symptom: so many of the nodes that pass, and so many that fail."""
    drawn = lots.drawn(passing, passes)
    return Sample(population, drawn | lots.drawn(failing, fails), drawn, fails)
