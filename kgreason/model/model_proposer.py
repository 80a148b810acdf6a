"""A language model as a proposer: it is asked for causes of a symptom, and told what is refused."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Final

from kgreason.base.budget import Cost
from kgreason.context.view import View
from kgreason.graph.names import Names
from kgreason.hypothesize.candidates import Candidate
from kgreason.hypothesize.proposal_rules import LEAST, MOST, WORDS, Asked
from kgreason.hypothesize.proposer import Advice, Brief, Suggestion
from kgreason.hypothesize.wording import wording
from kgreason.model.answers import read_answer, schema
from kgreason.model.calling import PAUSE, Asking, Caller, judged
from kgreason.model.client import Client
from kgreason.model.data_summary import summary
from kgreason.model.options import Options, options
from kgreason.model.prompts import Prompt, fenced, prompt
from kgreason.model.spending import Spending
from kgreason.record.agents import Agent
from kgreason.record.model_calls import ModelCall

PURPOSE: Final = "propose causes"
REFINE: Final = "refine a hypothesis"
_ANSWER: Final = 4000


@dataclass
class ModelProposer:
    """Asks a model for causes; whatever it answers goes the way of all candidates.

    It is shown the discovery half alone. It never raises for what a model does: a call that fails
    is recorded, and the run goes on without it. `earlier` are calls that were made before there was
    a record, and go into it with the first that are made here. `pause` is the seconds before a call
    is repeated.
    """

    client: Client
    spending: Spending = field(default_factory=Spending)
    select: bool = True
    pause: float = PAUSE
    earlier: tuple[ModelCall, ...] = ()
    mines: bool = False
    blinded: bool = True
    _kept: list[ModelCall] = field(default_factory=list, init=False, repr=False)

    @property
    def agent(self) -> Agent:
        """The model, by its provider and name."""
        return Caller(self.client).agent

    def propose(self, view: View, /) -> Iterator[Suggestion]:
        """Return the suggestions of one answer, without being asked again."""
        said = self.advise(view, Brief(Asked("Why?"))).suggestions
        return (one for one in said if isinstance(one, Suggestion))

    def refine(
        self, view: View, parent: Candidate, _others: Sequence[Candidate], /
    ) -> Iterator[Suggestion]:
        """Ask the model once for tighter or wider regions of an open hypothesis."""
        names, offered = self._offered(view)
        told = wording(parent, names, view.constraint).statement
        table = parent.table
        counts = f"{table.inside_failing} of {table.inside} nodes inside fail, "
        counts += f"{table.outside_failing} of {table.outside} outside."
        made = prompt(
            "refine",
            hypothesis=fenced(f"{told}\n{counts}"),
            data=fenced(summary(view, offered, names)),
            kinds=offered.kinds,
            select=False,
        )
        asking = Asking(REFINE, made, "propose", schema(offered), _ANSWER, offered.recorded)
        reply, calls = self._caller.ask(asking, view.budget)
        if reply is None:
            self._kept += calls
            return
        answer = read_answer(reply.text, view, replace(offered, select=False))
        self._kept += judged(calls, answer.chosen, answer.wrong)
        for one in answer.suggestions:
            if isinstance(one, Suggestion):
                yield replace(one, own_words=False)

    def taken(self) -> tuple[ModelCall, ...]:
        """Return the calls of refinements that are not recorded yet, and forget them."""
        calls, self._kept = tuple(self._kept), []
        return calls

    def advise(self, view: View, brief: Brief, /) -> Advice:
        """Ask the model once, again where the server failed, and read what it answers."""
        names, offered = self._offered(view)
        made = _prompt(view, brief, offered, names)
        before, self.earlier = list(self.earlier), ()
        for one in before:  # they are recorded with the first calls, and so are their costs
            view.budget.charge(Cost(one.tokens, one.usd or Decimal()))
        asking = Asking(PURPOSE, made, "propose", schema(offered), _ANSWER, offered.recorded)
        reply, calls = self._caller.ask(asking, view.budget)
        if reply is None:
            return Advice((), (*before, *calls), final=True)
        answer = read_answer(reply.text, view, offered)
        done = judged(calls, answer.chosen, answer.wrong)
        return Advice(answer.suggestions, (*before, *done))

    @property
    def _caller(self) -> Caller:
        return Caller(self.client, self.spending, self.pause)

    def _offered(self, view: View) -> tuple[Names, Options]:
        """Return the names of a view's graph and what is offered on it, worked out once."""
        names = Names(view.graph)
        key = f"options:{view.marks.failing.value}"
        offered: Options = view.kept.setdefault(key, None) or options(
            view, names, select=self.select
        )
        view.kept[key] = offered
        return names, offered


def _prompt(view: View, brief: Brief, offered: Options, names: Names) -> Prompt:
    """Fill in the prompt; whatever comes from the graph or from a model stands in a fence."""
    past = [f"{one.name} ({one.status}): {one.statement}" for one in brief.asked.past]
    refused = [f"- {one.statement}: {one.fault.reason}" for one in brief.refused]
    return prompt(
        "propose",
        question=brief.asked.question,
        data=fenced(summary(view, offered, names)),
        past=fenced("\n".join(past)) if past else "",
        near=fenced("\n".join(brief.asked.near)) if brief.asked.near else "",
        kept=fenced("\n".join(f"- {one}" for one in brief.kept)) if brief.kept else "",
        refused=fenced("\n".join(refused)) if refused else "",
        lacking=brief.lacking.reason if brief.lacking else "",
        attempt=brief.attempt,
        least=LEAST,
        most=MOST,
        words=WORDS,
        kinds=offered.kinds,
        select=offered.select,
    )
