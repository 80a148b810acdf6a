"""What an investigation is named by: a nonce, which whoever creates it draws once.

All its nodes are named after it (`urn:kgreason:NONCE:hypothesis:3`), so that records of several
ledgers, made by several people on the same data, can stand beside each other.
"""

import re
import secrets
from typing import Final

import pyoxigraph as ox

from kgreason.base.errors import OptionError

_BYTES: Final = 16  # a UUID of version 4 has 122 random bits
_FORM: Final = re.compile(r"[0-9a-z]{8,64}")


def named(nonce: str | None = None) -> ox.NamedNode:
    """Return the IRI of a new investigation, of a random nonce of 128 bits where none is given.

    Raises OptionError for a nonce that is not 8 to 64 digits and small letters.
    """
    if nonce is not None and _FORM.fullmatch(nonce) is None:
        raise OptionError(
            f"{nonce!r} cannot name an investigation; a nonce is 8 to 64 digits and letters a to z."
        )
    return ox.NamedNode(f"urn:kgreason:{nonce or secrets.token_hex(_BYTES)}")


def names_of(investigation: ox.NamedNode) -> re.Pattern[str]:
    """Return what finds the IRI of an investigation in a text, alone or at the head of a node's."""
    return re.compile(re.escape(investigation.value) + r"(?![0-9a-z])")
