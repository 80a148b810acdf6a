"""Bulk-load RDF files that are larger than memory into a store on disk, each file once.

A file is loaded whole or not at all, and what was loaded is written down after it; so a load that
was interrupted goes on with the first file that is missing, and a store is used only when all its
files are in. The store lies in a folder that is named by the digest of the files.
"""

import fcntl
import gzip
import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pyoxigraph as ox

from kgreason.base.errors import GraphError
from kgreason.base.figures import integer
from kgreason.graph.bounds import blocks
from kgreason.graph.load import BASE, LINES, File, files_in, is_store

Told = Callable[[str, int, int], None]
_WHOLE: Final = "whole.json"
_SOME: Final = "loaded.json"
_STORE: Final = "store"
_LOCK: Final = "kgreason.lock"
_OF_LINES: Final = integer("memoryOfLines")
_OF_TEXT: Final = integer("memoryOfText")
_OF_STORE: Final = integer("memoryOfStore")
_PACKED: Final = integer("packedGrowth")
_QUADS: Final = {ox.RdfFormat.N_QUADS, ox.RdfFormat.TRIG, ox.RdfFormat.JSON_LD}


@dataclass(frozen=True)
class Stored:
    """A store on disk with what some data hold: its folder, and a SHA-256 over the data."""

    folder: Path
    digest: str


def memory_of(data: Sequence[Path]) -> int:
    """Estimate the bytes of memory that some data would take if they were loaded whole.

    By the size of the files, and what a byte of each format was measured to take. Raises
    GraphError where there is no such file.
    """
    stores = [path for path in data if is_store(path)]
    files = files_in([path for path in data if path not in stores])
    needed = sum(_bytes(one) * _OF_STORE for path in stores for one in _inside(path))
    for file in files:
        packed = _PACKED if file.path.name.lower().endswith(".gz") else 1
        needed += _bytes(file.path) * packed * (_OF_LINES if file.format in LINES else _OF_TEXT)
    return needed


def digest_of_store(folder: Path) -> str:
    """Return a SHA-256 over the tables of a store folder, of which each is written only once."""
    whole = hashlib.sha256()
    for path in _inside(folder):
        if path.suffix in {".sst", ".log"}:
            whole.update(path.name.encode())
            for block in blocks(path):
                whole.update(block)
    return whole.hexdigest()


def bulk_loaded(
    data: Sequence[Path], ontology: Sequence[Path], cache: Path, told: Told, most: int
) -> Stored:
    """Load files into a store below `cache`, or find them there; gives that store.

    Raises GraphError for a file that cannot be read, with its line; nothing of that file is kept.
    """
    files = [*files_in(data), *(one.within("ontology") for one in files_in(ontology))]
    seals = []
    for number, file in enumerate(files):
        told("reading the files once for their digest", number, len(files))
        seals.append(_digest(file, most))
    digest = hashlib.sha256("\n".join(sorted(seals)).encode()).hexdigest()
    names = sorted(f"{file.name} {seal}" for file, seal in zip(files, seals, strict=True))
    place = cache / hashlib.sha256("\n".join(names).encode()).hexdigest()[:24]
    with _alone(place):
        if not (place / _WHOLE).is_file():
            _load(files, place, told)
    return Stored(place / _STORE, digest)


def _load(files: Sequence[File], place: Path, told: Told) -> None:
    """Load the files that are not in yet."""
    noted = place / _SOME
    done: list[str] = json.loads(noted.read_text(encoding="utf-8")) if noted.is_file() else []
    if not done:
        shutil.rmtree(place / _STORE, ignore_errors=True)
    try:
        store = ox.Store(str(place / _STORE))
        for number, file in enumerate(files):
            if file.name not in done:
                told(f"loading {file.path} into a store on disk", number, len(files))
                _one(store, file)
                store.flush()
                done.append(file.name)
                _note(noted, done)
        if not any(True for _ in store.quads_for_pattern(None, None, None, None)):
            raise GraphError(f"There are no triples in {files[0].path}; is it the right file?")
        told("putting the store on disk in order", 0, 0)
        store.optimize()
        store.flush()
        del store
        _note(place / _WHOLE, done)
    except (OSError, RuntimeError) as error:
        raise GraphError(f"{place}: the store on disk cannot be written ({error}).") from error


def _one(store: ox.Store, file: File) -> None:
    """Load one file; raises GraphError with its line, and then nothing of it is in."""
    how: dict[str, Any] = {"format": file.format}
    if file.format not in LINES:
        how["base_iri"] = BASE + file.quoted
    if file.format not in _QUADS:
        how["to_graph"] = file.iri
    try:
        with _opened(file.path) as stream:
            store.bulk_load(stream, **how)
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None)
        said = " ".join(str(getattr(error, "msg", None) or error).split())
        raise GraphError(
            f"{file.path}: {f'line {line}: ' if line and str(line) not in said else ''}{said}; "
            "mend it there, or give a larger --memory and --lenient to pass it over."
        ) from error
    except OSError as error:
        raise GraphError(f"{file.path}: cannot be read ({error.strerror or error}).") from error


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    """Open a file for the store; what a packed one unpacks to was bounded with its digest."""
    if path.name.lower().endswith(".gz"):
        with gzip.open(path) as packed:
            yield packed
    else:
        with path.open("rb") as plain:
            yield plain


def _digest(file: File, most: int) -> str:
    seal = hashlib.sha256()
    for block in blocks(file.path, most):
        seal.update(block)
    return seal.hexdigest()


def _note(path: Path, done: Sequence[str]) -> None:
    new = path.with_suffix(".new")
    new.write_text(json.dumps(done), encoding="utf-8")
    new.replace(path)


@contextmanager
def _alone(place: Path) -> Iterator[None]:
    """Keep other processes from loading the same files meanwhile: they wait."""
    try:
        place.mkdir(parents=True, exist_ok=True)
        (place.parent / ".gitignore").write_text("*\n", encoding="utf-8")
        handle = os.open(place / _LOCK, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        why = error.strerror or error
        raise GraphError(f"{place}: the store on disk cannot be written ({why}).") from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _inside(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def _bytes(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0  # a store that is written to may have put files together meanwhile
