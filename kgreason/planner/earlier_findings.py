"""What a later question of a conversation names of an earlier one: causes, hypotheses, symptoms.

The names are those that people are told: C1, H3, S1, with the investigation where that is said (C1
of I2). They are looked up in the history; what is found is held against the graph of now.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pyoxigraph as ox

from kgreason.base.store import Term
from kgreason.base.templates import template
from kgreason.base.terms import TRAILS
from kgreason.graph.query_result import query_result
from kgreason.planner.named_findings import ALL, IT
from kgreason.planner.named_findings import named as findings_named
from kgreason.planner.tool_desk import Desk
from kgreason.planner.tool_observation import Observation
from kgreason.record import Record
from kgreason.record.ranking import NO_CAUSE, is_faint
from kgreason.report.as_json import as_dict

_CITED: Final = 10
_KINDS: Final[Mapping[str, str]] = {"C": "cause", "H": "hypothesis", "S": "broken rule"}


def named(question: str, record: Record) -> dict[str, str]:
    """Return what a question of a conversation names, as arguments of the tool `finding`.

    It is empty where no finding is named, or the record is of no conversation.
    """
    return {} if conversation_of(record) is None else findings_named(question)


def conversation_of(record: Record) -> ox.Literal | None:
    """Return the name of the conversation that an investigation belongs to, None for none."""
    said = record.store.values(record.iri, TRAILS.conversation, record.iri)
    return next((one for one in said if isinstance(one, ox.Literal)), None)


@dataclass(frozen=True)
class _Found:
    """An earlier finding: its investigation by number, and what was told of it then.

    `entry` is the entry of its hypothesis, empty for a broken rule; `causes` is what was found of a
    broken rule, in words.
    """

    number: int
    name: str
    record: Record
    node: ox.NamedNode
    entry: Mapping[str, Any]
    causes: str = ""


def finding(desk: Desk, arguments: Mapping[str, Any]) -> Observation:
    """Describe what an earlier question found, and how it stands in the graph of now."""
    name = str(arguments["name"]).strip()
    name = name if name in {IT, ALL} else name.upper()
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
    if name == ALL:
        return _everything(conversation.value, among)
    if name == IT:
        name, among = _the_one(among)
    for number, record in among:
        found = _in(number, record, name)
        if found is not None:
            asks = str(arguments.get("asks", "")).split(", ")
            return _now(desk, found, str(arguments.get("year", "")), asks)
    return Observation(_unknown(name, wanted, conversation.value, among))


def _everything(conversation: str, among: Sequence[tuple[int, Record]]) -> Observation:
    """Describe the causes that all questions of a conversation found, the first question first."""
    told = []
    for number, record in reversed(among):
        found = as_dict(record)
        causes = [f"{one['id']} of I{number}: {one['statement']}" for one in found["causes"]]
        none = [one["name"] for one in found["symptoms"] if one["verdict"] == NO_CAUSE]
        causes += [f"I{number}: no systematic cause for “{one}”." for one in none]
        told += causes
    if not told:
        return Observation(f"No question of the conversation “{conversation}” found a cause.")
    return Observation(" ".join(told), len(told))


def _the_one(among: Sequence[tuple[int, Record]]) -> tuple[str, list[tuple[int, Record]]]:
    """Return the name of the first cause of the latest question that found any, and where it is.

    What is told names it, so that a reader sees which of several causes is spoken of.
    """
    for number, record in among:
        causes = as_dict(record)["causes"]
        if causes:
            return str(causes[0]["id"]), [(number, record)]
    return "C1", list(among)


def _in(number: int, record: Record, name: str) -> _Found | None:
    """Return the finding of that name in one investigation, None where it has none."""
    told = as_dict(record)
    hypotheses = {h["id"]: h for s in told["symptoms"] for h in s["hypotheses"]}
    symptoms = {s["id"]: s for s in told["symptoms"]}
    if name.startswith("C"):
        cause = next((one for one in told["causes"] if one["id"] == name), None)
        id_ = None if cause is None else cause["hypotheses"][0]
    else:
        kind = "hypothesis" if name.startswith("H") else "symptom"
        id_ = f"{record.iri.value}:{kind}:{name[1:]}"
    if id_ is None or (id_ not in hypotheses and id_ not in symptoms):
        return None
    causes = ""
    if id_ in symptoms:
        said = [c["statement"] for c in told["causes"] if id_ in c["symptoms"]]
        causes = f"Its verdict was “{symptoms[id_]['verdict']}”."
        causes = " ".join([causes, *said])
    return _Found(number, name, record, ox.NamedNode(id_), hypotheses.get(id_, {}), causes)


def _now(desk: Desk, found: _Found, year: str, asks: Sequence[str]) -> Observation:
    """Hold a finding against the graph of now: its nodes, and those that fail."""
    (about,) = found.record.select("finding", node=found.node)
    said = [f"{found.name} of I{found.number} says: {about['statement'].value.rstrip('.')}."]
    said += _then(found, asks)
    failing = _nodes(desk, about["failing"].value)
    nodes = _nodes(desk, about["region"].value) if "region" in about else failing
    when = ""
    if year:
        nodes, failing = _dated(desk, nodes, year), _dated(desk, failing, year)
        when = f" dated in {year}"
    failed = [one for one in nodes if one in failing]
    shown = (failed or list(nodes) or list(failing))[:_CITED]
    said.append(_told(found, len(nodes), len(failed), len(failing), when))
    if "nodes" in asks and shown:
        rest = len(failed or nodes) - len(shown)
        more = f" and {rest} more" if rest > 0 else ""
        what = "Those that fail" if failed else "Its nodes"
        said.append(f"{what}: {', '.join(map(desk.names, shown))}{more}.")
    return Observation(" ".join(said), 1, tuple((one, None) for one in shown))


def _then(found: _Found, asks: Sequence[str]) -> list[str]:
    """Describe how a finding stood when it was found, and on what, where that is asked."""
    if not found.entry:
        return [found.causes]
    entry, inside = found.entry, found.entry["inside"]
    said = []
    if inside["population"]:
        said.append(f"Then {inside['failing']} of its {inside['population']} nodes failed.")
    if "sure" in asks or entry["status"] != "supported":
        said.append(f"It was {entry['status']}, with confidence {entry['confidence']:.2f}.")
    rests = entry["calibrated_on"]
    if "sure" in asks and rests:
        said.append(
            f"Of {rests['cases']} such answers whose cause was known {rests['right']} were right."
        )
    if "evidence" in asks:
        rows = found.record.select("finding-evidence", hypothesis=found.node)
        for polarity in ("Contradicts", "Supports"):
            notes = [r["note"].value for r in rows if r["polarity"].value.endswith(polarity)]
            speaks = "for" if polarity == "Supports" else "against"
            said.append(f"What speaks {speaks} it: {' '.join(notes) or 'nothing.'}")
    return said


def _told(found: _Found, nodes: int, failed: int, failing: int, when: str) -> str:
    """Describe how a finding stands now."""
    if found.name.startswith("S"):
        if not failing:
            return f"In these data no node{when} breaks this rule."
        return f"In these data {failing} nodes{when} break it."
    others = failing - failed
    besides = f"; {others} other nodes{when} fail" if others else ""
    if not nodes:
        return f"These data have no node of it{when}, so it cannot be the cause here{besides}."
    besides += " as well" if others else ""
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
