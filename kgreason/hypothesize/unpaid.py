"""What a family found on one half, where a condition with the same nodes does not pay."""

from collections.abc import Sequence
from dataclasses import replace

from kgreason.context.view import View, table
from kgreason.hypothesize.candidates import Candidate
from kgreason.hypothesize.conditions.code import SOME
from kgreason.hypothesize.conditions.seam import kinds_told, saves


def barred(view: View, candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return the candidates, those of too few bits with `paid` false, so that no gate lets them by.

    A family looks through thousands of regions on one half, and the best of them is tested on the
    other. Where nodes hang together, both halves agree by chance, and who asks with several seeds
    has several halves to choose from. Bits are of all nodes, the same for any seed, and pay for all
    that could have been said. From some bits on the tests on the other half decide, as they do of
    what no single condition holds, of what is checked directly, and of extensions. What is barred
    stays among its rivals, and is tested: without it they would seem more likely than they are.

    Of few nodes no region saves so many bits. Where all nodes of one fail, and of the others one at
    most, it is enough that to say so costs no more than it saves.
    """
    kinds = kinds_told()
    return [
        replace(candidate, paid=False)
        if _by_halves(candidate, kinds) and _is_unpaid(view, candidate)
        else candidate
        for candidate in candidates
    ]


def _is_unpaid(view: View, candidate: Candidate) -> bool:
    bits = saves(view, candidate.members)
    return bits is not None and bits < (0 if table(view, candidate.members).clear else SOME)


def _by_halves(candidate: Candidate, kinds: frozenset[str]) -> bool:
    """Check whether a family that comes along found a region that the search could tell."""
    return (
        candidate.seen is None
        and not candidate.by
        and not candidate.is_mechanism
        and not candidate.revises
        and candidate.family.header["kind"] in kinds
        and candidate.comes_along
    )
