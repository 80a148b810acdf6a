"""The pages are as their sources are, and what they point at is there."""

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli_support import run

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/*/*.md")])
LINK = re.compile(r"\]\((?!https?:)([^)#\s]*)(#[^)\s]*)?\)")
HEADING = re.compile(r"(?m)^#+ (.+)$")


def test_pages_are_as_make_docs_makes_them() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "docs" / "build.py", "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def anchors(page: Path) -> set[str]:
    """Give the anchors of a page's headings, as they are commonly made."""
    headings = HEADING.findall(page.read_text(encoding="utf-8"))
    plain = [re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading) for heading in headings]
    return {re.sub(r"[^\w\- ]", "", text).strip().lower().replace(" ", "-") for text in plain}


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for target, anchor in LINK.findall(page.read_text(encoding="utf-8")):
        path = (page.parent / target).resolve() if target else page
        assert path.exists(), f"{page.name} points at {target}, which is not there"
        if anchor and path.suffix == ".md":
            assert anchor[1:] in anchors(path), f"{page.name}: {target}{anchor} is no heading"


def test_rooms_of_the_package_are_told_of() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    rooms = {p.stem for p in (ROOT / "kgreason").iterdir() if not p.name.startswith(("_", "."))}
    assert sorted(room for room in rooms - {"py"} if f"`{room}`" not in text) == []


# The tutorial is typed in a copy of examples/museum, page by page.

TUTORIAL = sorted((ROOT / "docs" / "tutorial").glob("*.md"))
BLOCK = re.compile(r"^```(console|text|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ENDS_WITH = re.compile(r"# ends with (\d)")


@pytest.mark.parametrize(
    "page",
    [TUTORIAL[0], *(pytest.param(page, marks=pytest.mark.slow) for page in TUTORIAL[1:])],
    ids=lambda p: p.stem,
)
def test_the_tutorial_does_what_it_says(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    museum = tmp_path / "museum"
    shutil.copytree(ROOT / "examples" / "museum", museum)
    monkeypatch.chdir(museum)
    said, names, ran = "", {"__name__": "notebook"}, 0
    for kind, text in BLOCK.findall(page.read_text(encoding="utf-8")):
        if kind == "python":
            exec(compile(text, str(page), "exec"), names)  # noqa: S102 - our own page
            ran += 1
        elif kind == "text":
            for line in text.splitlines():
                assert plain(line) in plain(said), f"{page.name}: {line}"
        else:
            for line in text.splitlines():
                said += typed(line)
                ran += 1
    assert ran >= 3, f"{page.name} has nothing to type"


def typed(line: str) -> str:
    """Type a line of a page; gives what is printed."""
    assert line.startswith("$ kgreason "), line
    expected = ENDS_WITH.search(line)
    done = run(*shlex.split(line, comments=True)[2:], env={"COLUMNS": "300"})
    assert done.code == (int(expected[1]) if expected else 0), f"{line}: {done.err}"
    return done.out


def plain(text: str) -> str:
    return " ".join(text.split())


def test_the_museum_is_made_as_it_lies_there(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples" / "museum", tmp_path / "museum")
    made = tmp_path / "museum" / "data"
    for path in made.iterdir():
        path.write_text("", encoding="utf-8")
    subprocess.run([sys.executable, made.parent / "make.py"], check=True)
    for path in (ROOT / "examples" / "museum" / "data").iterdir():
        assert (made / path.name).read_bytes() == path.read_bytes()


def test_every_page_is_in_the_index() -> None:
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    pages = [p for p in (ROOT / "docs").glob("*.md") if p.name != "index.md"] + TUTORIAL
    inner = [str(page.relative_to(ROOT / "docs")) for page in pages]
    missing = [name for name in inner if f"]({name}" not in index]
    assert missing == [], "put these pages in docs/index.md"
