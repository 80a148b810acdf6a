"""What stands out among the nodes that break a rule: a look that tests nothing.

For a question why, a strategy that looks for no causes can still say where to look: which source,
value or property goes with the failures. Of several broken rules it is about the one whose name has
most words with the question in common, else about the one that most nodes fail.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import pyoxigraph as ox

from kgreason.base.figures import integer
from kgreason.base.store import Row
from kgreason.base.templates import template
from kgreason.context.symptom import Symptom
from kgreason.context.view import own_terms
from kgreason.graph.names import local_name
from kgreason.graph.query_result import query_result
from kgreason.observe.question import spoken_of
from kgreason.observe.question_words import stems
from kgreason.planner.question_readings import unread_words
from kgreason.planner.tool_desk import Desk
from kgreason.planner.tool_observation import Observation
from kgreason.record.plan_steps import FAILED
from kgreason.shacl import names as rule_names

CITED: Final = integer("planCited")
"""Nodes that one call cites at most."""


def contrast(desk: Desk, arguments: Mapping[str, Any]) -> Observation:
    """Describe what the nodes that break a rule have in common, and others have not."""
    if desk.observed is None:
        return Observation("No shapes were given that say who fails.", status=FAILED)
    failing = desk.observed.failing
    if not failing:
        return Observation("No rule is broken, so nothing can stand out.")
    about = str(arguments.get("about", ""))
    symptom, name = _meant(about, failing)
    rule = symptom.constraint
    text = template("look", "contrast").render(
        target=rule.exact.target, violation=rule.exact.violation, own=[*own_terms(rule)]
    )
    found = query_result(desk.graph, text, desk.seconds, "the query")
    rows = list(found.rows)
    said = f"{name}: {len(symptom.failing)} of {symptom.population} nodes fail."
    if rows:
        said += f" What stands out: {'; '.join(_told(desk, row) for row in rows)}."
    else:
        said += " No source, value or property stands out among them."
    used = spoken_of(about, rule, name) | _classes(desk, symptom)
    unread = ", ".join(f"“{word}”" for word in unread_words(about, used))
    if unread:
        said += f" The look takes no account of {unread}."
    others = len(failing) - 1
    if others:
        said += f" {others} other {'rules are' if others > 1 else 'rule is'} broken, too."
    shown = tuple((node, None) for node in sorted(symptom.failing, key=str)[:CITED])
    return Observation(said, len(rows), shown, text, found.digest)


def _classes(desk: Desk, symptom: Symptom) -> frozenset[str]:
    """Return the stems of what the class is called that a rule is about, if it is about one."""
    kind = symptom.constraint.focus_class
    return frozenset() if kind is None else stems(f"{local_name(kind.value)} {desk.names(kind)}")


def named_rules(about: str, failing: Sequence[Symptom]) -> list[Symptom]:
    """Return the broken rules that have words with a question in common; all where none has."""
    fits = _fits(about, failing)
    return [one for one, fit in zip(failing, fits, strict=True) if fit or not any(fits)]


def _meant(about: str, failing: Sequence[Symptom]) -> tuple[Symptom, str]:
    """Return the symptom that a question is about, and its name."""
    fits = _fits(about, failing)
    best = max(range(len(failing)), key=lambda place: (fits[place], -place))
    return failing[best], rule_names([one.constraint for one in failing])[best]


def _fits(about: str, failing: Sequence[Symptom]) -> list[int]:
    """Return how many words of a question each of some broken rules is called by."""
    called = rule_names([one.constraint for one in failing])
    return [
        len(spoken_of(about, one.constraint, name))
        for one, name in zip(failing, called, strict=True)
    ]


def _told(desk: Desk, row: Row) -> str:
    """Describe one thing that stands out, with the share that fails inside and outside."""
    way = row["way"].value
    named = desk.names(row["property"]) if "property" in row else ""
    level = row.get("level")
    who = {
        "source": f"of those described in {desk.names(level)}",
        "value": f"of those whose {named} is {_level(desk, level)}",
        "has": f"of those that have {named}",
        "lacks": f"of those that have no {named}",
    }[way]
    inside = f"{row['failing'].value} of {row['nodes'].value}"
    outside = f"{row['elsewhere'].value} of {row['others'].value}"
    return f"{who} {inside} fail, of the others {outside}"


def _level(desk: Desk, level: Any) -> str:
    return f"“{level.value}”" if isinstance(level, ox.Literal) else desk.names(level)
