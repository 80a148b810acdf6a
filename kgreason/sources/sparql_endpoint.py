"""A SPARQL endpoint as a source: its literals, cited by node and property.

It is sent one SELECT with a limit for each look-up, by the SPARQL 1.1 Protocol, and nothing else.
No other host is asked, for redirections are not followed. The terms get into the query as RDF
literals.
"""

from collections.abc import Sequence
from typing import Final
from urllib.parse import urlsplit

from pyoxigraph import Literal

from kgreason.base.errors import OptionError
from kgreason.base.fetching import Fetch, SourceError
from kgreason.base.words import content
from kgreason.sources.passages import has_all
from kgreason.sources.reading_answers import json_object, objects, words
from kgreason.sources.works import Answer, Part, Work

PREFIX: Final = "sparql:"
"""What the name of such a source begins with; the address of the endpoint follows."""
HEADERS: Final = {"Accept": "application/sparql-results+json"}
PER_SECOND: Final = 1.0
_ROWS: Final = 200
_LEAST_WORDS: Final = 3


def address_of(name: str) -> str:
    """Return the address of an endpoint; raises OptionError for one of no use.

    A password in it would get into the record, and is refused.
    """
    address = name.removeprefix(PREFIX)
    parts = urlsplit(address)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise OptionError(f"--source {name}: give the address as sparql:https://HOST/PATH.")
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise OptionError(
            f"--source {PREFIX}{parts.scheme}://{parts.hostname}{parts.path}: give the address "
            "without a user name, a query and a fragment."
        )
    return address


class SparqlEndpoint:
    """An endpoint, behind a connection; what is said of one node is one work."""

    def __init__(self, name: str, fetch: Fetch) -> None:
        self.name = name
        self._fetch = fetch

    def search(self, terms: Sequence[str], most: int, /) -> Answer:
        """Return the nodes of which a text is said that has all the terms; raises SourceError."""
        text = self._fetch.get("", {"query": query_of(terms)})
        found: dict[str, list[Part]] = {}
        for row in _rows(text, self.name):
            node, said, by = (words(row.get(name)) for name in ("node", "text", "property"))
            long = len(said.split()) >= _LEAST_WORDS
            if node and long and has_all(said, terms):
                found.setdefault(node, []).append(Part(said, f"{by} at {self.name}"))
        works = [Work(node, "", tuple(parts), (f"node:{node}",)) for node, parts in found.items()]
        return Answer(tuple(sorted(works, key=lambda work: work.work)[:most]), self._fetch.taken())


def query_of(terms: Sequence[str]) -> str:
    """Return the SELECT for some terms: texts with a stem of each of their words, in any graph."""
    stems = sorted({_stem(word) for term in terms for word in content(term)})
    tests = " ".join(f"FILTER (CONTAINS(LCASE(STR(?text)), {Literal(stem)}))" for stem in stems)
    said = "{ ?node ?property ?text } UNION { GRAPH ?graph { ?node ?property ?text } }"
    return (
        f"SELECT DISTINCT ?node ?property ?text WHERE {{ {said} FILTER (ISLITERAL(?text)) {tests} "
        f"}} ORDER BY ?node ?property ?text LIMIT {_ROWS}"
    )


def _stem(word: str) -> str:
    """Return what the singular and the plural of a word begin with: study, studies."""
    return word.removesuffix("y") if len(word) > _LEAST_WORDS else word


def _rows(text: str, name: str) -> list[dict[str, str]]:
    """Return the rows of an answer in the SPARQL 1.1 Query Results JSON Format."""
    results = json_object(text, name).get("results")
    if not isinstance(results, dict) or "bindings" not in results:
        raise SourceError(f"{name}: the answer has no results.bindings.")
    return [
        {
            variable: term["value"]
            for variable, term in row.items()
            if isinstance(term, dict) and isinstance(term.get("value"), str)
        }
        for row in objects(results["bindings"], name)
    ]
