"""Consulting: ask a proposer outside the engine, hold what it says to the rules, and ask again."""

import itertools
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

from kgreason.base.errors import QueryError
from kgreason.base.figures import integer
from kgreason.base.terms import TRAILS
from kgreason.context.context import Context, pattern
from kgreason.context.symptom import Symptom
from kgreason.context.view import View, members
from kgreason.hypothesize.ahead import candidates_of
from kgreason.hypothesize.candidates import Candidate
from kgreason.hypothesize.proposal_rules import (
    Asked,
    Fault,
    Past,
    Proposed,
    fault,
    wanting,
    words_fault,
)
from kgreason.hypothesize.proposer import (
    Adviser,
    Brief,
    Proposer,
    Refused,
    Suggestion,
    Unusable,
    candidate_of,
)
from kgreason.record.agents import Agent
from kgreason.record.model_calls import ModelCall
from kgreason.record.record import literal
from kgreason.shacl import names

TRIES: Final = integer("proposalTries")
UNWRITTEN: Final = "model calls"
"""Under this name a context keeps the calls that are made and not recorded yet."""
_REJECTED: Final = frozenset({"refuted", "pruned", "archived"})

Consult = Callable[[View, Proposer], Iterable[Candidate]]
"""Asks a proposer on a view, and gives its candidates."""


@dataclass(frozen=True)
class Told:
    """A suggestion as it was made: its number in the record, the call, and why it was refused.

    `call` counts the calls of the consultation from 0.
    """

    number: int
    said: Suggestion | Unusable
    call: int
    fault: Fault | None = None


@dataclass(frozen=True)
class Consulted:
    """What one proposer outside the engine said of a symptom in a round.

    `lacking` is what its proposals lack together in the end. `recorded` says that the suggestions
    are in the record already, as those of a file are.
    """

    agent: Agent
    blinded: bool
    told: tuple[Told, ...] = ()
    calls: tuple[ModelCall, ...] = ()
    lacking: Fault | None = None
    recorded: bool = False


@dataclass
class Consulting:
    """Asks proposers of a symptom in a round by the rules; keeps in `done` what is to be recorded.

    `done_before` are the numbers of the suggestions that are hypotheses already.
    """

    context: Context
    symptom: Symptom
    view: View
    round_: int
    done: list[Consulted] = field(default_factory=list)
    done_before: Collection[str] = ()

    @cached_property
    def _number(self) -> Iterator[int]:
        """The numbers of the next suggestions in the record."""
        rows = self.context.record.select("counts")
        made = sum(int(r["count"].value) for r in rows if r["kind"] == TRAILS.Suggestion)
        return itertools.count(made + 1)

    @cached_property
    def _asked(self) -> Asked:
        """The question of the user, where there is one."""
        rows = self.context.record.select("question")
        question = rows[0]["question"].value if rows else ""
        return Asked(question, _topic(self.context, self.symptom))

    @cached_property
    def _question(self) -> Asked:
        """What a model is asked: the question of the user or the symptom, and what was tried."""
        past = _past(self.context, self.symptom, self.view, self.round_)
        question = self._asked.question or f"Why: {self._asked.topic}?"
        half = self.view.marks.node.discovery_mask
        near = tuple(
            f"{r['words'].value} ({r['a'].value} of {r['b'].value} fail; {r['reason'].value})"
            for r in self.context.record.select("near-misses", symptom=self.symptom.node)
        )
        return replace(self._asked, question=question, past=past, half=half, near=near)

    def __call__(self, view: View, proposer: Proposer) -> list[Candidate]:
        """Return the candidates of a proposer that break no rule."""
        if isinstance(proposer, Adviser):
            return self._advised(view, proposer)
        if proposer.mines:
            return list(candidates_of(view, proposer))
        return self._given(view, proposer)

    def _given(self, view: View, proposer: Proposer) -> list[Candidate]:
        """Return what a person or program suggests; who cannot be asked again is held to words."""
        kept, told = [], []
        for one in proposer.propose(view):
            wrong = words_fault(one.statement, self._asked) if one.statement else None
            if wrong is not None and one.number and str(one.number) not in self.done_before:
                told.append(Told(one.number, one, 0, wrong))
            if wrong is None:
                kept.append(candidate_of(view, one, proposer))
        if told:
            self.done.append(
                Consulted(proposer.agent, proposer.blinded, tuple(told), recorded=True)
            )
        return kept

    def _advised(self, view: View, proposer: Adviser) -> list[Candidate]:
        """Ask an adviser, at most as often as the rules say, and tell it what was refused."""
        kept: list[tuple[Proposed, Candidate]] = []
        told: list[Told] = []
        calls: list[ModelCall] = []
        brief = Brief(self._question)
        for attempt in range(1, TRIES + 1):
            advice = proposer.advise(view, replace(brief, attempt=attempt))
            calls += advice.calls
            self.context.kept.setdefault(UNWRITTEN, []).extend(advice.calls)
            fresh = []
            for said in advice.suggestions:
                each = self._judged(view, proposer, said, kept, max(0, len(calls) - 1))
                fresh.append(each)
            told += fresh
            refused = tuple(Refused(t.said.statement, t.fault) for t in fresh if t.fault)
            lacking = wanting([one for one, _ in kept])
            if advice.final or (not refused and lacking is None):
                break
            statements = tuple(one.statement for one, _ in kept)
            brief = replace(brief, kept=statements, refused=refused, lacking=lacking)
        lacking = wanting([one for one, _ in kept])
        made = Consulted(proposer.agent, proposer.blinded, tuple(told), tuple(calls), lacking)
        self.done.append(made)
        return [candidate for _, candidate in kept]

    def _judged(
        self,
        view: View,
        proposer: Adviser,
        said: Suggestion | Unusable,
        kept: list[tuple[Proposed, Candidate]],
        call: int,
    ) -> Told:
        """Give a suggestion its number, hold it to the rules, and keep it where it breaks none."""
        number = next(self._number)
        if isinstance(said, Unusable):
            return Told(number, said, call, said.fault)
        said = replace(said, number=number)
        made = candidate_of(view, said, proposer)
        half = view.marks.node.discovery_mask
        inside = made.members & half
        kind = said.more.get("causeKind") or made.family.header["kind"]
        one = Proposed(said.statement, kind, inside, inside & view.marks.failing_mask)
        wrong = fault(one, self._question, [each for each, _ in kept])
        if wrong is None:
            kept.append((one, made))
        return Told(number, said, call, wrong)


def _topic(context: Context, symptom: Symptom) -> str:
    """Return words for what a symptom is about: its name, its path, its class."""
    constraint = symptom.constraint
    terms = [constraint.named_shape, constraint.path.predicate if constraint.path else None]
    aimed = [term for several in constraint.parameters.values() for term in several]
    local = [context.names(term) for term in terms if term is not None]
    return " ".join([*names([constraint]), *local, *(context.names(t) for t in aimed[:3])])


def _past(context: Context, symptom: Symptom, view: View, round_: int) -> tuple[Past, ...]:
    """Return what was tested on a symptom before, in this investigation or an earlier one."""
    half = view.marks.node.discovery_mask
    out = []
    for row in context.record.select("past", symptom=symptom.node, round=literal(round_)):
        status = row["status"].value.rpartition("#")[2].lower()
        own = row["own"].value == "true"
        if own or status in _REJECTED:
            name = "H" + row["hypothesis"].value.rpartition(":")[2] if own else "an earlier one"
            nodes = _nodes(view, row["pattern"].value) & half
            out.append(Past(name, row["statement"].value, status, nodes))
    return tuple(out)


def _nodes(view: View, text: str) -> int:
    try:
        return members(view, pattern(text))
    except QueryError:
        return 0  # the pattern names marks of a scratch copy that is gone
