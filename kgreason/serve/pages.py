"""Fill the templates of the pages; all that is put in is escaped."""

from functools import cache
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader
from starlette.responses import HTMLResponse

from kgreason.report import html as report
from kgreason.serve import addresses, scripts
from kgreason.serve.protection import STYLED_POLICY

_OWN: Final = Path(__file__).parent / "templates"
SHARED: Final = Path(report.__file__).parent / "templates"
"""The short answer and the cards are those of the report."""


@cache
def _environment() -> Environment:
    """Return the environment of the report with our own templates, filters and globals beside."""
    shared = report.environment()
    made = shared.overlay(loader=FileSystemLoader([_OWN, SHARED]))
    made.filters = {**shared.filters, "called": addresses.called}
    made.globals = {**shared.globals, "href": addresses.href, "place": addresses.place}
    return made


def filled(
    template: str, status: int = 200, *, styled: bool = False, tab: str = "", **values: Any
) -> HTMLResponse:
    """Return a page; `styled` says that scripts of others may write styles into it."""
    values = {"investigation": None, **values}
    text = (
        _environment()
        .get_template(f"{template}.html")
        .render(
            tab=tab, editor=scripts.has(scripts.EDITOR), graph=scripts.has(scripts.GRAPH), **values
        )
    )
    headers = {"Content-Security-Policy": STYLED_POLICY} if styled else None
    return HTMLResponse(text, status, headers=headers)
