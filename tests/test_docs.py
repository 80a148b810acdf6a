"""The pages are as their sources are, and what they point at is there."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

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
