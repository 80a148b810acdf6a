"""Calls of a model in the record: what was asked, offered, answered and chosen, and its cost."""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Protocol, runtime_checkable

from kgreason.base.redaction import without_secrets
from kgreason.base.terms import PROV
from kgreason.record.agents import Agent, introduce
from kgreason.record.record import Node, Record, Step


@dataclass(frozen=True)
class ModelCall:
    """One call: who was asked what for, and what came of it.

    `template` names the prompt with its version. `offered` are all options, `chosen` those that
    the answer names and that were taken. `outcome` is "answered", "unusable" (an answer that could
    not be read), "failed" (no answer) or "not made" (the budget); `reason` says why, in one
    sentence. `usd` is None where the price is not known. `seconds` is how long it took.
    """

    agent: Agent
    purpose: str
    model: str
    template: str
    prompt: str
    offered: tuple[str, ...] = ()
    chosen: tuple[str, ...] = ()
    answer: str = ""
    outcome: str = "answered"
    reason: str = ""
    input_tokens: int = 0
    output_tokens: int = 0
    usd: Decimal | None = None
    seconds: Decimal = Decimal(0)

    @property
    def tokens(self) -> int:
        """All tokens, of the prompt and of the answer."""
        return self.input_tokens + self.output_tokens


@runtime_checkable
class Calling(Protocol):
    """Who calls a model while it does something else, and keeps the calls until they are taken."""

    def taken(self) -> tuple[ModelCall, ...]:
        """Return the calls since the last time, and forget them."""
        ...


def taken_calls(several: Iterable[object]) -> list[ModelCall]:
    """Return the calls that any of several have made and that are not recorded yet."""
    return [call for one in several if isinstance(one, Calling) for call in one.taken()]


def write_calls(record: Record, step: Step, calls: Iterable[ModelCall]) -> list[Node]:
    """Write calls down as part of a step, their long texts as blobs; gives their nodes."""
    out = []
    for call in calls:
        introduce(record, step, (call.agent,))
        node = step.make(
            "ModelCall",
            PROV.Entity,
            purpose=call.purpose,
            model=call.model,
            promptTemplate=call.template,
            prompt=record.blobs.put(call.prompt),
            answer=record.blobs.put(call.answer) if call.answer else None,
            offered=list(dict.fromkeys(call.offered)) or None,
            chosen=list(dict.fromkeys(call.chosen)) or None,
            callOutcome=call.outcome,
            reason=without_secrets(call.reason) if call.reason else None,
            inputTokens=call.input_tokens,
            outputTokens=call.output_tokens,
            callUsd=call.usd,
            priceKnown=call.usd is not None,
            latency=call.seconds,
        )
        step.describe(node, index=int(node.value.rpartition(":")[2]))
        step.add(node, PROV.wasAttributedTo, call.agent.iri)
        out.append(node)
    return out
