"""Make sense of files that are not quite right: encodings, entities, IRIs, where an error is.

The store and SPARQL take only valid IRIs and language tags. What a lenient reading lets through is
mended here, so that every term of a graph can be named in a query and none can break out of one.
"""

import html
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final, TypeVar
from urllib.parse import quote
from xml.parsers import expat  # only asked where an error is, in a file already found broken

import pyoxigraph as ox

from kgreason.base.errors import GraphError
from kgreason.graph.bounds import check_depth, check_entities

_ILLEGAL: Final = re.compile(
    r'[\x00-\x20<>"{}|^`\\\[\]\ue000-\uf8ff\ufdd0-\ufdef\ufff0-\uffff]|%(?![0-9A-Fa-f]{2})'
)
_ENCODING: Final = re.compile(rb"<\?xml[^>]{1,100}?encoding\s*=\s*[\"']([\w.:-]+)[\"'][^>]*\?>")
_BOM: Final = b"\xef\xbb\xbf"
_BEGINNING: Final = 1_000
_XML: Final = re.compile(
    rb"(?:\xff\xfe|\xfe\xff|\xef\xbb\xbf)?\s*+(?:<[?!\0]|\0?<[A-Za-z_][\w.-]*+(?::[\w.-]++)?\s)"
)
_LONGEST: Final = 200
# What a file without blank nodes, lists, graph names and quoted triples is made of. Each repetition
# is possessive: a text that is something else, or damaged, is read once and no further.
_PLAIN: Final = re.compile(
    rb"""(?:
        [^"<#\[('{_]++ | _(?!:) | \#[^\n\r]*+ | <[^<>"\s]*+>
      | \"{3}(?:[^"\\]++|\\.|"(?!""))*+\"{3} | "(?!"")(?:[^"\\\n\r]++|\\.)*+"
    )*+""",
    re.DOTALL | re.VERBOSE,
)
_TURTLE_BASE: Final = re.compile(rb"^[ \t]*(?:@base|(?i:BASE))\s+<([^<>]*)>", re.MULTILINE)
_BASES: Final = {
    ox.RdfFormat.TURTLE: _TURTLE_BASE,
    ox.RdfFormat.TRIG: _TURTLE_BASE,
    ox.RdfFormat.JSON_LD: re.compile(rb'"@base"\s*:\s*"([^"]*)"'),
}
"""Where a file declares its base. One of RDF/XML that is no full IRI is an error already."""
_SCHEME: Final = re.compile(rb"[A-Za-z][A-Za-z0-9+.-]*:")
_HEAD: Final = 1 << 16
"""Bytes of a file among which its base is looked for: it stands in front."""
_AT: Final = re.compile(
    r"Parser error (?:at line \d+ )?(?:column|between columns?|between line \d+ column) (\d+)"
    r"(?: and .*?)?: "
)
_T = TypeVar("_T")


def is_turtle(content: bytes) -> bool:
    """Check whether a file of OWL is Turtle; it may as well be RDF/XML, which begins with a tag."""
    return _XML.match(content[:_BEGINNING]) is None


def relative_base(content: bytes, syntax: ox.RdfFormat) -> str | None:
    """Return the base that a file declares where it is no full IRI; None where all is well."""
    found = _BASES[syntax].search(content[:_HEAD]) if syntax in _BASES else None
    if found is None or not found[1] or _SCHEME.match(found[1]):
        return None
    return found[1].decode(errors="replace")


def as_utf8(path: Path, content: bytes, syntax: ox.RdfFormat) -> bytes:
    """Return a file's content as the parsers want it: UTF-8 without a byte order mark.

    XML may declare another encoding. Raises GraphError for one that is not known, for XML whose
    entities would grow without measure, and for what is nested too deeply.
    """
    if syntax == ox.RdfFormat.RDF_XML:
        content = _declared(path, content)
        check_entities(path, content)
    content = content.removeprefix(_BOM)
    check_depth(path, content, syntax)
    return content


def _declared(path: Path, content: bytes) -> bytes:
    """Return XML in UTF-8, whatever encoding it declares."""
    utf16 = content.startswith((b"\xff\xfe", b"\xfe\xff"))
    declared = _ENCODING.match(content.removeprefix(_BOM).lstrip()[:200])
    codec = "utf-16" if utf16 else declared[1].decode("ascii") if declared else "utf-8"
    if codec.lower() not in {"utf-8", "utf8"}:
        try:
            text = content.decode(codec)
        except (LookupError, UnicodeDecodeError) as error:
            raise GraphError(f"{path}: the text is not in {codec} as it says ({error}).") from error
        content = re.sub(r"^\s*<\?xml[^>]*\?>", "", text, count=1).encode()
    return content


def is_plain(content: bytes, syntax: ox.RdfFormat) -> bool:
    """Check whether a file surely has no blank nodes, lists, graph names or quoted triples."""
    if syntax not in {ox.RdfFormat.TURTLE, ox.RdfFormat.N_TRIPLES}:
        return False
    found = _PLAIN.match(content)
    return found is not None and found.end() == len(content)


def sound(content: bytes, how: dict[str, Any]) -> bytes:
    """Return those lines of a line-based file that can be read; `how` is as `ox.parse` wants it."""
    if _is_sound(content, how):
        return content
    return b"".join(x for x in content.splitlines(keepends=True) if _is_sound(x, how))


def _is_sound(content: bytes, how: dict[str, Any]) -> bool:
    try:
        for _ in ox.parse(content, **how):
            pass
    except (SyntaxError, ValueError):
        return False
    return True


def explain(
    error: Exception, content: bytes, syntax: ox.RdfFormat, remedy: str = "mend it there"
) -> str:
    """Describe in one sentence where a parser stopped, why, and what can be done.

    `remedy` is told of what has no better one.
    """
    message = str(getattr(error, "msg", None) or error).strip()
    at = _AT.match(message)
    column = at[1] if at else None
    message = " ".join(message[at.end() :].split() if at else message.split())
    if len(message) > _LONGEST:
        message = f"{message[:_LONGEST]} …"
    line = getattr(error, "lineno", None) or _line(message, content, syntax)
    encoding = _encoding(content, line)
    if encoding:
        return encoding
    if "LoadDocumentCallback" in message:
        return (
            "it has a remote @context; nothing is ever fetched, so put the context into the file."
        )
    where = f"line {line}" + (f", column {column}" if column else "") + ": " if line else ""
    if re.search("IRI code point|IRI '|scheme", message):
        remedy = "--lenient takes such IRIs, percent-encoded"
    return f"{where}{message.removesuffix('.')}; {remedy}."


def _encoding(content: bytes, line: int | None) -> str | None:
    """Explain that a text is not in UTF-8, if that is so in the line of an error or before."""
    try:
        content.decode()
    except UnicodeDecodeError as error:
        wrong = content.count(b"\n", 0, error.start) + 1
        if line is not None and line < wrong:
            return None
        utf16 = content.startswith((b"\xff\xfe", b"\xfe\xff"))
        if b"\0" in content and not utf16:
            return "this is no text, so it is no RDF."
        return (
            f"line {wrong}: the text is not UTF-8 (byte 0x{content[error.start]:02X}); convert it, "
            f"for instance with iconv -f {'UTF-16' if utf16 else 'LATIN1'} -t UTF-8."
        )
    return None


def _line(message: str, content: bytes, syntax: ox.RdfFormat) -> int | None:
    """Find the line of an error for which the parser tells none."""
    if syntax == ox.RdfFormat.RDF_XML:
        parser = expat.ParserCreate()
        try:
            parser.Parse(content, True)  # noqa: FBT003 - the signature of expat
        except expat.ExpatError as error:
            return error.lineno
    for quoted in re.findall(r"'([^']+)'", message):
        for text in (quoted, html.escape(quoted), html.escape(quoted, quote=False)):
            line = _line_of(text, content)
            if line:
                return line
    return None


def _line_of(text: str, content: bytes) -> int | None:
    place = content.find(text.encode())
    return content.count(b"\n", 0, place) + 1 if place >= 0 else None


class Mender:
    """Makes terms valid that a lenient parser let through, and remembers which it changed.

    With `strict` it raises GraphError instead. `where` names the file.
    """

    def __init__(self, where: str, base: str, *, strict: bool = False) -> None:
        self._where, self._base, self._strict = where, base, strict
        self.changed: dict[str, str] = {}
        self._known: dict[str, ox.NamedNode] = {}

    def over(self, quads: Iterable[ox.Quad], content: bytes = b"") -> Iterator[ox.Quad]:
        """Pass quads on, each term valid; JSON-LD keys that stand for no IRI are left out."""
        for quad in quads:
            if ":" not in quad.predicate.value:
                continue
            try:
                subject, value = self._node(quad.subject), quad.object
                value = self._literal(value) if isinstance(value, ox.Literal) else self._node(value)
                predicate, graph = self._iri(quad.predicate), self._node(quad.graph_name)
            except ValueError as error:
                wrong = str(error.args[-1])
                line = _line_of(wrong, content)
                where = f"line {line}: " if line else ""
                raise GraphError(
                    f"{self._where}: {where}{wrong!r} is no valid IRI or language tag; "
                    "--lenient takes it, mended."
                ) from error
            yield ox.Quad(subject, predicate, value, graph)

    def iris(self) -> dict[str, str]:
        """Return the IRIs that were made of others, each with what was written."""
        return {new: old for old, new in self.changed.items() if not old.startswith("@")}

    def notices(self) -> list[str]:
        """Describe what was changed, if anything was."""
        if not self.changed:
            return []
        old, new = next(iter(self.changed.items()))
        number = len(self.changed)
        what = "IRIs or language tags are" if number > 1 else "IRI or language tag is"
        return [f"{self._where}: {number} {what} not valid and mended, such as {old!r} to {new!r}."]

    def _node(self, node: _T) -> _T | ox.NamedNode:
        return self._iri(node) if isinstance(node, ox.NamedNode) else node

    def _iri(self, node: ox.NamedNode) -> ox.NamedNode:
        known = self._known.get(node.value)
        if known is None:
            known = self._known[node.value] = self._mended(node)
        return known

    def _mended(self, node: ox.NamedNode) -> ox.NamedNode:
        try:
            return ox.NamedNode(node.value)
        except ValueError as error:
            if self._strict:
                raise ValueError(node.value) from error
        encoded = _ILLEGAL.sub(lambda found: quote(found[0], safe=""), node.value)
        # A fragment holds no second number sign.
        before, mark, fragment = encoded.partition("#")
        try:
            made = ox.NamedNode(before + mark + fragment.replace("#", "%23"))
        except ValueError:
            made = ox.NamedNode(self._base + quote(node.value, safe="/"))
        self.changed[node.value] = made.value
        return made

    def _literal(self, term: ox.Literal) -> ox.Literal:
        if term.language is None:
            datatype = self._iri(term.datatype)
            return term if datatype == term.datatype else ox.Literal(term.value, datatype=datatype)
        try:
            ox.Literal(term.value, language=term.language)
        except ValueError as error:
            if self._strict:
                raise ValueError(term.language) from error
            self.changed[f"@{term.language}"] = "(none)"
            return ox.Literal(term.value)
        return term
