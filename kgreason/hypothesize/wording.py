"""Words for a candidate: those of its family, unless its proposer gave others."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Final

from pyoxigraph import Literal, NamedNode

from kgreason.base.store import Term
from kgreason.base.templates import Template
from kgreason.base.terms import TRAILS, WORK
from kgreason.graph.names import Names, unlabelled
from kgreason.hypothesize import several
from kgreason.hypothesize.candidates import Candidate
from kgreason.hypothesize.conditions import seam as conditions
from kgreason.shacl import Constraint


@dataclass(frozen=True)
class Wording:
    """A hypothesis in words."""

    statement: str
    mechanism: str
    prediction: str


_PLACE: Final = re.compile(r"\{(\w+)\}")
_WORDS: Final = frozenset(each.name for each in fields(Wording))


MORE_OFTEN: Final = "more often than others"
"""What is said beside the verb where less than half of a region fails."""


def wording(
    candidate: Candidate, names: Names, constraint: Constraint, *, narrows: bool = False
) -> Wording:
    """Put a candidate into words; where it `narrows`, less than half of its region fails."""
    told: dict[str, str] = {name: _told(term, names) for name, term in candidate.values.items()}
    told |= conditions.told(candidate.values, names)
    if told.get("dimension") == told.get("level"):
        # Two properties of the same local name: only their full IRIs tell them apart.
        told |= {n: str(t) for n, t in candidate.values.items() if isinstance(t, NamedNode)}
    told |= _alike(candidate.values)
    if candidate.parts:
        parts = [wording(part, names, constraint).statement for part in candidate.parts]
        ending = f" {_verb(constraint)}."
        clauses = [p.removesuffix(ending).removeprefix("Nodes ") for p in parts]
        told["parts"] = "Nodes " + " and ".join(clauses)
    made = phrase(candidate.family, told, constraint, narrows=narrows)
    said = {name: text for name, text in candidate.said.items() if name in _WORDS}
    return replace(made, **said)


def _alike(values: Mapping[str, Term]) -> dict[str, str]:
    """Return the full IRIs of several terms of one local name, by what they are bound to."""
    terms = {name: term for name, term in values.items() if isinstance(term, NamedNode)}
    kin = Counter(unlabelled(term) for term in set(terms.values()))
    return {name: str(term) for name, term in terms.items() if kin[unlabelled(term)] > 1}


def _told(term: Term, names: Names) -> str:
    """Return what a term is called; words that a family made are told as they are."""
    if several.is_several(term):
        return several.told(term, names)
    words = isinstance(term, Literal) and term.datatype == WORK.words
    return term.value if words and isinstance(term, Literal) else names(term)


def _verb(constraint: Constraint) -> str:
    """Describe what a node with bad outcome does: a user's own outcome need not be a failure."""
    return "have the outcome" if constraint.component == TRAILS.OutcomeQuery else "fail"


def _unsaid(text: str, told: Mapping[str, str]) -> dict[str, str]:
    """Return what stands for words that a family would have bound; a suggestion has but its terms.

    What is joined to the word before it only adds to that; in place of any other stands the level.
    """
    level = told.get("level", "another value")
    return {
        found[1]: level if text[found.start() - 1 : found.start()] in (" ", "“", "") else ""
        for found in _PLACE.finditer(text)
        if found[1] not in told
    }


def phrase(
    family: Template,
    told: Mapping[str, str],
    constraint: Constraint,
    statement: str = "statement",
    *,
    narrows: bool = False,
) -> Wording:
    """Fill a family's sentences in; `statement` names the one that says what is the case.

    Where it `narrows`, less than half of the region fails, and it does so more often than others.
    """
    verb = _verb(constraint)
    failures = "The failures" if verb == "fail" else "The nodes with the outcome"
    told = {**told, "fail": verb, "Failures": failures}

    def fill(key: str) -> str:
        text = family.header[key]
        if narrows and key == "statement":
            text = text.replace("{fail}", f"{{fail}} {MORE_OFTEN}")
        for name, value in (_unsaid(text, told) | told).items():
            text = text.replace("{" + name + "}", value)
        return text

    return Wording(fill(statement), fill("mechanism"), fill("prediction"))
