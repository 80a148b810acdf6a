"""Write a repair: as a patch, as an update, as mended data, or into the input itself."""

import gzip
import os
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

import pyoxigraph as ox

from kgreason.base.errors import OptionError, RunError
from kgreason.base.files import replace_file
from kgreason.base.store import Term
from kgreason.base.terms import FORM_PREFIX, FORMS_GRAPH, WORK
from kgreason.graph import Graph
from kgreason.graph.bounds import contents
from kgreason.graph.graph import exact
from kgreason.graph.load import FORMATS
from kgreason.repair.patch import Patch, as_rdf_patch, as_update, plain_names
from kgreason.shacl import Shapes
from kgreason.shacl.values import as_stored

PATCHES: Final = (".rdfp", ".ru")
DATA: Final = (".nq", ".nt", ".ttl", ".trig")
_MERGE: Final = ox.DefaultGraph()


def form_of(out: str) -> str:
    """Return the ending of a file to be written; raises OptionError for one that is not known."""
    ending = Path(out).suffix.lower()
    if ending not in (*PATCHES, *DATA):
        raise OptionError(
            f"{out}: the ending {ending or '(none)'} is not known; use .rdfp for an RDF Patch, .ru "
            f"for a SPARQL UPDATE, or {', '.join(DATA)} for the mended data."
        )
    return ending


def patch_text(graph: Graph, patch: Patch, ending: str, why: Sequence[str]) -> str:
    """Write a patch; raises OptionError where it cannot name what it changes."""
    write = as_rdf_patch if ending == ".rdfp" else as_update
    try:
        return write(patch, plain_names(graph), why)
    except ValueError as error:
        said = f"{error}; write the mended data (or shapes) instead, with --out FILE.ttl."
        raise OptionError(said[0].upper() + said[1:]) from error


def data_text(graph: Graph, ending: str) -> bytes:
    """Write the data of a graph as they are now, each literal as it was written.

    Triples of a file stand without a graph name, as they did. Formats without names of graphs hold
    the merge.
    """
    how = FORMATS[ending]
    if ending in {".ttl", ".nt"}:
        return ox.serialize(graph.exact_triples(), format=how) or b""
    nameless = plain_names(graph)
    quads = (
        ox.Quad(q.subject, q.predicate, q.object) if q.graph_name in nameless else q
        for q in quads_of(graph)
    )
    return ox.serialize(quads, format=how) or b""


def quads_of(graph: Graph, names: Iterable[ox.NamedNode] | None = None) -> Iterator[ox.Quad]:
    """Return the quads of named graphs of the data, each literal as it was written."""
    kept: dict[tuple[object, ox.NamedNode], list[Term]] = {}
    for quad in graph.store.quads(FORMS_GRAPH):
        predicate = ox.NamedNode(quad.predicate.value.removeprefix(FORM_PREFIX))
        kept.setdefault((quad.subject, predicate), []).append(exact(quad.object))
    for name in names if names is not None else graph.named_graphs():
        if name in WORK:
            continue
        for quad in graph.store.quads(name):
            forms = kept.get((quad.subject, quad.predicate), ())
            written = [form for form in forms if as_stored(form) == quad.object]
            if not written:
                yield quad
            for form in written:
                yield ox.Quad(quad.subject, quad.predicate, form, name)


def shapes_text(shapes: Shapes) -> bytes:
    """Write a shapes graph as Turtle."""
    made = ox.serialize(
        shapes.triples(), format=ox.RdfFormat.TURTLE, prefixes=_usable(shapes.prefixes)
    )
    return made or b""


def _usable(prefixes: dict[str, str]) -> dict[str, str]:
    return {prefix: iri for prefix, iri in prefixes.items() if prefix and iri}


def in_place(graph: Graph, patch: Patch) -> list[tuple[Path, Path]]:
    """Change the files that a patch is about; gives each with the backup of what it was.

    `graph` is mended already. A file is replaced as a whole or left as it is. Raises OptionError
    where a change lies in no file with one graph of its own.
    """
    sources = {s.iri: Path(s.path) for s in graph.sources}
    names = sorted({c.graph for c in patch.changes}, key=str)
    lost = [name for name in names if name not in sources]
    if lost:
        raise OptionError(
            f"{lost[0].value}: this graph is no file of its own, so it cannot be changed in place; "
            "write a patch or the mended data with --out."
        )
    for name in names:
        path = sources[name]
        if path.is_dir() or path.suffix.lower() in {".nq", ".trig"} or ".nq." in path.name.lower():
            raise OptionError(
                f"{path}: only files of triples are changed in place; use --out for this one."
            )
        if not os.access(path, os.W_OK) or not os.access(path.absolute().parent, os.W_OK):
            raise OptionError(f"{path}: no permission to write this file.")
    return [(sources[name], _rewritten(graph, name, sources[name])) for name in names]


def _rewritten(graph: Graph, name: ox.NamedNode, path: Path) -> Path:
    suffix = Path(path.name.lower().removesuffix(".gz")).suffix
    triples = [q.triple for q in quads_of(graph, [name])]
    prefixes: dict[str, str] = {}
    if suffix in {".ttl", ".rdf", ".owl"}:
        prefixes = _prefixes(path, suffix)
    content = ox.serialize(triples, format=FORMATS[suffix], prefixes=prefixes or None) or b""
    if path.name.lower().endswith(".gz"):
        content = gzip.compress(content, mtime=0)
    backup = _backup(path)
    write_whole(path, content)
    return backup


def _prefixes(path: Path, suffix: str) -> dict[str, str]:
    """Return the prefixes that a file declares, so that it reads as it did."""
    content = contents(path, most=sys.maxsize)  # it was read before, by the limit of that time
    parser = ox.parse(content, format=FORMATS[suffix], lenient=True, base_iri="file:///")
    for _ in parser:
        pass
    return _usable(dict(parser.prefixes))


def _backup(path: Path) -> Path:
    """Copy a file beside itself under a name that is free."""
    number, made = 1, path.with_name(f"{path.name}.bak")
    while made.exists():
        number += 1
        made = path.with_name(f"{path.name}.bak{number}")
    try:
        shutil.copy2(path, made)
    except OSError as error:
        raise RunError(f"{made}: no backup could be written ({error.strerror}).") from error
    return made


def write_whole(path: Path, content: bytes) -> None:
    """Write a file as a whole or not at all; raises RunError."""
    try:
        replace_file(path, content)
    except OSError as error:
        raise RunError(f"{path}: cannot be written ({error.strerror or error}).") from error
