"""What is piped in: RDF on stdin, where `-` stands for a file."""

import re
import sys
from typing import Final

from kgreason.base.errors import GraphError
from kgreason.graph.given import Text
from kgreason.graph.reading import is_turtle

STDIN: Final = "-"
_JSON: Final = re.compile(r"[\[{]\s*[\"{\]}]")
_TERM: Final = r'(?:<[^>]*>|_:\S+|"(?:[^"\\]|\\.)*"(?:\^\^<[^>]*>|@[\w-]+)?)'
_QUAD: Final = re.compile(rf"(?:<[^>]*>|_:\S+)\s+<[^>]*>\s+{_TERM}\s+(?:<[^>]*>|_:\S+)\s*\.\s*$")


def piped() -> Text:
    """Return what is on stdin, in the format that it looks like.

    Raises GraphError where there is nothing, or no text in UTF-8.
    """
    try:
        text = sys.stdin.buffer.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise GraphError(f"-: what is on stdin is no text in UTF-8 ({error}).") from error
    if not text.strip():
        raise GraphError("-: there is nothing on stdin, or it was read for another option.")
    return Text(text, _format(text))


def _format(text: str) -> str:
    beginning = text.lstrip()[:1_000]
    if _JSON.match(beginning):
        return "json-ld"
    if not is_turtle(beginning.encode()):
        return "xml"
    lines = (line.strip() for line in beginning.splitlines())
    first = next((line for line in lines if line and not line.startswith("#")), "")
    return "n-quads" if _QUAD.match(first) else "trig"
