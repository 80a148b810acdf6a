"""CPU time and peak memory of `kgreason repair` on a finished investigation, each a whole process.

The data are those of investigation_bench.py: orders in twenty feeds, in one of which dates lost
their datatype. The investigation is made first; then its repair is tried alone (--dry-run), and
written as an RDF Patch and as the mended data, from a fresh copy of the ledger each. Prints a
table, the investigation in its first row.

    python benchmarks/mending_bench.py --sizes 100000 1000000
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import investigation_bench  # type: ignore[import-not-found]  # beside this script
import shacl_bench  # type: ignore[import-not-found]

MEBI = 1024
RUNS = {
    "repair --dry-run": ("--dry-run",),
    "repair --out mended.rdfp": ("--out", "mended.rdfp"),
    "repair --out mended.nq": ("--out", "mended.nq"),
}


def main() -> None:
    """Measure each size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[100_000])
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    print("| triples | what | CPU s | peak MiB | what it did |")
    print("|---:|---|---:|---:|---|")
    for size in given.sizes:
        with tempfile.TemporaryDirectory(prefix="kgreason-mending-") as folder:
            for row in measured(Path(folder), size, given.seed):
                print(row, flush=True)


def measured(place: Path, size: int, seed: int) -> Iterator[str]:
    """Investigate, then repair in each way; gives the rows of the table."""
    investigation_bench.generate(size, seed, place / "data")
    (place / "shapes.ttl").write_text(shacl_bench.KINDS["core"], encoding="utf-8")
    given = ["investigate", "data", "--shapes", "shapes.ttl", "--ledger", "made"]
    yield row(size, "investigate", place, given)
    for name, more in RUNS.items():
        shutil.rmtree(place / "ledger", ignore_errors=True)
        shutil.copytree(place / "made", place / "ledger")
        yield row(size, name, place, ["repair", "1", "--ledger", "ledger", *more])


def row(size: int, name: str, place: Path, command: Sequence[str]) -> str:
    """Run a command of kgreason as a process of its own; gives its row."""
    own = "import resource, subprocess, sys\n"
    own += "done = subprocess.run([sys.executable, '-m', 'kgreason', *sys.argv[1:]])\n"
    own += "used = resource.getrusage(resource.RUSAGE_CHILDREN)\n"
    own += "print('used', used.ru_utime + used.ru_stime, used.ru_maxrss, done.returncode)\n"
    done = subprocess.run(
        [sys.executable, "-c", own, *command],
        cwd=place,
        capture_output=True,
        text=True,
        check=True,
    )
    lines = done.stdout.splitlines()
    _, seconds, peak, code = lines[-1].split()
    if code != "0":
        sys.exit(f"{name}: ended with {code}\n{done.stderr}")
    cleared = sum(line.split()[-1:] == ["cleared"] for line in lines)
    said = [f"{cleared} repairs clear"] if cleared else []
    said += [line.rstrip(".") for line in lines if line.startswith("Failures of")]
    cells = (f"{size:,}", name, f"{float(seconds):.3g}", int(peak) // MEBI, "; ".join(said))
    return f"| {' | '.join(map(str, cells))} |"


if __name__ == "__main__":
    main()
