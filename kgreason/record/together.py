"""One mechanism over several properties: causes that are the same slip are told once, with parts.

The same wrong datatype under nine properties, or one wrong namespace, is one thing to mend. The
verdict on each symptom stays what it is.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Final, Protocol, TypeVar

_NAMED: Final = 5
"""How many more properties a sentence names."""
_IRI: Final = re.compile(r"<?([^<>\s]*[/#:])([^/#:<>\s]+)>?")
_MAPPING: Final = "mapping"
_DATATYPE: Final = "datatype"


class Told(Protocol):
    """What has to be known of a hypothesis."""

    @property
    def id(self) -> str:
        """Its IRI."""
        ...

    @property
    def family(self) -> str:
        """Its family."""
        ...

    @property
    def kind(self) -> str:
        """Its kind."""
        ...

    @property
    def is_mechanism(self) -> bool:
        """Whether it tells how nodes fail."""
        ...

    @property
    def dimension(self) -> str | None:
        """The property it is about."""
        ...

    @property
    def level(self) -> str | None:
        """What is wrong there."""
        ...

    @property
    def statement(self) -> str:
        """What it says."""
        ...


H = TypeVar("H", bound=Told)


def mechanism_of(one: Told) -> tuple[str, ...] | None:
    """Return what hypotheses about different properties share that are one mechanism.

    That is the family and what is wrong; where one property was written for another, the two
    namespaces, if the names in them are the same.
    """
    if not one.is_mechanism or one.dimension is None or one.level is None:
        return None
    slip = _slip(one.dimension, one.level)
    if slip is not None:
        return (one.family, *slip[:2])
    if one.kind == _DATATYPE:
        # A text that has no language is another slip than a text in place of a thing.
        return (one.family, one.level, _without_name(one.statement, one.dimension))
    return None if one.kind == _MAPPING else (one.family, one.level)


def _without_name(statement: str, dimension: str) -> str:
    """Return a statement without the name of the property it is about, or its label and name."""
    name = re.escape(re.split("[/#:]", dimension.rstrip(">"))[-1])
    return re.sub(rf"(“[^”]*” \()?\b{name}\b\)?", "", statement, count=1)


def _slip(right: str, wrong: str) -> tuple[str, str, str] | None:
    """Return the namespaces of two IRIs with one name, and the name; None for any others."""
    one, other = _IRI.fullmatch(right), _IRI.fullmatch(wrong)
    if one is None or other is None or one[2] != other[2]:
        return None
    return one[1], other[1], one[2]


def merged(groups: Sequence[Sequence[H]], origins: Mapping[str, object]) -> list[list[H]]:
    """Join the groups of causes that are one mechanism over several properties.

    `origins` says where the failures of a mechanism come from, by its IRI: what comes from two
    places, or of which it is known for one alone, is not one.
    """
    found: dict[object, list[H]] = {}
    for place, group in enumerate(groups):
        shared = {mechanism_of(one) for one in group if one.is_mechanism}
        known = {origins[one.id] for one in group if one.id in origins}
        alone = len(shared) != 1 or None in shared or len(known) > 1
        key = place if alone else (next(iter(shared)), next(iter(known), None))
        found.setdefault(key, []).extend(group)
    return list(found.values())


def parts(group: Sequence[H]) -> list[H]:
    """Return a mechanism of each property, by its words, where a cause is about several."""
    first: dict[str, H] = {}
    for one in group:
        if one.is_mechanism and one.dimension is not None:
            first.setdefault(one.dimension, one)
    return sorted(first.values(), key=lambda one: one.statement) if len(first) > 1 else []


def told_of(group: Sequence[Told]) -> str | None:
    """Return what a cause that is about several properties is told as; None for any other."""
    several = [(one.statement, one.dimension or "", one.level or "") for one in parts(group)]
    return said_together(several) if several else None


def said_together(told: Sequence[tuple[str, str, str]]) -> str:
    """Return in one sentence what several hypotheses say: statement, property, what is wrong there.

    Of one wrong namespace it tells both and the names. Of anything else the first statement, and of
    what else the same holds: the words in which the others differ from it.
    """
    slips = [_slip(right, wrong) for _, right, wrong in told]
    names = sorted(slip[2] for slip in slips if slip is not None)
    if slips[0] is not None and len(names) == len(told):
        right, wrong, _ = slips[0]
        return f"What stands under “{right}” was written under “{wrong}”: {_listed(names)}."
    statements = [statement for statement, *_ in told]
    words = [text.removesuffix(".").split() for text in statements]
    shortest = min(map(len, words))
    head = next((n for n in range(shortest) if len({w[n] for w in words}) > 1), shortest)
    rest = shortest - head
    tail = next((n for n in range(rest) if len({w[-1 - n] for w in words}) > 1), rest)
    others = [" ".join(w[head : len(w) - tail]).strip(",;") for w in words[1:]]
    number = f"{len(others)} more {'property' if len(others) == 1 else 'properties'}"
    return f"{statements[0]} The same holds of {_listed(others) if all(others) else number}."


def _listed(names: Sequence[str]) -> str:
    shown, rest = list(names[:_NAMED]), len(names) - _NAMED
    shown += [f"{rest} more"] if rest > 0 else []
    return f"{', '.join(shown[:-1])} and {shown[-1]}" if shown[1:] else shown[0]
