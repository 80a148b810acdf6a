"""Blobs: long texts beside the record, each under the SHA-256 of its bytes."""

import hashlib
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from kgreason.base.errors import LedgerError

FOLDER: Final = "blobs"
_DIGEST: Final = re.compile(r"[0-9a-f]{64}")


class Blobs:
    """The blobs of a ledger folder, or, without one, of a ledger in memory."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = None if folder is None else folder / FOLDER
        self._kept: dict[str, str] = {}

    def put(self, text: str) -> str:
        """Keep a text, and return its digest; raises LedgerError where it cannot be written."""
        digest = hashlib.sha256(text.encode()).hexdigest()
        if self._folder is None:
            self._kept[digest] = text
            return digest
        place = self._folder / digest
        if not place.is_file():
            try:
                self._folder.mkdir(parents=True, exist_ok=True)
                new = place.with_suffix(".new")
                new.write_bytes(text.encode())
                new.replace(place)
            except OSError as error:
                why = error.strerror or error
                raise LedgerError(f"{place}: the text cannot be written ({why}).") from error
        return digest

    def take(self, digests: Iterable[str], other: "Blobs") -> int:
        """Keep those texts that another folder has; gives how many of them it lacks.

        Raises LedgerError for one that was changed there, or cannot be written here.
        """
        lacking = 0
        for digest in digests:
            if other.has(digest):
                self.put(other.get(digest))
            else:
                lacking += 1
        return lacking

    def has(self, digest: str) -> bool:
        """Check whether a text is there."""
        if self._folder is None:
            return digest in self._kept
        return bool(_DIGEST.fullmatch(digest)) and (self._folder / digest).is_file()

    def intact(self, digest: str) -> bool:
        """Check whether a text is there, can be read and has its digest."""
        try:
            self.get(digest)
        except LedgerError:
            return False
        return True

    def get(self, digest: str) -> str:
        """Return a text by its digest; raises LedgerError where it is gone or was changed."""
        if self._folder is None:
            if digest in self._kept:
                return self._kept[digest]
            raise LedgerError(f"There is no blob {digest} in the ledger in memory.")
        place = self._folder / digest
        if not _DIGEST.fullmatch(digest):
            raise LedgerError(f"{digest!r} is no digest of a blob.")
        try:
            content = place.read_bytes()
        except OSError as error:
            why = error.strerror or error
            raise LedgerError(f"{place}: the text cannot be read ({why}).") from error
        if hashlib.sha256(content).hexdigest() != digest:
            raise LedgerError(f"{place}: the text was changed; its digest is another one.")
        return content.decode()
