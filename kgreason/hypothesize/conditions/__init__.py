"""One language of conditions, and the search in it: see `docs/conditions.md`."""

from kgreason.hypothesize.conditions.atlas import Atlas
from kgreason.hypothesize.conditions.condition import Condition
from kgreason.hypothesize.conditions.hunt import Extent
from kgreason.hypothesize.conditions.language import read, written
from kgreason.hypothesize.conditions.paths import Path, Step
from kgreason.hypothesize.conditions.search import (
    Explored,
    Found,
    atlas_of,
    explore,
    judged,
    search,
)

__all__ = [
    "Atlas",
    "Condition",
    "Explored",
    "Extent",
    "Found",
    "Path",
    "Step",
    "atlas_of",
    "explore",
    "judged",
    "read",
    "search",
    "written",
]
