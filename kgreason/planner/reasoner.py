"""Reasoners: who decides what a strategy does next. By rules, by a script, or by a model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from kgreason.base.budget import UNLIMITED, Budget
from kgreason.planner.question_understood import Understood
from kgreason.planner.tool_catalogue import Tool
from kgreason.planner.tool_observation import Observation
from kgreason.record.agents import ENGINE, Agent
from kgreason.record.model_calls import ModelCall


@dataclass(frozen=True)
class Seen:
    """A call that was made: the tool, the stored query where one was asked, and what was found."""

    tool: str
    query: str
    observation: Observation


@dataclass(frozen=True)
class Situation:
    """What a reasoner decides on: the question, what it names in the graph, what was seen so far.

    `facts` are those of `ontology/decisions.ttl`; `tools` are the tools that may be called. Calls
    of a model are taken off the `budget`.
    """

    question: str
    understood: Understood
    facts: frozenset[str]
    seen: Sequence[Seen]
    tools: Mapping[str, Tool]
    pattern: str
    budget: Budget = UNLIMITED


@dataclass(frozen=True)
class Move:
    """What is done next: a tool is called, or an answer given where `tool` is empty.

    `cites` are the places of the calls that an answer rests on, from 0; None for all that found
    something. `answered` is false for an answer that says why there is none.
    """

    thought: str
    tool: str = ""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    answer: str = ""
    answered: bool = True
    cites: tuple[int, ...] | None = None
    rule: str = ""
    by: Agent = ENGINE
    calls: tuple[ModelCall, ...] = ()


class Reasoner(Protocol):
    """Decides what a strategy does next."""

    def next(self, situation: Situation, /) -> Move:
        """Return the next move."""
        ...


@dataclass
class Scripted:
    """A reasoner that follows a list of moves, and ends where the list does."""

    moves: Sequence[Move]

    def next(self, situation: Situation, /) -> Move:
        """Return the move of that number."""
        if len(situation.seen) < len(self.moves):
            return self.moves[len(situation.seen)]
        return Move("The script is at its end.", answer="The script has no answer.", answered=False)
