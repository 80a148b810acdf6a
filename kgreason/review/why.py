"""Why one node fails: the rules it breaks, the causes that hold it, else what it lacks."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

import pyoxigraph as ox

from kgreason.base.errors import OptionError
from kgreason.base.store import guarded
from kgreason.base.templates import template
from kgreason.base.terms import PREFIXES
from kgreason.context.symptom import Symptom
from kgreason.graph import Graph
from kgreason.graph.graph import plain
from kgreason.graph.names import local_name, path_name
from kgreason.report.entries import ReportedCause
from kgreason.report.focus_nodes import AtHand, FocusNode, described, seen_as
from kgreason.report.result import Result

_SECONDS: Final = 60.0
_TRIED: Final = 50
"""So many nodes that share equally many values are compared by their properties."""
_SHOWN: Final = 8


@dataclass(frozen=True)
class Difference:
    """A property with what the node says of it, and what the nearest passing node does."""

    field: str
    own: tuple[str, ...]
    other: tuple[str, ...]


@dataclass(frozen=True)
class BrokenRule:
    """A rule that the node breaks: the values at fault with their sources, and why.

    `causes` are those that hold the node, by name with what they say. Where none does, `nearest` is
    the passing node that shares most values with it, and `differences` tell the two apart: first
    what that one has and this one lacks.
    """

    rule: str
    field: str | None
    values: tuple[str, ...]
    sources: tuple[str, ...]
    causes: tuple[tuple[str, str], ...]
    nearest: str | None
    differences: tuple[Difference, ...]


@dataclass(frozen=True)
class NodeFindings:
    """What is wrong with a node: the rules it breaks, of how many it is looked at for.

    `passing` are causes whose region it is in although it passes, by name with what they say.
    """

    node: str
    looked_at: int
    broken: tuple[BrokenRule, ...]
    passing: tuple[tuple[str, str], ...]

    def as_dict(self) -> dict[str, Any]:
        """Return it for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        return "\n".join(self._lines()) + "\n"

    def _lines(self) -> Iterator[str]:
        if not self.looked_at:
            yield f"{self.node}: no rule looks at this node; it is no focus node of the shapes."
            return
        rules = f"{self.looked_at} rules that look at it"
        if self.looked_at == 1:
            yield f"{self.node} {'breaks' if self.broken else 'passes'} the rule that looks at it."
        elif not self.broken:
            yield f"{self.node} breaks none of the {rules}."
        else:
            yield f"{self.node} breaks {len(self.broken)} of the {rules}."
        for one in self.broken:
            yield ""
            yield from _told(one)
        for name, statement in self.passing:
            yield f"It passes, although {name} is about it: {statement}"


def _told(one: BrokenRule) -> Iterator[str]:
    where = f" in {', '.join(one.sources)}" if one.sources else ""
    field = "" if one.field is None else f"{path_name(one.field)} "
    at_fault = f"{field}{', '.join(one.values)}{where}" if one.values else f"described{where}"
    yield f"{one.rule} ({at_fault})"
    for name, statement in one.causes:
        yield f"  {name} is about it: {statement}"
    if one.causes:
        return
    yield "  No cause is about it."
    if one.nearest is None:
        yield "  No node that passes has a value in common with it."
        return
    yield f"  The nearest node that passes is {one.nearest}:"
    for each in one.differences[:_SHOWN]:
        own, other = (", ".join(said) or "nothing" for said in (each.own, each.other))
        yield f"  - {local_name(each.field)}: {other} there, {own} here"
    if not one.differences:
        yield "  - it says the same, as far as its own properties go"
    if len(one.differences) > _SHOWN:
        yield f"  - and {len(one.differences) - _SHOWN} properties more"


def why(result: Result, name: str) -> NodeFindings:
    """Return why a node fails. Its name is an IRI, a prefixed name, `_:label`, or a local name.

    Raises OptionError where no node of the data has the name, or several have.
    """
    at_hand = result.at_hand
    if at_hand is None:
        raise OptionError("The data are not at hand, and without them nothing is known of a node.")
    node = _found(at_hand, name)
    named = str(node) if isinstance(node, ox.BlankNode) else node.value
    holding = _holding(result, named)
    broken, passing = [], dict[str, str]()
    known = {one.constraint.key: iri for iri, one in seen_as(at_hand, result.record).items()}
    names = {one.id: one.name for one in result.symptoms}
    looked_at = 0
    for seen in at_hand.observed.symptoms:
        iri = known.get(seen.constraint.key, "")
        causes = [(one.id, one.statement) for one in holding.get(iri, ())]
        if node in seen.failing:
            looked_at += 1
            (one,) = described(at_hand, iri, seen, [node])
            broken.append(_broken(at_hand.graph, names[iri], seen, one, node, causes))
        elif _looked_at(at_hand.graph, seen, node):
            looked_at += 1
            passing |= dict(causes)
    return NodeFindings(named, looked_at, tuple(broken), tuple(passing.items()))


Node = ox.NamedNode | ox.BlankNode


def _found(at_hand: AtHand, name: str) -> Node:
    """Return the node of the data that is named so."""
    text = name.strip()
    inner = at_hand.graph.store.inner
    hidden = at_hand.graph.hidden
    for meant in _meant(at_hand, text):
        term = meant if hidden is None else hidden.term(meant)
        if (
            not isinstance(term, ox.Literal)
            and next(inner.quads_for_pattern(term, None, None, None), None) is not None
        ):
            return term
    focus = {
        node
        for seen in at_hand.observed.symptoms
        for node in seen.failing
        if isinstance(node, ox.NamedNode) and local_name(node.value) == text
    }
    if len(focus) == 1:
        return focus.pop()
    if focus:
        several = ", ".join(sorted(node.value for node in focus)[:3])
        raise OptionError(f"{name}: several nodes have this name ({several}); give the whole IRI.")
    raise OptionError(
        f"{name}: no node that fails is called so, and no IRI of the data is just that; give the "
        "whole IRI of a node that passes, as the data have it."
    )


def _meant(at_hand: AtHand, text: str) -> Iterator[Node]:
    if text.startswith("_:"):
        yield ox.BlankNode(text[2:])
        return
    prefixes = dict(PREFIXES)
    for seen in at_hand.observed.symptoms:
        if seen.constraint.shapes is not None:
            prefixes |= seen.constraint.shapes.prefixes
    prefix, colon, local = text.partition(":")
    for iri in (text.removeprefix("<").removesuffix(">"), prefixes.get(prefix, "") + local):
        if colon:
            try:
                yield ox.NamedNode(iri)
            except ValueError:
                continue


def _holding(result: Result, node: str) -> Mapping[str, list[ReportedCause]]:
    """Return the causes whose region the node is in, by the symptom."""
    out: dict[str, list[ReportedCause]] = {}
    for cause in result.causes:
        for one in result.nodes(cause):
            if one.node == node and cause not in out.setdefault(one.symptom, []):
                out[one.symptom].append(cause)
    return out


def _looked_at(graph: Graph, seen: Symptom, node: Node) -> bool:
    if isinstance(node, ox.BlankNode):
        return False
    text = template("context", "looked-at").render(target=seen.constraint.target, node=node)
    where = seen.constraint.label
    return guarded(lambda: graph.store.ask(text), _SECONDS, where)


def _broken(
    graph: Graph,
    name: str,
    seen: Symptom,
    one: FocusNode,
    node: Node,
    causes: Sequence[tuple[str, str]],
) -> BrokenRule:
    nearest = None
    if not causes and isinstance(node, ox.NamedNode):
        nearest = _nearest(graph, seen, node)
    sources = dict.fromkeys(row for _, row in one.statements if row)
    return BrokenRule(
        name,
        one.field,
        one.values,
        tuple(source.removeprefix("urn:src:") for source in sources),
        tuple(causes),
        None if nearest is None else nearest.value,
        () if nearest is None else tuple(_differences(graph, seen, node, nearest)),
    )


def _nearest(graph: Graph, seen: Symptom, node: ox.NamedNode) -> ox.NamedNode | None:
    """Return the passing node that shares most values, of several the one most alike in kind."""
    text = template("context", "alike").render(target=seen.constraint.target, node=node)
    rows = guarded(lambda: graph.store.select(text), _SECONDS, seen.constraint.label)
    passing = [
        (int(row["shared"].value), row["focus"])
        for row in rows
        if isinstance(row["focus"], ox.NamedNode) and row["focus"] not in seen.failing
    ]
    if not passing:
        return None
    equal = [focus for shared, focus in passing if shared == passing[0][0]][:_TRIED]
    own = set(_said(graph, node))
    best = max(equal, key=lambda focus: -len(own ^ set(_said(graph, focus))))
    return ox.NamedNode(best.value)


def _said(graph: Graph, node: Any) -> dict[ox.NamedNode, list[str]]:
    """Return what a node says of itself, by property."""
    found: dict[ox.NamedNode, list[str]] = {}
    for quad in graph.store.inner.quads_for_pattern(node, None, None, ox.DefaultGraph()):
        term = plain(quad.object)
        text = _inner(graph, term) if isinstance(term, ox.BlankNode) else term.value
        found.setdefault(quad.predicate, []).append(text)
    return {predicate: sorted(values) for predicate, values in found.items()}


def _inner(graph: Graph, node: ox.BlankNode) -> str:
    """Return what a blank node says, in place of its name, which says nothing to anybody."""
    said = (
        f"{local_name(quad.predicate.value)} {getattr(plain(quad.object), 'value', '…')}"
        for quad in graph.store.inner.quads_for_pattern(node, None, None, ox.DefaultGraph())
    )
    return f"[{'; '.join(sorted(said)[:_SHOWN])}]"


def _differences(graph: Graph, seen: Symptom, node: Node, nearest: Node) -> Iterator[Difference]:
    """Return what tells two nodes apart: what the node lacks first, then the constrained path."""
    own, other = _said(graph, node), _said(graph, nearest)
    path = seen.constraint.path
    constrained = None if path is None else path.predicate
    every = sorted(
        {*own, *other}, key=lambda p: (p in own, p not in other, p != constrained, p.value)
    )
    for predicate in every:
        here, there = own.get(predicate, []), other.get(predicate, [])
        if here != there:
            yield Difference(predicate.value, tuple(here), tuple(there))
