"""The loop: observe, hypothesize, design, execute, update, decide, and again for what is left.

The record is the state. Each unit of work asks the record whether it is done already, so an
interrupted run goes on where it stood.
"""

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from decimal import Decimal
from importlib.metadata import version
from typing import Any, Final

import pyoxigraph as ox

from kgreason import phases, policy
from kgreason.audit import refuse
from kgreason.calibration import Calibration
from kgreason.graph import Graph
from kgreason.graph.names import Names
from kgreason.ledger import Record, Step, Written
from kgreason.ledger.record import literal, now
from kgreason.phases import Bench, Script, Symptom
from kgreason.phases.complete import Declared
from kgreason.phases.intervene import intervene, run
from kgreason.store import Row
from kgreason.templates import template
from kgreason.terms import PROV, RDF, TRAILS, TYPE

Progress = Callable[[str, int, int], None]
"""Called with what is going on, how much is done and how much there is."""

_AGENT: Final = ox.NamedNode("urn:kgreason:agent")


@dataclass(frozen=True)
class Budget:
    """When to stop: hypotheses a symptom, steps and seconds in all (None is without limit).

    `interventions` is how many repairs are tried at most, in all.
    """

    hypotheses: int = 6
    steps: int | None = None
    seconds: float | None = None
    interventions: int = 0


@dataclass(frozen=True)
class Plan:
    """Everything an investigation was asked; kept in the record, so that it can be resumed."""

    question: str | None = None
    policy: str = policy.DEFAULT
    seed: int = 0
    budget: Budget = field(default_factory=Budget)
    options: dict[str, Any] = field(default_factory=dict)


class Investigation:
    """One run over a graph and its symptoms."""

    def __init__(
        self,
        graph: Graph,
        symptoms: Sequence[Symptom],
        record: Record,
        plan: Plan,
        progress: Progress | None = None,
        rules: policy.Policy | None = None,
        calibration: Calibration | None = None,
        declared: Sequence[Declared] = (),
    ) -> None:
        self.record = record
        self.calibration = calibration
        self.plan = plan
        self.symptoms = sorted(symptoms, key=lambda s: s.index)
        rules = rules or policy.load(plan.policy)
        self.bench = Bench(graph, record, rules, plan.seed, plan.budget.hypotheses, Names(graph))
        self.bench.declared = declared
        record.check = self._fault
        self._progress = progress or (lambda *_: None)
        self._started = time.monotonic()
        self._before = self._elapsed_before()
        self.cut: str | None = None

    def _fault(self, written: Written) -> Iterator[str]:
        """Say what is wrong with a step: the shapes, and changes of status that cannot happen."""
        yield from refuse(written)
        yield from self.bench.policy.forbidden(written)

    def run(self) -> None:
        """Do what is not done yet, to the end or to the end of the budget."""
        if not self._done("Start"):
            self._start()
        if not self._done("Observe"):
            phases.record_symptoms(self.bench, self.symptoms)
        for round_ in range(1, int(self.bench.policy.number("rounds")) + 1):
            if not self._round(round_):
                break
        if not self._done("Conclude"):
            phases.conclude(self.bench, self.symptoms, self.cut, self.calibration)
        self._finish()

    def follow(self, recorded: Record) -> None:
        """Do again what a recorded investigation did, step by step.

        What it proposed and designed is taken as it is recorded; its tests are run and judged anew.
        """
        script = Script(recorded, self.record)
        known = {symptom.node: symptom for symptom in self.symptoms}
        for row in script.rows():
            if "cut" in row:
                self.cut = row["cut"].value
            self._again(row, known, script)

    def _again(self, row: Row, symptoms: Mapping[ox.NamedNode, Symptom], script: Script) -> None:
        bench, phase = self.bench, row["phase"]
        if phase == TRAILS.Start:
            self._start()
        elif phase == TRAILS.Observe:
            phases.record_symptoms(bench, self.symptoms)
        elif phase in {TRAILS.Hypothesize, TRAILS.Design}:
            phases.repeat(bench, script, row)
        elif phase == TRAILS.Execute:
            symptom = symptoms[ox.NamedNode(row["symptom"].value)]
            run(bench, symptom, ox.NamedNode(row["test"].value))
        elif phase == TRAILS.Decide:
            phases.decide(bench, int(row["round"].value))
        elif phase == TRAILS.Conclude:
            phases.conclude(bench, self.symptoms, self.cut, self.calibration)
        elif phase == TRAILS.Finish:
            self._finish()

    def _round(self, round_: int) -> bool:
        """Run one round on every symptom that is open; False when there is no more to decide."""
        if self._done("Decide", round_=round_):
            # What was open when it began can no longer be asked of the record.
            return not (self.record.select("open-tests") and self._spent())
        open_ = self._open(round_)
        if not open_ and round_ > self.bench.policy.numbers.get("leastRounds", 1):
            return False
        for position, symptom in enumerate(open_):
            self._progress(f"round {round_}", position, len(open_))
            if self._spent():
                break
            self._look_into(symptom, round_)
        if self.cut is not None:
            for symptom in open_:
                if not self._done("Hypothesize", symptom):
                    phases.set_aside(self.bench, symptom, self.cut)
        self._progress(f"round {round_}", len(open_), len(open_))
        if self.plan.budget.interventions and not self._spent():
            intervene(self.bench, open_, round_, self.plan.budget.interventions)
        phases.decide(self.bench, round_)
        return self.cut is None

    def _look_into(self, symptom: Symptom, round_: int) -> None:
        if not self._done("Hypothesize", symptom, round_):
            phases.hypothesize(self.bench, symptom, round_)
        if not self._done("Design", symptom, round_, stage=1):
            phases.design(self.bench, symptom, round_)
        self._execute_all(symptom)
        if self._spent():
            return
        if not self._done("Design", symptom, round_, stage=2):
            phases.tell_apart(self.bench, symptom, round_)
        self._execute_all(symptom)
        if self._spent():
            return
        if not self._done("Design", symptom, round_, stage=3):
            phases.challenge(self.bench, symptom, round_)
        self._execute_all(symptom)

    def _execute_all(self, symptom: Symptom) -> None:
        while pending := self.record.select("pending-tests", symptom=symptom.node):
            for row in pending:
                if self._spent():
                    return
                run(self.bench, symptom, ox.NamedNode(row["test"].value))

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
        least = int(self.bench.policy.number("leastFailing"))
        out = []
        for symptom in by_size:
            if symptom.node.value in changed:
                marks = phases.marks_of(self.bench, symptom, round_)
                if marks.failing_count >= least:
                    out.append(symptom)
        return out

    def _spent(self) -> bool:
        """Say whether the budget is spent, and note what was cut."""
        budget = self.plan.budget
        if self.cut is None and budget.seconds is not None and self.elapsed > budget.seconds:
            self.cut = f"stopped after {budget.seconds:g} seconds"
        if self.cut is None and budget.steps is not None and self.steps >= budget.steps:
            self.cut = f"stopped after {budget.steps} steps"
        return self.cut is not None

    @property
    def elapsed(self) -> float:
        """Seconds of work so far, over all sessions."""
        return self._before + time.monotonic() - self._started

    @property
    def steps(self) -> int:
        """Steps recorded so far."""
        rows = self.record.select("head")
        return int(rows[0]["head"].value.rpartition(":")[2]) if rows else 0

    def _elapsed_before(self) -> float:
        rows = self.record.select("sessions")
        return float(rows[0]["seconds"].value) if rows and "seconds" in rows[0] else 0.0

    def _done(
        self, phase: str, symptom: Symptom | None = None, round_: int = 0, stage: int = 0
    ) -> bool:
        rows = self.record.select("steps-of", phase=TRAILS[phase])
        return any(
            (symptom is None or row.get("symptom") == symptom.node)
            and (not round_ or _int(row.get("round")) == round_)
            # A stage without a test to register has no step; a later one says that it was done.
            and (not stage or (_int(row.get("stage")) or 0) >= stage)
            for row in rows
        )

    def _start(self) -> None:
        step = self.record.step("Start")
        graph, node = self.bench.graph, self.record.iri
        step.add(node, TYPE, TRAILS.Investigation, PROV.Activity)
        step.describe(
            node,
            step=step.node,
            number=self.record.number,
            question=self.plan.question,
            policy=self.bench.policy.iri,
            seed=self.plan.seed,
            fingerprint=graph.fingerprint,
            triples=graph.triples,
            graphs=graph.graphs,
            options=ox.Literal(json.dumps(asdict(self.plan), sort_keys=True), datatype=RDF.JSON),
            state=TRAILS.Running,
            notice=sorted(set(graph.notices)),
        )
        step.triples += self.bench.policy.triples
        for subject in dict.fromkeys(t.subject for t in self.bench.policy.triples):
            if isinstance(subject, ox.NamedNode):
                step.add(subject, TRAILS.step, step.node)
        self._agents(step, node)
        self.record.commit(step)

    def _agents(self, step: Step, node: ox.NamedNode) -> None:
        step.add(node, PROV.startedAtTime, now())
        step.add(node, PROV.wasAssociatedWith, _AGENT)
        step.add(_AGENT, TYPE, PROV.SoftwareAgent, PROV.Agent)
        step.describe(_AGENT, step=step.node, softwareVersion=version("kgreason"))

    def _finish(self) -> None:
        if self._done("Finish"):
            return
        step = self.record.step("Finish")
        step.describe(step.node, elapsed=Decimal(f"{self.elapsed:.3f}"), cut=self.cut)
        step.add(self.record.iri, PROV.endedAtTime, now())
        finished = template("record", "set-state")
        step.apply(finished.render(investigation=self.record.iri, state=TRAILS.Finished))
        self.record.commit(step)


def _int(term: object) -> int | None:
    return int(term.value) if isinstance(term, ox.Literal) else None
