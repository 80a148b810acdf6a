"""How nodes of two classes that a question names are connected: by which properties most are."""

from collections.abc import Callable, Sequence
from typing import Any, Final

import pyoxigraph as ox

from kgreason.base.store import Row

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
