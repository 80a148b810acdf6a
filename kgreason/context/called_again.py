"""Repeat a recorded step of a strategy: its queries are asked anew, the rest is taken as it is."""

import pyoxigraph as ox

from kgreason.base.store import Row
from kgreason.base.terms import TRAILS
from kgreason.context.context import Context
from kgreason.context.script import Script, rewritten
from kgreason.graph.query_result import query_result
from kgreason.record.record import literal


def call_again(context: Context, script: Script, row: Row, seconds: float) -> None:
    """Write a step of a strategy again; the digest and number of rows are those of now."""
    step, written = rewritten(context, script, row)
    anew: dict[tuple[object, ox.NamedNode], ox.NamedNode | ox.Literal] = {}
    digests = {t.subject for t in written if t.predicate == TRAILS.rowsDigest}
    for triple in written:
        if triple.predicate == TRAILS.query and triple.subject in digests:
            text = triple.object.value if isinstance(triple.object, ox.Literal) else ""
            found = query_result(context.graph, text, seconds, "the query of a tool")
            anew[triple.subject, TRAILS.rowsDigest] = literal(found.digest)
            anew[triple.subject, TRAILS.rows] = literal(len(found.rows))
    step.triples = [
        ox.Triple(t.subject, t.predicate, anew.get((t.subject, t.predicate), t.object))
        for t in step.triples
    ]
    context.record.commit(step)
