"""The site, the metadata and the container file: nothing is left out, and nothing is invented."""

import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from docs import pages as laid

ROOT = Path(__file__).resolve().parents[1]
NAV = re.findall(r"^ +- .+: (\S+\.md)$", (ROOT / "mkdocs.yml").read_text("utf-8"), re.MULTILINE)
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_every_page_is_in_the_navigation_once() -> None:
    pages = {str(page.relative_to(ROOT)) for page in laid.pages()}
    assert pages - set(NAV) == set(), "put these pages in mkdocs.yml"
    assert set(NAV) - pages == set(), "these pages of mkdocs.yml are not there"
    assert len(NAV) == len(set(NAV))


def test_the_site_has_no_plugins() -> None:
    assert "plugins: []" in (ROOT / "mkdocs.yml").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("pages")
    laid.lay_out(out)
    return out


def links(page: Path) -> Iterator[str]:
    text = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    yield from (target for target, _ in laid.LINK.findall(text))


def test_each_link_of_the_site_leads_to_a_file(site: Path) -> None:
    wrong = [
        f"{page.relative_to(site)}: {target}"
        for page in sorted(site.rglob("*.md"))
        for target in links(page)
        if not (page.parent / target).is_file()
    ]
    assert wrong == []
    assert (site / "docs" / "picture.svg").is_file()


def test_the_site_is_built_without_a_warning(tmp_path: Path, site: Path) -> None:
    if shutil.which("mkdocs") is None:
        pytest.skip("the extra `site` is not installed")
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    text = text.replace("docs_dir: build/pages", f"docs_dir: {site}")
    (tmp_path / "mkdocs.yml").write_text(text, encoding="utf-8")
    command = ["mkdocs", "build", "--strict", "--site-dir", str(tmp_path / "site")]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "site" / "docs" / "redact.html").is_file()


def test_the_picture_is_a_picture_and_needs_nothing_else() -> None:
    text = (ROOT / "docs" / "picture.svg").read_text(encoding="utf-8")
    assert ET.fromstring(text).tag == "{http://www.w3.org/2000/svg}svg"  # noqa: S314 - our own
    assert not re.search(r"(?:href|src|url)\s*[=(]", text)
    assert "freight cost" in text


def test_the_metadata_are_complete() -> None:
    kinds = {one.partition(" :: ")[0] for one in PROJECT["classifiers"]}
    assert {"Development Status", "Intended Audience", "Operating System", "Topic"} <= kinds
    assert set(PROJECT["urls"]) == {"Vocabulary"}  # no home is known, so none is told
    cited = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"version: {PROJECT['version']}\n" in cited
    assert f"license: {PROJECT['license']}\n" in cited


def test_the_container_is_made_of_what_the_wheel_takes() -> None:
    said = (ROOT / ".dockerignore").read_text(encoding="utf-8").split()
    kept = {line[1:] for line in said if line.startswith("!")}
    assert all((ROOT / one).exists() for one in kept)
    hatch = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]
    wheel = hatch["build"]["targets"]["wheel"]
    needed = {*wheel["packages"], *wheel["force-include"], PROJECT["readme"]}
    assert needed | {"pyproject.toml", "LICENSE"} <= kept
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    assert 'ENTRYPOINT ["kgreason"]' in text
    assert "kgreason" in PROJECT["scripts"]
    python = re.findall(r"FROM python:3\.(\d+)-slim", text)
    assert all(
        f"Programming Language :: Python :: 3.{one}" in PROJECT["classifiers"] for one in python
    )


@pytest.mark.slow
def test_the_wheel_is_built_of_what_the_container_copies(tmp_path: Path) -> None:
    """There may be no container engine at hand; what it would do up to the wheel is done here."""
    pytest.importorskip("hatchling", reason="building the wheel needs hatchling")
    said = (ROOT / ".dockerignore").read_text(encoding="utf-8").split()
    for one in (line[1:] for line in said if line.startswith("!")):
        source, copy = ROOT / one, tmp_path / "source" / one
        copy.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, copy, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copyfile(source, copy)
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    out = tmp_path / "wheels"
    subprocess.run([*command, "--wheel-dir", out, tmp_path / "source"], check=True)
    assert len(list(out.glob("kgreason-*.whl"))) == 1
