"""Route a question: its type of task and the pattern by which it would be worked on."""

from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from kgreason.api.asking import LEDGER
from kgreason.base.extensions import joined, read_all, using
from kgreason.observe.request import Paths
from kgreason.observe.request import paths as paths_of
from kgreason.record import Ledger
from kgreason.record.agents import agent
from kgreason.record.routing_decision import PATTERN, TASK_TYPE, Candidate, RoutingDecision
from kgreason.routing.proposed_types import Proposals, proposed_types
from kgreason.routing.router import AtHand, Chooser
from kgreason.routing.router import route as decide


@dataclass(frozen=True)
class Routing:
    """How a question is routed; `decision` is what a record holds of it."""

    question: str
    decision: RoutingDecision

    def as_dict(self) -> dict[str, Any]:
        """Return it for JSON."""
        made = self.decision
        return {
            "question": self.question,
            "taskType": made.task_type,
            "pattern": made.pattern,
            "rationale": made.rationale,
            "forced": made.forced,
            "refused": made.refused or None,
            "near": made.near or None,
            "by": made.by_label,
            "atHand": list(made.at_hand),
            "candidates": [_listed(one, "cues") for one in made.of(TASK_TYPE)],
            "patterns": [_listed(one, "signals") for one in made.of(PATTERN)],
        }

    def __str__(self) -> str:
        """Return it for people."""
        made = self.decision
        near = f" (or {made.near}, which is near)" if made.near else ""
        rows = [f"{made.task_type}{near}, by {made.pattern}", "", made.rationale, ""]
        for title, kind in (("type of task", TASK_TYPE), ("pattern", PATTERN)):
            rows.append(f"{title:<20} score  because of")
            rows += [
                f"{one.name:<20} {float(one.score):>5.1f}  {'; '.join(one.matched)}".rstrip()
                for one in made.of(kind)
            ]
            rows.append("")
        return "\n".join(rows).rstrip()


def _listed(one: Candidate, why: str) -> dict[str, Any]:
    return {"name": one.name, "score": float(Decimal(one.score)), why: list(one.matched)}


def route(
    question: str,
    *,
    shapes: bool = False,
    outcome: bool = False,
    symptoms: int | None = None,
    small_budget: bool = False,
    model: bool = False,
    strategy: str | None = None,
    principal: str | None = None,
    chooser: Chooser | None = None,
    extend: Paths = (),
) -> Routing:
    """Say which type of task a question is and by which pattern it would be worked on.

    Nothing is run or recorded. `shapes`, `outcome`, `symptoms` (how many), `small_budget` and
    `model` say what is at hand. `strategy` is the pattern that `principal` wants. A `chooser` is
    asked with the question and the names of the types where the cues do not decide. `extend` are
    folders with types and patterns of your own. Raises OptionError.
    """
    who = agent(principal)
    with using(joined(read_all(paths_of(extend)))):
        beside = AtHand(shapes, outcome, symptoms, small_budget, model)
        made = decide(question, beside, strategy=strategy, asked_by=who, chooser=chooser)
    return Routing(question, made)


def proposed_task_types(ledger: str | Path = LEDGER, *, extend: Paths = ()) -> Proposals:
    """Return types of task for the questions of a ledger that no type fits well; changes nothing.

    `extend` are folders with types that are there already. Raises LedgerError.
    """
    with using(joined(read_all(paths_of(extend)))), Ledger.read(Path(ledger)) as store:
        return proposed_types(store.store)
