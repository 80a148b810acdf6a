"""A folder of a user's own documents: text, Markdown, HTML and, with pypdf, PDF."""

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from html.parser import HTMLParser
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from kgreason.base.errors import OptionError
from kgreason.sources.passages import has_all
from kgreason.sources.works import Answer, Part, Work

DESCRIPTION: Final = "source.ttl"
"""The file of a folder that describes it as a source."""
_TEXTS: Final = frozenset({".txt", ".md", ".markdown", ".rst"})
_PAGES: Final = frozenset({".html", ".htm", ".xhtml"})
_PDF: Final = ".pdf"
_MOST_FILES: Final = 2000
_MOST_BYTES: Final = 20_000_000
_BLOCK: Final = re.compile(r"\S[\s\S]*?(?=\n\s*\n|\s*\Z)")


class DocumentFolder:
    """The documents of a folder; each is a work, and a passage is cited by file and character.

    Raises OptionError for a folder that is not there or has no document that can be read.
    """

    def __init__(self, folder: Path) -> None:
        self.name = str(folder)
        self._folder = folder
        if not folder.is_dir():
            raise OptionError(f"--source {folder}: there is no such folder, and no such service.")
        if not self._files:
            raise OptionError(
                f"--source {folder}: the folder has no document that can be read; it may have "
                "files .txt, .md, .html, and .pdf with `pip install 'kgreason[documents]'`."
            )

    @cached_property
    def _files(self) -> list[Path]:
        kinds = _TEXTS | _PAGES | ({_PDF} if find_spec("pypdf") else set())
        found = sorted(p for p in self._folder.rglob("*") if p.suffix.lower() in kinds)
        inside = self._folder.resolve()
        own = [p for p in found if p.is_file() and p.resolve().is_relative_to(inside)]
        return [p for p in own if p.stat().st_size <= _MOST_BYTES][:_MOST_FILES]

    @cached_property
    def works(self) -> tuple[Work, ...]:
        """All documents of the folder, each by its path within it; a title would tell no more."""
        top = Path(self._folder.resolve().name)
        return tuple(
            Work((top / path.relative_to(self._folder)).as_posix(), "", tuple(_read(path)))
            for path in self._files
        )

    def search(self, terms: Sequence[str], most: int, /) -> Answer:
        """Return the documents with a paragraph that has all the terms, with these paragraphs."""
        found = []
        for work in self.works:
            parts = tuple(part for part in work.parts if has_all(part.text, terms))
            if parts:
                found.append(Work(work.work, work.title, parts))
        return Answer(tuple(found[:most]))


def _read(path: Path) -> list[Part]:
    """Return the paragraphs of a document; raises OptionError for one that cannot be read.

    A character that is no UTF-8 becomes a replacement character, and counts as one.
    """
    try:
        if path.suffix.lower() == _PDF:
            return list(_pages(path))
        text = path.read_bytes().decode("utf-8", "replace")
    except OSError as error:
        raise OptionError(f"{path}: the document cannot be read ({error.strerror}).") from error
    if path.suffix.lower() in _PAGES:
        reader = _Blocks(text)
        reader.feed(text)
        reader.close()
        return reader.parts()
    return [_part(found[0], found.start()) for found in _BLOCK.finditer(text)]


def _part(text: str, start: int) -> Part:
    return Part(text, f"character {start}")


def _pages(path: Path) -> Iterator[Part]:
    import pypdf  # noqa: PLC0415 - an extra
    from pypdf.errors import PyPdfError  # noqa: PLC0415

    try:
        for number, page in enumerate(pypdf.PdfReader(path).pages, start=1):
            text = page.extract_text()
            if text.strip():
                yield Part(text, f"page {number}")
    except (PyPdfError, ValueError, KeyError, RecursionError) as error:
        raise OptionError(f"{path}: this PDF cannot be read ({type(error).__name__}).") from error


class _Blocks(HTMLParser):
    """Collects the text of a page by its blocks, each with the character at which it begins."""

    _INLINE: Final = frozenset(
        {"a", "abbr", "b", "code", "em", "i", "mark", "small", "span", "strong"}
    )
    _SILENT: Final = frozenset({"script", "style", "template", "noscript"})

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self._lines = [0]
        for line in text.split("\n"):
            self._lines.append(self._lines[-1] + len(line) + 1)
        self._blocks: list[tuple[int, list[str]]] = []
        self._open = False
        self._silent = 0

    def handle_starttag(self, tag: str, _attrs: object) -> None:
        self._silent += tag in self._SILENT
        self._open = self._open and tag in self._INLINE

    def handle_endtag(self, tag: str) -> None:
        self._silent = max(0, self._silent - (tag in self._SILENT))
        self._open = self._open and tag in self._INLINE

    def handle_data(self, data: str) -> None:
        if self._silent or not (data.strip() or self._open):
            return
        if not self._open:
            line, column = self.getpos()
            self._blocks.append((self._lines[line - 1] + column, []))
            self._open = True
        self._blocks[-1][1].append(data)

    def parts(self) -> list[Part]:
        """Return the blocks that have text."""
        return [_part("".join(t).strip(), at) for at, t in self._blocks if "".join(t).strip()]
