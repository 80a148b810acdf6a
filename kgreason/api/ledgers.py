"""An open ledger: its investigations, and all that can be asked of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from kgreason import run
from kgreason.api.asking import LEDGER, resume
from kgreason.api.comparing import Compared, compare
from kgreason.base.errors import InputError, OptionError
from kgreason.base.extensions import Extension, joined, read_all, using
from kgreason.base.store import Answer, Results, check_query, guarded
from kgreason.base.templates import check_extensions
from kgreason.base.terms import PREFIXES
from kgreason.graph.given import Source, Sources
from kgreason.observe.opening import Notice, Progress, files_of, recorded_request
from kgreason.record import Ledger, Record, extended
from kgreason.report.focus_nodes import FocusNodes
from kgreason.report.result import Result

if TYPE_CHECKING:  # a ledger is opened to be asked one thing, and loads what that takes
    from kgreason.audit import AuditReport
    from kgreason.repair.results import Mended
    from kgreason.review.addition import Added
    from kgreason.review.comparison import Comparison
    from kgreason.review.correlation import Correlation
    from kgreason.review.fragility import Fragility
    from kgreason.review.newer import Newer
    from kgreason.review.publish import Published
    from kgreason.review.reassess import Reassessment
    from kgreason.review.replay import Replay, TwoModels
    from kgreason.review.resaid import Resaid
    from kgreason.review.why import NodeFindings

Which = str | int | None
"""An investigation by its number or IRI; None is the latest."""
Paths = str | Path | Sequence[str | Path]
_Find = Callable[[Record, Sequence[Extension]], tuple[Extension, ...]]


@dataclass(frozen=True)
class ListedInvestigation:
    """An investigation of a ledger: its IRI, its number, and whether it came to its end.

    `state` is "finished", "running" or "failed", `begun` an xsd:dateTime.
    """

    id: str
    number: int
    finished: bool
    state: str
    begun: str
    question: str | None


@dataclass(frozen=True)
class NamedFiles:
    """The paths that an investigation named: what it `read`, and its folders of `extensions`.

    `redacted` are the properties and classes whose values were kept out of its record.
    """

    read: tuple[str, ...]
    extensions: tuple[str, ...]
    redacted: tuple[str, ...]


def open_ledger(ledger: str | Path = LEDGER, *, extend: Paths = ()) -> OpenLedger:
    """Open the ledger in a folder; raises LedgerError where there is none.

    Help on what it can do: help(kgreason.OpenLedger).
    """
    return OpenLedger(ledger, extend=extend)


def questions(extend: Paths = ()) -> dict[str, str]:
    """Return the stored questions by the names that `OpenLedger.history` takes."""
    from kgreason.report import questions as stored  # noqa: PLC0415 - only when asked for

    with using(joined(read_all(_paths(extend)))):
        return {t.name: t.header.get("question", t.summary) for t in stored.questions()}


def check_queries(place: str | Path | None = None) -> list[str]:
    """Return every fault of the extension in a folder, or of the queries that come along."""
    from kgreason.review.catalogue_faults import faults  # noqa: PLC0415 - only when asked for

    return faults(place)


class OpenLedger:
    """A ledger in a folder. Use as a context manager, which closes the results it gave.

    Nothing is locked: each method opens the folder for as long as it works. `which` is the number
    or IRI of an investigation, the latest when left out. `extend` are folders of extensions: those
    that an investigation was made with, where they have moved, and others whose sections, questions
    and checks are wanted.
    """

    def __init__(self, ledger: str | Path = LEDGER, *, extend: Paths = ()) -> None:
        self.folder = Path(ledger)
        self._extend = read_all(_paths(extend))
        self._results: list[Result] = []
        with Ledger.read(self.folder):
            pass

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<OpenLedger {self.folder}>"

    def close(self) -> None:
        """Close the results that this ledger gave."""
        while self._results:
            self._results.pop().close()

    @property
    def investigations(self) -> tuple[ListedInvestigation, ...]:
        """The investigations by number."""
        with Ledger.read(self.folder) as reader:
            entries = reader.entries()
        return tuple(
            ListedInvestigation(
                one.iri.value, one.number, one.finished, one.state, one.begun, one.question
            )
            for one in entries
        )

    def add(self, other: str | Path) -> list[Added]:
        """Add the investigations of another ledger, a folder or a file with records, to this one.

        What is here already is not added again, and no record is changed. Raises LedgerError, and
        then nothing is added.
        """
        from kgreason.review.addition import add  # noqa: PLC0415 - only when asked for

        return add(self.folder, other)

    @contextmanager
    def _extended(self, which: Which, find: _Find) -> Iterator[None]:
        """Have the extensions at hand that `find` takes for an investigation."""
        with Ledger.read(self.folder) as reader:
            found = find(reader.record(reader.entry(_name(which))), self._extend)
        with using(found):
            check_extensions()
            yield

    def files(self, which: Which = None) -> NamedFiles:
        """Return the paths that an investigation named, as recorded; nothing of them is read.

        What was given as an object is none of them.
        """
        with Ledger.read(self.folder) as reader:
            request = recorded_request(reader.record(reader.entry(_name(which))))
        return NamedFiles(files_of(request), request.extend, request.redact)

    def result(self, which: Which = None) -> Result:
        """Return the result of an investigation, finished or not."""
        with self._extended(which, extended.reading):
            found = run.recorded(self.folder, _name(which))
        self._results.append(found)
        return found

    def resume(
        self,
        which: Which = None,
        *,
        data: Sources | None = None,
        shapes: Sources | None = None,
        axioms: Sources | None = None,
        ontology: Sources | None = None,
        violations: Source | None = None,
        population: Source | None = None,
        outcome: Source | None = None,
    ) -> Result:
        """Go on with an interrupted investigation, as `kgreason.resume` does."""
        found = resume(
            self.folder,
            which,
            data=data,
            shapes=shapes,
            axioms=axioms,
            ontology=ontology,
            violations=violations,
            population=population,
            outcome=outcome,
            extend=[one.folder for one in self._extend],
        )
        self._results.append(found)
        return found

    @contextmanager
    def _at_hand(self, which: Which, data: Paths) -> Iterator[tuple[Result, str]]:
        """Open a result with its data read again, or without and a sentence that says why."""
        with self._extended(which, extended.reading):
            why = ""
            try:
                result = run.with_data(self.folder, _name(which), _paths(data))
            except InputError as error:
                if _paths(data):
                    raise
                result = run.recorded(self.folder, _name(which))
                why = str(error)
            with result:
                yield result, why

    def nodes(self, cause: str, which: Which = None, *, data: Paths = ()) -> FocusNodes:
        """Return the focus nodes of a cause (C1) or hypothesis (H3), with field, value and source.

        Of a symptom (S1) they are those that fail.
        They are looked up in the data, which are read again: from where they were, or from `data`.
        Where they cannot be had, only the nodes that the record cites are known; `complete` and
        `source` of the answer say so, and why. Raises OptionError where there is no such cause.
        """
        with self._at_hand(which, data) as (result, why):
            symptom = re.fullmatch(r"[Ss]\d+", cause.strip())
            found = result.nodes(result.symptom(cause) if symptom else result.cause(cause))
            return found if not why else replace(found, source=f"{found.source} {why}")

    def why(self, node: str, which: Which = None, *, data: Paths = ()) -> NodeFindings:
        """Return why a node fails: the rules it breaks, the causes of it, else what it lacks.

        The data are read again: from where they were, or from `data`. Raises the errors of that,
        and OptionError where there is no such node.
        """
        from kgreason.review.why import why  # noqa: PLC0415 - only when asked for

        with (
            self._extended(which, extended.reading),
            run.with_data(self.folder, _name(which), _paths(data)) as result,
        ):
            return why(result, node)

    @contextmanager
    def with_nodes(self, which: Which = None, *, data: Paths = ()) -> Iterator[tuple[Result, str]]:
        """Open a result with its data read again, for exports that name all failing nodes.

        Beside it stands why the data are not at hand, or an empty text. With `data` given, whatever
        is wrong with these is raised.
        """
        with self._at_hand(which, data) as found:
            yield found

    def compare(self, before: Compared, after: Compared) -> Comparison:
        """Compare two investigations, as `kgreason.compare` does, by default of this ledger."""
        return compare(before, after, ledger=self.folder)

    def audit(
        self,
        which: Which = None,
        *,
        data: Paths = (),
        shapes: Paths = (),
        ontology: Paths = (),
        axioms: Paths = (),
        sample: int | None = 20,
        seed: int = 0,
        second_engine: bool = False,
        pin: str | Path | None = None,
    ) -> AuditReport:
        """Check that everything in a record follows from what it records.

        With `data`, what it did on its data is done again, `sample` of each kind (None is all).
        `second_engine` recomputes confidence and status in rdflib. `pin` is a file for the head.
        """
        from kgreason.audit import Sample, audit, pinned  # noqa: PLC0415 - only when asked for
        from kgreason.audit.second_engine import recomputed  # noqa: PLC0415

        beside = (*_paths(shapes), *_paths(ontology), *_paths(axioms))
        if not _paths(data) and (beside or sample is None):
            raise OptionError(
                "--shapes, --axioms, --ontology and --all are of use with --data PATH."
            )
        with (
            self._extended(which, extended.checking),
            run.recorded(self.folder, _name(which)) as result,
        ):
            found = audit(result.record)
            if second_engine:
                found = recomputed(found, result.record)
            if _paths(data):
                from kgreason.review.held import Given, held  # noqa: PLC0415

                files = map(_paths, (data, shapes, ontology, axioms))
                given = Given(*files)
                found = held(found, result.record, given, Sample(sample, seed))
            return found if pin is None else pinned(found, result.record, Path(pin))

    def query(
        self,
        text: str,
        which: Which = None,
        *,
        seconds: float = 60.0,
        allow_service: bool = False,
        where: str = "the query",
    ) -> Answer:
        """Ask one investigation any read-only SPARQL; GRAPH reaches the others too.

        The query runs in a process of its own for at most `seconds`. Raises QueryError, which calls
        the text `where`, LedgerError or TimeoutExceeded. The usual prefixes need no declaration.
        """
        prefixes = {p: iri for p, iri in PREFIXES.items() if p != "work"}
        check_query(text, where, allow_service=allow_service, prefixes=prefixes)
        if seconds <= 0:
            raise OptionError("--query-seconds must be more than 0.")

        def ask() -> Answer:
            with Ledger.read(self.folder) as reader:
                return reader.store.answer(text, reader.entry(_name(which)).iri, prefixes)

        return guarded(ask, seconds, where)

    def history(
        self, question: str, which: Which = None, *, hypothesis: str | int | None = None
    ) -> Results:
        """Ask a stored question about how a result came about; `questions` lists them."""
        from kgreason.report import questions  # noqa: PLC0415 - only when asked for

        name = "-".join(question.lower().rstrip("?").split())
        with (
            self._extended(which, extended.reading),
            run.recorded(self.folder, _name(which)) as result,
        ):
            return questions.ask(result.record, name, hypothesis=_name(hypothesis))

    def questions(self) -> dict[str, str]:
        """Return the stored questions by the names that `history` takes."""
        return questions([one.folder for one in self._extend])

    def reassess(self, which: Which = None, policies: Sequence[str | Path] = ()) -> Reassessment:
        """Judge the recorded evidence by other policies (all that come along)."""
        from kgreason.review.reassess import reassess  # noqa: PLC0415 - only when asked for

        with self._extended(which, extended.checking):
            return reassess(self.folder, _name(which), [str(one) for one in policies])

    def repair(
        self,
        which: Which = None,
        data: Paths = (),
        *,
        hypothesis: str | int | None = None,
        using: str | None = None,
        out: str | Path | None = None,
        in_place: bool = False,
        dry_run: bool = False,
        import_from: Paths = (),
        max_bytes: int | None = None,
        principal: str | None = None,
        notice: Notice | None = None,
    ) -> Mended:
        """Try the repairs of what was found; write them where the policy allows it.

        The options are those of `kgreason repair`. The input stays as it is without `in_place`.
        """
        from kgreason.repair import apply  # noqa: PLC0415 - only when asked for

        if dry_run and (out or in_place):
            raise OptionError("--dry-run writes nothing; leave out --out and --in-place.")
        wanted = apply.Wanted(
            _name(hypothesis),
            using,
            None if out is None else str(out),
            in_place,
            dry_run,
            _paths(import_from),
            max_bytes,
            principal,
        )
        with self._extended(which, extended.checking):
            return apply.repair(self.folder, _name(which), _paths(data), wanted, notice=notice)

    def export(
        self,
        out: str | Path,
        kind: str,
        which: Which = None,
        *,
        license: str | None = None,  # noqa: A002 - what it is called everywhere else
        base: str | None = None,
    ) -> list[str]:
        """Write a finished investigation as prov-json, nanopub or ro-crate; return the paths."""
        from kgreason.report.export import BASE, export  # noqa: PLC0415 - only when asked for

        base = BASE if base is None else base
        with self._extended(which, extended.reading):
            return export(self.folder, out, kind, _name(which), license=license, base=base)

    def publish(self, which: Which, write: Callable[[Result], str]) -> Published:
        """Publish a report as final, made by `write`, where the policy and the audit allow it."""
        from kgreason.review.publish import publish  # noqa: PLC0415 - only when asked for

        with self._extended(which, extended.checking):
            return publish(self.folder, _name(which), write)

    def rerun(
        self,
        which: Which = None,
        report: str | Path | None = None,
        *,
        data: Paths = (),
        shapes: Paths = (),
        ontology: Paths = (),
        axioms: Paths = (),
    ) -> Resaid:
        """Run the queries behind a report again; say which sections and claims differ."""
        from kgreason.review import held, resaid  # noqa: PLC0415 - only when asked for

        files = map(_paths, (data, shapes, ontology, axioms))
        given = held.Given(*files) if _paths(data) else None
        with (
            self._extended(which, extended.checking),
            run.recorded(self.folder, _name(which)) as result,
        ):
            return resaid.rerun(result.record, None if report is None else Path(report), given)

    def correlation(self, name: str) -> Correlation:
        """Judge all finished investigations of a correlation as one: e-BH, and what explains all.

        `name` was given to each by `kgreason.investigate(correlation=…)`. The data are read again
        from where they were. Raises OptionError, LedgerError where no investigation has the name.
        """
        from kgreason.review.correlation import correlation  # noqa: PLC0415 - only when asked for

        return correlation(self.folder, name, self._extend)

    def explain(self, hypothesis: str | int, which: Which = None) -> Results:
        """Return each update of the confidence in a hypothesis with its inputs, in order."""
        from kgreason.review.explain import explain  # noqa: PLC0415 - only when asked for

        return explain(self.folder, str(hypothesis), _name(which))

    def fragility(
        self, which: Which = None, *, progress: Progress | None = None
    ) -> list[Fragility]:
        """Find the least evidence on each symptom whose removal gives it other causes."""
        from kgreason.review.fragility import fragility  # noqa: PLC0415 - only when asked for

        with self._extended(which, extended.checking):
            return fragility(self.folder, _name(which), progress=progress)

    def replay(self, which: Which = None) -> Replay:
        """Run an investigation again from its record, and compare."""
        from kgreason.review.replay import replay  # noqa: PLC0415 - only when asked for

        with self._extended(which, extended.again):
            return replay(self.folder, _name(which))

    def with_model(self, model: str, which: Which = None, **limits: Any) -> TwoModels:
        """Put the question of an investigation to another model, and give both outcomes.

        `limits` are the other options about a model. The ledger stays as it is.
        """
        from kgreason.review.replay import with_model  # noqa: PLC0415 - only when asked for

        with self._extended(which, extended.again):
            return with_model(self.folder, _name(which), model=model, **limits)

    def against(self, data: Paths, which: Which = None) -> Newer:
        """Run the recorded tests on newer data; say which conclusions are stale."""
        from kgreason.review.newer import against  # noqa: PLC0415 - only when asked for

        with self._extended(which, extended.again):
            return against(self.folder, _paths(data), _name(which))


def _name(which: Which) -> str | None:
    return None if which is None else str(which)


def _paths(given: Paths) -> tuple[str, ...]:
    """Return one or several paths as a tuple of texts."""
    return (str(given),) if isinstance(given, str | Path) else tuple(map(str, given))
