"""What a model is shown of the data: the discovery half alone, within so many tokens, as lines.

Every line is JSON or made of counts and names, so that a line end in the data ends no line here.
"""

import json
from collections.abc import Iterator
from typing import Final

from pyoxigraph import BlankNode, DefaultGraph, Literal, NamedNode

from kgreason.base.store import Term
from kgreason.context.view import View
from kgreason.graph.marks import Focus, places
from kgreason.graph.names import Names
from kgreason.model.options import Offer, Options, Told
from kgreason.model.spending import estimate
from kgreason.shacl import names as symptom_names

TOKENS: Final = 6000
"""Tokens that the summary may have, as it is estimated."""
_SAMPLES: Final = 4
_STATEMENTS: Final = 14
_NEAR: Final = 6
_LONG: Final = 120


def summary(view: View, options: Options, names: Names, tokens: int = TOKENS) -> str:
    """Return the summary, the most important lines first, cut where the tokens end."""
    out: list[str] = []
    used = 0
    for line in _lines(view, options, names):
        used += estimate(line) + 1
        if used > tokens:
            out.append("(more was cut: the summary is full)")
            break
        out.append(line)
    return "\n".join(out)


def _lines(view: View, options: Options, names: Names) -> Iterator[str]:
    half = view.marks.node.discovery_mask
    failing = view.marks.failing_mask & half
    rule = view.constraint
    yield f"RULE {_quoted(symptom_names([rule])[0])}"
    for kind, term in sorted(
        (str(k), t) for k, several in rule.parameters.items() for t in several
    ):
        yield f"  asks {names(NamedNode(kind.strip('<>')))} {_term(term)}"
    yield f"NODES {half.bit_count()} are shown, {failing.bit_count()} of them fail."
    if view.marks.population.everyone.bit_count() < len(view.marks.population.nodes):
        yield "  What causes found before explain is left out; these are left over."
    yield from _sources(view)
    yield "PATHS from a node, with values and how many of the nodes that have them fail:"
    for offer in options.offers:
        yield _offered(offer)
    yield "STANDING OUT most by itself (which may be chance, or only go with the cause):"
    yield from _outstanding(options)
    yield from _examples(view, "FAILING", failing)
    yield from _examples(view, "PASSING", half & ~failing)


def _sources(view: View) -> Iterator[str]:
    graphs = view.graph.named_graphs()
    yield f"SOURCES {len(graphs)} named graphs: {', '.join(_quoted(g.value) for g in graphs[:8])}"


def _offered(offer: Offer) -> str:
    parts = [f"{offer.name} {_quoted(offer.words)} ({offer.reached} nodes)"]
    if offer.ends:
        parts.append("values " + ", ".join(map(_counted, offer.ends)))
    if offer.pieces:
        parts.append("words " + ", ".join(map(_counted, offer.pieces)))
    if offer.bounds:
        parts.append("bounds " + ", ".join(_term(bound) for bound in offer.bounds))
    return "; ".join(parts)


def _counted(told: Told) -> str:
    return f"{_term(told.term)} {told.failing}/{told.inside}"


def _outstanding(options: Options) -> Iterator[str]:
    """Return the single values with the most failing nodes among few others."""
    found = [
        (told.failing**2 / max(1, told.inside), offer, test, told)
        for offer in options.offers
        for test, several in (("equals", offer.ends), ("contains", offer.pieces))
        for told in several
    ]
    found.sort(key=lambda each: (-each[0], each[1].name, str(each[3].term)))
    for _, offer, test, told in found[:_NEAR]:
        yield f"  {offer.name} {test} {_counted(told)}"


def _examples(view: View, title: str, mask: int) -> Iterator[str]:
    """Return a few nodes of a set, each with what is said of it and of what it points at."""
    nodes = view.marks.population.nodes
    for place in list(places(mask))[:_SAMPLES]:
        focus = nodes[place]
        yield f"{title} {_term(focus)}"
        yield from _said(view, focus)


def _said(view: View, focus: Focus) -> Iterator[str]:
    found = view.graph.store.inner.quads_for_pattern(focus, None, None, DefaultGraph())
    for quad in sorted(found, key=str)[:_STATEMENTS]:
        if isinstance(quad.object, Literal | NamedNode | BlankNode):
            beyond = _label(view, quad.object)
            yield f"  {_term(quad.predicate)} {_term(quad.object)}{beyond}"


def _label(view: View, node: Literal | NamedNode | BlankNode) -> str:
    """Return what is said of a node two steps away, where it is short."""
    if isinstance(node, Literal):
        return ""
    inner = view.graph.store.inner
    said = [
        f"{_term(q.predicate)} {_term(q.object)}"
        for q in inner.quads_for_pattern(node, None, None, DefaultGraph())
        if isinstance(q.object, Literal)
    ]
    return f" ({'; '.join(sorted(said)[:3])})" if said else ""


def _term(term: Term) -> str:
    """Return a term on one line: an IRI in brackets, a literal as JSON has a text."""
    if isinstance(term, NamedNode):
        return f"<{_cut(term.value)}>"
    return _quoted(term.value) if isinstance(term, Literal) else f"_:{_cut(term.value)}"


def _quoted(text: str) -> str:
    return json.dumps(_cut(text), ensure_ascii=True)


def _cut(text: str) -> str:
    return text if len(text) <= _LONG else text[:_LONG] + "…"
