"""From which confidence on a cause is called one of high certainty, or of fair certainty."""

from typing import Final

from kgreason.base.figures import figure

HIGH: Final = figure("sureHigh")
FAIR: Final = figure("sureFair")
"""Below it certainty is called low."""
