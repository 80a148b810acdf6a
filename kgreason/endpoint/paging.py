"""The nodes of a pattern on an endpoint, page by page, and a sample of them.

A page holds the nodes whose digest (MD5 of the seed and the IRI) lies between two others. Pages
need no order and no offset, so that each can be asked for alone and counted; the nodes of the
smallest digests are a sample that does not depend on the engine. Each page is one look at all
nodes, so a page is made to hold what is wanted where an answer may be that long.
"""

import hashlib
import math
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final, NamedTuple

import pyoxigraph as ox

from kgreason.base.templates import Fragment, template
from kgreason.endpoint.asking_endpoint import AskingEndpoint, Inconsistent
from kgreason.shacl.components import ROLE as OBSERVE

ROLE: Final = "endpoint"
_FIGURES: Final = 12  # of a digest, by which pages are told apart
_END: Final = 16**_FIGURES
_SPARE: Final = 4  # standard deviations of the number of nodes in a page


def digest(seed: int, iri: str) -> str:
    """Return what the order of nodes in a sample goes by; the endpoint works out the same."""
    return hashlib.md5(f"{seed}{iri}".encode(), usedforsecurity=False).hexdigest()


class Page(NamedTuple):
    """The nodes whose digests begin with figures from `first` up to `end`, without this."""

    first: int
    end: int

    def holds(self, seal: str) -> bool:
        """Check whether a digest lies in the page."""
        return self.first <= int(seal[:_FIGURES], 16) < self.end

    def before(self, seal: str) -> bool:
        """Check whether all digests of the page are smaller than one."""
        return int(seal[:_FIGURES], 16) >= self.end

    def of(self, pattern: Fragment, seed: int) -> Fragment:
        """Return the nodes of a pattern in the page as a pattern."""
        first, end = (ox.Literal(format(one, f"0{_FIGURES}x")) for one in self)
        return template(ROLE, "in-page").fragment(
            pattern=pattern,
            seed=ox.Literal(str(seed)),
            first=first,
            begins=self.first > 0,
            end=end,
            ends=self.end < _END,
        )


_ALL: Final = Page(0, _END)


@dataclass(frozen=True)
class Checked:
    """The nodes of a target that fail; `pattern` is all of them.

    A page of them is a page of the target of which each node is checked: to check all nodes for
    each page would be the dearest part of a look.
    """

    pattern: Fragment
    target: Fragment
    violation: Fragment

    def inside(self, page: Page, seed: int) -> Fragment:
        """Return those in a page as a pattern."""
        if page == _ALL:
            return page.of(self.pattern, seed)
        return template(ROLE, "failing-nodes").fragment(
            target=page.of(self.target, seed), violation=self.violation
        )


@dataclass(frozen=True)
class Plain:
    """The nodes of a pattern."""

    pattern: Fragment

    def inside(self, page: Page, seed: int) -> Fragment:
        """Return those in a page as a pattern."""
        return page.of(self.pattern, seed)


Nodes = Plain | Checked


@dataclass(frozen=True)
class Listed:
    """Nodes of a pattern: how many there are, and some of them, or all, in the order of digests."""

    total: int
    nodes: tuple[str, ...]

    @property
    def whole(self) -> bool:
        """Whether all nodes are there."""
        return len(self.nodes) == self.total


class Pages:
    """Asks for the nodes of patterns; one without an IRI cannot be asked for, and is left out."""

    def __init__(self, asking: AskingEndpoint, seed: int) -> None:
        self._asking, self.seed = asking, seed
        self._populations: dict[str, int] = {}

    def population(self, target: Fragment) -> int:
        """Return the number of nodes of a target, with those that have no IRI; raises SourceError.

        Each target is counted once.
        """
        if target.text not in self._populations:
            query = template(OBSERVE, "population").render(target=target)
            self._populations[target.text] = self._asking.count(query)
        return self._populations[target.text]

    def total(self, nodes: Nodes) -> int:
        """Return the number of nodes that have an IRI; raises SourceError."""
        return self._size(nodes, _ALL)

    def sample(self, nodes: Nodes, most: int, *, besides: "Besides | None" = None) -> Listed:
        """Return `most` nodes at most, those of the smallest digests; raises SourceError.

        With `besides`, those that are of another pattern are left out.
        """
        total = self.total(nodes)
        left_out = besides.total if besides else 0
        found: list[str] = []
        wanted = most * total / max(1, total - left_out)
        for page, those in self._pages(nodes, total, wanted):
            out = besides.within(self, page) if besides else frozenset[str]()
            found += sorted(those - out, key=lambda iri: digest(self.seed, iri))
            if len(found) >= most:
                break
        else:
            if len(found) != total - left_out:
                raise self._changed(len(found), total - left_out)
        return Listed(total - left_out, tuple(found[:most]))

    def page(self, nodes: Nodes, page: Page) -> frozenset[str]:
        """Return the nodes of one page; raises Inconsistent where some are missing."""
        return frozenset().union(*(those for _, those in self._split(nodes, page, None)))

    def _pages(
        self, nodes: Nodes, total: int, wanted: float
    ) -> Iterator[tuple[Page, frozenset[str]]]:
        """Return the pages in the order of their digests.

        Each is likely to hold what is wanted, or as much as an answer may be.
        """
        longest = self._asking.page_for(min(wanted, total))
        if total <= longest:
            yield from self._split(nodes, _ALL, total)
            return
        room = max(longest / 2, longest - _SPARE * math.sqrt(longest))
        rows = min(room, 1 + wanted + _SPARE * math.sqrt(wanted))
        width = max(1, int(_END * rows / total))
        for first in range(0, _END, width):
            yield from self._split(nodes, Page(first, min(first + width, _END)), None)

    def _split(
        self, nodes: Nodes, page: Page, size: int | None
    ) -> Iterator[tuple[Page, frozenset[str]]]:
        """Return a page; one too long for an answer is returned as two."""
        size = self._size(nodes, page) if size is None else size
        if size > self._asking.page_for(size) and page.end - page.first > 1:
            middle = (page.first + page.end) // 2
            yield from self._split(nodes, Page(page.first, middle), None)
            yield from self._split(nodes, Page(middle, page.end), None)
        elif size:
            yield page, self._nodes(nodes, page, size)

    def _nodes(self, nodes: Nodes, page: Page, size: int) -> frozenset[str]:
        query = template(ROLE, "page").render(pattern=nodes.inside(page, self.seed))
        found = frozenset(
            node.value
            for node in self._asking.nodes(query, "focus")
            if isinstance(node, ox.NamedNode) and page.holds(digest(self.seed, node.value))
        )
        if len(found) != size:
            raise self._changed(len(found), size)
        return found

    def _size(self, nodes: Nodes, page: Page) -> int:
        query = template(OBSERVE, "population").render(target=nodes.inside(page, self.seed))
        return self._asking.count(query)

    def _changed(self, found: int, counted: int) -> Inconsistent:
        return Inconsistent(
            f"{self._asking.named.host} counts {counted:,} nodes, but gives {found:,} of them; its "
            "answers are cut without a word, or the data change while they are read."
        )


@dataclass(frozen=True)
class Besides:
    """Nodes that are left out of a sample: which, how many, and those that are known.

    `known` are those of the smallest digests, in the order of these, or all of them.
    """

    nodes: Nodes
    known: Listed

    @property
    def total(self) -> int:
        """How many there are."""
        return self.known.total

    def within(self, pages: Pages, page: Page) -> AbstractSet[str]:
        """Return those that may be in a page; they are asked for where they are not known."""
        listed = self.known.nodes
        if self.known.whole:
            return frozenset(listed)
        if listed and page.before(digest(pages.seed, listed[-1])):
            return frozenset(listed)
        return pages.page(self.nodes, page)
