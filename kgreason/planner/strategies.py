"""The strategies that are there: those of the engine, of installed packages, and of Turtle.

An installed package adds strategies by entry points of the group `kgreason.strategies`: a class or
function that returns a Strategy. A pattern of an extension (ontology/patterns/*.ttl) with rules of
decision of its own is carried out by these rules, without code.
"""

from functools import cache
from importlib.metadata import entry_points
from typing import Final

from kgreason.base.errors import OptionError
from kgreason.planner.decision_list import rules_of
from kgreason.planner.hypothesis_strategy import Hypothesis
from kgreason.planner.plan_and_execute import PlanThenExecute
from kgreason.planner.react import React
from kgreason.planner.reflexion import Reflexion
from kgreason.planner.strategy_protocol import Strategy
from kgreason.planner.supervisor import Supervisor
from kgreason.routing.task_types import task_types

GROUP: Final = "kgreason.strategies"


@cache
def _installed() -> tuple[Strategy, ...]:
    made = []
    for entry in sorted(entry_points(group=GROUP), key=lambda e: e.name):
        try:
            one = entry.load()()
            made.append(one)
        except Exception as error:
            raise OptionError(
                f"The installed strategy {entry.name} ({entry.value}) cannot be used: {error} Mend "
                "the package, or uninstall it."
            ) from error
    return tuple(made)


def strategies() -> dict[str, Strategy]:
    """Return the strategies that can be run, by the notation of their pattern.

    Raises OptionError for an installed strategy whose pattern nobody declared.
    """
    own: tuple[Strategy, ...] = (Hypothesis(), React(), PlanThenExecute(), Supervisor())
    found = {one.name: one for one in (*own, *_installed())}
    found[Reflexion.name] = Reflexion(dict(found))
    known = task_types().patterns
    for name in found:
        if name not in known:
            raise OptionError(
                f"The strategy {name!r} has no pattern; declare one in ontology/patterns/*.ttl of "
                "its extension."
            )
    for name, pattern in known.items():
        if name not in found and any(rules_of(pattern.iri)):
            found[name] = React(name)
    return found


def strategy(name: str) -> Strategy:
    """Return a strategy by name; raises OptionError where there is none."""
    known = strategies()
    if name not in known:
        raise OptionError(f"There is no strategy {name!r}; there are {', '.join(sorted(known))}.")
    return known[name]
