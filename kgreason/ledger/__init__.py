"""The ledger: the reasoning history, kept as RDF in a pyoxigraph store."""

from kgreason.ledger.ledger import Ledger
from kgreason.ledger.record import Record, Step, cited, node_name

__all__ = ["Ledger", "Record", "Step", "cited", "node_name"]
