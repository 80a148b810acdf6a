"""Read what a repair did when it was tried on the scratch copy."""

from collections.abc import Sequence

from kgreason.base.errors import RunError
from kgreason.base.store import Row
from kgreason.repair.trial import Trial, trial
from kgreason.test.finding import Finding, Setting
from kgreason.test.trial_counts import RECORDED, judged


def read(rows: Sequence[Row], setting: Setting) -> Finding:
    """Make the changes of the rows, look at what they do, and put the scratch copy back."""
    if setting.graph is None or setting.constraint is None:
        raise RunError("An intervention needs the graph and the constraint that it is about.")
    return found(trial(setting.graph, setting.constraint, rows, setting.level, setting.dimension))


def found(tried: Trial) -> Finding:
    """Return the outcome of a trial with its counts."""
    return judged({name: tried.figures[name] for name in RECORDED})
