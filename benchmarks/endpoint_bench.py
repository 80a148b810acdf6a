"""An endpoint beside files: the same sown faults by both, and what growing graphs take.

    python -m benchmarks.endpoint_bench faults --graph generated:4000 --seeds 0:3 --out rows.jsonl
    python -m benchmarks.endpoint_bench growth --triples 10000,100000,1000000 --out rows.jsonl
    python -m benchmarks.endpoint_bench table rows.jsonl

`faults` sows a fault, investigates the files, serves them by Oxigraph's server (PyPI `oxigraph`)
and investigates that. A leading cause is the same where both tell none, or causes of one kind whose
nodes agree (Jaccard index of 0.8). `growth` serves graphs of several sizes in which one source in
forty fails, and tells queries, bytes and CPU seconds. Rows are added to a file of JSON lines.
"""

import argparse
import json
import multiprocessing
import os
import random
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pyoxigraph as ox

import kgreason
from kgreason.base.errors import KgreasonError
from kgreason.inject import true_constraints
from kgreason.inject.base_graph import BaseGraph, base_of
from kgreason.inject.corrupt import ONTOLOGY_GRAPH, SHAPES_GRAPH, Unfit
from kgreason.inject.designs import Design, chosen
from kgreason.inject.fault import Target, Truth, jaccard
from kgreason.inject.inject import inject
from kgreason.inject.scoring import score
from tests.endpoint_server import oxigraph_server, served_from
from tests.lifetime_support import of

_SAME: Final = 0.8
_LAB: Final = 40
_FAILING: Final = ((7, 0.6), (None, 0.02))
HEAD: Final = "https://example.org/lab/"
SHAPES: Final = f"""@prefix e: <{HEAD}> . @prefix sh: <http://www.w3.org/ns/shacl#> .
e:SampleShape a sh:NodeShape ; sh:targetClass e:Sample ;
  sh:property [ sh:path e:mass ; sh:minCount 1 ] .
"""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parts = parser.add_subparsers(dest="what", required=True)
    faults = parts.add_parser("faults")
    faults.add_argument("--graph", default="generated:4000")
    faults.add_argument("--faults", default="usual")
    faults.add_argument("--seeds", default="0:3")
    faults.add_argument("--cap", type=int, default=5000)
    faults.add_argument("--most", type=int, default=1_000)
    growth = parts.add_parser("growth")
    growth.add_argument("--triples", default="10000,100000,1000000")
    growth.add_argument("--cap", type=int, default=500)
    for one in (faults, growth):
        one.add_argument("--out", type=Path, required=True)
    parts.add_parser("table").add_argument("rows", type=Path)
    asked = parser.parse_args(arguments)
    if asked.what == "table":
        print(table([json.loads(line) for line in asked.rows.read_text().splitlines()]))
        return
    rows = _faults(asked) if asked.what == "faults" else _growth(asked)
    for row in rows:
        with asked.out.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


def _faults(asked: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Return a row for each fault that could be sown, each made in a process of its own."""
    base = base_of(asked.graph)
    targets = tuple(true_constraints.derive(base))
    first, _, end = asked.seeds.partition(":")
    sown = 0
    for seed in range(int(first), int(end)):
        for design in chosen(asked.faults):
            if sown >= asked.most:
                return
            row = _apart(base, targets, design, seed, asked.cap)
            if row is not None:
                sown += 1
                yield row


def _apart(
    base: BaseGraph, targets: tuple[Target, ...], design: Design, seed: int, cap: int
) -> dict[str, Any] | None:
    """Run a trial in a forked process, whose copy of the graph it changes."""
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)

    def work() -> None:
        try:
            sender.send(_trial(base, targets, design, seed, cap))
        except Unfit:
            sender.send(None)
        except KgreasonError as error:
            sender.send({"fault": design.name, "seed": seed, "failed": str(error)})
        finally:
            os._exit(0)

    process = context.Process(target=work)
    process.start()
    sender.close()
    try:
        found: dict[str, Any] | None = receiver.recv()
    except EOFError:
        found = {"fault": design.name, "seed": seed, "failed": "the process ended"}
    process.join()
    return found


def _trial(
    base: BaseGraph, targets: tuple[Target, ...], design: Design, seed: int, cap: int
) -> dict[str, Any]:
    truth = inject(base, targets, design, seed)
    run: dict[str, Any] = {"seed": seed, "try_repairs": False, "lenient": True}
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        shapes, axioms, data = place / "shapes.ttl", place / "axioms.ttl", place / "data.nq"
        for graph, path in ((SHAPES_GRAPH, shapes), (ONTOLOGY_GRAPH, axioms)):
            quads = list(base.store.quads_for_pattern(None, None, None, graph))
            base.store.remove_graph(graph)
            ox.serialize((q.triple for q in quads), str(path), format=ox.RdfFormat.TURTLE)
        ox.serialize(base.quads(), str(data), format=ox.RdfFormat.N_QUADS)
        own = [axioms] if axioms.stat().st_size else []
        run |= {"shapes": shapes, "ontology": [*base.ontology, *own]}
        begun = time.process_time()
        with kgreason.investigate(data, **run) as by_files:
            files = by_files.as_dict()
        between = time.process_time()
        with (
            oxigraph_server({}, nquads=[data, *own]) as served,
        ):
            before = served.dump()
            with kgreason.investigate(served.address, cap=cap, **run) as by_endpoint:
                endpoint = by_endpoint.as_dict()
                (extract,) = of(by_endpoint.record, "Extract").values()
                samples = list(of(by_endpoint.record, "Sample").values())
            unchanged = served.dump() == before
    spent = between - begun, time.process_time() - between
    both = [_scored(found, truth, base.store) for found in (files, endpoint)]
    return {
        "fault": design.name,
        "seed": seed,
        "null": not truth.causes,
        "files": both[0],
        "endpoint": both[1],
        "same": _same(both[0], both[1]),
        "unchanged": unchanged,
        "queries": int(extract["queriesAsked"][0]),
        "bytes": int(extract["bytesRead"][0]),
        "taken": [int(s["failingTaken"][0]) + int(s["passingTaken"][0]) for s in samples],
        "there": [int(s["failingThere"][0]) + int(s["passingThere"][0]) for s in samples],
        "cpu": [round(one, 1) for one in spent],
        "notices": endpoint.get("notices", []),
    }


def _scored(found: Mapping[str, Any], truth: Truth, store: ox.Store) -> dict[str, Any]:
    """Return how a result is judged, with the kind and the nodes of its leading cause."""
    judged = score(found, truth, store)
    told = [h for s in found["symptoms"] for h in s["hypotheses"]]
    names = [h for cause in found["causes"][:1] for h in cause["hypotheses"][:1]]
    leading = next((h for h in told if h["id"] in names), None)
    nodes: list[str] = []
    if leading is not None and leading["region"]:
        rows = store.query(leading["region"], use_default_graph_as_union=True)
        all_ = {row["focus"] for row in rows} if isinstance(rows, ox.QuerySolutions) else set()
        held = all_ & truth.population
        nodes = sorted(node.value for node in held)
    return {
        "top1": judged["top1"],
        "false": judged["wrong_answers"],
        "verdict": judged["verdict"],
        "kind": leading["kind"] if leading else None,
        "statement": leading["statement"] if leading else None,
        "nodes": nodes,
    }


def _same(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    if one["kind"] != other["kind"]:
        return False
    if one["kind"] is None:
        return True
    return jaccard({*one["nodes"]}, {*other["nodes"]}) >= _SAME


def _growth(asked: argparse.Namespace) -> Iterator[dict[str, Any]]:
    for text in asked.triples.split(","):
        triples = int(text)
        with tempfile.TemporaryDirectory() as folder:
            data, shapes = Path(folder) / "data.nt", Path(folder) / "shapes.ttl"
            shapes.write_text(SHAPES, encoding="utf-8")
            with data.open("w", encoding="utf-8") as file:
                written = sum(file.write(line) > 0 for line in lines(triples))
            with served_from(data, Path(folder) / "store") as served:
                begun = time.process_time()
                with kgreason.investigate(
                    served.address, shapes=shapes, cap=asked.cap, try_repairs=False, seed=0
                ) as found:
                    (extract,) = of(found.record, "Extract").values()
                    (sample,) = of(found.record, "Sample").values()
                    causes = [one["statement"] for one in found.as_dict()["causes"]]
        yield {
            "triples": written,
            "failing": int(sample["failingThere"][0]),
            "taken": int(sample["failingTaken"][0]) + int(sample["passingTaken"][0]),
            "queries": int(extract["queriesAsked"][0]),
            "bytes": int(extract["bytesRead"][0]),
            "cpu": round(time.process_time() - begun, 1),
            "causes": causes,
        }


def lines(triples: int) -> Iterator[str]:
    """Return about so many N-Triples: samples of forty labs, of which those of one lack a mass."""
    chance = random.Random(0)
    for number in range(triples // 4):
        lab, name = number % _LAB, f"<{HEAD}s{number}>"
        rate = next(rate for which, rate in _FAILING if which in (lab, None))
        yield f"{name} <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <{HEAD}Sample> .\n"
        yield f"{name} <{HEAD}lab> <{HEAD}lab{lab}> .\n"
        yield f"{name} <{HEAD}technician> <{HEAD}person{chance.randrange(90)}> .\n"
        if chance.random() >= rate:
            yield f'{name} <{HEAD}mass> "{number % 97 + 1}.5"^^<{_DECIMAL}> .\n'


_DECIMAL: Final = "http://www.w3.org/2001/XMLSchema#decimal"


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return what rows come to, as text."""
    if rows and "triples" in rows[0]:
        return "\n".join(
            f"| {r['triples']:,} | {r['failing']:,} | {r['taken']:,} | {r['queries']} | "
            f"{r['bytes'] / 1e6:.2f} MB | {r['cpu']} |"
            for r in rows
        )
    done = [row for row in rows if "failed" not in row]
    sown = [row for row in done if not row["null"]]
    count = {
        "the same": sum(r["same"] for r in done),
        "with a cause": len(sown),
        "of these the same": sum(r["same"] for r in sown),
        "top-1 by files": sum(r["files"]["top1"] for r in sown),
        "top-1 by the endpoint": sum(r["endpoint"]["top1"] for r in sown),
        "false by files": sum(r["files"]["false"] for r in done),
        "false by the endpoint": sum(r["endpoint"]["false"] for r in done),
        "servers unchanged": sum(r["unchanged"] for r in done),
        "CPU seconds by files": round(sum(r["cpu"][0] for r in done)),
        "CPU seconds by the endpoint": round(sum(r["cpu"][1] for r in done)),
    }
    out = [f"{len(done)} trials, {len(rows) - len(done)} failed"]
    out += [f"{name}: {number}" for name, number in count.items()]
    out += [
        f"{r['fault']} {r['seed']}: files {r['files']['statement']} ({r['files']['verdict']}), "
        f"endpoint {r['endpoint']['statement']} ({r['endpoint']['verdict']})"
        for r in done
        if not r["same"]
    ]
    return "\n".join(out)


if __name__ == "__main__":
    main()
