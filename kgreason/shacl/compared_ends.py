"""The pairs of paths whose ends an outcome query holds against each other, to be alike or not."""

from functools import lru_cache
from typing import Any

from kgreason.shacl.paths import Path
from kgreason.shacl.query_row import UnreadError, plain
from kgreason.shacl.readings import failing_rows, reached


@lru_cache(maxsize=32)
def compared_ends(query: str) -> frozenset[frozenset[Path]]:
    """Return the pairs of paths from ?focus whose ends have to be equal, or may not be.

    Empty where the query cannot be read.
    """
    found = set[frozenset[Path]]()
    try:
        for base, more in failing_rows(query, None):
            paths = reached((*base.triples, *more.triples), "focus")
            for test in more.tests:
                ends = {paths[side] for side in _sides(test) if side in paths}
                if len(ends) > 1:
                    found.add(frozenset(ends))
    except (UnreadError, RecursionError):
        return frozenset()
    return frozenset(found)


def _sides(test: Any) -> list[str]:
    """Return the two variables that a test wants to be equal, or to differ."""
    given = test[1] if isinstance(test, tuple) and test[0] == "denied" else test
    if getattr(given, "name", "") != "RelationalExpression" or given.op not in {"=", "!="}:
        return []
    sides = (plain(side) for side in (given.expr, given.other))
    return [str(side) for side in sides if type(side).__name__ == "Variable"]
