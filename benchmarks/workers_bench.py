"""What workers save and cost: 16 symptoms by one process, and by 1, 2 and 4 workers.

Sixteen rules about one class are broken, each by a cause of its own (a feed, a kind, a day). One
process looks into all of them; then workers do, over the queue in the folder of the ledger or the
one of --queue. Wall-clock and CPU seconds (of parent and workers), and what a step of work costs
beside the looking: state, message, segment, joining. `--kills N` kills workers (-9) at random
moments until so many were, and checks that every record is that of one process and that its audit
is clean. `--jobs 1 2` measures forked processes in place of workers. Prints tables; writes
benchmarks/results/workers.json.

    python benchmarks/workers_bench.py
    python benchmarks/workers_bench.py --kills 100
    python benchmarks/workers_bench.py --nodes 3000 --jobs 1 2
"""

import argparse
import json
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import kgreason
from kgreason.audit import audit
from kgreason.base.terms import PROV, TRAILS
from kgreason.queue.dispatch import Dispatch
from kgreason.queue.session_state import state_of
from kgreason.record import Record
from kgreason.record.joining import joined
from kgreason.record.nonce import names_of

RESULTS = Path(__file__).resolve().parent / "results" / "workers.json"
SYMPTOMS = 16
_HEAD = "@prefix e: <https://example.org/lab/> .\n"
_LIFE = (0.5, 9.0)
"""Seconds after which a worker is killed: from before it is ready to after a few steps."""
_HEADS = (
    "| workers | wall s | CPU s | steps | s in steps | ms to join | bytes of state | same record "
    "| audit clean |\n|---|---|---|---|---|---|---|---|---|"
)
_TIMES = {"startedAtTime", "endedAtTime", "hash", "elapsed", "options"}


def written(folder: Path, nodes: int) -> dict[str, Any]:
    """Write a graph of eight feeds and sixteen shapes; give what to ask with."""
    (folder / "data").mkdir(parents=True)
    chance = random.Random(7)
    feeds: list[list[str]] = [[_HEAD] for _ in range(8)]
    for number in range(nodes):
        feed, kind, day = number % 8, chance.randrange(6), chance.randrange(28) + 1
        said = [f'e:s{number} a e:Sample ; e:kind e:Kind{kind} ; e:day "2026-03-{day:02}"']
        for rule in range(SYMPTOMS):
            struck = (feed == rule // 3, kind == rule % 6, day > 10 + rule)[rule % 3]
            if chance.random() > (0.8 if struck else 0.03):
                said.append(f"e:p{rule} {chance.randrange(90)}")
        feeds[feed].append(" ; ".join(said) + " .")
    for feed, rows in enumerate(feeds):
        text = "\n".join(rows) + "\n"
        (folder / "data" / f"feed-{feed}.ttl").write_text(text, encoding="utf-8")
    rules = "".join(
        f"e:Rule{n} a sh:NodeShape ; sh:targetClass e:Sample ; "
        f"sh:property [ sh:path e:p{n} ; sh:minCount 1 ] .\n"
        for n in range(SYMPTOMS)
    )
    shapes = folder / "shapes.ttl"
    shapes.write_text(
        f"{_HEAD}@prefix sh: <http://www.w3.org/ns/shacl#> .\n{rules}", encoding="utf-8"
    )
    return {"data": folder / "data", "shapes": shapes, "try_repairs": False}


def content(record: Record) -> set[str]:
    """Return what a record says, apart from names, times, numbers of steps, and joining."""
    own = names_of(record.iri)
    lines = {
        own.sub("urn:kgreason:it", str(q.triple))
        for q in record.store.quads(record.iri)
        if q.predicate.value.rpartition("#")[2] not in _TIMES
    }
    spread = (":step:", ":segment:", ":openstep:")
    return {one for one in lines if not any(about in one for about in spread)}


class Team:
    """So many workers of a queue."""

    def __init__(self, url: str, number: int) -> None:
        self.url = url
        self.processes = [self._started() for _ in range(number)]

    def _started(self) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "kgreason", "worker", "--queue", self.url]
        return subprocess.Popen(command, stderr=subprocess.PIPE, text=True)

    def ready(self) -> None:
        """Wait until all of them take steps."""
        for one in self.processes:
            assert one.stderr is not None  # noqa: S101 - as it was started
            one.stderr.readline()

    def kill(self, place: int) -> None:
        """Kill one (-9) and start another."""
        os.kill(self.processes[place].pid, signal.SIGKILL)
        self.processes[place].wait()
        self.processes[place] = self._started()

    def end(self) -> None:
        """End all."""
        for one in self.processes:
            one.terminate()
            one.wait()


def cpu() -> float:
    """Return the CPU seconds of this process and of its children that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def measured(options: dict[str, Any], ledger: Path, number: int, url: str) -> dict[str, Any]:
    """Investigate with so many workers, 0 for one process alone; give what it took."""
    before = cpu()
    team = Team(url, number) if number else None
    if team:
        team.ready()
    begun = time.perf_counter()
    queue = url if team else None
    with (
        joining() as seconds,
        kgreason.investigate(**options, ledger=ledger, queue=queue) as found,
    ):
        wall = time.perf_counter() - begun
        said, steps = content(found.record), len(joined(found.record))
        clean, causes = not audit(found.record).rules, [c.statement for c in found.causes]
        state = len(state_of(found.record, 0.0).packed())
        looked = _looked(found.record)
    if team:
        team.end()
    return {
        "workers": number, "wall": wall, "cpu": cpu() - before, "steps": steps, "clean": clean,
        "causes": causes, "said": said, "state": state, "looked": looked,
        "joining": sum(seconds) / max(1, len(seconds)),
    }  # fmt: skip


def forked(options: dict[str, Any], ledger: Path, jobs: int) -> dict[str, Any]:
    """Investigate with so many jobs; give what it took, the load before it, and what was said."""
    before, load, begun = cpu(), os.getloadavg()[0], time.perf_counter()
    with kgreason.investigate(**options, ledger=ledger, jobs=jobs) as found:
        wall, used = time.perf_counter() - begun, cpu() - before
        said = content(found.record)
    return {"jobs": jobs, "wall": wall, "cpu": used, "load": load, "said": said}


def of_jobs(options: dict[str, Any], folder: Path, jobs: list[int]) -> list[dict[str, Any]]:
    """Measure and print each number of jobs; the first record is what the others are held to."""
    rows: list[dict[str, Any]] = []
    print("| jobs | wall s | CPU s | load before | same record |\n|---|---|---|---|---|")
    for place, number in enumerate(jobs):
        row = forked(options, folder / f"ledger-{place}", number)
        rows.append(row | {"same": not rows or row["said"] == rows[0]["said"]})
        same = "yes" if rows[-1]["same"] else "no"
        times = f"{row['wall']:.1f} | {row['cpu']:.1f} | {row['load']:.1f}"
        print(f"| {number} | {times} | {same} |", flush=True)
    return [{k: v for k, v in row.items() if k != "said"} for row in rows]


def _looked(record: Record) -> float:
    """Return the seconds that the steps of looking into symptoms took."""
    from datetime import datetime  # noqa: PLC0415

    found = 0.0
    for phase in ("Hypothesize", "Design", "Execute"):
        for row in record.select("steps-of", phase=TRAILS[phase]):
            ends = (record.store.values(row["step"], p, record.iri)[0] for p in
                    (PROV.startedAtTime, PROV.endedAtTime))  # fmt: skip
            begun, ended = (datetime.fromisoformat(one.value) for one in ends)
            found += (ended - begun).total_seconds()
    return found


@contextmanager
def joining() -> Iterator[list[float]]:
    """Note the seconds that each joining of a segment takes."""
    seconds: list[float] = []
    real = Dispatch._join  # noqa: SLF001 - it is measured

    def timed(self: Dispatch, record: Record, content: bytes) -> bool:
        begun = time.perf_counter()
        try:
            return real(self, record, content)
        finally:
            seconds.append(time.perf_counter() - begun)

    Dispatch._join = timed  # type: ignore[method-assign]  # noqa: SLF001
    try:
        yield seconds
    finally:
        Dispatch._join = real  # type: ignore[method-assign]  # noqa: SLF001


def killed(options: dict[str, Any], folder: Path, url: str, kills: int) -> dict[str, Any]:
    """Kill workers at random moments until so many were; give what became of the records."""
    with kgreason.investigate(**options) as found:
        alone, causes = content(found.record), [c.statement for c in found.causes]
    chance, count, runs, faults = random.Random(11), 0, 0, 0
    team, ended = Team(url, 4), threading.Event()
    lives = [time.monotonic() + chance.uniform(*_LIFE) for _ in team.processes]

    def killing() -> None:
        nonlocal count
        while count < kills and not ended.is_set():
            place = lives.index(min(lives))
            if not ended.wait(max(0.0, lives[place] - time.monotonic())):
                team.kill(place)
                count += 1
                lives[place] = time.monotonic() + chance.uniform(*_LIFE)

    killer = threading.Thread(target=killing)
    killer.start()
    try:
        while count < kills:
            runs += 1
            ledger = folder / f"killed-{runs}"
            with kgreason.investigate(**options, ledger=ledger, queue=url) as found:
                same = content(found.record) == alone
                same = same and [c.statement for c in found.causes] == causes
                once = len(joined(found.record))
                fine = same and once and not audit(found.record).rules
                faults += not fine
                print(
                    f"run {runs}: {count} killed, {once} steps joined, fine: {bool(fine)}",
                    flush=True,
                )
    finally:
        ended.set()
        killer.join()
        team.end()
    return {"kills": count, "runs": runs, "faults": faults}


def main() -> None:
    """Measure, print and write."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--nodes", type=int, default=1200)
    asked.add_argument("--workers", type=int, nargs="*", default=[1, 2, 4])
    asked.add_argument("--queue", help="the URL of a server; else the folder of the ledger")
    asked.add_argument("--jobs", type=int, nargs="+", help="numbers of forked processes")
    asked.add_argument("--kills", type=int, default=0)
    given = asked.parse_args()
    known = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    with tempfile.TemporaryDirectory() as folder:
        options = written(Path(folder), given.nodes)
        url = given.queue or str(Path(folder) / "ledger")
        if given.kills:
            known["killed"] = killed(options, Path(folder), url, given.kills)
            print(known["killed"])
        elif given.jobs:
            known["jobs"] = of_jobs(options, Path(folder), given.jobs)
        else:
            rows: list[dict[str, Any]] = []
            print(_HEADS)
            for number in (0, *given.workers):
                row = measured(options, Path(folder) / f"ledger-{number}", number, url)
                rows.append(row | {"same": not rows or row["said"] == rows[0]["said"]})
                _print(rows[-1])
            known["rows"] = [{k: v for k, v in row.items() if k != "said"} for row in rows]
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")


def _print(row: dict[str, Any]) -> None:
    same, clean = ("yes" if row[name] else "no" for name in ("same", "clean"))
    print(
        f"| {row['workers'] or 'one process'} | {row['wall']:.1f} | {row['cpu']:.1f} | "
        f"{row['steps']} | {row['looked']:.1f} | {row['joining'] * 1000:.0f} | {row['state']} | "
        f"{same} | {clean} |",
        flush=True,
    )


if __name__ == "__main__":
    main()
