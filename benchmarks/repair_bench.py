"""How often the repair of what is found works: faults are injected, investigated, and repaired.

    python benchmarks/repair_bench.py [GRAPH] [--faults NAME,NAME…] [--seeds A:B] [--ontology FILE…]
        [--noise SHARE] [--seconds S] [--alone] [--json FILE]

GRAPH (generated:800, if left out) is as for `kgreason bench --graph`. Beside the constraint that is
broken, every other that holds for the class is in the shapes (unless --alone), so that what a
repair breaks is seen; and a share of the nodes that were not corrupted breaks the same constraint
for no reason (--noise), so that there is something that a repair should not clear. Each trial has a
process of its own.

Told for each fault: in how many trials a cause was supported, and of these how often the leading
repair (of the most confident cause of the corrupted nodes that has one that can be made) clears
at least 95 % of its violations with none new; and how often it brings back the data as they were:
95 % of its changes add what stood there before the fault, or remove what did not. A
sentinel counts as repairable where no shape asks for a value; where one does, and for faults whose
right values nobody knows (the controls), nothing may be accepted that does not bring them back. A
placebo is the same repair at other nodes: those of each rival's region outside
the claim, and as many as are claimed drawn by lot outside it. It is accepted if it would pass for a
repair there: 95 % of the violations gone, none new.
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
from functools import partial
from pathlib import Path
from typing import Any, Final

import pyoxigraph as ox

from kgreason.api import investigate
from kgreason.base.terms import SH, TRAILS
from kgreason.context.context import pattern
from kgreason.context.view import members
from kgreason.graph.marks import places
from kgreason.inject import base_of, designs
from kgreason.inject import true_constraints as targets
from kgreason.inject.base_graph import BaseGraph
from kgreason.inject.corrupt import ONTOLOGY_GRAPH, SHAPES_GRAPH, Unfit
from kgreason.inject.designs import Design
from kgreason.inject.fault import Target, Truth, draws
from kgreason.inject.inject import inject
from kgreason.record import Ledger
from kgreason.repair.apply import Wanted, repair
from kgreason.repair.catalogue import Repair
from kgreason.repair.feasible import Claim, claims, options, query
from kgreason.repair.opening import Opened, opened
from kgreason.repair.trial import CLAIMED, read_arms
from kgreason.repair.validation import effect
from kgreason.shacl.values import as_stored
from kgreason.test.trial_counts import judged

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
    "wrong-scale",
    "stale-closed",
    "strict-count",
    "strict-length",
)
"""The faults for which a repair can be known from the graph alone."""
CONTROLS: Final = (
    "asked sentinel-number",
    "asked sentinel-text",
    "truncated",
    "source",
    "cohort",
    "drift",
    "null-independent",
    "null-clustered",
)
"""Faults that no repair can mend; `asked` is where the shapes ask for a value."""
ASKED: Final = "asked "
MOST: Final = 5
SAME: Final = 0.8
RIGHT: Final = 0.95
FOUND: Final = frozenset({TRAILS.Supported, TRAILS.Converged})
REFERS: Final = frozenset({"Class", "NodeKind"})
LITERAL: Final = frozenset({"Datatype", "Pattern", "MinInclusive", "MaxInclusive", "MinLength"})

Found = dict[str, Any]


def attempt(
    base: BaseGraph, known: Sequence[Target], name: str, seed: int, *, alone: bool, noise: float
) -> Found:
    """Inject, investigate and repair in this process."""
    (design,) = designs.chosen(name.removeprefix(ASKED))
    clean = frozenset(quad.triple for quad in base.store)
    truth = inject(base, known, design, seed)
    disturb(base, truth, noise, seed)
    extra = [] if alone else compared(known, truth, design, asked=name.startswith(ASKED))
    with tempfile.TemporaryDirectory(prefix="kgreason-repair-") as folder:
        place = Path(folder)
        data, shapes, ontology = written(base, place, extra)
        ledger = place / "ledger"
        given: Found = {"shapes": shapes, "ontology": ontology, "lenient": True, "seed": seed}
        begun = time.process_time()
        with investigate(data, ledger=ledger, interventions=MOST, **given) as result:
            outcomes = [r["outcome"].value for r in result.record.select("repair-attempts")]
        spent = time.process_time() - begun
        begun = time.process_time()
        with Ledger.read(ledger) as store:
            record = store.record(store.entry())
            found = looked_at(opened(record, (), None), truth, clean)
        number = found.pop("number")
        done = repair(ledger, None, wanted=Wanted(number, dry=True)).tried
        spent_too = time.process_time() - begun
    lead = done[0] if number and done else None
    return found | {
        "state": "done",
        "interventions": len(outcomes),
        "outcomes": outcomes,
        "repair": lead.repair if lead else None,
        "outcome": lead.outcome if lead else "",
        "note": lead.note if lead else "",
        "statement": lead.statement if lead else "",
        "figures": dict(lead.figures) if lead else {},
        "cpu": round(spent, 2),
        "cpu_repair": round(spent_too, 2),
    }


def disturb(base: BaseGraph, truth: Truth, noise: float, seed: int) -> None:
    """Break the constraint at a share of the nodes that were not corrupted, each for no reason."""
    target, corrupted = truth.target, {n for cause in truth.causes for n in cause.corrupted}
    rng = draws(base.name, "noise", seed)
    left = sorted(truth.population - corrupted, key=str)
    about = target.component
    if not truth.causes or about not in {"MinCount", *REFERS, *LITERAL}:
        return
    forms: list[Callable[[int], Any]] = [lambda _: ox.BlankNode()]
    if about in LITERAL:
        # Of several forms, so that none of them is a cause of its own; all break what asks for a
        # literal of some kind, and a thing of no class breaks what asks for one of a class.
        forms += [
            lambda n: ox.NamedNode(f"urn:noise:{n}"),
            lambda n: ox.Literal(f"({n})", language="x-noise"),
            lambda n: ox.Literal(f"({n})", datatype=ox.NamedNode("urn:noise:datatype")),
        ]
    for number, node in enumerate(rng.sample(left, int(noise * len(left)))):
        held = list(base.store.quads_for_pattern(node, target.path, None, None))
        for quad in held:
            base.store.remove(quad)
        if about != "MinCount" and held:
            wrong = forms[number % len(forms)](number)
            base.store.add(ox.Quad(node, target.path, wrong, held[0].graph_name))


def compared(
    known: Sequence[Target], truth: Truth, design: Design, *, asked: bool
) -> Sequence[Target]:
    """Return the other constraints that hold for the class of the broken one."""
    own = truth.target
    if own.component == "Closed":
        return []
    others = [t for t in known if t.cls == own.cls and t != own]
    if design.name.startswith("sentinel") and not asked:
        others = [t for t in others if (t.path, t.component) != (own.path, "MinCount")]
    return others


def looked_at(found: Opened, truth: Truth, clean: frozenset[ox.Triple]) -> Found:
    """Return the number of the cause whose repair leads, what else fits it, and its placebos.

    A cause is of the fault where four in five of the failing nodes it claims were corrupted.
    """
    corrupted = {node for cause in truth.causes for node in cause.corrupted}
    every = claims(found.context, found.symptoms)
    most = 2 * len(corrupted) > len(truth.population)
    own = [c for c in every if c.row["status"] in FOUND and is_sown(c, corrupted, most=most)]
    own.sort(key=lambda c: (-float(c.row["confidence"].value), int(c.row["number"].value)))
    out: Found = {"supported": len(own), "number": None, "offers": [], "placebos": []}
    out["restored"] = None
    for claim in own:
        offered = options(found.context, claim)
        out["offers"] += [f"{o.repair.name}: {o.verdict.why}" for o in offered]
        number = claim.row["number"].value
        feasible = next((o.repair for o in offered if o.verdict.feasible), None)
        if feasible is not None:
            rivals = [c for c in every if c.row["frame"] == claim.row["frame"] and c is not claim]
            return out | {
                "number": number,
                "restored": restored(found, claim, feasible, clean),
                "placebos": list(placebos(found, claim, feasible, rivals)),
            }
        if out["number"] is None:
            out["number"] = number  # there may be a repair of the shapes
    return out


def is_sown(claim: Claim, corrupted: set[Any], *, most: bool) -> bool:
    """Check whether the failing nodes that a hypothesis claims are those of the fault.

    Where most nodes were corrupted, others are among them; there it has to claim half of them.
    """
    marks = claim.view.marks
    mask = members(claim.view, claim.pattern) & marks.failing_mask
    claimed = {marks.population.nodes[place] for place in places(mask)}
    found = len(claimed & corrupted)
    return found >= SAME * max(1, len(claimed)) and not (most and 2 * found < len(corrupted))


def restored(found: Opened, claim: Claim, repair: Repair, clean: frozenset[ox.Triple]) -> float:
    """Return the share of the changes at the claimed nodes that bring back what was there."""
    text = query(found.context, claim, repair, None, None, placebo=False)
    _, arms = read_arms(found.graph, found.graph.store.select(text))
    changes = arms[CLAIMED].patch.changes
    right = sum(
        (ox.Triple(c.subject, c.predicate, as_stored(c.value)) in clean) == c.adds for c in changes
    )
    return right / len(changes)


def placebos(
    found: Opened, claim: Claim, repair: Repair, rivals: Sequence[Claim]
) -> Iterator[dict[str, Any]]:
    """Make the same repair at nodes where it should do nothing, and tell what it would pass for."""
    graph, own = found.graph, claim.symptom.constraint
    regions = [pattern(rival.row["pattern"].value) for rival in rivals]
    for index, region in enumerate([None, *regions]):
        text = query(found.context, claim, repair, region, None)
        _, arms = read_arms(graph, graph.store.select(text))
        for name, arm in arms.items():
            if name == CLAIMED or (name == "random" and index):
                continue
            done = effect(graph, own, arm.patch, arm.nodes)
            here = set(arm.nodes)
            mine = {v for v in done.before if v.key == own.key and v.focus in here}
            figures = {
                "claimed": len(mine),
                "holds": len(mine - done.after),
                "violationsCaused": len(done.caused),
                "touchedOutside": 0,
                "placeboTried": 0,
                "placeboCleared": 0,
            }
            yield {"arm": name, "nodes": len(here), "outcome": judged(figures).outcome, **figures}


def written(
    base: BaseGraph, place: Path, others: Sequence[Target]
) -> tuple[Path, Path, list[Path]]:
    """Write the injected graph, its shapes with those of other constraints, and the ontology."""
    data, shapes, axioms = place / "data.nq", place / "shapes.ttl", place / "axioms.ttl"
    triples = [q.triple for q in base.store.quads_for_pattern(None, None, None, SHAPES_GRAPH)]
    for number, other in enumerate(others):
        if other.component != "Closed":
            triples += renamed(other, number)
    ox.serialize(triples, str(shapes), format=ox.RdfFormat.TURTLE)
    ontology = list(base.ontology)
    quads = [q.triple for q in base.store.quads_for_pattern(None, None, None, ONTOLOGY_GRAPH)]
    if quads:
        ox.serialize(quads, str(axioms), format=ox.RdfFormat.TURTLE)
        ontology.append(axioms)
    for graph in (SHAPES_GRAPH, ONTOLOGY_GRAPH):
        base.store.remove_graph(graph)
    ox.serialize(base.quads(), str(data), format=ox.RdfFormat.N_QUADS)
    return data, shapes, ontology


def renamed(target: Target, number: int) -> Iterator[ox.Triple]:
    """Return the shape of another constraint under a name of its own."""
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
    """Return the figures as a table in Markdown."""
    by_fault: Mapping[str, list[Found]] = defaultdict(list)
    for one in results:
        by_fault[one["fault"]].append(one)
    mendable = [one for one in results if one["fault"] not in CONTROLS]
    yield "| fault | trials | supported | cleared | of supported | as it was | other outcomes |"
    yield "|---|---:|---:|---:|---:|---:|---|"
    rows = [(n, many) for n, many in by_fault.items() if n not in CONTROLS]
    for name, many in [*rows, ("all", mendable)]:
        done = [one for one in many if one["state"] == "done"]
        found = [one for one in done if one["supported"]]
        good = [one for one in found if one["outcome"] == "cleared"]
        rest = Counter(one["outcome"] or "none can be made" for one in found if one not in good)
        share = f"{len(good) / len(found):.2f}" if found else "-"
        told = ", ".join(f"{n} {o}" for o, n in rest.most_common())
        back = [one["restored"] >= RIGHT for one in good if one["restored"] is not None]
        was = f"{sum(back)} of {len(back)}" if back else "-"
        numbers = f"{len(done)} | {len(found)} | {len(good)} | {share} | {was}"
        yield f"| {name} | {numbers} | {told} |"
    yield ""
    yield from controls([(n, many) for n, many in by_fault.items() if n in CONTROLS])
    yield from summary(results)


def controls(rows: Sequence[tuple[str, Sequence[Found]]]) -> Iterator[str]:
    """Return what was accepted where nothing can be mended."""
    if not rows:
        return
    yield "| control | trials | supported | accepted, as it was | accepted, and wrong |"
    yield "|---|---:|---:|---:|---:|"
    every = [one for _, many in rows for one in many]
    for name, many in [*rows, ("all", every)]:
        done = [one for one in many if one["state"] == "done"]
        found = [one for one in done if one["supported"]]
        good = [one for one in done if one["outcome"] == "cleared"]
        wrong = [one for one in good if (one["restored"] or 0) < RIGHT]
        yield f"| {name} | {len(done)} | {len(found)} | {len(good) - len(wrong)} | {len(wrong)} |"
    yield ""


def summary(results: Sequence[Found]) -> Iterator[str]:
    """Return placebos, interventions and cost over all trials."""
    done = [one for one in results if one["state"] == "done"]
    arms = [arm for one in done for arm in one["placebos"]]
    failing = [arm for arm in arms if arm["claimed"]]
    accepted = sum(arm["outcome"] == "cleared" for arm in arms)
    tried, gone = (sum(arm[n] for arm in arms) for n in ("claimed", "holds"))
    yield f"Placebos accepted: {accepted} of {len(arms)}, {len(failing)} of them with violations;"
    yield f"they cleared {gone} of {tried} violations."
    if done:
        numbers = [one["interventions"] for one in done]
        yield (
            f"Interventions an investigation: median {statistics.median(numbers):g}, "
            f"at most {max(numbers)}."
        )
        spent = [one["cpu"] for one in done]
        yield f"CPU seconds: investigation {statistics.median(spent):g} (median)."
    yield f"Trials: {dict(Counter(one['state'] for one in results))}."


def main() -> None:
    """Run the benchmark and print its table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("graph", nargs="?", default="generated:800")
    parser.add_argument("--faults", default=",".join((*REPAIRABLE, *CONTROLS)))
    parser.add_argument("--seeds", default="0:3")
    parser.add_argument("--ontology", nargs="*", default=[])
    parser.add_argument("--noise", type=float, default=0.03)
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--alone", action="store_true")
    parser.add_argument("--json")
    given = parser.parse_args()
    base = base_of(given.graph, [Path(p) for p in given.ontology])
    known = tuple(targets.derive(base))
    low, high = map(int, given.seeds.split(":"))
    results: list[Found] = []
    for name in given.faults.split(","):
        for seed in range(low, high):
            work = partial(attempt, base, known, name, seed, alone=given.alone, noise=given.noise)
            found = apart(work, given.seconds)
            found |= {"fault": name, "seed": seed, "graph": base.name}
            results.append(found)
            said = found.get("why") or f"{found.get('repair')} {found.get('outcome')}"
            sys.stderr.write(f"{name} {seed}: {found['state']} {said}\n")
    sys.stdout.write("\n".join(table(results)) + "\n")
    if given.json:
        Path(given.json).write_text(json.dumps(results, indent=1, default=str), encoding="utf-8")


if __name__ == "__main__":
    main()
