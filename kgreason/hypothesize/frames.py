"""From candidates to frames of rivals."""

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from kgreason.base.budget import ask
from kgreason.base.figures import integer
from kgreason.context.view import View
from kgreason.hypothesize.ahead import candidates_of
from kgreason.hypothesize.bindings import NUMBER
from kgreason.hypothesize.candidates import Candidate, Key, filled
from kgreason.hypothesize.conditions.seam import WRITTEN, Reached, reached
from kgreason.hypothesize.conjunctions import pairs
from kgreason.hypothesize.consulting import Consult, Consulted
from kgreason.hypothesize.filters import ALONE, MINED, TOGETHER, Dropped, Filter, Round
from kgreason.hypothesize.filters.ranks import best_first
from kgreason.hypothesize.nested import both_stand
from kgreason.hypothesize.overlaps import RIVALS, contained
from kgreason.hypothesize.proposer import ENGINE_PROPOSERS, Proposer
from kgreason.hypothesize.unpaid import barred

NEAREST: Final = integer("nearest")


@dataclass(frozen=True)
class Frame:
    """Rivals about the same failing nodes, best first."""

    aspect: str
    members: tuple[Candidate, ...]


@dataclass(frozen=True)
class Filtering:
    """A run of a filter in a round: how many candidates it got, and which ones it dropped.

    `exact` says whether the nodes of these were counted one by one.
    """

    by: Filter
    considered: int
    dropped: tuple[Dropped, ...]
    exact: bool = True


@dataclass(frozen=True)
class Proposal:
    """Frames of rivals, the best first, and the runs of the filters that dropped the others.

    `reached` says how far the search in conditions went, where one was made; `consulted` is what
    proposers outside the engine said, and what of it was refused.
    """

    frames: tuple[Frame, ...] = ()
    filterings: tuple[Filtering, ...] = ()
    reached: Reached | None = None
    consulted: tuple[Consulted, ...] = ()

    def dropped(self, *names: str) -> tuple[Candidate, ...]:
        """Return the candidates with exact counts that filters of these names dropped."""
        return tuple(d.candidate for d in self.all_dropped() if d.by.name in names)

    def all_dropped(self) -> Iterator[Dropped]:
        """Return all dropped candidates with exact counts."""
        for run in self.filterings:
            if run.exact:
                yield from run.dropped


def propose(
    view: View,
    limit: int,
    rejected: Callable[[Candidate], bool],
    found_wanting: frozenset[Key] = frozenset(),
    proposers: Sequence[Proposer] = ENGINE_PROPOSERS,
    suggested: Container[str] = (),
    consult: Consult = candidates_of,
) -> Proposal:
    """Return at most `limit` candidates in frames of rivals, and why the others were dropped.

    `rejected` checks whether a candidate was rejected before. What has a key in `found_wanting`
    was tested in vain, and nothing yields to others of its family. `proposers` are asked in their
    order, by `consult`; `suggested` are the numbers of the suggestions that are hypotheses already.
    Raises Spent where the budget of the view is spent on the way.
    """
    round_ = Round(limit, rejected, found_wanting)
    mined, given = (
        [c for each in proposers if each.mines is mines for c in consult(view, each)]
        for mines in (True, False)
    )
    best, rough = sifted(view, mined, round_, MINED, exact=False)
    counted = [filled(view, c) for c in best or _nearest(mined)]
    counted += [c for c in given if c.said.get(NUMBER, "") not in suggested]
    single, alone = sifted(view, counted, round_, ALONE)
    both = barred(view, single + pairs(view, single))
    kept, together = sifted(view, both, round_, TOGETHER)
    return Proposal(framed(view, kept), (*rough, *alone, *together), reached(view))


def _nearest(mined: Iterable[Candidate]) -> list[Candidate]:
    """Return the best of those that are not good enough: they are dropped again, and recorded."""
    return sorted((c for c in mined if c.score > 0), key=best_first)[:NEAREST]


def sifted(
    view: View,
    candidates: Sequence[Candidate],
    round_: Round,
    filters: Iterable[Filter],
    *,
    exact: bool = True,
) -> tuple[list[Candidate], list[Filtering]]:
    """Return the candidates that pass all of some filters, and the runs that dropped others."""
    kept = list(candidates)
    runs = []
    for each in filters:
        ask(view.budget, f"filter {each.name}")
        found = each(view, kept, round_)
        if found.dropped:
            runs.append(Filtering(each, len(kept), tuple(found.dropped), exact))
        kept = found.kept
    return kept, runs


def _rivals(view: View, one: Candidate, other: Candidate) -> bool:
    """Check whether two candidates explain the same failing nodes: one excludes the other."""
    if _piece(one, other) or _piece(other, one):
        return False
    return _shared(view, one, other) >= RIVALS and not both_stand(view, one, other)


def _piece(one: Candidate, other: Candidate) -> bool:
    """Check whether a mechanism is a narrower form of another: both hold, and are told as one.

    So it is with one wrong form of two properties, where the nodes of one all have the other, and
    with two forms of the constrained value, of which conditions tell one.
    """
    kinds = {c.family.header["kind"] for c in (one, other)}
    direct = one.is_mechanism and other.is_mechanism
    smaller = one.claimed.bit_count() < other.claimed.bit_count()
    named = _same(one, other, "dimension") or _same(one, other, "level")
    on_value = kinds == {"value"} and any(WRITTEN in c.values for c in (one, other))
    alike = len(kinds) == 1 and (named or on_value)
    return direct and alike and smaller and not one.claimed & ~other.claimed


def _same(one: Candidate, other: Candidate, name: str) -> bool:
    """Check whether two candidates of a family bound the same term, or of any the same property."""
    found = {c.values.get(name) for c in (one, other)}
    shared = name == "dimension" or one.family.name == other.family.name
    return shared and len(found) == 1 and None not in found


def _shared(view: View, one: Candidate, other: Candidate) -> float:
    """Return how much of what the smaller one claims the other claims too, beyond chance, up to 1.

    A region of half of all nodes has half of any failures in it, and explains none of them.
    """
    _, large = sorted((one, other), key=lambda c: c.claimed.bit_count())
    half = view.marks.node.discovery_mask
    usual = (large.members & half).bit_count() / max(1, half.bit_count())
    return (contained(one, other) - usual) / (1 - usual) if usual < 1 else 0.0


def framed(view: View, candidates: Sequence[Candidate]) -> tuple[Frame, ...]:
    """Put candidates, the best of each aspect first, in frames of rivals, the best first."""
    out: list[Frame] = []
    for aspect in ("mechanism", "origin"):
        groups: list[list[Candidate]] = []
        for candidate in (c for c in candidates if c.aspect == aspect):
            home = next((g for g in groups if _rivals(view, g[0], candidate)), None)
            if home is None:
                groups.append([candidate])
            else:
                home.append(candidate)
        out += [Frame(aspect, tuple(group)) for group in groups]
    return tuple(sorted(out, key=lambda f: best_first(f.members[0])))
