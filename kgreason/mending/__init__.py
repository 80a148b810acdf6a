"""The repair of a finished investigation: tried, written out or applied, and recorded."""

from kgreason.mending.results import Mended, Tried
from kgreason.mending.session import Wanted, repair

__all__ = ["Mended", "Tried", "Wanted", "repair"]
