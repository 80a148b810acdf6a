"""A language model as a tester: what it judges is bounded, and alone carries nothing.

The leader of a frame is asked about by an adversary, and what lies in the gap between pruned and
probable is looked into further. The two probabilities that a model gives are clamped; their ratio
decides the outcome class, and the policy says what that is worth.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from kgreason.base.errors import RunError
from kgreason.context.view import View
from kgreason.graph.names import Names
from kgreason.model.calling import Asking, Caller, judged
from kgreason.model.data_summary import summary
from kgreason.model.likelihoods import clamped, one_line, side
from kgreason.model.options import options
from kgreason.model.prompts import fenced, prompt
from kgreason.record.agents import Agent
from kgreason.record.model_calls import ModelCall
from kgreason.test.finding import Finding
from kgreason.test.plans import PlannedTest
from kgreason.test.tester import (
    LOOKED_INTO,
    KindOfTest,
    Member,
    RegisteredTest,
    in_gap,
    planned,
    ranked,
)

KIND: Final = "model-judgement"
PURPOSE: Final = "judge a hypothesis"
FOR, AGAINST, UNDECIDED = "speaks-for", "speaks-against", "undecided"
ADVERSARIAL: Final = "What in the data speaks against this, although it leads? {}"
GAP: Final = "What in the data would tell whether this holds? {}"
_ANSWER: Final = 800
_LONGEST: Final = 400
_SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "if_true": {"type": "number"},
        "if_false": {"type": "number"},
        "reason": {"type": "string"},
    },
    "required": ["if_true", "if_false", "reason"],
    "additionalProperties": False,
}


@dataclass
class ModelTester:
    """Asks a model to judge hypotheses of a frame, each at most once."""

    caller: Caller
    modality: str = "reasoning"
    kinds: Sequence[KindOfTest] = (KindOfTest(KIND, (FOR, AGAINST, UNDECIDED)),)
    _asked: set[str] = field(default_factory=set, init=False, repr=False)
    _kept: list[ModelCall] = field(default_factory=list, init=False, repr=False)

    @property
    def agent(self) -> Agent:
        """The model, by its provider and name."""
        return self.caller.agent

    def design(self, _view: View, frame: Sequence[Member], /) -> Iterable[PlannedTest]:
        """Return an adversarial test of the leader, and tests of what lies in the gap."""
        most = LOOKED_INTO
        for place, position in enumerate(ranked(frame)):
            member = frame[position]
            gap = in_gap(member)
            if most and member.hypothesis.value not in self._asked and (place == 0 or gap):
                self._asked.add(member.hypothesis.value)
                most -= 1
                asked = GAP if gap else ADVERSARIAL
                yield planned(KIND, asked.format(member.statement), position)

    def run(self, view: View, test: RegisteredTest, /) -> Finding:
        """Ask the model a registered question; raises RunError where no answer is of use."""
        names = Names(view.graph)
        offered = options(view, names, select=False)
        data = fenced(summary(view, offered, names))
        made = prompt("judge", question=fenced(test.query), data=data)
        reply, calls = self.caller.ask(
            Asking(PURPOSE, made, "judge", _SCHEMA, _ANSWER), view.budget
        )
        if reply is None:
            self._kept += calls
            raise RunError(f"The model judged nothing. {calls[-1].reason}")
        found = _read(reply.text)
        self._kept += judged(calls, wrong="" if found else "The answer is no judgement.")
        if found is None:
            raise RunError("The model judged nothing: its answer is no judgement.")
        return found

    def taken(self) -> tuple[ModelCall, ...]:
        """Return the calls that are not recorded yet, and forget them."""
        calls, self._kept = tuple(self._kept), []
        return calls


def _read(text: str) -> Finding | None:
    """Return what a model judged, clamped, or None for an answer that is of no use."""
    try:
        found = json.loads(text[text.find("{") : text.rfind("}") + 1])
        pair = [clamped(found[name]) for name in ("if_true", "if_false")]
        reason = found["reason"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    said = one_line(str(reason), _LONGEST)
    if not said:
        return None
    outcome = {1: FOR, -1: AGAINST, 0: UNDECIDED}[side(pair[0], pair[1])]
    return Finding(
        outcome,
        f"A model says: {said}",
        {"judgedUnderSelf": pair[0], "judgedUnderOthers": pair[1]},
    )
