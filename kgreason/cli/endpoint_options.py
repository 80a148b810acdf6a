"""Options about a SPARQL endpoint as the graph, for the command that takes one."""

from typing import Annotated, Any, Final

import typer

from kgreason.base.errors import OptionError
from kgreason.cli.options import INPUT
from kgreason.cli.output import deliver
from kgreason.cli.progress import Shown

ENDPOINT: Final = "An endpoint as the graph"
ESTIMATED: Final = (
    *("shapes", "axioms", "violations", "population", "outcome", "at"),
    *("severity", "only", "seed", "query_seconds"),
)
"""The options of an investigation that an estimate takes too."""

Graphs = Annotated[
    list[str] | None,
    typer.Option(
        "--graph",
        metavar="IRI",
        rich_help_panel=ENDPOINT,
        show_default="all",
        help="Look at this named graph alone. Give it again for several.",
    ),
]
DialectName = Annotated[
    str | None,
    typer.Option(
        "--dialect",
        metavar="NAME",
        rich_help_panel=ENDPOINT,
        show_default="found out",
        help="The engine behind the endpoint: plain, oxigraph, virtuoso, qlever, graphdb, fuseki.",
    ),
]
Cap = Annotated[
    int,
    typer.Option(
        metavar="N", rich_help_panel=ENDPOINT, help="Failing nodes taken of each symptom, at most."
    ),
]
Ratio = Annotated[
    int,
    typer.Option(
        metavar="N",
        rich_help_panel=ENDPOINT,
        help="Passing nodes taken for each failing one, where there are more.",
    ),
]
Hops = Annotated[
    int,
    typer.Option(
        metavar="N",
        rich_help_panel=ENDPOINT,
        help="Steps from the focus nodes up to which nodes are taken along.",
    ),
]
Pause = Annotated[
    float,
    typer.Option(
        metavar="SECONDS", rich_help_panel=ENDPOINT, help="Pause between two queries at least."
    ),
]
Auth = Annotated[
    str | None,
    typer.Option(
        "--auth",
        metavar="USER:PASSWORD",
        rich_help_panel=ENDPOINT,
        show_default="none",
        help="Log in there, by HTTP Basic; env:NAME takes both from an environment variable. It is "
        "never recorded.",
    ),
]
Headers = Annotated[
    list[str] | None,
    typer.Option(
        "--header",
        metavar="'NAME: VALUE'",
        rich_help_panel=ENDPOINT,
        show_default="none",
        help="Send this header with each query; env:NAME takes the value from an environment "
        "variable. It is never recorded. Give it again for several.",
    ),
]
Memory = Annotated[
    str | None,
    typer.Option(
        "--memory",
        metavar="SIZE",
        rich_help_panel=INPUT,
        show_default="half of the machine's",
        help="Data that would take more memory are not loaded whole: they are asked on disk, as an "
        "endpoint is, and an extract is investigated. Bytes, or a number with K, M, G or T.",
    ),
]
DryRun = Annotated[
    bool,
    typer.Option(
        "--dry-run",
        rich_help_panel=ENDPOINT,
        help="Only probe the endpoint and count, and say how many queries and bytes the "
        "investigation would take.",
    ),
]


def endpoint_options(
    data: list[str],
    graphs: list[str] | None,
    dialect: str | None,
    cap: int,
    ratio: int,
    hops: int,
    pause: float,
    auth: str | None,
    header: list[str] | None,
) -> dict[str, Any]:
    """Return the options about an endpoint, by their names in Python; raises OptionError."""
    from kgreason.endpoint.named_endpoint import headers_of, is_address  # noqa: PLC0415 - as below

    if not any(map(is_address, data)) and (graphs or dialect or auth or header or pause):
        raise OptionError(
            "--graph, --dialect, --pause, --auth and --header are about an endpoint; give its "
            "address (https://…) in place of files."
        )
    return {
        "graphs": graphs or (),
        "dialect": dialect,
        "cap": cap,
        "ratio": ratio,
        "hops": hops,
        "pause": pause,
        "headers": headers_of(auth, header or ()),
    }


def tell_estimate(data: list[str], asked: dict[str, Any], out: str | None) -> None:
    """Write what an investigation of an endpoint would take; raises OptionError without one."""
    from kgreason import api  # noqa: PLC0415 - keeps --help quick

    if len(data) != 1:
        raise OptionError("--dry-run is about one endpoint; give its address (https://…) as data.")
    with Shown() as shown:
        found = api.estimate(data[0], **asked, progress=shown)
    deliver(f"{found}\n", out)
