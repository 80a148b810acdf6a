"""Repair what an investigation found: try, judge, ask the policy, write, validate, record."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Final

import pyoxigraph as ox

from kgreason.audit import refuse
from kgreason.base.errors import LedgerError, OptionError, RunError
from kgreason.base.store import Term
from kgreason.base.templates import Fragment, template
from kgreason.base.terms import PROV, TRAILS
from kgreason.context.context import mark_inside
from kgreason.context.symptom import Observed
from kgreason.context.view import inside, members
from kgreason.graph.marks import places
from kgreason.observe import opening
from kgreason.observe.look import look
from kgreason.record import Ledger, Record, Step, number_of
from kgreason.record.agents import agent, associate
from kgreason.record.permits import authorise, commit_to, release
from kgreason.record.record import now
from kgreason.repair import intervention
from kgreason.repair.catalogue import Repair, repairs
from kgreason.repair.feasible import Claim, claims, describe_option, options, query
from kgreason.repair.imports import read_source
from kgreason.repair.intervene import attempts, describe_attempt
from kgreason.repair.opening import Opened, opened
from kgreason.repair.patch import Patch
from kgreason.repair.results import Mended, Offer, Tried, justified
from kgreason.repair.scratch import Journal
from kgreason.repair.shape_changes import diff, mended, shape_trial, verdict
from kgreason.repair.trial import Feasibility, Trial, trial
from kgreason.repair.validation import effect
from kgreason.repair.writing import (
    DATA,
    PATCHES,
    data_text,
    form_of,
    in_place,
    patch_text,
    shapes_text,
    write_whole,
)
from kgreason.shacl import Shapes
from kgreason.test.finding import Finding

_MAY: Final = frozenset({"cleared", "partly"})
"""The outcomes that may be applied: nothing new is wrong, and something is mended."""
_ALREADY: Final = "Its violations are gone already: a repair before it mended them too."
_FOUND: Final = frozenset({TRAILS.Supported, TRAILS.Converged})


@dataclass(frozen=True)
class Wanted:
    """What is asked for.

    `hypothesis` is a number or IRI (else all that are supported), `using` the name of a repair.
    `out` is a file to write, `replace` changes the input itself. Without either, and with `dry`,
    nothing is written; with `dry` nothing is recorded either. `sources` are files from which a
    resource that is missing may be brought in; a packed one may hold `max_bytes` (as recorded).
    `principal` is who repairs, by name or IRI.
    """

    hypothesis: str | None = None
    using: str | None = None
    out: str | None = None
    replace: bool = False
    dry: bool = False
    sources: tuple[str, ...] = ()
    max_bytes: int | None = None
    principal: str | None = None


def repair(
    ledger: str | Path,
    which: str | None,
    data: Sequence[str] = (),
    wanted: Wanted | None = None,
    notice: opening.Notice | None = None,
) -> Mended:
    """Try the repairs of a finished investigation, and write them where the policy allows it.

    `data` are those that were investigated (as recorded, if left out); they are only read, unless
    the input itself is to be changed. Raises the errors of reading data; LedgerError for an
    investigation that is not finished, OptionError for what cannot be written.
    """
    asked = wanted or Wanted()
    ending = form_of(asked.out) if asked.out else None
    agent(asked.principal)
    with Ledger.read(Path(ledger)) as reader:
        entry = reader.entry(which)
        if not entry.finished:
            raise LedgerError(f"Investigation I{entry.number} is not finished; resume it first.")
    with Ledger.read(Path(ledger)) if asked.dry else Ledger.append(Path(ledger)) as store:
        record = store.record(entry)
        record.check = refuse
        session = _Session(record, asked, opened(record, data, notice))
        session.read_sources()
        session.try_all()
        if (ending or asked.replace) and not asked.dry:
            session.apply(ending)
        return session.done


@dataclass
class _Chosen:
    """A repair that was tried for a hypothesis, and how it is to be written."""

    claim: Claim
    repair: Repair
    trial: Trial
    finding: Finding
    attempt: ox.NamedNode | None = None


@dataclass
class _Session:
    record: Record
    asked: Wanted
    opened: Opened
    done: Mended = field(default_factory=Mended)
    chosen: list[_Chosen] = field(default_factory=list)
    journals: list[Journal] = field(default_factory=list)
    imported: Sequence[ox.Quad] = ()
    imported_from: Sequence[str] = ()

    def read_sources(self) -> None:
        """Read what may be imported; raises GraphError."""
        if self.asked.sources:
            request = self.opened.request
            most = self.asked.max_bytes or request.max_bytes
            found = read_source(self.asked.sources, lenient=request.lenient, most=most)
            self.imported, self.imported_from = found

    def try_all(self) -> None:
        """Try the repair of each hypothesis; each is made on top of those before it."""
        for claim in self._claims():
            self._try(claim)
        self.done.before = _failing(self.opened.observed)

    def _claims(self) -> list[Claim]:
        found = claims(self.opened.context, self.opened.symptoms)
        asked = self.asked.hypothesis
        if asked is None:
            return [c for c in found if c.row["status"] in _FOUND]
        wanted = number_of(asked, "H")
        named = [c for c in found if wanted in {c.row["number"].value, c.node.value}]
        if not named:
            known = ", ".join(f"H{c.row['number'].value}" for c in found) or "none"
            raise OptionError(
                f"--hypothesis {asked}: there is no such hypothesis with a region; there are: "
                f"{known}."
            )
        return named

    def _try(self, claim: Claim) -> None:
        offers = self._offers(claim)
        told = [Offer.of(one, verdict_) for one, verdict_, _ in offers]
        usable = [o for o in offers if o[1].feasible and self._wanted(o[0])]
        if self.asked.using and not any(self._wanted(one) for one, _, _ in offers):
            names = ", ".join(one.name for one, _, _ in offers) or "none"
            raise OptionError(
                f"--using {self.asked.using}: this repair does not fit hypothesis "
                f"{claim.row['number'].value}; these do: {names}."
            )
        why = self._why_not(claim, offers, usable)
        if why is not None:
            outcome = "mended" if why is _ALREADY else ""
            self.done.tried.append(Tried(*_called(claim), None, {}, outcome, why, told))
            return
        one, _, patch = usable[0]
        tried = self._trial(claim, one, patch)
        found = intervention.found(tried)
        chosen = _Chosen(claim, one, tried, found)
        self.done.tried.append(
            Tried(
                *_called(claim),
                one.name,
                dict(tried.figures),
                found.outcome,
                found.note,
                told,
            )
        )
        if not self.asked.dry:
            self._record(chosen, [(o, v) for o, v, _ in offers])
        if found.outcome in _MAY:
            self.chosen.append(chosen)
            if one.mends_data:
                journal = Journal(self.opened.graph)
                journal.make(tried.patch)
                self.journals.append(journal)

    def _why_not(
        self, claim: Claim, offers: Sequence[object], usable: Sequence[object]
    ) -> str | None:
        """Explain why nothing is tried for a hypothesis, if nothing is."""
        if any(_strays(row) for row in attempts(self.opened.context, claim.node)):
            return "A repair touched what it did not declare; nothing more is tried for it."
        if usable:
            return None
        if self.journals and self._is_mended(claim):
            return _ALREADY
        return "None of its repairs can be made." if offers else "No repair fits it."

    def _is_mended(self, claim: Claim) -> bool:
        """Check whether the repairs before have left nothing to mend: one cause, many symptoms."""
        graph, own = self.opened.graph, claim.symptom.constraint
        seen = effect(graph, own, Patch(()), self._claimed(claim))
        return not any(v.key == own.key for v in seen.before)

    def _claimed(self, claim: Claim) -> list[Term]:
        marks = claim.view.marks
        mask = members(claim.view, claim.pattern) & marks.failing_mask
        return [marks.population.nodes[place] for place in places(mask)]

    def _wanted(self, one: Repair) -> bool:
        return self.asked.using in {None, one.name}

    def _offers(self, claim: Claim) -> list[tuple[Repair, Feasibility, Patch | None]]:
        """Return every repair that fits, of the data and of the shapes, with what it costs."""
        context = self.opened.context
        out: list[tuple[Repair, Feasibility, Patch | None]] = [
            (o.repair, o.verdict, None) for o in options(context, claim, imported=self.imported)
        ]
        constraint = claim.symptom.constraint
        for one in repairs(claim.cause, constraint, context.graph):
            if not one.mends_data and constraint.shapes is not None:
                patch = diff(context.graph, constraint.shapes, one, self._nodes(claim))
                out.append((one, verdict(patch), patch))
        return out

    def _nodes(self, claim: Claim) -> Fragment:
        mark_inside(self.opened.context, claim.view, claim.pattern)
        return template("test", "intervention").fragment(
            "claimed",
            symptom=claim.view.marks.failing,
            region=inside(claim.view, claim.pattern),
            seed=ox.Literal("0"),
            below=ox.Literal("g"),
        )

    def _trial(self, claim: Claim, one: Repair, patch: Patch | None) -> Trial:
        context, constraint = self.opened.context, claim.symptom.constraint
        seconds = self.opened.request.query_seconds
        if patch is not None and constraint.shapes is not None:
            nodes = self._claimed(claim)
            return shape_trial(
                context.graph, constraint, constraint.shapes, one, patch, nodes, seconds=seconds
            )
        rows = one.select(context.graph, query(context, claim, one, None, None))
        named = claim.level, claim.dimension
        return trial(context.graph, constraint, rows, *named, seconds=seconds)

    # The record

    def _act(self) -> Step:
        """Begin a step of whoever repairs."""
        step = self.record.step("Act")
        associate(self.record, step, agent(self.asked.principal))
        return step

    def _record(self, chosen: _Chosen, offers: Sequence[tuple[Repair, Feasibility]]) -> None:
        """Write the options, the commitment, the attempt and what came of it: one step."""
        step, claim = self._act(), chosen.claim
        step.describe(step.node, symptom=claim.symptom.node)
        grant, permit = authorise(self.record, step, TRAILS.TryRepair, claim.node)
        names = self.opened.context.names
        made = {one.name: describe_option(step, claim, one, v, names) for one, v in offers}
        if permit.granted:
            reason = f"{chosen.repair.name}: {permit.why.capitalize()}."
            region = claim.row["region"].value
            commitment = commit_to(self.record, step, claim.node, grant, region, reason)
            chosen.attempt = describe_attempt(
                step, claim.node, chosen.trial, chosen.finding, commitment
            )
            step.describe(chosen.attempt, option=made[chosen.repair.name])
            if chosen.repair.beside:
                step.describe(chosen.attempt, importedFrom=list(self.imported_from))
            release(
                step, commitment, f"The repair was tried; it came out as {chosen.finding.outcome}."
            )
        self.record.commit(step)

    # Applying

    def apply(self, ending: str | None) -> None:
        """Write what was tried and may be applied, if the policy allows it for each hypothesis."""
        if not self.chosen:
            self.done.refused.append("No repair was shown to work, so none is applied.")
            return
        step = self._act()
        grants = []
        for one in self.chosen:
            grant, permit = authorise(self.record, step, TRAILS.ApplyRepair, one.claim.node)
            grants.append(grant)
            if not permit.granted:
                number = one.claim.row["number"].value
                self.done.refused.append(
                    f"The repair of hypothesis H{number} is not applied: {permit.why}."
                )
        if self.done.refused:
            self.record.commit(step)
            return
        self._write(ending)
        self.done.after = self._after(ending)
        for one, grant in zip(self.chosen, grants, strict=True):
            self._describe_application(step, one, grant)
        self.record.commit(step)

    def _write(self, ending: str | None) -> None:
        graph = self.opened.graph
        patch = Patch(tuple(c for one in self.chosen for c in one.trial.patch.changes))
        of_shapes = [one for one in self.chosen if not one.repair.mends_data]
        if of_shapes and len(of_shapes) < len(self.chosen):
            raise OptionError(
                "Some of these repairs mend the data and some the shapes; name one --hypothesis."
            )
        why = justified(self.record, self.chosen_told())
        if self.asked.replace:
            if of_shapes:
                raise OptionError("The shapes are not changed in place; use --out FILE.ttl.")
            for path, backup in in_place(graph, patch):
                self.done.written.append(str(path))
                self.done.backups.append(str(backup))
        if ending is None or self.asked.out is None:
            return
        path = Path(self.asked.out)
        if ending in PATCHES:
            content = patch_text(graph, patch, ending, why).encode()
        elif of_shapes:
            content = shapes_text(self._shapes())
        else:
            content = data_text(graph, ending)
        write_whole(path, content)
        self.done.written.append(str(path))

    def _shapes(self) -> Shapes:
        shapes = self.chosen[0].claim.symptom.constraint.shapes
        if shapes is None:
            raise RunError("There are no shapes to mend.")
        for one in self.chosen:
            shapes = mended(shapes, one.trial.patch)
        return shapes

    def chosen_told(self) -> list[Mapping[str, str]]:
        """Return for each repair that is applied what justifies it."""
        return [
            {
                "hypothesis": one.claim.node.value,
                "statement": one.claim.row["statement"].value,
                "confidence": one.claim.row["confidence"].value,
                "repair": one.repair.name,
                "note": " ".join([one.finding.note, *self._sources_of(one)]),
            }
            for one in self.chosen
        ]

    def _sources_of(self, one: _Chosen) -> list[str]:
        taken = ", ".join(self.imported_from)
        return [f"Imported from {taken}."] if one.repair.beside else []

    def _after(self, ending: str | None) -> int:
        """Validate again, all of it: the files that were written, else the mended scratch copy."""
        request = self.opened.request
        shapes = [str(Path(p)) for p in request.shapes]
        given = asdict(request)
        data = list(given.pop("data"))
        of_shapes = any(not one.repair.mends_data for one in self.chosen)
        if self.asked.replace:
            return _failing(opening.symptoms(data, **given)[1])
        if ending in DATA and self.asked.out is not None:
            if of_shapes:
                known = [p for p in shapes if self.asked.out != p]
                given["shapes"] = [self.asked.out, *known[1:]]
                return _failing(opening.symptoms(data, **given)[1])
            return _failing(opening.symptoms([self.asked.out], **given)[1])
        if of_shapes:
            return self.done.before - sum(one.trial.figures["holds"] for one in self.chosen)
        return _failing(look(self.opened.graph, request))

    def _describe_application(self, step: Step, one: _Chosen, grant: ox.NamedNode) -> None:
        made = step.make(
            "RepairApplication",
            PROV.Activity,
            hypothesis=one.claim.node,
            repairAttempt=one.attempt,
            authorisation=grant,
            patchDigest=one.trial.patch.digest,
            changes=one.trial.figures["changes"],
            writtenTo=[Path(p).name for p in self.done.written],
            backup=[Path(p).name for p in self.done.backups] or None,
            failingBefore=self.done.before,
            failingAfter=self.done.after,
        )
        started = now()
        step.add(made, PROV.startedAtTime, started)
        step.add(made, PROV.endedAtTime, started)


def _called(claim: Claim) -> tuple[int, str]:
    """Return the number and the statement of a hypothesis."""
    return int(claim.row["number"].value), claim.row["statement"].value


def _strays(row: Mapping[str, Term]) -> bool:
    return row["outcome"].value == "out-of-scope"


def _failing(observed: Observed) -> int:
    return sum(len(seen.observation.failing) for seen in observed.failing)
