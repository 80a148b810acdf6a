"""Options: the paths, values and tests of which a model may make a region; it may use no others.

All are read off the discovery half.
"""

import difflib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from pyoxigraph import BlankNode, Literal, NamedNode

from kgreason.base.store import Term
from kgreason.base.templates import template
from kgreason.base.terms import XSD
from kgreason.context.view import View
from kgreason.graph.names import Names
from kgreason.hypothesize.conditions.atlas import Atlas, Table
from kgreason.hypothesize.conditions.language import path_written
from kgreason.hypothesize.conditions.paths import Path
from kgreason.hypothesize.conditions.search import atlas_of
from kgreason.record.policy import kinds

TESTS: Final[Mapping[str, tuple[int, int]]] = {
    "equals": (1, 1), "one-of": (2, 6), "all-but": (1, 1), "lacks": (1, 1), "exists": (0, 0),
    "missing": (0, 0), "contains": (1, 1), "from": (1, 1), "until": (1, 1), "window": (2, 2),
    "many": (1, 1), "few": (1, 1),
}  # fmt: skip
"""The tests that are offered, each with the least and the most values that it takes."""
COUNTED: Final = frozenset({"many", "few"})
BOUNDED: Final = frozenset({"from", "until", "window"})
SELECT: Final = "door select"
"""The option to write a SELECT of ?focus in place of conditions."""
_COUNTS: Final = tuple(Literal(str(n), datatype=XSD.integer) for n in range(1, 6))
_FIRST: Final = 16
_SECOND: Final = 16
_VALUES: Final = 10
_WORDS: Final = 10
_BOUNDS: Final = 7
_NEAR: Final = 3
_LONGEST: Final = 200
_WORD: Final = re.compile(r"[^\W\d_]{3,30}")
_DATE: Final = re.compile(r"[12][0-9]{3}(-[01][0-9](-[0-3][0-9].*)?)?")


@dataclass(frozen=True)
class Told:
    """A value at the end of a path, with how many nodes have it and how many of these fail."""

    term: Literal | NamedNode
    inside: int
    failing: int


@dataclass(frozen=True)
class Offer:
    """A path with its values: whole ends, words in texts, and bounds of numbers or dates."""

    name: str
    path: Path
    words: str
    reached: int
    ends: tuple[Told, ...] = ()
    pieces: tuple[Told, ...] = ()
    bounds: tuple[Literal, ...] = ()
    dated: bool = False

    @property
    def option(self) -> str:
        """The path as it stands in the record."""
        return f"path {json.dumps(path_written(self.path), sort_keys=True)}"

    def values(self, test: str) -> list[Literal | NamedNode]:
        """Return the values that a test on this path may name."""
        if test in COUNTED:
            return list(_COUNTS)
        if test == "contains":
            return [told.term for told in self.pieces]
        if test in BOUNDED:
            return list(self.bounds)
        return [told.term for told in self.ends]


@dataclass(frozen=True)
class Options:
    """All that is offered; `select` says whether a SELECT may stand in place of conditions."""

    offers: tuple[Offer, ...]
    kinds: tuple[str, ...]
    select: bool = True
    iris: frozenset[str] = field(default=frozenset(), repr=False)

    @property
    def recorded(self) -> tuple[str, ...]:
        """Each option as a text for the record."""
        values = {
            f"term {term}"
            for offer in self.offers
            for test in ("equals", "contains", "from", "many")
            for term in offer.values(test)
        }
        door = (SELECT,) if self.select else ()
        return (
            *(offer.option for offer in self.offers),
            *sorted(values),
            *(f"test {name}" for name in TESTS),
            *(f"kind {name}" for name in self.kinds),
            *door,
        )

    def path(self, given: str) -> Offer | None:
        """Return the path of a name, or the only one whose words or last property are given."""
        wanted = given.strip().strip("<>")
        for offer in self.offers:
            if wanted.casefold() == offer.name.casefold():
                return offer
        alike = [o for o in self.offers if wanted in {o.words, *_last(o)}]
        return alike[0] if len(alike) == 1 else None

    def near_paths(self, given: str) -> str:
        """Return the paths that are called most like what was given, in words."""
        called = {key: o for o in self.offers for key in (o.name, o.words, *_last(o))}
        found = dict.fromkeys(
            called[key].name for key in difflib.get_close_matches(given, called, 5, 0.3)
        )
        names = list(found)[:_NEAR] or [offer.name for offer in self.offers[:_NEAR]]
        return ", ".join(f"{o.name} ({o.words})" for o in self.offers if o.name in names)


def value_of(offer: Offer, test: str, given: str) -> Literal | NamedNode | None:
    """Return the value that a test on a path may name and that was given, or None."""
    several = offer.values(test)
    for term in several:
        if given in {str(term), term.value}:
            return term
    alike = [term for term in several if term.value.casefold() == given.strip("<>").casefold()]
    return alike[0] if len(alike) == 1 else None


def near_values(offer: Offer, test: str, given: str) -> str:
    """Return the values that are most like what was given, in words."""
    texts = {term.value: str(term) for term in offer.values(test)}
    found = difflib.get_close_matches(given, texts, _NEAR, 0.3) or list(texts)[:_NEAR]
    return ", ".join(texts[one] for one in found) or "none"


def options(view: View, names: Names, *, select: bool = True) -> Options:
    """Return what is offered on a view: what its discovery half has at the end of short paths."""
    atlas = atlas_of(view, half=view.marks.node.first)
    failing = view.marks.failing_mask & atlas.nodes
    tables = list(_tables(atlas))
    offers = tuple(
        _offer(f"P{n}", table, failing, names) for n, table in enumerate(tables, start=1)
    )
    named = {step.along.value for offer in offers for step in offer.path.steps}
    named |= {t.term.value for o in offers for t in o.ends if isinstance(t.term, NamedNode)}
    return Options(offers, tuple(sorted(set(kinds()) - {"none"})), select, frozenset(named))


def compiled(offer: Offer, test: str, values: Sequence[Literal | NamedNode]) -> dict[str, object]:
    """Return a condition in the language of conditions, as plain JSON."""
    wanted = template("condition", test).parameters
    terms: dict[str, object] = {}
    rest = [str(value) for value in values]
    for name, parameter in wanted.items():
        if name in {"route", "value"}:
            continue
        if parameter.type == "flag":
            terms[name] = offer.dated
        elif parameter.type == "terms":
            terms[name] = rest
        else:
            terms[name] = rest.pop(0)
    return {"path": path_written(offer.path), "test": test, "terms": terms}


def _last(offer: Offer) -> set[str]:
    if not offer.path.steps:
        return set()
    along = offer.path.steps[-1].along.value
    return {along, re.split(r"[/#:]", along)[-1]}


def _tables(atlas: Atlas) -> Iterable[Table]:
    """Return the tables of the paths of one step that most nodes have, and of two behind these."""
    first = sorted(atlas.ways(Path()), key=lambda w: (-w.reached, str(w.step)))[:_FIRST]
    ways = []
    for way in first:
        path = Path((way.step,))
        table = atlas.table(path)
        yield table
        if any(not isinstance(end, Literal) for end in table.ends):
            ways += [(path, second) for second in atlas.ways(path)]
    ways.sort(key=lambda each: (-each[1].reached, str(each)))
    forward = [each for each in ways if each[1].step.kind == "forward"]
    for path, second in forward[:_SECOND]:
        yield atlas.table(path.then(second.step))


def _offer(name: str, table: Table, failing: int, names: Names) -> Offer:
    masks: dict[Term, int] = {
        end: mask
        for end, mask in table.ends.items()
        if not isinstance(end, BlankNode) and len(end.value) <= _LONGEST
    }
    words: dict[Term, int] = {}
    for end, mask in masks.items():
        for word in set(_WORD.findall(end.value)) if isinstance(end, Literal) else ():
            words[Literal(word)] = words.get(Literal(word), 0) | mask
    bounds, dated = _bounds(masks)
    return Offer(
        name,
        table.path,
        table.path.words(names),
        table.some.bit_count(),
        _best(masks, failing, _VALUES),
        _best(words, failing, _WORDS) if len(words) > 1 else (),
        bounds,
        dated,
    )


def _best(masks: Mapping[Term, int], failing: int, most: int) -> tuple[Told, ...]:
    """Return the values with the most failing nodes beyond their share, and the most frequent."""
    whole = 0
    for mask in masks.values():
        whole |= mask
    rate = (whole & failing).bit_count() / max(1, whole.bit_count())
    told = [
        Told(term, mask.bit_count(), (mask & failing).bit_count())
        for term, mask in masks.items()
        if isinstance(term, Literal | NamedNode)
    ]
    told.sort(key=lambda t: (t.inside * rate - t.failing, str(t.term)))
    best = told[:most]
    rest = sorted(told[most:], key=lambda t: (-t.inside, str(t.term)))
    return (*best, *rest[: most // 2])


def _bounds(masks: Mapping[Term, int]) -> tuple[tuple[Literal, ...], bool]:
    """Return a few of the numbers or dates among the ends, evenly by rank, and whether dates."""
    literals = [end for end in masks if isinstance(end, Literal)]
    dates = sorted({e.value: e for e in literals if _DATE.fullmatch(e.value)}.values(), key=_text)
    dated = len(dates) > 1 and all(e.datatype.value.startswith(f"{XSD.iri}date") for e in dates)
    if dated:
        return _evenly(dates), True
    numbers = [e for e in literals if _number(e) is not None]
    return _evenly(sorted(numbers, key=lambda e: (_number(e) or 0.0, e.value))), False


def _evenly(ordered: Sequence[Literal]) -> tuple[Literal, ...]:
    if len(ordered) <= _BOUNDS:
        return tuple(ordered) if len(ordered) > 1 else ()
    places = {round(n * (len(ordered) - 1) / (_BOUNDS - 1)) for n in range(_BOUNDS)}
    return tuple(ordered[place] for place in sorted(places))


def _text(literal: Literal) -> str:
    return literal.value


def _number(literal: Literal) -> float | None:
    if literal.datatype == XSD.string:
        return None
    try:
        return float(literal.value)
    except ValueError:
        return None
