"""Data that are too large for the memory: a store on disk is asked in their place.

A store folder is opened where it lies. Files are loaded once into a store on disk, in a folder
beside the ledger. From there on that store is an endpoint: only an extract of it is loaded.
"""

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from kgreason.base.errors import GraphError, OptionError
from kgreason.endpoint.named_endpoint import NamedEndpoint, is_address
from kgreason.graph.bulk import Stored, bulk_loaded, digest_of_store, memory_of
from kgreason.graph.load import is_store, opened
from kgreason.observe.request import Request
from kgreason.record.remote import address_of

Told = Callable[[str, int, int], None]
CACHE: Final = ".stores"
"""What the folder beside a ledger is called after it, in which files lie as stores on disk."""
_LOCAL: Final = Path(".kgreason")  # for a ledger on a server
_GIGABYTE: Final = 1 << 30


@dataclass(frozen=True)
class Origin:
    """What a store on disk holds: the paths of the data, their SHA-256, and what to tell of it."""

    endpoint: NamedEndpoint
    paths: tuple[str, ...]
    digest: str
    notice: str


def is_too_large(request: Request) -> bool:
    """Check whether the data of a request would take more memory than they may.

    That is what `memory` says, else half of the memory of this machine. Raises OptionError where
    `memory` is given and the data have to be loaded whole, GraphError where there are no such data.
    """
    if any(is_address(one) or one in request.objects for one in request.data) or request.extract:
        return False
    why = _needs_all(request)
    if why is not None:
        if request.memory is not None:
            raise OptionError(f"--memory: {why}, and that needs the data as a whole.")
        return False
    paths = _paths(request)
    if memory_of(paths) <= _allowed(request):
        return False
    if len(paths) > 1 and any(map(is_store, paths)):
        raise OptionError(
            "A store folder that is larger than --memory has to be the only data; give it alone, "
            "or the files alone."
        )
    return True


def _needs_all(request: Request) -> str | None:
    """Explain why a request needs its data as a whole; None where an extract will do."""
    if request.redact or request.lenient:
        return f"there is {'--redact' if request.redact else '--lenient'}"
    if request.violations and not (request.shapes or request.population):
        return "nothing but the data says who is looked at (--shapes or --population)"
    asked = (request.shapes, request.axioms, request.outcome, request.violations)
    return None if any(asked) else "nothing says who fails"


@contextmanager
def on_disk(request: Request, ledger: Path | None, told: Told) -> Iterator[Origin]:
    """Return a store on disk with the data of a request, which stays with a ledger alone.

    Raises GraphError for data that cannot be read.
    """
    paths = _paths(request)
    if is_store(paths[0]):
        opened(paths[0])
        told("reading the store once for its digest", 0, 0)
        yield _origin(request, Stored(paths[0].resolve(), digest_of_store(paths[0])))
        return
    with tempfile.TemporaryDirectory(prefix="kgreason-") as passing:
        cache = Path(passing) if ledger is None else beside(ledger)
        schema = [Path(one) for one in request.schema]
        yield _origin(request, bulk_loaded(paths, schema, cache, told, request.max_bytes))


def beside(ledger: Path, suffix: str = CACHE) -> Path:
    """Return a folder beside a ledger: that with the stores of files that were investigated."""
    folder = (ledger if address_of(ledger) is None else _LOCAL).resolve()
    return folder.with_name(folder.name + suffix)


def _origin(request: Request, stored: Stored) -> Origin:
    needed, allowed = memory_of(_paths(request)), _allowed(request)
    named = NamedEndpoint(
        stored.folder.as_uri(),
        request.graphs,
        request.dialect,
        request.cap,
        request.ratio,
        request.hops,
        seconds=request.query_seconds,
    )
    named.check()
    notice = (
        f"{', '.join(request.data)}: loaded whole this would take about "
        f"{needed / _GIGABYTE:,.1f} GiB of memory, and {allowed / _GIGABYTE:,.1f} GiB are allowed; "
        "so it is asked as an endpoint is, and an extract of it is investigated (--memory)."
    )
    return Origin(named, request.data, stored.digest, notice)


def _allowed(request: Request) -> int:
    if request.memory is not None:
        return request.memory
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2


def _paths(request: Request) -> list[Path]:
    paths = [Path(one) for one in request.data]
    for path in paths:
        if not os.path.lexists(path):
            raise GraphError(f"{path}: there is no such file or folder.")
    return paths
