"""The tools that are declared in ontology/planner.ttl, with scopes; and who may use them."""

from dataclasses import dataclass

import pyoxigraph as ox

from kgreason.base.extensions import active, cached
from kgreason.base.resources import folder
from kgreason.base.store import Term
from kgreason.base.terms import RDFS, SKOS, TRAILS, TYPE


@dataclass(frozen=True)
class Tool:
    """A tool as it is declared: its IRI, name, what it does, its scope, and its arguments.

    `beside_others` says that its scope lets it run in a process beside other tools.
    """

    iri: str
    name: str
    about: str
    scope: str
    takes: tuple[str, ...]
    beside_others: bool = False


@cached
def catalogue() -> ox.Store:
    """Return what is declared of tools, patterns and rules, with what extensions add."""
    store = ox.Store()
    own = [file for extension in active() for file in extension.patterns()]
    base = [folder("ontology") / f"{one}.ttl" for one in ("planner", "decisions", "patterns")]
    for file in (*base, *own):
        store.load(file.read_bytes(), ox.RdfFormat.TURTLE)
    return store


def tools_of(pattern: str) -> dict[str, Tool]:
    """Return the tools that the strategy of a pattern, an IRI, may call, by name."""
    store = catalogue()
    scopes = set(values(store, ox.NamedNode(pattern), TRAILS.mayUse))
    return {t.name: t for t in tools().values() if ox.NamedNode(t.scope) in scopes}


def scopes_of(pattern: str) -> tuple[str, ...]:
    """Return the IRIs of the scopes whose tools the strategy of a pattern, an IRI, may use."""
    found = values(catalogue(), ox.NamedNode(pattern), TRAILS.mayUse)
    return tuple(one.value for one in found)


def tools() -> dict[str, Tool]:
    """Return all tools by name."""
    store = catalogue()
    made = []
    for quad in store.quads_for_pattern(None, TYPE, TRAILS.Tool, None):
        node = quad.subject
        if isinstance(node, ox.NamedNode):
            takes = tuple(text(one) for one in values(store, node, TRAILS.takes))
            name, about, scope = (
                text(next(iter(values(store, node, p)), None))
                for p in (SKOS.notation, RDFS.comment, TRAILS.scope)
            )
            beside = values(store, ox.NamedNode(scope), TRAILS.besideOthers)
            reads = any(text(one) in {"true", "1"} for one in beside)
            made.append(Tool(node.value, name, about, scope, takes, reads))
    return {one.name: one for one in sorted(made, key=lambda t: t.name)}


def values(store: ox.Store, node: Term, predicate: ox.NamedNode) -> list[Term]:
    """Return the values of a property, sorted."""
    if isinstance(node, ox.Literal):
        return []
    found = store.quads_for_pattern(node, predicate, None, None)
    return sorted((q.object for q in found if not isinstance(q.object, ox.Triple)), key=str)


def text(term: Term | None) -> str:
    """Return the text of a term, nothing for none."""
    return "" if term is None else term.value
