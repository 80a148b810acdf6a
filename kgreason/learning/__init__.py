"""Learning a calibration: from trials whose truth is known, and from judgements of people."""

from kgreason.learning.learn import Learned, learn
from kgreason.learning.sources import Case, judged, trials

__all__ = ["Case", "Learned", "judged", "learn", "trials"]
