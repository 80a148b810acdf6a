"""The hypotheses of a record: which comes first for a symptom, and which are one cause."""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from kgreason.base.extensions import cached
from kgreason.base.figures import figure
from kgreason.base.statistics import Table
from kgreason.base.store import Row
from kgreason.base.templates import template
from kgreason.base.terms import TRAILS
from kgreason.base.weights import weighted_nodes, weighted_rate
from kgreason.record import Record, policy
from kgreason.record.together import merged

_EXPLAINING: Final = figure("explainingRate")
_ALIKE: Final = 0.1
"""Explained shares that differ by less are about the same; the mechanism then comes first."""

_SIGN: Final = figure("signShare")
_CHECKED: Final = figure("checkedShare")
_ASSOCIATED: Final = frozenset({"bits", "halves"})
_LACK: Final = re.compile(r"(?:MINUS|FILTER NOT EXISTS) \{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}")
NO_CAUSE: Final = "no systematic cause"
"""The verdict that tests earned which could have found a cause."""
_SUPPORTED: Final = frozenset({"supported", "converged"})


def is_faint(failing: int, inside: int, weight: float = 1.0) -> bool:
    """Check whether so few nodes of a region fail that it narrows down, and does not explain.

    A passing node counts with `weight`.
    """
    return failing < _EXPLAINING * weighted_nodes(failing, inside, weight)


def only_narrows(given: Table, *, direct: bool) -> bool:
    """Check whether a region only narrows down where failures lie, and does not explain them.

    Less than half of it fails; or others fail more than half as often, so that most of its own
    failures are no more than usual. The latter says nothing against a mechanism that was checked on
    each node (`direct`).
    """
    if is_faint(given.inside_failing, given.inside, given.weight):
        return True
    rates = (
        weighted_rate(given.inside_failing, given.inside, given.weight),
        weighted_rate(given.outside_failing, given.outside, given.weight),
    )
    return not direct and rates[1] > _EXPLAINING * rates[0]


@dataclass(frozen=True)
class Hypothesis:
    """A hypothesis as the record has it; `kind` and `status` are the short names of both.

    `order` is its position in the record; `counts` is None for a catch-all, which has no region.
    `posterior` is the confidence within its frame, before the record of its kind of proof counted.
    `alike` is the first symptom that the very same nodes fail.
    """

    id: str
    order: int
    symptom: str
    frame: str
    kind: str
    gate: str
    family: str
    is_mechanism: bool
    catch_all: bool
    statement: str
    status: str
    confidence: float
    posterior: float
    e: float
    region: str | None
    plain: str | None
    needs: str | None
    pattern: str | None
    dimension: str | None
    level: str | None
    counts: Table | None
    proof: str | None = None
    alike: str = ""

    @property
    def cause(self) -> bool:
        """Whether it is a supported cause ("none of these" is no cause)."""
        return self.status in _SUPPORTED and not self.catch_all

    @property
    def narrows(self) -> bool:
        """Whether it only tells where to look, and not why."""
        return self.counts is not None and only_narrows(self.counts, direct=self.gate == "direct")

    @property
    def lacks(self) -> bool:
        """Whether its region says nothing of its nodes but what they do not have."""
        left = _LACK.sub("", self.pattern or "<")
        return not self.is_mechanism and "<" not in left

    @property
    def share(self) -> float:
        """The failing nodes inside beyond the rate outside, as a share of all failing, 0 to 1.

        Of a mechanism that was checked on each node all those inside count: they fail for it,
        whatever else makes others fail.
        """
        if self.counts is None:
            return 0.0
        c = self.counts
        if self.is_mechanism and self.proof == "direct":
            return c.inside_failing / max(1, c.inside_failing + c.outside_failing)
        rate = weighted_rate(c.outside_failing, c.outside, c.weight)
        inside = weighted_nodes(c.inside_failing, c.inside, c.weight)
        failing = c.inside_failing + c.outside_failing
        return max(0.0, c.inside_failing - inside * rate) / max(1, failing)


def symptoms(record: Record) -> list[Row]:
    """Return the symptoms with failing nodes, in their order, and why one was not looked into."""
    text = template("record", "result-symptoms").render(
        investigation=record.iri,
        naming=template("record", "symptom-name").fragment(),
        looking=template("record", "unexamined").fragment(),
    )
    return list(record.store.select(text))


def hypotheses(record: Record) -> dict[str, list[Hypothesis]]:
    """Return all hypotheses of an investigation by the IRI of their symptom, in their order."""
    out: dict[str, list[Hypothesis]] = {}
    for order, row in enumerate(record.select("result-hypotheses")):
        made = _hypothesis(order, row)
        known = out.setdefault(made.symptom, [])
        if not known or known[-1].id != made.id:
            known.append(made)
    return out


def _hypothesis(order: int, row: Row) -> Hypothesis:
    text = {name: term.value for name, term in row.items()}
    counts = None
    if "inside" in row:
        names = ("insideFailing", "inside", "outsideFailing", "outside")
        one, two, three, four = (int(text[name]) for name in names)
        counts = Table(one, two, three, four, float(text.get("weight", 1)))
    return Hypothesis(
        id=text["hypothesis"],
        order=order,
        symptom=text["symptom"],
        frame=text["frame"],
        kind=_kinds().get(text["kind"], short(text["kind"])),
        gate=text["gate"],
        proof=text.get("proof"),
        family=text["family"],
        is_mechanism=row["aspect"] == TRAILS.Mechanism,
        catch_all=text["catchAll"] == "true",
        statement=text["statement"],
        status=short(text["status"]),
        confidence=float(text["confidence"]),
        posterior=float(text.get("posterior", text["confidence"])),
        e=float(text["e"]),
        region=text.get("region"),
        plain=text.get("plain"),
        needs=text.get("needs"),
        pattern=text.get("pattern"),
        dimension=str(row["dimension"]) if "dimension" in row else None,
        level=str(row["level"]) if "level" in row else None,
        counts=counts,
        alike=text.get("alike", text["symptom"]),
    )


@cached
def _kinds() -> Mapping[str, str]:
    return {iri.value: name for name, (iri, _) in policy.kinds().items()}


def short(iri: str) -> str:
    """Return the local name of a concept in lower case."""
    return iri.rpartition("#")[2].lower()


def rank(members: Sequence[Hypothesis], verdict: str) -> list[Hypothesis]:
    """Put the hypotheses of a symptom in order, best first, with one catch-all among them.

    Causes come first, by the share they explain (of about equal shares the mechanism before the
    origin, then by confidence), those that only narrow down after the others; then what is open, by
    confidence; what is refuted comes last. The catch-all is that of the best one's frame. Where
    there is no cause, it is first if its confidence is the highest or if the verdict is "no
    systematic cause"; with that verdict a supported one is first also where causes hold a few
    failures. A region that later rounds looked at again stands there once.
    """
    real = _told_once([h for h in members if not h.catch_all])
    causes = by_share([h for h in real if h.cause and not h.narrows])
    causes += by_share([h for h in real if h.cause and h.narrows])
    rest = [h for h in real if not h.cause]
    open_ = sorted((h for h in rest if h.status != "refuted"), key=_by_confidence)
    refuted = sorted((h for h in rest if h.status == "refuted"), key=_by_confidence)
    ranked = [*causes, *open_, *refuted]
    none = _catch_all(members, ranked)
    if none is None:
        return ranked
    if verdict == NO_CAUSE:
        borne_out = [h for h in members if h.catch_all and h.status in _SUPPORTED]
        if borne_out or not causes:
            return [*(borne_out[:1] or [none]), *ranked]
    place = len(causes)
    while place < len(causes) + len(open_) and ranked[place].confidence >= none.confidence:
        place += 1
    if not causes and all(none.confidence > h.confidence for h in real):
        place = 0
    return [*ranked[:place], none, *ranked[place:]]


def _told_once(members: Sequence[Hypothesis]) -> list[Hypothesis]:
    """Leave out what was looked at again in a later round; of one region a cause, else the last."""
    known: dict[tuple[str, str], Hypothesis] = {}
    for h in members:
        key = (h.family, h.pattern or h.id)
        before = known.get(key)
        if before is None or not before.cause:
            known[key] = h
    return list(known.values())


def _by_confidence(hypothesis: Hypothesis) -> tuple[float, float, int]:
    return (-hypothesis.confidence, -hypothesis.share, hypothesis.order)


def by_share(causes: Sequence[Hypothesis]) -> list[Hypothesis]:
    """Put causes in order: by the share they explain, of about equal shares the mechanism first.

    Mechanisms of one family about one property are pieces of one: two wrong languages of a note
    count with what they explain together, so that a sign of both does not come before either.
    What else failing nodes lack is a sign that what is said of them stands elsewhere, so a mapping
    that explains a quarter comes before it. What was checked directly and explains three quarters
    of what an association does comes before that, too: nothing shows that the association brings
    the failures about.
    """
    left = sorted(causes, key=lambda h: (-h.share, -h.posterior, h.order))
    together: dict[object, float] = {}
    for h in left:
        together[_piece(h)] = together.get(_piece(h), 0.0) + h.share
    out: list[Hypothesis] = []
    while left:
        most = left[0].share
        alike = [
            h
            for h in left
            if h.is_mechanism
            and (
                most - together[_piece(h)] < _ALIKE
                or (left[0].lacks and h.kind == "mapping" and together[_piece(h)] >= _SIGN)
                or _ahead(h, left[0], together[_piece(h)])
            )
        ]
        best = alike[0] if alike else left[0]
        left.remove(best)
        out.append(best)
    return out


def _ahead(h: Hypothesis, sign: Hypothesis, share: float) -> bool:
    """Check whether a mechanism was checked, and explains enough of what an association does."""
    return h.proof == "direct" and sign.proof in _ASSOCIATED and share >= _CHECKED * sign.share


def _piece(h: Hypothesis) -> object:
    """Return what mechanisms share that are pieces of one; anything else stands alone."""
    whole = h.is_mechanism and h.dimension is not None
    return (h.family, h.dimension) if whole else h.id


def _catch_all(members: Sequence[Hypothesis], ranked: Sequence[Hypothesis]) -> Hypothesis | None:
    """Return the catch-all of the best one's frame; of the last frame where there are no others."""
    each = [h for h in members if h.catch_all]
    at_home = [h for h in each if ranked and h.frame == ranked[0].frame]
    return next(iter([*at_home, *reversed(each)]), None)


def told(ranked: Sequence[Hypothesis]) -> list[Hypothesis]:
    """Return those of a symptom that a report tells in full: its causes, else closest to one."""
    causes = [h for h in ranked if h.cause]
    open_ = [h for h in ranked if not h.catch_all and h.status != "refuted"]
    return causes or open_[:1]


def joint(
    causes: Sequence[Hypothesis],
    homes: Mapping[str, str] = MappingProxyType({}),
    origins: Mapping[str, object] = MappingProxyType({}),
) -> list[list[Hypothesis]]:
    """Group causes of several symptoms that are one: the same place, condition or mechanism.

    A cause that says what form a failure takes belongs to its own constraint unless it names the
    property and the value, or the very same nodes fail for it: rules that do not fit the same nodes
    are told once. `homes` are
    origins that are one cause with a mechanism, by the IRIs of both; the mechanism stands first.
    `origins` say by what keys the origins of mechanisms are one: one mechanism over several
    properties, out of one origin, is one cause.
    """
    own = {h.id: cause_key(h) for h in causes}
    groups: dict[object, list[Hypothesis]] = {}
    for h in sorted(causes, key=lambda h: h.id in homes):
        groups.setdefault(own.get(homes.get(h.id, h.id), own[h.id]), []).append(h)
    return merged(list(groups.values()), origins)


def fingerprint(h: Hypothesis, symptom: str) -> str:
    """Return a SHA-256 of what a cause says, which is the same in every investigation it is told.

    `symptom` is the key of the symptom: a mechanism that names no value belongs to one constraint.
    Counts and confidence are no part of it.
    """
    if h.dimension is not None and h.level is not None:
        said = [h.family, h.dimension, h.level]
    else:
        region = h.pattern or h.region or h.statement
        said = [h.family, symptom, region] if h.is_mechanism else [region]
    return hashlib.sha256(json.dumps(said, ensure_ascii=False).encode()).hexdigest()


def cause_key(h: Hypothesis) -> object:
    """Return what hypotheses of several symptoms share that are one cause."""
    if h.dimension is not None and h.level is not None:
        return (h.family, h.dimension, h.level)
    if h.is_mechanism:
        alike = h.alike or h.symptom  # what says the same of other nodes may be another thing
        return h.id if h.dimension is None else (h.family, h.dimension, h.pattern, alike)
    return h.pattern
