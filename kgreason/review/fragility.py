"""Fragility: the least evidence whose removal changes what a symptom is put down to."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from pathlib import Path
from typing import Any, Final

from kgreason.base.store import Row
from kgreason.observe.opening import Progress, recorded_request
from kgreason.record import Ledger, Record, policy
from kgreason.record.ranking import symptoms
from kgreason.review.rejudge import Evidence, causes

EXACT: Final = 3
"""Sizes up to which every set is tried."""
_MOST: Final = 2000


@dataclass(frozen=True)
class Fragility:
    """The least evidence found whose removal gives a symptom other causes.

    `evidence` is empty where no removal does. `exact`: no smaller set does; else a smaller one may.
    """

    symptom: str
    name: str
    causes: tuple[str, ...]
    evidence: tuple[str, ...]
    exact: bool

    def as_dict(self) -> dict[str, Any]:
        """Return it for JSON."""
        return {
            "symptom": self.symptom,
            "name": self.name,
            "causes": list(self.causes),
            "evidence": list(self.evidence),
            "size": len(self.evidence) or None,
            "exact": self.exact,
        }


def fragility(
    ledger: str | Path,
    which: str | None = None,
    most: int = _MOST,
    progress: Progress | None = None,
) -> list[Fragility]:
    """Find for each symptom the least evidence on it that its causes hang on.

    Every set of up to three items is tried by judging the rest again, with the recorded policy, on
    a scratch copy, as long as a size needs at most `most` trials; beyond, the strongest items are
    removed until the causes change, and those put back that are not needed: an upper bound. Each
    trial judges the whole record, so that many symptoms take minutes; `progress` is told each one.

    Raises LedgerError, and OptionError where the policy is no more.
    """
    with Ledger.read(Path(ledger)) as store:
        record = store.record(store.entry(which))
        evidence = Evidence(record)
        used = policy.load(recorded_request(record).policy)
        names = {row["symptom"].value: row["name"].value for row in symptoms(record)}
        now = causes(evidence.judged(used))
        out = []
        for place, (symptom, found) in enumerate(now.items()):
            if progress is not None:
                progress(names[symptom], place, len(now))

            def flips(
                gone: Sequence[str], symptom: str = symptom, found: frozenset[str] = found
            ) -> bool:
                return causes(evidence.judged(used, frozenset(gone)))[symptom] != found

            items = [
                row["evidence"].value
                for row in sorted(evidence.judgements, key=_strongest_first)
                if "evidence" in row and row["symptom"].value == symptom
            ]
            gone, exact = _least(items, flips, most)
            out.append(Fragility(symptom, names[symptom], tuple(sorted(found)), gone, exact))
        return out


def on_one_test(record: Record, among: Collection[str]) -> list[str]:
    """Return those of some supported hypotheses that one test less would leave unsupported.

    Each piece of evidence on them is left out in turn, and the rest judged again with the policy
    that the record holds.
    """
    evidence, used = Evidence(record), policy.of_record(record)
    items = [
        (row["hypothesis"].value, row["evidence"].value)
        for row in evidence.judgements
        if "evidence" in row and row["hypothesis"].value in among
    ]
    now = frozenset[str]().union(*causes(evidence.judged(used)).values())
    found: dict[str, None] = {}
    for hypothesis, item in items:
        if hypothesis in now and hypothesis not in found:
            without = causes(evidence.judged(used, frozenset([item])))
            if hypothesis not in frozenset[str]().union(*without.values()):
                found[hypothesis] = None
    return list(found)


def _strongest_first(row: Row) -> float:
    return -float(row["strength"].value) if "strength" in row else 0.0


def _least(
    items: Sequence[str], flips: Callable[[Sequence[str]], bool], most: int
) -> tuple[tuple[str, ...], bool]:
    exact = True
    for size in range(1, min(EXACT, len(items)) + 1):
        if comb(len(items), size) > most:
            exact = False
            break
        for gone in combinations(items, size):
            if flips(gone):
                return gone, True
    if len(items) <= EXACT and exact:
        return (), True
    return _bound(items, flips), False


def _bound(items: Sequence[str], flips: Callable[[Sequence[str]], bool]) -> tuple[str, ...]:
    for size in range(1, len(items) + 1):
        if flips(items[:size]):
            kept = list(items[:size])
            for item in items[:size]:
                fewer = [other for other in kept if other != item]
                if fewer and flips(fewer):
                    kept = fewer
            return tuple(kept)
    return ()
