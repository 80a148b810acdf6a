"""Ask again all that a report says: its lines, the nodes that it cites, the queries that it prints.

Each section of a report is made by one query over the record. Here a report is written as
Markdown; then the record is read anew from its file and the query of each section asked again, so
that each line is one that the record still gives, or not. Every citation is looked up in the data,
which are loaded anew, every recorded figure of a symptom or region is counted there again, and
every query that the report offers is run there; where the report tells how many nodes it gives,
that is held against what it gives.

    python benchmarks/dossier.py                    # the shipped example
    python benchmarks/dossier.py DATA… --shapes FILE --ontology FILE
"""

import argparse
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from kgreason import api
from kgreason.audit import recheck
from kgreason.base.errors import KgreasonError
from kgreason.graph import Graph, load
from kgreason.graph.query_result import query_result
from kgreason.record import Ledger, Record
from kgreason.report.as_json import as_dict
from kgreason.report.document import Block, Document, Section, build, part
from kgreason.report.markdown import write

EXAMPLE: Final = Path(__file__).resolve().parents[1] / "examples" / "supply-chain"
SECONDS: Final = 60.0
CLAIMED: Final = ("supported", "converged")


@dataclass(frozen=True)
class Asked:
    """So many things of a kind were asked again, and these came out otherwise."""

    what: str
    number: int
    otherwise: tuple[str, ...]

    @property
    def row(self) -> str:
        """A row of the table, with the share that was borne out."""
        held = self.number - len(self.otherwise)
        share = held / self.number if self.number else 1.0
        return f"| {self.what} | {self.number} | {held} | {share:.3f} |"


def main() -> int:
    """Investigate, write the report, ask everything again; 1 where something came out otherwise."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("data", nargs="*", default=[str(EXAMPLE / "data")])
    parser.add_argument("--shapes", default=str(EXAMPLE / "shapes.ttl"))
    parser.add_argument("--ontology", nargs="*")
    given = parser.parse_args()
    beside = given.ontology
    if beside is None:
        beside = [str(EXAMPLE / "ontology.ttl")] if given.data == [str(EXAMPLE / "data")] else []
    with tempfile.TemporaryDirectory(prefix="kgreason-dossier-") as name:
        ledger = Path(name) / "ledger"
        with api.investigate(
            given.data, shapes=given.shapes, ontology=beside, ledger=ledger, try_repairs=False
        ) as result:
            written = list(build(result.record).sections())
        with Ledger.read(ledger) as store:
            record = store.record(next(iter(store.entries())))
            found = dossier(written, record, load([Path(one) for one in (*given.data, *beside)]))
    print("| what the report has | asked again | as told | share |\n|---|---:|---:|---:|")
    for each in found:
        print(each.row)
    for each in found:
        for other in each.otherwise:
            print(f"{each.what}: {other}")
    return int(any(each.otherwise for each in found))


def dossier(written: Sequence[Section], record: Record, graph: Graph) -> list[Asked]:
    """Return what came of asking again what a report has, by kind.

    `written` are the sections of the report as it was written, `record` and `graph` are read anew.
    """
    told = as_dict(record)
    differences = recheck(record, graph)
    cited = {row["citation"].value for row in record.select("cited-by")}
    counted = [told["investigation"], *(one["id"] for one in told["symptoms"])]
    counted += [h["id"] for s in told["symptoms"] for h in s["hypotheses"] if h["region"]]
    off = {each.node: f"{each.figure}: {each.recorded}, but {each.found}" for each in differences}
    return [
        lines(written, record),
        Asked("nodes cited", len(cited), tuple(off[one] for one in sorted(cited & off.keys()))),
        Asked("figures counted", len(counted), tuple(off[one] for one in counted if one in off)),
        queries(told, record, graph),
    ]


def lines(written: Sequence[Section], record: Record) -> Asked:
    """Ask the query of each section of a report again; its lines stand or fall with its rows."""
    number, otherwise = 0, []
    for section in written:
        alone = Document(record.iri.value, [Block("report", None, (section,))])
        several = [one for one in write(alone).splitlines() if one.strip()]
        number += len(several)
        if not section.still_holds(record):
            otherwise += [f"{section.name}: {one[:80]}" for one in several]
    return Asked("lines", number, tuple(otherwise))


def queries(told: dict[str, Any], record: Record, graph: Graph) -> Asked:
    """Run the queries that the report prints, and hold the number of nodes against what it told."""
    number, otherwise = 0, []
    for symptom in told["symptoms"]:
        for about, claims in printed(symptom):
            for section in part(record, symptom["id"], about).sections:
                for place, check in enumerate(section.content.checks):
                    number += 1
                    wanted = claims[place] if place < len(claims) else None
                    came = given(graph, check.query)
                    if isinstance(came, str) or wanted not in {None, came}:
                        otherwise.append(f"{check.question} {wanted} told, {came} given")
    return Asked("queries printed", number, tuple(otherwise))


def printed(symptom: dict[str, Any]) -> Iterator[tuple[str | None, list[int]]]:
    """Give what queries are printed about, with how many nodes the first of them have to give.

    Of a cause these are its failing nodes, those of its region that pass, and the failing ones
    that it leaves over; of a symptom without a cause all its failing nodes.
    """
    yield None, [symptom["failing"]]
    for each in symptom["hypotheses"]:
        if each["status"] in CLAIMED and each["region"]:
            inside = each["inside"]
            failing, rest = inside["failing"], symptom["failing"] - inside["failing"]
            yield each["id"], [failing, inside["population"] - failing, rest]


def given(graph: Graph, query: str) -> int | str:
    """Return how many rows a query gives on the data, or why it gives none."""
    try:
        return len(query_result(graph, query, SECONDS, "a query of the report").rows)
    except KgreasonError as error:
        return str(error).partition("\n")[0]


if __name__ == "__main__":
    raise SystemExit(main())
