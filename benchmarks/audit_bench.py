"""CPU time of an audit, beside the same shapes under pySHACL, and how it grows with the record.

The records are made by investigating the shipped example: one constraint, or all of it, with few or
many hypotheses a symptom. The reference is asked for the two smallest, for it needs minutes.
Prints a table and writes benchmarks/results/audit.json.

    python benchmarks/audit_bench.py [--no-reference]
"""

import argparse
import json
import time
from pathlib import Path
from typing import Any

import kgreason
from kgreason.audit import audit

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
    """Give the CPU seconds of one audit and what it looked at."""
    begun = time.process_time()
    found = audit(record, engine=engine)
    seconds = time.process_time() - begun
    if not found.ok:
        raise SystemExit(f"The record is not sound: {found}")
    return {"seconds": seconds, **found.checked}


def main() -> None:
    """Measure all and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--no-reference", action="store_true", help="leave pySHACL out")
    options = parser.parse_args()
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
        if name in {RECORDS[0][0], RECORDS[1][0]} and not options.no_reference:
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
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
