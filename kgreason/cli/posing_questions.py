"""The command that takes an open question: ask."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, Self, cast

import typer

from kgreason.base.errors import OptionError
from kgreason.cli import model_options as m
from kgreason.cli import options as o
from kgreason.cli import source_options as s
from kgreason.cli import strategy_options as t
from kgreason.cli.errors import command, resumable, tell
from kgreason.cli.live_view import Live, LiveView, both
from kgreason.cli.looking import chosen_report, given_out
from kgreason.cli.progress import Shown

_OF_HYPOTHESES: Final = "--choose, --plain, --source, --readings and --tests are about hypotheses"


def add_to(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command(cls=o.Several)(ask)


@command(
    'ask "why do so many shipments lack a mass?" data/',
    'ask "which papers were retracted, and why?" data/ --choose 1 --format json',
    'ask "why is a code missing?" data/ --shapes shapes.ttl --yes',
    'ask "what makes shipments late?" data/ --model openai:qwen3 --yes',
    'ask "how many shipments have no mass?" data/ --strategy react',
    'ask "how many shipments have no mass?" data/ --stream jsonl',
    'ask "why is a code missing?" data/ --shapes shapes.ttl --strategies react,hypothesis',
)
def ask(
    question: Annotated[
        str, typer.Argument(metavar="QUESTION", show_default=False, help="What you want to know.")
    ],
    data: o.Data,
    shapes: o.Shapes = None,
    ontology: o.Ontology = None,
    lenient: o.Lenient = False,
    choose: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            rich_help_panel=o.INPUT,
            min=1,
            show_default="asked on a terminal",
            help="Which of the readings is meant, by its number.",
        ),
    ] = None,
    yes: Annotated[
        bool,
        typer.Option(
            "--yes",
            "-y",
            rich_help_panel=o.INPUT,
            help="Take the first reading, or the one that the model chooses, without asking.",
        ),
    ] = False,
    strategy: t.Strategy = None,
    strategies: t.Strategies = None,
    split: t.Split = None,
    goal: t.Goals = None,
    extend: o.Extend = None,
    model: m.Model = None,
    max_tokens: m.MaxTokens = None,
    max_usd: m.MaxUsd = None,
    prices: m.Prices = None,
    plain: Annotated[
        bool,
        typer.Option(
            "--plain",
            rich_help_panel=m.MODEL,
            help="No hypotheses compete: the model answers by itself, and nothing is tested. So it "
            "does anyway with --max-seconds under 30.",
        ),
    ] = False,
    max_seconds: o.MaxSeconds = None,
    jobs: o.Jobs = 1,
    queue: o.Queue = None,
    source: s.Source = None,
    readings: s.Readings = None,
    tests: s.Tests = None,
    as_: o.As = None,
    conversation: o.Conversation = None,
    ledger: o.LedgerFolder = o.DEFAULT_LEDGER,
    policy: o.Policy = o.DEFAULT_POLICY,
    format_: o.Format = None,
    out: o.Out = None,
    live: Live = False,
    stream: t.Stream = None,
) -> None:
    """Take an open question, and answer it by the strategy that suits it.

    The question is routed as by `kgreason route`, unless --strategy names the strategy; --choose,
    --plain, --source, --readings and --tests are about hypotheses, and ask for that strategy. --yes
    takes the first reading where one is to be chosen, and changes nothing else.

    For hypotheses, words of the question are held against the names in the graph: symptoms of
    --shapes, else outcome queries ("shipments without mass") with how many nodes they are about.
    One is chosen, and investigated as by `kgreason investigate`; the result is the same. Outcome
    queries are kept beside the ledger, to be changed and used again.
    """
    chosen = chosen_report(out, format_)
    chunks = t.streamed(stream, out, format_)
    question = question.encode("utf-8", "replace").decode()
    limits = m.model_options(model, max_tokens, max_usd, prices, plain=plain)
    asked: dict[str, Any] = {
        "shapes": o.paths(shapes),
        "ontology": o.paths(ontology),
        "lenient": lenient,
        "policy": policy,
        "extend": extend or (),
        **o.asking(as_, conversation),
        "max_seconds": max_seconds,
        "ledger": ledger,
        "folder": _folder(ledger),
        "jobs": jobs,
        **limits,
    }
    files = o.paths(data)
    said, question = question, _whole(question, files, asked)
    if strategies is not None:
        _one_of_them(strategy, chunks)
        t.compare(question, files, strategies, asked, out, as_json=chosen is o.ReportFormat.JSON)
        return
    of_readings = choose is not None or plain or source or readings or tests
    wanted = strategy or ("hypothesis" if of_readings else None)
    routing, offered = _read(question, said, files, asked, wanted)
    following = _Following.of(live, chunks)
    dividing = t.dividing(split, goal, routing.decision.pattern) | {"queue": queue}
    if routing.decision.pattern == "hypothesis":
        asked |= s.source_options(source, readings, tests) | {"plain": plain}
        asked |= {"routing": routing.decision.as_dict()} | dividing
        result = _by_hypotheses(question, files, offered, asked, limits, choose, following, yes=yes)
    elif of_readings:
        raise OptionError(f"{_OF_HYPOTHESES}; leave them out with --strategy {strategy}.")
    else:
        result = _by_strategy(question, files, asked | dividing, routing, following)
    _given_out(result, chosen, out, ledger, chunks)


def _read(
    question: str, said: str, files: Sequence[Any], asked: dict[str, Any], wanted: str | None
) -> tuple[Any, Sequence[Any]]:
    """Route a question; gives the readings of it, too, where it is one for hypotheses.

    Where it has none and asks for no cause, it is routed to the fallback, unless one is wanted.
    """
    from kgreason import api  # noqa: PLC0415 - keeps --help quick

    routing = _routed(question, said, asked, wanted)
    pattern = routing.decision.pattern
    if pattern != "hypothesis":
        return routing, ()
    terms = {name: asked[name] for name in ("shapes", "ontology", "lenient")}
    try:
        with Shown() as shown:
            return routing, api.readings(question, files, **terms, progress=shown)
    except api.UnreadError:
        if wanted or not api.asks_for_a_look(question):
            raise
        return _routed(question, said, asked, wanted, unread=pattern), ()


def _routed(
    question: str, said: str, asked: dict[str, Any], wanted: str | None, unread: str = ""
) -> Any:
    """Route a question, which was `said` in these words, to a strategy that is there."""
    from kgreason import api  # noqa: PLC0415 - keeps --help quick

    return api.routed(
        question,
        said=said,
        shapes=bool(asked["shapes"]),
        small_budget=asked["max_seconds"] is not None,
        model=asked["model"] is not None,
        wanted=wanted,
        unread=unread,
        **{name: asked[name] for name in ("principal", "conversation", "extend")},
    )


def _whole(question: str, files: Sequence[Any], asked: dict[str, Any]) -> str:
    """Return a question with what it takes over from the one before it; says so."""
    from kgreason import api  # noqa: PLC0415 - keeps --help quick

    names = ("ontology", "lenient", "conversation", "ledger", "extend")
    whole: str = api.whole_question(question, files, **{name: asked[name] for name in names})
    if whole != question:
        tell(f"This goes on from the question before it, and is read as: {whole}")
    return whole


def _given_out(result: Any, chosen: Any, out: str | None, ledger: str, chunks: Any) -> None:
    """Write the result, unless stdout is for chunks; ends with 1 where these were not written."""
    if chunks is None or out is not None:
        given_out(result, chosen, out, ledger)
    else:
        result.close()
    if chunks is not None and chunks.broken:
        raise typer.Exit(1)


def _one_of_them(strategy: str | None, chunks: Any) -> None:
    """Refuse what does not go with --strategies; raises OptionError."""
    if strategy is not None:
        raise OptionError("--strategy names one, --strategies several; give one of the two.")
    if chunks is not None:
        raise OptionError("--stream follows one strategy; leave it out with --strategies.")


@dataclass(frozen=True)
class _Following:
    """Who follows the work: the live view, if any, and what is told of each step, if anything."""

    view: LiveView | None
    told: Any

    @classmethod
    def of(cls, live: bool, chunks: Any) -> Self:
        """Return who follows."""
        view = LiveView() if live else None
        return cls(view, both(view, chunks))


def _by_strategy(
    question: str,
    files: Sequence[Any],
    asked: dict[str, Any],
    routing: Any,
    following: _Following,
) -> Any:
    """Work on a question by the strategy that the routing names; gives its result."""
    from kgreason import api  # noqa: PLC0415 - keeps --help quick

    tell(routing.decision.rationale)
    with Shown(following.view) as shown:
        more: dict[str, Any] = {"progress": shown, "notice": shown.notice, "told": following.told}
        return api.plan(question, files, routing=routing, **asked, **more).result


def _by_hypotheses(
    question: str,
    files: Sequence[Any],
    offered: Sequence[Any],
    asked: dict[str, Any],
    limits: dict[str, Any],
    choose: int | None,
    following: _Following,
    *,
    yes: bool,
) -> Any:
    """Let one of the readings that are offered be chosen, and investigate it."""
    from kgreason import api  # noqa: PLC0415 - keeps --help quick

    place, calls = 0, cast("Sequence[Any]", ())
    if choose is None and limits["model"] is not None:
        place, calls = api.chosen_by_model(question, offered, **limits)
    place = _chosen(offered, place, choose, yes=yes)
    tell(f"Looking into: {_told(offered[place])}.")
    if offered[place].query:
        tell(offered[place].query.strip())
    if offered[place].unread:
        tell(
            f"Not looked into: “{offered[place].unread}”, which names no property, value, class or "
            "source of these nodes."
        )
    with Shown(following.view) as shown, resumable(asked["ledger"], new=True):
        return api.ask(
            question,
            files,
            offered[place],
            calls=calls,
            progress=shown,
            notice=shown.notice,
            told=following.told,
            **asked,
        )


def _folder(ledger: str) -> Path:
    """Return where the outcome queries of questions are kept."""
    return Path(ledger).with_name(f"{Path(ledger).name}.questions")


def _told(one: Any) -> str:
    if one.every:
        return f"{one.words} ({one.failing} nodes)"
    return f"{one.words} ({one.failing} of {one.nodes} nodes)"


def _chosen(offered: Sequence[Any], place: int, choose: int | None, *, yes: bool) -> int:
    """Return the place of the reading that is meant; raises OptionError where nobody says it."""
    if choose is not None:
        if choose > len(offered):
            raise OptionError(f"--choose {choose}: there are {len(offered)} readings.")
        return choose - 1
    if yes or len(offered) == 1:
        return place
    for number, one in enumerate(offered, start=1):
        tell(f"{number} {_told(one)}")
    if not sys.stdin.isatty():
        raise OptionError(
            f"Which of these readings is meant? Say it with --choose N, or --yes for {place + 1}."
        )
    number = typer.prompt("Which one is meant?", default=place + 1, type=int, err=True)
    if not 1 <= number <= len(offered):
        raise OptionError(f"There is no reading {number}; there are {len(offered)}.")
    return int(number) - 1
