"""The nodes of a pattern on an endpoint, page by page, and a sample of them.

A page holds the nodes whose digest (MD5 of the seed and the IRI) begins with some figures. Pages
need no order and no offset, so that each can be asked for alone and counted; the nodes of the
smallest digests are a sample that does not depend on the engine.
"""

import hashlib
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final

import pyoxigraph as ox

from kgreason.base.templates import Fragment, template
from kgreason.endpoint.asking_endpoint import AskingEndpoint, Inconsistent
from kgreason.shacl.components import ROLE as OBSERVE

ROLE: Final = "endpoint"
_FIGURES: Final = "0123456789abcdef"
_DEEPEST: Final = 12


def digest(seed: int, iri: str) -> str:
    """Return what the order of nodes in a sample goes by; the endpoint works out the same."""
    return hashlib.md5(f"{seed}{iri}".encode(), usedforsecurity=False).hexdigest()


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

    def total(self, pattern: Fragment) -> int:
        """Return the number of nodes that have an IRI; raises SourceError."""
        return self._size(pattern, "")

    def sample(self, pattern: Fragment, most: int, *, besides: "Besides | None" = None) -> Listed:
        """Return `most` nodes at most, those of the smallest digests; raises SourceError.

        With `besides`, those that are of another pattern are left out.
        """
        total = self.total(pattern)
        left_out = besides.total if besides else 0
        found: list[str] = []
        for prefix, page in self._pages(pattern, total):
            out = besides.within(self, prefix) if besides else frozenset[str]()
            found += sorted(page - out, key=lambda iri: digest(self.seed, iri))
            if len(found) >= most:
                break
        else:
            if len(found) != total - left_out:
                raise self._changed(len(found), total - left_out)
        return Listed(total - left_out, tuple(found[:most]))

    def page(self, pattern: Fragment, prefix: str) -> frozenset[str]:
        """Return the nodes of one page; raises Inconsistent where some are missing."""
        return frozenset().union(*(one for _, one in self._split(pattern, prefix, None)))

    def _pages(self, pattern: Fragment, total: int) -> Iterator[tuple[str, frozenset[str]]]:
        """Return the pages in the order of their digests, each as large as an answer may be."""
        depth = 0
        while total > self._asking.page * 16**depth // 2 and total > self._asking.page:
            depth += 1
        for number in range(16**depth):
            prefix = format(number, f"0{depth}x") if depth else ""
            yield from self._split(pattern, prefix, None if depth else total)

    def _split(
        self, pattern: Fragment, prefix: str, size: int | None
    ) -> Iterator[tuple[str, frozenset[str]]]:
        """Return a page; one too long for an answer is returned as pages of one more figure."""
        size = self._size(pattern, prefix) if size is None else size
        if size > self._asking.page and len(prefix) < _DEEPEST:
            for figure in _FIGURES:
                yield from self._split(pattern, prefix + figure, None)
        elif size:
            yield prefix, self._nodes(pattern, prefix, size)

    def _nodes(self, pattern: Fragment, prefix: str, size: int) -> frozenset[str]:
        query = template(ROLE, "page").render(pattern=pattern, **self._named(prefix))
        found = frozenset(
            node.value
            for node in self._asking.nodes(query, "focus")
            if isinstance(node, ox.NamedNode) and self._fits(node.value, prefix)
        )
        if len(found) != size:
            raise self._changed(len(found), size)
        return found

    def _fits(self, iri: str, prefix: str) -> bool:
        return digest(self.seed, iri).startswith(prefix)

    def _size(self, pattern: Fragment, prefix: str) -> int:
        query = template(ROLE, "page-size").render(pattern=pattern, **self._named(prefix))
        return self._asking.count(query)

    def _named(self, prefix: str) -> dict[str, ox.Literal | bool]:
        named = {"seed": ox.Literal(str(self.seed)), "prefix": ox.Literal(prefix)}
        return {**named, "all": not prefix}  # no engine need find that a text begins with nothing

    def _changed(self, found: int, counted: int) -> Inconsistent:
        return Inconsistent(
            f"{self._asking.named.host} counts {counted:,} nodes, but gives {found:,} of them; its "
            "answers are cut without a word, or the data change while they are read."
        )


@dataclass(frozen=True)
class Besides:
    """Nodes that are left out of a sample: how many, their pattern, and all of them where known."""

    pattern: Fragment
    total: int
    known: AbstractSet[str] | None = None

    def within(self, pages: Pages, prefix: str) -> AbstractSet[str]:
        """Return those that may be in a page."""
        return pages.page(self.pattern, prefix) if self.known is None else self.known
