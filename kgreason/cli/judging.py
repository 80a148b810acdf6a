"""The commands by which confidence is held to the truth: verdict, calibrate."""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kgreason.cli import options as o
from kgreason.cli.errors import command, tell
from kgreason.cli.output import check_out, deliver

if TYPE_CHECKING:
    from kgreason.learning import Learned


class Said(StrEnum):
    """What a person says of a hypothesis."""

    RIGHT = "right"
    WRONG = "wrong"


def add_to(app: typer.Typer) -> None:
    """Add the commands to the program."""
    for made in (verdict, calibrate):
        app.command()(made)


@command(
    'verdict 3 right --by "Ada Lovelace"',
    'verdict 1 wrong --by Ada --note "The feed was empty that day." --investigation 2',
)
def verdict(
    hypothesis: Annotated[
        str, typer.Argument(metavar="HYPOTHESIS", help="Its number in the investigation, or IRI.")
    ],
    said: Annotated[Said, typer.Argument(metavar="right|wrong", help="What you say of it.")],
    person: Annotated[
        str, typer.Option("--by", metavar="WHO", show_default=False, help="The name of who judges.")
    ],
    note: Annotated[
        str | None, typer.Option(metavar="TEXT", show_default=False, help="Why, in a sentence.")
    ] = None,
    investigation: Annotated[
        str | None,
        typer.Option(metavar="N|IRI", show_default="the latest", help="The investigation."),
    ] = None,
    ledger: o.LedgerFolder = o.DEFAULT_LEDGER,
) -> None:
    """Record what a person says of a hypothesis of a finished investigation: right or wrong.

    It is appended; nothing that was concluded changes. Of several judgements by one person the last
    counts; `kgreason calibrate --ledger` learns from them.
    """
    from kgreason.review.judge import contradiction, judge  # noqa: PLC0415 - keeps --help quick

    found = judge(
        ledger,
        hypothesis,
        _plain(person),
        right=said is Said.RIGHT,
        note=None if note is None else _plain(note),
        which=investigation,
    )
    deliver(f"{found.node.value}: {found.hypothesis.value} is {said.value}.", None)
    clash = contradiction(found.opinions)
    if clash is not None:
        tell(clash)


def _plain(text: str) -> str:
    """Give a text that RDF can hold: what the shell passed on may be no Unicode."""
    return text.encode("utf-8", "replace").decode()


@command(
    "calibrate results/results.json --out calibration.ttl",
    "calibrate a/results.json b/results.json --ledger .kgreason --with-features --out mine.ttl",
)
def calibrate(
    results: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="RESULTS.json…",
            show_default=False,
            help="Results of `kgreason bench --out DIR`.",
        ),
    ] = None,
    ledger: Annotated[
        list[str] | None,
        typer.Option(
            "--ledger",
            metavar="DIR",
            show_default=False,
            help="A ledger with judgements of people (`kgreason verdict`). Give it again for more.",
        ),
    ] = None,
    policy: Annotated[
        str, typer.Option(metavar="NAME", help="Learn from what was ruled by this policy alone.")
    ] = "frame",
    with_features: Annotated[
        bool,
        typer.Option(
            "--with-features",
            help="Go by the confidence plus the adjustment of the verdict, where that is known.",
        ),
    ] = False,
    out: Annotated[
        str | None,
        typer.Option(metavar="FILE.ttl", show_default="stdout", help="Where the map is written."),
    ] = None,
) -> None:
    """Learn how probable it is that a leader is right, given its confidence.

    From trials whose truth is known and from judgements of people. The map can be used by `kgreason
    investigate --calibration FILE.ttl`. How well it does out of fold is told on stderr.
    """
    from kgreason import learning  # noqa: PLC0415 - keeps --help quick
    from kgreason.errors import OptionError  # noqa: PLC0415

    check_out(out)
    if not results and not ledger:
        raise OptionError("What to learn from? Give RESULTS.json of `kgreason bench`, or --ledger.")
    cases = [case for file in results or () for case in learning.trials(file)]
    for folder in ledger or ():
        judged, notices = learning.judged(folder)
        cases += judged
        for notice in notices:
            tell(notice)
    found = learning.learn(cases, policy, features=with_features)
    if len(found.cases) < len(cases):
        tell(f"{len(cases) - len(found.cases)} of {len(cases)} cases are left out.")
    tell(_told(found))
    deliver(found.calibration.turtle(), out)


def _told(found: "Learned") -> str:
    """Say what was learned and how well it does."""
    steps = f"{len(found.blocks)} step{'s' if len(found.blocks) > 1 else ''}"
    of = f"{len(found.cases)} cases, {found.judged} of them judged by people: {steps}"
    if found.after is None:
        return f"{of}; too few to validate."
    return (
        f"{of}. ECE {_number(found.before['ece'])} raw, {_number(found.after['ece'])} calibrated; "
        f"Brier {_number(found.before['brier'])} raw, {_number(found.after['brier'])} calibrated "
        f"({found.folds} folds by {found.folded_by})."
    )


def _number(value: Any) -> str:
    return f"{value:.4f}"
