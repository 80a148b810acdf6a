"""Write down what proposers outside the engine said: calls, suggestions, refusals."""

import json
from collections.abc import Sequence

import pyoxigraph as ox

from kgreason.base.errors import RecordError
from kgreason.base.terms import PROV, RDF
from kgreason.context.context import Context
from kgreason.context.symptom import Symptom
from kgreason.hypothesize.consulting import UNWRITTEN, Consulted, Told
from kgreason.hypothesize.proposer import Suggestion
from kgreason.record import Step
from kgreason.record.agents import introduce
from kgreason.record.model_calls import write_calls
from kgreason.record.record import Node

_LONGEST = 1000


def write_consulted(
    context: Context, step: Step, symptom: Symptom, round_: int, consulted: Sequence[Consulted]
) -> None:
    """Record each consultation of a round as part of its step."""
    context.kept.pop(UNWRITTEN, None)
    for each in consulted:
        introduce(context.record, step, (each.agent,))
        calls = write_calls(context.record, step, each.calls)
        for call in calls:
            step.describe(call, symptom=symptom.node, round=round_)
        if calls and each.lacking is not None:
            step.describe(calls[-1], lacking=each.lacking.reason)
        for told in each.told:
            node = _suggestion(context, step, each, told, calls)
            if told.fault is not None:
                _refusal(step, symptom, round_, node, told)


def write_unwritten(context: Context, step: Step, symptom: Symptom, round_: int) -> None:
    """Record calls that were made for a proposal which the budget cut short."""
    for call in write_calls(context.record, step, context.kept.pop(UNWRITTEN, ())):
        step.describe(call, symptom=symptom.node, round=round_)


def _suggestion(
    context: Context, step: Step, of: Consulted, told: Told, calls: Sequence[Node]
) -> Node:
    """Return the node of a suggestion, written down unless it was read from a file."""
    node = ox.NamedNode(f"{context.record.iri.value}:suggestion:{told.number}")
    if of.recorded:
        return node
    made = step.make(
        "Suggestion",
        PROV.Entity,
        blinded=of.blinded,
        place=f"call {told.call + 1}",
        suggestedRegion=ox.Literal(
            json.dumps(told.said.given, ensure_ascii=False, sort_keys=True), datatype=RDF.JSON
        ),
        statement=_short(told.said.statement),
        modelCall=calls[told.call] if calls else None,
    )
    if made != node:
        raise RecordError(f"{made.value}: this suggestion was numbered {told.number} before.")
    step.describe(made, index=told.number)
    step.add(made, PROV.wasAttributedTo, of.agent.iri)
    if isinstance(told.said, Suggestion):
        said = {n: _short(getattr(told.said, n)) for n in ("mechanism", "prediction")}
        more = {name: _short(value) for name, value in told.said.more.items()}
        step.describe(made, **said, **more)
    return made


def _refusal(step: Step, symptom: Symptom, round_: int, node: Node, told: Told) -> None:
    if told.fault is None:
        return
    made = step.make(
        "SuggestionRefusal",
        PROV.Entity,
        symptom=symptom.node,
        round=round_,
        proposalRule=told.fault.rule,
        reason=_short(told.fault.reason),
    )
    step.add(made, PROV.wasDerivedFrom, node)


def _short(text: str) -> str | None:
    """Return a text as one line of bounded length; None where there is none."""
    made = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return made[:_LONGEST] or None
