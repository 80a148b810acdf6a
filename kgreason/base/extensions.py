"""Folders of a user's own: families, tests, rules, gates, sections, questions, checks, repairs.

An extension is a folder with `queries/<role>/*.rq` or `*.ru`, `ontology/policies/*.ttl`,
`ontology/patterns/*.ttl` and `prompts/*.md.jinja`. Those of installed packages (entry points of the
group `kgreason.extensions`) are always at hand, others are given by `--extend DIR`. Which ones are
at hand is kept in a context variable, so each thread (and each forked process) has its own, and
several investigations of one process do not share them: a thread started within `using` has to be
started in a copy of its context.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path, PurePosixPath
from typing import Any, Final, Generic, TypeVar

from kgreason.base.errors import OptionError

GROUP: Final = "kgreason.extensions"
ROLES: Final = (
    "audit",
    "confidence",
    "explore",
    "history",
    "hypothesize",
    "look",
    "next",
    "observe",
    "refine",
    "repair",
    "report",
    "status",
    "test",
)
"""The folders of `queries/` whose every file the engine takes up, whoever wrote it."""
POLICIES: Final = PurePosixPath("ontology/policies")
PATTERNS: Final = PurePosixPath("ontology/patterns")
PROMPTS: Final = PurePosixPath("prompts")
PROMPT: Final = ".md.jinja"
"""How the files end of which the prompts for models are made."""
_QUERIES: Final = (".rq", ".ru")
_MOST: Final = 1 << 20
_R = TypeVar("_R")


@dataclass(frozen=True)
class Extension:
    """A folder of a user's own: its name, where it is, and each of its files with its SHA-256.

    The files are named by their paths below the folder, with `/`.
    """

    name: str
    folder: Path
    files: tuple[tuple[str, str], ...]

    def queries(self, role: str) -> list[Path]:
        """Return its templates for one role, sorted."""
        place = PurePosixPath("queries", role)
        return [self.folder / f for f, _ in self.files if PurePosixPath(f).parent == place]

    def prompt(self, name: str) -> Path | None:
        """Return its part of prompts of that name, or None."""
        file = PROMPTS / f"{name}{PROMPT}"
        return self.folder / file if any(f == file.as_posix() for f, _ in self.files) else None

    def policies(self) -> list[Path]:
        """Return its policy files, sorted."""
        return [self.folder / f for f, _ in self.files if PurePosixPath(f).parent == POLICIES]

    def patterns(self) -> list[Path]:
        """Return its files of task types and patterns, sorted."""
        return [self.folder / f for f, _ in self.files if PurePosixPath(f).parent == PATTERNS]


def read(folder: str | Path, name: str | None = None) -> Extension:
    """Return the extension in a folder; its files are read, not yet parsed.

    Raises OptionError where there is no such folder, where it holds nothing for kgreason, or where
    a file lies where nothing would look for it.
    """
    found, strays = sifted(folder, name)
    if strays:
        raise OptionError(f"--extend {folder}: {strays[0]}")
    if not found.files:
        raise OptionError(
            f"--extend {folder}: this folder has neither queries/ROLE/*.rq (or .ru) nor "
            f"{POLICIES}/*.ttl nor {PATTERNS}/*.ttl nor {PROMPTS}/*{PROMPT}, so it extends nothing."
        )
    return found


def sifted(folder: str | Path, name: str | None = None) -> tuple[Extension, list[str]]:
    """Return the extension in a folder, and a sentence for each file that nothing would read.

    Raises OptionError where there is no such folder or a file cannot be read.
    """
    root = Path(folder).resolve()
    if not root.is_dir():
        raise OptionError(f"--extend {folder}: there is no such folder.")
    strays, digests = [], []
    try:
        for file in sorted(_files(root)):
            stray = _stray(file)
            if stray:
                strays.append(stray)
            else:
                digests.append((file.as_posix(), _digest(root / file)))
    except OSError as error:
        why = error.strerror or error
        raise OptionError(f"--extend {folder}: {error.filename} cannot be read ({why}).") from error
    return Extension(name or root.name, root, tuple(digests)), strays


def _files(root: Path) -> Iterator[PurePosixPath]:
    for name in ("queries", "ontology", "prompts"):
        for path in (root / name).rglob("*"):
            inner = path.relative_to(root)
            hidden = any(part.startswith((".", "__")) for part in inner.parts)
            known = path.suffix in (*_QUERIES, ".ttl") or path.name.endswith(PROMPT)
            if not hidden and known and path.is_file():
                yield PurePosixPath(inner)


def _stray(file: PurePosixPath) -> str | None:
    """Explain why nothing would read a file; None where something does."""
    if file.parts[0] == "ontology":
        if file.parent in {POLICIES, PATTERNS} and file.suffix == ".ttl":
            return None
        return (
            f"nothing reads {file}; the Turtle files of an extension lie in {POLICIES}/ and "
            f"{PATTERNS}/."
        )
    if file.parts[0] == "prompts":
        plain = file.parent == PROMPTS and file.name.endswith(PROMPT)
        return None if plain else f"nothing reads {file}; prompts are {PROMPTS}/NAME{PROMPT}."
    role = file.parent.relative_to("queries").as_posix()
    if role in ROLES and file.suffix in _QUERIES:
        return None
    return (
        f"nothing reads {file}; an extension has queries/ROLE/NAME.rq (or .ru), where ROLE is one "
        f"of {', '.join(ROLES)}."
    )


def _digest(path: Path) -> str:
    content = path.read_bytes()
    if len(content) > _MOST:
        raise OptionError(f"{path}: a file of an extension has at most {_MOST:,} bytes.")
    return hashlib.sha256(content).hexdigest()


def read_all(folders: Iterable[str | Path]) -> tuple[Extension, ...]:
    """Return the extensions in several folders, each once; raises OptionError as `read` does."""
    found: dict[Path, Extension] = {}
    for folder in folders:
        made = read(folder)
        found.setdefault(made.folder, made)
    return tuple(found.values())


@cache
def installed() -> tuple[Extension, ...]:
    """Return the extensions of installed packages, by name; raises OptionError for a broken one."""
    return tuple(
        _of_entry_point(one) for one in sorted(entry_points(group=GROUP), key=lambda e: e.name)
    )


def _of_entry_point(entry: EntryPoint) -> Extension:
    """Return the folder that an entry point names: a package, or a path."""
    try:
        value = entry.load()
        place = value if isinstance(value, str | Path) else Path(next(iter(value.__path__)))
        return read(place, entry.name)
    except Exception as error:
        raise OptionError(
            f"The installed extension {entry.name} ({entry.value}) cannot be used: {error} "
            "Mend the package, or uninstall it."
        ) from error


# Which are at hand

_ACTIVE: ContextVar[tuple[Extension, ...] | None] = ContextVar("extensions", default=None)


def active() -> tuple[Extension, ...]:
    """Return the extensions at hand in this context; those of installed packages by default."""
    found = _ACTIVE.get()
    return installed() if found is None else found


def joined(extensions: Sequence[Extension]) -> tuple[Extension, ...]:
    """Return some extensions after those of installed packages, each folder once."""
    known = {one.folder: one for one in (*installed(), *extensions)}
    return tuple(known.values())


@contextmanager
def using(extensions: Sequence[Extension]) -> Iterator[None]:
    """Have exactly these extensions at hand, in this context, for a while."""
    token = _ACTIVE.set(tuple(extensions))
    try:
        yield
    finally:
        _ACTIVE.reset(token)


class Cached(Generic[_R]):
    """A function that works once for the same arguments and the same extensions at hand."""

    def __init__(self, make: Callable[..., _R]) -> None:
        self.__wrapped__ = make
        self.__doc__ = make.__doc__
        self._known: dict[tuple[Any, ...], _R] = {}

    def __call__(self, *args: Any) -> _R:
        """Return what the function returns."""
        key = (active(), *args)
        if key not in self._known:
            self._known[key] = self.__wrapped__(*args)
        return self._known[key]


cached = Cached
"""Decorates a function whose answer hangs on the catalogue."""
