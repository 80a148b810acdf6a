"""Where the data folders `queries/`, `ontology/` and `shapes/` are.

In a wheel they lie inside the package, in a checkout beside it.
"""

from functools import cache
from pathlib import Path
from typing import Final

from kgreason.base.errors import RunError

DEFAULT_POLICY: Final = "code"
"""The policy that rules where none is named."""
_PACKAGE = Path(__file__).resolve().parents[1]


@cache
def folder(name: str) -> Path:
    """Return the folder of that name; raises RunError where the installation lacks it."""
    for candidate in (_PACKAGE / "data" / name, _PACKAGE.parent / name):
        if candidate.is_dir():
            return candidate
    raise RunError(f"The folder {name!r} is missing from this installation; install kgreason anew.")
