"""What a hypothesis was made of, as text: its family and the terms that it bound."""

import json
import re
from dataclasses import replace
from typing import Any, Final

import pyoxigraph as ox

from kgreason.base.errors import TemplateError
from kgreason.base.statistics import Table
from kgreason.base.store import Term
from kgreason.base.templates import template
from kgreason.base.terms import RDF
from kgreason.context.view import View
from kgreason.hypothesize.candidates import Candidate, both, filled, regions
from kgreason.hypothesize.conditions.seam import WRITTEN, remade
from kgreason.record import cited, uncited

_NOTHING: Final = Table(0, 0, 0, 0)


def written(candidate: Candidate) -> ox.Literal:
    """Return the bindings of a candidate as a JSON literal, from which `read` makes it again."""
    text = json.dumps(_plain(candidate), ensure_ascii=False, sort_keys=True)
    return ox.Literal(text, datatype=RDF.JSON)


def read(view: View, text: str) -> Candidate:
    """Make a candidate again, with its counts as a view has them; raises TemplateError."""
    return filled(view, _made(view, json.loads(text)))


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
    return out


def _made(view: View, plain: dict[str, Any]) -> Candidate:
    family = template("hypothesize", plain["family"])
    values = {name: _term(text) for name, text in plain["values"].items()}
    if WRITTEN in values:
        return remade(family, values)
    if "parts" in plain:
        return joined(tuple(_made(view, part) for part in plain["parts"]))
    return Candidate(family, values, _NOTHING, *regions(family, values, view))


def joined(parts: tuple[Candidate, ...]) -> Candidate:
    """Return the candidate of what is inside all of several; its counts are not filled in."""
    made = parts[0]
    for part in parts[1:]:
        region, pattern = both(made.region, part.region), both(made.pattern, part.pattern)
        made = replace(made, region=region, pattern=pattern)
    family = template("hypothesize", "conjunction")
    return replace(made, family=family, table=_NOTHING, members=0, claimed=0, parts=parts)


def _term(text: str) -> Term:
    line = f"<urn:s> <urn:p> {text} ."
    found: list[Term] = [q.object for q in ox.parse(line, format=ox.RdfFormat.N_TRIPLES)]
    return uncited(found[0])
