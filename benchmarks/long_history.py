"""Write a reasoning history of any length that the audit finds sound: made-up data, real record.

Every step goes through `Record.commit` with the check of the audit, every update through the
shipped templates, every figure through the readers of the kinds of test; decisions and claims are
those of the phases. What is made up is the data: counts drawn by a seeded generator, under them one
cause in some symptoms and none in others. A symptom has one frame of four hypotheses and
a catch-all, each of the four is put to two tests, so a symptom takes eleven steps and 44 updates.
"""

import argparse
import json
import random
from collections.abc import Mapping, Sequence
from decimal import Decimal
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

import pyoxigraph as ox

from kgreason.audit import refuse
from kgreason.base import figures
from kgreason.base.detectable import detectable
from kgreason.base.statistics import Table
from kgreason.base.store import Row
from kgreason.base.templates import template
from kgreason.base.terms import PROV, RDF, RDFS, SH, TRAILS, TYPE, XSD
from kgreason.decide.claim import claim
from kgreason.decide.decide import WITHOUT_CAUSE, decide, smallest
from kgreason.decide.joint import explain
from kgreason.hypothesize.wording import MORE_OFTEN
from kgreason.record import Ledger, Record, Step, policy
from kgreason.record.policy import kinds
from kgreason.record.ranking import hypotheses, is_faint
from kgreason.record.record import now
from kgreason.record.test_kinds import role_of
from kgreason.test import association, counterexamples
from kgreason.test.finding import Finding, Setting, decimal

UPDATES: Final = 44
"""Updates of confidence and e-processes that one symptom takes."""
MEMBERS: Final = 4
CITED: Final = 5
_NODES: Final = 400  # each half
_AGENT: Final = ox.NamedNode("urn:example:benchmark")
_FINGERPRINT: Final = "5eed" * 16
_NONCE: Final = "5eed5eed5eed"
_QUERY: Final = "SELECT ?focus ?outcome WHERE { ?focus a <urn:example:Order> }"
_PLAN: Final[dict[str, Any]] = {
    "question": "Why do orders fail?",
    "policy": "frame",
    "seed": 0,
    "graph": _FINGERPRINT,
}
_DATA: Final = "https://example.org/orders/"


class Writer:
    """Writes the steps of an investigation under a policy.

    `seed` decides on the counts; each piece of evidence has so many citations.
    """

    def __init__(
        self, record: Record, seed: int = 1, name: str = "frame", cited: int = CITED
    ) -> None:
        self.record = record
        self.cited = cited
        self.policy = policy.load(name)
        record.check = lambda written: [*refuse(written), *self.policy.forbidden(written)]
        self.bench: Any = SimpleNamespace(record=record, policy=self.policy)
        self._random = random.Random(seed)

    def start(self) -> None:
        """Write the first step."""
        step = self.record.step("Start")
        node = self.record.iri
        step.add(node, TYPE, TRAILS.Investigation, PROV.Activity)
        step.describe(
            node,
            step=step.node,
            question=_PLAN["question"],
            policy=self.policy.iri,
            seed=_PLAN["seed"],
            fingerprint=_FINGERPRINT,
            triples=8 * _NODES,
            graphs=1,
            options=ox.Literal(json.dumps(_PLAN), datatype=RDF.JSON),
            state=TRAILS.Running,
            figures=figures.ENGINE,
        )
        step.triples += figures.copied()
        step.add(figures.ENGINE, TRAILS.step, step.node)
        step.triples += self.policy.triples
        for subject in dict.fromkeys(t.subject for t in self.policy.triples):
            if isinstance(subject, ox.NamedNode):
                step.add(subject, TRAILS.step, step.node)
        step.add(node, PROV.startedAtTime, now())
        step.add(node, PROV.wasAssociatedWith, _AGENT)
        step.add(_AGENT, TYPE, PROV.SoftwareAgent, PROV.Agent)
        step.add(_AGENT, RDFS.label, "the benchmark")
        step.describe(_AGENT, step=step.node, softwareVersion=version("kgreason"))
        self.record.commit(step)

    def observe(self, count: int) -> list[ox.NamedNode]:
        """Write so many symptoms: one step."""
        step = self.record.step("Observe")
        made = []
        for index in range(1, count + 1):
            node = ox.NamedNode(f"{self.record.iri.value}:symptom:{index}")
            step.add(node, TYPE, TRAILS.Symptom, PROV.Entity)
            step.add(node, PROV.wasGeneratedBy, step.node)
            step.describe(
                node,
                step=step.node,
                investigation=self.record.iri,
                index=index,
                key=f"orders-{index}",
                path=f"<{_DATA}property/{index}>",
                severity=SH.Violation,
                constraint=SH.MinCountConstraintComponent,
                population=2 * _NODES,
                failing=2 * _FAILING,
                outcomeQuery=_QUERY,
                failingQuery=_QUERY,
            )
            self._cite(step, node, 2)
            made.append(node)
        self.record.commit(step)
        return made

    def look_into(self, symptom: ox.NamedNode) -> None:
        """Write frame, tests and evidence of one symptom: ten steps."""
        members, tables = self.hypothesize(symptom)
        tests = self.design(symptom, members)
        for place, kind, test in tests:
            self.execute(symptom, members[place], test, kind, tables[place])

    def hypothesize(self, symptom: ox.NamedNode) -> tuple[list[ox.NamedNode], list["Tables"]]:
        """Write one frame of rivals and its catch-all: one step."""
        step = self.record.step("Hypothesize", TRAILS.HypothesisPlan)
        step.describe(step.node, symptom=symptom, round=1)
        step.add(step.node, PROV.wasAssociatedWith, _AGENT)
        frame = step.make("Frame", PROV.Entity, symptom=symptom, round=1)
        shared, alone = self.policy.priors(MEMBERS)
        cause = self._random.randrange(2 * MEMBERS)  # none of them in half of the cases
        tables = [Tables(self._random, strong=place == cause) for place in range(MEMBERS)]
        nodes = []
        for place, table in enumerate(tables):
            level = f"feed {place}"
            nodes.append(
                self._hypothesis(
                    step,
                    symptom,
                    frame,
                    "source",
                    shared,
                    level=level,
                    region=_QUERY,
                    regionPattern=_pattern(symptom, place),
                    testKinds="association counterexamples",
                    splitBy="node",
                    dimension=ox.NamedNode(f"{_DATA}feed"),
                    **table.properties,
                )
            )
        none = self._hypothesis(step, symptom, frame, "none", alone)
        step.describe(frame, member=[*nodes, none])
        self.record.commit(step)
        return [*nodes, none], tables

    def _hypothesis(
        self,
        step: Step,
        symptom: ox.NamedNode,
        frame: ox.NamedNode,
        kind: str,
        prior: Decimal,
        **properties: Any,
    ) -> ox.NamedNode:
        iri, gate = kinds()[kind]
        family = "none" if kind == "none" else "source-graph"
        words = template("hypothesize", family).header
        told = {"level": properties.get("level", ""), "Failures": "The failures"}
        node = step.make(
            "Hypothesis",
            PROV.Entity,
            symptom=symptom,
            frame=frame,
            kind=iri,
            gate=gate,
            prior=prior,
            confidence=prior,
            eProcess=Decimal("1.0"),
            status=TRAILS.Proposed,
            catchAll=kind == "none",
            family=family,
            aspect=TRAILS.Origin,
            statement=words["statement"].format(**told, **_verb(properties)),
            mechanism=words["mechanism"].format(**told, fail="fail"),
            prediction=words["prediction"].format(**told, fail="fail"),
            claimable=_FAILING,
            split="halves",
            **properties,
        )
        step.describe(node, index=int(node.value.rpartition(":")[2]))
        step.add(node, PROV.wasAttributedTo, _AGENT)
        return node

    def design(
        self, symptom: ox.NamedNode, members: Sequence[ox.NamedNode]
    ) -> list[tuple[int, str, ox.NamedNode]]:
        """Register two tests of each rival: one step."""
        step = self.record.step("Design")
        step.describe(step.node, symptom=symptom, round=1, stage=1)
        tests = []
        for place in range(MEMBERS):
            for kind in ("association", "counterexamples"):
                region = sha256(_pattern(symptom, place).encode()).hexdigest()[:16]
                query = f"{_QUERY} # {kind} of {region}"
                node = step.make(
                    "Test",
                    PROV.Plan,
                    PROV.Entity,
                    kind=kind,
                    testRole=role_of(kind),
                    modality=TRAILS.GraphQuery,
                    query=query,
                    fingerprint=sha256(f"{kind} halves {query}".encode()).hexdigest(),
                    split="halves",
                    hypothesis=members[place],
                )
                for other, member in enumerate(members):
                    role = "self" if other == place else "none" if other == MEMBERS else "rival"
                    overlap = Decimal(other == place)
                    step.describe(
                        node,
                        expects=step.make(
                            "Expectation",
                            PROV.Entity,
                            hypothesis=member,
                            role=role,
                            overlap=overlap,
                        ),
                    )
                tests.append((place, kind, node))
        self.record.commit(step)
        return tests

    def execute(
        self,
        symptom: ox.NamedNode,
        hypothesis: ox.NamedNode,
        test: ox.NamedNode,
        kind: str,
        tables: "Tables",
    ) -> None:
        """Write the evidence of one test, and let it count: one step."""
        step = self.execution(symptom, hypothesis, test, kind, tables.find(kind))
        self.record.commit(step)

    def execution(
        self,
        symptom: ox.NamedNode,
        hypothesis: ox.NamedNode,
        test: ox.NamedNode,
        kind: str,
        found: Finding,
    ) -> Step:
        """Return the step that `execute` writes."""
        step = self.record.step("Execute", TRAILS.Execution)
        step.describe(step.node, test=test, symptom=symptom, attempt=1)
        step.add(step.node, PROV.used, test)
        likely = self.policy.outcomes[kind, found.outcome]
        evidence = step.make(
            "Evidence",
            PROV.Entity,
            hypothesis=hypothesis,
            test=test,
            testKind=kind,
            testRole=role_of(kind),
            modality=TRAILS.GraphQuery,
            evidenceSource=_FINGERPRINT,
            outcomeClass=found.outcome,
            polarity=likely.polarity,
            strength=likely.strength,
            note=found.note,
            group=test.value if "eValue" not in found.figures else f"{_number(symptom)}:heldout",
            **found.figures,
        )
        step.add(evidence, PROV.wasDerivedFrom, symptom)
        step.describe(step.node, closed=TRAILS.Result)
        self._cite(step, evidence, self.cited)
        lists = {TRAILS.Supports: "supportingEvidence", TRAILS.Contradicts: "contradictingEvidence"}
        if likely.polarity in lists:
            step.describe(hypothesis, **{lists[likely.polarity]: evidence})
        names = {"investigation": self.record.iri, "step": step.node, "evidence": evidence}
        for rule in self.policy.rules:
            if rule.header.get("needs", "note") in {"note", *found.figures}:
                step.apply(rule.render(**names))
        for gate in self.policy.gates_of("Execute"):
            step.apply(gate.render(**names))
        return step

    def end(self, symptoms: Sequence[ox.NamedNode]) -> None:
        """Decide, conclude and finish: three steps."""
        decide(self.bench, 1)
        self._conclude(symptoms)
        step = self.record.step("Finish")
        step.describe(step.node, elapsed=Decimal("1.000"))
        step.add(self.record.iri, PROV.endedAtTime, now())
        text = template("record", "set-state")
        step.apply(text.render(investigation=self.record.iri, state=TRAILS.Finished))
        self.record.commit(step)

    def _conclude(self, symptoms: Sequence[ox.NamedNode]) -> None:
        step = self.record.step("Conclude")
        for triple in self.policy.triples:
            name = triple.predicate.value.rpartition("#")[2]
            if triple.subject == self.policy.iri and name in _BOUNDS:
                step.triples.append(ox.Triple(step.node, triple.predicate, triple.object))
        holds = _supported(self.record)
        undecided = {row["symptom"] for row in self.record.select("undecided")}
        features = {
            row["symptom"]: {
                "winningRound" if name == "round" else name: term
                for name, term in row.items()
                if isinstance(term, ox.Literal)
            }
            for row in self.record.select("features")
        }
        outcomes: dict[str, str] = {}
        known = hypotheses(self.record)
        for symptom in symptoms:
            explained = max(holds.get(symptom, [0]))
            causes = [h for h in known.get(symptom.value, ()) if h.cause]
            share = decimal(max((h.share for h in causes), default=0.0))
            family = int(self.record.select("e-bh", role="status")[0]["family"].value)
            needed = max(1, family) / float(self.policy.number("alpha"))
            seen = detectable(2 * _NODES, 2 * _FAILING, needed)
            open_ = symptom in undecided or seen is None
            outcome = "inconclusive" if open_ else "no systematic cause"
            if share >= self.policy.number("partlyFrom"):
                outcome = "partly explained"
            if share >= self.policy.number("explainedFrom"):
                outcome = "explained"
            outcomes[symptom.value] = outcome
            step.make(
                "Verdict",
                PROV.Entity,
                symptom=symptom,
                explained=explained,
                excess=share,
                narrowed=0,
                narrowedExcess=share,
                outcome=outcome,
                **(smallest(seen) if seen and outcome in WITHOUT_CAUSE else {}),
                **features[symptom],
            )
        self._explain(step, symptoms)
        claim(self.bench, step, outcomes)
        self.record.commit(step)

    def _explain(self, step: Step, symptoms: Sequence[ox.NamedNode]) -> None:
        """Explain all symptoms together; of a symptom the largest region holds the others."""
        held: dict[str, int] = {}
        known = hypotheses(self.record)
        for place, symptom in enumerate(symptoms):
            for h in known.get(symptom.value, ()):
                if h.cause and h.counts is not None:
                    held[h.id] = ((1 << h.counts.inside_failing) - 1) << (place * 2 * _FAILING)
        failing = range(2 * _FAILING)
        told: Any = [SimpleNamespace(node=symptom, failing=failing) for symptom in symptoms]
        explain(self.bench, step, told, held)

    def _cite(self, step: Step, owner: ox.NamedNode, number: int) -> None:
        for _ in range(number):
            node = ox.NamedNode(f"{_DATA}{self._random.randrange(10**6)}")
            citation = step.make(
                "Citation",
                PROV.Entity,
                node=node,
                field=ox.NamedNode(f"{_DATA}property"),
                value="-1",
                valueType=XSD.integer,
                graph=ox.NamedNode("urn:src:orders.ttl"),
                digest=f"{self._random.getrandbits(256):064x}",
                relevance="fails inside the region",
            )
            step.describe(owner, cites=citation)


_FAILING: Final = 60  # of a half
_BOUNDS: Final = ("explainedFrom", "partlyFrom", "leastFailing")


class Tables:
    """Counts of a region on both halves, and what the tests find by them."""

    def __init__(self, draw: random.Random, *, strong: bool) -> None:
        inside = draw.randrange(80, 120)
        share = 0.58 if strong else _FAILING / _NODES
        self.discovery = self._table(draw, inside, share)
        self.heldout = self._table(draw, inside, share)

    @staticmethod
    def _table(draw: random.Random, inside: int, share: float) -> Table:
        failing = min(_FAILING, sum(draw.random() < share for _ in range(inside)))
        return Table(failing, inside, _FAILING - failing, _NODES - inside)

    @property
    def properties(self) -> dict[str, int]:
        """The figures of a hypothesis."""
        one, other = self.discovery, self.heldout
        return {
            "discoveryInsideFailing": one.inside_failing,
            "discoveryInside": one.inside,
            "discoveryOutsideFailing": one.outside_failing,
            "discoveryOutside": one.outside,
            "insideFailing": one.inside_failing + other.inside_failing,
            "inside": one.inside + other.inside,
            "outsideFailing": one.outside_failing + other.outside_failing,
            "outside": one.outside + other.outside,
        }

    def find(self, kind: str) -> Finding:
        """Read the rows that a test of a kind would have given."""
        table = self.heldout
        if kind == "association":
            counts = {
                "inside": table.inside,
                "insideFailing": table.inside_failing,
                "population": _NODES,
                "failing": _FAILING,
            }
            row: Row = {
                name: ox.Literal(str(n), datatype=XSD.integer) for name, n in counts.items()
            }
            return association.read([row], Setting(self.discovery))
        rows: list[Row] = []
        passing = table.inside - table.inside_failing
        for many, fails in ((passing, "false"), (table.outside_failing, "true")):
            known = ox.Literal("true")
            rows += [{"focus": TRAILS.node, "fails": ox.Literal(fails), "known": known}] * many
        failing = table.inside_failing + table.outside_failing
        rows.append({"failing": ox.Literal(str(failing), datatype=XSD.integer)})
        return counterexamples.read(rows, Setting(self.discovery))


def _verb(counts: Mapping[str, Any]) -> dict[str, str]:
    """Return what the nodes of a region do, by how many of them do it."""
    faint = "inside" in counts and is_faint(counts["insideFailing"], counts["inside"])
    return {"fail": f"fail {MORE_OFTEN}" if faint else "fail"}


def _pattern(symptom: ox.NamedNode, place: int) -> str:
    return f'?focus <{_DATA}feed/{_number(symptom)}> "feed {place}" .'


def _number(node: ox.NamedNode) -> str:
    return node.value.rpartition(":")[2]


def _supported(record: Record) -> dict[Any, list[int]]:
    """Return how many failing nodes the regions of the supported hypotheses hold, by symptom."""
    inner, graph = record.store.inner, record.iri
    held: dict[Any, list[int]] = {}
    for link in inner.quads_for_pattern(None, TRAILS.status, TRAILS.Supported, graph):
        of: dict[Any, Any] = {
            q.predicate: q.object for q in inner.quads_for_pattern(link.subject, None, None, graph)
        }
        if of[TRAILS.catchAll].value != "true":
            held.setdefault(of[TRAILS.symptom], []).append(int(of[TRAILS.insideFailing].value))
    return held


def write(ledger: Ledger, updates: int, seed: int = 1) -> Record:
    """Write a finished investigation with about so many updates; gives its record."""
    record = ledger.new(_NONCE)
    writer = Writer(record, seed)
    writer.start()
    symptoms = writer.observe(max(1, round(updates / UPDATES)))
    for symptom in symptoms:
        writer.look_into(symptom)
    writer.end(symptoms)
    return record


def main() -> None:
    """Write a ledger folder."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--updates", type=int, default=1000)
    options = parser.parse_args()
    with Ledger.write(options.folder) as ledger:
        print(write(ledger, options.updates).iri.value)


if __name__ == "__main__":
    main()
