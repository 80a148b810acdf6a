"""Open world: when a node that does not fit a region is known to lie outside of it.

A family names in its header (`open`) the properties or classes that its region is made of. That a
node says nothing of these puts it outside only where all of them were declared complete.
"""

from typing import Final

from pyoxigraph import NamedNode

from kgreason.base.store import Term
from kgreason.base.templates import Fragment
from kgreason.context.view import View
from kgreason.hypothesize.candidates import Candidate, section

_ALL: Final = Fragment("")


def known_outside(view: View, candidate: Candidate, half: NamedNode) -> tuple[Fragment, bool]:
    """Return pattern of those that say enough to tell that they lie outside, if they do not fit.

    And whether all that the region is made of is complete, so that the others lie outside too. A
    node is outside of a conjunction where it is outside of any part.
    """
    parts = candidate.parts or (candidate,)
    silent = [part for part in parts if _made_of(part)]
    complete = all(_made_of(part) <= view.complete for part in silent)
    if not complete:
        silent = [part for part in silent if not _made_of(part) <= view.complete]
    if not silent:
        return _ALL, True
    if not candidate.parts:
        return _said(view, candidate, half), complete
    ways = []
    prefixes: dict[str, str] = {}
    for part in parts:
        outside = f"NOT EXISTS {{ {part.pattern.text} }}"
        prefixes |= part.pattern.prefixes
        if any(part is each for each in silent):
            said = _said(view, part, half)
            prefixes |= said.prefixes
            outside = f"(EXISTS {{ {said.text} }} && {outside})"
        ways.append(outside)
    return Fragment(f"FILTER ({' || '.join(ways)})", prefixes), complete


def _said(view: View, part: Candidate, half: NamedNode) -> Fragment:
    """Return the pattern of those that say something of what a region is made of."""
    return section(part.family, "levels", part.values, view, half=half)


def _made_of(part: Candidate) -> set[Term]:
    """Return the properties and classes that a node may be silent about."""
    if "levels" not in part.family.sections:
        return set()
    names = part.family.header.get("open", "").split()
    return {part.values[name] for name in names if name in part.values}
