"""The commands by which confidence is held to the truth: verdict, calibrate."""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kgreason.base.resources import DEFAULT_POLICY
from kgreason.cli import options as o
from kgreason.cli.errors import command, tell
from kgreason.cli.output import checked, deliver

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kgreason.inject.calibration_cases import Case
    from kgreason.inject.learn_calibration import Learned


class Said(StrEnum):
    """What a person says of a hypothesis."""

    RIGHT = "right"
    WRONG = "wrong"


def add_to(app: typer.Typer) -> None:
    """Add the commands to the program."""
    for made in (verdict, calibrate):
        app.command()(made)


@command(
    'verdict H3 right --by "Ada Lovelace"',
    'verdict H1 wrong --by Ada --note "The feed was empty that day." --investigation I2',
)
def verdict(
    hypothesis: Annotated[
        str,
        typer.Argument(metavar="HYPOTHESIS", help="The hypothesis, such as H1, or its IRI."),
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
        typer.Option(
            metavar="INVESTIGATION",
            show_default="the latest",
            help="The investigation, such as I1, or its IRI.",
        ),
    ] = None,
    ledger: o.LedgerFolder = o.DEFAULT_LEDGER,
) -> None:
    """Record what a person says of a hypothesis of a finished investigation: right or wrong.

    It is appended; nothing that was concluded changes. Of several judgements by one person the last
    counts; `kgreason calibrate --ledger` learns from them.
    """
    from kgreason.record import lettered  # noqa: PLC0415 - keeps --help quick
    from kgreason.review.judge import contradiction, judge  # noqa: PLC0415 - keeps --help quick

    found = judge(
        ledger,
        lettered(hypothesis, "H", "with --investigation"),
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
    """Return a text that RDF can hold: what the shell passed on may be no Unicode."""
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
    ] = DEFAULT_POLICY,
    with_features: Annotated[
        bool,
        typer.Option(
            "--with-features",
            help="Go by the confidence plus the adjustment of the verdict, where that is known.",
        ),
    ] = False,
    force: Annotated[
        bool,
        typer.Option(
            "--force", help="Write the map even if out of fold it is worse than none, or untried."
        ),
    ] = False,
    fit_policy: Annotated[
        str | None,
        typer.Option(
            "--fit-policy",
            metavar="FILE.ttl",
            show_default=False,
            help="In place of a map, fit the threshold and the penalties of --policy, and write "
            "the policy with what does better out of fold to this file.",
        ),
    ] = None,
    out: Annotated[
        str | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE.ttl",
            show_default="stdout",
            help="Where the map is written.",
        ),
    ] = None,
) -> None:
    """Learn how probable it is that a leader is right, given its confidence.

    From trials whose truth is known and from judgements of people. The map can be used by `kgreason
    investigate --calibration FILE.ttl`. How well it does out of fold is told on stderr. It is not
    written if that is worse than without it, nor learned from fewer cases than the policy asks for.

    With --fit-policy a policy is proposed instead, with the figures before and after; who wants it
    names the file: `kgreason investigate --policy FILE.ttl`.
    """
    from kgreason.base.errors import OptionError, RunError  # noqa: PLC0415
    from kgreason.inject.calibration_cases import judged, trials  # noqa: PLC0415
    from kgreason.inject.calibration_rdf import calibration_of  # noqa: PLC0415
    from kgreason.inject.learn_calibration import learn  # noqa: PLC0415 - keeps --help quick

    checked(out, None, {"ttl": 0})
    if not results and not ledger:
        raise OptionError("What to learn from? Give RESULTS.json of `kgreason bench`, or --ledger.")
    cases = [case for file in results or () for case in trials(file)]
    for folder in ledger or ():
        found_there, notices = judged(folder)
        cases += found_there
        for notice in notices:
            tell(notice)
    if fit_policy is not None:
        _propose(cases, policy, fit_policy)
        return
    found = learn(cases, policy, features=with_features)
    if len(found.cases) < len(cases):
        tell(f"{len(cases) - len(found.cases)} of {len(cases)} cases are left out.")
    tell(_told(found))
    if len(found.cases) < found.least:
        raise OptionError(
            f"A map of {len(found.cases)} cases says nothing; the policy {policy} asks for "
            f"{found.least} (policy:calibrateFrom)."
        )
    if found.objection is not None:
        if not force:
            raise RunError(f"{found.objection} It is not written; --force writes it all the same.")
        tell(f"{found.objection} It is written since --force asks for it.")
    deliver(calibration_of(found).turtle(), out)


def _propose(cases: "Sequence[Case]", policy: str, file: str) -> None:
    """Fit the numbers of a policy, tell the figures, and write it where others do better."""
    from kgreason.inject.fit_policy import fitted, proposed, told  # noqa: PLC0415

    found = fitted(cases, policy)
    for line in told(found):
        tell(line)
    if any(one.better for one in found):
        deliver(proposed(found, policy), file)
    else:
        tell(f"No policy is written: out of fold nothing does better than {policy} as it is.")


def _told(found: "Learned") -> str:
    """Describe what was learned and how well it does."""
    steps = f"{len(found.blocks)} step{'s' if len(found.blocks) > 1 else ''}"
    of = f"{len(found.cases)} cases, {found.judged} of them judged by people: {steps}"
    if found.after is None:
        return (
            f"{of}. ECE {_number(found.before['ece'])} raw; one fold, so nothing to compare with."
        )
    return (
        f"{of}. ECE {_number(found.before['ece'])} raw, {_number(found.after['ece'])} calibrated; "
        f"Brier {_number(found.before['brier'])} raw, {_number(found.after['brier'])} calibrated "
        f"({found.folds} folds by {found.folded_by})."
    )


def _number(value: Any) -> str:
    return f"{value:.4f}"
