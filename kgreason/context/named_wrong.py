"""Whether a rule itself names every value that breaks it."""

import re
from collections.abc import Iterator
from typing import Final

from pyoxigraph import Literal

from kgreason.base.store import Term
from kgreason.base.templates import Template, template
from kgreason.base.terms import SH, XSD
from kgreason.context.view import View
from kgreason.shacl import Constraint, Reading

_MOST: Final = 20  # more wrong values than these are not all named by a rule, and not all asked
_IRI: Final = re.compile(r"<[^<>\s]*>")
_ORDERED: Final = re.compile("[<>]")
_LENGTH: Final = re.compile(r"\bSTRLEN\s*\(", re.IGNORECASE)
_SHORT: Final = frozenset({"0", "1"})


def says_again(view: View, family: Template, reading: Reading | None) -> bool:
    """Check whether a family would only tell the wrong value that the rule itself names.

    That many nodes have the value “N/A” says a query again that asks who has `?value = "N/A"`.
    What else such values may be (a slip of a property, a dangling term) is no repetition, nor is
    what a family tells beside the value (their language), unless the rule asks for that
    (the header `repeats`).
    """
    if "beside-value" in family.header:
        asked = reading.components if reading is not None else frozenset()
        return not asked.isdisjoint(family.header.get("repeats", "").split())
    told = family.header.get("kind") == "value" and family.header.get("aspect") == "mechanism"
    return told and names_wrong(view, reading)


def names_wrong(view: View, reading: Reading | None) -> bool:
    """Check whether a rule, or a reading of a query, names every value by which nodes break it."""
    named = frozenset(_named(view.constraint))
    offending = reading.offending if reading is not None else view.constraint.violation
    if not named or offending is None or (reading is None and not view.names_values):
        return False
    key = f"wrong:{view.marks.failing.value}:{'' if reading is None else reading.path.text}"
    if key not in view.kept:
        text = template("context", "wrong-values").render(
            symptom=view.marks.failing, offending=offending
        )
        found = [row["value"] for row in view.graph.store.select(text) if "value" in row]
        bare = _IRI.sub("", view.constraint.violation.text)
        ordered = _ORDERED.search(bare) is not None
        told = all(_is_named(value, named, ordered=ordered) for value in found)
        view.kept[key] = 0 < len(found) <= _MOST and told
    return bool(view.kept[key])


def _is_named(value: Term, named: frozenset[str], *, ordered: bool) -> bool:
    """Check whether a value is one of those named; a number may be so as a bound."""
    number_like = isinstance(value, Literal) and value.datatype.value.startswith(XSD.iri)
    plain = not number_like or (isinstance(value, Literal) and value.datatype == XSD.string)
    return getattr(value, "value", None) in named and (plain or not ordered)


def _named(constraint: Constraint) -> Iterator[str]:
    """Return what a query names of those that fail, and what a shape says that no value may be."""
    if constraint.spoken is not None:
        yield from constraint.spoken
        # A length of nought is the empty text under another name.
        if _SHORT & constraint.spoken and _LENGTH.search(constraint.violation.text):
            yield ""
    shapes = constraint.shapes
    for denied in constraint.parameters.get(SH["not"], ()) if shapes is not None else ():
        if shapes is None or isinstance(denied, Literal):
            continue
        listed = [
            one for head in shapes.objects(denied, SH["in"]) for one in shapes.list(head) or ()
        ]
        for term in (*shapes.objects(denied, SH.hasValue), *listed):
            yield getattr(term, "value", "")
