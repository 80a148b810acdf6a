"""What a query binds to a variable, as text."""

import re
from typing import Final

_IRI: Final = re.compile(r"<([^<>\s]+)>")
_QUOTED: Final = re.compile(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'')
_NO_CODE: Final = re.compile(rf"{_QUOTED.pattern}|{_IRI.pattern}")


def bound_to(query: str, variable: str) -> list[str]:
    """Return the expressions that a query binds to a variable, without their brackets."""
    bare = _NO_CODE.sub(lambda found: "_" * len(found[0]), query)
    out = []
    for found in re.finditer(rf"\bAS\s+{re.escape(variable)}\s*\)", bare, re.IGNORECASE):
        depth, at = 1, found.start()
        while at > 0 and depth:
            at -= 1
            depth += {")": 1, "(": -1}.get(bare[at], 0)
        out.append(query[at + 1 : found.start()])
    return out
