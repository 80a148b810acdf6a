"""The protocol of strategies: a goal, a context and a budget in; a plan with its steps out."""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from decimal import Decimal
from operator import add
from pathlib import Path
from typing import Any, Protocol, Self

from kgreason.base.budget import Limits
from kgreason.model.calling import Caller
from kgreason.observe.opening import Notice, Progress
from kgreason.observe.request import Request
from kgreason.planner.reasoner import Reasoner
from kgreason.report.result import Result
from kgreason.run import Told


@dataclass(frozen=True)
class PlanStep:
    """One step of a strategy: why, what was done, what was seen, and the IRIs that it wrote.

    `phase` is the phase of the record's step, `status` "complete" or "failed".
    """

    index: int
    phase: str
    thought: str
    action: str
    observation: str
    wrote: tuple[str, ...] = ()
    status: str = "complete"


@dataclass(frozen=True)
class Usage:
    """What a plan used: recorded steps, seconds, tests, calls and tokens of a model, US dollars."""

    steps: int
    seconds: float
    tests: int = 0
    calls: int = 0
    tokens: int = 0
    usd: Decimal = Decimal(0)

    def __add__(self, other: Self) -> Self:
        mine, others = (tuple(getattr(one, f.name) for f in fields(Usage)) for one in (self, other))
        return type(self)(*map(add, mine, others))


@dataclass(frozen=True)
class FoundCause:
    """A cause that an answer tells: what it says, and the greatest confidence behind it."""

    statement: str
    confidence: float


@dataclass(frozen=True)
class PlanResult:
    """What a strategy made of a goal.

    `answered` says whether `answer` is one, or says why there is none. `citations` are the nodes
    that it rests on, and `investigation` is the IRI of the record, of which `result` is a view.
    `causes` are those that the answer tells, whichever record they stand in.
    """

    strategy: str
    steps: tuple[PlanStep, ...]
    answer: str
    answered: bool
    citations: tuple[str, ...]
    usage: Usage
    investigation: str
    result: Result = field(repr=False, compare=False)
    causes: tuple[FoundCause, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return the result of the investigation for JSON, as in docs/result.schema.json."""
        return self.result.as_dict()


@dataclass(frozen=True)
class PlanContext:
    """What a strategy works on and with, beside the goal.

    `request` names the graph and what is wrong, as far as that is known; `ledger` is where the
    record goes, None for memory. A `reasoner` decides in place of the rules of decision or of the
    `caller`, which is a language model; `folder` is where outcome queries are kept. What only
    reads is done in as many processes as there are `jobs`; the record does not depend on them.
    """

    request: Request
    ledger: Path | None = None
    reasoner: Reasoner | None = None
    caller: Caller | None = None
    folder: Path | None = None
    progress: Progress | None = None
    notice: Notice | None = None
    told: Told | None = None
    jobs: int = 1
    more: dict[str, Any] = field(default_factory=dict)

    def asked(self, goal: str, budget: Limits) -> Request:
        """Return the request for a goal within a budget; tokens and cost bound a model alone."""
        asked = replace(
            self.request, question=goal, max_steps=budget.steps, max_seconds=budget.seconds
        )
        if asked.model is None:
            return asked
        return replace(asked, max_tokens=budget.tokens, max_usd=budget.usd)


class Strategy(Protocol):
    """A way to work on a goal. `name` is the notation of its pattern in ontology/patterns.ttl."""

    @property
    def name(self) -> str:
        """The notation of its pattern."""
        ...

    def run(self, goal: str, context: PlanContext, budget: Limits, /) -> PlanResult:
        """Work on a goal and return what came of it; raises KgreasonError for input of no use."""
        ...


def shares(budget: Limits, parts: int) -> Sequence[Limits]:
    """Return a budget in equal parts, for sub-investigations; what has no limit has none."""
    each = Limits(
        None if budget.steps is None else max(1, budget.steps // parts),
        None if budget.seconds is None else budget.seconds / parts,
        None if budget.tokens is None else max(1, budget.tokens // parts),
        None if budget.usd is None else budget.usd / parts,
    )
    return [each] * parts
