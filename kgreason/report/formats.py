"""The formats for other tools that a result can be written in, beside those for people."""

from collections.abc import Callable, Mapping
from typing import Final

from kgreason.base.errors import OptionError
from kgreason.base.terms import PREFIXES
from kgreason.report.export import ci_text, sarif
from kgreason.report.export.findings import Findings, findings
from kgreason.report.export.rdf import turtle
from kgreason.report.found import Found
from kgreason.report.told_graph import told_graph

_TEXTS: Final[Mapping[str, Callable[[Findings], str]]] = {
    "sarif": sarif.render,
    "junit": ci_text.junit,
    "github": ci_text.annotations,
    "csv": ci_text.as_csv,
}
_GRAPHS: Final = ("shacl", "earl", "dqv")
FORMATS: Final = (*_TEXTS, *_GRAPHS)
"""SARIF 2.1.0, JUnit XML, annotations of GitHub Actions, CSV; then SHACL, EARL, DQV as Turtle."""


def formatted(result: Found, format_: str) -> str:
    """Return a result in one of FORMATS; raises OptionError for any other.

    With the data at hand all failing nodes are in it, else those that the record cites.
    """
    if format_ not in FORMATS:
        raise OptionError(f"There is no format {format_}; use {', '.join(FORMATS)}.")
    told = told_graph(result)
    if format_ in _GRAPHS:
        return turtle(told.construct(format_), PREFIXES).decode()
    return _TEXTS[format_](findings(result, told))


def job_summary(result: Found) -> str:
    """Return the job summary of GitHub Actions that goes with the annotations, as Markdown."""
    return ci_text.job_summary(findings(result, told_graph(result)), result.headline)
