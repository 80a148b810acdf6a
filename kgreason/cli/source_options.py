"""Options about sources that are looked up, for the commands that may ask them."""

from typing import Annotated, Any, Final

import typer

SOURCES: Final = "Sources outside the graph"

Source = Annotated[
    list[str] | None,
    typer.Option(
        "--source",
        metavar="NAME",
        rich_help_panel=SOURCES,
        show_default="none",
        help="Look the hypotheses up: in a folder of documents, in a named graph of the data "
        "(graph:IRI), at a SPARQL endpoint (sparql:https://HOST/PATH), or in pubmed, europepmc, "
        "semanticscholar, openalex, crossref, arxiv (endpoints and services are asked over the "
        "network). Give it again for several.",
    ),
]
Readings = Annotated[
    str | None,
    typer.Option(
        "--readings",
        metavar="FILE.json",
        rich_help_panel=SOURCES,
        show_default="nobody has read them",
        help="What you found the passages to say: an object of their keys, as the report tells "
        "them, and supports, contradicts or neither.",
    ),
]
Tests = Annotated[
    str | None,
    typer.Option(
        "--tests",
        metavar="FILE.json",
        rich_help_panel=SOURCES,
        show_default="none",
        help="Tests of your own: a JSON list of queries, with code over their rows where needed, "
        "each with the answer that you expect.",
    ),
]


def source_options(
    source: list[str] | None, readings: str | None, tests: str | None
) -> dict[str, Any]:
    """Return the options about sources and tests of one's own, by their names in Python."""
    return {"sources": tuple(source or ()), "readings": readings, "tests": tests or ()}
