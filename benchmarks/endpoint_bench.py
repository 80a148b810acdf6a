"""An endpoint beside files: the same sown faults by both, and what growing graphs take.

    python -m benchmarks.endpoint_bench faults --graph generated:4000 --seeds 0:3 --out rows.jsonl
    python -m benchmarks.endpoint_bench real --data FILE --shapes FILE --out rows.jsonl
    python -m benchmarks.endpoint_bench growth --triples 10000,100000,1000000 --out rows.jsonl
    python -m benchmarks.endpoint_bench table rows.jsonl

`faults` sows a fault, investigates the files, serves them by Oxigraph's server (PyPI `oxigraph`),
or those named by `--servers`, and investigates that. A leading cause is the same where both tell
none, or causes of one kind whose nodes agree (Jaccard index of 0.8). `real` does the same with a
file of N-Quads, and compares all causes. `growth` serves graphs of several sizes in which one
source in forty fails, and tells queries, bytes, and seconds: CPU here, CPU of the server, and in
all. Rows are added to a file of JSON lines.
"""

import argparse
import gzip
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
from benchmarks.endpoint_servers import SERVERS, standing
from kgreason.base.errors import KgreasonError
from kgreason.inject import true_constraints
from kgreason.inject.base_graph import BaseGraph, base_of
from kgreason.inject.corrupt import ONTOLOGY_GRAPH, SHAPES_GRAPH, Unfit
from kgreason.inject.designs import Design, chosen
from kgreason.inject.fault import Target, Truth, jaccard
from kgreason.inject.inject import inject
from kgreason.inject.scoring import score
from tests.endpoint_server import served_from
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
    faults.add_argument("--most", type=int, default=1_000)
    real = parts.add_parser("real")
    real.add_argument("--data", type=Path, required=True, help="N-Quads, which may be packed (.gz)")
    real.add_argument("--shapes", type=Path, nargs="+", required=True)
    for one in (faults, real):
        one.add_argument("--cap", type=int, default=5000)
        one.add_argument("--servers", nargs="+", choices=SERVERS, default=["oxigraph"])
    growth = parts.add_parser("growth")
    growth.add_argument("--triples", default="10000,100000,1000000")
    growth.add_argument("--cap", type=int, default=500)
    growth.add_argument("--folder", type=Path, help="graphs and stores are kept there")
    for one in (faults, real, growth):
        one.add_argument("--query-seconds", type=float, default=60.0)
        one.add_argument("--out", type=Path, required=True)
    parts.add_parser("table").add_argument("rows", type=Path)
    asked = parser.parse_args(arguments)
    if asked.what == "table":
        print(table([json.loads(line) for line in asked.rows.read_text().splitlines()]))
        return
    rows = {"faults": _faults, "real": _real, "growth": _growth}[asked.what]
    for row in rows(asked):
        with asked.out.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


def _faults(asked: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Return a row for each server and fault that could be sown, in a process for each fault."""
    base = base_of(asked.graph)
    targets = tuple(true_constraints.derive(base))
    first, _, end = asked.seeds.partition(":")
    sown = 0
    for seed in range(int(first), int(end)):
        for design in chosen(asked.faults):
            if sown >= asked.most:
                return
            rows = _apart(base, targets, design, seed, asked)
            sown += bool(rows)
            yield from rows


def _apart(
    base: BaseGraph,
    targets: tuple[Target, ...],
    design: Design,
    seed: int,
    asked: argparse.Namespace,
) -> list[dict[str, Any]]:
    """Run a trial in a forked process, whose copy of the graph it changes."""
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)

    def work() -> None:
        try:
            sender.send(list(_trial(base, targets, design, seed, asked)))
        except Unfit:
            sender.send([])
        except KgreasonError as error:
            sender.send([{"fault": design.name, "seed": seed, "failed": str(error)}])
        finally:
            os._exit(0)

    process = context.Process(target=work)
    process.start()
    sender.close()
    try:
        found: list[dict[str, Any]] = receiver.recv()
    except EOFError:
        found = [{"fault": design.name, "seed": seed, "failed": "the process ended"}]
    process.join()
    return found


def _trial(
    base: BaseGraph,
    targets: tuple[Target, ...],
    design: Design,
    seed: int,
    asked: argparse.Namespace,
) -> Iterator[dict[str, Any]]:
    """Sow a fault; gives a row for each server."""
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
            files = _scored(by_files.as_dict(), truth, base.store)
        spent = time.process_time() - begun
        with data.open("a", encoding="utf-8") as file:
            for path in own:
                for triple in ox.parse(path=str(path), format=ox.RdfFormat.TURTLE):
                    file.write(f"{triple.triple} <urn:file:axioms> .\n")
        for name in asked.servers:
            try:
                row = _at(name, data, place / name, run | _of_endpoint(asked))
            except KgreasonError as error:
                yield {"server": name, "fault": design.name, "seed": seed, "failed": str(error)}
                continue
            endpoint = _scored(row.pop("told"), truth, base.store)
            yield {
                "fault": design.name,
                "seed": seed,
                "null": not truth.causes,
                "files": files,
                "endpoint": endpoint,
                "same": _same(files, endpoint),
                **row,
                "cpu": [round(spent, 1), row["cpu"]],
            }


def _of_endpoint(asked: argparse.Namespace) -> dict[str, Any]:
    """Return the options that an investigation of an endpoint has beside those of files."""
    return {"cap": asked.cap, "query_seconds": asked.query_seconds}


def _at(name: str, quads: Path, folder: Path, run: Mapping[str, Any]) -> dict[str, Any]:
    """Investigate what a server holds; gives what was told, and what it took (CPU seconds)."""
    with standing(name, quads, folder) as served:
        before, begun = served.holds(), time.process_time()
        with kgreason.investigate(served.address, **served.options, **run) as found:
            told = found.as_dict()
            (extract,) = of(found.record, "Extract").values()
            samples = list(of(found.record, "Sample").values())
        return {
            "server": name,
            "told": told,
            "unchanged": served.holds() == before,
            "queries": int(extract["queriesAsked"][0]),
            "bytes": int(extract["bytesRead"][0]),
            "taken": [int(s["failingTaken"][0]) + int(s["passingTaken"][0]) for s in samples],
            "there": [int(s["failingThere"][0]) + int(s["passingThere"][0]) for s in samples],
            "cpu": round(time.process_time() - begun, 1),
            "notices": told.get("notices", []),
        }


def _real(asked: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Return a row for each server: the verdicts and causes of a real graph by it and by files."""
    run: dict[str, Any] = {"shapes": asked.shapes, "try_repairs": False, "lenient": True, "seed": 0}
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data.nq"
        opened = gzip.open if asked.data.suffix == ".gz" else open
        with opened(asked.data, "rb") as packed:
            data.write_bytes(packed.read())
        store = ox.Store()
        store.bulk_load(path=str(data), format=ox.RdfFormat.N_QUADS, lenient=True)
        begun = time.process_time()
        with kgreason.investigate(data, **run) as by_files:
            files = by_files.as_dict()
        spent = time.process_time() - begun
        for name in asked.servers:
            row = _at(name, data, Path(folder) / name, run | _of_endpoint(asked))
            row["cpu"] = [round(spent, 1), row["cpu"]]
            yield {"data": str(asked.data), **_compared(files, row.pop("told"), store), **row}


def _compared(
    files: Mapping[str, Any], endpoint: Mapping[str, Any], store: ox.Store
) -> dict[str, Any]:
    """Return which verdicts and causes two results share, and which only one of them tells."""
    verdicts = [
        {(s["shape"], s["constraint"], s["name"]): s["verdict"] for s in told["symptoms"]}
        for told in (files, endpoint)
    ]
    causes = [_causes(told, store) for told in (files, endpoint)]
    left = list(causes[1])
    only = []
    for one in causes[0]:
        twin = next((other for other in left if _same(one, other)), None)
        if twin is None:
            only.append(one["statement"])
        else:
            left.remove(twin)
    return {
        "broken": [len(one) for one in verdicts],
        "verdicts": sum(verdicts[1].get(key) == said for key, said in verdicts[0].items()),
        "causes": [len(one) for one in causes],
        "both": len(causes[0]) - len(only),
        "only by files": only,
        "only at the endpoint": [one["statement"] for one in left],
    }


def _causes(told: Mapping[str, Any], store: ox.Store) -> list[dict[str, Any]]:
    """Return the causes of a result, each with the nodes of its region in the whole graph."""
    by_id = {h["id"]: h for s in told["symptoms"] for h in s["hypotheses"]}
    leads = [by_id[cause["hypotheses"][0]] for cause in told["causes"]]
    return [
        {
            "kind": one["kind"],
            "statement": one["statement"],
            "nodes": sorted(_region(one, store)),
        }
        for one in leads
    ]


def _region(one: Mapping[str, Any], store: ox.Store) -> set[str]:
    """Return the nodes of the region of a hypothesis in a whole graph."""
    if not one["region"]:
        return set()
    rows = store.query(one["region"], use_default_graph_as_union=True)
    found = {row["focus"] for row in rows} if isinstance(rows, ox.QuerySolutions) else set()
    return {str(node) for node in found}


def _scored(found: Mapping[str, Any], truth: Truth, store: ox.Store) -> dict[str, Any]:
    """Return how a result is judged, with the kind and the nodes of its leading cause."""
    judged = score(found, truth, store)
    told = [h for s in found["symptoms"] for h in s["hypotheses"]]
    names = [h for cause in found["causes"][:1] for h in cause["hypotheses"][:1]]
    leading = next((h for h in told if h["id"] in names), None)
    held = {str(node) for node in truth.population}
    nodes = sorted(_region(leading, store) & held) if leading is not None else []
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
            kept = Path(folder) if asked.folder is None else asked.folder / str(triples)
            data, shapes, written = _grown(kept, triples)
            with served_from(data, kept / "store") as served:
                begun, started = time.process_time(), time.monotonic()
                run: dict[str, Any] = {"shapes": shapes, "cap": asked.cap, "seed": 0}
                run |= {"query_seconds": asked.query_seconds, "try_repairs": False}
                with kgreason.investigate(served.address, **run) as found:
                    (extract,) = of(found.record, "Extract").values()
                    (sample,) = of(found.record, "Sample").values()
                    causes = [one["statement"] for one in found.as_dict()["causes"]]
                spent = time.process_time() - begun, served.cpu(), time.monotonic() - started
        yield {
            "triples": written,
            "failing": int(sample["failingThere"][0]),
            "taken": int(sample["failingTaken"][0]) + int(sample["passingTaken"][0]),
            "queries": int(extract["queriesAsked"][0]),
            "bytes": int(extract["bytesRead"][0]),
            "cpu": [round(one, 1) for one in spent],
            "causes": causes,
        }


def _grown(folder: Path, triples: int) -> tuple[Path, Path, int]:
    """Write a graph and its shapes, where they are not there; gives both, and how large it is."""
    folder.mkdir(parents=True, exist_ok=True)
    data, shapes = folder / "data.nt", folder / "shapes.ttl"
    if not shapes.exists():
        with data.open("w", encoding="utf-8") as file:
            file.writelines(lines(triples))
        shapes.write_text(SHAPES, encoding="utf-8")
    with data.open("rb") as file:
        return data, shapes, sum(1 for _ in file)


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
            f"{r['bytes'] / 1e6:.2f} MB | {' | '.join(f'{one:.1f}' for one in r['cpu'])} |"
            for r in rows
        )
    if rows and "data" in rows[0]:
        return "\n".join(json.dumps(row, indent=1, ensure_ascii=False) for row in rows)
    servers = dict.fromkeys(row.get("server", "files") for row in rows)
    return "\n\n".join(
        _of_server(name, [row for row in rows if row.get("server", "files") == name])
        for name in servers
    )


def _of_server(name: str, rows: Sequence[Mapping[str, Any]]) -> str:
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
    out = [f"{name}: {len(done)} trials, {len(rows) - len(done)} failed"]
    out += [f"{what}: {number}" for what, number in count.items()]
    out += [f"{r['fault']} {r['seed']}: {r['failed']}" for r in rows if "failed" in r]
    out += [
        f"{r['fault']} {r['seed']}: files {r['files']['statement']} ({r['files']['verdict']}), "
        f"endpoint {r['endpoint']['statement']} ({r['endpoint']['verdict']})"
        for r in done
        if not r["same"]
    ]
    return "\n".join(out)


if __name__ == "__main__":
    main()
