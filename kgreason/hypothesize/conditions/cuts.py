"""The tests on the ends of a path, cut from its table: which nodes each holds, and what it costs.

The number of values that a test could have named is counted over the population. Tests that are
few are all cut beforehand; bounds, windows, sets and pieces of text are too many, and are cut where
a search asks for the best of them.
"""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, reduce
from itertools import accumulate, chain
from operator import or_
from os.path import commonprefix
from typing import Final

from pyoxigraph import BlankNode, Literal, NamedNode

from kgreason.base.figures import figure, integer
from kgreason.base.store import Term
from kgreason.base.templates import Fragment, Value, role
from kgreason.base.terms import NUMERIC, TYPE, XSD
from kgreason.graph.marks import places
from kgreason.hypothesize.conditions.atlas import LEAST, RELATIONS, Atlas, Table
from kgreason.hypothesize.conditions.code import choice, log_choose
from kgreason.hypothesize.conditions.condition import Condition, Terms
from kgreason.hypothesize.conditions.ends import (
    datatype_of,
    date_of,
    hour_of,
    language_of,
    month_of,
    node_kind_of,
    number_of,
    part_of_week_of,
    weekday_of,
    written_as,
)
from kgreason.hypothesize.conditions.how_many import MOST_OF_FEW, counts, crowds
from kgreason.hypothesize.conditions.letters import (
    beginnings_of,
    forms,
    forms_of,
    is_address,
    lies_in,
    namespaces_of,
    outline_of,
    pieces_of,
)
from kgreason.hypothesize.conditions.ordered import Ordered
from kgreason.hypothesize.conditions.paths import Path
from kgreason.hypothesize.conditions.units import clustered_by

_COUNTS: Final = frozenset({"many", "few", "shared"})
_MEASURED: Final = frozenset({XSD.double, XSD.float, XSD.decimal})
MANY_ENDS: Final = integer("manyEnds")
_ORDERED_SHARE: Final = figure("orderedShare")
_BETWEEN: Final = "\x00"
"""A letter that stands in no text; where it does all the same, texts are looked at one by one."""


@cache
def costs() -> Mapping[str, float]:
    """Return the weight of each test among all, before it is known which can be said of a path."""
    return {name: 2.0 ** -float(t.header["cost"]) for name, t in role("condition").items()}


@dataclass(frozen=True)
class Level:
    """A number or date: as it is compared, as a query writes it, and the nodes that have it."""

    key: float | str
    term: Literal
    mask: int = field(repr=False)


class Cut:
    """All that can be said of the ends of one path."""

    def __init__(self, atlas: Atlas, table: Table) -> None:
        self.atlas, self.table, self.path = atlas, table, table.path
        self._everyone = atlas.nodes
        self._path_bits = atlas.bits(table.path)
        self._holding: dict[str, Condition] = {}
        self._bits: dict[tuple[str, int], float] = {}
        self.compared: dict[Path, list[Condition]] = {}
        self.between_dates: dict[Path, list[tuple[int, int]]] = {}
        self._extremes: dict[tuple[int, bool], Mapping[int, float | str]] = {}

    @cached_property
    def _plain(self) -> dict[str, list[tuple[Terms, int]]]:
        """The tests that are all cut beforehand, by name: terms and nodes."""
        return {name: found for name, found in self._all() if found}

    def _all(
        self,
    ) -> Iterator[tuple[str, list[tuple[Terms, int]]]]:
        table = self.table
        if self.atlas.is_throng(self.path):
            # Only how many there are says something, where none of them is a focus node.
            if not any(end in self.atlas.population.index for end in table.ends):
                yield "many", self._kept(counts(table, least=True))
                yield "few", self._kept(counts(table, least=False))
            return
        if self.path.steps:
            single = self._single()
            yield "equals", [((("term", t),), m) for t, m in single]
            yield "exists", self._kept([((), table.some)])
            yield "missing", self._kept([((), self._everyone & ~table.some)])
            if len(single) <= MANY_ENDS:
                yield "all-but", self._kept(((("term", t),), self._other(m)) for t, m in single)
                yield "lacks", self._kept(((("term", t),), self._everyone & ~m) for t, m in single)
            yield "under", self._kept(self._under())
            yield "many", self._kept(counts(table, least=True))
            yield "few", self._kept(counts(table, least=False))
            yield "shared", self._kept(crowds(self.atlas, table))
            yield "datatype", self._kept(self._grouped("datatype", datatype_of))
            yield "language", self._kept(self._grouped("language", language_of))
            days = (self._grouped("day", by) for by in (weekday_of, part_of_week_of))
            yield "weekday", self._kept(chain.from_iterable(days))
            yield "hours", self._kept(self._rounds(hour_of, _HOURS))
            yield "months", self._kept(self._rounds(month_of, _MONTHS))
        else:
            yield "namespace", self._kept(self._spaces(inside=True))
            yield "elsewhere", self._kept(self._spaces(inside=False))
        yield "node-kind", self._kept(self._grouped("kind", node_kind_of))
        yield "prefix", self._kept(self._prefixes())
        if not self._one_each:
            yield "form", self._kept(self._forms())
            for test in ("numbered", "outline"):
                yield test, self._kept(self._outlined(test))

    @property
    def _one_each(self) -> bool:
        """Whether nodes have sources of their own: what those are called are the nodes' names."""
        last = self.path.steps[-1].kind if self.path.steps else ""
        of_source = last in {"source", "described-in"}
        return of_source and len(self.table.ends) * 2 > self._everyone.bit_count()

    @cached_property
    def ways(self) -> Mapping[str, float]:
        """How many values each test could name, over the population."""
        out = {name: float(len(found)) for name, found in self._plain.items()}
        singles = len(self.single)
        if singles >= _LEAST_SINGLES:
            out["one-of"] = float(singles)
        if len(self.pieces) > 1:
            out["contains"] = float(len(self.pieces))
        steps = len(self.levels)
        if steps >= _LEAST_LEVELS:
            out["from"] = out["until"] = float(steps - 1)
            out["window"] = steps * (steps - 1) / 2
        # With which other path the end is compared costs what that path costs to say.
        if self.levels:
            out["later"] = 1.0
        if self.is_dated:
            out["soon"] = out["long"] = 1.0
        if singles >= _LEAST_SINGLES:
            out["same"] = out["differs"] = 1.0
        return out

    @cached_property
    def _weights(self) -> Mapping[str, float]:
        total = sum(costs()[name] for name in self.ways)
        return {name: choice(total / costs()[name]) for name in self.ways}

    def bits(self, test: str, named: int = 1) -> float:
        """Return what a condition of a test costs: the path, the test, and one of its values."""
        if (test, named) not in self._bits:
            self._bits[test, named] = self._worked_out(test, named)
        return self._bits[test, named]

    def _worked_out(self, test: str, named: int) -> float:
        spent = self._path_bits + self._weights[test]
        if test == "one-of":
            # The number of things named, evenly, and which of them.
            few = choice(MOST_OF_FEW - 1)
            return spent + few + log_choose(int(self.ways[test]), named)
        return spent + choice(self.ways[test])

    def says(self, condition: Condition) -> bool:
        """Check whether a condition is among those that were counted as what could be said."""
        test, named = condition.test, condition.named
        if test not in self.ways:
            return False
        if condition.beside is not None:
            return True
        if test == "one-of":
            known = {term for term, _ in self.single}
            return 1 < len(named) <= MOST_OF_FEW and known.issuperset(named)
        if test == "contains":
            text = named[0].value
            within = (piece for piece in pieces_of(text) if piece in self.pieces)
            return text in self.pieces or any(
                self.holding(piece).named[0].value == text for piece in within
            )
        if test in {"from", "until", "window"}:
            return condition.dated == self.is_dated
        # Any number can be said.
        cut = any(mask == condition.mask for _, mask in self._plain[test])
        return cut or (test in _COUNTS and condition.mask != 0)

    def said(self, test: str, terms: Terms, mask: int) -> Condition:
        """Make a condition with its bits."""
        named = len(terms[0][1]) if terms and isinstance(terms[0][1], list) else 1
        return Condition(self.path, test, terms, mask, self.bits(test, named))

    @cached_property
    def plain(self) -> list[Condition]:
        """Every condition of the tests that are cut beforehand."""
        return [
            Condition(self.path, name, terms, mask, self.bits(name))
            for name, found in self._plain.items()
            for terms, mask in found
        ]

    @property
    def narrow(self) -> bool:
        """Whether bounds and sets are so few that they can be drawn anew inside a region."""
        return bool(self.levels) or len(self.single) <= MANY_ENDS

    @cached_property
    def single(self) -> list[tuple[NamedNode | Literal, int]]:
        """The ends that can be named, with their nodes."""
        return self._single() if self.path.steps else []

    @cached_property
    def numbered(self) -> Mapping[int, int]:
        """The nodes of each end, by its number in the atlas."""
        return {self.atlas.number(end): mask for end, mask in self.table.ends.items()}

    @cached_property
    def things(self) -> frozenset[int]:
        """The numbers of the ends that are no literals."""
        ends = self.table.ends
        return frozenset(self.atlas.number(end) for end in ends if not isinstance(end, Literal))

    @cached_property
    def crowded(self) -> bool:
        """Whether an end is reached from so many nodes that sets are counted sooner than members.

        From one node or more of each 64, a machine word of a set.
        """
        reached = sum(mask.bit_count() for _, mask in self.single)
        return reached * 64 > len(self.single) * len(self.atlas.order)

    @cached_property
    def named(self) -> Mapping[int, list[int]]:
        """The places of the ends that can be named, by the nodes that reach them."""
        out: dict[int, list[int]] = {}
        for place, (_, mask) in enumerate(self.single):
            for node in places(mask):
                out.setdefault(node, []).append(place)
        return out

    def _single(self) -> list[tuple[NamedNode | Literal, int]]:
        most = self._everyone.bit_count()
        return [
            (term, mask)
            for term, mask in self.table.ends.items()
            if not isinstance(term, BlankNode) and LEAST <= mask.bit_count() < most
        ]

    def _kept(self, found: Iterable[tuple[Terms, int]]) -> list[tuple[Terms, int]]:
        """Leave out what holds next to nothing, or everything, or the same as the one before."""
        most, seen, out = self._everyone.bit_count(), set(), []
        for terms, mask in found:
            if LEAST <= mask.bit_count() < most and mask not in seen:
                seen.add(mask)
                out.append((terms, mask))
        return out

    def _other(self, mask: int) -> int:
        """Return the nodes that have an end other than that of these nodes."""
        some, two = self.table.at_least
        return (some & ~mask) | (mask & two)

    def _under(self) -> Iterator[tuple[Terms, int]]:
        for relation in RELATIONS:
            above = self.atlas.above(relation)
            masks: dict[Term, int] = {}
            for end, mask in self.table.ends.items():
                if end in above:
                    for upper in self.atlas.all_above(relation, end):
                        masks[upper] = masks.get(upper, 0) | mask
            for upper in sorted(masks, key=str):
                own = self.table.ends.get(upper, 0)
                if isinstance(upper, NamedNode) and masks[upper] | own != own:
                    yield (("relation", relation), ("term", upper)), masks[upper] | own

    def _grouped(
        self, name: str, group: Callable[[Term], NamedNode | Literal | None]
    ) -> Iterator[tuple[Terms, int]]:
        masks: dict[NamedNode | Literal | None, int] = {}
        for end, mask in self.table.ends.items():
            key = group(end)
            masks[key] = masks.get(key, 0) | mask
        for key in sorted(masks, key=str):
            if key is not None and len(masks) > 1:
                yield ((name, key),), masks[key]

    def _rounds(
        self, place: Callable[[Term], int | None], names: Sequence[tuple[str, str]]
    ) -> Iterator[tuple[Terms, int]]:
        """Yield the nodes of all hours, or months, in a row that a day or year can be cut to.

        The shortest come first. `names` say how each begins and ends.
        """
        size = len(names)
        masks = [0] * size
        for end, mask in self.table.ends.items():
            if (found := place(end)) is not None:
                masks[found] |= mask
        held = {found: mask for found, mask in enumerate(masks) if mask}
        for length in range(size - 1 if len(held) > 1 else 0):
            for first in tuple(held):
                last = (first + length) % size
                if masks[last]:
                    held[first] |= masks[last]
                    said = Literal(names[first][0]), Literal(names[last][1])
                    yield (("first", said[0]), ("last", said[1])), held[first]

    def _prefixes(self) -> Iterator[tuple[Terms, int]]:
        masks: dict[str, int] = defaultdict(int)
        for iri, mask in (*self._iris, *self._addresses):
            for beginning in beginnings_of(iri):
                masks[beginning] |= mask
        for text in sorted(masks, key=len, reverse=True):
            # What all ends have in common says no more than that there are any.
            if masks[text] != self.table.some or not self.path.steps:
                yield (("text", Literal(text)),), masks[text]

    def _spaces(self, *, inside: bool) -> Iterator[tuple[Terms, int]]:
        """Yield the nodes in each namespace, or those outside of it."""
        for space in self._namespaces:
            held = (mask for iri, mask in self._iris if lies_in(iri, space) == inside)
            yield (("text", Literal(space)),), reduce(or_, held, 0)

    @cached_property
    def _namespaces(self) -> list[str]:
        """The namespaces of the ends, the longest first; none where there are many."""
        found: Counter[str] = Counter()
        for iri, mask in self._iris:
            for space in namespaces_of(iri):
                found[space] += mask.bit_count()
        few = [space for space, nodes in found.items() if nodes >= LEAST]
        return sorted(few, key=len, reverse=True) if len(few) <= _SPACES else []

    @cached_property
    def _iris(self) -> list[tuple[str, int]]:
        ends = self.table.ends.items()
        return [(end.value, mask) for end, mask in ends if isinstance(end, NamedNode)]

    @cached_property
    def _addresses(self) -> list[tuple[str, int]]:
        """The texts that are web addresses: what they begin with tells what that of IRIs does."""
        ends = self.table.ends.items()
        return [(t.value, m) for t, m in ends if isinstance(t, Literal) and is_address(t.value)]

    def _forms(self) -> Iterator[tuple[Terms, int]]:
        masks = dict.fromkeys(forms(), 0)
        for text, held in self._texts:
            for form in forms_of(text):
                masks[form] |= held
        for form, mask in masks.items():
            yield (("form", Literal(form)),), mask

    def _told_by_word(self, example: str, mask: int) -> bool:
        """Check whether a piece of one of their texts holds the same nodes: it says more."""
        told = (piece for piece in pieces_of(example) if piece in self.pieces)
        return any(self._with_piece(piece) == mask for piece in told)

    def _outlined(self, test: str) -> Iterator[tuple[Terms, int]]:
        """Yield the nodes with texts that are written in one way, where there are several texts.

        What a word or a mark tells just as well is left to that.
        """
        alike: dict[str, list[tuple[str, int]]] = defaultdict(list)
        for end, mask in self.table.ends.items():
            if isinstance(end, Literal) and end.datatype not in NUMERIC:
                outline = outline_of(end.value, test)
                if outline is not None:
                    alike[outline].append((end.value, mask))
        for outline in sorted(alike):
            if len(alike[outline]) > 1:
                example, _ = min(alike[outline])
                held = reduce(or_, (mask for _, mask in alike[outline]))
                if not self._told_by_word(example, held):
                    yield (("example", Literal(example)),), held

    @cached_property
    def _texts(self) -> list[tuple[str, int]]:
        return [(end.value, self.table.ends[end]) for end in self._spelled]

    @cached_property
    def _spelled(self) -> list[NamedNode | Literal]:
        """The ends of which it may matter how they are spelt: no classes, no measured numbers."""
        if self.path.steps and self.path.steps[-1].along == TYPE:
            return []
        ends = (end for end in self.table.ends if not isinstance(end, BlankNode))
        return [e for e in ends if not (isinstance(e, Literal) and e.datatype in _MEASURED)]

    @cached_property
    def pieces(self) -> Counter[str]:
        """Words and runs of three letters, with (about) the number of nodes that have each."""
        found: Counter[str] = Counter()
        for mask, said in self._said if len(self._texts) > MOST_OF_FEW else ():
            held = mask.bit_count()
            if held == 1:
                found.update(said)
            else:
                for piece in said:
                    found[piece] += held
        most = self._everyone.bit_count()
        return Counter({p: n for p, n in found.items() if n >= LEAST and n != most})

    def holding(self, piece: str) -> Condition:
        """Return the condition that a piece stands in the text of the end."""
        if piece not in self._holding:
            text = Literal(self._widened(piece, list(self._with(piece))))
            mask = self._with_piece(piece)
            self._holding[piece] = self.said("contains", (("text", text),), mask)
        return self._holding[piece]

    def _with_piece(self, piece: str) -> int:
        """Return the nodes with a text in which a piece stands."""
        return reduce(or_, (self._texts[place][1] for place in self._with(piece)), 0)

    def _widened(self, piece: str, places: Sequence[int]) -> str:
        """Return all that IRIs with a piece have in common around it, which holds the same nodes.

        "/vocab/quantitykind/" tells more than "b/q". Of literals the piece itself is what is
        strange: a bracket, a letter wrongly decoded.
        """
        if not places or not all(self._are_iris[place] for place in places):
            return piece
        before, after = zip(
            *(self._texts[place][0].split(piece, maxsplit=1) for place in places), strict=True
        )
        # RUF071 warns of paths of files; here letters are compared.
        left = commonprefix([one[::-1] for one in before])[::-1]  # noqa: RUF071
        return f"{left}{piece}{commonprefix(after)}"  # noqa: RUF071

    @cached_property
    def _are_iris(self) -> list[bool]:
        return [isinstance(end, NamedNode) for end in self._spelled]

    def _with(self, piece: str) -> Iterator[int]:
        """Return the places of the texts in which a piece stands."""
        text, starts = self._joined
        if _BETWEEN in piece or text.count(_BETWEEN) != len(starts):
            yield from (place for place, (said, _) in enumerate(self._texts) if piece in said)
            return
        found = text.find(piece)
        while found >= 0:
            place = bisect_right(starts, found) - 1
            yield place
            after = starts[place + 1] if place + 1 < len(starts) else len(text)
            found = text.find(piece, after)

    @cached_property
    def _joined(self) -> tuple[str, list[int]]:
        """All texts in one, each with a mark at its end, and where each begins."""
        texts = [said for said, _ in self._texts]
        starts = [0, *accumulate(len(said) + 1 for said in texts)]
        return "".join(f"{said}{_BETWEEN}" for said in texts), starts[:-1]

    def shares(self, nodes: int) -> Counter[str]:
        """Return the pieces that stand in what these nodes reach, each with (about) how many."""
        found: Counter[str] = Counter()
        for held_by, said in self._said:
            held = (held_by & nodes).bit_count()
            if held == 1:
                found.update(said)
            elif held:
                for piece in said:
                    found[piece] += held
        return found

    @cached_property
    def _said(self) -> list[tuple[int, tuple[str, ...]]]:
        """The nodes of each text, and its pieces."""
        return [(mask, pieces_of(text)) for text, mask in self._texts]

    @cached_property
    def is_dated(self) -> bool:
        """Whether the levels are dates, and no numbers."""
        return bool(self.levels) and isinstance(self.levels[0].key, str)

    @cached_property
    def levels(self) -> list[Level]:
        """The numbers or dates at the end, in order."""
        literals = [(e, m) for e, m in self.table.ends.items() if isinstance(e, Literal)]
        if len(literals) < _LEAST_LEVELS or not self.path.steps:
            return []
        everyone = reduce(or_, (mask for _, mask in literals)).bit_count()
        for read in (number_of, date_of):
            masks: dict[float | str, int] = {}
            for end, mask in literals:
                if (key := read(end)) is not None:
                    masks[key] = masks.get(key, 0) | mask
            if reduce(or_, masks.values(), 0).bit_count() >= _ORDERED_SHARE * everyone:
                if len(masks) < _LEAST_LEVELS:
                    return []  # of which no bound can be said
                return [Level(k, written_as(k), masks[k]) for k in sorted(masks)]
        return []

    def extremes(self, letters: int, *, highest: bool) -> Mapping[int, float | str]:
        """Return the highest or the lowest level of each node, by the node's number.

        Of dates that is the text of so many letters.
        """
        if (letters, highest) not in self._extremes:
            out: dict[int, float | str] = {}
            for level in self.levels if highest else reversed(self.levels):
                key = level.key[:letters] if isinstance(level.key, str) else level.key
                out.update(dict.fromkeys(places(level.mask), key))
            self._extremes[letters, highest] = out
        return self._extremes[letters, highest]

    @cached_property
    def clusters(self) -> list[int]:
        """The nodes of each end as clusters; of times, those of each day."""
        return clustered_by(self.table)

    @cached_property
    def heights(self) -> list[int]:
        """The nodes of each level, in order."""
        return [level.mask for level in self.levels]

    @cached_property
    def ordered(self) -> Ordered:
        """The levels, to count nodes at."""
        return Ordered(self.heights)

    def between(self, test: str, first: int, last: int) -> Condition:
        """Return the condition that an end lies between two levels, both within."""
        mask = self.ordered.union(first, last)
        terms: list[tuple[str, Value]] = []
        if test in {"from", "window"}:
            terms.append(("from", self.levels[first].term))
        if test in {"until", "window"}:
            terms.append(("until", self.levels[last].term))
        return self.said(test, (*terms, ("dated", self.is_dated)), mask)

    def few(self, chosen: list[tuple[NamedNode | Literal, int]]) -> Condition:
        """Return the condition that the end is one of a few things."""
        mask, named = 0, list[NamedNode | Literal | Fragment]()
        for term, held in sorted(chosen, key=lambda c: str(c[0])):
            mask |= held
            named.append(term)
        return self.said("one-of", (("terms", named),), mask)


_HOURS: Final = [(f"{hour:02}:00", f"{hour:02}:59") for hour in range(24)]
_MONTHS: Final = [(f"{month:02}", f"{month:02}") for month in range(1, 13)]
_SPACES: Final = integer("fewNamespaces")
_LEAST_LEVELS: Final = integer("orderedLevels")
_LEAST_SINGLES: Final = integer("singles")


def cut_of(atlas: Atlas, table: Table) -> Cut:
    """Return the cut of a table of an atlas; symptoms of one population share it."""
    if table.path not in atlas.cut:
        atlas.cut[table.path] = Cut(atlas, table)
    made: Cut = atlas.cut[table.path]
    return made
