"""The commands that look at data: investigate, symptoms, resume."""

import math
import re
from typing import Annotated, Any, Final

import typer

from kgreason.cli import options as o
from kgreason.cli.errors import command, resumable
from kgreason.cli.output import check_out, deliver, json_text, table
from kgreason.cli.progress import Shown
from kgreason.errors import OptionError

_HEADS: Final = ("shape", "constraint", "path", "severity", "population", "failing")


def add_to(app: typer.Typer) -> None:
    """Add the commands to the program."""
    app.command(cls=o.Several)(investigate)
    app.command(cls=o.Several)(symptoms)
    app.command()(resume)


@command(
    "investigate data/ --shapes shapes.ttl",
    "investigate a.ttl b.nt.gz --shapes shapes.ttl --ontology schema.ttl",
    'investigate data/ --outcome late.rq --at 14 --question "Why so late?"',
    "investigate data/ --violations report.ttl --shapes shapes.ttl",
    "investigate data/ --shapes shapes.ttl --out report.html",
    "investigate data/ --shapes shapes.ttl --fail-on cause --format json",
)
def investigate(
    data: o.Data,
    shapes: o.Shapes = None,
    violations: o.Violations = None,
    population: o.Population = None,
    outcome: o.Outcome = None,
    at: o.At = None,
    severity: o.Severity = None,
    only: o.Only = None,
    ontology: o.Ontology = None,
    complete: o.Complete = None,
    lenient: o.Lenient = False,
    strict: o.Strict = False,
    query_seconds: o.QuerySeconds = 60.0,
    allow_service: o.AllowService = False,
    question: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT",
            rich_help_panel=o.RECORD,
            show_default=False,
            help="What you want to know, in your words; it is kept in the record.",
        ),
    ] = None,
    ledger: o.LedgerFolder = o.DEFAULT_LEDGER,
    policy: o.Policy = "frame",
    calibration: o.Calibration = "default",
    seed: Annotated[
        int,
        typer.Option(metavar="N", rich_help_panel=o.RECORD, help="Draws the halves of the data."),
    ] = 0,
    format_: o.Format = None,
    out: o.Out = None,
    events: o.Events = None,
    fail_on: Annotated[
        o.FailOn | None,
        typer.Option(
            metavar="violation|cause",
            rich_help_panel=o.RECORD,
            show_default=False,
            help="End with exit code 1 if anything fails, or if a cause was found.",
        ),
    ] = None,
    max_hypotheses: Annotated[
        int, typer.Option(metavar="N", rich_help_panel=o.BUDGET, help="Hypotheses a symptom.")
    ] = 6,
    interventions: Annotated[
        int,
        typer.Option(
            metavar="N",
            rich_help_panel=o.BUDGET,
            help="Repairs to try on a scratch copy, at most; what they clear is evidence.",
        ),
    ] = 0,
    max_steps: Annotated[
        int | None,
        typer.Option(
            metavar="N", rich_help_panel=o.BUDGET, show_default="no limit", help="Recorded steps."
        ),
    ] = None,
    max_seconds: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS",
            rich_help_panel=o.BUDGET,
            show_default="no limit",
            help="Seconds of work; what was found until then is the result.",
        ),
    ] = None,
) -> None:
    """Find out why data violate their shapes, or why an outcome comes about.

    The reasoning is recorded in the ledger as it happens; an interrupted run goes on with
    `kgreason resume`.
    """
    from kgreason import api  # noqa: PLC0415 - keeps --help quick

    check_out(out)
    check_out(events)
    asked = _asked(
        shapes,
        violations,
        population,
        outcome,
        at,
        severity,
        only,
        ontology,
        lenient=lenient,
        strict=strict,
        query_seconds=query_seconds,
        allow_service=allow_service,
    )
    asked |= {
        "question": _plain(question),
        "complete": complete or (),
        "policy": policy,
        "calibration": calibration,
        "seed": seed,
        "max_hypotheses": max_hypotheses,
        "interventions": interventions,
        "max_steps": max_steps,
        "max_seconds": max_seconds,
    }
    _finite("--max-seconds", max_seconds)
    told = _stream(events)
    with Shown() as shown, resumable(ledger, new=True):
        result = api.investigate(
            data, ledger=ledger, progress=shown, notice=shown.notice, told=told, **asked
        )
    _give(result, format_, out, fail_on, told)


@command(
    "resume",
    "resume 2 --ledger history/ --format json",
)
def resume(
    which: o.Which = None,
    ledger: o.LedgerFolder = o.DEFAULT_LEDGER,
    format_: o.Format = None,
    out: o.Out = None,
    events: o.Events = None,
) -> None:
    """Go on with an interrupted investigation, to the same result as without interruption.

    Paths and options are in the ledger. A finished investigation only prints its result.
    """
    from kgreason import api  # noqa: PLC0415 - keeps --help quick

    check_out(out)
    check_out(events)
    told = _stream(events)
    with Shown() as shown, resumable(ledger, which, new=False):
        result = api.resume(ledger, which, progress=shown, notice=shown.notice, told=told)
    _give(result, format_, out, told=told)


@command(
    "symptoms data/ --shapes shapes.ttl",
    "symptoms data/ --shapes shapes.ttl --severity violation --format json",
    "symptoms data/ --outcome late.rq",
)
def symptoms(
    data: o.Data,
    shapes: o.Shapes = None,
    violations: o.Violations = None,
    population: o.Population = None,
    outcome: o.Outcome = None,
    at: o.At = None,
    severity: o.Severity = None,
    only: o.Only = None,
    ontology: o.Ontology = None,
    lenient: o.Lenient = False,
    strict: o.Strict = False,
    query_seconds: o.QuerySeconds = 60.0,
    allow_service: o.AllowService = False,
    format_: Annotated[
        o.ListFormat,
        typer.Option("--format", metavar="table|json", help="How they are listed."),
    ] = o.ListFormat.TABLE,
    out: o.Out = None,
) -> None:
    """Only say what is wrong: each constraint that fails, with how many nodes of how many.

    Nothing is recorded.
    """
    from kgreason import api  # noqa: PLC0415 - keeps --help quick

    check_out(out)
    asked = _asked(
        shapes,
        violations,
        population,
        outcome,
        at,
        severity,
        only,
        ontology,
        lenient=lenient,
        strict=strict,
        query_seconds=query_seconds,
        allow_service=allow_service,
    )
    with Shown() as shown:
        _, sighting = api.symptoms(data, progress=shown, notice=shown.notice, **asked)
    if format_ is o.ListFormat.JSON:
        deliver(json_text([_symptom(seen) for seen in sighting.failing]), out)
    elif sighting.failing:
        rows = [_row(_symptom(seen)) for seen in sighting.failing]
        deliver(table(_HEADS, rows, numbers=_HEADS[4:]), out)
    else:
        deliver("Nothing fails.", out)


def _asked(
    shapes: list[str] | None,
    violations: str | None,
    population: str | None,
    outcome: str | None,
    at: float | None,
    severity: str | None,
    only: str | None,
    ontology: list[str] | None,
    **others: Any,
) -> dict[str, Any]:
    """Give the options of a request as the API takes them."""
    _finite("--at", at)
    _finite("--query-seconds", others["query_seconds"])
    return {
        "shapes": shapes or (),
        "ontology": ontology or (),
        "violations": violations,
        "population": population,
        "outcome": outcome,
        "at": at,
        "severity": o.severity_iri(severity),
        "only": _plain(only),
        **others,
    }


def _finite(option: str, value: float | None) -> None:
    if value is not None and not math.isfinite(value):
        raise OptionError(f"{option} must be a number, not {value}.")


def _plain(text: str | None) -> str | None:
    """Give a text that RDF can hold: what the shell passed on may be no Unicode."""
    return None if text is None else text.encode("utf-8", "replace").decode()


def _stream(events: str | None) -> Any:
    """Give what writes events to a file as they happen, where that is asked for."""
    if events is None:
        return None
    from kgreason.review.events import Stream  # noqa: PLC0415 - keeps --help quick

    return Stream(events)


def _give(
    result: Any,
    format_: o.ReportFormat | None,
    out: str | None,
    fail_on: Any = None,
    told: Any = None,
) -> None:
    """Write a result in the format wanted, and end with 1 where --fail-on asks for it."""
    with result:
        if told is not None:
            told.end(result.record)
        deliver(written(result, format_, out), out)
        if fail_on is None:
            return
        found = result.as_dict()
    bad = found["symptoms"] if fail_on is o.FailOn.VIOLATION else found["causes"]
    if bad:
        raise typer.Exit(1)


def written(result: Any, format_: o.ReportFormat | None, out: str | None) -> str:
    """Give a result as text; without a format the ending of the file decides."""
    if format_ is None:
        ending = (out or "").rpartition(".")[2].lower()
        known = {"html": "html", "htm": "html", "json": "json", "ttl": "ttl"}
        format_ = o.ReportFormat(known.get(ending, "md"))
    makers = {
        o.ReportFormat.MD: result.markdown,
        o.ReportFormat.HTML: result.html,
        o.ReportFormat.JSON: result.json,
        o.ReportFormat.TTL: result.turtle,
    }
    text: str = makers[format_]()
    return text


def _symptom(seen: Any) -> dict[str, Any]:
    """Give a symptom as in docs/result.schema.json, without what only an investigation knows."""
    constraint, observation = seen.constraint, seen.observation
    return {
        "id": f"urn:kgreason:symptom:{constraint.key}",
        "shape": constraint.named_shape.value if constraint.named_shape else None,
        "constraint": constraint.component.value if constraint.component else None,
        "path": constraint.path.text if constraint.path else None,
        "severity": constraint.severity.value if constraint.severity else None,
        "population": observation.population or 0,
        "failing": len(observation.failing),
    }


def _row(symptom: dict[str, Any]) -> tuple[str, ...]:
    """Give a symptom as cells for people: IRIs by their last part."""
    from kgreason.graph.names import local_name  # noqa: PLC0415 - keeps --help quick

    path = re.sub(r"<([^>]*)>", lambda found: local_name(found[1]), symptom["path"] or "")
    names = [local_name(symptom[name] or "") for name in ("shape", "constraint", "severity")]
    names[1] = names[1].removesuffix("ConstraintComponent")
    counts = (str(symptom["population"]), str(symptom["failing"]))
    return (names[0], names[1], path, names[2], *counts)
