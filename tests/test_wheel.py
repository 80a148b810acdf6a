"""The built wheel works where there is no checkout."""

import json
import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
SHAPES = """
@prefix ex: <https://example.org/> .
@prefix sh: <http://www.w3.org/ns/shacl#> .
ex:PartShape a sh:NodeShape ; sh:targetClass ex:Part ;
  sh:property [ sh:path ex:code ; sh:minCount 1 ] .
"""
LOOK = """
import json, sys
import kgreason
from kgreason.base import resources
from kgreason.record import policy
from kgreason.base.templates import role, roles
found = kgreason.investigate("data.ttl", shapes="shapes.ttl")
told = {
    "package": kgreason.__file__,
    "folders": {name: str(resources.folder(name)) for name in ("queries", "ontology", "shapes")},
    "templates": {name: sorted(role(name)) for name in roles()},
    "policies": policy.names(),
    "failing": [symptom["failing"] for symptom in found.as_dict()["symptoms"]],
    "page": found.html(),
    "public": [getattr(kgreason, name) is not None for name in kgreason.__all__ if name[0] != "_"],
}
json.dump(told, sys.stdout)
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("hatchling", reason="building the wheel needs hatchling")
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    bare = os.environ | {"KGREASON_SCRIPTS": "no"}  # the wheel has to work without npm, too
    subprocess.run([*command, "--wheel-dir", folder, ROOT], check=True, cwd=folder, env=bare)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def told(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Give what the package says of itself, and finds, away from the checkout."""
    place = tmp_path_factory.mktemp("elsewhere")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(place / "site")
    parts = " . ".join(f"ex:p{n} a ex:Part ; ex:code {n}" for n in range(9))
    data = f"@prefix ex: <https://example.org/> . {parts} . ex:bad a ex:Part ."
    (place / "data.ttl").write_text(data, encoding="utf-8")
    (place / "shapes.ttl").write_text(SHAPES, encoding="utf-8")
    libraries = sorted({sysconfig.get_path(name) for name in ("purelib", "platlib")})
    done = subprocess.run(
        [sys.executable, "-S", "-c", LOOK],  # -S: an editable install is not seen
        cwd=place,
        env={"PYTHONPATH": ":".join([str(place / "site"), *libraries])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return {"place": str(place), **found}


def test_everything_is_found_inside_the_package(told: dict[str, Any]) -> None:
    assert told["package"].startswith(told["place"])
    for folder in told["folders"].values():
        assert folder.startswith(told["place"])


def test_no_template_or_policy_is_left_behind(told: dict[str, Any]) -> None:
    in_checkout: dict[str, list[str]] = {}
    for path in sorted(ROOT.glob("queries/*/*.r[qu]")):
        in_checkout.setdefault(path.parent.name, []).append(path.stem)
    assert told["templates"] == {name: sorted(stems) for name, stems in in_checkout.items()}
    assert "frame" in told["policies"]


def test_it_investigates_and_reports(told: dict[str, Any]) -> None:
    assert told["failing"] == [1]
    assert "<html" in told["page"]
    assert all(told["public"])


def test_the_wheel_holds_what_it_should_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"kgreason"}
    assert "kgreason/data/ontology/policies/frame.ttl" in names
    assert "kgreason/py.typed" in names
    assert any(name.startswith("kgreason/data/shapes/") for name in names)
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in names)
    assert not any("__pycache__" in name for name in names)
