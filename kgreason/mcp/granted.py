"""The folders that were named at the start: nothing outside them is read or written."""

import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from kgreason.base.errors import OptionError


@dataclass(frozen=True)
class Granted:
    """Folders as they really lie, without symbolic links; the first is where new things go."""

    folders: tuple[Path, ...]

    @classmethod
    def of(cls, folders: Iterable[str | Path]) -> Self:
        """Make it of the folders that somebody named; raises OptionError for what is none."""
        found = []
        for one in folders:
            if not Path(one).is_dir():
                raise OptionError(f"{one}: there is no such folder; name folders that are there.")
            found.append(Path(os.path.realpath(one)))
        if not found:
            raise OptionError("Name at least one folder that may be read and written.")
        return cls(tuple(dict.fromkeys(found)))

    def path(self, given: str) -> Path:
        """Return a file or folder that is there, with all that it holds inside the folders.

        A relative path is looked for in each folder in turn. Raises OptionError for one that is not
        there, leads outside (a symbolic link within a folder too), or is neither file nor folder.
        """
        for candidate in self._candidates(given):
            self._check(candidate, given)
            if candidate.exists():
                for inner in _entries(candidate):
                    self._check(inner, given)
                    _check_kind(inner, given)
                return candidate
        raise OptionError(f"{given}: there is no such file in the folders of this server.")

    def new(self, given: str) -> Path:
        """Return a folder that may be made: its place is inside, what is there already is too."""
        candidates = list(self._candidates(given))
        for candidate in candidates:
            self._check(candidate, given)
            if candidate.exists():
                return self.path(given)
        return candidates[0]

    def holds(self, path: str | Path) -> bool:
        """Check whether a path leads inside, and all that is there under it."""
        try:
            self.path(str(path))
        except OptionError:
            return False
        return True

    def _candidates(self, given: str) -> Iterator[Path]:
        if "\x00" in given or not given.strip():
            raise OptionError("A path must be a text with at least one character.")
        for folder in self.folders:
            yield folder / given  # an absolute path stays as it is

    def _check(self, path: Path, given: str) -> None:
        real = Path(os.path.realpath(path))
        if not any(real.is_relative_to(folder) for folder in self.folders):
            raise OptionError(
                f"{given}: this leads outside the folders that were named when the server began."
            )


def _entries(path: Path) -> Iterator[Path]:
    """Return a path and all below it; links are told, and not followed."""
    yield path
    for at, folders, files in os.walk(path):
        yield from (Path(at, name) for name in (*folders, *files))


def _check_kind(path: Path, given: str) -> None:
    """Refuse pipes, devices and sockets, whose reading may never end."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return  # a link that leads nowhere, or a file that has just gone
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise OptionError(f"{given}: {path.name} is neither a file nor a folder.")
