"""How many ends of a path a node reaches, and how many things share the end that it reaches."""

from collections import Counter
from collections.abc import Iterator
from typing import Final

from pyoxigraph import Literal

from kgreason.base.figures import integer
from kgreason.base.terms import XSD
from kgreason.hypothesize.conditions.atlas import Atlas, Table
from kgreason.hypothesize.conditions.condition import Terms

MOST_OF_FEW: Final = integer("mostOfFew")
"""The most things that `one-of` names."""
_SIZES: Final = integer("crowdSizes")
_MANY: Final = 6
"""From so many ends on not every number is looked at."""
_SEVERAL: Final = 2


def counts(table: Table, *, least: bool) -> Iterator[tuple[Terms, int]]:
    """Yield the nodes with so many ends at least, or at most, by some of the numbers there are."""
    found = table.by_number
    large = [number for number in sorted(found) if number >= _MANY]
    wanted = {*range(1, _MANY), *(large[:: -(-len(large) // _SIZES)] if large else ())}
    mask = 0
    for number in sorted(found, reverse=least):
        mask |= found[number]
        if number in wanted and (number > 1 or not least) and mask != table.some:
            yield _of(number), mask


def crowds(atlas: Atlas, table: Table) -> Iterator[tuple[Terms, int]]:
    """Yield the nodes whose end many things share, from some of the numbers of these on.

    Where few ends are shared so much, which ones they are says more. Of a code it is told only that
    two things or more have it.
    """
    known = atlas.links.crowds(table.path.steps[-1], table.ends, atlas.nodes.bit_count())
    found: dict[int, int] = {}
    alike: Counter[int] = Counter()
    for end, mask in table.ends.items() if known else ():
        size = known.get(end, 0)
        size = min(size, _SEVERAL) if isinstance(end, Literal) else size
        if size:
            found[size] = found.get(size, 0) | mask
            alike[size] += 1
    sizes = sorted(found, reverse=True)
    wanted = set(sizes[:: -(-len(sizes) // _SIZES)] if sizes else ())
    mask = ends = 0
    for size in sizes:
        mask |= found[size]
        ends += alike[size]
        if size in wanted and size > 1 and ends > MOST_OF_FEW:
            yield _of(size), mask


def _of(count: int) -> Terms:
    return (("count", Literal(str(count), datatype=XSD.integer)),)
