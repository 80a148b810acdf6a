"""What people call investigations, hypotheses, causes and broken rules by: I1, H3, C2, S1."""

import re
from typing import Final

from kgreason.base.errors import OptionError

_KINDS: Final = {"I": "an investigation", "H": "a hypothesis", "C": "a cause", "S": "a broken rule"}
_NUMBER: Final = re.compile(r"([A-Za-z]?)([0-9]+)")


def number_of(given: str, letter: str) -> str:
    """Return the number of what is called so, or the text as it is: an IRI.

    `letter` is I, H, C or S. Where no other meaning is possible the letter may be missing. Raises
    OptionError for the letter of another kind.
    """
    text = given.strip()
    found = _NUMBER.fullmatch(text)
    if found is None:
        return text
    meant = found[1].upper() or letter
    if meant != letter and meant in _KINDS:
        raise OptionError(
            f"{text} is {_KINDS[meant]}; here {_KINDS[letter]} is wanted, such as {letter}1."
        )
    return str(int(found[2])) if meant == letter else text


def lettered(given: str, letter: str, otherwise: str) -> str:
    """Return what was given where its kind is clear; raises OptionError for a number alone.

    It is for commands that know both kinds; `otherwise` says how the other kind is named there.
    """
    if given.strip().isdecimal():
        number = given.strip()
        other = "H" if letter == "I" else "I"
        raise OptionError(
            f"{number}: this could be {_KINDS['I']} or {_KINDS['H']}; say {letter}{number} for "
            f"{_KINDS[letter]} ({_KINDS[other]} is given {otherwise})."
        )
    return given
