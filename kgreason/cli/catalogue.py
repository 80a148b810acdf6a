"""The command that shows the catalogue of queries."""

from typing import TYPE_CHECKING, Annotated

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
    "queries --check my-extension/",
)
def queries(
    name: o.TemplateName = None,
    check: Annotated[
        bool,
        typer.Option(
            "--check",
            help="Look for faults instead: in the folder of an extension that stands in the place "
            "of NAME, or in the queries that come along. One line a fault, and exit code 1.",
        ),
    ] = False,
    extend: o.Extend = None,
) -> None:
    """List the queries that kgreason is made of, or show one with its header and text."""
    from kgreason import api  # noqa: PLC0415 - keeps --help quick
    from kgreason.base.extensions import joined, read_all, using  # noqa: PLC0415

    if check:
        if extend:
            raise OptionError("Give the folder right after --check, without --extend.")
        found = api.check_queries(name)
        deliver("\n".join(found) or "Nothing is wrong.")
        if found:
            raise typer.Exit(1)
        return
    with using(joined(read_all(extend or ()))):
        _show(name)


def _show(name: str | None) -> None:
    """List the templates at hand, or show one."""
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
