"""What a reader calls a symptom: a name that no other symptom of the investigation has."""

import re
from collections.abc import Sequence
from typing import Final

from pyoxigraph import Literal, NamedNode

from kgreason.base.terms import TRAILS
from kgreason.graph.names import local_name
from kgreason.shacl.constraint import Constraint

_LONGEST: Final = 80
_OUTCOME: Final = "the outcome that was asked about"


def names(constraints: Sequence[Constraint]) -> list[str]:
    """Name each constraint: by sh:name, else by its message, else by path, component and shape.

    Where several are called alike, what tells them apart is added: message, path, component,
    shape, the IRI of the shape; in the end a number. Letters that differ in case alone are alike.
    """
    parts = [_parts(constraint) for constraint in constraints]
    heads = [_head(constraint) for constraint in constraints]
    added: list[list[str]] = [[] for _ in constraints]
    for place in range(len(parts[0]) if parts else 0):
        for group in _alike(heads, added):
            values = [parts[n][place] for n in group]
            if len(set(values)) > 1:
                for n, value in zip(group, values, strict=True):
                    if value and value != heads[n]:
                        added[n].append(value)
    return _numbered([_put(head, more) for head, more in zip(heads, added, strict=True)])


def asks(constraint: Constraint) -> str | None:
    """Return the values of the parameters of a constraint in short, None where they are lists."""
    given = [v for values in constraint.parameters.values() for v in values]
    told = [
        local_name(v.value) if isinstance(v, NamedNode) else v.value
        for v in given
        if isinstance(v, NamedNode | Literal)
    ]
    return _line(", ".join(told)) or None if len(told) == len(given) else None


def _head(constraint: Constraint) -> str:
    if constraint.component == TRAILS.OutcomeQuery:
        return _line(constraint.title) or _read(constraint) or _OUTCOME
    _, path, component, shape, _ = _parts(constraint)
    asked = f"{component} of {path}" if path else component
    return (
        _line(constraint.title)
        or _line(constraint.message).removesuffix(".")
        or (f"{asked} in {shape}" if shape else asked)
    )


def _read(constraint: Constraint) -> str | None:
    """Return what an outcome query asks where it was read as a lack or as too many of one thing.

    None where it asks anything else, of which nobody knows whether it is wrong.
    """
    if len(constraint.readings) != 1 or constraint.at is not None:
        return None
    (one,) = constraint.readings
    if one.most is not None:
        return f"more than {one.most} {_short(one.path.text)}"
    lacks = one.lacking and one.components == {"MinCount"}
    return f"no {_short(one.path.text)}" if lacks else None


def _short(path: str) -> str:
    return re.sub(r"<([^>]*)>", lambda found: local_name(found[1]), path)


def _parts(constraint: Constraint) -> tuple[str, str, str, str, str]:
    """Return message, path, component, shape and its IRI, each short and nothing where it lacks."""
    shape = constraint.named_shape.value if constraint.named_shape else ""
    path = constraint.path.text if constraint.path else ""
    return (
        _line(constraint.message).removesuffix("."),
        _short(path),
        local_name(constraint.component.value).removesuffix("ConstraintComponent"),
        local_name(shape) if shape else "",
        f"<{shape}>" if shape else "",
    )


def _line(text: str | None) -> str:
    """Return a text as one short line."""
    line = " ".join((text or "").split())
    if len(line) <= _LONGEST:
        return line
    cut = line[: _LONGEST - 1]
    return f"{cut.rpartition(' ')[0] or cut}…"


def _put(head: str, added: Sequence[str]) -> str:
    return f"{head} ({', '.join(added)})" if added else head


def _alike(heads: Sequence[str], added: Sequence[Sequence[str]]) -> list[list[int]]:
    """Return the positions of those that are called alike so far, group by group."""
    groups: dict[str, list[int]] = {}
    for n, (head, more) in enumerate(zip(heads, added, strict=True)):
        groups.setdefault(_put(head, more).casefold(), []).append(n)
    return [group for group in groups.values() if len(group) > 1]


def _numbered(told: Sequence[str]) -> list[str]:
    """Add a number to those that are still called alike, from the second on."""
    taken: set[str] = set()
    out = []
    for name in told:
        made, number = name, 1
        while made.casefold() in taken:
            number += 1
            made = f"{name} ({number})"
        taken.add(made.casefold())
        out.append(made)
    return out
