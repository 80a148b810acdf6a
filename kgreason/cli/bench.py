"""The command that measures: faults with a known cause, injected into any graph."""

import re
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kgreason.base.errors import OptionError, RunError
from kgreason.base.resources import DEFAULT_POLICY
from kgreason.cli import options as o
from kgreason.cli.errors import command
from kgreason.cli.output import deliver
from kgreason.cli.progress import Shown

if TYPE_CHECKING:
    from kgreason.inject import Trial


class BenchFormat(StrEnum):
    """How the results of a benchmark are written."""

    MD = "md"
    JSON = "json"
    TTL = "ttl"


def add_to(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command()(bench)


def faults() -> list[str]:
    """Return the names of what can be injected, for completion."""
    from kgreason.inject.designs import SETS, designs  # noqa: PLC0415 - keeps --help quick

    return [*SETS, *designs()]


def _completed(incomplete: str) -> list[str]:
    return [name for name in faults() if name.startswith(incomplete)]


def _baselines_completed(incomplete: str) -> list[str]:
    from kgreason.inject.baselines import BASELINES  # noqa: PLC0415 - keeps --help quick

    return [name for name in ("all", *BASELINES) if name.startswith(incomplete)]


@command(
    "bench --graph data/ --faults source,wrong-predicate,null-clustered --seeds 0:10",
    "bench --graph generated:5000 --faults all --seeds 0:3 --jobs 2 --out results",
    "bench --graph data.ttl --shapes shapes.ttl --ontology schema.ttl --faults drift",
    "bench --graph network:800 --faults nulls --seeds 0:20 --policy mine.ttl --out results",
)
def bench(
    graph: Annotated[
        list[str],
        typer.Option(
            "--graph",
            metavar="DATA",
            show_default=False,
            help="A sound graph: a file, a folder, or one made up with N focus nodes: generated:N "
            "(orders) or network:N (results with much behind them). Give the option again for "
            "each further graph.",
        ),
    ],
    fault: Annotated[
        str,
        typer.Option(
            "--faults",
            metavar="KIND,KIND…",
            show_default=False,
            autocompletion=_completed,
            help="What to inject, or a set: all, usual, hard or nulls; see docs/bench.md and "
            "`kgreason queries inject`.",
        ),
    ],
    seeds: Annotated[
        str,
        typer.Option(metavar="A:B", help="The seeds from A to B, B left out; one trial for each."),
    ] = "0:10",
    shapes: o.Shapes = None,
    ontology: o.Ontology = None,
    policy: o.Policy = DEFAULT_POLICY,
    baselines: Annotated[
        str | None,
        typer.Option(
            "--baselines",
            "--peers",
            metavar="NAME,NAME…",
            show_default=False,
            autocompletion=_baselines_completed,
            help="Other tools to run on the same data, or all; see docs/bench.md. Most need the "
            "extra `baselines`.",
        ),
    ] = None,
    jobs: Annotated[int, typer.Option(metavar="N", min=1, help="Trials run at a time.")] = 2,
    seconds: Annotated[
        float,
        typer.Option("--max-seconds", metavar="SECONDS", help="Stop a trial after this time."),
    ] = 600.0,
    format_: Annotated[
        BenchFormat,
        typer.Option("--format", "-f", metavar="md|json|ttl", help="How the result is written."),
    ] = BenchFormat.MD,
    out: Annotated[
        str | None,
        typer.Option(
            "--out",
            "-o",
            metavar="DIR",
            show_default="stdout",
            help="Write README.md, results.json and results.ttl to this folder; each trial is "
            "noted in trials.jsonl there as it ends.",
        ),
    ] = None,
    again: Annotated[
        bool,
        typer.Option(
            "--continue", help="Do not repeat the trials that --out holds from an earlier run."
        ),
    ] = False,
    keep: Annotated[
        str | None,
        typer.Option(
            metavar="DIR",
            show_default=False,
            help="Keep the data and shapes of each trial here, to look into one that failed.",
        ),
    ] = None,
) -> None:
    """Measure how often the cause of an injected fault is found.

    For each graph, fault and seed: break sound data on purpose, investigate them, and compare the
    answer with what was done. Without --shapes, constraints are derived from the data themselves:
    what holds for at least 98 % of a class with 200 instances or more.
    """
    from kgreason.inject import baselines as known  # noqa: PLC0415 - as above
    from kgreason.inject import bench_page as page  # noqa: PLC0415 - keeps --help quick
    from kgreason.inject import trial_log as notes  # noqa: PLC0415 - keeps --help quick
    from kgreason.inject import trials as running  # noqa: PLC0415 - keeps --help quick

    if again and out is None:
        raise OptionError("--continue: name the folder of the earlier run with --out.")
    folder = _folder(out)
    span = _range(seeds)
    rivals = () if baselines is None else known.chosen(baselines)
    with Shown() as shown:
        given = (graph, shapes or [], ontology or [])
        trials = _trials(given, fault, span, keep, (rivals, policy), shown)
        done = notes.read(folder, trials) if folder is not None and again else []
        left = notes.missing(trials, done)
        found = running.run(left, jobs, seconds, shown)
        found = found if folder is None else notes.taken(folder, found, anew=not again)
        results = running.in_order(trials, [*done, *found])
    makers = {
        BenchFormat.MD: page.as_markdown,
        BenchFormat.JSON: page.as_json,
        BenchFormat.TTL: page.as_turtle,
    }
    if folder is None:
        deliver(makers[format_](results))
    else:
        deliver(page.as_markdown(results), str(folder / "README.md"))
        deliver(page.as_json(results), str(folder / "results.json"))
        deliver(page.as_turtle(results), str(folder / "results.ttl"))
    failed = [r for r in results if r["outcome"] == "failed"]
    if failed:
        raise RunError(f"{len(failed)} of {len(results)} trials failed: {failed[0]['why']}")


def _range(text: str) -> range:
    found = re.fullmatch(r"(\d+):(\d+)", text)
    if not found or int(found[1]) >= int(found[2]):
        raise OptionError(f"--seeds {text}: write A:B with A less than B, such as 0:10.")
    return range(int(found[1]), int(found[2]))


def _folder(out: str | None) -> Path | None:
    if out is None:
        return None
    folder = Path(out)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OptionError(f"{out}: the folder cannot be made ({error.strerror}).") from error
    return folder


def _trials(
    given: tuple[list[str], list[str], list[str]],
    names: str,
    seeds: range,
    keep: str | None,
    how: tuple[tuple[str, ...], str],
    shown: Shown,
) -> "list[Trial]":
    from kgreason.inject import Trial, base_of, designs  # noqa: PLC0415 - as above
    from kgreason.inject import true_constraints as targets  # noqa: PLC0415 - keeps --help quick
    from kgreason.record import policy  # noqa: PLC0415 - as above

    graphs, shapes, ontology = given
    policy.load(how[1])  # a wrong name is told before anything is run
    chosen = designs.chosen(names)
    out: list[Any] = []
    for name in graphs:
        shown(f"reading {name}", 0, 0)
        base = base_of(name, [Path(path) for path in ontology])
        known = tuple(targets.given(base, [Path(p) for p in shapes])) if shapes else ()
        known = known or tuple(targets.derive(base))
        out += [
            Trial(base, known, design, seed, Path(keep) if keep else None, *how)
            for design in chosen
            for seed in seeds
        ]
    return out
