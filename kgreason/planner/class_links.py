"""How nodes of two classes that a question names are connected: by which properties most are."""

from collections.abc import Callable, Sequence
from typing import Any, Final

import pyoxigraph as ox

from kgreason.base.store import Row
from kgreason.base.terms import TYPE

_WAYS: Final = ("classes-between", "classes-between-two", "classes-between-three")
_CALLED: Final = {"here": ox.Literal("the ones"), "there": ox.Literal("the others")}


def along(
    rows: Callable[..., Sequence[Row]],
    classes: Sequence[ox.NamedNode],
    others: Sequence[ox.NamedNode],
) -> tuple[ox.NamedNode, ...]:
    """Return the one property, or else the two or three, that connect most nodes of two classes.

    `rows` asks a stored query of a role. It is empty where nothing connects them in three steps.
    """
    for way in _WAYS:
        given: dict[str, Any] = {"class": [*classes], "others": [*others], **_CALLED}
        for row in rows("look", way, **given):
            steps = [row[one] for one in ("first", "second", "third") if one in row]
            return tuple(one for one in steps if isinstance(one, ox.NamedNode))
    return ()


def leading(
    rows: Callable[..., Sequence[Row]],
    way: str,
    classes: Sequence[ox.NamedNode],
    node: ox.NamedNode,
    named: ox.NamedNode | None,
) -> ox.NamedNode | None:
    """Return the property that leads to a node from most nodes of some classes, or the one `named`.

    By the way "leading-from-node" it leads from the node to most of them.

    It is None where none does, or not the one that is named.
    """
    found = [row["property"] for row in rows("look", way, node=node, **_of(classes))]
    known = [one for one in found if isinstance(one, ox.NamedNode) and one != TYPE]
    return next((one for one in known if named in {None, one}), None)


def _of(classes: Sequence[ox.NamedNode]) -> dict[str, Any]:
    return {"class": [*classes]}
