"""Lay the pages out for `mkdocs build`, so that every link between them leads somewhere.

Some pages lie beside docs/ (the README, the examples), and pages point at files of the checkout.
All of them are copied to build/pages as they lie in the checkout, which mkdocs.yml takes as its
folder of pages. `python docs/pages.py` does it; `make site` does it and builds.
"""

import re
import shutil
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
OUT: Final = ROOT / "build" / "pages"
LINK: Final = re.compile(r"\]\((?!\w+:)([^)#\s]+)(#[^)\s]*)?\)")


def pages() -> list[Path]:
    """Return every page of the documentation, in order of their paths."""
    return sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/*/*.md")])


def targets(page: Path) -> list[Path]:
    """Return the files and folders that a page points at."""
    found = LINK.findall(page.read_text(encoding="utf-8"))
    return [(page.parent / target).resolve() for target, _ in found]


def lay_out(out: Path = OUT) -> None:
    """Copy the pages, and the files that they point at, to a folder."""
    shutil.rmtree(out, ignore_errors=True)
    for page in pages():
        for one in targets(page):
            if one.is_file():
                _copy(one, out)
    for page in pages():
        _copy(page, out).write_text(_without_folders(page), encoding="utf-8")


def _copy(file: Path, out: Path) -> Path:
    """Copy a file of the checkout to its place in a folder; returns that."""
    copy = out / file.relative_to(ROOT)
    copy.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(file, copy)
    return copy


def _without_folders(page: Path) -> str:
    """Return a page whose links to folders are plain words: a site has no page for a folder."""

    def plain(found: re.Match[str]) -> str:
        target = (page.parent / found[2]).resolve()
        return found[1] if target.is_dir() else found[0]

    return re.sub(r"\[([^\]]*)\]\((?!\w+:)([^)#\s]+)\)", plain, page.read_text(encoding="utf-8"))


if __name__ == "__main__":
    lay_out()
