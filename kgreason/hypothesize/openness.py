"""Open world: when a node is known to lie outside a region.

The header key `open` of a family names the properties or classes that its region depends on. A
node without a statement about these counts as outside only if all of them were declared complete.
"""

from typing import Final

from pyoxigraph import NamedNode

from kgreason.base.store import Term
from kgreason.base.templates import Fragment
from kgreason.context.view import View
from kgreason.hypothesize.candidates import Candidate, section

_ALL: Final = Fragment("")


def known_outside(view: View, candidate: Candidate, half: NamedNode) -> tuple[Fragment, bool]:
    """Return a pattern for the nodes that are known to lie outside if they do not match the region.

    The second value says whether everything that the region depends on is complete; then all other
    nodes lie outside too. A node lies outside a conjunction if it lies outside one of its parts.
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
    """Return a pattern for the nodes that have a statement about what the region depends on."""
    return section(part.family, "levels", part.values, view, half=half)


def _made_of(part: Candidate) -> set[Term]:
    """Return the properties and classes that a node may have no statement about."""
    if "levels" not in part.family.sections:
        return set()
    names = part.family.header.get("open", "").split()
    return {part.values[name] for name in names if name in part.values}
