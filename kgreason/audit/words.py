"""Sentences of a record, held to what they tell of.

A hypothesis is told in the words of its family, with the terms filled in that it is bound to; a
change of status is told in the words of its gate. A label that the graph has for a term cannot be
known here, so of an IRI with a label the local name is held to; the data show the rest. What was
suggested from outside is told in the words of the suggestion.
"""

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import permutations, product
from typing import Any, Final

import pyoxigraph as ox

from kgreason.audit.findings import Finding
from kgreason.audit.merged import History, Properties
from kgreason.base.extensions import cached
from kgreason.base.store import Term
from kgreason.base.templates import role
from kgreason.base.terms import PROV, TRAILS, TYPE, WORK
from kgreason.decide.claim import without_cause
from kgreason.graph.names import unlabelled
from kgreason.hypothesize import several
from kgreason.hypothesize.wording import MORE_OFTEN
from kgreason.record.agents import CONDITIONS, ENGINE, FAMILIES
from kgreason.record.joined import sentence
from kgreason.record.ranking import is_faint
from kgreason.record.together import said_together

RULE: Final = "words"
TOLD: Final = ("statement", "mechanism", "prediction")
_WAYS: Final = ("leftover", "unexamined")
"""Other words for the statement of a family, of what was left over or not looked into."""
_GAP: Final = re.compile(r"\{(\w+)\}")
_CAUSE: Final = re.compile(r'trails:cause "(?P<plain>[^"]*)"|BIND \((?P<made>.*) AS \?cause\)')
_PIECE: Final = re.compile(r'"(?P<said>[^"]*)"|STR\(\?\w+\)|(?P<term>\?\w+)')
_ANY: Final = ".+?"
_NUMBER: Final = r"-?[0-9.]+"


def check(history: History, node: Term, given: Properties) -> Iterator[Finding]:
    """Check the sentences of a hypothesis, a claim or a change of status."""
    types = given.get(TYPE, ())
    if TRAILS.Hypothesis in types:
        yield from _hypothesis(history, node, given)
    elif TRAILS.StatusTransition in types:
        yield from _transition(node, given)
    elif TRAILS.JoinedFinding in types:
        yield from _joined(history, node, given)
    elif TRAILS.JointCause in types:
        yield from _one_mechanism(history, node, given)
    elif TRAILS.Claim in types and TRAILS.hypothesis not in given:
        yield from _claim(history, node, given)


def _claim(history: History, node: Term, given: Properties) -> Iterator[Finding]:
    """Check a claim that names no hypothesis: the verdict on its symptom says what it says."""
    outcomes = [
        outcome
        for symptom in given.get(TRAILS.symptom, ())
        for link in history.statements(None, TRAILS.symptom, symptom)
        if TRAILS.Verdict in history.types(link.subject)
        for outcome in history.values(link.subject, TRAILS.outcome)
    ]
    said = _text(given, "statement")
    expected = without_cause(outcomes[0] if outcomes else "")
    if said != expected:
        message = f"Without a hypothesis it says “{expected}”, not “{said}”."
        yield Finding(RULE, node.value, message)


def _joined(history: History, node: Term, given: Properties) -> Iterator[Finding]:
    """Check the sentence of a joined finding: it follows from the statements of its parts."""

    def told(part: Term) -> tuple[str, int]:
        words = history.values(part, TRAILS.statement)
        held = [int(text) for text in history.values(part, TRAILS.insideFailing)]
        return (words[0] if words else "", held[0] if held else 0)

    mechanisms = [told(part) for part in given.get(TRAILS.hypothesis, ())]
    origins = [
        (told(p)[0], int(_text(given, "shared") or 0)) for p in given.get(TRAILS.comesFrom, ())
    ]
    pieces = [told(part) for part in given.get(TRAILS.piece, ())]
    if not mechanisms:
        return
    failing = int(_text(given, "insideFailing") or 0)
    expected = sentence(mechanisms[0][0], failing, origins[0] if origins else None, pieces)
    said = _text(given, "statement")
    if said != expected:
        yield Finding(RULE, node.value, f"It says “{said}”; its parts make “{expected}”.")


def _one_mechanism(history: History, node: Term, given: Properties) -> Iterator[Finding]:
    """Check the sentence of a cause that is one mechanism over several properties.

    It says of one of them what the hypothesis says, and that the same holds of the others.
    """
    said = _text(given, "statement")
    by: dict[str, list[tuple[str, str, str]]] = {}
    for one in given.get(TRAILS.hypothesis, ()):
        names = (TRAILS.statement, TRAILS.dimension, TRAILS.level)
        if TRAILS.Mechanism.value in history.values(one, TRAILS.aspect):
            for text, about, wrong in product(*(history.values(one, name) for name in names)):
                by.setdefault(about, []).append((text, about, wrong))
    expected = {""}
    if len(by) > 1:
        expected = {said_together(sorted(each)) for each in product(*by.values())}
    if said not in expected:
        message = f"It says “{said}”, which its hypotheses do not make."
        yield Finding(RULE, node.value, message)


def _hypothesis(history: History, node: Term, given: Properties) -> Iterator[Finding]:
    family = role("hypothesize").get(_text(given, "family"))
    if family is None or not set(TOLD) <= set(family.header):
        return
    own = any(
        TRAILS.OutcomeQuery.value in history.values(symptom, TRAILS.constraint)
        for symptom in given.get(TRAILS.symptom, ())
    )
    more = f" {MORE_OFTEN}" if _narrows(history, given) else ""
    bound = _bound(_text(given, "bindings"))
    suggested = _suggested(history, given) or _other(given, bound)
    for name in TOLD:
        said = _text(given, name)
        if name in suggested:
            if said != suggested[name]:
                message = f"The {name} is not that of the suggestion that it was: “{said}”."
                yield Finding(RULE, node.value, message)
            continue
        ways = [family.header[name]]
        if name == "statement":
            ways += [family.header[way] for way in _WAYS if way in family.header]
            ways = [way.replace("{fail}", f"{{fail}}{more}") for way in ways]
        if not any(
            re.fullmatch(pattern, said, re.DOTALL)
            for way in ways
            for pattern in _patterns(way, bound, own=own)
        ):
            message = f"The {name} is not that of its family and terms: “{said}”."
            yield Finding(RULE, node.value, message)
    parts = [_part(part, own=own) for part in bound.get("parts", ())]
    for value in given.get(TRAILS.part, ()):
        if parts and not any(re.fullmatch(part, value.value, re.DOTALL) for part in parts):
            message = f"No condition that it is made of is told so: “{value.value}”."
            yield Finding(RULE, node.value, message)


def _narrows(history: History, given: Properties) -> bool:
    """Check whether less than half of a region fails, by its recorded counts."""
    weights = (
        float(text)
        for symptom in given.get(TRAILS.symptom, ())
        for text in history.values(symptom, TRAILS.passingWeight)
    )
    failing, inside = (_text(given, name) for name in ("insideFailing", "inside"))
    return (
        failing.isdigit()
        and inside.isdigit()
        and is_faint(int(failing), int(inside), next(weights, 1.0))
    )


def _suggested(history: History, given: Properties) -> Mapping[str, str]:
    """Return the words of the suggestion that a hypothesis is derived from, where it has any."""
    for source in given.get(PROV.wasDerivedFrom, ()):
        if TRAILS.Suggestion in history.types(source):
            said = history.properties(source)
            return {name: _text(said, name) for name in TOLD if TRAILS[name] in said}
    return {}


def _other(given: Properties, bound: Mapping[str, Any]) -> Mapping[str, str]:
    """Return the words that a proposer beside the engine gave, as its bindings have them."""
    authors = set(given.get(PROV.wasAttributedTo, ()))
    if authors & {ENGINE.iri, FAMILIES.iri, CONDITIONS.iri}:
        return {}
    return {name: text for name, text in bound.get("said", {}).items() if name in TOLD}


def _bound(text: str) -> Mapping[str, Any]:
    """Read the bindings of a hypothesis; of what cannot be read nothing is known."""
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _patterns(text: str, bound: Mapping[str, Any], *, own: bool) -> Iterator[str]:
    """Return regular expressions, one of which a sentence of a family has to match."""
    parts = [_part(part, own=own, clause=True) for part in bound.get("parts", ())]
    values: Mapping[str, str] = bound.get("values", {})
    # Two properties of the same local name are told by their full IRIs.
    for order in permutations(parts) if parts and "{parts}" in text else [()]:
        joined = "Nodes " + " and ".join(order) if order else _ANY
        yield _filled(text, values, joined, own=own)


def _part(bound: Mapping[str, Any], *, own: bool, clause: bool = False) -> str:
    """Return the expression for the statement of one condition, or for the clause made of it."""
    family = role("hypothesize").get(str(bound.get("family")))
    if family is None:
        return _ANY
    said: str | None = bound.get("said", {}).get("statement")
    if said is not None:
        ending = f" {_verb(own=own)}."
        return re.escape(said.removesuffix(ending).removeprefix("Nodes ") if clause else said)
    text = family.header["statement"]
    if clause:
        text = text.removesuffix(" {fail}.").removeprefix("Nodes ")
    return _filled(text, bound.get("values", {}), _ANY, own=own)


def _verb(*, own: bool) -> str:
    return "have the outcome" if own else "fail"


def _filled(text: str, values: Mapping[str, str], parts: str, *, own: bool) -> str:
    told = {
        "fail": _verb(own=own),
        "Failures": "The nodes with the outcome" if own else "The failures",
    }
    pieces = _GAP.split(text)
    made = [re.escape(piece) for piece in pieces]
    for place, name in enumerate(pieces[1::2]):
        if name == "parts":
            filled = parts
        elif name in told:
            filled = told[name]
        else:
            filled = _telling(values[name]) if name in values else _ANY
        made[2 * place + 1] = filled
    return "".join(made)


@cache
def _telling(text: str) -> str:
    """Return the ways in which a term, as N-Triples, may be told: a label is not known here."""
    try:
        [triple] = ox.parse(f"<urn:s> <urn:p> {text} .", format=ox.RdfFormat.N_TRIPLES)
    except (SyntaxError, ValueError):
        return _ANY
    term = triple.object
    if isinstance(term, ox.Triple):
        return _ANY
    if isinstance(term, ox.Literal) and term.datatype == WORK.words:
        return re.escape(term.value)  # words that a family made
    if several.is_several(term):
        return several.phrase(term, lambda one: _telling(str(one)), re.escape)
    name = re.escape(unlabelled(term))
    if not isinstance(term, ox.NamedNode):
        return f"(?:{name})"
    return f"(?:{name}|“[^”]*” \\({name}\\)|{re.escape(str(term))})"


def _transition(node: Term, given: Properties) -> Iterator[Finding]:
    expected = cause(_text(given, "rule"))
    said = _text(given, "cause")
    if expected is not None and re.fullmatch(expected, said, re.DOTALL) is None:
        message = f"This is not what the rule {_text(given, 'rule')} says: “{said}”."
        yield Finding(RULE, node.value, message)


@cached
def cause(rule: str) -> str | None:
    """Return expression for what a gate says where it changes a status; None if there is none."""
    made = role("status").get(rule)
    if made is None or not made.is_update:
        return None
    return "|".join(_cause(found) for found in _CAUSE.finditer(made.sections["main"])) or None


def _cause(found: re.Match[str]) -> str:
    """Return expression for one way in which a gate tells why."""
    if found["plain"] is not None:
        return re.escape(found["plain"])
    pieces = _PIECE.finditer(found["made"])
    return "".join(
        _NUMBER if p["said"] is None and p["term"] is None else _ANY if p["term"] else
        re.escape(p["said"])
        for p in pieces
    )  # fmt: skip


def _text(given: Properties, name: str) -> str:
    values = given.get(TRAILS[name])
    return values[0].value if values else ""
