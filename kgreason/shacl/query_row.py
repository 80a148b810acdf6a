"""A row of a query: what holds together in a solution, and the terms and variables in it."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

_SINGLE: Final = frozenset(
    f"{name}Expression"
    for name in ("ConditionalOr", "ConditionalAnd", "Relational", "Additive", "Multiplicative")
)


class UnreadError(Exception):
    """Something that is not read, such as a named graph."""


@dataclass(frozen=True)
class Row:
    """What holds together in a solution: triples, tests, groups that are lacking.

    `binds` are the expressions of BIND by variable, `options` the groups of OPTIONAL. A group is
    the rows of which one holds. A term or an expression is what rdflib made of it.
    """

    triples: tuple[tuple[Any, Any, Any], ...] = ()
    tests: tuple[Any, ...] = ()
    lacks: tuple["Rows", ...] = ()
    binds: Mapping[str, Any] = ()  # type: ignore[assignment]
    options: tuple["Rows", ...] = ()

    def joined(self, other: "Row") -> "Row":
        """Return what holds where both do."""
        return Row(
            (*self.triples, *(t for t in other.triples if t not in self.triples)),
            (*self.tests, *other.tests),
            (*self.lacks, *other.lacks),
            {**dict(self.binds), **dict(other.binds)},
            (*self.options, *other.options),
        )


Rows = tuple[Row, ...]


def plain(expression: Any) -> Any:
    """Return an expression without the names that the grammar puts around a single one."""
    while (
        getattr(expression, "name", None) in _SINGLE
        and expression.other is None
        and expression.expr is not None
    ):
        expression = expression.expr
    return expression


def name_of(term: Any) -> str:
    """Return the name of a variable, "" for anything else."""
    return str(term) if type(term).__name__ == "Variable" else ""


def variables(things: Any) -> set[str]:
    """Return the names of the variables in terms, triples, expressions and rows."""
    return set(_variables(things))


def _variables(thing: Any) -> Iterator[str]:
    if type(thing).__name__ in {"Variable", "BNode"}:
        yield str(thing)
    elif isinstance(thing, Row):
        yield from _variables([thing.triples, thing.tests, thing.lacks])
    elif isinstance(thing, Mapping):
        for inner in thing.values():
            yield from _variables(inner)
    elif isinstance(thing, str):
        return
    elif isinstance(thing, Iterable):
        for inner in thing:
            yield from _variables(inner)
