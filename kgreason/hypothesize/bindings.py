"""What a hypothesis was made of, as text: its family and the terms that it bound."""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import pyoxigraph as ox

from kgreason.base.errors import TemplateError
from kgreason.base.statistics import Table
from kgreason.base.store import Term
from kgreason.base.templates import Template, template
from kgreason.base.terms import RDF
from kgreason.context.view import View
from kgreason.hypothesize.candidates import Candidate, both, filled, regions
from kgreason.hypothesize.conditions.seam import WRITTEN, remade
from kgreason.hypothesize.free_region import FreeRegion
from kgreason.record import cited, uncited
from kgreason.record.agents import FAMILIES

_NOTHING: Final = Table(0, 0, 0, 0)
_PATTERN: Final = "pattern"
_SUGGESTED: Final = "suggested"
NUMBER: Final = "suggestion"
"""Under this name the words of a candidate have the number of the suggestion that it was."""


def written(candidate: Candidate) -> ox.Literal:
    """Return the bindings of a candidate as a JSON literal, from which `read` makes it again."""
    text = json.dumps(_plain(candidate), ensure_ascii=False, sort_keys=True)
    return ox.Literal(text, datatype=RDF.JSON)


def read(view: View, text: str) -> Candidate:
    """Make a candidate again, with its counts as a view has them; raises TemplateError."""
    return filled(view, _made(view, json.loads(text)))


def terms_of(text: str) -> dict[str, Term]:
    """Return the terms that bindings, as JSON, have, by name; none of a conjunction."""
    return {name: term(one) for name, one in json.loads(text).get("values", {}).items()}


def known(view: View, text: str) -> Candidate | None:
    """Make a candidate again, its parts too, or give None where its family is there no more."""
    try:
        made = read(view, text)
    except TemplateError:
        return None
    return replace(made, parts=tuple(filled(view, part) for part in made.parts))


def way(term: Term) -> str:
    """Return the name of a way of refinement by its concept: `add-condition` for AddCondition."""
    words = re.findall("[A-Z][a-z]*", term.value.rpartition("#")[2])
    return "-".join(word.lower() for word in words)


def _plain(candidate: Candidate) -> dict[str, Any]:
    values = {
        name: str(cited(term))
        for name, term in candidate.values.items()
        if not isinstance(term, ox.Triple)
    }
    out: dict[str, Any] = {"family": candidate.family.name, "values": values}
    if candidate.parts:
        out["parts"] = [_plain(part) for part in candidate.parts]
    if candidate.by:
        out["by"] = list(candidate.by)
    if candidate.said:
        out["said"] = dict(candidate.said)
    if candidate.paid is not None:
        out["paid"] = candidate.paid
    return out


def _made(view: View, plain: dict[str, Any]) -> Candidate:
    made = _wordless(view, plain)
    by, said = tuple(plain.get("by", ())), plain.get("said", {})
    return replace(made, by=by, said=said, paid=plain.get("paid"))


def _wordless(view: View, plain: dict[str, Any]) -> Candidate:
    family = template("hypothesize", plain["family"])
    values = {name: term(text) for name, text in plain["values"].items()}
    if WRITTEN in values:
        return remade(family, values)
    if _PATTERN in values and family.name == _SUGGESTED:
        return of_pattern(values[_PATTERN].value)
    if "parts" in plain:
        return joined(tuple(_made(view, part) for part in plain["parts"]))
    return made_of(view, family, values)


def made_of(view: View, family: Template, values: Mapping[str, Term]) -> Candidate:
    """Return the candidate of a family that bound some terms; its counts are not filled in.

    Raises TemplateError where they are not the terms that the family needs.
    """
    return Candidate(family, values, _NOTHING, *regions(family, values, view))


def of_pattern(text: str) -> Candidate:
    """Return the candidate of a checked pattern; its counts are not filled in."""
    free = FreeRegion(text)
    values: dict[str, Term] = {_PATTERN: ox.Literal(text)}
    family = template("hypothesize", _SUGGESTED)
    return Candidate(family, values, _NOTHING, free.region, free.pattern)


def joined(parts: tuple[Candidate, ...]) -> Candidate:
    """Return the candidate of what is inside all of several; its counts are not filled in."""
    made = parts[0]
    for part in parts[1:]:
        region, pattern = both(made.region, part.region), both(made.pattern, part.pattern)
        made = replace(made, region=region, pattern=pattern)
    family = template("hypothesize", "conjunction")
    made = replace(made, family=family, table=_NOTHING, members=0, claimed=0, parts=parts)
    by = {agent: None for part in parts for agent in proposers(part)}
    return replace(made, said={}, by=() if set(by) == {FAMILIES.iri.value} else tuple(by))


def proposers(candidate: Candidate) -> tuple[str, ...]:
    """Return the IRIs of the agents that proposed a candidate, or the parts that it is made of."""
    return candidate.by or (FAMILIES.iri.value,)


def term(text: str) -> Term:
    """Read a term as it stands in N-Triples; raises SyntaxError or ValueError where it is none."""
    line = f"<urn:s> <urn:p> {text} ."
    found: list[Term] = [q.object for q in ox.parse(line, format=ox.RdfFormat.N_TRIPLES)]
    return uncited(found[0])
