"""The built wheel works where there is no checkout."""

import json
import os
import shutil
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

NPM = """#!/bin/sh
[ -n "$NPM_FAILS" ] && exit 1
for file in @zazuko/yasgui/build/yasgui.min.js @zazuko/yasgui/build/yasgui.min.css \\
    cytoscape/dist/cytoscape.min.js; do
  mkdir -p "node_modules/$(dirname $file)"
  echo > "node_modules/$file"
done
echo '{"name": "cytoscape", "version": "1", "license": "MIT"}' > node_modules/cytoscape/package.json
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
    assert {"kgreason/serve/templates/front.html", "kgreason/serve/static/query.js"} <= set(names)
    assert not any("third-party" in name or "/npm/" in name for name in names)
    assert any(name.startswith("kgreason/data/shapes/") for name in names)
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in names)
    assert not any("__pycache__" in name for name in names)


def test_the_wheel_takes_scripts_of_others_where_npm_has_them(tmp_path: Path) -> None:
    """npm is stood in for: what is asked here is what the build does with what it gives."""
    pytest.importorskip("hatchling", reason="building the wheel needs hatchling")
    source = tmp_path / "source"
    ignored = shutil.ignore_patterns("third-party", "__pycache__")
    shutil.copytree(ROOT / "kgreason" / "serve", source / "kgreason" / "serve", ignore=ignored)
    for name in ("ontology", "shapes", "queries", "prompts"):
        (source / name).mkdir()
    for name in ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE", ".gitignore"):
        shutil.copy(ROOT / name, source)
    npm = tmp_path / "bin" / "npm"
    npm.parent.mkdir()
    npm.write_text(NPM, encoding="utf-8")
    npm.chmod(0o755)
    out = tmp_path / "out"
    path = f"{npm.parent}:{os.environ['PATH']}"

    def names(fails: str) -> set[str]:
        command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(out)]
        environment = {**os.environ, "PATH": path, "NPM_FAILS": fails}
        environment.pop("KGREASON_SCRIPTS", None)
        subprocess.run(command, cwd=source, check=True, capture_output=True, env=environment)
        (built,) = out.glob("*.whl")
        with zipfile.ZipFile(built) as archive:
            found = set(archive.namelist())
        built.unlink()
        return {name for name in found if "third-party" in name or "/npm/" in name}

    assert names("yes") == set()  # without a network the wheel is built all the same
    folder = "kgreason/serve/static/third-party"
    wanted = ("yasgui.min.js", "yasgui.min.css", "cytoscape.min.js", "LICENCES.txt")
    assert names("") == {f"{folder}/{name}" for name in wanted}
    told = (source / folder / "LICENCES.txt").read_text(encoding="utf-8")
    assert "cytoscape 1: MIT" in told


def test_the_lock_file_names_no_address() -> None:
    told = (ROOT / "kgreason" / "serve" / "npm" / "package-lock.json").read_text(encoding="utf-8")
    packages = [one for name, one in json.loads(told)["packages"].items() if name]
    assert "resolved" not in told
    assert packages
    assert all(one["integrity"].startswith("sha512-") for one in packages)
