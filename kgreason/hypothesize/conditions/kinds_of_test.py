"""Sets of tests on the end of a path, by what they look at: the files of queries/condition/."""

from typing import Final

NUMBERS: Final = frozenset({"many", "few"})
"""How many ends there are."""
THERE: Final = frozenset({"exists", "missing"})
"""Whether there is an end."""
BOUND: Final = "from"
"""From some value on."""
BOUNDS: Final = frozenset({BOUND, "until", "window", "many", "few"})
"""How great the end is, or how many there are."""
OTHERS: Final = frozenset({"all-but", "lacks"})
"""That the end is another one."""
LACKS: Final = frozenset({"missing", "lacks", "few"})
"""That there is no end, no such end, or that there are few."""
WRITTEN: Final = frozenset({"numbered", "outline"})
"""How a text is written, by an example."""
TEXTS: Final = frozenset({"contains", "form", "prefix", "namespace", "elsewhere"}) | WRITTEN
"""What the text of the end is like."""
BEGINNINGS: Final = frozenset({"prefix", "namespace"})
"""What the text of the end begins with."""
WHETHER: Final = THERE | OTHERS | {"few"}
"""Whether there is such an end, or another one, or few."""
CALENDAR: Final = frozenset({"weekday", "hours", "months"})
"""In which part of a week, a day or a year a time lies."""
LETTERS: Final = frozenset({"form"}) | WRITTEN
"""What letters and signs a text is made of."""
PIECES: Final = LETTERS | {"contains"}
"""Pieces of a text, and how it is made."""
KINDS: Final = frozenset({"datatype", "language", "node-kind"})
"""What kind of value the end is."""
VALUES: Final = frozenset({"equals", "one-of"}) | OTHERS | BOUNDS
"""Which value the end is."""
