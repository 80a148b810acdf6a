"""What of the graph a citation rests on, as a digest that shows whether it is still so."""

from hashlib import sha256

import pyoxigraph as ox

from kgreason.base.store import Term
from kgreason.base.terms import PREFIXES
from kgreason.graph import Graph


def digest(graph: Graph, node: Term, field: ox.NamedNode | None) -> str | None:
    """Return the digest of the statements about a node, with one field where it is named.

    SHA-256 in hexadecimal over their sorted N-Quads lines; of nothing at all where the node has no
    such statement, which is what a citation of something missing says. None for a literal, which
    is the subject of no statement.
    """
    if isinstance(node, ox.Literal):
        return None
    lines = [
        f"{quad} ."
        for quad in graph.store.inner.quads_for_pattern(node, field, None, None)
        if not str(quad.graph_name).startswith(f"<{PREFIXES['work']}")
    ]
    return sha256("\n".join(sorted(lines)).encode()).hexdigest()
