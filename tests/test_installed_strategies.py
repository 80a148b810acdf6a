"""Strategies of installed packages: found by their entry points, run, recorded, and refused."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.planner_support import workshop

CODE = '''"""A strategy that counts classes."""

from dataclasses import replace

from kgreason.planner.react import React
from kgreason.planner.reasoner import Move, Scripted


class Tally:
    name = "tally"

    def run(self, goal, context, budget, /):
        moves = [Move("Count.", "query", {"query": "classes"}), Move("Done.", answer="Counted.")]
        return React("tally").run(goal, replace(context, reasoner=Scripted(moves)), budget)
'''
PATTERN = """@prefix trails: <https://w3id.org/trails#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .

<https://example.org/tally> a trails:Pattern ; skos:notation "tally" ;
    rdfs:comment "Counts classes." ; trails:whenToUse "A count is wanted." ;
    trails:framing "Count." ; trails:mayUse trails:ReadScope .
"""


def distribution(folder: Path, code: str = CODE, pattern: str = PATTERN) -> Path:
    """Write what an installed distribution leaves in a folder of packages."""
    package, about = folder / "tallying", folder / "tallying-1.0.dist-info"
    (package / "ontology" / "patterns").mkdir(parents=True)
    about.mkdir()
    (package / "__init__.py").write_text(code, encoding="utf-8")
    if pattern:
        (package / "ontology" / "patterns" / "tally.ttl").write_text(pattern, encoding="utf-8")
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: tallying\nVersion: 1.0\n")
    extension = "[kgreason.extensions]\ntallying = tallying\n\n" if pattern else ""
    (about / "entry_points.txt").write_text(
        f"{extension}[kgreason.strategies]\ntally = tallying:Tally\n", encoding="utf-8"
    )
    return folder


def kgreason(packages: Path, *args: str | Path) -> subprocess.CompletedProcess[str]:
    """Run the command line where these packages are installed."""
    paths = os.pathsep.join([str(packages), os.environ.get("PYTHONPATH", "")])
    return subprocess.run(
        [sys.executable, "-m", "kgreason", *map(str, args)],
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.slow
def test_an_installed_strategy_is_run_and_recorded(tmp_path: Path) -> None:
    data, packages = workshop(tmp_path / "data")["data"], distribution(tmp_path / "packages")
    ledger = ("--ledger", tmp_path / "ledger")
    asked = ("ask", "How many?", data, "--strategy", "tally", "--format", "json")
    done = kgreason(packages, *asked, *ledger)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["strategy"] == "tally"
    assert told["answer"]["text"] == "Counted."
    assert [step["tool"] for step in told["steps"]] == ["query"]
    checked = kgreason(packages, "audit", *ledger)
    assert checked.returncode == 0, checked.stdout


@pytest.mark.parametrize(
    ("code", "pattern", "said"),
    [
        ("raise ValueError('It is broken.')\n", PATTERN, "cannot be used: It is broken."),
        ("Other = object\n", PATTERN, "Mend the package, or uninstall it."),
        (CODE, "", "The strategy 'tally' has no pattern; declare one in ontology/patterns/*.ttl"),
    ],
)
def test_a_strategy_that_cannot_be_used_is_told_in_one_sentence(
    tmp_path: Path, code: str, pattern: str, said: str
) -> None:
    data = workshop(tmp_path / "data")["data"]
    packages = distribution(tmp_path / "packages", code, pattern)
    done = kgreason(
        *(packages, "ask", "How many?", data, "--strategy", "react"),
        *("--ledger", tmp_path / "ledger"),
    )
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "ledger").exists()
