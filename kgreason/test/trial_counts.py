"""Judge the counts of a repair that was tried on the scratch copy."""

from collections.abc import Mapping
from typing import Final

from kgreason.record.test_kinds import CLEARS
from kgreason.test.direct_check import HOLDS
from kgreason.test.finding import Finding, decimal, percent

RECORDED: Final = (
    "claimed",
    "holds",
    "violationsCaused",
    "touchedOutside",
    "placeboTried",
    "placeboCleared",
)
"""The counts from which the outcome follows; evidence keeps them."""


def judged(figures: Mapping[str, int]) -> Finding:
    """Judge the counts of a trial.

    out-of-scope: something was changed that was not declared. unchanged: no violation is gone.
    harmful: new ones came. partly: less than 95 % are gone. unspecific: it clears more than 5 % of
    those at nodes where it should not. cleared: none of these. undetermined: nothing is claimed.
    """
    claimed, holds = figures["claimed"], figures["holds"]
    caused, strays = figures["violationsCaused"], figures["touchedOutside"]
    tried, cleared = figures["placeboTried"], figures["placeboCleared"]
    rate = holds / claimed if claimed else 0.0
    if strays:
        outcome = "out-of-scope"
    elif not claimed:
        outcome = "undetermined"
    elif not holds:
        outcome = "unchanged"
    elif caused:
        outcome = "harmful"
    elif rate < HOLDS:
        outcome = "partly"
    else:
        outcome = "unspecific" if tried and cleared / tried > CLEARS else "cleared"
    note = (
        f"On a scratch copy the repair removes {holds} of {claimed} violations "
        f"({percent(holds, claimed)}), leaves {claimed - holds} and causes {caused}"
    )
    note += (
        f"; at nodes where it should do nothing it removes {cleared} of {tried}."
        if tried
        else "; where it should do nothing, nothing fails."
    )
    if strays:
        note += f" It touched {strays} statements outside what it declares."
    return Finding(outcome, note, {"rate": decimal(rate), **{n: figures[n] for n in RECORDED}})
