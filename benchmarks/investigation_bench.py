"""CPU time and peak memory of a whole investigation, beside loading and plain validation alone.

One process is `kgreason investigate`: load, find what fails, look for causes, test them, write the
record and the report; a second one looks for causes in two processes, a third tries up to ten
repairs too. The last loads the same data into
rdflib and validates with pySHACL, no more. The data are the orders of shacl_bench.py in twenty
feeds; one feed has dates without their datatype, another leaves out a property. Where the real
graphs are at hand ($KGREASON_DATA, else ../shared/data beside the checkout), they are measured too,
without their sh:sparql. Prints a table with ratios to the last, all of one run, and by which power
of the triples the time of each grows; writes benchmarks/results/investigation.json, where what is
not measured now stays. pySHACL with sh:sparql takes ten minutes and more at a million triples;
`--longest` says from which size on it is left out there.

    python benchmarks/investigation_bench.py --sizes 10000 100000 1000000
"""

import argparse
import compileall
import gzip
import math
import os
import random
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyoxigraph as ox
import shacl_bench  # type: ignore[import-not-found]  # beside this script

import kgreason

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results" / "investigation.json"
DATA = Path(os.environ.get("KGREASON_DATA", HERE.parents[1] / "shared" / "data"))
ENGINES = ("pyshacl", "kgreason", "kgreason, 2 jobs", "kgreason, 10 repairs")
TRIED = 10
FEEDS = 20
UNTYPED, UNSENT = 7, 3  # the feeds with a fault of their own
SHARE = 0.9
REAL = (
    ("GSQ", "gsq/vocabularies.nq.gz", "gsq/vocpub-4.10.ttl"),
    ("TED", "ted/notices.nq.gz", "ted/ePO_shacl_shapes.ttl"),
)
SPARQL = ox.NamedNode("http://www.w3.org/ns/shacl#sparql")


@dataclass(frozen=True)
class Case:
    """Data for both engines: a folder or file with its graphs, and the same merged into one."""

    name: str
    kind: str
    data: Path
    merged: Path
    shapes: Path


def generate(triples: int, seed: int, folder: Path) -> None:
    """Write the feeds as N-Triples, each order and its partners in one, with two planted faults."""
    folder.mkdir()
    dice, left_out = random.Random(seed), re.compile("#(product|sent)> ")
    feeds: list[list[str]] = [[] for _ in range(FEEDS)]
    for line in shacl_bench.graph(triples, seed):
        subject = line.partition(" ")[0]
        number = int("".join(c for c in subject.rpartition("#")[2] if c.isdigit()))
        feed = number % FEEDS
        if feed == UNTYPED and "#placed>" in line and dice.random() < SHARE:
            feeds[feed].append(line.replace(f"^^<{shacl_bench.XSD}date>", ""))
        elif feed == UNSENT and left_out.search(line) and dice.random() < SHARE:
            continue
        else:
            feeds[feed].append(line)
    for number, lines in enumerate(feeds):
        text = "\n".join(lines) + "\n"
        (folder / f"feed-{number:02}.nt").write_text(text, encoding="utf-8")


def made(folder: Path, size: int, seed: int) -> Iterator[Case]:
    """Return the generated cases of a size."""
    data, merged = folder / str(size), folder / f"{size}.nt"
    generate(size, seed, data)
    with merged.open("wb") as out:
        for part in sorted(data.iterdir()):
            out.write(part.read_bytes())
    for kind, text in shacl_bench.KINDS.items():
        shapes = folder / f"{kind.replace(' ', '-')}.ttl"
        shapes.write_text(text, encoding="utf-8")
        yield Case(str(size), kind, data, merged, shapes)


def real(folder: Path) -> Iterator[Case]:
    """Return the real graphs that are at hand; tell which are not."""
    for name, data, shapes in REAL:
        if not (DATA / data).exists():
            print(f"{name}: skipped, {data} is not there; set KGREASON_DATA to its folder")
            continue
        merged = folder / f"{name}.nt"
        with merged.open("wb") as out:
            content = gzip.decompress((DATA / data).read_bytes())
            quads = ox.parse(content, format=ox.RdfFormat.N_QUADS, lenient=True)
            ox.serialize((q.triple for q in quads), out, format=ox.RdfFormat.N_TRIPLES)
        core = folder / f"{name}-shapes.nt"
        with core.open("wb") as out:
            # Of the hundreds of sh:sparql pySHACL runs one for each node, which takes hours.
            kept = (q.triple for q in ox.parse(path=DATA / shapes) if q.predicate != SPARQL)
            ox.serialize(kept, out, format=ox.RdfFormat.N_TRIPLES)
        yield Case(name, "real", DATA / data, merged, core)


def command(engine: str, case: Case, ledger: Path) -> list[str]:
    """Return the whole process to measure."""
    if engine != "pyshacl":
        asked = ["-m", "kgreason", "investigate", str(case.data), "--shapes", str(case.shapes)]
        lenient = ["--lenient"] if case.kind == "real" else []
        more = {"kgreason, 2 jobs": ["--jobs", "2"], "kgreason": []}
        tried = more.get(engine, ["--interventions", str(TRIED)])
        return [sys.executable, *asked, "--ledger", str(ledger), *lenient, *tried]
    script = str(HERE / "shacl_engine.py")
    return [sys.executable, script, engine, str(case.merged), str(case.shapes)]


def measure(engine: str, case: Case) -> dict[str, Any]:
    """Run one process; CPU seconds and the greatest resident size, children included, and time."""
    with tempfile.TemporaryDirectory() as ledger, tempfile.TemporaryFile() as said:
        asked = command(engine, case, Path(ledger) / "ledger")
        begun = time.monotonic()
        process = subprocess.Popen(asked, stdout=subprocess.DEVNULL, stderr=said)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            said.seek(0)
            return {"error": said.read().decode(errors="replace").strip().splitlines()[-1:]}
        wall = time.monotonic() - begun
    return {**taken(used), "wall": wall}


def taken(used: resource.struct_rusage) -> dict[str, float]:
    """Return seconds of CPU and MiB (Linux counts in KiB)."""
    return {"seconds": used.ru_utime + used.ru_stime, "peak_mib": used.ru_maxrss / 1024}


def row(case: Case, engine: str, found: dict[str, Any], base: dict[str, Any] | None) -> str:
    """Return a line of the table; ratios are to pySHACL, where it was measured in this run."""
    start = f"{case.name:>9} {case.kind:<11} {engine:<20}"
    if "error" in found:
        return f"{start} {found['error']}"
    line = f"{start} {found['seconds']:>9.2f} {found['wall']:>7.1f} {found['peak_mib']:>8.0f}"
    if base is None or "error" in base or found is base:
        return line
    times, memory = (found[name] / base[name] for name in ("seconds", "peak_mib"))
    return f"{line} {times:>7.3f} {memory:>6.2f}"


def growth(points: list[tuple[int, float]]) -> float:
    """Return b of seconds = a * triples^b: the slope of a line through the logarithms."""
    logs = [(math.log(size), math.log(seconds)) for size, seconds in points]
    middle = [sum(values) / len(logs) for values in zip(*logs, strict=True)]
    across = sum((x - middle[0]) * (y - middle[1]) for x, y in logs)
    return float(across / sum((x - middle[0]) ** 2 for x, _ in logs))


def main() -> None:
    """Measure all and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--sizes", type=int, nargs="*", default=[10_000, 100_000])
    parser.add_argument("--engines", nargs="+", default=list(ENGINES), choices=ENGINES)
    parser.add_argument("--kinds", nargs="+", default=["core", "with sparql", "real"])
    parser.add_argument("--longest", type=int, default=1_000_000, metavar="TRIPLES")
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args()
    # An installed package has its byte code, a checkout perhaps not.
    compileall.compile_dir(Path(kgreason.__file__).parent, quiet=1)
    print("  triples constraints process                seconds    wall peak MiB   ×time  ×peak")
    curves: dict[tuple[str, str], list[tuple[int, float]]] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for source in (*(made(folder, size, options.seed) for size in options.sizes), real(folder)):
            for case in source:
                if case.kind in options.kinds:
                    for engine, found in measured(case, options.engines, options.longest):
                        if case.name.isdigit() and "seconds" in found:
                            point = int(case.name), found["seconds"]
                            curves.setdefault((case.kind, engine), []).append(point)
    for (kind, engine), points in curves.items():
        if len(points) > 1:
            print(
                f"{kind}, {engine}: time grows with the power {growth(points):.2f} of the triples"
            )


def measured(case: Case, engines: list[str], longest: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Measure one case by each engine, keep and print what was found."""
    base: dict[str, Any] | None = None
    for engine in engines:
        long = case.kind == "with sparql" and int(case.name) >= longest
        if engine == "pyshacl" and long:
            continue
        found = measure(engine, case)
        base = found if engine == "pyshacl" else base
        record = {"data": case.name, "shapes": case.kind, "engine": engine, **found}
        shacl_bench.keep(RESULTS, [record], ("data", "shapes", "engine"))
        print(row(case, engine, found, base), flush=True)
        yield engine, found


if __name__ == "__main__":
    main()
