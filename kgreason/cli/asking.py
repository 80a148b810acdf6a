"""The commands that read a ledger: report, audit, query, history."""

from pathlib import Path
from typing import Annotated, Any

import typer

from kgreason.base.errors import OptionError, QueryError
from kgreason.cli import answers
from kgreason.cli import gating as g
from kgreason.cli import options as o
from kgreason.cli.errors import command, tell
from kgreason.cli.gating import Gate
from kgreason.cli.looking import chosen_report, given_out, written
from kgreason.cli.output import checked, deliver, json_text, table


def add_to(app: typer.Typer) -> None:
    """Add the commands to the program."""
    app.command(cls=o.FilesLast)(report)
    app.command(cls=o.FilesLast)(audit)
    app.command(cls=o.FilesLast)(query)
    app.command()(history)


@command(
    "report",
    "report --all",
    "report I1 --format json",
    "report --baseline main.json --fail-on new-cause",
    "report --ledger history/ --out report.html",
    "report I2 --final --out final.html",
    "report --rerun --given report.html",
    "report I2 --rerun --data data/",
)
def report(
    which: o.Which = None,
    ledger: o.LedgerFolder = o.DEFAULT_LEDGER,
    extend: o.Extend = None,
    format_: o.Format = None,
    out: o.Out = None,
    everything: Annotated[
        bool,
        typer.Option(
            "--all",
            help="The summary with all causes, and all that has none.",
        ),
    ] = False,
    final: Annotated[
        bool,
        typer.Option(
            "--final",
            help="Give it out as final: only where the audit finds nothing and the policy allows "
            "it for every cause it names. This is recorded, and so is a refusal (exit code 1).",
        ),
    ] = False,
    rerun: Annotated[
        bool,
        typer.Option(
            "--rerun",
            help="Instead of a report: run the queries behind it again, and name the sections and "
            "claims that come out otherwise (exit code 1). Takes --given, --data, or both.",
        ),
    ] = False,
    given: Annotated[
        str | None,
        typer.Option(
            "--given",
            metavar="REPORT",
            show_default=False,
            help="A report given out before (.md or .html), to which sections are compared.",
        ),
    ] = None,
    fail_on: g.FailOnOption = None,
    baseline: g.Baseline = None,
    tolerate: g.Tolerate = None,
    allow_empty: g.AllowEmpty = False,
    data: o.DataOfThen = None,
    shapes: o.ShapesOfThen = None,
    axioms: o.AxiomsOfThen = None,
    ontology: o.OntologyOfThen = None,
) -> None:
    """Print the result of an investigation again; it is made of the ledger alone.

    On a terminal this is a summary: the three causes that explain most, why, how sure, what to do.

    With --rerun, say which sentences of a report no longer hold: sections whose query gives another
    digest than the report has, and claims that the data do not bear out.
    """
    from kgreason import api  # noqa: PLC0415 - keeps --help quick

    chosen = chosen_report(out, format_)
    if everything and format_ is None and (out is None or out == "-"):
        chosen = o.ReportFormat.SUMMARY
    if everything and chosen is not o.ReportFormat.SUMMARY:
        raise OptionError("--all is about the summary; the other formats tell all causes anyway.")
    gate = Gate.of(fail_on, baseline, tolerate, ledger, allow_empty=allow_empty)
    if gate.asked and (rerun or final):
        raise OptionError("--fail-on and --baseline are of no use with --rerun or --final.")
    opened = api.OpenLedger(ledger, extend=extend or ())
    if rerun:
        asked = None if data is None else (data, shapes or (), ontology or (), axioms or ())
        _rerun(which, opened, None if given is None else Path(given), asked, chosen, out)
        return
    of_data = chosen in o.FOR_TOOLS or gate.before is not None
    if given or (data and not of_data) or shapes or ontology or axioms:
        raise OptionError(
            "--given, --data, --shapes, --axioms and --ontology are of use with --rerun."
        )
    if final:
        _final(which, opened, chosen, ledger, out)
        return
    if of_data:  # failing nodes are told, or causes known again, by the data
        with opened.with_nodes(which, data=data or ()) as (result, why):
            if why:
                tell(f"Only the failing nodes that the record cites are told: {why}")
            _tell_unfinished(result)
            given_out(result, chosen, out, ledger, gate, everything=everything)
        return
    with api.result(ledger, which, extend=extend or ()) as result:
        _tell_unfinished(result)
        given_out(result, chosen, out, ledger, gate, everything=everything)


def _final(
    which: str | None, opened: Any, format_: o.ReportFormat, ledger: str, out: str | None
) -> None:
    """Write a report that is given out as final; ends with 1 where it may not be."""
    made = opened.publish(which, lambda result: written(result, format_, ledger, out))
    if made.refused:
        tell("The report is not given out as final: " + "; ".join(made.refused) + ".")
        raise typer.Exit(1)
    deliver(made.text, out)


def _tell_unfinished(result: Any) -> None:
    if not result.finished:
        error = result.as_dict()["error"]
        why = "" if error is None else f", since an error ended it ({_told(error)})"
        tell(f"This investigation is not finished{why}; `kgreason resume` goes on with it.")


def _told(error: dict[str, str]) -> str:
    return ": ".join(filter(None, (error["type"], error["message"].rstrip("."))))


def _rerun(
    which: str | None,
    opened: Any,
    report: Path | None,
    asked: Any,
    format_: o.ReportFormat | None,
    out: str | None,
) -> None:
    """Run the queries behind a report again; ends with 1 where something comes out otherwise."""
    data, shapes, ontology, axioms = asked or ((), (), (), ())
    found = opened.rerun(which, report, data=data, shapes=shapes, ontology=ontology, axioms=axioms)
    as_json = format_ is o.ReportFormat.JSON
    deliver(json_text(found.as_dict()) if as_json else str(found), out)
    if found.others:
        raise typer.Exit(1)


@command(
    "audit",
    "audit I2 --ledger history/ --format json",
    "audit --pin ../heads.json",
    "audit --data data/ --all",
    "audit 2 --data data/ --shapes shapes.ttl --ontology schema.ttl --sample 50 --seed 7",
    "audit --second-engine",
)
def audit(
    which: o.Which = None,
    ledger: o.LedgerFolder = o.DEFAULT_LEDGER,
    extend: o.Extend = None,
    format_: o.ListAs = None,
    pin: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            show_default=False,
            help="Hold the record to the head that FILE holds, and pin its head there where "
            "nothing is wrong. Keep FILE where nobody who writes the ledger can reach it.",
        ),
    ] = None,
    second_engine: Annotated[
        bool,
        typer.Option(
            "--second-engine",
            help="Work out every confidence and status again in rdflib, from the recorded evidence "
            "by the recorded rules: about a second for three pieces of evidence.",
        ),
    ] = False,
    data: o.DataOfThen = None,
    shapes: o.ShapesOfThen = None,
    axioms: o.AxiomsOfThen = None,
    ontology: o.OntologyOfThen = None,
    sample: Annotated[
        int,
        typer.Option(
            metavar="N", min=1, rich_help_panel=o.HELD, help="So many of each kind are done again."
        ),
    ] = 20,
    whole: Annotated[
        bool, typer.Option("--all", rich_help_panel=o.HELD, help="Do everything again.")
    ] = False,
    seed: Annotated[
        int, typer.Option(metavar="N", rich_help_panel=o.HELD, help="Draws what is done again.")
    ] = 0,
    out: o.Out = None,
) -> None:
    """Check that everything in the record follows from what it records.

    Shapes are checked, every update and every sentence is worked out again from its recorded
    inputs, every seal from what it covers. With --data the recorded queries are run on the data
    again, tests too, and what is cited is looked up. What was not checked, and what would, is told.
    Exit code 0 if nothing is wrong, 1 with the nodes that are.
    """
    from kgreason import api  # noqa: PLC0415 - keeps --help quick

    chosen = checked(out, format_, o.LISTS)
    if not data and (shapes or ontology or axioms or whole):
        raise OptionError("--shapes, --axioms, --ontology and --all are of use with --data PATH.")
    found = api.OpenLedger(ledger, extend=extend or ()).audit(
        which,
        data=data or (),
        shapes=shapes or (),
        ontology=ontology or (),
        axioms=axioms or (),
        sample=None if whole else sample,
        seed=seed,
        second_engine=second_engine,
        pin=pin,
    )
    if chosen is o.ListFormat.JSON:
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
        "said": list(found.said),
        "unchecked": [{"what": one.what, "by": one.by} for one in found.unchecked],
    }


@command(
    'query "SELECT ?s ?c { ?h trails:statement ?s ; trails:confidence ?c }"',
    "query @question.rq --format csv",
    "query --file question.rq --ledger history/ --format json",
    'query "SELECT ?g (COUNT(*) AS ?n) { GRAPH ?g { ?s ?p ?o } } GROUP BY ?g" --data data/',
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
        o.TableFormat | None,
        typer.Option(
            "--format",
            "-f",
            metavar="table|csv|json",
            show_default="by the ending of --out, else table",
            help="How the rows of a SELECT are written; a CONSTRUCT gives Turtle.",
        ),
    ] = None,
    out: o.Out = None,
    data: Annotated[
        list[str] | None,
        typer.Option(
            "--data",
            metavar="PATH…",
            rich_help_panel=o.HELD,
            show_default="the reasoning history is asked",
            help="Ask these data instead, as an investigation loads them; - is stdin.",
        ),
    ] = None,
    ontology: Annotated[
        list[str] | None,
        typer.Option(
            "--ontology",
            metavar="FILE…",
            rich_help_panel=o.HELD,
            show_default=False,
            help="With --data: read these beside the data.",
        ),
    ] = None,
    query_seconds: o.QuerySeconds = 60.0,
    allow_service: o.AllowService = False,
) -> None:
    """Ask the reasoning history any read-only SPARQL, or with --data the data.

    The named graph of the investigation is the default graph; GRAPH reaches all investigations of
    the ledger. The usual prefixes (trails:, prov:, rdfs:, xsd: and the like) need no declaration.
    The query runs in a process of its own with a time limit. Of data, all together are the default
    graph, and each file is a named graph, <urn:src:NAME>.
    """
    from kgreason import api  # noqa: PLC0415 - keeps --help quick

    chosen = checked(out, format_, o.ANSWERS)
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
    if data:
        if which is not None:
            raise OptionError("--data asks the data, and no investigation; leave one of them out.")
        found = api.query(
            o.paths(data),
            text,
            ontology=o.paths(ontology),
            seconds=query_seconds,
            allow_service=allow_service,
            where=where,
        )
        deliver(answers.written(found, chosen), out)
        return
    if ontology:
        raise OptionError("--ontology is of use with --data PATH.")
    answer = api.OpenLedger(ledger).query(
        text, which, seconds=query_seconds, allow_service=allow_service, where=where
    )
    deliver(answers.written(answer, chosen), out)


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
    "history why-this-confidence --hypothesis H2",
    "history what-supports I1 --ledger history/ --format csv",
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
            help="Ask about one hypothesis, such as H1, or its IRI.",
        ),
    ] = None,
    ledger: o.LedgerFolder = o.DEFAULT_LEDGER,
    extend: o.Extend = None,
    format_: o.TableAs = None,
    out: o.Out = None,
) -> None:
    """Ask a stored question about how a result came about; without a name, list the questions."""
    from kgreason import api  # noqa: PLC0415 - keeps --help quick
    from kgreason.record import lettered  # noqa: PLC0415

    chosen = checked(out, format_, o.TABLES)
    if name is None:
        deliver(table(("name", "question"), list(api.questions(extend or ()).items())), out)
        return
    which = None if which is None else lettered(which, "I", "with --hypothesis")
    name = "-".join(name.lower().rstrip("?").split())
    with api.result(ledger, which, extend=extend or ()) as result:
        rows = result.ask(name, hypothesis=hypothesis)
        if chosen is o.TableFormat.TABLE:
            deliver(answers.stored(rows, result.record), out)
        else:
            deliver(answers.written(rows, chosen), out)
