"""What the tests of reports share: a small record written by hand, and a reader of pages."""

from html.parser import HTMLParser
from pathlib import Path
from typing import Final

import pyoxigraph as ox

from kgreason.record import Ledger, Record
from tests.audit_support import number

CASES: Final = Path(__file__).parent / "cases" / "report"
CASE: Final = ox.NamedNode("urn:kgreason:case:1")
TRAILS: Final = "https://w3id.org/trails#"
ATTACK: Final = "</script><script>alert(1)</script>"


def case() -> Record:
    """Give a fresh copy of the record of cases/report/ledger.ttl, and what a policy made of it."""
    ledger = Ledger.memory()
    delta = ox.NamedNode(f"{CASE.value}:reassessment:delta")
    for name, graph in (("ledger", CASE), ("reassessment", delta)):
        ledger.store.inner.load(
            path=str(CASES / f"{name}.ttl"), format=ox.RdfFormat.TURTLE, to_graph=graph
        )
    number(ledger.store, CASE)
    return Record(ledger.store, CASE)


class Page(HTMLParser):
    """Collects what a browser would see."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.words: list[str] = []
        self.feed(source)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {name: value or "" for name, value in attrs}))

    def handle_data(self, data: str) -> None:
        self.words.append(data)
