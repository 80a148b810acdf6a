"""Compare two investigations: which causes and symptoms are new, gone, grown, shrunk or the same.

A cause is known again by what it says (its fingerprint, else its statement), else by its nodes:
the regions of then are run on the data of now.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

import pyoxigraph as ox

from kgreason.base.errors import KgreasonError
from kgreason.base.figures import figure
from kgreason.base.store import check_query, guarded_select
from kgreason.report.focus_nodes import AtHand
from kgreason.report.result import Result

SAME: Final = figure("sameCauseShare")
_SECONDS: Final = 60.0
_ORDER: Final = ("new", "grown", "same", "shrunk", "gone")
Told = Mapping[str, Any]
"""A result as in docs/result.schema.json."""
_Failing = frozenset[tuple[str, str]]


@dataclass(frozen=True)
class ComparedCause:
    """A cause of two investigations, or of one of them.

    `what` is new, gone, grown, shrunk or same; `before` and `after` are its names there (C1), None
    where it is not told; `failing_before` and `failing_after` count the failing nodes it holds.
    `by` says how it was known again: words or nodes. `narrows` says that it tells where failures
    lie, and explains none.
    """

    what: str
    statement: str
    before: str | None
    after: str | None
    failing_before: int
    failing_after: int
    by: str | None
    narrows: bool


@dataclass(frozen=True)
class ComparedSymptom:
    """A broken rule of two investigations, or of one of them, with its failing nodes in both."""

    what: str
    name: str
    failing_before: int
    failing_after: int


@dataclass(frozen=True)
class Comparison:
    """How an investigation differs from one before it; `said` tells how far that can be known."""

    before: str
    after: str
    causes: tuple[ComparedCause, ...]
    symptoms: tuple[ComparedSymptom, ...]
    said: tuple[str, ...]

    @property
    def new(self) -> tuple[ComparedCause, ...]:
        """The causes that were not told before; what only narrows down is none."""
        return tuple(one for one in self.causes if one.what == "new" and not one.narrows)

    def as_dict(self) -> dict[str, Any]:
        """Return it for JSON."""
        return asdict(self)

    @property
    def summary(self) -> str:
        """One sentence: how many causes are new, grown, the same, shrunk and gone."""
        counts = [(sum(one.what == what for one in self.causes), what) for what in _ORDER]
        told = ", ".join(f"{n} {'the same' if what == 'same' else what}" for n, what in counts if n)
        return f"Causes compared with {self.before}: {told or 'none in either'}."


def compare(
    before: Told,
    after: Told,
    result: Result | None = None,
    *,
    names: tuple[str, str] = ("before", "after"),
) -> Comparison:
    """Compare two results; with the data of `result`, which is the one after, by nodes too."""
    rules = _rules(before, after)
    old, new = list(before["causes"]), list(after["causes"])
    pairs = _by_words(old, new)
    left = [[one for one in each if not _taken(one, pairs)] for each in (old, new)]
    said: list[str] = []
    if all(left):
        if result is None or result.at_hand is None:
            said.append(
                "The data of the later investigation are not at hand, so causes were matched by "
                "what they say alone: one told in other words counts as gone and as new."
            )
        else:
            held = _Held(result, result.at_hand, said)
            sides = (
                [(one, held.failing(before, one, rules)) for one in left[0]],
                [(one, held.failing(after, one, {})) for one in left[1]],
            )
            pairs += _by_nodes(*sides)
    causes = sorted(_causes(old, new, pairs), key=lambda one: _ORDER.index(one.what))
    return Comparison(*names, tuple(causes), tuple(_symptoms(before, after, rules)), tuple(said))


_Pair = tuple[dict[str, Any], dict[str, Any], str]


def _by_words(old: Sequence[dict[str, Any]], new: Sequence[dict[str, Any]]) -> list[_Pair]:
    """Pair causes that say the same."""
    pairs: list[_Pair] = []
    for key in ("fingerprint", "statement"):
        for one in new:
            for other in old:
                same = one.get(key) is not None and one.get(key) == other.get(key)
                if same and not _taken(one, pairs) and not _taken(other, pairs):
                    pairs.append((other, one, "words"))
    return pairs


def _taken(cause: dict[str, Any], pairs: Sequence[_Pair]) -> bool:
    return any(cause is each for pair in pairs for each in pair[:2])


def _by_nodes(
    old: Sequence[tuple[dict[str, Any], _Failing]], new: Sequence[tuple[dict[str, Any], _Failing]]
) -> list[_Pair]:
    """Pair causes that hold the same failing nodes for the most part, the most alike first."""
    alike = [
        (len(had & has) / len(had | has), other, one)
        for one, has in new
        for other, had in old
        if had | has
    ]
    pairs: list[_Pair] = []
    for share, other, one in sorted(alike, key=lambda each: -each[0]):
        if share >= SAME and not _taken(one, pairs) and not _taken(other, pairs):
            pairs.append((other, one, "nodes"))
    return pairs


class _Held:
    """Finds the failing nodes of now in the regions of causes, whenever these were told."""

    def __init__(self, result: Result, at_hand: AtHand, said: list[str]) -> None:
        self._store = at_hand.graph.store
        seen = {one.constraint.key: one.observation.failing for one in at_hand.observed.symptoms}
        keys = {r["symptom"].value: r["key"].value for r in result.record.select("symptom-keys")}
        self._failing = {
            iri: frozenset(map(_name, seen[key])) for iri, key in keys.items() if key in seen
        }
        self._said = said

    def failing(self, told: Told, cause: Told, rules: Mapping[str, str]) -> _Failing:
        """Return the failing nodes of a cause, each with the symptom of now, as `rules` has it."""
        wanted = set(cause["hypotheses"])
        found: set[tuple[str, str]] = set()
        for symptom in told["symptoms"]:
            now = rules.get(symptom["id"], symptom["id"])
            for one in symptom["hypotheses"]:
                if one["id"] in wanted and one["region"] and now in self._failing:
                    inside = self._region(one["region"], cause["id"])
                    found |= {(now, node) for node in inside & self._failing[now]}
        return frozenset(found)

    def _region(self, region: str, name: str) -> set[str]:
        """Run a region; a text from a file is not trusted."""
        where = f"the region of {name}"
        try:
            check_query(region, where)
            rows = guarded_select(self._store, region, _SECONDS, where)
        except KgreasonError as error:
            self._said.append(f"{where} cannot be run on these data: {error}")
            return set()
        return {_name(row["focus"]) for row in rows if "focus" in row}


def _name(term: Any) -> str:
    return f"_:{term.value}" if isinstance(term, ox.BlankNode) else str(term)


def _causes(
    old: Sequence[dict[str, Any]], new: Sequence[dict[str, Any]], pairs: Sequence[_Pair]
) -> Iterator[ComparedCause]:
    known = {id(one): (other, by) for other, one, by in pairs}
    for one in new:
        other, by = known.get(id(one), (None, None))
        yield _compared(other, one, by)
    for other in old:
        if not _taken(other, pairs):
            yield _compared(other, None, None)


def _compared(
    before: dict[str, Any] | None, after: dict[str, Any] | None, by: str | None
) -> ComparedCause:
    told = after or before or {}
    counts = [0 if one is None else int(one["explains"]) for one in (before, after)]
    return ComparedCause(
        _what(before, after, *counts),
        told["statement"],
        None if before is None else before.get("id"),
        None if after is None else after.get("id"),
        counts[0],
        counts[1],
        by,
        bool(told["narrows"]),
    )


def _what(before: object, after: object, had: int, has: int) -> str:
    if before is None:
        return "new"
    if after is None:
        return "gone"
    return "grown" if has > had else "shrunk" if has < had else "same"


def _rules(before: Told, after: Told) -> dict[str, str]:
    """Return the symptom of now by that of then: by its key, else by what its rule is, or name."""
    ways: tuple[Callable[[Told], Any], ...] = (
        lambda one: one.get("key"),
        lambda one: one["shape"] and tuple(map(one.get, ("shape", "constraint", "axiom", "path"))),
        lambda one: one["name"],
    )
    found: dict[str, str] = {}
    for way in ways:
        known = {way(one): one["id"] for one in after["symptoms"] if way(one)}
        for one in before["symptoms"]:
            now = known.get(way(one))
            if one["id"] not in found and now is not None and now not in found.values():
                found[one["id"]] = now
    return found


def _symptoms(before: Told, after: Told, rules: Mapping[str, str]) -> Iterator[ComparedSymptom]:
    then = {rules[one["id"]]: one for one in before["symptoms"] if one["id"] in rules}
    rows = [(then.get(one["id"]), one) for one in after["symptoms"]]
    rows += [(one, None) for one in before["symptoms"] if one["id"] not in rules]
    made = []
    for old, new in rows:
        had, has = (0 if one is None else int(one["failing"]) for one in (old, new))
        name = (new or old or {})["name"]
        made.append(ComparedSymptom(_what(old, new, had, has), name, had, has))
    yield from sorted(made, key=lambda one: _ORDER.index(one.what))
