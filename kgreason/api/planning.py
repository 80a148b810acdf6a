"""Ask by a strategy: route the question, work on it, and compare strategies on one question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from kgreason.api.asking import LEDGER, brought, result
from kgreason.api.routed import Routing
from kgreason.audit import recheck
from kgreason.base.budget import Limits
from kgreason.base.errors import LedgerError, OptionError
from kgreason.base.extensions import joined, read_all, using
from kgreason.base.resources import DEFAULT_POLICY
from kgreason.base.terms import TRAILS
from kgreason.graph import Graph
from kgreason.graph.given import Source, Sources
from kgreason.model.calling import Caller
from kgreason.model.opening import model_of
from kgreason.observe.opening import Notice, Progress, load_graph
from kgreason.observe.request import Paths, Request, correlation_name
from kgreason.observe.request import paths as paths_of
from kgreason.planner.asked_factor import suspects
from kgreason.planner.going_on import before_in, goes_on, made_whole
from kgreason.planner.named_findings import named as findings_named
from kgreason.planner.plan_result import trajectory
from kgreason.planner.reasoner import Reasoner
from kgreason.planner.splitting import split_kinds
from kgreason.planner.strategies import strategies
from kgreason.planner.strategies import strategy as strategy_of
from kgreason.planner.strategy_protocol import PlanContext, PlanResult, PlanStep
from kgreason.planner.supervisor import Supervisor
from kgreason.planner.tool_catalogue import scopes_of
from kgreason.queue.opening_queue import carried
from kgreason.record import Ledger, node_name
from kgreason.record.agents import agent
from kgreason.routing.router import AtHand
from kgreason.routing.router import route as decide
from kgreason.routing.task_types import task_types
from kgreason.run import Told

_OF_WORKERS: Final = ("hypothesis", "supervisor")


def whole_question(
    question: str,
    data: Sources,
    *,
    ontology: Sources = (),
    lenient: bool = False,
    conversation: str | None = None,
    ledger: str | Path | None = None,
    extend: Paths = (),
) -> str:
    """Return a question with what it takes over from the one before it in a `conversation`.

    "And for transfer shipments?" is made whole by the names in the graph. Any other question, and
    the first of a conversation, is returned as it is.
    """
    if conversation is None or ledger is None:
        return question
    with using(joined(read_all(paths_of(extend)))):
        if not goes_on(question):
            return question
        try:
            with Ledger.read(Path(ledger)) as opened:
                before = before_in(opened, correlation_name(conversation, "conversation"))
        except LedgerError:  # nothing was asked yet
            return question
        paths, objects = brought({"data": data, "ontology": ontology})
        graph = load_graph(Request(**paths, lenient=lenient, objects=objects))
        made = (made_whole(question, one, graph) for one in before)
        return next((one for one in made if one != question), question)


def routed(
    question: str,
    *,
    shapes: bool = False,
    outcome: bool = False,
    small_budget: bool = False,
    model: bool = False,
    conversation: str | None = None,
    wanted: str | None = None,
    said: str | None = None,
    principal: str | None = None,
    extend: Paths = (),
    unread: str = "",
) -> Routing:
    """Route a question to one of the strategies that can be run; raises OptionError.

    `wanted` is the strategy that `principal` asks for; in a `conversation` a question may name what
    an earlier one found. `said` is the question as it was asked, where it was made whole; `unread`
    the strategy that it was routed to before, and that could not read it. The rest is as for
    `route`.
    """
    finding = conversation is not None and bool(findings_named(question))
    with using(joined(read_all(paths_of(extend)))):
        known = set(strategies())
        if wanted is not None:
            strategy_of(wanted)
        if wanted != Supervisor.name:  # it divides broken rules, and not what else is asked for
            known.discard(Supervisor.name)
        at_hand = AtHand(
            shapes,
            outcome,
            small_budget=small_budget,
            model=model,
            finding=finding,
            suspect=suspects(question),
            runnable=frozenset(known),
        )
        made = decide(question, at_hand, strategy=wanted, asked_by=agent(principal), unread=unread)
    if said is not None and said != question:
        why = f"“{said}” goes on from the question before it, and is read as “{question}”."
        made = replace(made, rationale=f"{why} {made.rationale}")
    return Routing(question, made)


def plan(
    question: str,
    data: Sources,
    *,
    strategy: str | None = None,
    shapes: Sources = (),
    ontology: Sources = (),
    outcome: Source | None = None,
    lenient: bool = False,
    policy: str | Path = DEFAULT_POLICY,
    seed: int = 0,
    max_steps: int | None = None,
    max_seconds: float | None = None,
    extend: Paths = (),
    principal: str | None = None,
    correlation: str | None = None,
    conversation: str | None = None,
    model: str | None = None,
    max_tokens: int | None = None,
    max_usd: float | None = None,
    prices: str | Path | None = None,
    reasoner: Reasoner | None = None,
    caller: Caller | None = None,
    routing: Routing | None = None,
    ledger: str | Path | None = None,
    folder: str | Path | None = None,
    queue: str | Path | None = None,
    split: str | None = None,
    goals: Sequence[str] = (),
    jobs: int = 1,
    progress: Progress | None = None,
    notice: Notice | None = None,
    told: Told | None = None,
) -> PlanResult:
    """Answer a question about a graph by a strategy, and return the plan with its steps.

    Without `strategy` the question is routed; the decision is in the record either way, and
    `routing` is one that was made before. `reasoner` or `caller` (a model) decide in place of the
    rules of decision, as `model` does. The other arguments are those of `investigate`; shapes and
    an outcome may be left out. A `queue` is of use to supervisors and hypotheses; `split` is by
    what a supervisor divides (symptom, class, source, or "source,symptom"), `goals` into what.
    Causes are looked for, and goals worked on, in `jobs` processes. Raises KgreasonError.
    """
    named = {"data": data, "shapes": shapes, "ontology": ontology, "outcome": outcome}
    paths, objects = brought(named)
    beside: dict[str, Any] = {"conversation": conversation, "extend": extend}
    read: dict[str, Any] = {"ontology": ontology, "lenient": lenient, "ledger": ledger}
    said, question = question, whole_question(question, data, **read, **beside)
    made = routing or routed(
        question,
        said=said,
        shapes=bool(paths["shapes"]),
        outcome=outcome is not None,
        small_budget=max_steps is not None or max_seconds is not None,
        model=model is not None or caller is not None,
        wanted=strategy,
        principal=principal,
        **beside,
    )
    request = Request(
        **paths,
        question=question,
        lenient=lenient,
        policy=str(policy),
        seed=seed,
        extend=paths_of(extend),
        principal=principal,
        correlation=_named(correlation, "correlation"),
        conversation=_named(conversation, "conversation"),
        model=model,
        max_tokens=max_tokens,
        max_usd=max_usd,
        prices=None if prices is None else str(prices),
        routing=made.decision.as_dict(),
        objects=objects,
    )
    if model is not None and caller is None:
        caller = Caller(*model_of(request))
    context = PlanContext(
        request, None if ledger is None else Path(ledger), reasoner, caller,
        None if folder is None else Path(folder), progress, notice, told, jobs,
        _division(split, goals, made.decision.pattern, model=caller is not None),
    )  # fmt: skip
    budget = Limits(max_steps, max_seconds, max_tokens, max_usd)
    return _worked(made.decision.pattern, question, context, budget, queue)


def _division(
    split: str | None, goals: Sequence[str], pattern: str, *, model: bool
) -> dict[str, Any]:
    """Return how a supervisor is to divide, nothing where that is not said; raises OptionError."""
    if split is None and not goals:
        return {}
    split_kinds(split, goals, model=model)
    if pattern != Supervisor.name:
        raise OptionError(
            f"--{'goal' if goals else 'split'} is about --strategy {Supervisor.name}; leave it out."
        )
    return {"split": split, "goals": tuple(goals)}


def _worked(
    pattern: str, question: str, context: PlanContext, budget: Limits, queue: str | Path | None
) -> PlanResult:
    """Work on a question by a strategy, with the workers of a queue where one is named."""
    if context.jobs < 1:
        raise OptionError("--jobs must be at least 1.")
    if queue is not None and pattern not in _OF_WORKERS:
        raise OptionError(
            f"--queue: the strategy {pattern} works in one process; leave --queue out, or ask for "
            f"the strategy {' or '.join(_OF_WORKERS)}."
        )
    extend, notice = context.request.extend, context.notice
    with using(joined(read_all(extend))), carried(queue, notice) as carrier:
        if carrier is not None:
            context = replace(context, more=context.more | {"carrier": carrier})
        return strategy_of(pattern).run(question, context, budget)


def _named(name: str | None, of: str) -> str | None:
    """Return the name of a correlation or conversation as it is recorded."""
    return None if name is None else correlation_name(name, of)


@dataclass(frozen=True)
class StrategyRow:
    """What one strategy made of a question, for a comparison.

    `cause` is the first cause and `confidence` the greatest of its hypotheses, None where there is
    none. `citations_valid` are those of the `citations` that the data still bear out.
    """

    strategy: str
    answered: bool
    answer: str
    cause: str | None
    confidence: float | None
    citations: int
    citations_valid: int
    steps: int
    tests: int
    tokens: int
    usd: float
    seconds: float
    investigation: str


def compare_strategies(
    question: str, data: Sources, names: Sequence[str], *, ontology: Sources = (), **options: Any
) -> list[StrategyRow]:
    """Work on one question by several strategies, one after the other, and compare what comes out.

    Each has a record of its own. `options` are those of `plan`. Those that look up what earlier
    investigations found begin, so that none is told what another one finds here. Every citation is
    looked up in the data again. Raises OptionError for a strategy that is not there, before any is
    run.
    """
    with using(joined(read_all(paths_of(options.get("extend", ()))))):
        for name in names:
            strategy_of(name)
    paths, objects = brought({"data": data, "ontology": ontology})
    graph = load_graph(Request(**paths, objects=objects))
    rows = {}
    wanted = list(dict.fromkeys(names))
    for name in sorted(wanted, key=_finds_causes):
        made = plan(question, data, ontology=ontology, strategy=name, **options)
        rows[name] = _row(made, graph)
        made.result.close()
    return [rows[name] for name in wanted]


def _finds_causes(name: str) -> bool:
    """Check whether a strategy may leave causes in the ledger that another one would look up."""
    pattern = task_types().patterns.get(name)
    return pattern is None or TRAILS.WriteRecordScope.value in scopes_of(pattern.iri)


def _row(made: PlanResult, graph: Graph) -> StrategyRow:
    record = made.result.record
    wrong = {one.node for one in recheck(record, graph, regions=False)}
    stale = {
        node_name(row["node"])
        for row in record.select("cited-by")
        if row["citation"].value in wrong
    }
    first, used = next(iter(made.causes), None), made.usage
    return StrategyRow(
        made.strategy,
        made.answered,
        made.answer,
        None if first is None else first.statement,
        None if first is None else first.confidence,
        len(made.citations),
        len(set(made.citations) - stale),
        used.steps,
        used.tests,
        used.tokens,
        float(used.usd),
        used.seconds,
        made.investigation,
    )


def steps(
    ledger: str | Path = LEDGER, which: str | int | None = None, *, extend: Paths = ()
) -> tuple[PlanStep, ...]:
    """Return the steps of an investigation in a ledger (the latest), whatever strategy made them.

    Raises LedgerError.
    """
    with result(ledger, which, extend=extend) as found:
        return trajectory(found.record)
