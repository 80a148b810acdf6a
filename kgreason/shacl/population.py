"""How many nodes a target has: counted once for all constraints that share it."""

from typing import Protocol

from kgreason.base.errors import TimeoutExceeded
from kgreason.base.store import guarded_select
from kgreason.base.templates import Fragment, template
from kgreason.graph import Graph
from kgreason.shacl.components import ROLE


class Counts(Protocol):
    """Counts the nodes of targets."""

    def count(self, target: Fragment, *, guarded: bool) -> int | None:
        """Return the number of nodes, or None where it is not known."""


class Uncounted:
    """Counts nothing: who is looked at is known from elsewhere."""

    def count(self, target: Fragment, *, guarded: bool) -> int | None:  # noqa: ARG002
        """Return None."""
        return None


class Populations:
    """Counts the nodes of targets, each once; `seconds` limits what a user wrote."""

    def __init__(self, graph: Graph, seconds: float) -> None:
        self._graph, self._seconds = graph, seconds
        self._known: dict[str, int | None] = {}

    def count(self, target: Fragment, *, guarded: bool) -> int | None:
        """Return the number of nodes, or None where a query of the user did not end in time."""
        if target.text not in self._known:
            query = template(ROLE, "population").render(target=target)
            self._known[target.text] = self._run(query, guarded=guarded)
        return self._known[target.text]

    def _run(self, query: str, *, guarded: bool) -> int | None:
        store = self._graph.store
        if not guarded:
            return store.scalar(query)
        try:
            rows = guarded_select(store, query, self._seconds, "sh:target")
        except TimeoutExceeded:
            return None
        return int(rows[0]["n"].value)
