"""Descriptions of sources, in the graph: those that come along, and those of a user's folders."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Final

import pyoxigraph as ox

from kgreason.base.errors import OptionError
from kgreason.base.resources import folder
from kgreason.base.store import Store
from kgreason.base.templates import Fragment, template
from kgreason.base.terms import RDFS, TRAILS, TYPE
from kgreason.base.words import content
from kgreason.record.modalities import notations_of_kinds
from kgreason.sources import sparql_endpoint
from kgreason.sources.document_folder import DESCRIPTION
from kgreason.sources.text_graph import PREFIX
from kgreason.test.plans import SourceAtHand

_FILE: Final = "sources.ttl"
_FOLDER_PRIORITY: Final = 100
_GRAPH_PRIORITY: Final = 90
_ENDPOINT_PRIORITY: Final = 80


@dataclass(frozen=True)
class Service:
    """A literature service as it is described: its name, label, address and pace."""

    name: str
    label: str
    address: str
    per_second: float


def services() -> dict[str, Service]:
    """Return the literature services that come along, by name."""
    store = _shipped()
    made = {}
    for quad in store.quads_for_pattern(None, TYPE, TRAILS.RetrievalSource, None):
        said = {
            q.predicate: q.object.value
            for q in store.quads_for_pattern(quad.subject, None, None, None)
            if isinstance(q.object, ox.Literal)
        }
        name, pace = said[TRAILS.sourceName], float(Decimal(said[TRAILS.perSecond]))
        made[name] = Service(name, said[RDFS.label], said[TRAILS.address], pace)
    return dict(sorted(made.items()))


def _shipped() -> ox.Store:
    store = ox.Store()
    store.load(path=str(folder("ontology") / _FILE), format=ox.RdfFormat.TURTLE)
    return store


class Described:
    """The descriptions of the sources that a user named, and the choice among them."""

    def __init__(self, names: Sequence[str]) -> None:
        self._store = ox.Store()
        shipped = _shipped()
        for number, name in enumerate(names, start=1):
            said = list(shipped.quads_for_pattern(None, TRAILS.sourceName, ox.Literal(name), None))
            if said:
                self._store.extend(shipped.quads_for_pattern(said[0].subject, None, None, None))
            elif name.startswith(sparql_endpoint.PREFIX):
                self._add(number, name, TRAILS.SparqlEndpoint, _ENDPOINT_PRIORITY, ())
            elif name.startswith(PREFIX):
                self._add(number, name, TRAILS.TextGraph, _GRAPH_PRIORITY, ())
            else:
                own = _own(Path(name) / DESCRIPTION)
                self._add(number, name, TRAILS.DocumentFolder, own[0], own[1])

    def _add(
        self, number: int, name: str, kind: ox.NamedNode, priority: int, cues: Sequence[str]
    ) -> None:
        node = ox.NamedNode(f"urn:kgreason:source:{number}")
        said: list[tuple[ox.NamedNode, ox.NamedNode | ox.Literal]] = [
            (TYPE, TRAILS.RetrievalSource),
            (TRAILS.sourceName, ox.Literal(name)),
            (TRAILS.sourceKind, kind),
            (TRAILS.priority, ox.Literal(priority)),
            # What a user brings is about what the user asks.
            (TRAILS.universal, ox.Literal(value=True)),
            *((TRAILS.domainCue, ox.Literal(cue)) for cue in cues),
        ]
        self._store.extend(ox.Quad(node, name_, value) for name_, value in said)

    def options(self, text: str) -> list[SourceAtHand]:
        """Return the sources at hand with what speaks for each of them, the best first."""
        words: list[ox.NamedNode | ox.Literal | Fragment] = [
            ox.Literal(word) for word in sorted(content(text))
        ]
        asked = template("context", "choose-sources").render(words=words)
        kinds = notations_of_kinds()
        return [
            SourceAtHand(
                row["name"].value,
                kinds[row["kind"].value],
                int(row["priority"].value),
                row["universal"].value == "true",
                int(row["matched"].value),
            )
            for row in Store(self._store, "the sources").select(asked)
        ]


def _own(path: Path) -> tuple[int, tuple[str, ...]]:
    """Return priority and cues of a folder, from its `source.ttl` where it has one.

    Raises OptionError for a file that is not one node with `trails:priority`, `trails:domainCue`.
    """
    if not path.is_file():
        return _FOLDER_PRIORITY, ()
    try:
        said = [
            quad.triple
            for quad in ox.parse(
                path=str(path), format=ox.RdfFormat.TURTLE, base_iri=path.resolve().as_uri()
            )
        ]
        (node,) = {t.subject for t in said if t.object == TRAILS.RetrievalSource}
        own = [t for t in said if t.subject == node and isinstance(t.object, ox.Literal)]
        numbers = [int(t.object.value) for t in own if t.predicate == TRAILS.priority]
    except (OSError, SyntaxError, ValueError) as error:
        raise OptionError(
            f"{path}: describe the folder as one trails:RetrievalSource, with a whole number as "
            "trails:priority and words as trails:domainCue."
        ) from error
    cues = {
        word for t in own if t.predicate == TRAILS.domainCue for word in content(t.object.value)
    }
    return (numbers or [_FOLDER_PRIORITY])[0], tuple(sorted(cues))
