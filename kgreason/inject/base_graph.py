"""The clean graph that faults are injected into, read once and looked at class by class."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pyoxigraph as ox

from kgreason.base.errors import OptionError
from kgreason.base.store import Term
from kgreason.base.terms import FORM_PREFIX, FORMS_GRAPH, PREFIXES, RDFS, TYPE, WORK
from kgreason.graph import load
from kgreason.graph.graph import exact, plain
from kgreason.inject import generated, network
from kgreason.inject.fault import Focus, Table, Values

LEAST: Final = 200
"""The least number of instances of a class that faults are injected into."""
_MADE: Final[Mapping[str, Callable[[int], ox.Store]]] = {
    "generated:": generated.store,
    "network:": network.store,
}
"""The graphs that are made up, by what their names begin with."""
_SCHEMA: Final = tuple(PREFIXES[p] for p in ("owl", "rdf", "rdfs", "sh"))


@dataclass
class BaseGraph:
    """A clean graph: its named graphs in a store, and the tables of its larger classes.

    `forms` gives back what storing rewrote: for each subject and predicate the literals as they
    were written, by the literal stored.
    """

    name: str
    store: ox.Store
    ontology: tuple[Path, ...]
    forms: dict[tuple[object, ox.NamedNode], dict[Term, list[Term]]]
    tables: list[Table]

    def quads(self) -> Iterator[ox.Quad]:
        """Return every quad as it was written."""
        for quad in self.store.quads_for_pattern(None, None, None, None):
            if quad.graph_name in WORK:
                continue
            kept = self.forms.get((quad.subject, quad.predicate))
            written = kept.get(plain(quad.object)) if kept else None
            if written is None:
                yield quad
            else:
                for form in written:
                    yield ox.Quad(quad.subject, quad.predicate, form, quad.graph_name)


def base_of(name: str, ontology: Sequence[Path] = ()) -> BaseGraph:
    """Read a graph: a file, a folder, or `generated:N` or `network:N` with N focus nodes.

    Raises GraphError for data that cannot be read, OptionError if no class has enough instances.
    """
    kind = _kind(name)
    if kind:
        store, forms = _MADE[kind](_number(name, kind)), {}
    else:
        graph = load([Path(name)], lenient=True)
        store, forms = graph.store.inner, _forms(graph.store.inner)
        store.clear_graph(ox.DefaultGraph())
        store.remove_graph(FORMS_GRAPH)
    tables = list(_tables(store, _subclasses(store, ontology)))
    if not tables:
        raise OptionError(f"{name}: no class has {LEAST} instances, so no fault can be injected.")
    return BaseGraph(_short(name), store, tuple(ontology), forms, tables)


def _kind(name: str) -> str | None:
    """Return what the name of a graph that is made up begins with; None for files."""
    return next((kind for kind in _MADE if name.startswith(kind)), None)


def _number(name: str, kind: str) -> int:
    text = name.removeprefix(kind)
    if not text.isdigit() or int(text) < LEAST:
        raise OptionError(f"{name}: write {kind}N with N at least {LEAST}.")
    return int(text)


def _short(name: str) -> str:
    if _kind(name):
        return name
    path = Path(name).resolve()
    generic = path.name.split(".")[0] in {"data", "before", "after", "concepts", "notices"}
    return path.parent.name if generic else path.name.split(".")[0]


def _forms(store: ox.Store) -> dict[tuple[object, ox.NamedNode], dict[Term, list[Term]]]:
    """Return what was written for each literal that storing rewrote."""
    written = [
        (q.subject, ox.NamedNode(q.predicate.value.removeprefix(FORM_PREFIX)), exact(q.object))
        for q in store.quads_for_pattern(None, None, None, FORMS_GRAPH)
    ]
    probe = ox.Store()
    distinct = list({form for _, _, form in written})
    node = WORK.probe
    probe.extend(ox.Quad(WORK[str(i)], node, form) for i, form in enumerate(distinct))
    stored = {
        distinct[int(q.subject.value.removeprefix(WORK.iri))]: plain(q.object)
        for q in probe
        if isinstance(q.subject, ox.NamedNode)
    }
    out: dict[tuple[object, ox.NamedNode], dict[Term, list[Term]]] = {}
    for subject, predicate, form in written:
        out.setdefault((subject, predicate), {}).setdefault(stored[form], []).append(form)
    return out


def _subclasses(store: ox.Store, ontology: Iterable[Path]) -> dict[ox.NamedNode, set[Focus]]:
    """Return each class with all classes above it, itself left out."""
    pairs = [
        (q.subject, q.object) for q in store.quads_for_pattern(None, RDFS.subClassOf, None, None)
    ]
    if ontology:
        background = load([Path(p) for p in ontology], lenient=True).store.inner
        pairs += [
            (q.subject, q.object)
            for q in background.quads_for_pattern(None, RDFS.subClassOf, None, None)
        ]
    above: dict[ox.NamedNode, set[Focus]] = defaultdict(set)
    for low, high in pairs:
        if isinstance(low, ox.NamedNode) and isinstance(high, ox.NamedNode):
            above[low].add(high)
    out: dict[ox.NamedNode, set[Focus]] = {}
    for low in list(above):
        seen: set[Focus] = set()
        todo = [low]
        while todo:
            for high in above.get(todo.pop(), ()):
                if high not in seen:
                    seen.add(high)
                    todo.append(high)
        out[low] = seen - {low}
    return out


def _tables(store: ox.Store, above: dict[ox.NamedNode, set[Focus]]) -> Iterator[Table]:
    members: dict[ox.NamedNode, set[ox.NamedNode]] = defaultdict(set)
    nameless: set[ox.NamedNode] = set()
    for quad in store.quads_for_pattern(None, TYPE, None, None):
        if not isinstance(quad.object, ox.NamedNode):
            continue
        for cls in (quad.object, *above.get(quad.object, ())):
            if isinstance(quad.subject, ox.NamedNode):
                members[cls].add(quad.subject)
            else:
                nameless.add(cls)
    for cls in sorted(members, key=lambda c: c.value):
        wanted = not cls.value.startswith(_SCHEMA) and cls not in nameless
        if wanted and len(members[cls]) >= LEAST:
            yield table(store, cls, members[cls])


def table(store: ox.Store, cls: ox.NamedNode, members: Iterable[ox.NamedNode]) -> Table:
    """Look at the nodes of a class."""
    nodes = sorted(members, key=lambda n: n.value)
    index = {node: place for place, node in enumerate(nodes)}
    values: dict[ox.NamedNode, Values] = {}
    graphs: dict[int, set[ox.NamedNode]] = {}
    for place, node in enumerate(nodes):
        for quad in store.quads_for_pattern(node, None, None, None):
            if isinstance(quad.graph_name, ox.NamedNode) and quad.graph_name not in WORK:
                held = values.setdefault(quad.predicate, {})
                held.setdefault(place, []).append((plain(quad.object), quad.graph_name))
                graphs.setdefault(place, set()).add(quad.graph_name)
    return Table(cls, nodes, index, values, graphs)
