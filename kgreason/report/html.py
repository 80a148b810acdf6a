"""The report as one HTML page that needs nothing else: no scripts, no fonts, no network."""

import re
from functools import cache
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup, escape

from kgreason.record import Record
from kgreason.report import chart, diagram
from kgreason.report.document import Document, build
from kgreason.report.narrator import TEMPLATES, Narrator, narrated
from kgreason.report.summary import SHOWN, Answer, answer, command

_FOLDER: Final = Path(__file__).parent / "templates"
_RESERVED: Final = frozenset(("example", "invalid", "localhost", "test", "local", "internal"))
_EXAMPLES: Final = frozenset(("com", "net", "org"))
_LEVELS: Final = {"report": 2, "symptom": 3, "hypothesis": 4}


def render(record: Record, narrator: Narrator = TEMPLATES, ledger: str | None = None) -> str:
    """Return the report of an investigation as an HTML page; all that it holds is escaped.

    The commands on it name the folder of the `ledger`, where one is given.
    """
    return write(narrated(build(record), narrator), answer(record), ledger)


def write(document: Document, first: Answer, ledger: str | None = None) -> str:
    """Write a report that was built before, the short answer first."""
    page = _page()
    return page.render(
        answer=first,
        shown=SHOWN,
        pasted=lambda words: command(words, ledger),
        document=document,
        title=next((b.heading.text for b in document.blocks if b.heading), "Report"),
        levels=_LEVELS,
        told_by=document.narrator,
    )


def _page() -> Template:
    return environment().get_template("report.html")


@cache
def environment() -> Environment:
    """Return where the templates of pages are found, with what they call."""
    made = Environment(
        loader=FileSystemLoader(_FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["slug"] = slug
    made.filters["prose"] = prose
    made.filters["words"] = words
    made.filters["leads"] = leads
    made.globals["draw"] = chart.draw
    made.globals["lay_out"] = diagram.lay_out
    return made


def slug(text: str) -> str:
    """Make a class name of a word: lower case, letters and hyphens alone."""
    return re.sub(r"[^a-z]+", "-", text.lower()).strip("-") or "none"


def prose(text: str) -> Markup:
    """Return a sentence as HTML: text between backticks is code, and a figure keeps its %."""
    escaped = str(escape(text)).replace(" %", "\u00a0%")
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", escaped))  # noqa: S704 - escaped above


def leads(address: str | None) -> bool:
    """Check whether an address may lead somewhere.

    Names that are reserved for examples and tests (RFC 2606, RFC 6761), and those without a dot,
    are known nowhere outside of the place that uses them.
    """
    try:
        host = (urlsplit(address or "").hostname or "").rstrip(".")
    except ValueError:
        return False
    labels = host.lower().split(".")
    if len(labels) == 1 or labels[-1] in _RESERVED:
        return False
    return labels[-2] != "example" or labels[-1] not in _EXAMPLES


def words(text: str) -> Markup:
    """Return a command as HTML whose lines break between words, and not at hyphens."""
    spans = (f"<span>{escape(word)}</span>" for word in text.split(" "))
    return Markup(" ".join(spans))  # noqa: S704 - each word is escaped
