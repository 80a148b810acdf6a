"""What a hypothesis was made of, as text: its family and the terms that it bound."""

import json
from dataclasses import replace
from typing import Any, Final

import pyoxigraph as ox

from kgreason.probes.statistics import Table
from kgreason.reasoners.candidates import Candidate, View, both, filled, regions
from kgreason.store import Term
from kgreason.templates import template
from kgreason.terms import RDF

_NOTHING: Final = Table(0, 0, 0, 0)


def written(candidate: Candidate) -> ox.Literal:
    """Give the bindings of a candidate as a JSON literal, from which `read` makes it again."""
    text = json.dumps(_plain(candidate), ensure_ascii=False, sort_keys=True)
    return ox.Literal(text, datatype=RDF.JSON)


def read(view: View, text: str) -> Candidate:
    """Make a candidate again, with its counts as a view has them; raises TemplateError."""
    return filled(view, _made(view, json.loads(text)))


def _plain(candidate: Candidate) -> dict[str, Any]:
    values = {
        name: str(term)
        for name, term in candidate.values.items()
        if isinstance(term, ox.NamedNode | ox.Literal)
    }
    out: dict[str, Any] = {"family": candidate.family.name, "values": values}
    if candidate.parts:
        out["parts"] = [_plain(part) for part in candidate.parts]
    return out


def _made(view: View, plain: dict[str, Any]) -> Candidate:
    family = template("hypothesize", plain["family"])
    values = {name: _term(text) for name, text in plain["values"].items()}
    if "parts" in plain:
        return joined(tuple(_made(view, part) for part in plain["parts"]))
    return Candidate(family, values, _NOTHING, *regions(family, values, view))


def joined(parts: tuple[Candidate, ...]) -> Candidate:
    """Give the candidate of what is inside all of several; its counts are not filled in."""
    made = parts[0]
    for part in parts[1:]:
        region, pattern = both(made.region, part.region), both(made.pattern, part.pattern)
        made = replace(made, region=region, pattern=pattern)
    family = template("hypothesize", "conjunction")
    return replace(made, family=family, table=_NOTHING, members=0, claimed=0, parts=parts)


def _term(text: str) -> Term:
    line = f"<urn:s> <urn:p> {text} ."
    found: list[Term] = [q.object for q in ox.parse(line, format=ox.RdfFormat.N_TRIPLES)]
    return found[0]
