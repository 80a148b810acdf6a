"""The loop: observe, hypothesize, design, execute, update, decide, and again for what is left.

The record is the state. Each unit of work asks the record whether it is done already, so an
interrupted run goes on where it stood.
"""

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from importlib.metadata import version
from typing import Final, ParamSpec

import pyoxigraph as ox

from kgreason.audit import refuse
from kgreason.base import figures
from kgreason.base.budget import UNLIMITED, Allowance, Budget, Cost, Limits, Metered, Spent, ask
from kgreason.base.errors import RecordError
from kgreason.base.extensions import active
from kgreason.base.figures import integer
from kgreason.base.redaction import without_secrets
from kgreason.base.store import Row
from kgreason.base.templates import template
from kgreason.base.terms import PROV, TRAILS, TYPE
from kgreason.context.called_again import call_again
from kgreason.context.context import Context, marks_of, view_of
from kgreason.context.declared import Declared
from kgreason.context.script import Script, repeat
from kgreason.context.symptom import Symptom
from kgreason.context.view import View
from kgreason.decide.confirm import confirm, confirm_again
from kgreason.decide.decide import conclude, decide
from kgreason.graph import Graph
from kgreason.graph.names import Names
from kgreason.hypothesize.ahead import ahead
from kgreason.hypothesize.hypothesize import hypothesize, set_aside, suggest
from kgreason.hypothesize.proposer import Proposer, engine_proposers
from kgreason.hypothesize.suggestions import Given, scripted
from kgreason.model.model_narrator import ModelNarrator, narrate
from kgreason.model.plain_answer import SKIPPED, answer_plainly, skipped
from kgreason.observe.observe import record_symptoms
from kgreason.observe.opening import Progress, recorded_options
from kgreason.observe.request import Request
from kgreason.record import Record, Step, Written, extended, policy
from kgreason.record.agents import ENGINE, agent, introduce
from kgreason.record.calibration import Calibration
from kgreason.record.joining import joined
from kgreason.record.record import literal, now
from kgreason.record.routing_decision import decision_of, write_decision
from kgreason.record.sub_sessions import PROVISIONAL, write_completion, write_parent
from kgreason.repair.dry_run import dry_run
from kgreason.repair.intervene import REPAIR, intervene, pending_tests, run
from kgreason.test import magnitudes
from kgreason.test.confounders import challenge
from kgreason.test.design import (
    FALLBACK,
    LAST,
    OUTSIDE,
    design,
    design_outside,
    fall_back,
    last_round,
    tell_apart,
)
from kgreason.test.run import Answers, execute, execute_recorded, is_outside
from kgreason.test.tester import Tester

P = ParamSpec("P")
Carrier = Callable[["Investigation", Sequence[Symptom], int], None]
"""Has symptoms looked into elsewhere, in a round, and puts what was written into the record.

What it does not put there is done by whoever called it.
"""
_LEFT_OVER: Final = integer("leastLeftOver")


class Investigation:
    """One run over a graph and its symptoms.

    Without a `budget` of its own it has what the request allows. `suggested` are the hypotheses of
    the request, read; `proposers` are asked beside those that the engine and the request bring,
    `testers` test outside the graph, and the `narrator` tells in the end how the hypotheses
    competed, or answers by itself where the request leaves no time for them. Candidates are looked
    for in as many processes as it has `jobs`; the record does not depend on them. A `carrier` has
    symptoms looked into by workers.
    """

    def __init__(
        self,
        graph: Graph,
        symptoms: Sequence[Symptom],
        record: Record,
        request: Request,
        progress: Progress | None = None,
        rules: policy.Policy | None = None,
        calibration: Calibration | None = None,
        declared: Sequence[Declared] = (),
        budget: Budget | None = None,
        suggested: Sequence[Given] = (),
        proposers: Sequence[Proposer] = (),
        testers: Sequence[Tester] = (),
        jobs: int = 1,
        narrator: ModelNarrator | None = None,
        carrier: Carrier | None = None,
    ) -> None:
        self.record = record
        self._carrier = carrier
        self._through: set[str] = set()
        self._asked_here = bool(proposers)
        self.testers = testers
        self.narrator = narrator
        self.calibration = calibration
        self.request = request
        self.symptoms = sorted(symptoms, key=lambda s: s.index)
        rules = rules or policy.load(request.policy)
        self.context = Context(
            graph, record, rules, request.seed, request.max_hypotheses, Names(graph)
        )
        self.context.declared, self.context.symptoms = declared, self.symptoms
        self.suggested = suggested
        self.context.foreign = bool(suggested or proposers or active())
        self.proposers: tuple[Proposer, ...] = (
            *engine_proposers(rules.numbers),
            *scripted(suggested),
            *proposers,
        )
        record.check = self._fault
        self._progress = progress or (lambda *_: None)
        self._started = time.monotonic()
        self._before = self._elapsed_before()
        # What a budget cut short before the run was interrupted stays cut.
        self.cut: str | None = next((r["cut"].value for r in record.select("cut")), None)
        self._plain = narrator is not None and skipped(request)
        if self._plain:
            self.cut = SKIPPED
        # Who counts units of work, or steps, has to be asked in this process.
        self._jobs = jobs if budget is None and request.max_steps is None else 1
        metered = Metered(budget or self._allowance(), None if self._plain else self.cut)
        self.context.budget = metered
        record.costs = metered.costs

    def _allowance(self) -> Allowance:
        """Return what the request allows, with what earlier sessions have used of them."""
        row = self.record.select("costs")[0]
        cost = Cost(int(row["tokens"].value), Decimal(row["usd"].value))
        limits = Limits(self.request.max_steps, self.request.max_seconds)
        return Allowance(limits, lambda: self.elapsed, lambda: self.steps, cost)

    def _fault(self, written: Written) -> Iterator[str]:
        """Describe what is wrong with a step: shapes, and changes of status that cannot happen."""
        yield from refuse(written)
        yield from self.context.policy.forbidden(written)

    def run(self) -> None:
        """Do what is not done yet, to the end or to the end of the budget.

        What it raises is recorded first, so that an investigation which an error ended says so.
        """
        if self._done("Observe"):
            self._same_symptoms()
        try:
            self._work()
        except Exception as error:
            self._fail(error)
            raise

    def _work(self) -> None:
        self.open()
        if not self._done("Observe"):
            record_symptoms(self.context, self.symptoms, self.request)
        for round_ in range(1, int(self.context.policy.number("rounds")) + 1):
            if not self._round(round_):
                break
        if self.testers and self.cut is None and not self._done("Conclude"):
            for symptom in self.symptoms:
                self._within(self._look_back, symptom)
        if not self._done("Conclude"):
            confirm(self.context, self.symptoms, self.request)
            conclude(self.context, self.symptoms, self.cut, self.calibration)
        if self.narrator is not None and not self._done("Narrate") and not self._done("Finish"):
            self._narrate(self.narrator)
        self._finish()
        if self.request.try_repairs and self.cut is None:
            dry_run(self.context, self.symptoms)

    def open(self) -> None:
        """Record what is asked for and no more; whoever has the IRI can carry it on."""
        if not self._done("Start"):
            self._start()

    def carry_out(self, work: Callable[[], object]) -> None:
        """Record what a strategy does in place of the loop, between the start and the end.

        What the budget ends is cut; what is raised is recorded first, as by `run`.
        """
        try:
            self.open()
            self._within(work)
            self._finish()
        except Exception as error:
            self._fail(error)
            raise

    def _narrate(self, narrator: ModelNarrator) -> None:
        """Let a model tell what came out, or answer where nothing competed; it changes nothing."""
        self._progress("telling", 0, 0)
        if self._plain:
            answer_plainly(self.context, self.symptoms, narrator.caller)
        else:
            narrate(self.context, self.symptoms, narrator)

    def follow(self, recorded: Record) -> None:
        """Do again what a recorded investigation did, step by step.

        What it proposed and designed is taken as it is recorded; its tests are run and judged anew.
        """
        self.context.budget = UNLIMITED
        self.context.foreign = True
        script = Script(recorded, self.record)
        known = {symptom.node: symptom for symptom in self.symptoms}
        for row in script.rows():
            self.cut = row["cut"].value if "cut" in row else self.cut
            if row["phase"] == TRAILS.Settle:
                confirm_again(self.context, script, row)
            else:
                self._again(row, known, script)

    def _again(self, row: Row, symptoms: Mapping[ox.NamedNode, Symptom], script: Script) -> None:
        context, phase = self.context, row["phase"]
        if phase == TRAILS.Start:
            self._start()
        elif phase == TRAILS.Observe:
            record_symptoms(context, self.symptoms, self.request)
        elif phase in {
            *(TRAILS.Hypothesize, TRAILS.Design, TRAILS.Send, TRAILS.Join),
            *(TRAILS.Narrate, TRAILS.Fail),
        }:
            repeat(context, script, row)
        elif phase == TRAILS.Plan:
            call_again(context, script, row, self.request.query_seconds)
        elif phase == TRAILS.Execute and self._outside(row):
            execute_recorded(context, script, row)
        elif phase == TRAILS.Execute:
            symptom = symptoms[ox.NamedNode(row["symptom"].value)]
            run(context, symptom, ox.NamedNode(row["test"].value))
        elif phase == TRAILS.Decide:
            decide(context, int(row["round"].value), self.cut)
        elif phase == TRAILS.Conclude:
            conclude(context, self.symptoms, self.cut, self.calibration)
        elif phase == TRAILS.Finish:
            self._finish()

    def _outside(self, row: Row) -> bool:
        """Check whether a recorded step ran a test that is no work of the engine."""
        test = ox.NamedNode(row["test"].value)
        return is_outside(self.record.select("test", test=test)[0])

    def _round(self, round_: int) -> bool:
        """Run one round on every symptom that is open; False when there is no more to decide."""
        if self._done("Decide", round_=round_):
            return self.cut is None
        open_ = self._open(round_)
        if not open_ and round_ > self.context.policy.numbers.get("leastRounds", 1):
            return False
        left = open_[self._looked_into(open_, round_) :]
        self._progress(f"round {round_}", len(open_) - len(left), len(open_))
        left = self._not_elsewhere(left, round_)
        with ahead(self._to_propose(left, round_), self.proposers, self._jobs):
            for position, symptom in enumerate(left, len(open_) - len(left)):
                self._progress(f"round {round_}", position, len(open_))
                if self.cut is not None or not self._within(self._look_into, symptom, round_):
                    break
        if self.cut is not None:
            for symptom in open_:
                if not self._done("Hypothesize", symptom):
                    set_aside(self.context, symptom, self.cut)
        self._progress(f"round {round_}", len(open_), len(open_))
        if self.request.interventions:
            most = self.request.interventions
            self._within(intervene, self.context, open_, round_, most)
        decide(self.context, round_, self.cut)
        return self.cut is None

    def _not_elsewhere(self, symptoms: Sequence[Symptom], round_: int) -> list[Symptom]:
        """Have workers look into symptoms, where there are any; returns what is left for us."""
        there = joined(self.record)
        for symptom in symptoms:
            if self.cut is None and work_name(symptom, round_) in there:
                self.look_outside(symptom.index, round_)
        if self._carrier is not None and self.cut is None and symptoms:
            if not self._asked_here or self._proposed(symptoms, round_):
                self._carrier(self, symptoms, round_)
            there = joined(self.record)
        cuts = (there[n].cut for s in symptoms if (n := work_name(s, round_)) in there)
        self.cut = self.cut or next(filter(None, cuts), None)
        done = there.keys() | self._through
        return [s for s in symptoms if work_name(s, round_) not in done]

    def _proposed(self, symptoms: Sequence[Symptom], round_: int) -> bool:
        """Propose for symptoms before they are sent, where others are asked, whom no worker has."""
        there = joined(self.record)
        left = [symptom for symptom in symptoms if work_name(symptom, round_) not in there]
        with ahead(self._to_propose(left, round_), self.proposers, self._jobs):
            for symptom in left:
                if not self._done("Hypothesize", symptom, round_):
                    self._within(hypothesize, self.context, symptom, round_, self.proposers)
        return self.cut is None

    def _to_propose(self, symptoms: Sequence[Symptom], round_: int) -> list[View]:
        """Return the views on which candidates will be looked for, where that can be done ahead.

        In a later round they are looked for where something was taken out.
        """
        if self._jobs == 1:
            return []
        views = []
        for symptom in symptoms:
            if symptom.counted and not self._done("Hypothesize", symptom, round_):
                view = view_of(self.context, symptom, round_)
                before = view_of(self.context, symptom, round_ - 1) if round_ > 1 else None
                if before is None or view.marks is not before.marks:
                    views.append(view)
        return [view for view in views if view.marks.failing_count]

    def _looked_into(self, symptoms: Sequence[Symptom], round_: int) -> int:
        """Return how many symptoms a round is done with; the budget is not asked about them again.

        Those before the last one that was begun are, and all where a repair was designed. Where
        several were proposed for in a row, the first of them is the one that was begun, for then
        all were to be sent to workers.
        """
        decided = max((_number(r) for r in self._steps("Decide")), default=0)
        designed = [r for r in self._steps("Design") if _number(r) > decided]
        if any(_int(row.get("stage")) == REPAIR for row in designed):
            return len(symptoms)
        tested = max(map(_number, designed), default=0)
        places = {symptom.node.value: place for place, symptom in enumerate(symptoms)}
        begun = [
            places[row["symptom"].value]
            for row in self._steps("Hypothesize")
            if _number(row) > max(decided, tested) and _int(row.get("round")) == round_
            if "symptom" in row and row["symptom"].value in places
        ]
        if begun:
            return min(begun)
        about = (row["symptom"].value for row in designed if "symptom" in row)
        return max((places.get(one, 0) for one in about), default=0)

    def _within(self, work: Callable[P, object], *args: P.args, **more: P.kwargs) -> bool:
        """Do some work as far as the budget goes; where that was not all, note what was cut."""
        try:
            work(*args, **more)
        except Spent as reason:
            self.cut = str(reason)
        return self.cut is None

    def take_state(self, record: Record, seconds: float) -> None:
        """Take another state of the same investigation, after so many seconds of work."""
        self.record = self.context.record = record
        self._before, self._started, self.cut = seconds, time.monotonic(), None
        metered = Metered(self._allowance())
        self.context.budget, record.costs, record.check = metered, metered.costs, self._fault

    def look_into(self, index: int, round_: int) -> str | None:
        """Look into a symptom in a round, as one step of work; gives why it was cut, if it was."""
        symptom = self._symptom(index)
        self._within(self._look_into, symptom, round_)
        self._through.add(work_name(symptom, round_))
        return self.cut

    def look_outside(self, index: int, round_: int) -> str | None:
        """Do what no worker does for a symptom that one looked into; gives why it was cut."""
        self._within(self._look_outside, self._symptom(index), round_)
        return self.cut

    def _symptom(self, index: int) -> Symptom:
        return next(each for each in self.symptoms if each.index == index)

    def _look_into(self, symptom: Symptom, round_: int) -> None:
        if not self._done("Hypothesize", symptom, round_):
            hypothesize(self.context, symptom, round_, self.proposers)
        if not self._done("Design", symptom, round_, stage=1):
            design(self.context, symptom, round_)
        self._execute_all(symptom)
        if not self._done("Design", symptom, round_, stage=2):
            ask(self.context.budget, "rivals")
            tell_apart(self.context, symptom, round_)
        self._execute_all(symptom)
        if not self._done("Design", symptom, round_, stage=3):
            ask(self.context.budget, "confounders")
            challenge(self.context, symptom, round_)
        self._execute_all(symptom)
        if not self._done("Design", symptom, round_, stage=magnitudes.STAGE):
            magnitudes.compare(self.context, symptom, round_)
        self._execute_all(symptom)
        self._look_outside(symptom, round_)

    def _look_outside(self, symptom: Symptom, round_: int) -> None:
        """Have testers outside the graph test what there is, where there are any."""
        if not self.testers:
            return
        if not self._done("Design", symptom, round_, stage=OUTSIDE):
            design_outside(self.context, symptom, round_, self.testers)
        self._execute_all(symptom)
        if not self._done("Design", symptom, round_, stage=FALLBACK):
            fall_back(self.context, symptom, round_, self.testers, last=False)
        self._execute_all(symptom)

    def _look_back(self, symptom: Symptom) -> None:
        """Let testers fall back a last time, where it is known what held."""
        round_ = last_round(self.context, symptom)
        if round_ and not self._done("Design", symptom, stage=LAST):
            fall_back(self.context, symptom, round_, self.testers, last=True)
        if round_:
            self._execute_all(symptom)

    def _execute_all(self, symptom: Symptom) -> None:
        while pending := pending_tests(self.context, symptom):
            tests = [ox.NamedNode(row["test"].value) for row in pending]
            with Answers(self.context, symptom, tests) as answers:
                for test in tests:
                    ask(self.context.budget, "test")
                    execute(self.context, symptom, test, answers, self.testers)

    def _open(self, round_: int) -> list[Symptom]:
        by_size = sorted(self.symptoms, key=lambda s: (-len(s.failing), s.index))
        if round_ == 1:
            return by_size
        rows = self.record.select("supported-in-round", round=literal(round_ - 1))
        changed = {row["symptom"].value for row in rows}
        changed |= {row["symptom"].value for row in self.record.select("reopened")}
        changed -= {row["symptom"].value for row in self.record.select("converged")}
        # In a round that was interrupted, those that were looked into may be open no longer.
        changed |= {s.node.value for s in by_size if self._done("Hypothesize", s, round_)}
        return [one for one in by_size if one.node.value in changed and self._enough(one, round_)]

    def _enough(self, symptom: Symptom, round_: int) -> bool:
        """Check whether enough nodes fail for a further round; all are left where none was told."""
        left = marks_of(self.context, symptom, round_).failing_count
        told = left < len(symptom.failing)
        return left >= max(
            int(self.context.policy.number("leastFailing")), _LEFT_OVER if told else 0
        )

    @property
    def elapsed(self) -> float:
        """Seconds of work so far, over all sessions."""
        return self._before + time.monotonic() - self._started

    @property
    def steps(self) -> int:
        """Steps recorded so far, but those that only send work to workers or join it."""
        rows = self.record.select("head")
        spread = len([*self._steps("Send"), *self._steps("Join")])
        return int(rows[0]["head"].value.rpartition(":")[2]) - spread if rows else 0

    def _same_symptoms(self) -> None:
        """Refuse to go on where what is seen now is not what was seen when it began."""
        known = {
            row["symptom"]: (row["key"].value, int(row["failing"].value))
            for row in self.record.select("symptom-keys")
        }
        if known != {s.node: (s.constraint.key, len(s.failing)) for s in self.symptoms}:
            raise RecordError(
                f"{self.record.iri.value}: the symptoms are not those that were recorded, although "
                "the files are the same; start a new one with `kgreason investigate`."
            )

    def _elapsed_before(self) -> float:
        rows = self.record.select("sessions")
        return float(rows[0]["seconds"].value) if rows and "seconds" in rows[0] else 0.0

    def _done(
        self, phase: str, symptom: Symptom | None = None, round_: int = 0, stage: int = 0
    ) -> bool:
        rows = (
            self._steps(phase)
            if symptom is None
            else self.record.select("steps-about", phase=TRAILS[phase], symptom=symptom.node)
        )
        return any(
            (not round_ or _int(row.get("round")) == round_)
            # A stage without a test to register has no step; a later one says that it was done.
            and (not stage or (_int(row.get("stage")) or 0) >= stage)
            for row in rows
        )

    def _steps(self, phase: str) -> list[Row]:
        return self.record.select("steps-of", phase=TRAILS[phase])

    def _start(self) -> None:
        step = self.record.step("Start")
        graph, node = self.context.graph, self.record.iri
        step.add(node, TYPE, TRAILS.Investigation, PROV.Activity)
        step.describe(
            node,
            step=step.node,
            question=self._question(),
            correlation=self.request.correlation,
            conversation=self.request.conversation,
            policy=self.context.policy.iri,
            figures=figures.ENGINE,
            seed=self.request.seed,
            fingerprint=graph.fingerprint,
            triples=graph.triples,
            graphs=graph.graphs,
            options=recorded_options(self.request, graph),
            state=TRAILS.Running,
            notice=sorted({*graph.notices, *((PROVISIONAL,) if self.request.parent else ())}),
        )
        write_parent(step, node, self.request.parent, self.request.assignment, self.request.depth)
        step.triples += self.context.policy.triples
        step.triples += figures.copied()
        step.add(figures.ENGINE, TRAILS.step, step.node)
        for subject in dict.fromkeys(t.subject for t in self.context.policy.triples):
            if isinstance(subject, ox.NamedNode):
                step.add(subject, TRAILS.step, step.node)
        extended.describe(step, node)
        self._agents(step, node)
        for one in self.suggested:
            suggest(step, one)
        if self.request.routing is not None:
            hidden, routing = graph.hidden, self.request.routing
            said = routing if hidden is None else hidden.within(routing)
            write_decision(self.record, step, decision_of(said))
        self.record.commit(step)

    def _question(self) -> str | None:
        """Return the question as it is kept: a value in it is kept out with the others."""
        asked, hidden = self.request.question, self.context.graph.hidden
        return asked if asked is None or hidden is None else hidden.text(asked)

    def _agents(self, step: Step, node: ox.NamedNode) -> None:
        step.add(node, PROV.startedAtTime, now())
        asking = agent(self.request.principal)
        step.add(node, PROV.wasAssociatedWith, ENGINE.iri, asking.iri)
        own = (*engine_proposers(self.context.policy.numbers), *scripted(self.suggested))
        introduce(self.record, step, (ENGINE, asking, *(each.agent for each in own)))
        step.describe(ENGINE.iri, softwareVersion=version("kgreason"))
        step.add(ENGINE.iri, PROV.actedOnBehalfOf, asking.iri)

    def _fail(self, error: Exception) -> None:
        """Record the error that ends the run, if anything of it is recorded and can still be."""
        self.record.forget()
        with contextlib.suppress(Exception):  # the error itself is told to whoever called
            if not self._done("Start") or self._done("Finish"):
                return
            step = self.record.step("Fail")
            message = without_secrets(str(error))
            step.describe(step.node, errorType=type(error).__name__, errorMessage=message)
            write_completion(self.record, step, self.request.assignment, message)
            self.record.commit(step)

    def _finish(self) -> None:
        if self._done("Finish"):
            return
        step = self.record.step("Finish")
        step.describe(step.node, elapsed=Decimal(f"{self.elapsed:.3f}"), cut=self.cut)
        step.add(self.record.iri, PROV.endedAtTime, now())
        finished = template("record", "set-state")
        step.apply(finished.render(investigation=self.record.iri, state=TRAILS.Finished))
        write_completion(self.record, step, self.request.assignment)
        self.record.commit(step)


def work_name(symptom: Symptom, round_: int) -> str:
    """Return the name of a step of work: to look into a symptom in a round."""
    return f"round-{round_}-symptom-{symptom.index}"


def _int(term: object) -> int | None:
    return int(term.value) if isinstance(term, ox.Literal) else None


def _number(row: Row) -> int:
    return int(row["step"].value.rpartition(":")[2])
