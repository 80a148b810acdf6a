"""The lines of data files where nodes are described: the first statement of which each is subject.

The readers of RDF tell no lines, so files are scanned for what stands where a subject stands:
N-Triples and N-Quads line by line, Turtle and TriG by their tokens (RDF 1.1 Turtle, section 6.5;
RDF 1.1 TriG, section 4.5), RDF/XML by `rdf:about`. Where that is not certain (other formats, packed
and very large files, blank nodes, relative IRIs without a base) no line is told.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Final
from urllib.parse import urljoin

_MOST_BYTES: Final = 32_000_000
"""A larger file is not scanned: it takes about a second for each four megabytes of Turtle."""
_SUBJECT: Final = re.compile(r"^[ \t]*<([^>\n]*)>[ \t]*<", re.MULTILINE)
_ABOUT: Final = re.compile(r"<!--.*?-->|\brdf:about\s*=\s*([\"'])(.*?)\1", re.DOTALL)
_TOKEN: Final = re.compile(
    r"(?P<space>\s+|\#[^\n\r]*)"
    r'|(?P<text>"""(?:[^"\\]|\\.|"(?!""))*"""|\'\'\'(?:[^\'\\]|\\.|\'(?!\'\'))*\'\'\''
    r'|"(?:[^"\\\n\r]|\\.)*"|\'(?:[^\'\\\n\r]|\\.)*\')'
    r'|<(?P<iri>[^<>"{}|^`\\\x00-\x20]*|[^<>"{}|^`\x00-\x20]*)>'
    r"|(?P<mark>\^\^|[.;,(){}\[\]])"
    r'|(?P<word>(?:[^\s<>"\'{}()\[\];,.\#^\\]|\\.|\.(?=[^\s<>"\'{}()\[\];,.\#]))+)',
    re.DOTALL,
)
_ESCAPED: Final = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))")
_OPENING: Final = frozenset("([")
_CLOSING: Final = frozenset(")]")


def lines(path: str | Path, wanted: Collection[str]) -> Mapping[str, int]:
    """Return the line, counted from 1, where each of the wanted IRIs is first a subject.

    Those of which it is not certain are left out; a file that cannot be read gives none.
    """
    scan = _SCANS.get(Path(path).suffix.lower())
    if scan is None or not wanted:
        return {}
    try:
        if Path(path).stat().st_size > _MOST_BYTES:
            return {}
        text = Path(path).read_bytes().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError):
        return {}
    found: dict[str, int] = {}
    line, at = 1, 0
    for iri, place in scan(text):
        if iri in wanted and iri not in found:
            line += text.count("\n", at, place)
            at = place
            found[iri] = line
            if len(found) == len(wanted):
                break
    return found


def _of_lines(text: str) -> Iterator[tuple[str, int]]:
    for found in _SUBJECT.finditer(text):
        yield _unescaped(found[1]), found.start(1)


def _of_about(text: str) -> Iterator[tuple[str, int]]:
    for found in _ABOUT.finditer(text):
        if found[2] is not None and "&" not in found[2]:
            yield found[2], found.start()


def _of_tokens(text: str) -> Iterator[tuple[str, int]]:
    """Yield the IRI and the place of each subject of Turtle or TriG."""
    document = _Document()
    end = 0
    for token in _TOKEN.finditer(text):
        if token.start() != end:
            return  # this is no Turtle as it is known here: what follows is not certain
        end = token.end()
        if token.lastgroup != "space":
            subject = document.take(token)
            if subject is not None:
                yield subject


class _Document:
    """What is known of a document up to a token: its prefixes, its base, and where it stands."""

    def __init__(self) -> None:
        self._prefixes: dict[str, str] = {}
        self._base = ""
        self._depth = 0
        self._begins = True  # whether the next token begins a statement
        self._first: tuple[str, int] | None = None
        self._directive: list[str] | None = None

    def take(self, token: re.Match[str]) -> tuple[str, int] | None:
        """Take a token; gives a subject once it is certain that it is none of a graph."""
        kind, mark = token.lastgroup, token["mark"]
        if self._directive is not None:
            self._declare(token)
            return None
        first, self._first = self._first, None
        if mark is not None:
            self._move(mark)
            return first if mark == "[" else None
        if self._begins and self._depth == 0:
            self._begins = False
            word = (token["word"] or "").lower()
            if word in {"@prefix", "@base", "prefix", "base"}:
                self._directive = [word]
            elif word == "graph":
                self._begins = True
            elif kind in {"iri", "word"}:
                iri = self._iri(token)
                self._first = None if iri is None else (iri, token.start())
        return first

    def _move(self, mark: str) -> None:
        if mark in _OPENING:
            self._depth += 1
        elif mark in _CLOSING:
            self._depth -= 1
        self._begins = self._depth == 0 and (mark in {".", "{", "}"})

    def _declare(self, token: re.Match[str]) -> None:
        """Take a token of a directive; one with @ ends with a full stop."""
        told = self._directive or []
        if token["mark"] == ".":
            self._directive, self._begins = None, True
            return
        if token["iri"] is not None:
            iri = self._absolute(_unescaped(token["iri"])) or ""
            if told[0].endswith("base"):
                self._base = iri
            elif len(told) > 1:
                self._prefixes[told[1]] = iri
            if not told[0].startswith("@"):
                self._directive, self._begins = None, True
        elif token["word"] is not None:
            told.append(token["word"])

    def _iri(self, token: re.Match[str]) -> str | None:
        if token["iri"] is not None:
            return self._absolute(_unescaped(token["iri"]))
        prefix, colon, local = token["word"].partition(":")
        space = self._prefixes.get(f"{prefix}:")
        if not colon or not space:
            return None
        return space + _unescaped(local)

    def _absolute(self, iri: str) -> str | None:
        if re.match(r"[A-Za-z][A-Za-z0-9+.-]*:", iri):
            return iri
        return urljoin(self._base, iri) if self._base else None


def _unescaped(text: str) -> str:
    def plain(found: re.Match[str]) -> str:
        code = found[1] or found[2]
        return found[3] if code is None else chr(min(int(code, 16), 0x10FFFF))

    return _ESCAPED.sub(plain, text) if "\\" in text else text


_SCANS: Final = {
    ".nt": _of_lines,
    ".nq": _of_lines,
    ".ttl": _of_tokens,
    ".trig": _of_tokens,
    ".rdf": _of_about,
}
