"""CPU time of an audit, beside the same shapes under pySHACL, and how it grows with the record.

Two kinds of records: the shipped example investigated (one constraint, or all of it, with few or
many hypotheses a symptom), and histories of any length that `long_history.py` writes to a ledger
folder. The latter are audited in a process of their own, read-only as `kgreason audit` does; its
peak memory is that of the process, beside that of one that only loads the record. The reference is
asked for the smallest, for it needs minutes. Prints tables, writes benchmarks/results/audit.json.

    python benchmarks/audit_bench.py [--no-reference] [--updates 1000 10000 ...] [--reference 440]
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyoxigraph as ox
from long_history import write  # type: ignore[import-not-found] # beside this script

import kgreason
from kgreason.audit import audit
from kgreason.record import Ledger

HERE = Path(__file__).resolve().parent
EXAMPLE = HERE.parent / "examples" / "supply-chain"
RESULTS = HERE / "results" / "audit.json"
SMALL = "https://example.org/supply/vocab#freightCost"
RECORDS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("one constraint", {"only": SMALL}),
    ("all, two hypotheses", {"max_hypotheses": 2}),
    ("all, six hypotheses", {}),
    ("all, eighteen hypotheses", {"max_hypotheses": 18}),
)


def measure(record: Any, engine: Any) -> dict[str, float]:
    """Return the CPU seconds of one audit and what it looked at."""
    begun = time.process_time()
    found = audit(record, engine=engine)
    seconds = time.process_time() - begun
    if not found.ok:
        raise SystemExit(f"The record is not sound: {str(found)[:2000]}")
    return {"seconds": seconds, **found.checked}


def peak() -> int:
    """Return the peak memory of this process in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def part(what: str, folder: Path, updates: int) -> dict[str, Any]:
    """Write a history, load its record and no more, or audit it with an engine."""
    if what == "write":
        begun = time.process_time()
        with Ledger.write(folder) as ledger:
            write(ledger, updates)
        return {"seconds": time.process_time() - begun}
    with Ledger.read(folder) as ledger:
        record = ledger.record(ledger.entry())
        if what == "load":
            inner = ox.Store()
            text = ledger.store.inner.dump(format=ox.RdfFormat.N_TRIPLES, from_graph=record.iri)
            inner.bulk_load(text or b"", ox.RdfFormat.N_TRIPLES)
            return {"peak": peak()}
        return {**measure(record, what), "peak": peak()}


def apart(what: str, folder: Path, updates: int) -> dict[str, Any]:
    """Run a part in a process of its own."""
    command = [sys.executable, __file__, "--part", what, str(folder), str(updates)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE)
    return dict(json.loads(done.stdout))


def examples(*, reference: bool) -> list[dict[str, Any]]:
    """Audit investigations of the shipped example."""
    found: list[dict[str, Any]] = []
    print(f"{'record':<26} {'engine':<8} {'updates':>7} {'triples':>8} {'seconds':>9} {'×':>6}")
    for name, asked in RECORDS:
        result = kgreason.investigate(
            EXAMPLE / "data",
            shapes=EXAMPLE / "shapes.ttl",
            ontology=EXAMPLE / "ontology.ttl",
            **asked,
        )
        engines = ["native"]
        if reference and name in {RECORDS[0][0], RECORDS[1][0]}:
            engines.append("pyshacl")
        for engine in engines:
            taken = measure(result.record, engine)
            found.append({"record": name, "engine": engine, **taken})
            times = taken["seconds"] / found[-2]["seconds"] if engine == "pyshacl" else 1
            print(
                f"{name:<26} {engine:<8} {taken['updates']:>7} {taken['triples']:>8} "
                f"{taken['seconds']:>9.2f} {times:>6.0f}",
                flush=True,
            )
    return found


def histories(updates: list[int], reference: int) -> list[dict[str, Any]]:
    """Audit written histories; pySHACL those of up to so many updates."""
    found: list[dict[str, Any]] = []
    print("| updates | triples | native s | ms an update | peak MiB | loaded MiB | pySHACL s | × |")
    print("|---|---|---|---|---|---|---|---|")
    for number in updates:
        with tempfile.TemporaryDirectory(dir=RESULTS.parent) as name:
            folder = Path(name) / "ledger"
            wrote = apart("write", folder, number)
            loaded = apart("load", folder, number)
            taken = apart("native", folder, number)
            row = {"record": "written", "engine": "native", **taken}
            row |= {"loaded": loaded["peak"], "written": wrote["seconds"]}
            other = ["", ""]
            found.append(row | {"date": f"{datetime.now(UTC):%F}"})
            if number <= reference:
                slow = apart("pyshacl", folder, number)
                found.append({"record": "written", "engine": "pyshacl", **slow})
                other = [f"{slow['seconds']:.0f}", f"{slow['seconds'] / taken['seconds']:.0f}"]
        each = 1000 * taken["seconds"] / taken["updates"]
        cells = [f"{taken['updates']:,}", f"{taken['triples']:,}", f"{taken['seconds']:.2f}"]
        cells += [f"{each:.2f}", f"{taken['peak']:,}", f"{loaded['peak']:,}", *other]
        print(f"| {' | '.join(cells)} |", flush=True)
    return found


def main() -> None:
    """Measure all and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--no-reference", action="store_true", help="leave pySHACL out")
    parser.add_argument("--no-examples", action="store_true", help="written histories alone")
    parser.add_argument("--updates", type=int, nargs="*", default=[1_000, 10_000])
    parser.add_argument("--reference", type=int, default=100, help="most updates for pySHACL")
    parser.add_argument("--part", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.part:
        what, folder, number = options.part
        print(json.dumps(part(what, Path(folder), int(number))))
        return
    RESULTS.parent.mkdir(exist_ok=True)
    kept = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else []
    if not options.no_examples:
        kept = [row for row in kept if row["record"] == "written"]
        kept = examples(reference=not options.no_reference) + kept
    made = histories(options.updates, 0 if options.no_reference else options.reference)
    same = {(row["engine"], row["updates"]) for row in made}
    kept = [r for r in kept if r["record"] != "written" or (r["engine"], r["updates"]) not in same]
    RESULTS.write_text(json.dumps(kept + made, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
