"""Files that are there as a whole or not at all."""

import os
import secrets
import shutil
from pathlib import Path


def unversioned(folder: Path) -> None:
    """Keep a folder of ours out of Git, where nobody has said otherwise; raises OSError."""
    ignored = folder / ".gitignore"
    if not os.path.lexists(ignored):
        ignored.write_text("*\n", encoding="utf-8")


def replace_file(path: Path, content: bytes) -> None:
    """Write a file beside its place, and move it there once it is whole; raises OSError.

    A file that is there keeps its mode. Whatever goes wrong, nothing half-written is left.
    """
    made = path.with_name(f".{path.name[:100]}.{secrets.token_hex(4)}.tmp")
    try:
        with made.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if path.exists():
            shutil.copymode(path, made)
        made.replace(path)
    except BaseException:
        made.unlink(missing_ok=True)
        raise
