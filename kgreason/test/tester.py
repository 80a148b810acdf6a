"""Testers: whoever puts hypotheses to the test, behind one protocol, and that of the graph.

A tester says which tests are to be registered for the members of a frame, and runs what was
registered. What its findings are worth is said by the policy alone, whoever tested.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol, runtime_checkable

from pyoxigraph import NamedNode

from kgreason.base.errors import OptionError, RunError
from kgreason.base.figures import figure, integer
from kgreason.base.terms import TRAILS
from kgreason.context.view import View
from kgreason.hypothesize.outlines import Outline
from kgreason.record.agents import ENGINE, Agent
from kgreason.record.modalities import GRAPH_QUERY, modalities, outside
from kgreason.record.policy import Policy
from kgreason.record.test_kinds import kinds, outcomes_of
from kgreason.test.finding import Finding, Setting, read
from kgreason.test.plans import PlannedTest, Sent, first_tests

WHOLE: Final = "whole"
"""The split of a test that looks at neither half of the population."""


@dataclass(frozen=True)
class KindOfTest:
    """A kind of test that a tester runs: its name, and the outcome classes that it may have."""

    name: str
    outcomes: tuple[str, ...]


@dataclass(frozen=True)
class Member:
    """A member of a frame, as a tester is shown it: its words, and the outline of its tests.

    `confidence` is what it has come to so far.
    """

    hypothesis: NamedNode
    statement: str
    mechanism: str
    prediction: str
    outline: Outline
    confidence: float = 0.0


LOOKED_INTO: Final = integer("judgedMembers")
"""As many members of a frame are looked into further, at most, in each way."""
_GAP: Final = figure("gapFrom"), figure("gapUntil")


def ranked(frame: Sequence[Member]) -> list[int]:
    """Return the places of the members of a frame, the leader first."""
    return sorted(range(len(frame)), key=lambda n: (-frame[n].confidence, n))


def in_gap(member: Member) -> bool:
    """Check whether a member lies between what is pruned and what is probable."""
    return _GAP[0] < member.confidence < _GAP[1]


@dataclass(frozen=True)
class RegisteredTest:
    """A test as it was registered: its kind, its query or question, and what is known of it.

    For a tester outside the graph `statement` are the words of the hypothesis, and `counted` the
    studies that speak for or against it already. `studies` are those that keys of works belong to,
    and `quoted` the studies that were quoted on the hypothesis, each with the source.
    """

    kind: str
    query: str
    hypothesis: NamedNode
    setting: Setting
    statement: str = ""
    counted: frozenset[str] = frozenset()
    studies: Mapping[str, str] = field(default_factory=dict)
    quoted: frozenset[tuple[str, str]] = frozenset()


class Tester(Protocol):
    """Designs tests for the members of a frame, and runs those that are registered.

    `agent` is named as the author of each test and each piece of evidence. `modality` is a notation
    of the ontology, `kinds` are the kinds of test that it runs; the policy needs a row for each of
    their outcomes.
    """

    @property
    def agent(self) -> Agent:
        """Who it is."""
        ...

    @property
    def modality(self) -> str:
        """In what way it tests."""
        ...

    @property
    def kinds(self) -> Sequence[KindOfTest]:
        """The kinds of test that it runs."""
        ...

    def design(self, view: View, frame: Sequence[Member], /) -> Iterable[PlannedTest]:
        """Return the tests to be registered for the members of a frame, the catch-all left out."""
        ...

    def run(self, view: View, test: RegisteredTest, /) -> Finding:
        """Return what a registered test of one of its kinds gives."""
        ...


@dataclass(frozen=True)
class Standing:
    """What became of a frame so far.

    `outcomes` are those of the tests of this tester, for each member in order; `question` is what
    was asked, or the symptom. `held` says whether a hypothesis of the symptom is supported, and
    `last` that no round follows.
    """

    outcomes: Sequence[Sequence[str]]
    question: str
    held: bool = False
    last: bool = False


@runtime_checkable
class FallingBack(Protocol):
    """A tester that may register further tests once it is seen what its first ones gave."""

    def fall_back(
        self, view: View, frame: Sequence[Member], standing: Standing, /
    ) -> Iterable[PlannedTest]:
        """Return further tests to be registered for the members of a frame."""
        ...


@dataclass(frozen=True)
class GraphTester:
    """The tester of the engine: each test is a query on the half that was held out."""

    agent: Agent = ENGINE
    modality: str = GRAPH_QUERY

    @property
    def kinds(self) -> Sequence[KindOfTest]:
        """The kinds of `queries/test/`."""
        return tuple(KindOfTest(name, tuple(outcomes_of(name))) for name in kinds())

    def design(self, view: View, frame: Sequence[Member], /) -> Iterable[PlannedTest]:
        """Return the tests that the families of the members ask for."""
        return first_tests(view, [member.outline for member in frame])

    def run(self, view: View, test: RegisteredTest, /) -> Finding:
        """Ask the query of a test, and read its rows."""
        return read(test.kind, view.graph.store.select(test.query), test.setting)


GRAPH_TESTER: Final[Tester] = GraphTester()


def planned(kind: str, question: str, tested: int, sent: Sent | None = None) -> PlannedTest:
    """Return a test outside the graph, of the member at a position of the frame."""
    return PlannedTest(kind, question, WHOLE, tested, sent=sent)


def tester_of(testers: Sequence[Tester], modality: NamedNode, kind: str) -> Tester:
    """Return who runs registered tests of a modality and kind; raises RunError for nobody."""
    if modality == TRAILS.GraphQuery:
        return GRAPH_TESTER
    for tester in testers:
        named = {each.name for each in tester.kinds}
        if modalities().get(tester.modality) == modality and kind in named:
            return tester
    name = next((n for n, node in modalities().items() if node == modality), modality.value)
    raise RunError(
        f"The test {kind} (modality {name}) needs its tester, and none was given; give it again "
        "with testers=."
    )


def check_testers(testers: Sequence[Tester], policy: Policy) -> None:
    """Refuse testers that cannot take part under a policy.

    Raises OptionError for a modality that is unknown or the engine's own, a kind that another
    tester or the engine has, and an outcome without a row in the policy.
    """
    taken = dict.fromkeys(kinds(), "queries/test/")
    for tester in testers:
        label = tester.agent.label
        if tester.modality not in outside():
            raise OptionError(
                f"The tester {label} has the modality {tester.modality!r}; a tester can have one "
                f"of: {', '.join(outside())}."
            )
        for kind in tester.kinds:
            if kind.name in taken:
                raise OptionError(
                    f"The tester {label} has the kind of test {kind.name!r}, which is in "
                    f"{taken[kind.name]} already; rename it."
                )
            taken[kind.name] = f"the tester {label}"
            for outcome in kind.outcomes:
                if (kind.name, outcome) not in policy.outcomes:
                    raise OptionError(
                        f"The policy {policy.iri.value} has no policy:likelihood for the outcome "
                        f"{outcome!r} of the test {kind.name!r}, which the tester {label} runs; "
                        "add a row for it to a policy of your own."
                    )


def checked(tester: Tester, kind: str, found: Finding, policy: Policy) -> Finding:
    """Return a finding from outside the graph; raises RunError for one that cannot be recorded."""
    (declared,) = (each for each in tester.kinds if each.name == kind)
    faults = []
    if found.outcome not in declared.outcomes:
        faults.append(f"gave the outcome {found.outcome!r}, which {kind} does not declare")
    if not found.note.strip():
        faults.append("gave no note that says what it found")
    row = policy.outcomes.get((kind, found.outcome))
    neutral = row is not None and row.polarity == TRAILS.Neutral
    if tester.modality == "literature" and not found.passages and not neutral:
        faults.append("quotes no passage, as evidence from the literature has to")
    for passage in found.passages:
        work = passage.work.value if isinstance(passage.work, NamedNode) else passage.work
        for name, text in (
            ("work", work),
            ("quote", passage.quote),
            ("locator", passage.locator),
        ):
            if not text.strip():
                faults.append(f"quotes a passage without a {name}")
    if faults:
        raise RunError(f"The tester {tester.agent.label} {' and '.join(faults)}.")
    return found
