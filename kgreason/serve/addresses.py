"""Where the pages are, and what nodes of a record are called on them."""

import re
from typing import Final
from urllib.parse import quote, unquote, urlencode

from kgreason.record import node_name

_NODE: Final = re.compile(r"urn:kgreason:(?:(?P<nonce>[0-9a-z]{8,64})(?::|$))?(?P<name>.*)")
_DRAWN: Final = re.compile("[0-9a-f]{32}")
"""What names an investigation, unless somebody gave it another name."""
_NUMBERED: Final = re.compile(r"(?P<kind>[a-z]+):(?P<number>\d+)")
_PAGES: Final = {"hypothesis": "hypotheses", "symptom": "symptoms", "evidence": "evidence"}
_OWN: Final = "urn:kgreason:"
_FILE: Final = "urn:src:"
_DATA_COLUMNS: Final = {"Cited", "Node"}
"""The columns that hold nodes of the graph under investigation."""


def place(nonce: str, *parts: str, **query: str) -> str:
    """Return the address of a page of an investigation."""
    path = "/".join(quote(part, safe="") for part in ("i", nonce, *parts))
    return f"/{path}" + (f"?{urlencode(query)}" if query else "")


def href(nonce: str, iri: str, column: str = "") -> str | None:
    """Return the page about a node; None where there is none.

    What another investigation of the ledgers wrote has its page there. Nodes of the graph under
    investigation have a page where the column holds such nodes.
    """
    found = _NODE.fullmatch(iri)
    if found is not None and (found["nonce"] == nonce or _DRAWN.fullmatch(found["nonce"] or "")):
        numbered = _NUMBERED.fullmatch(found["name"])
        if numbered is not None and numbered["kind"] in _PAGES:
            return place(found["nonce"], _PAGES[numbered["kind"]], numbered["number"])
        if not found["name"] and found["nonce"] != nonce:
            return place(found["nonce"])
        return place(found["nonce"], "provenance", node=iri)
    if column in _DATA_COLUMNS:
        return place(nonce, "node", node=iri)
    return place(nonce, "provenance", node=iri) if iri.startswith(_OWN) else None


def called(iri: str) -> str:
    """Return what a node of a record is called: H3, evidence 8, step 16; any other as it is.

    A source that is a file is called as it lay among the data.
    """
    if iri.startswith(_FILE):
        return unquote(iri.removeprefix(_FILE))
    found = _NODE.fullmatch(iri)
    if found is None or iri.startswith("urn:kgreason:blank:"):
        return node_name(iri)
    name = found["name"].replace(":", " ")
    return re.sub(r"^hypothesis (?=\d+$)", "H", name) or "the investigation"
