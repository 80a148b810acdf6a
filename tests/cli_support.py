"""What the tests of the command line share: a small graph, and a way to run commands."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from kgreason.cli import app

PREFIXES = """@prefix ex: <http://example.org/> .
@prefix sh: <http://www.w3.org/ns/shacl#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""
SHAPES = (
    PREFIXES
    + """
ex:ThingShape a sh:NodeShape ; sh:targetClass ex:Thing ; sh:property ex:NameShape , ex:SizeShape .
ex:NameShape a sh:PropertyShape ; sh:path ex:name ; sh:minCount 1 .
ex:SizeShape a sh:PropertyShape ; sh:path ex:size ; sh:maxInclusive 38 ; sh:severity sh:Warning .
"""
)
OUTCOME = """PREFIX ex: <http://example.org/>
SELECT ?focus ?outcome WHERE {
  ?focus a ex:Thing .
  BIND (NOT EXISTS { ?focus ex:name ?name } AS ?outcome)
}
"""


@dataclass(frozen=True)
class Ran:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def sentences(self) -> list[str]:
        return self.err.splitlines()


def run(*args: str | Path, **options: Any) -> Ran:
    """Run the command line in this process."""
    environment = {"COLUMNS": "100", "TERM": "dumb", "NO_COLOR": "1"}
    done = CliRunner(env=environment).invoke(app, [str(a) for a in args], **options)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return Ran(done.exit_code, done.stdout, done.stderr)


def process(*args: str | Path, **options: Any) -> Ran:
    """Run the command line in a process of its own."""
    command = [sys.executable, "-m", "kgreason", *(str(a) for a in args)]
    environment = os.environ | {"COLUMNS": "100"} | options.pop("env", {})
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env=environment, **options
    )
    return Ran(done.returncode, done.stdout, done.stderr)


def write_graph(folder: Path) -> Path:
    """Write a graph of two feeds, one of which forgets most names; gives the data folder."""
    data = folder / "data"
    data.mkdir(parents=True)
    for feed, first, nameless in (("north", 0, 2), ("south", 100, 25)):
        lines = [PREFIXES]
        for i in range(40):
            name = "" if i < nameless else f' ; ex:name "thing {i}"'
            lines.append(f"ex:n{first + i} a ex:Thing ; ex:size {i}{name} .\n")
        (data / f"{feed}.ttl").write_text("".join(lines), encoding="utf-8")
    (folder / "shapes.ttl").write_text(SHAPES, encoding="utf-8")
    (folder / "late.rq").write_text(OUTCOME, encoding="utf-8")
    return data
