"""Observations: what a tool found, in words, with the nodes that it may be cited by."""

from dataclasses import dataclass

import pyoxigraph as ox

from kgreason.base.store import Term
from kgreason.record.plan_steps import COMPLETE, REFUSED


@dataclass(frozen=True)
class Observation:
    """What a tool found.

    `found` is how many rows or nodes, `told` says which, `nodes` are those that are cited, each
    with the property that it is cited for, if any. `query` is what was asked of the graph, with the
    `digest` of its rows. `status` is "failed" where the tool could not do its work, and "refused"
    where it was not called; `told` says why.
    """

    told: str
    found: int = 0
    nodes: tuple[tuple[Term, ox.NamedNode | None], ...] = ()
    query: str = ""
    digest: str = ""
    status: str = COMPLETE

    @property
    def failed(self) -> bool:
        """Whether nothing was looked at, for whatever reason."""
        return self.status != COMPLETE

    @property
    def refused(self) -> bool:
        """Whether the tool was not called."""
        return self.status == REFUSED
