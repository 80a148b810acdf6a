"""Apply an operation of queries/inject to nodes: what it needs, and what it is given."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from random import Random
from typing import Final

import pyoxigraph as ox

from kgreason.base.store import Term
from kgreason.base.templates import Template, Value
from kgreason.base.terms import MARKS_GRAPH, TYPE, WORK, XSD
from kgreason.inject.dimensions import VOCABULARY
from kgreason.inject.fault import NODE_SHAPE, PROPERTY_SHAPE, Table, Target
from kgreason.inject.true_constraints import LANG_STRING, NUMBERS

ONTOLOGY_GRAPH: Final = WORK.ontology
SHAPES_GRAPH: Final = WORK.shapes
_LOOKED_AT: Final = 300
_COMMON: Final = 0.6
_STRICT: Final = 0.95
_TEXTS: Final = frozenset({XSD.string, LANG_STRING})
_SLIPS: Final = {
    XSD.integer: (XSD.string, XSD.decimal, XSD.double),
    XSD.decimal: (XSD.string, XSD.double),
    XSD.double: (XSD.string, XSD.decimal),
    XSD.date: (XSD.string, XSD.dateTime),
    XSD.dateTime: (XSD.string, XSD.date),
    XSD.string: (XSD.anyURI, XSD.token),
}
_NAMESPACES: Final = (
    ("http://", "https://"),
    ("https://", "http://"),
    ("http://", "http://www."),
    ("#", "/"),
    ("/", "#"),
)


class Unfit(Exception):  # noqa: N818 - a result of looking, not an error
    """The graph has no place for an operation; the message says why."""


def words(operation: Template, key: str) -> list[str]:
    """Return the words of a key in the header of an operation."""
    return operation.header[key].split()


def fits(operation: Template, target: Target, table: Table, store: ox.Store) -> bool:
    """Check whether an operation breaks a constraint, and finds the values it needs."""
    components = words(operation, "components")
    closed = components == ["Closed"] and target.component == "MinCount"
    if target.component not in components and not closed:
        return False
    some = [v for vs in list(table.values[target.path].values())[:_LOOKED_AT] for v, _ in vs]
    return any(
        all(_is(kind, v, target, store) for v in some) for kind in words(operation, "values")
    )


def _is(kind: str, value: Term, target: Target, store: ox.Store) -> bool:
    literal = isinstance(value, ox.Literal)
    datatype = value.datatype if isinstance(value, ox.Literal) else None
    found = {
        "any": True,
        "iri": isinstance(value, ox.NamedNode),
        "typed": literal and datatype != LANG_STRING,
        "language": datatype == LANG_STRING,
        "text": datatype in _TEXTS,
        "number": datatype in NUMBERS,
    }
    if kind != "thing":
        return found[kind]
    if not isinstance(value, ox.NamedNode) or target.value == target.cls:
        return False
    # A thing of which nothing but its class is said is gone when it loses the class.
    told = {q.predicate for q in store.quads_for_pattern(value, None, None, None)}
    return TYPE in told and len(told) > 1


def corrupt(
    store: ox.Store,
    operation: Template,
    corrupted: Iterable[ox.NamedNode],
    values: dict[str, Value],
) -> None:
    """Mark nodes, apply an operation to them, and take the marks away."""
    store.extend(ox.Quad(node, WORK.corrupted, WORK.fault, MARKS_GRAPH) for node in corrupted)
    store.update(operation.render(**values))
    store.remove_graph(MARKS_GRAPH)


def parameters(operation: Template, target: Target, table: Table, rng: Random) -> dict[str, Value]:
    """Draw what an operation asks for; raises Unfit where the data have nothing of the kind."""
    asked = _Asked(operation, target, table, rng)
    return {name: _DRAWN[name](asked) for name in operation.parameters}


@dataclass(frozen=True)
class _Asked:
    """What a parameter is drawn from."""

    operation: Template
    target: Target
    table: Table
    rng: Random


def _class(asked: _Asked) -> ox.NamedNode:
    """Return the class that the constraint asks for, else that of the focus nodes."""
    value = asked.target.value if asked.target.component == "Class" else None
    return value if isinstance(value, ox.NamedNode) else asked.table.cls


def _shape(asked: _Asked) -> ox.NamedNode:
    return NODE_SHAPE if words(asked.operation, "components") == ["Closed"] else PROPERTY_SHAPE


def _length(asked: _Asked) -> ox.Literal:
    """Return a number of letters that is less than the least allowed."""
    least = int(asked.target.value.value) if isinstance(asked.target.value, ox.Literal) else 0
    if least <= 1:
        raise Unfit("the texts are too short")
    return ox.Literal(asked.rng.randint(1, min(3, least - 1)))


def _second_source(asked: _Asked) -> ox.NamedNode:
    """Return one of the named graphs, or a new one where there is no other."""
    known = sorted({g for names in asked.table.graphs.values() for g in names}, key=str)
    new = ox.NamedNode("urn:src:second-register.ttl")
    return asked.rng.choice(known) if len(known) > 1 else new


def _sentinel(asked: _Asked) -> ox.Literal:
    numbers, texts = ("-1", "-999", "-9999"), ("N/A", "unknown", "-1", "???")
    number = words(asked.operation, "values") == ["number"]
    return ox.Literal(asked.rng.choice(numbers if number else texts))


def _namespace(asked: _Asked) -> ox.Literal:
    path, rng = asked.target.path, asked.rng
    own = path.value[: len(path.value) - len(local(path))]
    options = [f"{VOCABULARY}"]
    for old, new in _NAMESPACES:
        if old.startswith("http") and own.startswith(old):
            options.append(own.replace(old, new, 1))
        elif own.endswith(old):
            options.append(own[: -len(old)] + new)
    return ox.Literal(rng.choice(options))


def local(term: ox.NamedNode) -> str:
    """Return the last part of an IRI, after the last / # or :."""
    return max((term.value.rpartition(mark)[2] for mark in "/#:"), key=lambda t: -len(t))


def _slip(asked: _Asked) -> ox.NamedNode:
    own = asked.target.value
    if not isinstance(own, ox.NamedNode):
        raise Unfit("no datatype is known")
    return asked.rng.choice(_SLIPS.get(own, (XSD.string,)))


def _listed(asked: _Asked) -> Value:
    table, rng = asked.table, asked.rng
    common = [
        path
        for path in sorted(table.values, key=lambda p: p.value)
        if path != TYPE and len(table.values[path]) >= _COMMON * len(table.nodes)
    ]
    if not common:
        raise Unfit("no property is in common use")
    left_out = rng.choice(common)
    return [p for p in sorted(table.values, key=lambda p: p.value) if p not in {left_out, TYPE}]


def _bound(asked: _Asked) -> Value:
    """Return the bound of the constraint."""
    if not isinstance(asked.target.value, ox.Literal):
        raise Unfit("no bound is known")
    return asked.target.value


def _number(asked: _Asked) -> ox.Literal:
    """Return a limit that nearly all nodes are beyond."""
    operation, target, table = asked.operation, asked.target, asked.table
    held = table.values[target.path]
    size = len(table.nodes)
    if operation.name == "strict-count":
        counts = Counter(len({v for v, _ in vs}) for vs in held.values())
        for number in range(2, 6):
            below = sum(n for count, n in counts.items() if count < number) + size - len(held)
            if below >= _STRICT * size:
                return ox.Literal(number)
        raise Unfit("the number of values differs too much")
    lengths = sorted(min(len(v.value) for v, _ in vs) for vs in held.values())
    limit = lengths[int((1 - _STRICT) * len(lengths))] - 1
    if limit < 1:
        raise Unfit("the texts are too short")
    return ox.Literal(limit)


def _other(asked: _Asked) -> ox.NamedNode:
    operation, target, table, rng = asked.operation, asked.target, asked.table, asked.rng
    if operation.name == "wrong-predicate":
        return _other_predicate(target.path, table, rng)
    about = target.path
    if target.component == "Class" and isinstance(target.value, ox.NamedNode):
        about = target.value
    name = local(about)
    space = about.value[: len(about.value) - len(name)]
    if operation.name == "ontology-left-out":
        space = VOCABULARY
    new = {
        "inference-subproperty": f"{rng.choice(('main', 'actual', 'primary'))}{_upper(name)}",
        "inference-inverse": f"is{_upper(name)}Of",
        "inference-domain": rng.choice(("reference", "registeredAs")),
        "reference-retyped": rng.choice(("Document", "Thing", f"Old{name}")),
    }
    return ox.NamedNode(space + new.get(operation.name, f"{rng.choice(('Other', 'My'))}{name}"))


def _upper(name: str) -> str:
    return name[:1].upper() + name[1:]


def _other_predicate(path: ox.NamedNode, table: Table, rng: Random) -> ox.NamedNode:
    """Return a near name, a misspelling, or an unrelated name in the same namespace."""
    name = local(path)
    space = path.value[: len(path.value) - len(name)]
    place = rng.randrange(len(name)) if name else 0
    names = [
        rng.choice(("has", "old", "raw")) + _upper(name),
        name + rng.choice(("Value", "Code", "Text")),
        name[:place] + name[place + 1 :],
        rng.choice(("note", "field7", "remark", "info")),
    ]
    free = [n for n in names if n and ox.NamedNode(space + n) not in table.values and n != name]
    return ox.NamedNode(space + rng.choice(free))


_DRAWN: Final[Mapping[str, Callable[[_Asked], Value]]] = {
    "predicate": lambda asked: asked.target.path,
    "class": _class,
    "shape": _shape,
    "graph": _second_source,
    "ontology": lambda _: ox.NamedNode(VOCABULARY.rstrip("#")),
    "space": _namespace,
    "datatype": _slip,
    "listed": _listed,
    "used": lambda asked: [p for p in sorted(asked.table.values, key=str) if p != TYPE],
    "bound": _bound,
    "number": _number,
    "other": _other,
    "factor": lambda asked: ox.Literal(asked.rng.choice((10, 100, 1000))),
    "sentinel": _sentinel,
    "length": _length,
}
"""How a parameter of an operation is drawn, by its name."""
