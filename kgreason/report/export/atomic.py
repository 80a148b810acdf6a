"""Write an export: one file, a folder or a ZIP file, all of it or nothing."""

import os
import secrets
import shutil
import zipfile
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Final

from kgreason.base.errors import OptionError, RunError

_ZIP: Final = ".zip"
_MODE: Final = 0o100644 << 16  # a plain file that all may read, as ZIP keeps it
_OLDEST: Final = 1980  # the first year that ZIP knows


def check_target(out: str | Path) -> None:
    """Refuse a place that is taken or cannot be written, before any work is done for it."""
    path = Path(out)
    if os.path.lexists(path):
        raise OptionError(f"{out}: this is there already; give --out a new name, or remove it.")
    parent = path.absolute().parent
    if not parent.is_dir():
        raise OptionError(f"{out}: there is no folder {path.parent}; make it first.")
    if not os.access(parent, os.W_OK | os.X_OK):
        raise OptionError(f"{out}: no permission to write in {path.parent}.")


def put(out: str | Path, made: bytes | Mapping[str, bytes], when: datetime) -> list[str]:
    """Write one file or several, and give their paths, sorted; those in a ZIP file by its path.

    `when` is the time that a ZIP file gives its members. Raises RunError if writing fails; nothing
    of it is left then.
    """
    path = Path(out)
    if isinstance(made, bytes):
        _appear(path, lambda place: place.write_bytes(made))
        return [str(out)]
    if path.suffix.lower() == _ZIP:
        _appear(path, lambda place: _zip(place, made, when))
    else:
        _appear(path, lambda place: _folder(place, made))
    return [str(path / name) for name in sorted(made)]


def _appear(path: Path, write: Callable[[Path], object]) -> None:
    """Have a file or folder written beside its place, and move it there once it is whole."""
    made = path.with_name(f".{path.name[:100]}.{secrets.token_hex(4)}.tmp")
    try:
        write(made)
        check_target(path)  # a folder would slip into an empty one that came to be there meanwhile
        made.rename(path)
    except OSError as error:
        raise RunError(
            f"{path}: the export cannot be written ({error.strerror or error})."
        ) from error
    finally:
        if made.is_dir():
            shutil.rmtree(made, ignore_errors=True)
        else:
            made.unlink(missing_ok=True)


def _folder(place: Path, files: Mapping[str, bytes]) -> None:
    place.mkdir()
    for name, data in sorted(files.items()):
        file = place / name
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(data)


def _zip(place: Path, files: Mapping[str, bytes], when: datetime) -> None:
    """Write a ZIP file; not compressed, since the bytes of that depend on the library at hand."""
    time = (max(when.year, _OLDEST), *when.timetuple()[1:6])
    with zipfile.ZipFile(place, "w", zipfile.ZIP_STORED) as archive:
        for name, data in sorted(files.items()):
            member = zipfile.ZipInfo(name, time)
            member.create_system = 3  # so that it is the same wherever it is made
            member.external_attr = _MODE
            archive.writestr(member, data)
