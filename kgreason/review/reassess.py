"""One ledger, many judges: what each policy makes of the same evidence."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

import pyoxigraph as ox

from kgreason.base.store import Row
from kgreason.base.terms import PROV, TRAILS, TYPE
from kgreason.decide.decide import outcome
from kgreason.record import Ledger, Record, policy
from kgreason.record.policy import Policy
from kgreason.record.ranking import Hypothesis, hypotheses, rank, symptoms
from kgreason.record.record import now
from kgreason.record.remote import again
from kgreason.report.as_json import as_dict
from kgreason.review.rejudge import Evidence, derived
from kgreason.test.finding import decimal

_UNCOUNTED: Final = "hangs on how far its regions overlap"


@dataclass(frozen=True)
class Answer:
    """What a policy says of a symptom; `leader` is the IRI of the hypothesis ranked first.

    `verdict` is None where it hangs on how far regions overlap that were never counted together.
    """

    verdict: str | None
    leader: str


@dataclass(frozen=True)
class Reassessment:
    """What policies make of the evidence of one investigation.

    `standings` has the rows of `queries/record/standings.rq` by the name of the policy, the
    recorded one first; `answers` by that name and the symptom its verdict and leader. `names` are
    those of the symptoms by their IRI.
    """

    investigation: str
    recorded: str
    standings: dict[str, list[Row]]
    answers: dict[str, dict[str, Answer]]
    names: dict[str, str]

    def as_dict(self) -> dict[str, Any]:
        """Return everything: by symptom its leaders and hypotheses, by policy."""
        first = self.standings[self.recorded]
        symptoms = list(dict.fromkeys(row["symptom"].value for row in first))
        return {
            "investigation": self.investigation,
            "recorded": self.recorded,
            "policies": list(self.standings),
            "symptoms": [self._symptom(symptom) for symptom in symptoms],
        }

    def _symptom(self, symptom: str) -> dict[str, Any]:
        mine = {
            name: [row for row in rows if row["symptom"].value == symptom]
            for name, rows in self.standings.items()
        }
        leaders = {name: self.answers[name][symptom].leader for name in mine}
        verdicts = {name: self.answers[name][symptom].verdict for name in mine}
        hypotheses: list[dict[str, Any]] = [
            {
                "id": row["hypothesis"].value,
                "statement": row["statement"].value,
                "catchAll": row["catchAll"].value == "true",
                "by": {
                    name: {
                        "status": rows[place]["status"].value,
                        "confidence": float(rows[place]["confidence"].value),
                        "e": float(rows[place]["e"].value),
                    }
                    for name, rows in mine.items()
                },
            }
            for place, row in enumerate(mine[self.recorded])
        ]
        same = len(set(leaders.values())) == len(set(verdicts.values())) == 1
        agreed = same and all(
            len({seen["status"] for seen in one["by"].values()}) == 1 for one in hypotheses
        )
        return {
            "id": symptom,
            "name": self.names[symptom],
            "agree": agreed,
            "verdicts": verdicts,
            "leaders": leaders,
            "hypotheses": hypotheses,
        }

    def markdown(self) -> str:
        """Return the table of where the policies disagree."""
        return "\n".join(self._lines()) + "\n"

    def _lines(self) -> Iterator[str]:
        told = self.as_dict()
        yield f"# Reassessment of {self.investigation}"
        yield ""
        yield f"Recorded under {self.recorded}. No test was run again."
        for symptom in told["symptoms"]:
            ids = {one["id"]: one["statement"] for one in symptom["hypotheses"]}
            yield from ("", f"## {symptom['name']}", "")
            yield "The policies agree." if symptom["agree"] else "The policies disagree."
            yield ""
            yield "| hypothesis | " + " | ".join(told["policies"]) + " |"
            yield "|---" * (len(told["policies"]) + 1) + "|"
            for one in symptom["hypotheses"]:
                cells = [f"{s['status']} {s['confidence']:.3f}" for s in one["by"].values()]
                yield f"| {_cell(one['statement'])} | " + " | ".join(cells) + " |"
            leaders = [_cell(ids[symptom["leaders"][name]]) for name in told["policies"]]
            yield "| **leader** | " + " | ".join(leaders) + " |"
            verdicts = [symptom["verdicts"][name] or _UNCOUNTED for name in told["policies"]]
            yield "| **verdict** | " + " | ".join(verdicts) + " |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def answers(made: Record, used: Policy, recorded: Record) -> dict[str, Answer]:
    """Return the verdict and the leader of each symptom that a policy makes of the evidence.

    What regions hold together was counted for the causes of the record, and for each cause alone.
    """
    counted = {row["symptom"].value: row for row in recorded.select("counted-together")}
    before = hypotheses(recorded)
    undecided = {row["symptom"].value for row in made.select("undecided")}
    out: dict[str, Answer] = {}
    for symptom, members in hypotheses(made).items():
        now, then = (_causes(of) for of in (members, before[symptom]))
        shares: tuple[Decimal, Decimal] | None = None
        if set(now) == set(then):
            shares = _shares(counted[symptom]) if symptom in counted else None
        elif len(now) <= 1:
            wide = decimal(sum(cause.share for cause in now.values()))
            shares = (Decimal(0) if any(h.narrows for h in now.values()) else wide, wide)
        cut = symptom in counted and "cut" in counted[symptom]
        open_ = cut or symptom in undecided
        verdict = None if shares is None else outcome(used, *shares, open_=open_)
        if symptom not in counted:
            verdict = "inconclusive"  # the investigation has not come to its end
        out[symptom] = Answer(verdict, rank(members, verdict or "")[0].id)
    return out


def _shares(row: Row) -> tuple[Decimal, Decimal]:
    return Decimal(row["excess"].value), Decimal(row["wide"].value)


def _causes(members: Sequence[Hypothesis]) -> dict[str, Hypothesis]:
    return {h.id: h for h in members if h.cause}


@again
def reassess(
    ledger: str | Path, which: str | None = None, policies: Sequence[str] = ()
) -> Reassessment:
    """Judge the recorded evidence by other policies (all that come along, unless some are named).

    What each makes of it goes to a named graph of its own, `INVESTIGATION:reassessment:NAME`; the
    investigation stays as it is. Raises OptionError for a wrong policy, LedgerError.
    """
    used = {_name(p): p for p in map(policy.load, policies or policy.names())}
    with Ledger.append(Path(ledger)) as store:
        record = store.record(store.entry(which))
        recorded = _name_of(record)
        standings: dict[str, list[Row]] = {recorded: record.select("standings")}
        answered = {recorded: _as_recorded(record)}
        evidence = Evidence(record)
        for name, one in used.items():
            made = evidence.judged(one)
            _keep(record, name, one, made)
            if name != recorded:
                standings[name] = made.select("standings")
                answered[name] = answers(made, one, record)
        names = {row["symptom"].value: row["name"].value for row in symptoms(record)}
        return Reassessment(record.iri.value, recorded, standings, answered, names)


def _as_recorded(record: Record) -> dict[str, Answer]:
    """Return the verdict and the leader of each symptom that has hypotheses, as its result does."""
    return {
        symptom["id"]: Answer(symptom["verdict"], symptom["hypotheses"][0]["id"])
        for symptom in as_dict(record)["symptoms"]
    }


def _name(used: Policy) -> str:
    return re.split(r"[#/:]", used.iri.value)[-1]


def _name_of(record: Record) -> str:
    (link,) = record.store.inner.quads_for_pattern(record.iri, TRAILS.policy, None, record.iri)
    return re.split(r"[#/:]", str(link.object).strip("<>"))[-1]


def _keep(record: Record, name: str, used: Policy, made: Record) -> None:
    """Write a reassessment in place of an earlier one by the same policy: one transaction."""
    graph = ox.NamedNode(f"{record.iri.value}:reassessment:{name}")
    about = [
        ox.Triple(graph, TYPE, TRAILS.Reassessment),
        ox.Triple(graph, TYPE, PROV.Activity),
        ox.Triple(graph, TRAILS.investigation, record.iri),
        ox.Triple(graph, TRAILS.policy, used.iri),
        ox.Triple(graph, PROV.endedAtTime, now()),
    ]
    lines = "\n".join(
        f"{t.subject} {t.predicate} {t.object} ." for t in [*about, *derived(made), *used.triples]
    )
    text = f"DROP SILENT GRAPH {graph} ;\nINSERT DATA {{ GRAPH {graph} {{\n{lines}\n}} }}"
    record.store.update(text)
