"""Write RDF so that the same statements give the same bytes, with the prefixes they use."""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Final

import pyoxigraph as ox

from kgreason.base.store import AnyTerm
from kgreason.base.terms import TYPE

_LOCAL: Final = re.compile(r"(?:[A-Za-z0-9_](?:[A-Za-z0-9_:-]*[A-Za-z0-9_-])?)?")
"""Local names that need no escapes in Turtle; there are more, but these are plain to see."""
_TYPED: Final = re.compile(r"(?P<text>\".*\"\^\^)<(?P<datatype>[^<>\"]*)>", re.DOTALL)


def n_quads(quads: Iterable[ox.Quad]) -> bytes:
    """Return quads as N-Quads, sorted."""
    return ox.serialize(sorted(quads, key=str), format=ox.RdfFormat.N_QUADS) or b""


def turtle(triples: Iterable[ox.Triple], prefixes: Mapping[str, str]) -> bytes:
    """Return triples as Turtle, sorted, with those of the prefixes that are used."""
    return "".join(_document(_triples(sorted(set(triples), key=str), prefixes), prefixes)).encode()


def trig(
    quads: Iterable[ox.Quad], graphs: Sequence[ox.NamedNode], prefixes: Mapping[str, str]
) -> bytes:
    """Return the quads of some named graphs as TriG, in the order of `graphs`, else sorted.

    Numbers and times are written as literals with a datatype and never bare, since some readers
    give a bare number another form, and so another hash.
    """
    ranked = sorted(set(quads), key=lambda quad: (graphs.index(_named(quad)), str(quad)))
    lines = []
    for graph, members in groupby(ranked, key=_named):
        lines.append(f"{_name(graph, prefixes)} {{\n")
        lines += [f"  {line}" for line in _triples([q.triple for q in members], prefixes)]
        lines.append("}\n")
    return "".join(_document(lines, prefixes)).encode()


def _named(quad: ox.Quad) -> ox.NamedNode:
    if not isinstance(quad.graph_name, ox.NamedNode):
        raise TypeError(f"{quad}: this is in no named graph.")
    return quad.graph_name


def _document(lines: Iterable[str], prefixes: Mapping[str, str]) -> list[str]:
    body = list(lines)
    text = "".join(body)
    head = [f"@prefix {p}: <{iri}> .\n" for p, iri in sorted(prefixes.items()) if f"{p}:" in text]
    return [*head, "\n", *body]


def _triples(triples: Sequence[ox.Triple], prefixes: Mapping[str, str]) -> list[str]:
    """Return the text of each subject, a line for each of its properties."""
    lines = []
    for subject, about in groupby(triples, key=lambda t: t.subject):
        parts = []
        for predicate, values in groupby(about, key=lambda t: t.predicate):
            said = " , ".join(_name(t.object, prefixes) for t in values)
            parts.append(f"{'a' if predicate == TYPE else _name(predicate, prefixes)} {said}")
        first = f"{_name(subject, prefixes)} "
        lines.append(first + " ;\n      ".join(parts) + " .\n")
    return lines


def _name(term: AnyTerm, prefixes: Mapping[str, str]) -> str:
    if isinstance(term, ox.NamedNode):
        return _short(term.value, prefixes) or str(term)
    found = _TYPED.fullmatch(str(term)) if isinstance(term, ox.Literal) else None
    if found is None:
        return str(term)
    return found["text"] + (_short(found["datatype"], prefixes) or f"<{found['datatype']}>")


def _short(iri: str, prefixes: Mapping[str, str]) -> str | None:
    """Return an IRI by the longest namespace that fits, None where none does."""
    fitting = [(len(space), p) for p, space in prefixes.items() if iri.startswith(space)]
    if not fitting:
        return None
    length, prefix = max(fitting)
    return f"{prefix}:{iri[length:]}" if _LOCAL.fullmatch(iri[length:]) else None
