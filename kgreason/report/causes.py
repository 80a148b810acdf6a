"""The causes of a record, each once, by the names that people call them: C1, C2 and so on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pyoxigraph import Literal, NamedNode

from kgreason.base.store import Row
from kgreason.base.templates import Fragment, template
from kgreason.record import Record
from kgreason.record.joined import one_cause
from kgreason.record.ranking import Hypothesis, cause_key, fingerprint, hypotheses, joint
from kgreason.record.together import parts, told_of


@dataclass(frozen=True)
class Cause:
    """A cause: its name, the hypotheses that state it, and how many failing nodes it reaches.

    `adds` counts the failing nodes that no cause before it holds, None before the conclusion;
    `reach` the failing nodes in its regions, by the symptom. Where it is `told_with` a mechanism,
    it is that one's origin or piece, and its sentence names it; what it adds to all before it is
    told for itself. `same_mechanism` are its
    parts, where it is one mechanism over several properties. A `sliver` adds but a handful to
    others that hold nearly all, and is told after them.
    """

    name: str
    hypotheses: tuple[Hypothesis, ...]
    statement: str
    reach: Mapping[str, int]
    adds: int | None
    narrows: bool
    told_with: bool
    same_mechanism: tuple[Hypothesis, ...] = ()
    sliver: bool = False

    @property
    def explains(self) -> int:
        """Failing nodes in its regions, summed over the symptoms."""
        return sum(self.reach.values())

    def fingerprint(self, keys: Mapping[str, str]) -> str:
        """Return a SHA-256 of what it says; `keys` are those of the symptoms."""
        first = next((h for h in self.hypotheses if not h.narrows), self.hypotheses[0])
        return fingerprint(first, keys[first.symptom])

    def as_dict(self) -> dict[str, Any]:
        """Return it as in docs/result.schema.json."""
        return {
            "id": self.name,
            "hypotheses": [h.id for h in self.hypotheses],
            "symptoms": list(self.reach),
            "explains": self.explains,
            "adds": self.adds,
            "statement": self.statement,
            "narrows": self.narrows,
            "sliver": self.sliver,
            "same_mechanism": [
                {
                    "hypothesis": h.id,
                    "symptom": h.symptom,
                    "statement": h.statement,
                    "explains": self.reach[h.symptom],
                }
                for h in self.same_mechanism
            ],
        }


def causes(record: Record) -> tuple[Cause, ...]:
    """Return the causes of a record in the order of their names."""
    members = [h for several in hypotheses(record).values() for h in several]
    findings = record.select("joined-findings")
    return causes_of(members, record.select("joint-explanation"), findings)


def named(found: Sequence[Cause]) -> Fragment:
    """Return a pattern that gives each hypothesis that states a cause the name of that."""
    pairs = [(h.id, number) for number, c in enumerate(found, start=1) for h in c.hypotheses]
    return template("record", "cause-names").fragment(
        hypotheses=[NamedNode(id_) for id_, _ in pairs],
        names=[Literal(f"C{number}") for _, number in pairs],
        places=[Literal(number) for _, number in pairs],
    )


def causes_of(
    members: Sequence[Hypothesis], joined: Sequence[Row], findings: Sequence[Row]
) -> tuple[Cause, ...]:
    """Return each cause once with the symptoms it is behind, by what it adds to those before it.

    What the others hold comes last, and then what only narrows down where failures lie. Before the
    conclusion nothing is known of what is added, and the farthest-reaching is first. `joined` and
    `findings` are what the queries of these names give.
    """
    places = {row["hypothesis"].value: row for row in joined if "hypothesis" in row}
    sentences = {row["hypothesis"].value: row["statement"].value for row in findings}
    beside = {row[part].value for row in findings for part in ("origin", "piece") if part in row}
    found: list[tuple[bool, int, int, Cause]] = []
    known = {h.id: h for h in members}
    origins = {
        row["hypothesis"].value: cause_key(known[row["origin"].value])
        for row in findings
        if "origin" in row and row["origin"].value in known
    }
    for group in joint([h for h in members if h.cause], one_cause(findings), origins):
        reach: dict[str, int] = {}
        for h in group:
            failing = h.counts.inside_failing if h.counts else 0
            reach[h.symptom] = max(failing, reach.get(h.symptom, 0))
        first = next((h for h in group if not h.narrows), group[0])
        row, several = places.get(first.id), parts(group)
        said = sentences.get(first.id, first.statement)
        adds = int(row["adds"].value) if row else None
        cause = Cause(
            name="",
            hypotheses=tuple(group),
            statement=told_of(group) or said,
            reach=reach,
            adds=adds,
            narrows=first.narrows,
            told_with=not adds and all(h.id in beside for h in group),
            same_mechanism=tuple(several),
            sliver=row is not None and "sliver" in row,
        )
        place = int(row["index"].value) if row else 0
        found.append((first.narrows, place, -cause.explains, cause))
    ordered = [cause for *_, cause in sorted(found, key=lambda each: each[:3])]
    return tuple(replace(cause, name=f"C{n}") for n, cause in enumerate(ordered, start=1))
