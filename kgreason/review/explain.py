"""Why a hypothesis has its confidence."""

from pathlib import Path

import pyoxigraph as ox

from kgreason.base.store import Results
from kgreason.record import Ledger
from kgreason.report import questions as history


def explain(ledger: str | Path, hypothesis: str, which: str | None = None) -> Results:
    """Return the chain of updates of a hypothesis, named by number or IRI.

    The rows are those of `queries/history/how-confidence-came-about.rq`. An IRI tells its
    investigation; raises LedgerError or OptionError where there is none.
    """
    apart, _, number = hypothesis.rpartition(":hypothesis:")
    with Ledger.read(Path(ledger)) as store:
        record = store.record(store.entry(which or apart or None))
        asked = ox.NamedNode(hypothesis) if apart and number else hypothesis
        return history.ask(record, "how-confidence-came-about", hypothesis=asked)
