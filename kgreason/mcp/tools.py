"""The tools that a server offers: each checks what it is given, asks the API, and marks the answer.

Their docstrings are what an agent reads of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from kgreason import api
from kgreason.api.asking import LEDGER
from kgreason.base.errors import OptionError
from kgreason.mcp import marked
from kgreason.mcp.granted import Granted
from kgreason.mcp.started import Runs
from kgreason.report.entries import ReportedCause, ReportedHypothesis, ReportedSymptom
from kgreason.report.result import Result

_LONGEST_RUN: Final = 3_600.0
_QUERY_SECONDS: Final = 20.0
_CITED: Final = 5
_ENDED: Final = {"finished": "finished", "stopped": "been stopped", "failed": "failed"}
_CITED_ALONE: Final = (
    "Only the nodes that the record cites: this investigation read files outside the folders of "
    "this server."
)
REPORT: Final = 100_000
"""Characters of a report that are given at most."""


@dataclass
class Tools:
    """The tools over some folders; `runs` are the investigations that were started here.

    `redact` are properties and classes whose values no answer may hold: what is started here keeps
    them out, and records that do not are not told of.
    """

    granted: Granted
    redact: tuple[str, ...] = ()
    runs: Runs = field(default_factory=Runs)

    def investigate(
        self,
        data: list[str],
        shapes: list[str] | None = None,
        ontology: list[str] | None = None,
        axioms: list[str] | None = None,
        outcome: str | None = None,
        violations: str | None = None,
        question: str | None = None,
        ledger: str = str(LEDGER),
        max_seconds: float = 300.0,
    ) -> str:
        """Start to find out why data violate their shapes (or why an outcome comes about).

        Give RDF files or folders as `data`, and what is wrong as `shapes` (SHACL), `axioms` (OWL),
        `violations` (a validation report) or `outcome` (a file with a SELECT of ?focus ?outcome).
        All are paths within the folders of this server. The reasoning is kept in the folder
        `ledger`. This answers at once with the name of the run, such as R1; ask
        investigate_poll with it until it is finished. This is the only tool that writes anything.
        """
        if not 0 < max_seconds <= _LONGEST_RUN:
            raise OptionError(f"max_seconds must be more than 0, and {_LONGEST_RUN:.0f} at most.")
        asked = {
            "data": self._paths(data),
            "shapes": self._paths(shapes),
            "ontology": self._paths(ontology),
            "axioms": self._paths(axioms),
            "outcome": self._path(outcome),
            "violations": self._path(violations),
            "question": question,
            "max_seconds": max_seconds,
            "redact": self.redact,
        }
        started = self.runs.start(self.granted.new(ledger), asked)
        return f"{started.name} is running; ask investigate_poll with run={started.name}."

    def investigate_poll(self, run: str) -> str:
        """Say how a started investigation goes: running, finished, stopped or failed.

        Once it is finished, the answer names the investigation (such as I1) for the other tools,
        and gives its summary.
        """
        one = self.runs[run]
        notices = one.notices[-10:]
        if one.error is not None:
            return marked.answer(f"{one.name} failed.", {"error": one.error, "notices": notices})
        if one.state == "stopped":
            said = f"{one.name} was stopped; `kgreason resume` goes on with what it recorded."
            return marked.answer(said, {"notices": notices})
        if one.number is None:
            at = {"doing": one.doing, "done": one.done, "of": one.of, "notices": notices}
            return marked.answer(f"{one.name} is running; ask again in some seconds.", at)
        with api.result(one.ledger, f"I{one.number}") as result:
            told = {"summary": result.summary(), "notices": notices}
        return marked.answer(
            f"{one.name} is finished: it is the investigation I{one.number}.", told
        )

    def investigate_stop(self, run: str) -> str:
        """Stop a started investigation at its next step. What it has recorded stays.

        Ask investigate_poll until it says that the run has stopped. A query that is being worked
        out is finished first. `kgreason resume` on a command line goes on with it.
        """
        one = self.runs[run]
        if one.state != "running":
            return f"{one.name} is not running: it has {_ENDED[one.state]}."
        one.to_stop = True
        return f"{one.name} stops at its next step; ask investigate_poll with run={one.name}."

    def investigations(self, ledger: str = str(LEDGER)) -> str:
        """List the investigations of a ledger: I1, I2 and so on, with what was asked."""
        rows = []
        for one in self._opened(ledger).investigations:
            told = {"name": f"I{one.number}", **asdict(one)}
            lacking = self._lacking(one.id, ledger)
            rows.append({**told, "question": None, "withheld": lacking} if lacking else told)
        return marked.page("The investigations of this ledger.", rows, 0)

    def symptoms(
        self, investigation: str | None = None, ledger: str = str(LEDGER), start: int = 0
    ) -> str:
        """List what is wrong: each rule that nodes fail, how many of how many, and the verdict.

        The leading hypothesis of each is named too, such as H3.
        """
        with self._result(investigation, ledger) as result:
            return marked.page("What fails.", [_symptom(one) for one in result.symptoms], start)

    def causes(
        self, investigation: str | None = None, ledger: str = str(LEDGER), start: int = 0
    ) -> str:
        """List the causes that were found, C1 first, each with the rates inside and outside.

        `explains` counts the failing nodes in its region, `adds` those that no cause before it
        holds. A cause that `narrows` only tells where failures lie. No cause means that none was
        found, and `symptoms` says with which verdict.
        """
        with self._result(investigation, ledger) as result:
            rows = [_cause(one, result.symptoms) for one in result.causes]
            return marked.page("The causes.", rows, start, headline=result.headline)

    def nodes(
        self,
        cause: str,
        investigation: str | None = None,
        ledger: str = str(LEDGER),
        passing: bool = False,  # noqa: FBT001, FBT002 - arguments of a tool have names
        start: int = 0,
    ) -> str:
        """List the nodes of a cause (C1) or hypothesis (H3) that fail, with field, value, source.

        With `passing`, those in its region that do not fail. Where the data are no longer at hand,
        only the nodes that the record cites are told, and the answer says so.
        """
        within = self._within(investigation, ledger)
        if within:
            found = self._opened(ledger).nodes(cause, investigation)
        else:
            with self._result(investigation, ledger) as result:
                found = result.nodes(result.cause(cause))
        those = found.those(failing=not passing, passing=passing)
        which = "pass although it is about them" if passing else "fail"
        more = {"complete": found.complete, "source": found.source if within else _CITED_ALONE}
        return marked.page(f"Nodes of {_named(cause)} that {which}.", those.rows(), start, **more)

    def why(self, node: str, investigation: str | None = None, ledger: str = str(LEDGER)) -> str:
        """Say why one node fails: the rules it breaks, and the causes that hold it.

        Where none does, the nearest node that passes is compared with it. `node` is an IRI, or the
        last part of one.
        """
        if not self._within(investigation, ledger):
            raise OptionError(
                "This investigation read files outside the folders of this server, so that its "
                "nodes cannot be looked up; ask for its causes or evidence instead."
            )
        found = self._opened(ledger).why(node, investigation)
        return marked.answer("What is wrong with this node.", found.as_dict())

    def evidence(
        self,
        name: str,
        investigation: str | None = None,
        ledger: str = str(LEDGER),
        start: int = 0,
    ) -> str:
        """List the evidence on a cause (C1) or a hypothesis (H3): each test and what it gave.

        `polarity` says whether it supports or contradicts, `strength` how much, `citations` on
        which nodes it rests (the first five are told).
        """
        with self._result(investigation, ledger) as result:
            found = result.cause(name)
            wanted = found.hypotheses if isinstance(found, ReportedCause) else (found.id,)
            every = [one for s in result.symptoms for one in s.hypotheses if one.id in wanted]
        rows = [row for one in every for row in _evidence(one)]
        about = [_hypothesis(one) for one in every]
        return marked.page(f"The evidence on {_named(name)}.", rows, start, hypotheses=about)

    def query(
        self,
        sparql: str,
        investigation: str | None = None,
        ledger: str = str(LEDGER),
        start: int = 0,
    ) -> str:
        """Ask the reasoning history any read-only SPARQL: hypotheses, tests, evidence, updates.

        The record of the investigation is the default graph. The prefixes trails:, prov:, rdfs:
        and xsd: need no declaration. It takes 20 seconds at most, and no SERVICE.
        """
        for one in self._opened(ledger).investigations:  # GRAPH reaches each of them
            self._check(one.id, ledger)
        found = self._opened(ledger).query(sparql, investigation, seconds=_QUERY_SECONDS)
        if isinstance(found, bool):
            return marked.answer("The answer.", {"boolean": found})
        if isinstance(found, list):
            return marked.page("Triples.", [{"triple": str(one)} for one in found], start)
        rows = [{name: str(term) for name, term in row.items()} for row in found]
        return marked.page("Rows; terms are written as in Turtle.", rows, start)

    def audit(self, investigation: str | None = None, ledger: str = str(LEDGER)) -> str:
        """Check that everything in a record follows from what it records.

        Every figure, sentence and seal is worked out again. `ok` says that nothing is wrong;
        `unchecked` says what this could not check, and what would.
        """
        self._check(investigation, ledger)
        found = self._opened(ledger).audit(investigation)
        more = {
            "ok": found.ok,
            "checked": dict(found.checked),
            "unchecked": [{"what": one.what, "by": one.by} for one in found.unchecked],
        }
        rows = [
            {"rule": one.rule, "node": one.node, "message": one.message}
            for one in (*found.findings, *found.notices)
        ]
        return marked.page("The audit is done; its findings follow.", rows, 0, **more)

    def report(self, investigation: str, ledger: str = str(LEDGER)) -> str:
        """Return the whole report of an investigation as Markdown, marked as data."""
        with self._result(investigation, ledger) as result:
            return marked.document("The report, in Markdown.", result.markdown(), REPORT)

    def summary(self, investigation: str, ledger: str = str(LEDGER)) -> str:
        """Return the summary of an investigation with all causes, marked as data."""
        with self._result(investigation, ledger) as result:
            return marked.document("The summary.", result.summary(everything=True), REPORT)

    def _paths(self, given: Sequence[str] | None) -> tuple[Path, ...]:
        return tuple(self.granted.path(one) for one in given or ())

    def _path(self, given: str | None) -> Path | None:
        return None if given is None else self.granted.path(given)

    def _opened(self, ledger: str) -> api.OpenLedger:
        return api.OpenLedger(self.granted.path(ledger))

    @contextmanager
    def _result(self, investigation: str | None, ledger: str) -> Iterator[Result]:
        """Open the result of an investigation, read from its ledger alone."""
        self._check(investigation, ledger)
        with self._opened(ledger).result(investigation) as result:
            yield result

    def _check(self, investigation: str | None, ledger: str) -> None:
        """Refuse a record that holds what is kept out here, or needs extensions from outside."""
        lacking = self._lacking(investigation, ledger)
        if lacking:
            raise OptionError(
                f"This ledger has an investigation without --redact {lacking[0]}, whose record "
                "holds the values that this server keeps out; investigate again, into another "
                "ledger."
            )
        for one in self._opened(ledger).files(investigation).extensions:
            if not self.granted.holds(one):
                raise OptionError(
                    "This investigation was made with extensions outside the folders of this "
                    "server; name their folder too when you start it."
                )

    def _lacking(self, investigation: str | None, ledger: str) -> list[str]:
        """Return what this server keeps out, and the record of an investigation does not."""
        if not self.redact:
            return []
        kept = self._opened(ledger).files(investigation).redacted
        return [one for one in self.redact if one not in kept]

    def _within(self, investigation: str | None, ledger: str) -> bool:
        """Check whether all that an investigation read lies within the folders."""
        self._check(investigation, ledger)
        named = self._opened(ledger).files(investigation).read
        return all(self.granted.holds(one) for one in named)


def _named(given: str) -> str:
    """Return the name of a cause or hypothesis as our own words may hold it: a letter, a number."""
    text = given.strip().upper()
    return text if text[:1].isalpha() and text[1:].isdecimal() and text.isascii() else "it"


def _short(iri: str) -> str:
    """Return H3 for the IRI of the third hypothesis of a record."""
    return f"H{iri.rpartition(':hypothesis:')[2]}"


def _rate(one: ReportedHypothesis) -> dict[str, Any]:
    return {"inside": asdict(one.inside), "outside": asdict(one.outside)}


def _symptom(one: ReportedSymptom) -> dict[str, Any]:
    names = ("name", "path", "severity", "population", "failing", "explained", "verdict", "open")
    told = {name: getattr(one, name) for name in names}
    if one.hypotheses:
        first = one.hypotheses[0]
        told["leading"] = {"name": _short(first.id), "statement": first.statement} | _rate(first)
        told["leading"]["status"] = first.status
    return told


def _cause(one: ReportedCause, symptoms: Sequence[ReportedSymptom]) -> dict[str, Any]:
    told = {
        "name": one.id,
        "statement": one.statement,
        "explains": one.explains,
        "adds": one.adds,
        "narrows": one.narrows,
        "next": asdict(one.next),
    }
    told["rules"] = [
        {"rule": s.name, "failing": s.failing, "population": s.population, **_hypothesis(h)}
        for s in symptoms
        for h in s.hypotheses
        if h.id in one.hypotheses
    ]
    return told


def _hypothesis(one: ReportedHypothesis) -> dict[str, Any]:
    names = ("kind", "statement", "status", "confidence", "calibrated", "finding")
    told = {"hypothesis": _short(one.id)} | {name: getattr(one, name) for name in names}
    return told | _rate(one)


def _evidence(one: ReportedHypothesis) -> Iterator[dict[str, Any]]:
    for each in one.evidence:
        yield {
            "hypothesis": _short(one.id),
            "test": each.test,
            "polarity": each.polarity,
            "strength": each.strength,
            "modality": each.modality,
            "citations": [asdict(cited) for cited in each.citations[:_CITED]],
            "cited": len(each.citations),
        }
