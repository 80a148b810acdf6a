"""The ledger: the reasoning history, kept as RDF in a pyoxigraph store."""

from kgreason.ledger.ledger import Ledger
from kgreason.ledger.record import Record, Step, cited, node_name, uncited
from kgreason.ledger.seal import Written

__all__ = ["Ledger", "Record", "Step", "Written", "cited", "node_name", "uncited"]
