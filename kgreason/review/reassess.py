"""One ledger, many judges: what each policy makes of the same evidence."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyoxigraph as ox

from kgreason import policy
from kgreason.ledger import Ledger, Record
from kgreason.ledger.record import now
from kgreason.policy import Policy
from kgreason.review.scratch import Evidence, derived
from kgreason.store import Row
from kgreason.terms import PROV, TRAILS, TYPE


@dataclass(frozen=True)
class Reassessment:
    """What policies make of the evidence of one investigation.

    `standings` has the rows of `queries/record/standings.rq` by the name of the policy, the
    recorded one first.
    """

    investigation: str
    recorded: str
    standings: dict[str, list[Row]]

    def as_dict(self) -> dict[str, Any]:
        """Give everything: by symptom its leaders and hypotheses, by policy."""
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
        leaders = {name: _leader(rows) for name, rows in mine.items()}
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
        agreed = len(set(leaders.values())) == 1 and all(
            len({seen["status"] for seen in one["by"].values()}) == 1 for one in hypotheses
        )
        return {"id": symptom, "agree": agreed, "leaders": leaders, "hypotheses": hypotheses}

    def markdown(self) -> str:
        """Give the table of where the policies disagree."""
        return "\n".join(self._lines()) + "\n"

    def _lines(self) -> Iterator[str]:
        told = self.as_dict()
        yield f"# Reassessment of {self.investigation}"
        yield ""
        yield f"Recorded under {self.recorded}. No test was run again."
        for symptom in told["symptoms"]:
            ids = {one["id"]: one["statement"] for one in symptom["hypotheses"]}
            yield from ("", f"## {symptom['id']}", "")
            yield "The policies agree." if symptom["agree"] else "The policies disagree."
            yield ""
            yield "| hypothesis | " + " | ".join(told["policies"]) + " |"
            yield "|---" * (len(told["policies"]) + 1) + "|"
            for one in symptom["hypotheses"]:
                cells = [f"{s['status']} {s['confidence']:.3f}" for s in one["by"].values()]
                yield f"| {_cell(one['statement'])} | " + " | ".join(cells) + " |"
            leaders = [_cell(ids[symptom["leaders"][name]]) for name in told["policies"]]
            yield "| **leader** | " + " | ".join(leaders) + " |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _leader(rows: Sequence[Row]) -> str:
    """Give the one ahead: a cause before others, then by confidence, then by e-process."""

    def rank(row: Row) -> tuple[bool, float, float]:
        good = row["status"].value in {"supported", "converged"}
        return good, float(row["confidence"].value), float(row["e"].value)

    return max(rows, key=rank)["hypothesis"].value


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
        evidence = Evidence(record)
        for name, one in used.items():
            made = evidence.judged(one)
            _keep(record, name, one, made)
            if name != recorded:
                standings[name] = made.select("standings")
        return Reassessment(record.iri.value, recorded, standings)


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
