"""A record as PROV-JSON (W3C member submission of 24 April 2013).

Written by hand: the format is a handful of tables, the bytes are to be the same each time, and so
the library `prov` stays an independent reader, by which tests read it back.
"""

import json
import re
from collections import defaultdict
from collections.abc import Sequence
from typing import Any, Final

import pyoxigraph as ox

from kgreason.base.errors import LedgerError
from kgreason.base.store import Row, Term
from kgreason.base.terms import PREFIXES, XSD
from kgreason.record import Record
from kgreason.report.export.about import About

_LOCAL: Final = re.compile(r"(?P<space>.*[#/:])(?P<local>[^#/:]+)", re.DOTALL)
_MORE: Final = ("time", "plan", "activity", "role")
"""What a qualified relation may tell beyond its two ends."""
_NAMED_BY_IDENTIFIER: Final = ("plan", "activity")


class Names:
    """IRIs as qualified names, with the prefixes that they came to need."""

    def __init__(self, record: Record) -> None:
        self._known = {"this": f"{record.iri.value}:", "kgreason": "urn:kgreason:"}
        self._known |= {p: iri for p, iri in PREFIXES.items() if p not in {"work", "prov", "xsd"}}
        self._built_in = {"prov": PREFIXES["prov"], "xsd": PREFIXES["xsd"]}
        self._names: dict[str, str] = {}
        self.used: dict[str, str] = {}

    def known(self, iri: str) -> str | None:
        """Return the qualified name of an IRI by the longest namespace with a prefix, or None."""
        if iri not in self._names:
            spaces = self._built_in | self._known | self.used
            fitting = [(len(s), p) for p, s in spaces.items() if iri.startswith(s) and iri != s]
            if not fitting:
                return None
            length, prefix = max(fitting)
            if prefix not in self._built_in:
                self.used[prefix] = spaces[prefix]
            self._names[iri] = f"{prefix}:{iri[length:]}"
        return self._names[iri]

    def of(self, iri: str) -> str:
        """Return the qualified name of any IRI; a new namespace gets the next prefix."""
        name = self.known(iri)
        if name is None:
            found = _LOCAL.fullmatch(iri)
            space = found["space"] if found else iri[:-1]
            number = sum(1 for prefix in self.used if re.fullmatch(r"ns\d+", prefix)) + 1
            self.used[f"ns{number}"] = space
            name = f"ns{number}:{iri[len(space) :]}"
        return name


def render(record: Record, _: About) -> bytes:
    """Return the record as PROV-JSON text in UTF-8: sorted, the same bytes for the same record.

    Entities, activities and agents have all that the record says of them as attributes. Raises
    LedgerError where the record says what PROV-JSON cannot: an activity with two beginnings.
    """
    names = Names(record)
    document: dict[str, Any] = defaultdict(dict)
    for row in _rows(record, "prov-nodes"):
        _add_node(document[row["kind"].value], names, row)
    relations = _rows(record, "prov-relations")
    _add_attributes(document, names, record, relations)
    _add_relations(document, names, relations)
    document["prefix"] = names.used
    text = json.dumps(document, ensure_ascii=False, indent=1, sort_keys=True)
    return (text + "\n").encode()


def _rows(record: Record, name: str) -> list[Row]:
    """Return the rows of a query in an order of their own: ORDER BY takes the store far longer."""
    rows = record.select(name, role="export")
    return sorted(rows, key=lambda row: sorted((name, str(term)) for name, term in row.items()))


def _add_node(table: dict[str, Any], names: Names, row: Row) -> None:
    node = names.of(row["node"].value)
    if node in table:
        raise LedgerError(
            f"{row['node'].value}: it begins or ends more than once, which PROV-JSON cannot say; "
            "`kgreason audit` tells what is wrong with the record."
        )
    times = {"prov:startTime": row.get("start"), "prov:endTime": row.get("end")}
    is_activity = row["kind"].value == "activity"
    table[node] = {
        name: time.value for name, time in times.items() if time is not None and is_activity
    }


def _add_attributes(
    document: dict[str, Any], names: Names, record: Record, relations: Sequence[Row]
) -> None:
    """Add every statement about a node that is no relation of PROV, as an attribute."""
    told = {
        (r["subject"], r[name])
        for r in relations
        for name in ("property", "qualifier")
        if name in r
    }
    found: dict[tuple[str, str], list[Any]] = defaultdict(list)
    for row in _rows(record, "prov-attributes"):
        if (row["node"], row["property"]) not in told:
            key = (names.of(row["node"].value), names.of(row["attribute"].value))
            found[key].append(_value(row["value"], names))
    for (node, attribute), values in found.items():
        for kind in ("entity", "activity", "agent"):
            if node in document[kind]:
                document[kind][node][attribute] = values[0] if len(values) == 1 else values


def _add_relations(document: dict[str, Any], names: Names, relations: Sequence[Row]) -> None:
    """Add each relation once; what is stated both ways is told as its qualified form has it."""
    qualified = {_ends(row) for row in relations if "qualifier" in row}
    for row in relations:
        if "qualifier" not in row and _ends(row) in qualified:
            continue
        ends = {row["from"].value: row["subject"], row["to"].value: row["value"]}
        made: dict[str, Any] = {f"prov:{n}": names.of(node.value) for n, node in ends.items()}
        for name in _MORE:
            if name in row:
                made[f"prov:{name}"] = _more(name, row[name], names)
        if "type" in row:
            made["prov:type"] = _value(row["type"], names)
        table = document[row["relation"].value]
        table[f"_:{row['relation'].value}{len(table) + 1}"] = made


def _ends(row: Row) -> tuple[Term, Term, Term]:
    return row["subject"], row["property"], row["value"]


def _more(name: str, term: Term, names: Names) -> Any:
    if name in _NAMED_BY_IDENTIFIER:
        return names.of(term.value)
    return term.value if name == "time" else _value(term, names)


def _value(term: Term, names: Names) -> Any:
    """Return a term as a value: an IRI without a prefix of ours as xsd:anyURI."""
    if not isinstance(term, ox.Literal):
        name = names.known(term.value)
        if name is None:
            return {"$": term.value, "type": "xsd:anyURI"}
        return {"$": name, "type": "prov:QUALIFIED_NAME"}
    if term.language:
        return {"$": term.value, "lang": term.language}
    if term.datatype == XSD.string:
        return term.value
    return {"$": term.value, "type": names.of(term.datatype.value)}
