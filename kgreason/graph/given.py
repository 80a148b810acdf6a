"""Data given as objects, not as files: text, an rdflib graph, a pyoxigraph store.

Each is brought to bytes once and has a name, such as `given:data.nq`, under which it is read as a
file of that name would be.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias, TypeGuard

import pyoxigraph as ox

from kgreason.base.errors import GraphError, OptionError

if TYPE_CHECKING:
    import rdflib

PREFIX: Final = "given:"
_LINE: Final = re.compile(r"[\r\n]")
_ENDINGS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("turtle", "ttl"), ".ttl"),
    **dict.fromkeys(("n-triples", "ntriples", "nt"), ".nt"),
    **dict.fromkeys(("n-quads", "nquads", "nq"), ".nq"),
    **dict.fromkeys(("trig",), ".trig"),
    **dict.fromkeys(("xml", "rdf", "rdf/xml", "rdfxml"), ".rdf"),
    **dict.fromkeys(("json-ld", "jsonld"), ".jsonld"),
    **dict.fromkeys(("sparql", "rq"), ".rq"),
}
_NO_IRI: Final = re.compile(r"[\x00-\x20<>\"{}|^`\\]")
_LABEL: Final = re.compile(r"[A-Za-z0-9_]+")
_ESCAPES: Final = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r"}


@dataclass(frozen=True)
class Text:
    """RDF as text, or a query; `format` is turtle, trig, n-triples, n-quads, xml, json-ld, sparql.

    Use it for a text on one line, or in another format than TriG: any other `str` with a line end
    is taken as TriG, and one without as a path.
    """

    content: str
    format: str = "turtle"


Source: TypeAlias = "str | Path | Text | rdflib.Graph | ox.Store"
"""A path, a text, or an object that holds RDF; an `rdflib.Dataset` is an `rdflib.Graph`."""
Sources: TypeAlias = "Source | Sequence[Source]"


class Given(NamedTuple):
    """An object as bytes, with the name it is read under; `lost`: a store has rewritten literals.

    `notice` is what there is to say of it.
    """

    name: str
    content: bytes
    lost: bool = False
    notice: str | None = None


Objects = Mapping[str, Given]
"""Objects by their names."""


def is_given(name: str) -> bool:
    """Check whether a name in a request is that of an object."""
    return name.startswith(PREFIX)


def gone(name: str) -> GraphError:
    """Return the error for an object that a record names and nobody has given again."""
    return GraphError(
        f"{name}: this was given as an object of a Python program, not as a file, so it cannot be "
        "read again from a record; give it again, as in "
        "kgreason.resume(ledger, data=…, shapes=…)."
    )


def is_text(given: str, *, query: bool = False) -> bool:
    """Check whether a `str` is a text and no path: it has a line end, or a query has a brace."""
    return _LINE.search(given) is not None or (query and "{" in given)


def given_as(name: str, source: object) -> Given | None:
    """Bring an object to bytes under a name without ending; None for a path.

    Raises OptionError for what is no source.
    """
    query = name in {"outcome", "population"}
    if isinstance(source, str) and is_text(source, query=query):
        source = Text(source, "sparql" if query else "trig")
    if isinstance(source, str | Path):
        return None
    if isinstance(source, Text):
        ending = _ENDINGS.get("sparql" if query else source.format.lower())
        if ending is None or (ending == ".rq") != query:
            raise OptionError(f"Text(…, format={source.format!r}) does not fit {name}=.")
        return Given(f"{PREFIX}{name}{ending}", source.content.encode("utf-8", "surrogatepass"))
    if query:
        raise OptionError(f"{name}= takes a path or the text of a query.")
    if isinstance(source, ox.Store):
        lines = ox.serialize(source, format=ox.RdfFormat.N_QUADS) or b""
        return Given(f"{PREFIX}{name}.nq", _sorted(lines.decode().splitlines()), lost=True)
    if _is_graph(source):
        return _of_rdflib(name, source)
    kind = type(source).__qualname__
    raise OptionError(
        f"{name}= takes paths, kgreason.Text, an rdflib.Graph or a pyoxigraph.Store, not {kind}."
    )


def _is_graph(source: object) -> "TypeGuard[rdflib.Graph]":
    import rdflib  # noqa: PLC0415 - slow to load, and only needed for its own objects

    return isinstance(source, rdflib.Graph)


def _sorted(lines: list[str]) -> bytes:
    return "".join(f"{line}\n" for line in sorted(lines)).encode("utf-8", "surrogatepass")


def _of_rdflib(name: str, graph: "rdflib.Graph") -> Given:
    import rdflib  # noqa: PLC0415 - as above

    lines = [" ".join((*map(_term, row), ".")) for row in _rows(graph)]
    notice = None
    if rdflib.NORMALIZE_LITERALS and any('"^^<' in line for line in lines):
        notice = (
            f"{PREFIX}{name}.nq: rdflib rewrites literals while it parses (such as "
            '"05" to "5"), unless rdflib.NORMALIZE_LITERALS is False before; constraints on '
            "patterns and lengths see what it made of them."
        )
    return Given(f"{PREFIX}{name}.nq", _sorted(lines), notice=notice)


def _rows(graph: "rdflib.Graph") -> Iterator[tuple[Any, ...]]:
    """Return triples of an rdflib graph, each with its named graph where it stands in one."""
    import rdflib  # noqa: PLC0415 - as above
    from rdflib.graph import DATASET_DEFAULT_GRAPH_ID  # noqa: PLC0415

    if not isinstance(graph, rdflib.ConjunctiveGraph):
        yield from graph
        return
    plain = {DATASET_DEFAULT_GRAPH_ID, getattr(graph, "default_graph", graph).identifier}
    for subject, predicate, value, context in graph.quads():
        where = getattr(context, "identifier", context)
        known = where is None or where in plain
        yield (subject, predicate, value) if known else (subject, predicate, value, where)


def _term(term: Any) -> str:
    """Return a term of rdflib as in N-Quads; what is no valid IRI is left for the parser to say."""
    import rdflib  # noqa: PLC0415 - as above

    if isinstance(term, rdflib.URIRef):
        return f"<{_NO_IRI.sub(_escaped, str(term))}>"
    if isinstance(term, rdflib.BNode):
        label = str(term)
        return f"_:{label if _LABEL.fullmatch(label) else sha256(label.encode()).hexdigest()}"
    if isinstance(term, rdflib.Literal):
        text = "".join(_ESCAPES.get(sign, sign) for sign in str(term))
        if term.language:
            return f'"{text}"@{term.language}'
        return f'"{text}"' + (f"^^{_term(term.datatype)}" if term.datatype is not None else "")
    raise GraphError(f"A term of the rdflib graph is no RDF term: {term!r}.")


def _escaped(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04X}"
