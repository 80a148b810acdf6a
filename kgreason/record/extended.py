"""The extensions in a record: written when an investigation begins, found again by who reads it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path

from kgreason.base.errors import LedgerError, OptionError
from kgreason.base.extensions import Extension, active, installed, joined, read
from kgreason.base.terms import PROV, TRAILS
from kgreason.record.record import Node, Record, Step


@dataclass(frozen=True)
class Wanted:
    """An extension as a record names it: where its folder was, and its files with their SHA-256."""

    name: str
    folder: str
    files: tuple[tuple[str, str], ...]


def describe(step: Step, investigation: Node) -> None:
    """Write down which extensions are at hand, with the SHA-256 of each of their files."""
    for one in active():
        node = step.make(
            "Extension", PROV.Entity, extensionName=one.name, folder=one.folder.as_posix()
        )
        step.add(investigation, TRAILS.extension, node)
        for file, digest in one.files:
            step.make("ExtensionFile", PROV.Entity, inExtension=node, file=file, fingerprint=digest)


def wanted(record: Record) -> list[Wanted]:
    """Return the extensions that an investigation worked with."""
    rows = record.select("extensions")
    found = []
    for _, several in groupby(rows, key=lambda row: row["extension"].value):
        files = list(several)
        said = tuple((row["file"].value, row["digest"].value) for row in files)
        found.append(Wanted(files[0]["name"].value, files[0]["folder"].value, said))
    return found


def again(record: Record, given: Sequence[Extension] = ()) -> tuple[Extension, ...]:
    """Return the very extensions that an investigation worked with, for doing it again.

    Each is looked for among those `given`, among those of installed packages, and where it was.
    Raises LedgerError that says which folder to give where one is missing or has changed.
    """
    return tuple(_found(record, one, given) for one in wanted(record))


def checking(record: Record, given: Sequence[Extension] = ()) -> tuple[Extension, ...]:
    """Return the extensions for checking or judging a record: its own, and those given now.

    Raises LedgerError as `again` does.
    """
    own = again(record, given)
    taken = {one.files for one in own}
    return (*own, *(one for one in joined(given) if one.files not in taken))


def reading(record: Record, given: Sequence[Extension] = ()) -> tuple[Extension, ...]:
    """Return the extensions for reading a record: those given now, and its own as far as there."""
    found = {one.folder: one for one in joined(given)}
    for one in wanted(record):
        if one.files not in {other.files for other in found.values()}:
            there = _there(one)
            if there is not None:
                found.setdefault(there.folder, there)
    return tuple(found.values())


def _found(record: Record, one: Wanted, given: Sequence[Extension]) -> Extension:
    there = _there(one)
    at_hand = [*given, *installed(), *([there] if there else [])]
    for other in at_hand:
        if other.files == one.files:
            return replace(other, name=one.name)
    near = [other for other in at_hand if other.name == one.name]
    said = f"{record.iri.value}: this was made with the extension {one.name} ({one.folder}), "
    if not near:
        raise LedgerError(
            f"{said}which is not there. Give its folder with --extend DIR: it holds "
            f"{', '.join(file for file, _ in one.files)}."
        )
    changed = sorted(file for file, _ in set(near[0].files) ^ set(one.files))
    raise LedgerError(
        f"{said}which has changed since: {changed[0]} is not as it was. Give the folder as it was "
        "with --extend DIR."
    )


def _there(one: Wanted) -> Extension | None:
    """Return what is in the recorded folder now, if anything that can be used."""
    if not Path(one.folder).is_dir():
        return None
    try:
        return read(one.folder, one.name)
    except OptionError:
        return None
