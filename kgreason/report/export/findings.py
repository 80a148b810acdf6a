"""The rows that exports for CI tell: rules, causes, and the failing nodes with their files."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import quote, unquote

from kgreason.base.store import Row
from kgreason.graph.names import local_name
from kgreason.record import node_name
from kgreason.report.export.described import lines
from kgreason.report.found import Found
from kgreason.report.told_graph import ToldGraph

_FILE: Final = "urn:src:"
_RESERVED: Final = ":/?#[]@!$&'()*+,;=%-._~"
_LEVELS: Final = {"Violation": "error", "Warning": "warning"}


@dataclass(frozen=True)
class Rule:
    """A symptom as a rule: `id` is the same from run to run, `level` is error, warning or note."""

    id: str
    symptom: str
    name: str
    shape: str | None
    component: str | None
    level: str
    failing: int
    population: int | None
    verdict: str | None

    @property
    def counts(self) -> str:
        """How many nodes fail, of how many."""
        of = "" if self.population is None else f" of {self.population}"
        return f"{self.failing}{of} nodes fail"


@dataclass(frozen=True)
class Failure:
    """A failing node with a value at fault and the file (or named graph) that it is from.

    `line` is where that file first describes the node, None where that is not certain.
    """

    node: str
    symptom: str
    value: str | None
    file: str | None
    line: int | None = None


@dataclass
class CauseFinding:
    """A cause with the rules it is behind and the failing nodes it holds."""

    id: str
    statement: str
    fingerprint: str
    explains: int
    narrows: bool
    confidence: float
    rules: list[Rule] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)

    @property
    def level(self) -> str:
        """The worst level of its rules; what only narrows down is a note."""
        if self.narrows:
            return "note"
        levels = {rule.level for rule in self.rules}
        return next(one for one in ("error", "warning", "note") if one in levels)

    @property
    def files(self) -> list[str]:
        """The files that its failing nodes are from, those of most nodes first."""
        counts: dict[str, int] = {}
        for one in self.failures:
            if one.file is not None:
                counts[one.file] = counts.get(one.file, 0) + 1
        return sorted(counts, key=lambda name: (-counts[name], name))

    @property
    def place(self) -> tuple[str, int | None] | None:
        """The file of most of its failing nodes, and the first line there that describes one."""
        if not self.files:
            return None
        lines = [one.line for one in self.failures if one.file == self.files[0] and one.line]
        return self.files[0], min(lines, default=None)


@dataclass(frozen=True)
class Findings:
    """All rules that are broken, the causes in their order, and the rules without a cause.

    `finished` says whether the investigation came to its end.
    """

    rules: tuple[Rule, ...]
    causes: tuple[CauseFinding, ...]
    open: tuple[Rule, ...]
    failures: tuple[Failure, ...]
    finished: bool = True


def findings(result: Found, told: ToldGraph) -> Findings:
    """Return what exports for CI tell of a result."""
    rows = told.select("findings")
    rules = dict(_rules(rows))
    causes: dict[str, CauseFinding] = {}
    for row in rows:
        if "id" in row:
            known = causes.setdefault(row["id"].value, _cause(row))
            if rules[row["symptom"].value] not in known.rules:
                known.rules.append(rules[row["symptom"].value])
    every: dict[Failure, None] = {}
    files, failing = _files(result), told.select("failures")
    places = _places(result, failing)
    for row in failing:
        one = _failure(row, files, places)
        every[one] = None
        if "id" in row and one not in causes[row["id"].value].failures[-1:]:
            causes[row["id"].value].failures.append(one)
    held = {rule.symptom for cause in causes.values() for rule in cause.rules}
    left = tuple(rule for rule in rules.values() if rule.symptom not in held)
    return Findings(
        tuple(rules.values()), tuple(causes.values()), left, tuple(every), result.finished
    )


def _rules(rows: Sequence[Row]) -> Iterator[tuple[str, Rule]]:
    taken: set[str] = set()
    made: set[str] = set()
    for row in rows:
        symptom = row["symptom"].value
        if symptom in made:
            continue
        made.add(symptom)
        parts = [_local(row, name) for name in ("shape", "component", "path")]
        name = "/".join(filter(None, parts)) or row["name"].value
        key = _of(row, "key") or symptom
        name = f"{name}/{key[-8:]}" if name in taken else name
        taken.add(name)
        severity = _local(row, "severity") or "Violation"
        yield (
            symptom,
            Rule(
                name,
                symptom,
                row["name"].value,
                _of(row, "shape"),
                _of(row, "component"),
                _LEVELS.get(severity, "note"),
                int(row["failing"].value),
                int(row["population"].value) if "population" in row else None,
                _of(row, "verdict"),
            ),
        )


def _local(row: Row, name: str) -> str | None:
    text = _of(row, name)
    if text is None:
        return None
    if text.startswith("<") and text.endswith(">"):
        text = text[1:-1]
    return local_name(text).removesuffix("ConstraintComponent")


def _of(row: Row, name: str) -> str | None:
    return row[name].value if name in row else None


def _cause(row: Row) -> CauseFinding:
    return CauseFinding(
        row["id"].value,
        row["statement"].value,
        row["fingerprint"].value,
        int(row["explains"].value),
        "narrowed" in row,
        float(row["confidence"].value),
    )


def _failure(
    row: Row, files: Mapping[str, str], places: Mapping[str, Mapping[str, int]]
) -> Failure:
    graph, node = _of(row, "graph"), node_name(row["node"])
    file = None if graph is None else files.get(graph, _named(graph))
    line = places.get(graph or "", {}).get(node)
    return Failure(node, row["symptom"].value, _of(row, "value"), file, line)


def _places(result: Found, failing: Sequence[Row]) -> dict[str, Mapping[str, int]]:
    """Return the line at which each failing node is described, by the graph of each file."""
    if result.at_hand is None:
        return {}
    wanted: dict[str, set[str]] = {}
    for row in failing:
        if "graph" in row:
            wanted.setdefault(row["graph"].value, set()).add(node_name(row["node"]))
    sources = result.at_hand.graph.sources
    return {s.iri.value: lines(s.path, wanted.get(s.iri.value, ())) for s in sources}


def _named(graph: str) -> str:
    return unquote(graph.removeprefix(_FILE)) if graph.startswith(_FILE) else graph


def _files(result: Found) -> dict[str, str]:
    """Return the path of each file that was read, from where the command runs, by its graph."""
    if result.at_hand is None:
        return {}
    return {one.iri.value: _relative(one.path) for one in result.at_hand.graph.sources}


def _relative(path: str) -> str:
    here = Path.cwd()
    whole = Path(os.path.abspath(path))  # noqa: PTH100 - a link stays as it was named
    return whole.relative_to(here).as_posix() if whole.is_relative_to(here) else whole.as_posix()


def uri(file: str) -> str:
    """Return the URI reference of a file, or the IRI of a named graph as it is."""
    if ":" in file.partition("/")[0]:
        return quote(file, safe=_RESERVED)
    text = quote(os.fsencode(file), safe="/-._~")
    return f"file://{text}" if file.startswith("/") else text
