"""Bound what a file may ask for: bytes when unpacked, depth of nesting, growth of entities.

Every pattern here is possessive or ends in what always fits, so that each character is read once:
no text, however damaged, makes it go back without bound.
"""

import array
import gzip
import io
import itertools
import re
import struct
import zlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Final

import pyoxigraph as ox

from kgreason.base.errors import GraphError

MOST_BYTES: Final = 1 << 30
"""What a packed file may unpack to, where nothing else is said."""
_BLOCK: Final = 1 << 20
_GROWTH: Final = 100  # times the size of a file that its entities may make of it
_ALWAYS: Final = 1 << 20
_COUNTED: Final = 1 << 60  # sizes beyond are all the same
_ENTITY: Final = re.compile(rb"<!ENTITY\s++([\w.-]++)\s++(?:\"([^\"]*+)\"|'([^']*+)')")
_USED: Final = re.compile(rb"&([\w.-]++);")

# The parsers take a time that grows with the square of the depth, or end the process.
_LEVELS: Final = {ox.RdfFormat.JSON_LD: 1_000, ox.RdfFormat.RDF_XML: 10_000}
_QUOTED_LEVELS: Final = 1_000
_STEP: Final = {b"{": 1, b"[": 1, b"<<": 1, b"}": -1, b"]": -1, b">>": -1}
_JSON_STRING: Final = re.compile(rb'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)
_JSON_TOKEN: Final = re.compile(rb'"(?:[^"\\]++|\\.)*+"?|([\[\]{}])', re.DOTALL)
_OTHERS: Final = bytes(set(range(256)) - set(b"[]{}"))
_UP_DOWN: Final = bytes.maketrans(b"[{]}", b"\x01\x01\xff\xff")
_TURTLE_TOKEN: Final = re.compile(
    rb'"""(?:[^"\\]++|\\.|"(?!""))*+(?:""")?'
    rb"|'''(?:[^'\\]++|\\.|'(?!''))*+(?:''')?"
    rb'|"(?:[^"\\\n\r]++|\\.)*+"?'
    rb"|'(?:[^'\\\n\r]++|\\.)*+'?"
    rb"|#[^\n\r]*+|\\.|(<<|>>)|<[^>]*+>?",
    re.DOTALL,
)
_ATTRIBUTES: Final = rb"(?:[^>\"']++|\"[^\"]*+\"?|'[^']*+'?)*+"
_XML_TOKEN: Final = re.compile(
    rb"<(?:!--.*?(?:-->|\Z)|!\[CDATA\[.*?(?:\]\]>|\Z)|\?.*?(?:\?>|\Z)|![^<>]*+>?"
    rb"|(?P<down>/)[^>]*+"
    # A tag that closes itself, or that is closed by the next one, leads no deeper.
    rb"|" + _ATTRIBUTES + rb"(?:(?<=/)>|>[^<]*+</[^>]*+>|(?P<up>>)|\Z))",
    re.DOTALL,
)


def contents(path: Path, most: int = MOST_BYTES) -> bytes:
    """Return what a file holds, unpacked if it ends in .gz; `most` is as for `blocks`."""
    whole = io.BytesIO()
    for block in blocks(path, most):
        whole.write(block)
    return whole.getvalue()


def blocks(path: Path, most: int = MOST_BYTES) -> Iterator[bytes]:
    """Return what a file holds, block by block; a file that ends in .gz is unpacked on the way.

    Raises GraphError where it cannot be read, or where a packed file holds more than `most` bytes.
    """
    packed = path.name.lower().endswith(".gz")
    try:
        with _open(path) as file:
            if not packed:
                yield from iter(lambda: file.read(_BLOCK), b"")
                return
            if _told(file) > most:
                for _ in _unpacked(path, file, most):
                    pass  # it is refused, or broken, before anything of it is kept
                file.seek(0)
            yield from _unpacked(path, file, most)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise GraphError(f"{path}: the gzip file is cut off or broken ({error}).") from error
    except OSError as error:
        raise GraphError(f"{path}: cannot be read ({error.strerror or error}).") from error


def _open(path: Path) -> IO[bytes]:
    return path.open("rb")


def _told(file: IO[bytes]) -> int:
    """Return the size that a packed file says its last part has; what it says need not be so."""
    if not file.seekable():
        return 0
    size = file.seek(0, io.SEEK_END)
    file.seek(max(0, size - 4))
    end = file.read(4)
    file.seek(0)
    return int(struct.unpack("<I", end)[0]) if size >= 18 else 0  # noqa: PLR2004 - its least size


def _unpacked(path: Path, file: IO[bytes], most: int) -> Iterator[bytes]:
    given = 0
    with gzip.GzipFile(fileobj=file) as stream:
        while block := stream.read(_BLOCK):
            given += len(block)
            if given > most:
                raise _too_large(path, most)
            yield block


def _too_large(path: Path, most: int) -> GraphError:
    return GraphError(
        f"{path}: it unpacks to more than {_size(most)}; if that is right, give a larger "
        "--max-bytes, or the unpacked file."
    )


def _size(number: int) -> str:
    """Return a number of bytes as --max-bytes takes it."""
    for power, unit in ((4, "T"), (3, "G"), (2, "M"), (1, "K")):
        if number % (1 << 10 * power) == 0:
            return f"{number >> 10 * power}{unit}"
    return f"{number} bytes"


def check_entities(path: Path, content: bytes) -> None:
    """Refuse XML whose entities would make far more of it than it is; raises GraphError."""
    if b"<!ENTITY" not in content:
        return
    sizes: dict[bytes, int] = {}
    for name, double, single in _ENTITY.findall(content):
        value = double or single
        inner = sum(sizes.get(other, 0) for other in _USED.findall(value))
        sizes[name] = min(len(value) + inner, _COUNTED)
    used = Counter(_USED.findall(content))
    if sum(used[name] * size for name, size in sizes.items()) > _GROWTH * len(content) + _ALWAYS:
        raise GraphError(f"{path}: its XML entities would grow far beyond the file; it is refused.")


def check_depth(path: Path, content: bytes, syntax: ox.RdfFormat) -> None:
    """Refuse what is nested so deeply that no parser comes to its end; raises GraphError.

    Brackets of Turtle may be nested as one likes, quoted triples may not.
    """
    most = _LEVELS.get(syntax, _QUOTED_LEVELS)
    if syntax == ox.RdfFormat.JSON_LD:
        place = _json_beyond(content, most)
    elif syntax == ox.RdfFormat.RDF_XML:
        place = _xml_beyond(content, most)
    else:
        place = _beyond(content, most, _TURTLE_TOKEN) if content.count(b"<<") > most else None
    if place is not None:
        line = content.count(b"\n", 0, place) + 1
        what, mend = "it is", "write it flat, for instance as N-Triples"
        if syntax not in _LEVELS:
            what, mend = "triples about triples are", "leave them out, they are passed over anyway"
        raise GraphError(
            f"{path}: line {line}: {what} nested more than {most:,} levels deep, which cannot be "
            f"read; {mend}."
        )


def _json_beyond(content: bytes, most: int) -> int | None:
    if content.count(b"{") + content.count(b"[") <= most:
        return None
    brackets = _JSON_STRING.sub(b"", content).translate(_UP_DOWN, _OTHERS)
    if max(itertools.accumulate(array.array("b", brackets)), default=0) <= most:
        return None
    return _beyond(content, most, _JSON_TOKEN)


def _beyond(content: bytes, most: int, token: re.Pattern[bytes]) -> int | None:
    """Return the place where brackets, group 1 of the tokens, are nested deeper than `most`."""
    depth = 0
    for found in token.finditer(content):
        if found[1]:
            depth += _STEP[found[1]]
            if depth > most:
                return found.start()
    return None


def _xml_beyond(content: bytes, most: int) -> int | None:
    """Return the place where elements are nested deeper than `most`."""
    if content.count(b"<") <= most:
        return None
    depth = 0
    for found in _XML_TOKEN.finditer(content):
        kind = found.lastgroup
        if kind == "up":
            depth += 1
            if depth > most:
                return found.start()
        elif kind == "down":
            depth -= 1
    return None
