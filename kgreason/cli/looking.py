"""The commands that look at data: investigate, symptoms, resume."""

import shutil
from dataclasses import asdict
from typing import Annotated, Any, Final

import typer

from kgreason.cli import endpoint_options as e
from kgreason.cli import gating as g
from kgreason.cli import model_options as m
from kgreason.cli import options as o
from kgreason.cli import source_options as s
from kgreason.cli.errors import command, resumable
from kgreason.cli.gating import Gate, add_summary
from kgreason.cli.live_view import Live, LiveView, both
from kgreason.cli.output import check_out, checked, deliver, json_text, on_terminal, table
from kgreason.cli.progress import Shown

_WIDEST: Final = 100
"""Columns beyond which lines of text are not read with ease."""
_HEADS: Final = ("name", "shape", "constraint", "path", "severity", "population", "failing")


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
    "investigate data/ --shapes shapes.ttl --hypothesis ideas.json --as Ada",
    "investigate data/ --shapes shapes.ttl --out report.html",
    "investigate https://example.org/sparql --shapes shapes.ttl --graph https://example.org/orders",
    "investigate data/ --shapes shapes.ttl --redact https://example.org/name",
    "investigate data/ --shapes shapes.ttl --fail-on cause --format json",
    "investigate data/ --shapes shapes.ttl --baseline main.json --fail-on new-cause",
)
def investigate(
    data: o.Data,
    shapes: o.Shapes = None,
    axioms: o.Axioms = None,
    violations: o.Violations = None,
    population: o.Population = None,
    outcome: o.Outcome = None,
    at: o.At = None,
    severity: o.Severity = None,
    only: o.Only = None,
    ontology: o.Ontology = None,
    complete: o.Complete = None,
    redact: o.Redact = None,
    lenient: o.Lenient = False,
    strict: o.Strict = False,
    query_seconds: o.QuerySeconds = 60.0,
    allow_service: o.AllowService = False,
    max_bytes: o.MaxBytes = o.DEFAULT_MAX_BYTES,
    memory: e.Memory = None,
    extend: o.Extend = None,
    hypothesis: o.Hypotheses = None,
    question: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT",
            rich_help_panel=o.RECORD,
            show_default=False,
            help="What you want to know, in your words; it is kept in the record.",
        ),
    ] = None,
    model: m.Model = None,
    max_tokens: m.MaxTokens = None,
    max_usd: m.MaxUsd = None,
    prices: m.Prices = None,
    source: s.Source = None,
    readings: s.Readings = None,
    tests: s.Tests = None,
    as_: o.As = None,
    correlation: o.Correlation = None,
    conversation: o.Conversation = None,
    ledger: o.LedgerFolder = o.DEFAULT_LEDGER,
    policy: o.Policy = o.DEFAULT_POLICY,
    calibration: o.Calibration = "default",
    seed: Annotated[
        int,
        typer.Option(metavar="N", rich_help_panel=o.RECORD, help="Draws the halves of the data."),
    ] = 0,
    format_: o.Format = None,
    out: o.Out = None,
    events: o.Events = None,
    fail_on: g.FailOnOption = None,
    baseline: g.Baseline = None,
    tolerate: g.Tolerate = None,
    allow_empty: g.AllowEmpty = False,
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
    try_repairs: Annotated[
        bool,
        typer.Option(
            "--try-repairs/--no-try-repairs",
            rich_help_panel=o.BUDGET,
            help="At the end, try a repair for each of the first three causes on a scratch copy, "
            "so that the answer tells what it would mend.",
        ),
    ] = True,
    max_steps: Annotated[
        int | None,
        typer.Option(
            metavar="N", rich_help_panel=o.BUDGET, show_default="no limit", help="Recorded steps."
        ),
    ] = None,
    max_seconds: o.MaxSeconds = None,
    jobs: o.Jobs = 1,
    queue: o.Queue = None,
    live: Live = False,
    graph: e.Graphs = None,
    dialect: e.DialectName = None,
    cap: e.Cap = 5000,
    ratio: e.Ratio = 4,
    hops: e.Hops = 2,
    pause: e.Pause = 0.0,
    auth: e.Auth = None,
    header: e.Headers = None,
    dry_run: e.DryRun = False,
) -> None:
    """Find out why data violate their shapes, or why an outcome comes about.

    The reasoning is recorded in the ledger as it happens; an interrupted run goes on with
    `kgreason resume`.
    """
    from kgreason import api  # noqa: PLC0415 - keeps --help quick

    chosen = chosen_report(out, format_)
    _check_events(events)
    asked = _asked(
        shapes,
        axioms,
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
        max_bytes=max_bytes,
        memory=memory,
        extend=extend or (),
    )
    asked |= {"question": _plain(question), "complete": complete or (), "jobs": jobs}
    asked |= {"queue": queue, "redact": redact or (), "policy": policy, "seed": seed}
    asked |= {"calibration": calibration, "max_hypotheses": max_hypotheses}
    asked |= {"interventions": interventions, "try_repairs": try_repairs}
    asked |= {"hypotheses": hypothesis, "principal": as_}
    asked |= {"correlation": correlation, "conversation": conversation}
    asked |= _limits(max_steps, max_seconds) | s.source_options(source, readings, tests)
    asked |= m.model_options(model, max_tokens, max_usd, prices)
    own = e.endpoint_options(data, graph, dialect, cap, ratio, hops, pause, auth, header)
    if dry_run:
        e.tell_estimate(data, {name: asked[name] for name in e.ESTIMATED} | own, out)
        return
    asked |= own
    gate = Gate.of(fail_on, baseline, tolerate, ledger, allow_empty=allow_empty)
    told, view = _stream(events), LiveView() if live else None
    with Shown(view) as shown, resumable(ledger, new=True):
        result = api.investigate(
            o.paths(data),
            ledger=ledger,
            progress=shown,
            notice=shown.notice,
            told=both(told, view),
            gate=fail_on is not None and not allow_empty,
            **asked,
        )
    given_out(result, chosen, out, ledger, gate, told)


@command(
    "resume",
    "resume I2 --ledger history/ --format json",
    "resume --baseline main.json --fail-on new-cause",
)
def resume(
    which: o.Which = None,
    ledger: o.LedgerFolder = o.DEFAULT_LEDGER,
    format_: o.Format = None,
    out: o.Out = None,
    events: o.Events = None,
    fail_on: g.FailOnOption = None,
    baseline: g.Baseline = None,
    tolerate: g.Tolerate = None,
    allow_empty: g.AllowEmpty = False,
    extend: o.Extend = None,
    jobs: o.Jobs = 1,
    queue: o.Queue = None,
    live: Live = False,
) -> None:
    """Go on with an interrupted investigation, to the same result as without interruption.

    Paths and options are in the ledger. A finished investigation only prints its result.
    """
    from kgreason import api  # noqa: PLC0415 - keeps --help quick

    chosen = chosen_report(out, format_)
    _check_events(events)
    gate = Gate.of(fail_on, baseline, tolerate, ledger, allow_empty=allow_empty)
    told = _stream(events)
    view = LiveView() if live else None
    with Shown(view) as shown, resumable(ledger, which, new=False):
        result = api.resume(
            ledger,
            which,
            extend=extend or (),
            jobs=jobs,
            queue=queue,
            progress=shown,
            notice=shown.notice,
            told=both(told, view),
        )
    given_out(result, chosen, out, ledger, gate, told)


@command(
    "symptoms data/ --shapes shapes.ttl",
    "symptoms data/ --shapes shapes.ttl --severity violation --format json",
    "symptoms data/ --axioms ontology.ttl",
    "symptoms data/ --outcome late.rq",
)
def symptoms(
    data: o.Data,
    shapes: o.Shapes = None,
    axioms: o.Axioms = None,
    violations: o.Violations = None,
    population: o.Population = None,
    outcome: o.Outcome = None,
    at: o.At = None,
    severity: o.Severity = None,
    only: o.Only = None,
    ontology: o.Ontology = None,
    redact: o.Redact = None,
    lenient: o.Lenient = False,
    strict: o.Strict = False,
    query_seconds: o.QuerySeconds = 60.0,
    allow_service: o.AllowService = False,
    max_bytes: o.MaxBytes = o.DEFAULT_MAX_BYTES,
    memory: e.Memory = None,
    extend: o.Extend = None,
    format_: o.ListAs = None,
    out: o.Out = None,
) -> None:
    """Only say what is wrong: each constraint that fails, with how many nodes of how many.

    Nothing is recorded.
    """
    from kgreason import api  # noqa: PLC0415 - keeps --help quick

    chosen = checked(out, format_, o.LISTS)
    asked = _asked(
        shapes,
        axioms,
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
        max_bytes=max_bytes,
        memory=memory,
        extend=extend or (),
        redact=redact or (),
    )
    with Shown() as shown:
        found = api.symptoms(o.paths(data), progress=shown, notice=shown.notice, **asked)
    told = [asdict(symptom) for symptom in found]
    if chosen is o.ListFormat.JSON:
        deliver(json_text(told), out)
    elif told:
        rows = [_row(symptom) for symptom in told]
        deliver(table(_HEADS, rows, numbers=_HEADS[5:]), out)
    else:
        deliver(" ".join(found.doubts) or "Nothing fails.", out)


def _asked(
    shapes: list[str] | None,
    axioms: list[str] | None,
    violations: str | None,
    population: str | None,
    outcome: str | None,
    at: float | None,
    severity: str | None,
    only: str | None,
    ontology: list[str] | None,
    max_bytes: str,
    memory: str | None = None,
    **others: Any,
) -> dict[str, Any]:
    """Return the options of a request as the API takes them."""
    m.finite("--at", at)
    m.finite("--query-seconds", others["query_seconds"])
    return {
        "shapes": o.paths(shapes),
        "axioms": o.paths(axioms),
        "ontology": o.paths(ontology),
        "violations": o.path(violations),
        "population": o.path(population),
        "outcome": o.path(outcome),
        "at": at,
        "severity": o.severity_iri(severity),
        "only": _plain(only),
        "max_bytes": o.size(max_bytes),
        "memory": None if memory is None else o.size(memory, "--memory"),
        **others,
    }


def _limits(max_steps: int | None, max_seconds: float | None) -> dict[str, Any]:
    m.finite("--max-seconds", max_seconds)
    return {"max_steps": max_steps, "max_seconds": max_seconds}


def _plain(text: str | None) -> str | None:
    """Return a text that RDF can hold: what the shell passed on may be no Unicode."""
    return None if text is None else text.encode("utf-8", "replace").decode()


def _check_events(events: str | None) -> None:
    if events is not None:
        check_out(events)


def _stream(events: str | None) -> Any:
    """Return what writes events to a file as they happen, where that is asked for."""
    if events is None:
        return None
    from kgreason.review.events import Stream  # noqa: PLC0415 - keeps --help quick

    return Stream(events)


def given_out(
    result: Any,
    format_: o.ReportFormat,
    out: str | None,
    ledger: str,
    gate: Gate | None = None,
    told: Any = None,
    *,
    everything: bool = False,
) -> None:
    """Write a result in the format wanted, and end with 1 where the gate asks for it."""
    with result:
        if told is not None:
            told.end(result.record)
        if gate is not None:
            gate.refuse(result)
        deliver(written(result, format_, ledger, out, everything=everything), out)
        if gate is not None and gate.closes(result):
            raise typer.Exit(1)


def chosen_report(out: str | None, format_: o.ReportFormat | None) -> o.ReportFormat:
    """Return the format of a result: on a terminal the summary, unless another was asked for."""
    chosen = checked(out, format_, o.REPORTS)
    return o.ReportFormat.SUMMARY if format_ is None and on_terminal(out) else chosen


def written(
    result: Any,
    format_: o.ReportFormat,
    ledger: str,
    out: str | None = None,
    *,
    everything: bool = False,
) -> str:
    """Return a result as text; the commands in a summary name the ledger where it is another.

    With annotations for GitHub a job summary is written too.
    """
    if format_ in o.FOR_TOOLS:
        if format_ is o.ReportFormat.GITHUB:
            add_summary(result)
        return str(result.formatted(format_.value))
    if format_ is o.ReportFormat.SUMMARY:
        width = min(shutil.get_terminal_size().columns, _WIDEST) if on_terminal(out) else None
        named = None if ledger == o.DEFAULT_LEDGER else ledger
        short: str = result.summary(ledger=named, everything=everything, width=width)
        return short
    if format_ is o.ReportFormat.HTML:
        page: str = result.html(ledger=None if ledger == o.DEFAULT_LEDGER else ledger)
        return page
    makers = {
        o.ReportFormat.MD: result.markdown,
        o.ReportFormat.JSON: result.json,
        o.ReportFormat.TTL: result.turtle,
    }
    text: str = makers[format_]()
    return text


def _row(symptom: dict[str, Any]) -> tuple[str, ...]:
    """Return a symptom as cells for people: IRIs by their last part, an axiom by its own name."""
    from kgreason.graph.names import local_name, path_name  # noqa: PLC0415 - keeps --help quick

    path = path_name(symptom["path"] or "")
    asks = "axiom" if symptom["axiom"] else "constraint"
    parts = [local_name(symptom[part] or "") for part in ("shape", asks, "severity")]
    parts[1] = parts[1].removesuffix("ConstraintComponent")
    counts = (str(symptom["population"]), str(symptom["failing"]))
    return (symptom["name"], parts[0], parts[1], path, parts[2], *counts)
