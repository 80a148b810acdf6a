"""Fan-in: what the sub-investigations of a divided question give together.

Their records are put together on a scratch copy, as if one investigation had made them, and judged
there once more: the gates of the policy are applied with the e-BH set over all hypotheses that the
correlation registered, and the joint explanation is worked out over all symptoms. So the promises
are those of one investigation. Nothing is kept between two fan-ins, and the order of the
completions does not matter: records are put together in the order of the assignments.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final, cast

import pyoxigraph as ox

from kgreason.base.store import Row, Store
from kgreason.base.templates import template
from kgreason.base.terms import TRAILS
from kgreason.context.context import Context
from kgreason.context.symptom import Observed
from kgreason.decide.decide import conclude, decide
from kgreason.graph.names import Names
from kgreason.observe.opening import recorded_symptoms
from kgreason.planner.registered import Registered, Same, counted, registered, same
from kgreason.planner.weighing import weighed
from kgreason.record import Record
from kgreason.record.divided import put_together
from kgreason.record.fanning import (
    Concluded,
    Expected,
    Joined,
    Standing,
    ToldCause,
    expected,
    expected_below,
)
from kgreason.record.record import Node, Value
from kgreason.report.as_json import as_dict

_LEFT_OUT: Final = frozenset(
    TRAILS[name]
    for name in ("Start", "Conclude", "Narrate", "Send", "Join", "Finish", "Fail", "Plan", "Act")
)
"""Phases whose steps say nothing of hypotheses, or what is provisional."""
_KEPT: Final = frozenset({TRAILS.Suggestion})
_CONCLUDED: Final = {
    TRAILS.Verdict.value: "SynthesisedVerdict",
    TRAILS.JoinedFinding.value: "SynthesisedFinding",
}


@dataclass(frozen=True)
class FanIn:
    """What is there to be joined: the assignments that count, and those with nothing to join.

    Of a part that was `divided` again its own parts count, over all levels.
    """

    used: tuple[Expected, ...]
    missing: tuple[Expected, ...]
    divided: tuple[Expected, ...] = ()

    @property
    def done(self) -> bool:
        """Whether all that was expected is there."""
        return not self.missing


def fan_in(record: Record) -> FanIn:
    """Return what of the fan-outs of an investigation is there, by one query at each level."""
    known = [one for one in expected_below(record) if not one.missed]
    live = [one for one in known if not one.divided]
    return FanIn(
        tuple(one for one in live if one.complete),
        tuple(one for one in live if not one.complete),
        tuple(one for one in known if one.divided),
    )


def together(parent: Record, sessions: Iterable[Node]) -> Record:
    """Put the records of sub-investigations together on a scratch copy, under the parent's name."""
    inner = put_together(parent, sessions, _LEFT_OUT, _KEPT)
    return Record(Store(inner, f"a scratch copy of {parent.iri.value}"), parent.iri, parent.blobs)


def judged(context: Context, parent: Record, found: FanIn, observed: Observed) -> Record:
    """Give final statuses and a joint explanation to what was found, on a scratch copy."""
    made = together(parent, (one.session for one in found.used))
    groups, used = _groups(parent, found)
    counted(made.store.inner, made.iri, groups, used)
    weighed(made, groups, used, context.policy)
    judging = Context(
        context.graph, made, context.policy, context.seed, context.most, Names(context.graph)
    )
    judging.declared, judging.foreign = context.declared, context.foreign
    records = (Record(parent.store, one.session) for one in found.used)
    found_ = [s for record in records for s in recorded_symptoms(record, observed)]
    symptoms = list({s.constraint.key: s for s in reversed(found_)}.values())  # once, by the first
    rounds = [int(row["round"].value) for row in made.select("steps-of", phase=TRAILS.Decide)]
    if rounds:
        decide(judging, max(rounds))
    conclude(judging, sorted(symptoms, key=lambda s: s.index), None)
    return made


def correlation_of(record: Record) -> str:
    """Return the name of the correlation of an investigation; its own IRI where it has none."""
    (about,) = record.select("result-investigation")
    return about["correlation"].value if "correlation" in about else record.iri.value


def _groups(parent: Record, found: FanIn) -> tuple[list[Same], set[str]]:
    used = {one.session.value for one in found.used}
    return same(registered(parent.store, correlation_of(parent)), used), used


def joined(parent: Record, found: FanIn, made: Record) -> Joined:
    """Return what is to be recorded of a scratch copy that was judged."""
    (family,) = made.select("e-bh", role="status")
    threshold = family.get("threshold")
    told = as_dict(made)
    groups, used = _groups(parent, found)
    final = {row["hypothesis"].value: _status(row) for row in _standings(made.store, made.iri)}
    # As they stand on the scratch copy: each with all its evidence, once.
    stand = {one.iri: one for one in registered(made.store, correlation_of(parent))}
    failing = sum(one["failing"] for one in told["symptoms"])
    explained = sum(cause["adds"] or 0 for cause in told["causes"])
    causes = tuple(
        ToldCause(c["statement"], tuple(c["hypotheses"]), c["explains"], c["adds"])
        for c in told["causes"]
    )
    return Joined(
        _statement(causes, failing, explained, found),
        correlation_of(parent),
        found.used,
        found.missing,
        int(family["family"].value),
        threshold if isinstance(threshold, ox.Literal) else None,
        failing,
        explained,
        tuple(_final(groups, used, final, stand)),
        causes,
        tuple(_contradictions(groups, final, stand)),
        tuple(dict.fromkeys(one.fan_out for one in expected(parent) if not one.missed)),
        found.divided,
        tuple(_concluded(made)),
    )


def _concluded(made: Record) -> Iterator[Concluded]:
    """Return the verdict on each symptom and each mechanism that is told with an origin."""
    for _, group in groupby(made.select("concluded"), key=lambda row: row["node"].value):
        rows = list(group)
        said: dict[str, list[Value]] = {}
        for row in rows:
            name = row["property"].value.rpartition("#")[2]
            said.setdefault(name, []).append(cast("Value", row["value"]))
        if "failing" in rows[0]:
            said["failing"] = [cast("Value", rows[0]["failing"])]
        yield Concluded(_CONCLUDED[rows[0]["kind"].value], said)


def _final(
    groups: Sequence[Same],
    used: set[str],
    final: Mapping[str, str],
    stand: Mapping[Node, Registered],
) -> Iterator[Standing]:
    """Give all that are the same the status of the one that stands for them."""
    for one in groups:
        for member in one.members:
            if member.investigation in used:
                weighed_ = stand.get(member.iri)
                moved = weighed_ is not None and weighed_.confidence != member.confidence
                yield Standing(
                    member.iri.value,
                    member.investigation,
                    member.status,
                    final[one.first.iri.value],
                    one.e,
                    tuple(twin.iri.value for twin in one.members if twin != member),
                    None if member == one.first else one.first.iri.value,
                    weighed_.confidence if moved and weighed_ is not None else None,
                )


def _contradictions(
    groups: Sequence[Same], final: Mapping[str, str], stand: Mapping[Node, Registered]
) -> Iterator[tuple[str, tuple[str, ...], str]]:
    """Describe where sub-investigations disagree, and what the evidence of all of them comes to."""
    for one in groups:
        if one.contradictory and one.first.iri.value in final:
            status = final[one.first.iri.value]
            stands = stand[one.first.iri]
            others = {_word(m.status) for m in one.members if m.items and not m.supported}
            said = (
                f"“{one.first.statement}” is supported by one sub-investigation and "
                f"{' or '.join(sorted(others))} by another; all evidence together (for it "
                f"{stands.supporting:.2f}, against it {stands.opposing:.2f}, e-value {one.e:.1f}, "
                f"confidence {stands.confidence:.2f}) leaves it {_word(status)}."
            )
            yield said, tuple(m.iri.value for m in one.members), status


def _word(status: str) -> str:
    return status.rpartition("#")[2].lower()


def _standings(store: Store, iri: Node) -> list[Row]:
    return list(store.select(template("record", "standings").render(investigation=iri)))


def _status(row: Row) -> str:
    return TRAILS[row["status"].value.capitalize()].value


def _statement(causes: Sequence[ToldCause], failing: int, explained: int, found: FanIn) -> str:
    """Return in sentences what came of all parts, and what is missing."""
    number = len(causes)
    said = [
        f"{number} {'cause explains' if number == 1 else 'causes explain'} {explained} of "
        f"{failing} failures."
        if number
        else "No cause holds over all parts."
    ]
    said += [cause.statement for cause in causes]
    for one in found.missing:
        why = "did not end in time" if one.reason is None else f"ended in an error: {one.reason}"
        said.append(f"Missing is “{one.goal}”: its sub-investigation {why}")
    return " ".join(text if text.endswith((".", "?", "!")) else f"{text}." for text in said)
