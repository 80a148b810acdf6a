"""Memory: a rejected hypothesis is not proposed again unless data, question or policy changed."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import pyoxigraph as ox

from kgreason.base.errors import QueryError
from kgreason.base.figures import integer
from kgreason.base.store import Row
from kgreason.base.terms import TRAILS
from kgreason.context.context import Context, pattern
from kgreason.context.symptom import Symptom
from kgreason.context.view import View, members
from kgreason.hypothesize.candidates import Candidate
from kgreason.hypothesize.wording import MORE_OFTEN, wording
from kgreason.record.record import literal

_REJECTED: Final = frozenset({TRAILS.Refuted, TRAILS.Pruned, TRAILS.Archived})
_COMPARED: Final = integer("compared")
_WORD: Final = re.compile(r"\w+")


@dataclass(frozen=True)
class Past:
    """An earlier hypothesis with its status.

    `changed` says what has changed since (None if nothing has). `own` is true if it belongs to
    this investigation.
    """

    hypothesis: ox.NamedNode
    words: frozenset[str]
    pattern: str
    status: ox.NamedNode
    own: bool
    changed: str | None

    @property
    def rejected(self) -> bool:
        """Whether it was refuted, pruned or archived."""
        return self.status in _REJECTED

    @property
    def why(self) -> str:
        """The status and the IRI of the hypothesis, as a phrase."""
        name = self.status.value.rpartition("#")[2].lower()
        return f"{name} as {self.hypothesis.value}"


@dataclass
class Memory:
    """The hypotheses that were proposed for a symptom before a round.

    Two hypotheses are the same if the Jaccard overlap of their nodes is at least `region`, or that
    of their words at least `share`.
    """

    context: Context
    symptom: Symptom
    view: View
    past: Sequence[Past]
    region: float
    share: float

    def of(self, candidate: Candidate) -> Past | None:
        """Return the earlier hypothesis that a candidate repeats, or None.

        One with the same pattern comes first, then the newest rejected one with nearly the same
        words or nodes.
        """
        for past in self.past:
            if past.pattern == candidate.pattern.text:
                return past
        words = self._words(candidate)
        for past in self.past:
            if past.rejected and (
                _alike(words, past.words) >= self.share or self._near(candidate, past)
            ):
                return past
        return None

    def rejected(self, candidate: Candidate) -> bool:
        """Check whether a candidate was rejected before and nothing has changed since."""
        past = self.of(candidate)
        return past is not None and past.rejected and past.changed is None

    def known(self, candidate: Candidate) -> bool:
        """Check whether a candidate was proposed before in this investigation, or is rejected.

        A candidate with the same nodes as an earlier proposal counts as that proposal.
        """
        past = self.of(candidate)
        if past is not None and (past.own or (past.rejected and past.changed is None)):
            return True
        return candidate.members in self._looked_at

    def _words(self, candidate: Candidate) -> frozenset[str]:
        told = wording(candidate, self.context.names, self.symptom.constraint)
        return _words(told.statement)

    def _near(self, candidate: Candidate, past: Past) -> bool:
        other = self._regions.get(past.hypothesis.value)
        if other is None or not candidate.members:
            return False
        own = candidate.members & self._everyone
        union = (own | other).bit_count()
        return (own & other).bit_count() / union >= self.region

    @cached_property
    def _regions(self) -> dict[str, int]:
        """Return the nodes of each rejected region, by the IRI of its hypothesis."""
        rejected = [p for p in self.past if p.rejected and p.changed is None][:_COMPARED]
        found = {past.hypothesis.value: self._nodes(past) for past in rejected}
        return {name: nodes for name, nodes in found.items() if nodes is not None}

    @cached_property
    def _looked_at(self) -> set[int | None]:
        """Return the nodes of every region that this investigation proposed."""
        return {self._nodes(past) for past in self.past if past.own}

    def _nodes(self, past: Past) -> int | None:
        try:
            return members(self.view, pattern(past.pattern)) & self._everyone
        except QueryError:
            return None  # the pattern names marks of a scratch copy that is gone

    @property
    def _everyone(self) -> int:
        return self.view.marks.population.everyone


def remembered(context: Context, symptom: Symptom, view: View, round_: int) -> Memory:
    """Return the memory of a symptom at the beginning of a round.

    It is empty if the policy has no policy:sameRegion.
    """
    numbers = context.policy.numbers
    past: list[Past] = []
    if "sameRegion" in numbers:
        rows = context.record.select("past", symptom=symptom.node, round=literal(round_))
        past = [_past(context, symptom, row) for row in rows]
    region, share = (float(numbers.get(name, 2)) for name in ("sameRegion", "sameWords"))
    return Memory(context, symptom, view, past, region, share)


def _past(context: Context, symptom: Symptom, row: Row) -> Past:
    own = row["own"].value == "true"
    return Past(
        ox.NamedNode(row["hypothesis"].value),
        _words(row["statement"].value),
        row["pattern"].value,
        ox.NamedNode(row["status"].value),
        own,
        None if own else _changed(context, symptom, row),
    )


def _changed(context: Context, symptom: Symptom, row: Row) -> str | None:
    """Describe what has changed since the investigation of a row; None if nothing has."""
    now = {
        "the data": context.graph.fingerprint,
        "the question": symptom.constraint.outcome_query,
        "the split of the data (--seed)": str(context.seed),
        "the policy": f"{context.policy.iri.value} {context.policy.version}",
    }
    then = {
        "the data": row["fingerprint"].value,
        "the question": row["query"].value,
        "the split of the data (--seed)": row["seed"].value,
        "the policy": f"{row['policy'].value} {row['version'].value}",
    }
    found = [name for name in now if now[name] != then[name]]
    return " and ".join(found) or None


def _words(text: str) -> frozenset[str]:
    # How often a region fails may have changed since; what the statement is about has not.
    return frozenset(_WORD.findall(text.replace(MORE_OFTEN, "").casefold()))


def _alike(one: frozenset[str], other: frozenset[str]) -> float:
    """Return the Jaccard overlap, 0 to 1, of two sets of words."""
    union = len(one | other)
    return len(one & other) / union if union else 0.0
