"""Sub-investigations held against the investigation that gave them out, where the ledger has it.

Each says itself how deep it lies. So that no chain is longer than it says, every link is looked at:
who gave a part out lies one fan-out above it, has given out this very part, and is of the same
correlation.
"""

from collections.abc import Iterator
from typing import Final

import pyoxigraph as ox

from kgreason.audit.findings import Finding
from kgreason.audit.merged import History
from kgreason.base.terms import TRAILS, TYPE

RULE: Final = "part-parent"


def findings(history: History) -> Iterator[Finding]:
    """Check the link to the parent; nothing is said where its record is not in the ledger."""
    for whole in history.values(history.iri, TRAILS.parent):
        parent = ox.NamedNode(whole)
        if not history.elsewhere(parent, parent, TYPE):
            continue
        fault = _fault(history, parent)
        if fault:
            yield Finding(RULE, history.iri.value, fault)


def _fault(history: History, parent: ox.NamedNode) -> str:
    """Return what is wrong with the link, "" where nothing is."""
    own = history.values(history.iri, TRAILS.depth)
    above = [one.value for one in history.elsewhere(parent, parent, TRAILS.depth)] or ["0"]
    if own != [str(int(above[0]) + 1)]:
        return f"It says depth {', '.join(own) or 'none'}; its parent lies at {above[0]}."
    given = [ox.NamedNode(one) for one in history.values(history.iri, TRAILS.assignment)]
    sessions = [one for each in given for one in history.elsewhere(parent, each, TRAILS.session)]
    if sessions != [history.iri]:
        return "Its parent gave out no such part to it."
    correlation = [one.value for one in history.elsewhere(parent, parent, TRAILS.correlation)]
    if history.values(history.iri, TRAILS.correlation) != correlation:
        return "It is of another correlation than its parent."
    return ""
