"""A careful forger: after a change to a history, all that follows from it is made to fit again.

What was changed by hand stays as it is; every other figure is worked out anew from what it rests
on, in plain decimals, as the rules of the policies say: polarity, strength and figures of evidence,
likelihoods, scores and sums, confidences and e-processes in the order of their chains, the e-BH
family and threshold of each decision, and the current values. Steps are numbered and linked again
where one was taken out, or put in with a fraction for its number. What was decided is left alone:
whether it may stand is for the gates to say.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from decimal import ROUND_FLOOR, ROUND_HALF_UP, Decimal, localcontext
from hashlib import sha256
from typing import Any, Final

import pyoxigraph as ox

from kgreason.audit import figures, words
from kgreason.base.statistics import Table
from kgreason.base.terms import POLICY, PREFIXES, PROV, TRAILS, TYPE
from kgreason.record import Record
from kgreason.record.test_kinds import kinds, role_of
from tests.audit_nodes import Rewritten
from tests.audit_support import relinked

NINE, SIX, ONE = Decimal("1e-9"), Decimal("1e-6"), Decimal(1)
CAP: Final = Decimal(10_000_000_000)
OWN: Final = {"e-process", "delta", "net-weight", "net-weight-damped", "likelihood-ratio"}
_THRESHOLDS: Final = PREFIXES["policy"]


def forged(record: Record, tampered: Record) -> Record:
    """Give a tampered copy of a record with all figures and hashes made to fit again."""
    return relinked(_Forger(record, tampered).finish())


def _half_up(value: Decimal) -> Decimal:
    return value.quantize(NINE, rounding=ROUND_HALF_UP)


def _down(value: Decimal) -> Decimal:
    return value.quantize(SIX, rounding=ROUND_FLOOR)


def _kept(value: Decimal, least: Decimal, most: Decimal) -> Decimal:
    return min(max(value, least), most)


class _Forger(Rewritten):
    def finish(self) -> Record:
        with localcontext(prec=60):
            self.steps()
            self.tests()
            self.evidence()
            self.likelihoods()
            self.links()
            self.chains()
            self.processes()
            self.decisions()
            self.current()
        return self.record()

    def tests(self) -> None:
        """Work out the roles of tests, and the fingerprints that tell them apart."""
        for test in self.of("Test"):
            self.role(test, "kind")
            said = " ".join(self.text(test, name) for name in ("kind", "split", "query"))
            self.put(test, "fingerprint", sha256(said.encode()).hexdigest())

    def role(self, node: Any, kind: str) -> None:
        if self.text(node, kind) in kinds():
            self.put(node, "testRole", role_of(self.text(node, kind)))

    def evidence(self) -> None:
        """Work out the figures of what was found, and what the policy says of it."""
        for node in self.of("Evidence"):
            self.role(node, "testKind")
            self.figures(node)
            row = self.row(self.text(node, "testKind"), self.text(node, "outcomeClass"))
            if row is not None:
                self.put(node, "polarity", self.one(row, "polarity", POLICY))
                self.put(node, "strength", self.number(row, "strength", POLICY))

    def figures(self, node: Any) -> None:
        recompute = figures.KINDS.get(self.text(node, "testKind"))
        if recompute is None:
            return
        given = self.numbers(node)
        parts = self.nodes[node].get(TRAILS.stratum.value, ())
        strata, ways = [self.numbers(s) for s in parts], [self.text(s, "way") for s in parts]
        tested = self.one(node, "hypothesis")
        names = ("InsideFailing", "Inside", "OutsideFailing", "Outside")
        counts = [int(self.number(tested, f"discovery{name}")) for name in names]
        table = Table(*counts) if self.one(tested, "discoveryInside") else None
        engine = figures.engine_of(self.text(node, "note"))
        passing = '("passing" AS ?own)' in self.text(self.one(node, "test"), "query")
        try:
            found = recompute(figures.Recorded(given, strata, table, engine, passing, ways=ways))
        except (KeyError, ValueError, ArithmeticError):
            return
        self.put(node, "outcomeClass", found.outcome)
        self.put(node, "note", found.note)
        for name, value in found.figures.items():
            self.put(node, name, value)

    def likelihoods(self) -> None:
        for update in self.of("ConfidenceUpdate"):
            evidence, rule = self.one(update, "evidence"), self.text(update, "rule")
            test = self.one(evidence, "test")
            row = self.row(self.text(test, "kind"), self.text(evidence, "outcomeClass"))
            if row is None:
                continue
            if rule == "likelihood-ratio":
                self.put(update, "likelihood", self.number(row, "underSelf", POLICY))
                self.put(update, "otherwise", self.number(row, "underNone", POLICY))
            elif rule == "frame":
                member = self.one(update, "hypothesis")
                for expected in self.nodes[test].get(TRAILS.expects.value, ()):
                    if self.one(expected, "hypothesis") == member:
                        self.put(update, "likelihood", self.likely(row, expected))

    def likely(self, row: Any, expected: Any) -> Decimal:
        under = {
            name: self.number(row, f"under{name.title()}", POLICY)
            for name in ("self", "rival", "none")
        }
        role = self.text(expected, "role")
        if role == "named" and self.one(row, "underNamed", POLICY):
            return self.number(row, "underNamed", POLICY)
        if role == "rival":
            apart = (under["self"] - under["rival"]) * self.number(expected, "overlap")
            return under["rival"] + apart.quantize(SIX, rounding=ROUND_HALF_UP)
        return under["rival" if role == "named" else role]

    def chained(self) -> dict[Any, list[Any]]:
        """Give the updates that move the confidence of each hypothesis, in the order of steps."""
        found: dict[Any, list[Any]] = defaultdict(list)
        for update in self.of("ConfidenceUpdate"):
            if self.text(update, "rule") != "e-process":
                found[self.one(update, "hypothesis")].append(update)
        return {node: sorted(all_, key=self.place) for node, all_ in found.items()}

    def links(self) -> None:
        for updates in self.chained().values():
            for before, update in zip([None, *updates], updates, strict=False):
                self.put(update, "previous", *([before] if before else []))

    def chains(self) -> None:
        """Work out confidences; what one piece of evidence moves is worked out together."""
        left: dict[tuple[Any, str], list[Any]] = defaultdict(list)
        for update in (u for updates in self.chained().values() for u in updates):
            rule = self.text(update, "rule")
            alone = update if rule in OWN else None
            left[self.one(update, "evidence"), rule + str(alone)].append(update)
        done: set[Any] = set()
        while left:
            ready = [
                key
                for key, updates in left.items()
                if all(self.one(u, "previous") in {None, *done} for u in updates)
            ] or list(left)[:1]
            for key in ready:
                updates = left.pop(key)
                done.update(updates)
                self.move(updates, key[0])

    def move(self, updates: list[Any], evidence: Any) -> None:
        for update in updates:
            before = self.one(update, "previous")
            start = self.number(self.one(update, "hypothesis"), "prior")
            self.put(update, "before", self.number(before, "after") if before else start)
        RULES[self.text(updates[0], "rule")](self, updates, evidence)

    def frame(self, updates: list[Any], _: Any) -> None:
        joint = {
            u: _half_up(self.number(u, "before") * self.number(u, "likelihood")) for u in updates
        }
        for update in updates:
            self.put(update, "normaliser", sum(joint.values(), Decimal(0)))
            share = _half_up(joint[update] / self.number(update, "normaliser"))
            self.put(update, "after", _kept(share, SIX, ONE - SIX))

    def ratio(self, updates: list[Any], _: Any) -> None:
        for update in updates:
            before = self.number(update, "before")
            joint = _half_up(before * self.number(update, "likelihood"))
            apart = _half_up((1 - before) * self.number(update, "otherwise"))
            self.put(update, "after", _kept(_half_up(joint / (joint + apart)), SIX, ONE - SIX))

    def delta(self, updates: list[Any], evidence: Any) -> None:
        size = self.number(self.policy, "deltaStep", POLICY)
        sign = {TRAILS.Supports: 1, TRAILS.Contradicts: -1}.get(self.one(evidence, "polarity"), 0)
        for update in updates:
            moved = _kept(sign * _half_up(self.number(evidence, "strength") * size), -ONE, ONE)
            self.put(update, "delta", moved)
            end = self.number(update, "before") + self.number(update, "delta")
            self.put(update, "after", _kept(end, Decimal(0), ONE))

    def sums(self, update: Any) -> tuple[Decimal, Decimal]:
        """Give the strengths for and against the hypothesis of an update, up to its step."""
        about, until = self.one(update, "hypothesis"), self.place(update)
        mine = [
            e
            for e in self.of("Evidence")
            if self.one(e, "hypothesis") == about and self.place(e) <= until
        ]
        return tuple(  # type: ignore[return-value]
            sum(
                (self.number(e, "strength") for e in mine if self.one(e, "polarity") == way),
                Decimal(0),
            )
            for way in (TRAILS.Supports, TRAILS.Contradicts)
        )

    def weight(self, updates: list[Any], _: Any) -> None:
        for update in updates:
            supporting, opposing = self.sums(update)
            self.put(update, "supporting", supporting)
            self.put(update, "opposing", opposing)
            supporting, opposing = (self.number(update, n) for n in ("supporting", "opposing"))
            total = max(
                supporting + opposing + self.number(self.policy, "damping", POLICY), Decimal("0.01")
            )
            against = _half_up(self.number(self.policy, "opposingWeight", POLICY) * opposing)
            part = (total + supporting - against) / (2 * total)
            self.put(update, "after", _kept(_half_up(part), Decimal(0), ONE))

    def shares(self, updates: list[Any], _: Any) -> None:
        for update in updates:
            supporting, opposing = self.sums(update)
            bare = self.number(self.policy, "baseScore", POLICY) + supporting - opposing
            if self.text(self.one(update, "hypothesis"), "catchAll") == "true":
                bare = self.number(self.policy, "catchAllScore", POLICY)
            self.put(update, "score", _kept(bare, Decimal(0), ONE))
        total = sum((self.number(update, "score") for update in updates), Decimal(0))
        for update in updates:
            self.put(update, "normaliser", total)
            given = self.number(update, "normaliser")
            share = self.number(update, "score") / given if given else ONE / len(updates)
            self.put(update, "after", _half_up(share))

    def processes(self) -> None:
        """Work out the e-processes: of each group the mean counts."""
        value: dict[Any, Decimal] = defaultdict(lambda: ONE)
        groups: dict[Any, list[Decimal]] = defaultdict(list)
        moves = [u for u in self.of("ConfidenceUpdate") if self.text(u, "rule") == "e-process"]
        for update in sorted(moves, key=self.place):
            evidence, about = self.one(update, "evidence"), self.one(update, "hypothesis")
            group = groups[about, self.text(evidence, "group")]
            old = _down(sum(group, Decimal(0)) / len(group)) if group else ONE
            group.append(self.number(evidence, "eValue"))
            new = _down(sum(group, Decimal(0)) / len(group))
            self.put(update, "factor", _down(new / max(old, SIX)))
            self.put(update, "before", value[about])
            product = self.number(update, "before") * self.number(update, "factor")
            self.put(update, "after", min(_down(product), CAP))
            value[about] = self.number(update, "after")
        for node in self.of("Hypothesis"):
            self.put(node, "eProcess", value[node])

    def decisions(self) -> None:
        alpha = self.number(self.policy, "alpha", POLICY)
        for step in self.of("Step"):
            now, phase = self.number(step, "index"), self.one(step, "phase")
            for name in list(self.nodes[step]):
                if name.startswith(_THRESHOLDS) and (step, name) not in self.touched:
                    self.nodes[step][name] = list(self.nodes[self.policy].get(name, ()))
            if phase != TRAILS.Decide:
                continue
            family = [
                node
                for node in self.nodes
                if self.text(node, "gate") == "statistics" and self.place(node) < now
            ]
            self.put(step, "ebhFamily", len(family))
            reached = sorted((self.reached(node, now) for node in family), reverse=True)
            within = [
                e
                for e in reached
                if e >= Decimal("1.5") and e * sum(f >= e for f in reached) * alpha >= len(family)
            ]
            self.put(step, "ebhThreshold", *([min(within)] if within else []))

    def reached(self, node: Any, now: Decimal) -> Decimal:
        """Give the e-process of a hypothesis as it stood at a step."""
        known = [
            u
            for u in self.of("ConfidenceUpdate")
            if self.one(u, "hypothesis") == node
            and self.text(u, "rule") == "e-process"
            and self.place(u) < now
        ]
        return self.number(max(known, key=self.place), "after") if known else ONE

    def current(self) -> None:
        chains = self.chained()
        for node in self.of("Hypothesis"):
            updates = chains.get(node, [])
            followed = {self.one(update, "previous") for update in updates}
            last = next((u for u in reversed(updates) if u not in followed), None)
            self.put(node, "lastUpdate", *([last] if last else []))
            last = self.one(node, "lastUpdate")
            end = self.number(last, "after") if last else self.number(node, "prior")
            self.put(node, "confidence", end)
            self.lists(node)
            self.states(node, updates)

        for verdict in self.of("Verdict"):
            self.features(verdict)
            self.beyond(verdict)
        for whole in self.of("JointExplanation"):
            self.joined(whole)

    def beyond(self, verdict: Any) -> None:
        """Work out what lies beyond the rate outside, where one region tells it or none."""
        causes = [
            node
            for node in self.causes()
            if self.one(node, "symptom") == self.one(verdict, "symptom")
        ]
        if len(causes) < 2:
            share = sum((self.excess(node) for node in causes), Decimal(0))
            self.put(verdict, "excess", share)
        self.put(verdict, "narrowed", 0)
        self.put(verdict, "narrowedExcess", self.number(verdict, "excess"))

    def excess(self, node: Any) -> Decimal:
        """Return the failing nodes of a region beyond the rate outside, as a share of all."""
        names = ("insideFailing", "inside", "outsideFailing", "outside")
        bad, inside, others, outside = (self.number(node, name) for name in names)
        more = bad - inside * others / outside if inside and outside else bad
        return round(max(Decimal(0), more) / (bad + others), 6)

    def causes(self) -> list[Any]:
        """Return the supported hypotheses, catch-alls apart."""
        good = {TRAILS.Supported, TRAILS.Converged}
        return [
            node
            for node in self.of("Hypothesis")
            if self.one(node, "status") in good and self.text(node, "catchAll") == "false"
        ]

    def joined(self, whole: Any) -> None:
        """Work out a joint explanation where others are supported than were: each as a cause."""
        causes = self.causes()
        known = self.of("JointCause")
        if {self.one(cause, "hypothesis") for cause in known} == set(causes):
            return
        for cause in known:
            del self.nodes[cause]
        left = sum((self.number(v, "explained") for v in self.of("Verdict")), Decimal(0))
        self.put(whole, "explained", int(left))
        causes.sort(key=lambda node: -self.number(node, "insideFailing"))
        adding = 0
        for index, node in enumerate(causes, start=1):
            made = ox.NamedNode(f"{self.iri.value}:jointcause:{index}")
            step, holds = self.one(whole, "step"), self.number(node, "insideFailing")
            self.nodes[made][TYPE.value] = [TRAILS.JointCause, PROV.Entity]
            self.nodes[made][PROV.wasGeneratedBy.value] = [step]
            added = min(holds, left)
            left -= added
            adding += added > 0
            for name, value in (
                ("step", step), ("explanation", whole), ("hypothesis", node), ("index", index),
                ("insideFailing", int(holds)), ("adds", int(added)),
            ):  # fmt: skip
                self.put(made, name, value)
        self.put(whole, "causes", adding)

    def features(self, verdict: Any) -> None:
        """Work out how many hypotheses there were, and how far the winner stands."""
        rivals = [
            node
            for node in self.of("Hypothesis")
            if self.one(node, "symptom") == self.one(verdict, "symptom")
            and self.text(node, "catchAll") == "false"
        ]
        self.put(verdict, "proposed", len(rivals))
        gone = [node for node in rivals if self.one(node, "status") == TRAILS.Pruned]
        self.put(verdict, "pruned", len(gone))
        best = max((self.number(node, "confidence") for node in rivals), default=None)
        self.put(verdict, "winning", *([] if best is None else [best]))
        high, low, more, less = (
            self.number(self.policy, f"winner{name}", POLICY)
            for name in ("From", "Below", "Bonus", "Penalty")
        )
        adjusted = more if best is not None and best >= high else Decimal(0)
        self.put(verdict, "adjustment", -less if best is None or best < low else adjusted)

    def lists(self, node: Any) -> None:
        for way, name in (
            (TRAILS.Supports, "supportingEvidence"),
            (TRAILS.Contradicts, "contradictingEvidence"),
        ):
            mine = [
                e
                for e in self.of("Evidence")
                if self.one(e, "hypothesis") == node and self.one(e, "polarity") == way
            ]
            self.put(node, name, *mine)

    def states(self, node: Any, updates: Iterable[Any]) -> None:
        changes = sorted(
            (t for t in self.of("StatusTransition") if self.one(t, "hypothesis") == node),
            key=self.place,
        )
        status = TRAILS.Proposed
        for change in changes:
            self.put(change, "from", status)
            told = words.cause(self.text(change, "rule"))
            if told and not re.fullmatch(told, self.text(change, "cause")):
                self.put(
                    change, "cause", re.sub(r"-\?\[0-9\.\]\+|\.\+\?", "0.5", told).replace("\\", "")
                )
            known = [u for u in updates if self.place(u) <= self.place(change)]
            if self.text(change, "rule") != "demote":
                self.put(change, "update", *known[-1:])
            status = self.one(change, "to")
        self.put(node, "status", status)


RULES: Final[dict[str, Callable[[_Forger, list[Any], Any], None]]] = {
    "frame": _Forger.frame,
    "likelihood-ratio": _Forger.ratio,
    "delta": _Forger.delta,
    "net-weight": _Forger.weight,
    "net-weight-damped": _Forger.weight,
    "competing-scores": _Forger.shares,
}
