"""The answers of an endpoint while an extract is taken: one that dies is asked nothing twice.

An extract is taken by queries that follow from the answers before. They lie in a folder beside the
ledger until the extract is whole; the same investigation, begun again, reads there what it would
ask, and goes on with the first query that was not answered.
"""

import hashlib
import json
import shutil
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from kgreason.base.figures import integer

SUFFIX: Final = ".asked"
"""What the folder beside a ledger is called after it, in which answers lie."""
_SERVER: Final = "server"
_BODY: Final = "body"
_HOUR: Final = 3600
KEPT_HOURS: Final = integer("endpointKeptHours")
"""Older answers are asked for again."""


class KeptAnswers:
    """A folder of answers by what was asked; those that are too old are deleted when it is opened.

    Only whole answers are kept, and nothing of the headers with which they were asked for.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._own: set[Path] = set()
        oldest = time.time() - KEPT_HOURS * _HOUR
        for path in folder.glob("*") if folder.is_dir() else ():
            if path.stat().st_mtime < oldest:
                path.unlink()

    def get(self, address: str, form: Sequence[tuple[str, str]]) -> tuple[bytes, str] | None:
        """Return the body of an answer and what its server calls itself; None where none is kept.

        One that was written by half counts as none.
        """
        try:
            head, _, body = self._place(address, form).read_bytes().partition(b"\n")
            told = json.loads(head)
        except (OSError, ValueError):
            return None
        whole = told.get(_BODY) == hashlib.sha256(body).hexdigest()
        return (body, str(told.get(_SERVER, ""))) if whole else None

    def put(self, address: str, form: Sequence[tuple[str, str]], body: bytes, server: str) -> None:
        """Keep a whole answer."""
        self.folder.mkdir(parents=True, exist_ok=True)
        place = self._place(address, form)
        new = place.with_suffix(".new")
        head = json.dumps({_SERVER: server, _BODY: hashlib.sha256(body).hexdigest()})
        new.write_bytes(head.encode() + b"\n" + body)
        new.replace(place)
        self._own.add(place)

    def is_earlier(self, address: str, form: Sequence[tuple[str, str]]) -> bool:
        """Check whether an answer was not kept since this was opened, but by a process before."""
        return self._place(address, form) not in self._own

    def forget(self) -> None:
        """Delete all answers."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _place(self, address: str, form: Sequence[tuple[str, str]]) -> Path:
        return self.folder / hashlib.sha256(json.dumps([address, form]).encode()).hexdigest()
