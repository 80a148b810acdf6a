"""Budget: what an investigation may spend, asked before each unit of work.

A unit of work is what is begun and ended as a whole: a family or another source of candidates, a
filter, the counts of one candidate, a path of the search over conditions, a test, a repair on
trial. What is over budget is never begun; what was begun is ended.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Final, Protocol


@dataclass(frozen=True)
class Limits:
    """When to stop: steps, seconds, tokens and US dollars in all; None is without limit."""

    steps: int | None = None
    seconds: float | None = None
    tokens: int | None = None
    usd: float | None = None


@dataclass(frozen=True)
class Cost:
    """What a unit of work has cost beside time: tokens of a model, and US dollars."""

    tokens: int = 0
    usd: Decimal = Decimal(0)

    def __add__(self, other: "Cost") -> "Cost":
        return Cost(self.tokens + other.tokens, self.usd + other.usd)


class Budget(Protocol):
    """What may be spent; the loop takes it that what is spent once stays so (see Metered)."""

    def spent(self, unit: str, /) -> str | None:
        """Return why a unit of work may not be begun, as "stopped after …", or None where it may.

        `unit` says what is about to be done, for instance "test" or "family drift".
        """
        ...

    def charge(self, cost: Cost, /) -> None:
        """Take off what a unit of work has cost beside time."""
        ...


class Spent(Exception):  # noqa: N818 - reads as what happened; it is no fault of a caller
    """The budget is spent, so a unit of work is not begun; what was not recorded is given up.

    It never leaves the loop, which records what was cut.
    """


def ask(budget: Budget, unit: str) -> None:
    """Ask before a unit of work; raises Spent with the reason where it may not be begun."""
    why = budget.spent(unit)
    if why is not None:
        raise Spent(why)


class Unlimited:
    """A budget that is never spent."""

    def spent(self, _unit: str, /) -> str | None:
        """Return None."""
        return None

    def charge(self, cost: Cost, /) -> None:
        """Take off nothing."""


UNLIMITED: Final[Budget] = Unlimited()


@dataclass
class Allowance:
    """The budget of an investigation: its limits, held against what was used.

    `seconds` and `steps` tell what was used so far, over all sessions; `cost` is the rest of it.
    """

    limits: Limits
    seconds: Callable[[], float]
    steps: Callable[[], int]
    cost: Cost = field(default_factory=Cost)

    def spent(self, _unit: str, /) -> str | None:
        """Return why nothing more may be begun, or None."""
        limits = self.limits
        if limits.seconds is not None and self.seconds() > limits.seconds:
            return f"stopped after {limits.seconds:g} seconds"
        if limits.steps is not None and self.steps() >= limits.steps:
            return f"stopped after {limits.steps} steps"
        if limits.tokens is not None and self.cost.tokens >= limits.tokens:
            return f"stopped after {limits.tokens} tokens"
        if limits.usd is not None and self.cost.usd >= Decimal(str(limits.usd)):
            return f"stopped after {limits.usd:g} USD"
        return None

    def charge(self, cost: Cost, /) -> None:
        """Add to what was used."""
        self.cost += cost


class Metered:
    """A budget that stays spent, and that remembers what was charged until a step records it.

    `why` is why it is spent already, if it is.
    """

    def __init__(self, inner: Budget, why: str | None = None) -> None:
        self._inner, self._why = inner, why
        self._unrecorded = Cost()

    def spent(self, unit: str, /) -> str | None:
        """Return why no more may be begun, or None."""
        if self._why is None:
            self._why = self._inner.spent(unit)
        return self._why

    def charge(self, cost: Cost, /) -> None:
        """Take a cost off the budget, and keep it for the next step."""
        self._unrecorded += cost
        self._inner.charge(cost)

    def costs(self) -> dict[str, int | Decimal]:
        """Return what was charged since the last step, by the names of its properties."""
        cost, self._unrecorded = self._unrecorded, Cost()
        found: dict[str, int | Decimal] = {"tokens": cost.tokens, "usd": cost.usd}
        return {name: value for name, value in found.items() if value}
