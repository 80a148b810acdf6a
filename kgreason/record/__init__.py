"""The record: the reasoning history as RDF, its seals, and the policies that judge it."""

from kgreason.record.ledger import Ledger
from kgreason.record.numbers import lettered, number_of
from kgreason.record.record import Record, Step, cited, node_name, uncited
from kgreason.record.seal import Written

__all__ = [
    "Ledger",
    "Record",
    "Step",
    "Written",
    "cited",
    "lettered",
    "node_name",
    "number_of",
    "uncited",
]
