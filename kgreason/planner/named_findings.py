"""How a question of a conversation names what an earlier one found: C1, H3, S1, it, or all."""

import re
from collections.abc import Iterable, Mapping
from typing import Final

from kgreason.observe.question_words import stems
from kgreason.planner.decision_list import intents_of

IT: Final = "it"
"""The name of the one cause of the latest question that found any."""
ALL: Final = "all of it"
"""The name of everything that was found."""
ASKS: Final = ("sure", "evidence", "nodes")
"""What can be asked of a finding beside how it stands now: intents of ontology/decisions.ttl."""

_NAME: Final = re.compile(r"(?<![\w.:-])(?P<name>[CHS]\d{1,4})(?![\w-])(?!\.\d)")
_OF: Final = re.compile(r"(?<![\w.:-])I(?P<number>\d{1,6})(?![\w-])")
_YEAR: Final = re.compile(r"(?<![\w.:-])(?P<year>[12]\d{3})(?![\w-])(?!\.\d)")
_BACK: Final = re.compile(
    r"\b(?:it|its|that|this|(?:this|that|the) (?:cause|finding))\b", re.IGNORECASE
)
_SPENT: Final = ("again", "filler", "found", "why", "cause", *ASKS)


def named(question: str) -> dict[str, str]:
    """Return what a question names of earlier findings, as arguments of the tool `finding`.

    It is empty where it names none. A pronoun counts only where no other word could be a name.
    """
    asked = intents_of(question)
    hit = _NAME.search(question)
    if hit is not None:
        found = {"name": hit["name"]}
    elif _left(question, asked):
        return {}
    elif "found" in asked:
        found = {"name": ALL}
    elif _BACK.search(question) and asked.keys() & {"again", *ASKS}:
        found = {"name": IT}
    else:
        return {}
    of, year = _OF.search(question), _YEAR.search(question)
    if of is not None:
        found["investigation"] = f"I{of['number']}"
    if year is not None:
        found["year"] = year["year"]
    wanted = [one for one in ASKS if one in asked]
    return found | ({"asks": ", ".join(wanted)} if wanted else {})


def _left(question: str, asked: Mapping[str, Iterable[str]]) -> frozenset[str]:
    """Return the stems of the words of a question that could be the name of something."""
    idle = " ".join(word for one in _SPENT for word in asked.get(one, ()))
    plain = _OF.sub(" ", _YEAR.sub(" ", question))
    return stems(plain) - stems(idle)
