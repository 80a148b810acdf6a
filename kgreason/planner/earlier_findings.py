"""What a later question of a conversation names of an earlier one: causes, hypotheses, symptoms.

The names are those that people are told: C1, H3, S1, with the investigation where that is said (C1
of I2). They are looked up in the history; what is found is held against the graph of now.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import pyoxigraph as ox

from kgreason.base.store import Term
from kgreason.base.templates import template
from kgreason.base.terms import TRAILS
from kgreason.graph.query_result import query_result
from kgreason.planner.tool_desk import Desk
from kgreason.planner.tool_observation import Observation
from kgreason.record import Record
from kgreason.record.ranking import is_faint
from kgreason.report.as_json import as_dict

_NAME: Final = re.compile(r"(?<![\w.:-])(?P<name>[CHS]\d{1,4})(?![\w-])(?!\.\d)")
_OF: Final = re.compile(r"(?<![\w.:-])I(?P<number>\d{1,6})(?![\w-])")
_YEAR: Final = re.compile(r"(?<![\w.:-])(?P<year>[12]\d{3})(?![\w-])(?!\.\d)")
_CITED: Final = 10
_KINDS: Final[Mapping[str, str]] = {"C": "cause", "H": "hypothesis", "S": "broken rule"}


def named(question: str, record: Record) -> dict[str, str]:
    """Return what a question of a conversation names, as arguments of the tool `finding`.

    It is empty where no finding is named, or the record is of no conversation.
    """
    hit = _NAME.search(question)
    if hit is None or conversation_of(record) is None:
        return {}
    found = {"name": hit["name"]}
    of, year = _OF.search(question), _YEAR.search(question)
    if of is not None:
        found["investigation"] = f"I{of['number']}"
    if year is not None:
        found["year"] = year["year"]
    return found


def conversation_of(record: Record) -> ox.Literal | None:
    """Return the name of the conversation that an investigation belongs to, None for none."""
    said = record.store.values(record.iri, TRAILS.conversation, record.iri)
    return next((one for one in said if isinstance(one, ox.Literal)), None)


@dataclass(frozen=True)
class _Found:
    """An earlier finding: its investigation by number, and what was told of it then."""

    number: int
    name: str
    record: Record
    node: ox.NamedNode
    inside: tuple[int, int] | None


def finding(desk: Desk, arguments: Mapping[str, Any]) -> Observation:
    """Describe what an earlier question found, and how it stands in the graph of now."""
    name = str(arguments["name"]).strip().upper()
    wanted = str(arguments.get("investigation", "")).strip().upper().removeprefix("I")
    conversation = conversation_of(desk.record)
    if conversation is None or desk.ledger is None:
        return Observation(f"There is no conversation in which {name} was found.")
    asked = template("record", "conversation").render(conversation=conversation)
    store = desk.ledger.store
    several = [
        (int(row["number"].value), Record(store, ox.NamedNode(row["investigation"].value)))
        for row in store.select(asked)
        if row["investigation"].value != desk.record.iri.value
    ]
    among = [one for one in several if not wanted or str(one[0]) == wanted]
    for number, record in among:
        found = _in(number, record, name)
        if found is not None:
            return _now(desk, found, str(arguments.get("year", "")))
    return Observation(_unknown(name, wanted, conversation.value, among))


def _in(number: int, record: Record, name: str) -> _Found | None:
    """Return the finding of that name in one investigation, None where it has none."""
    told = as_dict(record)
    hypotheses = {h["id"]: h for s in told["symptoms"] for h in s["hypotheses"]}
    if name.startswith("C"):
        cause = next((one for one in told["causes"] if one["id"] == name), None)
        id_ = None if cause is None else cause["hypotheses"][0]
    else:
        kind = "hypothesis" if name.startswith("H") else "symptom"
        id_ = f"{record.iri.value}:{kind}:{name[1:]}"
        if id_ not in hypotheses and id_ not in {s["id"] for s in told["symptoms"]}:
            id_ = None
    if id_ is None:
        return None
    inside = hypotheses.get(id_, {}).get("inside")
    counts = None if not inside else (int(inside["failing"]), int(inside["population"]))
    return _Found(number, name, record, ox.NamedNode(id_), counts)


def _now(desk: Desk, found: _Found, year: str) -> Observation:
    """Hold a finding against the graph of now: its nodes, and those that fail."""
    (about,) = found.record.select("finding", node=found.node)
    said = f"{found.name} of I{found.number} says: {about['statement'].value.rstrip('.')}."
    if found.inside is not None and found.inside[1]:
        said += f" Then {found.inside[0]} of its {found.inside[1]} nodes failed."
    failing = _nodes(desk, about["failing"].value)
    nodes = _nodes(desk, about["region"].value) if "region" in about else failing
    when = ""
    if year:
        nodes, failing = _dated(desk, nodes, year), _dated(desk, failing, year)
        when = f" that are dated in {year}"
    failed = [one for one in nodes if one in failing]
    shown = (failed or list(nodes))[:_CITED]
    now = _told(found, len(nodes), len(failed), len(failing), when)
    return Observation(f"{said} {now}", 1, tuple((one, None) for one in shown))


def _told(found: _Found, nodes: int, failed: int, failing: int, when: str) -> str:
    """Describe how a finding stands now."""
    if found.name.startswith("S"):
        if not failing:
            return f"In these data no node{when} breaks this rule."
        return f"In these data {failing} nodes{when} break it."
    if not nodes:
        return f"These data have no node of it{when}, so nothing can be said of it here."
    others = failing - failed
    besides = f"; {others} other nodes{when} fail as well" if others else ""
    figures = f"In these data {failed} of its {nodes} nodes{when} fail{besides}."
    if not failed:
        return f"{figures} So it does not show here any more."
    if is_faint(failed, nodes):
        return f"{figures} So it explains less here: too few of its nodes fail."
    return f"{figures} So it is the same here, as far as these nodes tell; it was not tested anew."


def _nodes(desk: Desk, text: str) -> dict[Term, None]:
    rows = query_result(desk.graph, text, desk.seconds, "the query").rows
    return {row["focus"]: None for row in rows if "focus" in row}


def _dated(desk: Desk, nodes: Mapping[Term, None], year: str) -> dict[Term, None]:
    known = [one for one in nodes if isinstance(one, ox.NamedNode)]
    if not known:
        return {}
    text = template("look", "dated-in").render(nodes=[*known], year=ox.Literal(year))
    rows = query_result(desk.graph, text, desk.seconds, "the query").rows
    return {row["node"]: None for row in rows}


def _unknown(name: str, wanted: str, conversation: str, among: list[tuple[int, Record]]) -> str:
    """Say in one sentence that there is no finding of a name, and which there are."""
    kind = _KINDS.get(name[:1], "finding")
    if not among:
        where = f"no investigation I{wanted}" if wanted else "no earlier question"
        return f"The conversation “{conversation}” has {where}, so {name} names nothing."
    there = [
        f"{cause['id']} of I{number}"
        for number, record in among
        for cause in as_dict(record)["causes"]
    ]
    known = f"its causes are {', '.join(there)}" if there else "no cause was found in it"
    return f"The conversation “{conversation}” has no {kind} {name}; {known}."
