"""The commands that read a ledger: report, audit, query, history."""

import shutil
from pathlib import Path
from typing import Annotated, Any

import typer

from kgreason.cli import answers
from kgreason.cli import options as o
from kgreason.cli.errors import command, tell
from kgreason.cli.looking import written
from kgreason.cli.output import check_out, deliver, json_text, table
from kgreason.errors import OptionError, QueryError


def add_to(app: typer.Typer) -> None:
    """Add the commands to the program."""
    for function in (report, audit, query, history):
        app.command()(function)


@command(
    "report",
    "report 1 --format json",
    "report --ledger history/ --out report.html",
    "report 2 --final --out final.html",
)
def report(
    which: o.Which = None,
    ledger: o.LedgerFolder = o.DEFAULT_LEDGER,
    format_: o.Format = None,
    out: o.Out = None,
    final: Annotated[
        bool,
        typer.Option(
            "--final",
            help="Give it out as final: only where the audit finds nothing and the policy allows "
            "it for every cause it names. This is recorded, and so is a refusal (exit code 1).",
        ),
    ] = False,
) -> None:
    """Print the result of an investigation again; it is made of the ledger alone."""
    from kgreason import api  # noqa: PLC0415 - keeps --help quick

    check_out(out)
    if final:
        from kgreason.review.publish import publish  # noqa: PLC0415 - keeps --help quick

        made = publish(ledger, which, lambda result: written(result, format_, out))
        if made.refused:
            tell("The report is not given out as final: " + "; ".join(made.refused) + ".")
            raise typer.Exit(1)
        deliver(made.text, out)
        return
    with api.result(ledger, which) as result:
        if not result.ledger.entry(result.record.iri.value).finished:
            tell("This investigation is not finished; `kgreason resume` goes on with it.")
        deliver(written(result, format_, out), out)


@command(
    "audit",
    "audit 2 --ledger history/ --format json",
    "audit --pin ../heads.json",
)
def audit(
    which: o.Which = None,
    ledger: o.LedgerFolder = o.DEFAULT_LEDGER,
    format_: Annotated[
        o.ListFormat,
        typer.Option("--format", metavar="table|json", help="How findings are listed."),
    ] = o.ListFormat.TABLE,
    pin: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            show_default=False,
            help="Hold the record to the head that FILE holds, and pin its head there where "
            "nothing is wrong. Keep FILE where nobody who writes the ledger can reach it.",
        ),
    ] = None,
    out: o.Out = None,
) -> None:
    """Check that everything in the record follows from what it records.

    Shapes are checked, every update is recomputed from its recorded inputs, every seal from what
    it covers. That the last steps were struck out only a pinned head can show. Exit code 0 if
    nothing is wrong, 1 with the nodes that are.
    """
    from kgreason import api  # noqa: PLC0415 - keeps --help quick
    from kgreason.audit import audit as run  # noqa: PLC0415
    from kgreason.audit import pinned  # noqa: PLC0415

    check_out(out)
    with api.result(ledger, which) as result:
        found = run(result.record)
        if pin is not None:
            found = pinned(found, result.record, Path(pin))
    if format_ is o.ListFormat.JSON:
        deliver(json_text(_audit(found)), out)
    else:
        deliver(str(found), out)
    if not found.ok:
        raise typer.Exit(1)


def _audit(found: Any) -> dict[str, Any]:
    def listed(findings: Any) -> list[dict[str, str]]:
        return [
            {"rule": f.rule, "node": f.node, "message": f.message, "severity": f.severity}
            for f in findings
        ]

    return {
        "investigation": found.investigation,
        "ok": found.ok,
        "findings": listed(found.findings),
        "notices": listed(found.notices),
        "checked": dict(found.checked),
    }


@command(
    'query "SELECT ?s ?c { ?h trails:statement ?s ; trails:confidence ?c }"',
    "query @question.rq --format csv",
    "query --file question.rq --ledger history/ --format json",
)
def query(
    text: Annotated[
        str | None,
        typer.Argument(
            metavar="SPARQL",
            show_default=False,
            help="A SELECT, ASK, CONSTRUCT or DESCRIBE, or @FILE that holds one.",
        ),
    ] = None,
    which: o.Which = None,
    file: Annotated[
        str | None,
        typer.Option("--file", metavar="FILE.rq", show_default=False, help="The query's file."),
    ] = None,
    ledger: o.LedgerFolder = o.DEFAULT_LEDGER,
    format_: Annotated[
        o.TableFormat,
        typer.Option(
            "--format",
            metavar="table|csv|json",
            help="How the rows of a SELECT are written; a CONSTRUCT gives Turtle.",
        ),
    ] = o.TableFormat.TABLE,
    out: o.Out = None,
    query_seconds: o.QuerySeconds = 60.0,
    allow_service: o.AllowService = False,
) -> None:
    """Ask the reasoning history any read-only SPARQL.

    The named graph of the investigation is the default graph; GRAPH reaches all investigations of
    the ledger. The usual prefixes (trails:, prov:, rdfs:, xsd: and the like) need no declaration.
    The query runs in a process of its own with a time limit.
    """
    from kgreason import api  # noqa: PLC0415 - keeps --help quick

    check_out(out)
    if file is not None and text is not None:
        if which is not None:
            raise OptionError("Give the query as text or with --file, not both.")
        text, which = None, text  # what stands alone beside --file is the investigation
    where = "the query"
    if text is not None and text.startswith("@"):
        file = text[1:]
    if file is not None:
        text, where = _read(file), file
    if text is None:
        raise OptionError("What do you ask? Give a SPARQL query as text, as @FILE or with --file.")
    answer = api.query(
        text, ledger, which, seconds=query_seconds, allow_service=allow_service, where=where
    )
    deliver(answers.written(answer, format_), out)


def _read(file: str) -> str:
    try:
        return Path(file).read_text(encoding="utf-8-sig")
    except OSError as error:
        why = error.strerror or error
        raise QueryError(f"{file}: the query cannot be read ({why}).") from error
    except UnicodeDecodeError as error:
        raise QueryError(f"{file}: the query is not UTF-8 text ({error}).") from error


@command(
    "history",
    "history which-hypotheses",
    "history why-this-confidence --hypothesis 2",
    "history what-supports 1 --ledger history/ --format csv",
)
def history(
    name: Annotated[
        str | None,
        typer.Argument(metavar="QUESTION", show_default="all are listed", help="Its name."),
    ] = None,
    which: o.Which = None,
    hypothesis: Annotated[
        str | None,
        typer.Option(
            metavar="HYPOTHESIS",
            show_default="all it may be about",
            help="Ask about one hypothesis: its number or its IRI.",
        ),
    ] = None,
    ledger: o.LedgerFolder = o.DEFAULT_LEDGER,
    format_: Annotated[
        o.TableFormat,
        typer.Option("--format", metavar="table|csv|json", help="How the answer is written."),
    ] = o.TableFormat.TABLE,
    out: o.Out = None,
) -> None:
    """Ask a stored question about how a result came about; without a name, list the questions."""
    from kgreason import api  # noqa: PLC0415 - keeps --help quick
    from kgreason.report import history as stored  # noqa: PLC0415

    check_out(out)
    if name is None:
        known = [(t.name, t.header.get("question", t.summary)) for t in stored.questions()]
        deliver(table(("name", "question"), known), out)
        return
    name = "-".join(name.lower().rstrip("?").split())
    with api.result(ledger, which) as result:
        rows = stored.ask(result.record, name, hypothesis=hypothesis)
        if format_ is o.TableFormat.TABLE:
            width = shutil.get_terminal_size((160, 24)).columns
            deliver(stored.table(rows, result.record, width=width), out)
        else:
            deliver(answers.written(rows, format_), out)
