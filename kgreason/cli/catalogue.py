"""The command that shows the catalogue of queries."""

from typing import TYPE_CHECKING

import typer

from kgreason.base.errors import OptionError
from kgreason.cli import options as o
from kgreason.cli.errors import command
from kgreason.cli.output import deliver

if TYPE_CHECKING:
    from kgreason.base.templates import Template


def add_to(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command()(queries)


@command(
    "queries",
    "queries hypothesize",
    "queries confidence/frame",
)
def queries(name: o.TemplateName = None) -> None:
    """List the queries that kgreason is made of, or show one with its header and text."""
    from kgreason.base.templates import role, roles  # noqa: PLC0415 - keeps --help quick

    if name is None or name in roles():
        chosen = roles() if name is None else [name]
        deliver("\n".join(_listed(r, list(role(r).values())) for r in chosen if role(r)))
        return
    wanted, _, inner = name.strip("/").rpartition("/")
    inner = inner.removesuffix(".rq").removesuffix(".ru")
    found = [
        role(r)[inner] for r in roles() if inner in role(r) and wanted in {"", r, f"queries/{r}"}
    ]
    if not found:
        raise OptionError(f"There is no query {name!r}; `kgreason queries` lists them.")
    if len(found) > 1:
        names = ", ".join(f"{template.role}/{template.name}" for template in found)
        raise OptionError(f"{name!r} is the name of several queries: {names}; give one of these.")
    deliver(found[0].path.read_text(encoding="utf-8"))


def _listed(role: str, templates: "list[Template]") -> str:
    width = max(len(template.name) for template in templates)
    lines = [f"  {t.name:{width}}  {' '.join(t.summary.split())}" for t in templates]
    return "\n".join([role, *lines, ""])
