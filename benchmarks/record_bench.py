"""Cost of recording one step and updating confidence, by the size of the ledger.

A step is one test executed: evidence with citations, the updates of confidence that the templates
of the policy make of it, a change of status. Two kinds: `frame` (five members, five citations)
and `least` (the policy `delta`, which moves one hypothesis, and one citation). Measured twice:
recorded alone (the update request of the statements and the templates), and as `Record.commit`
does it, with the check of what is written and the seal; and, as what the store cannot do without,
the quads alone by `Store.extend`. Beside it the same statements

- as one row and a commit in SQLite, with the table and settings of LangGraph's SqliteSaver (WAL;
  `synchronous` as SQLite has it, which is FULL, or NORMAL, which as this ledger does not wait for
  the disk), the statements serialised as JSON;
- in rdflib, by `Dataset.update` with the text that is recorded alone.

A ledger in memory is one big investigation, as it is in use; on disk that is half of it, and the
rest are many small ones. Beside each stands a ledger of 10,000 quads in the same process, and all
write turn about, so that what else runs on the machine slows all alike; growth is the cost over
that there. rdflib has a process of its own. × SQLite is the whole step over FULL, × rdflib its time
over that of the step recorded alone. Prints the tables, and writes benchmarks/results/record.json
and record.md.

    python benchmarks/record_bench.py [--sizes 10000 100000 ...] [--repeat 200] [--rdflib 100000]
"""

import argparse
import json
import re
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any, Final

import pyoxigraph as ox
import rdflib
from long_history import Writer, write  # type: ignore[import-not-found] # beside this script

from kgreason.base.store import Store
from kgreason.base.terms import TRAILS
from kgreason.record import Ledger, Record, Step
from kgreason.record.record import Preface, request

RESULTS: Final = Path(__file__).resolve().parent / "results"
PLACES: Final = ("memory", "disk")
KINDS: Final = {"frame": ("frame", 5), "least": ("delta", 1)}
"""Policy and number of citations of each kind of step."""
SMALL: Final = 10_000
WHOLE: Final = "recorded, checked and sealed"
COLUMNS: Final = (
    "quads alone",
    "recorded alone",
    WHOLE,
    "in 10,000 quads",
    "SQLite FULL",
    "SQLite NORMAL",
    "rdflib",
)
_NONCE: Final = "5eed5eed5eed"
_STRIDE: Final = 1_000_000
_OF_STEP: Final = re.compile(rf"<urn:kgreason:{_NONCE}:\w+:\d+")
_NAME: Final = re.compile(rf"urn:kgreason:({_NONCE})(?::(\w+):(\d+))?")
_TABLE: Final = """
PRAGMA journal_mode=WAL;
CREATE TABLE checkpoints (
    thread_id TEXT NOT NULL, checkpoint_ns TEXT NOT NULL DEFAULT '', checkpoint_id TEXT NOT NULL,
    parent_checkpoint_id TEXT, type TEXT, checkpoint BLOB, metadata BLOB,
    PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id));
"""
_INSERT: Final = "INSERT OR REPLACE INTO checkpoints VALUES (?, ?, ?, ?, ?, ?, ?)"

Times = dict[str, float]


class Clock:
    """Takes the wall and CPU time of calls, in milliseconds.

    Gives medians, and as `best` the tenth percentile of CPU time: what it is when nothing else that
    runs on the machine gets between.
    """

    def __init__(self) -> None:
        self.wall: list[float] = []
        self.cpu: list[float] = []

    def time(self, call: Callable[[], object]) -> None:
        """Time one call."""
        wall, cpu = time.perf_counter(), time.process_time()
        call()
        self.cpu.append(time.process_time() - cpu)
        self.wall.append(time.perf_counter() - wall)

    @property
    def medians(self) -> Times:
        """Milliseconds of a call."""
        best = sorted(self.cpu)[len(self.cpu) // 10]
        return {
            "wall": 1000 * median(self.wall),
            "cpu": 1000 * median(self.cpu),
            "best": 1000 * best,
        }


# --- what fills a ledger ----------------------------------------------------------------


def filling(quads: int, place: str) -> Iterator[bytes]:
    """Give about so many quads: one graph, and on disk as much in graphs of some thousand each."""
    with Ledger.memory() as ledger:
        write(ledger, 88)
        unit = (ledger.store.inner.dump(format=ox.RdfFormat.N_QUADS) or b"").decode()
    # A part of the big investigation is what the steps wrote, without its policy and itself.
    part = "".join(row for row in unit.splitlines(keepends=True) if _OF_STEP.match(row))
    shares = ((part, False), (unit, True)) if place == "disk" else ((part, False),)
    for text, own in shares:
        pieces = _NAME.split(text)  # text, base, kind, number, text, …
        for block in range(2, quads // len(shares) // text.count("\n") + 2):
            yield _named(pieces, block, own=own)


def _named(parts: list[str], block: int, *, own: bool) -> bytes:
    """Give the unit under other names: as an investigation of its own, or as part of the first."""
    out = [parts[0]]
    for place in range(1, len(parts), 4):
        base, kind, number, text = parts[place : place + 4]
        graph = f"urn:kgreason:{base}{block}" if own else f"urn:kgreason:{base}"
        shifted = "" if kind is None else f":{kind}:{int(number) + block * _STRIDE * (not own)}"
        out += [graph, shifted, text]
    return "".join(out).encode()


def fill(store: ox.Store, quads: int, place: str, folder: Path) -> None:
    """Load the filling into a store."""
    path = folder / "filling.nq"
    with path.open("wb") as file:
        file.writelines(filling(quads, place))
    store.bulk_load(path=str(path), format=ox.RdfFormat.N_QUADS)
    path.unlink()


# --- the steps --------------------------------------------------------------------------


class Steps:
    """Gives steps that are ready to be written, in the big investigation of a ledger."""

    def __init__(self, record: Record, kind: str, repeat: int) -> None:
        name, cited = KINDS[kind]
        self.writer = Writer(record, seed=2, name=name, cited=cited)
        self.writer.start()
        self._symptoms = self.writer.observe(repeat // 8 + 1)

    def __iter__(self) -> Iterator[Callable[[], Step]]:
        for symptom in self._symptoms:
            members, tables = self.writer.hypothesize(symptom)
            for place, kind, test in self.writer.design(symptom, members):
                found = tables[place].find(kind)
                yield partial(self.writer.execution, symptom, members[place], test, kind, found)


class Alone(Record):
    """A record that writes steps as a ledger does, but neither checks nor seals them."""

    def __init__(self, store: Store, iri: ox.NamedNode) -> None:
        super().__init__(store, iri)
        self.texts: list[str] = []

    def commit(
        self,
        step: Step,
        *,
        expect: dict[str, int] | None = None,
        preface: Preface | None = None,
    ) -> None:
        """Write a step; the text is kept in `texts`."""
        _ = expect, preface
        self.link(step)
        text = request(self.writes(step))
        self.texts.append(text)
        self.store.update(text)


def as_nodes(record: Record, step: Any) -> dict[str, Any]:
    """Return the statements of a recorded step as a checkpointer would be given them."""
    inner, graph = record.store.inner, record.iri
    nodes: dict[str, dict[str, list[str]]] = {}
    for link in inner.quads_for_pattern(None, TRAILS.step, step, graph):
        node: dict[str, list[str]] = nodes.setdefault(_text(link.subject), {})
        for found in inner.quads_for_pattern(link.subject, None, None, graph):
            node.setdefault(found.predicate.value, []).append(_text(found.object))
    return nodes


def _text(term: Any) -> str:
    return str(term.value)


# --- cases ------------------------------------------------------------------------------


class Rows:
    """A table of checkpoints in SQLite, with as much in it as a ledger has."""

    def __init__(self, where: str, mode: str) -> None:
        self._connection = sqlite3.connect(where, check_same_thread=False)
        self._connection.executescript(_TABLE)
        self._connection.execute(f"PRAGMA synchronous={mode}")
        self._number = 0

    def fill(self, rows: int, blob: bytes) -> None:
        """Put in so many rows."""
        made = (_row("filling", number, blob) for number in range(rows))
        self._connection.executemany(_INSERT, made)
        self._connection.commit()

    def put(self, nodes: dict[str, Any]) -> None:
        """Serialise a step, and write it as one row and a commit."""
        self._number += 1
        cursor = self._connection.cursor()
        cursor.execute(_INSERT, _row("measured", self._number, json.dumps(nodes).encode()))
        self._connection.commit()
        cursor.close()


def _row(thread: str, number: int, blob: bytes) -> tuple[Any, ...]:
    metadata = json.dumps({"source": "loop", "step": number, "parents": {}}).encode()
    return thread, "", f"{number:032}", f"{number - 1:032}", "json", blob, metadata


def ledger_case(quads: int, place: str, kind: str, repeat: int) -> dict[str, Any]:
    """Measure the ledger, a small one and SQLite turn about, so that all see the same machine."""
    with tempfile.TemporaryDirectory(dir=RESULTS) as name:
        folder = Path(name)
        large, small = (_ledger(place, folder / which) for which in ("large", "small"))
        with large, small:
            whole, few = large.new(_NONCE), small.new(_NONCE)
            alone = Alone(whole.store, ox.NamedNode(f"{whole.iri.value}:alone"))
            for record in (whole, few, alone):
                record.mint("Nothing")  # numbers are counted once, when a record is opened
            fill(large.store.inner, quads, place, folder)
            fill(small.store.inner, SMALL, place, folder)
            modes = ("FULL",) if place == "memory" else ("FULL", "NORMAL")
            tables = {
                mode: Rows(":memory:" if place == "memory" else str(folder / mode), mode)
                for mode in modes
            }
            clocks: dict[str, Clock] = {}
            nodes: dict[str, Any] = {}
            records = {WHOLE: whole, "in 10,000 quads": few, "recorded alone": alone}
            for makes in zip(*(Steps(r, kind, repeat) for r in records.values()), strict=True):
                for (title, record), make in zip(records.items(), makes, strict=True):
                    clocks.setdefault(title, Clock()).time(partial(_commit, record, make))
                first = not nodes
                (last,) = whole.store.values(whole.iri, TRAILS.head, whole.iri)
                nodes = as_nodes(whole, last)
                for mode, rows in tables.items():
                    if first:
                        rows.fill(quads // _statements(nodes), json.dumps(nodes).encode())
                    clocks.setdefault(f"SQLite {mode}", Clock()).time(partial(rows.put, nodes))
                number = len(clocks[WHOLE].wall)
                _floor(clocks.setdefault("quads alone", Clock()), whole, last, number)
    return {
        **{title: clock.medians for title, clock in clocks.items()},
        "statements": _statements(nodes),
        "nodes": len(nodes),
        "bytes": len(json.dumps(nodes)),
        "peak MiB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }


def _ledger(place: str, folder: Path) -> Ledger:
    return Ledger.memory() if place == "memory" else Ledger.write(folder)


def _statements(nodes: dict[str, Any]) -> int:
    return sum(len(values) for node in nodes.values() for values in node.values())


def _floor(clock: Clock, record: Record, step: Any, number: int) -> None:
    """Time what no ledger in this store can do without: to put in the quads of a step."""
    inner = record.store.inner
    graph = ox.NamedNode(f"{record.iri.value}:floor:{number}")
    quads = [
        ox.Quad(found.subject, found.predicate, found.object, graph)
        for link in inner.quads_for_pattern(None, TRAILS.step, step, record.iri)
        for found in inner.quads_for_pattern(link.subject, None, None, record.iri)
    ]
    clock.time(partial(inner.extend, quads))


def _commit(record: Record, make: Callable[[], Step]) -> None:
    record.commit(make())


def rdflib_case(quads: int, kind: str, repeat: int) -> Times:
    """Measure rdflib with the same text, on a dataset of the same quads."""
    clock = Clock()
    with tempfile.TemporaryDirectory(dir=RESULTS) as name, Ledger.memory() as ledger:
        record = Alone(ledger.store, ledger.new(_NONCE).iri)
        record.mint("Nothing")
        fill(ledger.store.inner, quads, "memory", Path(name))
        path = Path(name) / "filling.nq"
        ledger.store.inner.dump(str(path), ox.RdfFormat.N_QUADS)
        dataset = rdflib.Dataset()
        dataset.parse(path, format="nquads")
        for make in Steps(record, kind, repeat):
            for text in record.texts:  # of the steps between
                dataset.update(text)
            record.texts.clear()
            record.commit(make())
            text = record.texts.pop()
            clock.time(partial(dataset.update, text))
    return clock.medians


# --- all of it --------------------------------------------------------------------------


def measured(*case: object) -> Any:
    """Run one case in a process of its own."""
    command = [sys.executable, __file__, "--case", json.dumps(case)]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


def run_case(name: str, *values: Any) -> Any:
    """Run one case here."""
    cases: dict[str, Callable[..., Any]] = {
        "ledger": ledger_case,
        "rdflib": rdflib_case,
    }
    return cases[name](*values)


def row_of(kind: str, place: str, size: int, options: argparse.Namespace) -> dict[str, Any]:
    """Measure one kind of step at one size in one place."""
    row = {"kind": kind, "place": place, "quads": size, "date": f"{datetime.now(UTC):%F}"}
    row |= measured("ledger", size, place, kind, options.repeat)
    if place == "memory" and size <= options.rdflib:
        row["rdflib"] = measured("rdflib", size, kind, min(options.repeat, 8))
    return row


def table(rows: list[dict[str, Any]], measure: str) -> str:
    """Return figures as a table in Markdown."""
    lines = [
        "| step | place | quads | " + " | ".join(COLUMNS) + " | × SQLite | × rdflib | growth |",
        "|---" * (len(COLUMNS) + 6) + "|",
    ]
    for row in rows:
        figures = {name: row[name][measure] if name in row else None for name in COLUMNS}
        cells = ["" if figure is None else f"{figure:.2f}" for figure in figures.values()]
        whole, alone = row[WHOLE][measure], row["recorded alone"][measure]
        cells.append(f"{whole / row['SQLite FULL'][measure]:.1f}")
        cells.append(f"{row['rdflib'][measure] / alone:.0f}" if "rdflib" in row else "")
        cells.append(f"{whole / row['in 10,000 quads'][measure]:.2f}")
        lines.append(f"| {row['kind']} | {row['place']} | {row['quads']:,} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure all and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--kinds", nargs="+", choices=list(KINDS), default=list(KINDS))
    parser.add_argument("--places", nargs="+", choices=PLACES, default=list(PLACES))
    parser.add_argument("--repeat", type=int, default=200)
    parser.add_argument("--rdflib", type=int, default=10_000, help="largest size for rdflib")
    parser.add_argument("--case", help=argparse.SUPPRESS)
    options = parser.parse_args()
    RESULTS.mkdir(exist_ok=True)
    if options.case:
        print(json.dumps(run_case(*json.loads(options.case))))
        return
    path = RESULTS / "record.json"
    kept = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    for kind in options.kinds:
        for place in options.places:
            for size in options.sizes:
                row = row_of(kind, place, size, options)
                same = (kind, place, size)
                kept = [r for r in kept if (r["kind"], r["place"], r["quads"]) != same]
                kept.append(row)
                print(json.dumps(row), file=sys.stderr, flush=True)
                kept.sort(key=lambda r: (r["kind"], PLACES[::-1].index(r["place"]), r["quads"]))
                path.write_text(json.dumps(kept, indent=2) + "\n", encoding="utf-8")
    measures = {
        "CPU milliseconds, tenth percentile": "best",
        "CPU milliseconds, median": "cpu",
        "wall milliseconds, median": "wall",
    }
    parts = [f"{title}\n\n{table(kept, measure)}" for title, measure in measures.items()]
    text = "\n".join(parts)
    (RESULTS / "record.md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
