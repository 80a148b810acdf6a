"""A triple with a variable predicate, read once for each of the predicates that the query lists."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

from kgreason.shacl.query_row import Row, Rows, name_of, plain, variables


def pinned(row: Row) -> Rows:
    """Return a row once for each predicate that its tests allow in place of a variable one."""
    for name in dict.fromkeys(name_of(path) for _, path, _ in row.triples):
        about = [test for test in row.tests if name and name in variables([test])]
        # What else is asked of the predicate alone, such as how it ends, the listed ones answer.
        allowed = [terms for test in about if (terms := _allowed(test, name))]
        others = [test for test in about if not _allowed(test, name)]
        if not allowed or any(variables([test]) != {name} for test in others):
            continue
        tests = tuple(test for test in row.tests if test not in about)
        terms = [one for one in allowed[0] if all(one in others for others in allowed)]
        made = (
            replace(
                row,
                triples=_with(row.triples, name, term),
                tests=tests,
                binds={**dict(row.binds), name: term},
            )
            for term in terms
        )
        return tuple(each for one in made for each in pinned(one))
    return (row,)


def decided(row: Row, binds: Mapping[str, Any]) -> Rows:
    """Return a row without the tests that hold for what variables are bound to; none if one fails.

    Such is `?property = ex:name`, where the predicates of a triple were listed and this is one.
    """
    left = []
    for test in row.tests:
        truth = _known(test, binds)
        if truth is False:
            return ()
        if truth is None:
            left.append(test)
    return (replace(row, tests=tuple(left)),)


def _known(test: Any, binds: Mapping[str, Any]) -> bool | None:
    """Return the truth of a comparison of IRIs alone; None for any other test."""
    denied = isinstance(test, tuple) and test[0] == "denied"
    made = plain(test[1] if denied else test)
    if getattr(made, "name", "") != "RelationalExpression" or made.op not in _SAME:
        return None
    others = made.other if isinstance(made.other, list) else [made.other]
    sides = [plain(one) for one in (made.expr, *others)]
    first, *listed = [plain(binds.get(name_of(one), one)) for one in sides]
    if any(type(one).__name__ != "URIRef" for one in (first, *listed)):
        return None
    return (first in listed) is (_SAME[made.op] is not denied)


_SAME: Final = {"=": True, "IN": True, "!=": False, "NOT IN": False}


def _with(triples: Iterable[tuple[Any, Any, Any]], name: str, predicate: Any) -> Any:
    return tuple((s, predicate if name_of(path) == name else path, o) for s, path, o in triples)


def _allowed(test: Any, name: str) -> list[Any]:
    """Return the IRIs that a test lists for a variable; nothing where it is another test."""
    if isinstance(test, tuple):
        listed = test[2] if test[0] == "listed" and name_of(test[1]) == name else []
    elif getattr(test, "name", "") == "RelationalExpression" and test.op in {"=", "IN"}:
        others = test.other if isinstance(test.other, list) else [test.other]
        sides = [plain(test.expr), *map(plain, others)]
        listed = (
            [one for one in sides if name_of(one) != name] if name in map(name_of, sides) else []
        )
    else:
        listed = []
    return listed if all(type(one).__name__ == "URIRef" for one in listed) else []
