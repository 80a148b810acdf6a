"""Paths through subclasses, spelled as lists of classes for an engine that gets such paths wrong.

Virtuoso 7.2.5 answers one such path right, two of them in one query wrong, and one within NOT
EXISTS mostly wrong, each without an error.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from typing import Final

import pyoxigraph as ox

from kgreason.base.templates import Fragment, template
from kgreason.endpoint.asking_endpoint import AskingEndpoint, batches
from kgreason.endpoint.dialect import Dialect
from kgreason.endpoint.paging import ROLE
from kgreason.shacl.constraint import Texts

_PATH: Final = re.compile(
    r"(\?\w+) (?:\(rdf:type/rdfs:subClassOf\*\)(?:\|work:none)?|rdf:type/rdfs:subClassOf\*) "
    r"<([^<>\s]+)> \."
)
_LEVELS: Final = 20  # of subclasses


class ClassLists:
    """Spells paths through subclasses for one endpoint; as they are where its dialect is right."""

    def __init__(self, asking: AskingEndpoint, dialect: Dialect) -> None:
        self.asking, self.dialect = asking, dialect
        self._known: dict[str, tuple[str, ...]] = {}

    def texts(self, texts: Texts) -> Texts:
        """Return the texts of a constraint with lists; raises SourceError."""
        return replace(
            texts, target=self.fragment(texts.target), violation=self.fragment(texts.violation)
        )

    def fragment(self, part: Fragment) -> Fragment:
        """Return a part of a query with lists; raises SourceError."""
        if not self.dialect.lists_classes:
            return part
        # No other part of the same query has the same variables.
        head = sha256(part.text.encode()).hexdigest()[:8]
        return Fragment(_PATH.sub(self._listed(f"?of{head}x"), part.text), part.prefixes)

    def _listed(self, head: str) -> Callable[[re.Match[str]], str]:
        def listed(found: re.Match[str]) -> str:
            classes = self._with_subclasses(found[2])
            if len(classes) == 1:
                return f"{found[1]} rdf:type <{found[2]}> ."
            variable = f"{head}{found.start()}"
            names = ", ".join(f"<{one}>" for one in classes)
            return f"{found[1]} rdf:type {variable} . FILTER ({variable} IN ({names}))"

        return listed

    def _with_subclasses(self, iri: str) -> tuple[str, ...]:
        """Return a class and those below it, at all levels."""
        if iri not in self._known:
            found, left = {iri}, {iri}
            for _ in range(_LEVELS):
                below = self._below(left) - found
                if not below:
                    break
                found |= below
                left = below
            self._known[iri] = tuple(sorted(found))
        return self._known[iri]

    def _below(self, iris: set[str]) -> set[str]:
        below: set[str] = set()
        for batch in batches(sorted(iris)):
            nodes: list[ox.NamedNode | ox.Literal | Fragment]
            nodes = [ox.NamedNode(one) for one in batch]
            query = template(ROLE, "known").render("subclasses", nodes=nodes)
            found = self.asking.nodes(query, "below")
            below.update(one.value for one in found if isinstance(one, ox.NamedNode))
        return below
