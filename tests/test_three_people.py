"""The ways of a steward, of who keeps a CI, and of who works in notebooks: each as it is typed.

Each runs with the package as the wheel installs it, away from the checkout.
"""

import csv
import json
import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

from tests.cli_support import Ran
from tests.following_support import SHAPES, shop
from tests.test_formats import VALID as SARIF_LOG

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[1]
EXAMPLE = ROOT / "examples" / "supply-chain"
PRICE = "https://example.org/supply/shapes#OrderLine-unitPrice"


class Installed:
    """The package out of its wheel: Python finds that one, and no checkout."""

    def __init__(self, folder: Path) -> None:
        command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps"]
        more = ["--no-build-isolation", "--wheel-dir", str(folder), str(ROOT)]
        subprocess.run([*command, *more], check=True, cwd=folder)
        (built,) = folder.glob("*.whl")
        with zipfile.ZipFile(built) as archive:
            archive.extractall(folder / "site")
        libraries = sorted({sysconfig.get_path(name) for name in ("purelib", "platlib")})
        found = os.pathsep.join([str(folder / "site"), *libraries])
        self.environment = {"PYTHONPATH": found, "COLUMNS": "100", "PATH": os.environ["PATH"]}

    def python(self, *args: str, at: Path) -> Ran:
        done = subprocess.run(
            [sys.executable, "-S", *args],  # -S: an editable install is not seen
            cwd=at,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        return Ran(done.returncode, done.stdout, done.stderr)

    def type(self, line: str, at: Path) -> Ran:
        """Type a command line; `kgreason` is the program."""
        program, *args = line.split()
        assert program == "kgreason"
        return self.python("-m", "kgreason", *args, at=at)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    pytest.importorskip("hatchling", reason="building the wheel needs hatchling")
    return Installed(tmp_path_factory.mktemp("installed"))


@pytest.fixture(scope="module")
def desk(installed: Installed, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Ran]:
    """Give a folder with the demo's data, where one of its rules was investigated."""
    place = tmp_path_factory.mktemp("desk")
    for name in ("data", "shapes.ttl", "ontology.ttl"):
        (place / name).symlink_to(EXAMPLE / name)
    asked = "kgreason investigate data --shapes shapes.ttl --ontology ontology.ttl"
    return place, installed.type(f"{asked} --only {PRICE} --format summary", place)


def test_a_steward_goes_from_the_data_to_the_repair(
    installed: Installed, desk: tuple[Path, Ran]
) -> None:
    place, done = desk
    assert done.code == 0, done.err
    assert (
        "site" in installed.python("-c", "import kgreason; print(kgreason.__file__)", at=place).out
    )
    # What is wrong and why, in a sentence a person can act on.
    first = done.out.splitlines()[1]
    assert first.startswith("C1  An order line has one unit price above zero: 324 of 1120")
    assert "unitCost" in done.out
    # Every node of it, as a table for a spreadsheet.
    done = installed.type("kgreason nodes C1 --format csv", place)
    assert done.code == 0, done.err
    rows = list(csv.DictReader(done.out.splitlines()))
    assert next(iter(rows[0])) == "node"
    assert len({row["node"] for row in rows}) == 313
    # What would mend it, tried on a copy; the data stay as they are.
    before = {path: path.stat().st_mtime_ns for path in (EXAMPLE / "data").iterdir()}
    done = installed.type("kgreason repair I1 --dry-run", place)
    assert done.code == 0, done.err
    assert "unitPrice" in done.out
    assert "313" in done.out
    assert {path: path.stat().st_mtime_ns for path in (EXAMPLE / "data").iterdir()} == before
    # One node of it, asked about by name.
    done = installed.type(f"kgreason why {rows[0]['node']}", place)
    assert "C1 is about it" in done.out


def test_in_a_notebook_there_are_frames_and_a_page(
    installed: Installed, desk: tuple[Path, Ran]
) -> None:
    place, _ = desk
    cells = """
import json, kgreason
result = kgreason.open(".kgreason").result()
rows = result.rows()
nodes = result.nodes(result.cause("C1"))
print(json.dumps({
    "shown": result._repr_html_(), "page": result.html(), "rows": rows,
    "nodes": nodes.rows()[:1], "same": len(kgreason.compare(result, result).new),
}))
"""
    done = installed.python("-c", cells, at=place)
    assert done.code == 0, done.err
    told = json.loads(done.out)
    assert "An order line has one unit price above zero" in told["shown"]
    assert told["page"].startswith("<!DOCTYPE html>")
    assert "http-equiv" not in told["page"] or "refresh" not in told["page"]
    (row,) = told["rows"]
    assert (row["failing"], row["population"]) == (324, 1120)
    assert {"node", "value", "source"} <= set(told["nodes"][0])
    assert told["same"] == 0


def test_a_gate_in_ci_knows_old_causes_from_new(installed: Installed, tmp_path: Path) -> None:
    for name, changes in (
        ("main", {}),
        ("slip", {"nameless": 26}),
        ("fault", {"oversized": 30}),
    ):
        shop(tmp_path / name, **changes)
    asked = "kgreason investigate {0}/data --shapes {0}/shapes.ttl --ledger {0}/ledger"
    done = installed.type(asked.format("main") + " --out main.json", tmp_path)
    assert done.code == 0, done.err
    gate = " --baseline main.json --fail-on new-cause"
    # A violation more of a cause that is known passes.
    done = installed.type(asked.format("slip") + gate + " --out slip.sarif", tmp_path)
    assert done.code == 0, done.err
    log = json.loads((tmp_path / "slip.sarif").read_text(encoding="utf-8"))
    SARIF_LOG.validate(log)
    assert [one["ruleId"] for one in log["runs"][0]["results"]]
    # A new cause fails, and is named.
    done = installed.type(asked.format("fault") + gate, tmp_path)
    assert done.code == 1
    assert "a new cause of 30 failures" in done.err
    # Rules that look at nothing fail, and not by passing quietly.
    empty = SHAPES.replace("ex:Thing ;", "ex:Nothing ;")
    (tmp_path / "main" / "shapes.ttl").write_text(empty, encoding="utf-8")
    done = installed.type(asked.format("main") + gate, tmp_path)
    assert (done.code, done.out) == (2, "")
    assert "Nothing was checked" in done.err
