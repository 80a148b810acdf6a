"""Read data into a scratch copy: files, folders, or an Oxigraph store folder."""

import hashlib
import itertools
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final
from urllib.parse import quote

import pyoxigraph as ox

from kgreason.base.errors import GraphError
from kgreason.base.store import Store
from kgreason.base.terms import OWL, WORK
from kgreason.graph.bounds import MOST_BYTES, blocks, contents
from kgreason.graph.forms import Forms
from kgreason.graph.given import PREFIX, Objects, gone, is_given
from kgreason.graph.graph import Graph, Source
from kgreason.graph.reading import (
    Mender,
    as_utf8,
    explain,
    is_plain,
    is_turtle,
    relative_base,
    sound,
)

FORMATS: Final = {
    ".ttl": ox.RdfFormat.TURTLE,
    ".nt": ox.RdfFormat.N_TRIPLES,
    ".nq": ox.RdfFormat.N_QUADS,
    ".trig": ox.RdfFormat.TRIG,
    ".rdf": ox.RdfFormat.RDF_XML,
    ".owl": ox.RdfFormat.RDF_XML,
    ".jsonld": ox.RdfFormat.JSON_LD,
}
LINES: Final = {ox.RdfFormat.N_TRIPLES, ox.RdfFormat.N_QUADS}
"""The formats of one statement a line."""
_CHUNK: Final = 5_000
_GROUP: Final = 200
BASE: Final = "file:///"
"""What stands before the name of a file that IRIs are relative to."""
_OWN: Final = WORK.iri


@dataclass(frozen=True)
class File:
    """A file of data, or an object that is read as one."""

    path: Path
    name: str  # relative to DATA, as it stands in the graph IRI
    content: bytes | None = None  # of an object, which is no file
    lost: bool = False
    notice: str | None = None
    turtle: bool = False  # though its ending says something else

    @property
    def quoted(self) -> str:
        """The name as part of an IRI."""
        return _quoted(self.name)

    @property
    def iri(self) -> ox.NamedNode:
        """The named graph of its triples."""
        return ox.NamedNode("urn:src:" + self.quoted)

    @property
    def format(self) -> ox.RdfFormat:
        """How it is written, by its ending."""
        return ox.RdfFormat.TURTLE if self.turtle else FORMATS[_suffix(self.path)]

    def within(self, folder: str) -> "File":
        """Return the same file under a name in a folder."""
        return replace(self, name=f"{folder}/{self.name}")


def _quoted(name: str) -> str:
    """Return a file's name as part of an IRI; names need not be valid text."""
    return quote(os.fsencode(name), safe="/-._~")


def _suffix(path: Path) -> str:
    name = path.name.lower().removesuffix(".gz")
    return Path(name).suffix


def load(
    data: Sequence[Path],
    *,
    ontology: Sequence[Path] = (),
    lenient: bool = False,
    most: int = MOST_BYTES,
    objects: Objects = MappingProxyType({}),
) -> Graph:
    """Read every file of `data` and `ontology` into one graph.

    Triples without a graph name get a named graph for their file. With `lenient`, IRIs are taken as
    they are and lines that cannot be read are passed over and counted. No packed file may hold more
    than `most` bytes. What is among `objects` is no file. Raises GraphError, which names the file
    and line.
    """
    files = files_in(data, objects)
    stores = [path for path in data if is_store(path)]
    background = files_in(ontology, objects)
    if not files and not stores:
        raise GraphError(
            f"There is no RDF in {_names(data)}; give files that end in "
            f"{', '.join(FORMATS)} (also .gz), a folder of them, or an Oxigraph store folder."
        )
    loader = _Loader(lenient=lenient, most=most)
    for file in files:
        loader.file(file)
    for path in stores:
        loader.folder(path)
    if loader.count == 0:
        said = f" {loader.notices[0]}" if loader.notices else ""
        raise GraphError(f"There are no triples in {_names(data)}; is it the right file?{said}")
    for file in background:
        loader.file(file.within("ontology"))
    return loader.finish()


def passed_over(data: Sequence[Path]) -> tuple[int, list[str]]:
    """Return how many files of folders are read, and the names of those whose ending is not known.

    What begins with a dot, and what lies in a folder that does, is no data: it is not read either.
    """
    read, others = 0, []
    for folder in (one for one in data if one.is_dir() and not is_store(one)):
        for path in _inside(folder):
            if _suffix(path) in FORMATS:
                read += 1
            else:
                others.append(path.relative_to(folder).as_posix())
    return read, others


def _inside(folder: Path) -> list[Path]:
    """Return the files of a folder in order, without those that a dot hides."""
    return sorted(
        path
        for path in folder.rglob("*")
        if not any(part.startswith(".") for part in path.relative_to(folder).parts)
        and path.is_file()
    )


def digest(
    data: Sequence[Path],
    *,
    ontology: Sequence[Path] = (),
    most: int = MOST_BYTES,
    objects: Objects = MappingProxyType({}),
) -> str:
    """Return the fingerprint that `load` would record for these files, without loading them."""
    files = (*files_in(data, objects), *files_in(ontology, objects))
    stores = [path for path in data if is_store(path)]
    parts = []
    for file in files:
        whole = hashlib.sha256()
        for block in blocks(file.path, most) if file.content is None else (file.content,):
            whole.update(block)
        parts.append(whole.hexdigest())
    for path in stores:
        seal = _Sum()
        for _ in seal.over(opened(path)):
            pass
        parts.append(seal.hexdigest())
    return _fingerprint(parts)


def _names(paths: Sequence[Path]) -> str:
    return ", ".join(str(path) for path in paths)


def is_store(path: Path) -> bool:
    """Check whether a path is the folder of an Oxigraph store."""
    return path.is_dir() and (path / "CURRENT").is_file()


def files_in(paths: Sequence[Path], objects: Objects = MappingProxyType({})) -> list[File]:
    """Return the files that some paths name, those of folders in their order; stores are none.

    What is among `objects` is no file. Raises GraphError for a path that is not there, or an ending
    that is not known.
    """
    files: list[File] = []
    for path in paths:
        # Unlike Path.exists, lexists never raises.
        if str(path) not in objects and not os.path.lexists(path):
            if is_given(str(path)):
                raise gone(str(path))
            raise GraphError(f"{path}: there is no such file or folder.")
    folders = [p for p in paths if p.is_dir() and not is_store(p)]
    for path in paths:
        if is_store(path):
            continue
        known = objects.get(str(path))
        if known is not None:
            name = known.name.removeprefix(PREFIX)
            files.append(File(path, name, known.content, known.lost, known.notice))
        elif path in folders:
            # Several folders may hold files of the same name; their own names keep them apart.
            prefix = f"{path.name}/" if len(folders) > 1 else ""
            inside = [p for p in _inside(path) if _suffix(p) in FORMATS]
            files += [File(p, prefix + p.relative_to(path).as_posix()) for p in inside]
        elif _suffix(path) in FORMATS:
            files.append(File(path, path.name))
        else:
            raise GraphError(
                f"{path}: the ending {path.suffix or '(none)'} is not known; "
                f"use one of {', '.join(FORMATS)}, each also with .gz."
            )
    return _distinct(files)


def _distinct(files: list[File]) -> list[File]:
    taken: set[str] = set()
    out = []
    for file in files:
        name, number = file.name, 2
        while name in taken:
            name, number = f"{file.name}~{number}", number + 1
        taken.add(name)
        out.append(replace(file, name=name))
    return out


def opened(path: Path) -> ox.Store:
    """Open a store folder read-only; raises GraphError where it is none."""
    try:
        return ox.Store.read_only(str(path))
    except (OSError, RuntimeError) as error:
        raise GraphError(f"{path}: the store folder cannot be opened ({error}).") from error


def _fingerprint(parts: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(sorted(parts)).encode()).hexdigest()


class _Blanks:
    """Returns blank nodes the same labels at every reading, and different ones in every file.

    Line-based formats always write a label, which is kept; the labels of the others are made up by
    the parser, so they are numbered in their order.
    """

    def __init__(self, prefix: str, *, keep: bool) -> None:
        self._prefix, self._keep = prefix, keep
        self._known: dict[ox.BlankNode, ox.BlankNode] = {}

    def label(self, node: ox.BlankNode) -> ox.BlankNode:
        """Return the node's label in the scratch copy."""
        if self._keep:
            return ox.BlankNode(self._prefix + node.value) if self._prefix else node
        known = self._known.get(node)
        if known is None:
            known = ox.BlankNode(f"{self._prefix or 'f0_'}b{len(self._known)}")
            self._known[node] = known
        return known


class _Sum:
    """An order-free digest of quads, for stores that give them in no certain order."""

    def __init__(self) -> None:
        self._total = 0

    def over(self, quads: Iterable[ox.Quad]) -> Iterator[ox.Quad]:
        """Pass the quads on, counting each in."""
        for quad in quads:
            line = hashlib.sha256(str(quad).encode()).digest()
            self._total = (self._total + int.from_bytes(line, "big")) % (1 << 256)
            yield quad

    def hexdigest(self) -> str:
        """Return the digest as 64 hexadecimal figures."""
        return f"{self._total:064x}"


class _Loader:
    """Collects sources into one store."""

    def __init__(self, *, lenient: bool, most: int) -> None:
        self.lenient = lenient
        self.most = most
        self.store = ox.Store()
        self.forms = Forms()
        self.sources: list[Source] = []
        self.notices: list[str] = []
        self.mended: dict[str, str] = {}
        self.count = 0
        self.quoted = 0
        self.merged: set[ox.NamedNode] = set()
        self.lost = False

    def file(self, file: File) -> None:
        """Read one file; raises GraphError with its line."""
        content = contents(file.path, self.most) if file.content is None else file.content
        seal = hashlib.sha256(content).hexdigest()
        if not content.strip():
            raise GraphError(f"{file.path}: the file is empty.")
        file = replace(file, turtle=_suffix(file.path) == ".owl" and is_turtle(content))
        content = as_utf8(file.path, content, file.format)
        if base := relative_base(content, file.format):
            self.notices.append(
                f"{file.path}: its base <{base}> is no full IRI, so its relative IRIs name things "
                "of this file alone, and no other file can mean the same; write the base in full."
            )
        skipped = 0
        before = self.count
        mender = Mender(str(file.path), BASE, strict=not self.lenient)
        if self.lenient:
            skipped = self._tolerant(file, content, mender)
        else:
            try:
                if not (is_plain(content, file.format) and self._straight(file, content)):
                    quads = _parsed(file, content, mender)
                    self._take(self._named(quads, file.iri, self._blanks(file)))
            except (SyntaxError, ValueError, OSError) as error:
                why = explain(error, content, file.format, _remedy(file))
                raise GraphError(f"{file.path}: {why}") from error
        self.sources.append(Source(file.iri, str(file.path), seal, self.count - before, skipped))
        if skipped:
            what = "Lines" if file.format in LINES else "Statements at the end"
            self.notices.append(f"{file.path}: {what} passed over as unreadable: {skipped}.")
        if file.lost:
            self._lost(file.path)
        self.notices += ([] if file.notice is None else [file.notice]) + mender.notices()
        self.mended |= mender.iris()

    def _lost(self, path: Path) -> None:
        """Note that what was read has lost its lexical forms."""
        self.lost = True
        self.notices.append(
            f'{path}: a store has lost lexical forms (such as "05" or xsd:int); constraints on '
            "datatypes and patterns see the rewritten values, and what fails by those is passed "
            "over."
        )

    def _straight(self, file: File, content: bytes) -> bool:
        """Let the store itself read a file without blank nodes, which takes half the time."""
        how = _how(file)
        if self.store.contains_named_graph(file.iri):
            return False  # another source named a graph so; what that holds is merged in the end
        count = self.forms.scan(lambda: ox.parse(content, **how), self.store)
        if count is None:
            return False
        for graph in (file.iri, ox.DefaultGraph()):
            self.store.load(content, **how, to_graph=graph)
        self.merged.add(file.iri)
        self.count += count
        return True

    def folder(self, path: Path) -> None:
        """Copy an Oxigraph store folder, opened read-only."""
        iri = ox.NamedNode("urn:src:" + _quoted(path.name))
        before, seal, mender = self.count, _Sum(), Mender(str(path), BASE)
        try:
            self._take(self._named(mender.over(seal.over(opened(path))), iri))
        except (OSError, RuntimeError) as error:
            raise GraphError(f"{path}: the store folder cannot be read ({error}).") from error
        self.sources.append(Source(iri, str(path), seal.hexdigest(), self.count - before))
        self._lost(path)
        self.notices += mender.notices()
        self.mended |= mender.iris()

    def finish(self) -> Graph:
        """Merge all sources into the default graph and give the graph."""
        formed = self.forms.write(self.store)
        names = [g for g in self.store.named_graphs() if isinstance(g, ox.NamedNode)]
        data = [g for g in names if not g.value.startswith(_OWN)]
        left = [g for g in data if g not in self.merged]
        for start in range(0, len(left), _GROUP):
            group = left[start : start + _GROUP]
            self.store.update(" ;\n".join(f"ADD {g} TO DEFAULT" for g in group))
        if self.quoted:
            self.notices.append(f"{self.quoted} statements about triples (RDF 1.2) passed over.")
        graph = Graph(
            Store(self.store, "the data"),
            tuple(self.sources),
            _fingerprint(source.digest for source in self.sources),
            self.count,
            len(data),
            formed,
            self.notices,
            self.mended,
            self.lost,
            self.forms.beyond,
        )
        graph.notices += _missing_imports(graph)
        return graph

    def _named(
        self, quads: Iterable[ox.Quad], graph: ox.NamedNode, blanks: "_Blanks | None" = None
    ) -> Iterator[ox.Quad]:
        default, blank = ox.DefaultGraph(), ox.BlankNode
        for quad in quads:
            subject, predicate, value, name = quad
            if name == default:
                name = graph
            elif blanks and isinstance(name, blank):
                name = ox.NamedNode(f"{graph.value}#{blanks.label(name).value}")
            if blanks:
                if isinstance(subject, blank):
                    subject = blanks.label(subject)
                if isinstance(value, blank):
                    value = blanks.label(value)
            if isinstance(subject, ox.Triple) or isinstance(value, ox.Triple):
                self.quoted += 1
                continue
            yield ox.Quad(subject, predicate, value, name)

    def _take(self, quads: Iterable[ox.Quad]) -> None:
        iterator = iter(quads)
        while chunk := list(itertools.islice(iterator, _CHUNK)):
            self.forms.watch(chunk, self.store)
            if self.merged:  # a graph that gets more is merged again
                self.merged -= {q.graph_name for q in chunk}
            self.store.extend(chunk)
            self.count += len(chunk)

    def _blanks(self, file: File) -> "_Blanks":
        prefix = f"f{len(self.sources)}_" if self.sources else ""
        return _Blanks(prefix, keep=file.format in LINES)

    def _tolerant(self, file: File, content: bytes, mender: Mender) -> int:
        how = _how(file) | {"lenient": True}
        if file.format not in LINES:
            return self._as_far_as_it_goes(file, content, mender)
        good = sound(content, how)
        skipped = len(content.splitlines()) - len(good.splitlines())
        quads = mender.over(ox.parse(good, **how))
        self._take(self._named(quads, file.iri, self._blanks(file)))
        return skipped

    def _as_far_as_it_goes(self, file: File, content: bytes, mender: Mender) -> int:
        def until_error() -> Iterator[ox.Quad]:
            try:
                yield from ox.parse(content, **_how(file), lenient=True)
            except (SyntaxError, ValueError) as error:
                broken.append(error)

        broken: list[Exception] = []
        quads = mender.over(until_error())
        self._take(self._named(quads, file.iri, self._blanks(file)))
        if broken:
            why = explain(broken[0], content, file.format)
            self.notices.append(f"{file.path}: read up to an error: {why}")
        return len(broken)


def _parsed(file: File, content: bytes, mender: Mender) -> Iterator[ox.Quad]:
    """Parse strictly; JSON-LD leaves out what has a broken IRI without a word, so look at each."""
    if file.format == ox.RdfFormat.JSON_LD:
        return mender.over(ox.parse(content, **_how(file), lenient=True), content)
    return ox.parse(content, **_how(file))


def _remedy(file: File) -> str:
    """Tell what can be done about a file that ends a strict reading."""
    rest = "passes over such lines" if file.format in LINES else "takes what stands before it"
    return f"mend it there, or give --lenient, which {rest}"


def _how(file: File) -> dict[str, Any]:
    base = None if file.format in LINES else BASE + _quoted(file.name)
    return {"format": file.format, "base_iri": base}


def _missing_imports(graph: Graph) -> list[str]:
    there = {s.value for s in graph.named_graphs()}
    wanted = {
        q.object.value
        for q in graph.store.inner.quads_for_pattern(None, OWL.imports, None, ox.DefaultGraph())
        if isinstance(q.object, ox.NamedNode)
    }
    known = {
        iri
        for iri in wanted
        if iri in there
        or any(
            True
            for _ in graph.store.inner.quads_for_pattern(
                ox.NamedNode(iri), None, None, ox.DefaultGraph()
            )
        )
    }
    return [
        f"owl:imports <{iri}> is not among the data; give it with --ontology if it matters."
        for iri in sorted(wanted - known)
    ]
