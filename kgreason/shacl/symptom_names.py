"""What a reader calls a symptom: a name that no other symptom of the investigation has."""

import re
from collections.abc import Sequence
from typing import Final

from pyoxigraph import Literal, NamedNode

from kgreason.base.terms import SH, TRAILS
from kgreason.graph.names import local_name, path_name
from kgreason.shacl.constraint import Constraint
from kgreason.shacl.paths import Path

_LONGEST: Final = 80
_FILLED_IN: Final = re.compile(r"\s*[(\"'\u201c\u2018]?\{[?$]\w+\}[)\"'\u201d\u2019]?")
"""What a result puts its values into, in the message of a rule: a rule has no values."""
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
    return _line(constraint.title) or _message(constraint) or _asked(constraint)


def _asked(constraint: Constraint) -> str:
    """Return what a rule asks for that nobody has named."""
    _, path, component, shape, _ = _parts(constraint)
    inner = constraint.parameters.get(SH.node, ())
    what = path or shape
    if component == "Node" and what and len(inner) == 1 and isinstance(inner[0], NamedNode):
        return f"{what} fits the shape {local_name(inner[0].value)}"
    if component == "Closed" and shape and not path:
        return f"no property that {shape} does not list"
    asked = f"{component} of {path}" if path else component
    return f"{asked} in {shape}" if shape else asked


def _read(constraint: Constraint) -> str | None:
    """Return what an outcome query asks where it was read as a lack or as too many of one thing.

    None where it asks anything else, of which nobody knows whether it is wrong.
    """
    if len(constraint.readings) != 1 or constraint.at is not None:
        return None
    (one,) = constraint.readings
    back = _backwards(one.path)
    if one.most == 0:
        # What there must be none of is told as what there is.
        some = path_name(one.path.text)
        return f"there is {some}" if back is None else f"something points at it by {back}"
    if one.most is not None:
        return f"more than {_several(one.most, one.path)}"
    if not one.lacking or one.components != {"MinCount"}:
        return None
    for given in one.parameters.get(SH.minCount, ()):
        if isinstance(given, Literal):
            return f"fewer than {_several(int(given.value), one.path)}"
    return f"no {path_name(one.path.text)}" if back is None else f"nothing points at it by {back}"


def _several(count: int, path: Path) -> str:
    """Return so many values of a path, or so many things that point at a node by it."""
    back = _backwards(path)
    if back is not None:
        return f"{count} thing{'' if count == 1 else 's'} pointing at it by {back}"
    return f"{count}{'' if count == 1 else ' values of'} {path_name(path.text)}"


def _backwards(path: Path) -> str | None:
    """Return the predicate of a path that is one step backwards, or None."""
    step = path.parts[0].iri if path.kind == "^" else None
    return None if step is None else local_name(step.value)


def _parts(constraint: Constraint) -> tuple[str, str, str, str, str]:
    """Return message, path, component, shape and its IRI, each short and nothing where it lacks."""
    shape = constraint.named_shape.value if constraint.named_shape else ""
    path = constraint.path.text if constraint.path else ""
    return (
        _message(constraint),
        path_name(path),
        local_name(constraint.component.value).removesuffix("ConstraintComponent"),
        local_name(shape) if shape else "",
        f"<{shape}>" if shape else "",
    )


def _message(constraint: Constraint) -> str:
    """Return the message of a rule in short, without the gaps that a result would fill in."""
    return _line(_FILLED_IN.sub("", constraint.message or "")).removesuffix(".")


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
