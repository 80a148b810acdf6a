"""From which confidence on a cause is of high certainty, of fair certainty, or fails a build."""

from typing import Final

from kgreason.base.figures import figure

HIGH: Final = figure("sureHigh")
FAIR: Final = figure("sureFair")
"""Below it certainty is called low."""
ENOUGH: Final = figure("sureEnough")
"""From here on `--fail-on cause` fails."""
