"""How often the repair of what is found works: faults are sown, investigated, and repaired.

    python benchmarks/repair_bench.py GRAPH [--faults NAME,NAME…] [--seeds A:B] [--ontology FILE…]
        [--seconds S] [--alone] [--json FILE]

GRAPH is as for `kgreason bench --graph`. Beside the constraint that is broken, every other that
holds for the class is in the shapes (unless --alone), so that what a repair breaks is seen. Told
for each fault: in how many trials a cause was supported, of these how often its repair clears at
least 95 % of its violations with none new, placebos (violations that the repair removes at nodes
where it should do nothing), interventions an investigation, and CPU seconds. Each trial has a
process of its own.
"""

import argparse
import json
import multiprocessing
import statistics
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any, Final

import pyoxigraph as ox

from kgreason import investigation, mending, phases
from kgreason.api import investigate
from kgreason.faults import designs, ground_of, targets
from kgreason.faults.designs import Design
from kgreason.faults.ground import Ground
from kgreason.faults.model import Target
from kgreason.faults.sow import sow
from kgreason.faults.strike import ONTOLOGY_GRAPH, SHAPES_GRAPH, Unfit
from kgreason.phases.intervene import intervene
from kgreason.request import Request
from kgreason.terms import SH

REPAIRABLE: Final = (
    "wrong-predicate",
    "wrong-namespace",
    "datatype-slip",
    "language-slip",
    "literal-for-iri",
    "inference-class",
    "inference-domain",
    "inference-inverse",
    "inference-range",
    "inference-subproperty",
    "reference-missing",
    "reference-retyped",
    "merged-duplicate",
    "sentinel-number",
    "sentinel-text",
    "stale-closed",
    "strict-count",
    "strict-length",
)
"""The faults for which a repair can be known from the graph alone."""
MOST: Final = 5

Found = dict[str, Any]


def with_interventions() -> Callable[[], int]:
    """Have interventions run before each decision, and give how many there were."""
    if any(f.name == "interventions" for f in fields(Request)):
        return lambda: -1  # the loop does it by itself
    decide, start = phases.decide, investigation.Investigation.__init__
    state: dict[str, Any] = {"count": 0}

    def noted(self: Any, *args: Any, **kwargs: Any) -> None:
        start(self, *args, **kwargs)
        state["symptoms"] = self.symptoms

    def first(bench: Any, round_: int) -> None:
        state["count"] += intervene(bench, state["symptoms"], round_, MOST)
        decide(bench, round_)

    investigation.Investigation.__init__ = noted  # type: ignore[method-assign]
    investigation.phases.decide = first  # type: ignore[attr-defined]
    return lambda: int(state["count"])


def attempt(
    ground: Ground, known: Sequence[Target], design: Design, seed: int, *, alone: bool
) -> Found:
    """Sow, investigate and repair in this process."""
    truth = sow(ground, known, design, seed)
    others = [t for t in known if t.cls == truth.target.cls and t != truth.target]
    counted = with_interventions()
    with tempfile.TemporaryDirectory(prefix="kgreason-repair-") as folder:
        place = Path(folder)
        extra = [] if alone or truth.target.component == "Closed" else others
        data, shapes, ontology = written(ground, place, extra)
        ledger = place / "ledger"
        options: Found = {"shapes": shapes, "ontology": ontology, "lenient": True, "seed": seed}
        if counted() < 0:
            options["interventions"] = MOST
        begun = time.process_time()
        with investigate(data, ledger=ledger, **options) as result:
            outcomes = [r["outcome"].value for r in result.record.select("repair-attempts")]
            sown = {
                row["symptom"].value
                for row in result.record.select("symptom-keys")
                if is_sown(result.record, row["symptom"], truth.target)
            }
            own = {
                int(row["number"].value)
                for row in result.record.select("repairable")
                if row["symptom"].value in sown
            }
        spent = time.process_time() - begun
        begun = time.process_time()
        done = mending.repair(ledger, None, wanted=mending.Wanted(dry=True))
        spent_too = time.process_time() - begun
    tried = [one for one in done.tried if one.number in own]
    lead = max(tried, key=lambda one: (one.figures.get("claimed", 0), one.outcome), default=None)
    return {
        "state": "done",
        "interventions": len(outcomes),
        "outcomes": outcomes,
        "supported": bool(tried),
        "repair": lead.repair if lead else None,
        "outcome": lead.outcome if lead else "",
        "offers": [f"{o.repair}: {o.why}" for o in lead.offers] if lead else [],
        "statement": lead.statement if lead else "",
        "figures": dict(lead.figures) if lead else {},
        "cpu": round(spent, 2),
        "cpu_repair": round(spent_too, 2),
        "placebos": [one.figures for one in tried if one.repair],
    }


def is_sown(record: Any, symptom: Any, target: Target) -> bool:
    """Say whether a symptom is of the constraint that was broken."""
    inner = record.store.inner
    about = {
        q.predicate.value.rpartition("#")[2]: q.object
        for q in inner.quads_for_pattern(symptom, None, None, record.iri)
    }
    own = about.get("constraint") == ox.NamedNode(target.iri)
    path = about.get("path")
    return own and (target.component == "Closed" or path == ox.Literal(str(target.path)))


def written(ground: Ground, place: Path, others: Sequence[Target]) -> tuple[Path, Path, list[Path]]:
    """Write the sown graph, its shapes with those of other constraints, and the ontology."""
    data, shapes, axioms = place / "data.nq", place / "shapes.ttl", place / "axioms.ttl"
    triples = [q.triple for q in ground.store.quads_for_pattern(None, None, None, SHAPES_GRAPH)]
    for number, other in enumerate(others):
        if other.component != "Closed":
            triples += renamed(other, number)
    ox.serialize(triples, str(shapes), format=ox.RdfFormat.TURTLE)
    ontology = list(ground.ontology)
    quads = [q.triple for q in ground.store.quads_for_pattern(None, None, None, ONTOLOGY_GRAPH)]
    if quads:
        ox.serialize(quads, str(axioms), format=ox.RdfFormat.TURTLE)
        ontology.append(axioms)
    for graph in (SHAPES_GRAPH, ONTOLOGY_GRAPH):
        ground.store.remove_graph(graph)
    ox.serialize(ground.quads(), str(data), format=ox.RdfFormat.N_QUADS)
    return data, shapes, ontology


def renamed(target: Target, number: int) -> Iterator[ox.Triple]:
    """Give the shape of another constraint under a name of its own."""
    for triple in target.shapes():
        names = [
            ox.NamedNode(f"{t.value}-{number}")
            if isinstance(t, ox.NamedNode)
            and t.value.startswith("https://example.org/sown/shapes#")
            else t
            for t in (triple.subject, triple.object)
        ]
        if triple.predicate == SH.targetClass or isinstance(names[0], ox.NamedNode):
            yield ox.Triple(names[0], triple.predicate, names[1])  # type: ignore[arg-type]


def apart(work: Callable[[], Found], seconds: float) -> Found:
    """Run a trial in a process of its own."""
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)

    def child() -> None:
        try:
            sender.send(work())
        except Unfit as error:
            sender.send({"state": "not sown", "why": str(error)})
        except Exception as error:  # noqa: BLE001 - one trial must not end the others
            sender.send({"state": "failed", "why": f"{type(error).__name__}: {error}"})

    process = context.Process(target=child)
    process.start()
    sender.close()
    found: Found = {"state": "failed", "why": f"stopped after {seconds:g} s"}
    try:
        if receiver.poll(seconds):
            found = receiver.recv()
    except EOFError:
        found = {"state": "failed", "why": "the process crashed"}
    process.kill()
    process.join()
    return found


def table(results: Sequence[Found]) -> Iterator[str]:
    """Give the figures as a table in Markdown."""
    by_fault: Mapping[str, list[Found]] = defaultdict(list)
    for one in results:
        by_fault[one["fault"]].append(one)
    yield "| fault | trials | supported | cleared | of supported | other outcomes |"
    yield "|---|---:|---:|---:|---:|---|"
    for name, many in [*by_fault.items(), ("all", list(results))]:
        done = [one for one in many if one["state"] == "done"]
        found = [one for one in done if one["supported"]]
        good = [one for one in found if one["outcome"] in {"cleared", "mended"}]
        rest = Counter(one["outcome"] or "no repair" for one in found if one not in good)
        share = f"{len(good) / len(found):.2f}" if found else "-"
        told = ", ".join(f"{n} {o}" for o, n in rest.most_common())
        yield f"| {name} | {len(done)} | {len(found)} | {len(good)} | {share} | {told} |"
    done = [one for one in results if one["state"] == "done"]
    arms = [f for one in done for f in one["placebos"] if f.get("placeboTried")]
    accepted = sum(f["placeboCleared"] > 0.05 * f["placeboTried"] for f in arms)
    tried, cleared = (sum(f[n] for f in arms) for n in ("placeboTried", "placeboCleared"))
    yield ""
    yield f"Placebos: {accepted} of {len(arms)} arms cleared more than 5 %;"
    yield f"{cleared} of {tried} violations."
    numbers = [one["interventions"] for one in done]
    if numbers:
        yield (
            f"Interventions an investigation: median {statistics.median(numbers):g}, "
            f"at most {max(numbers)}."
        )
        spent = [one["cpu"] for one in done]
        yield f"CPU seconds: investigation {statistics.median(spent):g} (median)."
    states = Counter(one["state"] for one in results)
    yield f"Trials: {dict(states)}."


def main() -> None:
    """Run the benchmark and print its table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("graph")
    parser.add_argument("--faults", default=",".join(REPAIRABLE))
    parser.add_argument("--seeds", default="0:3")
    parser.add_argument("--ontology", nargs="*", default=[])
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--alone", action="store_true")
    parser.add_argument("--json")
    given = parser.parse_args()
    ground = ground_of(given.graph, [Path(p) for p in given.ontology])
    known = tuple(targets.derive(ground))
    low, high = map(int, given.seeds.split(":"))
    results: list[Found] = []
    for design in designs.chosen(given.faults):
        for seed in range(low, high):
            work = partial(attempt, ground, known, design, seed, alone=given.alone)
            found = apart(work, given.seconds)
            found |= {"fault": design.name, "seed": seed, "graph": ground.name}
            results.append(found)
            said = found.get("why") or f"{found.get('repair')} {found.get('outcome')}"
            sys.stderr.write(f"{design.name} {seed}: {found['state']} {said}\n")
    sys.stdout.write("\n".join(table(results)) + "\n")
    if given.json:
        Path(given.json).write_text(json.dumps(results, indent=1, default=str), encoding="utf-8")


if __name__ == "__main__":
    main()
