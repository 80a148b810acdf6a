"""Answers of services as JSON and XML, read with care: what does not fit is a SourceError."""

import json
import re
from collections.abc import Iterator, Mapping
from html import unescape
from typing import Any, Final
from xml.etree import ElementTree as ET

from kgreason.base.fetching import SourceError

_TAG: Final = re.compile(r"<[^>]*>")
_SPACE: Final = re.compile(r"\s+")
_ENTITY: Final = re.compile(r"<!ENTITY", re.IGNORECASE)


def json_object(text: str, name: str) -> Mapping[str, Any]:
    """Return an answer that is a JSON object; raises SourceError."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise SourceError(f"{name}: the answer is no JSON, or was cut off.") from error
    if not isinstance(found, dict):
        raise SourceError(f"{name}: the answer is JSON of another form than documented.")
    return found


def objects(found: Any, name: str) -> Iterator[Mapping[str, Any]]:
    """Return the objects of a list; raises SourceError for what is none."""
    if not isinstance(found, list):
        raise SourceError(f"{name}: the answer is JSON of another form than documented.")
    for one in found:
        if isinstance(one, dict):
            yield one


def xml(text: str, name: str) -> ET.Element:
    """Return the root of an answer in XML; raises SourceError.

    One that declares entities is refused: they can be made to grow without end.
    """
    if _ENTITY.search(text):
        raise SourceError(f"{name}: the answer declares entities, and is not read.")
    try:
        return ET.fromstring(text)  # noqa: S314 - entities are refused above
    except ET.ParseError as error:
        raise SourceError(f"{name}: the answer is no XML, or was cut off.") from error


def words(value: object) -> str:
    """Return a text without markup and with single blanks; empty for what is no text."""
    if not isinstance(value, str):
        return ""
    return _SPACE.sub(" ", unescape(_TAG.sub(" ", value))).strip()


def inner(element: ET.Element | None) -> str:
    """Return all text within an element, with single blanks."""
    return "" if element is None else _SPACE.sub(" ", "".join(element.itertext())).strip()


def quoted(term: str) -> str:
    """Return a term as a phrase in quotation marks, without marks or operators of its own."""
    plain = _SPACE.sub(" ", re.sub(r"[^\w\s.-]", " ", term)).strip()
    return f'"{plain}"'
