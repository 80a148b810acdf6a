"""Tests that a model designs: checked and run like those of a person, and worth less."""

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from kgreason.base.errors import OptionError
from kgreason.computation.designed import (
    ROWS,
    DesignedTests,
    as_expected_outcomes,
    designs_of,
)
from kgreason.computation.sandbox import at_hand
from kgreason.context.view import View
from kgreason.record.agents import Agent
from kgreason.record.model_calls import ModelCall
from kgreason.test.finding import Finding
from kgreason.test.plans import PlannedTest
from kgreason.test.tester import KindOfTest, Member, RegisteredTest, Tester, planned

QUERY_KIND: Final = "model-query"
CODE_KIND: Final = "model-code"
SECONDS: float | None = None
"""Seconds that a query of a model may run, where it is not what any designed query may."""


class Designer(Protocol):
    """A model that designs tests, and checks them by what it is given for that."""

    @property
    def agent(self) -> Agent:
        """Who it is."""
        ...

    def designs(
        self,
        view: View,
        frame: Sequence[Member],
        check: Callable[[Mapping[str, Any]], str],
        /,
        *,
        code: bool,
    ) -> Sequence[tuple[int, Mapping[str, Any]]]:
        """Return tests as plain JSON, each with the place of its member in the frame."""
        ...

    def taken(self) -> tuple[ModelCall, ...]:
        """Return the calls since the last time, and forget them."""
        ...


@dataclass(frozen=True)
class AskedTests:
    """Runs what a model designs, of one modality: queries alone, or code over their rows."""

    designer: Designer
    modality: str
    kind: str
    code: bool

    @property
    def agent(self) -> Agent:
        """The model that designs."""
        return self.designer.agent

    @property
    def kinds(self) -> tuple[KindOfTest, ...]:
        """The one kind of test."""
        return (KindOfTest(self.kind, as_expected_outcomes()),)

    def design(self, view: View, frame: Sequence[Member], /) -> Iterator[PlannedTest]:
        """Return the tests of this modality that the model designs."""
        for position, one in self.designer.designs(view, frame, fault, code=at_hand()):
            if bool(one.get("code")) == self.code:
                (made,) = designs_of([one], "the test")
                yield planned(self.kind, made.question, position)

    def run(self, view: View, test: RegisteredTest, /) -> Finding:
        """Return whether a test gives what was expected; raises RunError where it gives nothing."""
        own = DesignedTests((), self.modality, self.kinds, self.agent, SECONDS)
        return own.run(view, test)

    def taken(self) -> tuple[ModelCall, ...]:
        """Return the calls that are not recorded yet, and forget them."""
        return self.designer.taken()


def asked_testers(designer: Designer | None) -> tuple[Tester, ...]:
    """Return the testers that run what a model designs; none where none does."""
    if designer is None:
        return ()
    return (
        AskedTests(designer, "designed-query", QUERY_KIND, code=False),
        AskedTests(designer, "computation", CODE_KIND, code=True),
    )


def fault(one: Mapping[str, Any]) -> str:
    """Say in a sentence why a test cannot be run, or nothing."""
    try:
        (made,) = designs_of([one], "the list")
        if made.code:
            ast.parse(made.code)
        elif isinstance(made.expect, Mapping) and _whatever(made.expect):
            return "Whatever it gives would be as expected; a test has to be able to fail."
    except OptionError as error:
        return str(error).partition(": ")[2] or str(error)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return f"The code is no Python ({error})."
    return ""


def _whatever(expect: Mapping[str, Any]) -> bool:
    """Check whether any number of rows or triples would be as expected."""
    return bool(expect.get("least", 0) <= 0 and expect.get("most", ROWS) >= ROWS)
