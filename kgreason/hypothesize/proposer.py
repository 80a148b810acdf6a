"""Proposers: whoever suggests causes, behind one protocol, and the two that the engine brings.

A proposer suggests; it decides nothing. What it suggests is counted on the discovery half, goes
through the filters, is framed with its rivals, tested on the held-out half and challenged, whoever
suggested it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Protocol, runtime_checkable

from kgreason.base.budget import ask
from kgreason.context.view import View, digest
from kgreason.graph.marks import region_name
from kgreason.hypothesize import bindings, refine
from kgreason.hypothesize.candidates import Candidate, families, filled, mine
from kgreason.hypothesize.conditions.condition import Condition
from kgreason.hypothesize.conditions.seam import candidate as condition_candidate
from kgreason.hypothesize.conditions.seam import candidates as found_conditions
from kgreason.hypothesize.conditions.search import judged
from kgreason.hypothesize.free_region import FreeRegion
from kgreason.hypothesize.proposal_rules import Asked, Fault
from kgreason.record.agents import CONDITIONS, FAMILIES, Agent
from kgreason.record.model_calls import ModelCall

Region = Candidate | tuple[Condition, ...] | FreeRegion
"""What a suggestion is about: a candidate of a family, conditions that all hold, or a pattern."""


@dataclass(frozen=True)
class Suggestion:
    """A cause that a proposer suggests: a region, and words where its family's are not to be used.

    `number` is that of its node in the record, for one that came from outside; 0 for any other.
    With `own_words` the hypothesis is told in these words, else in those of the engine. `given` is
    the region as it was given, and `more` what else was said, by the names of the properties.
    """

    region: Region
    statement: str = ""
    mechanism: str = ""
    prediction: str = ""
    number: int = 0
    own_words: bool = True
    given: Mapping[str, Any] = field(default_factory=dict, repr=False)
    more: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True)
class Unusable:
    """A suggestion of which no region could be made, with the reason."""

    statement: str
    fault: Fault
    given: Mapping[str, Any] = field(default_factory=dict, repr=False)


@dataclass(frozen=True)
class Refused:
    """A suggestion that is not put to the test, as it is told to who made it."""

    statement: str
    fault: Fault


@dataclass(frozen=True)
class Brief:
    """What an adviser is asked: the question with what was tried, and how its last answer fared.

    `kept` are the statements that are taken already, `refused` the others; `lacking` is what the
    proposals lack together.
    """

    asked: Asked
    kept: tuple[str, ...] = ()
    refused: tuple[Refused, ...] = ()
    lacking: Fault | None = None
    attempt: int = 1


@dataclass(frozen=True)
class Advice:
    """What an adviser answers: its suggestions, in its order, and the calls that it cost.

    It is `final` where asking again would bring nothing.
    """

    suggestions: tuple[Suggestion | Unusable, ...] = ()
    calls: tuple[ModelCall, ...] = ()
    final: bool = False


class Proposer(Protocol):
    """Suggests causes of a symptom, and other wordings of what is open.

    `agent` is named as the author of each hypothesis. One that `mines` looks for candidates in the
    data by itself, so that there may be very many; of these only the best are counted node by node.
    One that is `blinded` saw nothing but the discovery half.
    """

    @property
    def agent(self) -> Agent:
        """Who it is."""
        ...

    @property
    def mines(self) -> bool:
        """Whether it looks for candidates in the data by itself."""
        ...

    @property
    def blinded(self) -> bool:
        """Whether it saw nothing but the discovery half."""
        ...

    def propose(self, view: View, /) -> Iterable[Suggestion]:
        """Return what may cause the failures of a view."""
        ...

    def refine(
        self, view: View, parent: Candidate, others: Sequence[Candidate], /
    ) -> Iterable[Suggestion]:
        """Return tighter or wider wordings of an open hypothesis; `others` may become conditions.

        The engine takes the best that is new and worth a test.
        """
        ...


@runtime_checkable
class Adviser(Proposer, Protocol):
    """A proposer that is told which of its suggestions are refused, and why, and asked again.

    `advise` is called in place of `propose`.
    """

    def advise(self, view: View, brief: Brief, /) -> Advice:
        """Return suggestions on a view; what was refused before is in the brief."""
        ...


@dataclass(frozen=True)
class Families:
    """The families of `queries/hypothesize/`, by order of preference, and of `queries/refine/`."""

    agent: Agent = FAMILIES
    mines: bool = True
    blinded: bool = True

    def propose(self, view: View, /) -> Iterator[Suggestion]:
        """Return what each family finds on the discovery half."""
        for family in families():
            ask(view.budget, f"family {family.name}")
            yield from map(Suggestion, mine(view, family))

    def refine(
        self, view: View, parent: Candidate, others: Sequence[Candidate], /
    ) -> Iterator[Suggestion]:
        """Return a condition more, a condition less, and what the refinements ask for."""
        return (Suggestion(made) for made in refine.variants(view, parent, others))


@dataclass(frozen=True)
class ConditionSearch:
    """The search in the language of conditions, for at most `limit` regions.

    It looks at all nodes, and pays for that by the length of what it says.
    """

    limit: int
    agent: Agent = CONDITIONS
    mines: bool = True
    blinded: bool = False

    def propose(self, view: View, /) -> Iterator[Suggestion]:
        """Return the regions of the shortest story of who fails."""
        found = found_conditions(view, self.limit) if self.limit else []
        return (Suggestion(filled(view, each)) for each in found)

    def refine(
        self, _view: View, _parent: Candidate, _others: Sequence[Candidate], /
    ) -> Iterator[Suggestion]:
        """Return nothing: the search has made its regions as tight as pays."""
        return iter(())


ENGINE_PROPOSERS: Final[tuple[Proposer, ...]] = (Families(),)
"""Who proposes in every investigation; a policy may ask for the search in conditions too."""


def engine_proposers(numbers: Mapping[str, object]) -> tuple[Proposer, ...]:
    """Return the proposers that the engine brings, by the numbers of a policy."""
    limit = int(str(numbers.get("conditions", 0)))
    return (ConditionSearch(limit), *ENGINE_PROPOSERS) if limit else ENGINE_PROPOSERS


ENGINE: Final = (Families, ConditionSearch)
"""The proposers that only read the graph, and ask nobody: they may work in another process."""


def suggested(view: View, proposer: Proposer) -> Iterator[Candidate]:
    """Return what a proposer suggests on a view, as candidates that name it."""
    for suggestion in proposer.propose(view):
        yield candidate_of(view, suggestion, proposer)


def candidate_of(view: View, suggestion: Suggestion, proposer: Proposer) -> Candidate:
    """Make a candidate of a suggestion; its counts are exact, unless the proposer mines.

    A proposer that is not blinded may have seen the half that tests. Then conditions have to pay
    for their code length among all data; what has no code length cannot.
    """
    region = suggestion.region
    paid: bool | None = None if proposer.blinded else False
    if isinstance(region, FreeRegion):
        made = _free(view, region)
    elif isinstance(region, Candidate):
        made = region if proposer.mines else filled(view, region)
    else:
        made = filled(view, condition_candidate(judged(view, region)))
    if paid is not None and made.paid is not None:
        paid = made.paid
    words = {
        name: str(getattr(suggestion, name))
        for name in ("statement", "mechanism", "prediction")
        if suggestion.own_words and getattr(suggestion, name)
    }
    if suggestion.number:
        words[bindings.NUMBER] = str(suggestion.number)
    by = () if proposer.agent == FAMILIES else (proposer.agent.iri.value,)
    return replace(made, said={**made.said, **words}, by=made.by or by, paid=paid)


def _free(view: View, region: FreeRegion) -> Candidate:
    made = bindings.of_pattern(region.text)
    population = view.marks.population
    if region.nodes is not None:
        # It was run before, in a process that could be killed; it need not run in this one.
        name = region_name(population, digest(made.pattern)).value
        view.known.setdefault(name, population.mask(region.nodes))
    return filled(view, made)
