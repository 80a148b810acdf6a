"""Hold an audited record to its data: what it counted, ran and cited, done again."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal, InvalidOperation
from functools import cached_property
from pathlib import Path
from typing import Final

import pyoxigraph as ox

from kgreason.audit import AuditReport, Difference, Finding, Sample, recheck, told
from kgreason.audit.findings import DATA, Unchecked
from kgreason.audit.merged import History
from kgreason.base.errors import OptionError, QueryError, RunError
from kgreason.base.resources import DEFAULT_POLICY
from kgreason.base.store import Row, Term
from kgreason.base.terms import TRAILS
from kgreason.context.context import Context, view_of
from kgreason.context.symptom import Observed, Symptom
from kgreason.graph import Graph
from kgreason.graph.names import Names
from kgreason.observe import opening
from kgreason.observe.request import Request
from kgreason.record import Record, policy
from kgreason.test.finding import Finding as Found
from kgreason.test.run import is_outside, run_test

_GOOD: Final = frozenset({TRAILS.Supported, TRAILS.Converged})


@dataclass(frozen=True)
class Given:
    """Where the data are now; shapes, ontologies and axioms are those of then, unless named."""

    data: Sequence[str]
    shapes: Sequence[str] = ()
    ontology: Sequence[str] = ()
    axioms: Sequence[str] = ()


@dataclass(frozen=True)
class Compared:
    """What differs on the data, what could not be done again, and what to read first."""

    differences: Sequence[Difference]
    left: Sequence[Unchecked]
    said: tuple[str, ...]


def held(found: AuditReport, record: Record, given: Given, sample: Sample) -> AuditReport:
    """Add to an audit what the data say: counts, regions, tests and citations, each done again.

    Raises the errors of reading data.
    """
    on_data = compared(record, given, sample)
    faults = _faults(on_data.differences)
    return found.more(faults, said=on_data.said, instead=on_data.left, of=DATA)


def compared(record: Record, given: Given, sample: Sample) -> Compared:
    """Do what a record did on its data again, all of it or a sample, and compare.

    Without the shapes of then no test is run, and who fails is asked of the recorded queries alone.
    Raises the errors of reading data.
    """
    request = _request(record, given)
    lacking = [name for name in _files(request) if not Path(name).exists()]
    if lacking and request.redact:
        raise OptionError(
            f"{lacking[0]}: this file is not there, and what was made with --redact can only be "
            "held to the data with all that it read; give it with --shapes or --ontology."
        )
    if lacking:
        graph, observed = opening.load_graph(request), Observed((), ())
    else:
        options = asdict(request)
        graph, observed = opening.symptoms(list(options.pop("data")), **options)
    failing = _failing(record, observed)
    seconds = request.query_seconds
    differences = recheck(record, graph, seconds=seconds, sample=sample, failing=failing)
    left: list[Unchecked] = []
    if lacking:
        why = f"whether its tests come out so: {lacking[0]} is not there"
        left.append(Unchecked(why, "--data PATH --shapes FILE"))
    else:
        symptoms = {s.node.value: s for s in opening.recorded_symptoms(record, observed)}
        tests = _Tests(record, graph, request, symptoms)
        differences += tests.differences(sample)
        left += tests.left
    left += _not_drawn(sample)
    said = (*_other_data(record, graph, differences), _drawn(sample))
    return Compared(differences, left, said)


def _request(record: Record, given: Given) -> Request:
    """Return request of then with the files of now; by which policy it ruled does not matter."""
    asked = asdict(opening.recorded_request(record))
    asked |= {"data": tuple(given.data), "policy": DEFAULT_POLICY, "calibration": "none"}
    named = {name: tuple(getattr(given, name)) for name in ("shapes", "ontology", "axioms")}
    return Request(**asked | {name: files for name, files in named.items() if files})


def _files(request: Request) -> Iterator[str]:
    single = (request.violations, request.population, request.outcome)
    yield from (*request.shapes, *request.axioms, *request.ontology, *filter(None, single))


def _failing(record: Record, observed: Observed) -> dict[str, frozenset[Term]]:
    """Return who fails by the shapes, by the IRI of the symptom."""
    seen = {one.constraint.key: one.observation.failing for one in observed.symptoms}
    return {
        row["symptom"].value: frozenset(seen[row["key"].value])
        for row in record.select("symptom-keys")
        if row["key"].value in seen
    }


def _faults(differences: Iterable[Difference]) -> Iterator[Finding]:
    """Make one finding of all that differs at a node."""
    nodes: dict[str, list[str]] = {}
    for one in differences:
        nodes.setdefault(one.node, []).append(told(one))
    for node, sentences in nodes.items():
        yield Finding("data", node, " ".join(sentences))


def _other_data(record: Record, graph: Graph, differences: Iterable[Difference]) -> Iterator[str]:
    """Return what is to be said first: where the data are not those of then, or are renamed."""
    for one in differences:
        if one.figure == "fingerprint":
            was, now = (f"{x[:12]}…" if x else "none" for x in (one.recorded, one.found))
            yield (
                f"These are other data than those that were investigated (fingerprint {was} is "
                f"recorded, these have {now}), so what differs may be due to that."
            )
            return
    cited = {s.object.value for s in History(record).statements(None, TRAILS.graph)}
    lost = sorted(cited - {name.value for name in graph.named_graphs()})
    if lost:
        yield (
            f"These are the data that were investigated, but under other names: there is no "
            f"{lost[0]}. Name the folder or the files as then."
        )


def _drawn(sample: Sample) -> str:
    """Describe how much was done again."""
    counts = ", ".join(f"{n} of {of} {kind}" for kind, (n, of) in sample.drawn.items())
    whole = all(n == of for n, of in sample.drawn.values())
    return (
        f"Done again on the data: {counts}{'' if whole else f' (drawn with seed {sample.seed})'}."
    )


def _not_drawn(sample: Sample) -> list[Unchecked]:
    left = {kind: of - n for kind, (n, of) in sample.drawn.items() if of > n}
    if not left:
        return []
    what = ", ".join(f"{number} {kind}" for kind, number in left.items())
    return [Unchecked(f"what the data say of {what} that were not drawn", "--data PATH --all")]


class _Tests:
    """Runs registered tests again, each in the view it was run in; `left` is what cannot be."""

    def __init__(
        self, record: Record, graph: Graph, request: Request, symptoms: Mapping[str, Symptom]
    ) -> None:
        self.record, self.history = record, History(record)
        self.symptoms = symptoms
        self.left: list[Unchecked] = []
        most = request.max_hypotheses
        rules = policy.of_record(record)
        self.context = Context(graph, record, rules, request.seed, most, Names(graph))

    def differences(self, sample: Sample) -> list[Difference]:
        """Return what comes out otherwise than is recorded."""
        rows = [row for row in self.record.select("judgements") if "evidence" in row]
        every = [(row, self._test(row)) for row in rows]
        known = [(row, test) for row, test in every if not is_outside(test)]
        able = [(row, test) for row, test in known if self._same_population(row, test)]
        if len(able) < len(known):
            number = len(known) - len(able)
            what = f"{number} tests of later rounds, whose causes before were judged anew since"
            self.left.append(Unchecked(what, "kgreason replay"))
        drawn = sample.of("tests", able)
        return [one for row, test in drawn for one in self._again(row, test)]

    def _test(self, row: Row) -> Row:
        test = next(self.history.statements(row["evidence"], TRAILS.test)).object
        return self.record.select("test", test=ox.NamedNode(test.value))[0]

    def _again(self, row: Row, test: Row) -> Iterator[Difference]:
        node = row["evidence"]
        symptom = self.symptoms.get(row["symptom"].value)
        if symptom is None:
            yield Difference(node.value, "outcomeClass", row["class"].value, "no symptom")
            return
        view = view_of(self.context, symptom, int(test["round"].value))
        try:
            found = run_test(self.context, view, test)
        except (QueryError, RunError) as error:
            why = f"an error ({str(error).partition(chr(10))[0]})"
            yield Difference(node.value, "outcomeClass", row["class"].value, why)
            return
        yield from self._compared(node, found)

    def _compared(self, node: Term, found: Found) -> Iterator[Difference]:
        given = self.history.properties(node)

        def one(name: str) -> str | None:
            values = given.get(TRAILS[name])
            return values[0].value if values else None

        if one("outcomeClass") != found.outcome:
            yield Difference(node.value, "outcomeClass", one("outcomeClass"), found.outcome)
        for name, figure in found.figures.items():
            recorded = one(name)
            if recorded is None or Decimal(recorded) != Decimal(figure):
                yield Difference(node.value, name, recorded, str(figure))
        strata = [self.history.properties(s) for s in given.get(TRAILS.stratum, ())]
        names = sorted({name for stratum in found.strata for name in stratum})
        was = sorted([_cell(_first(s.get(TRAILS[name]))) for name in names] for s in strata)
        now = sorted([_cell(str(s[name])) for name in names] for s in found.strata)
        if was != now:
            yield Difference(node.value, "strata", f"{len(was)} counts", f"{len(now)} others")

    def _same_population(self, row: Row, test: Row) -> bool:
        """Check whether what a round left out is what would be left out now."""
        round_ = int(test["round"].value)
        if round_ == 1:
            return True
        symptom = row["symptom"]
        return self._then.get((symptom.value, round_)) == {
            r["hypothesis"].value
            for r in self.record.select("supported-regions", symptom=ox.NamedNode(symptom.value))
            if int(r["round"].value) < round_
        }

    @cached_property
    def _then(self) -> dict[tuple[str, int], set[str]]:
        """Return what was supported when each round of each symptom proposed."""
        history = self.history
        changes: list[tuple[int, str, bool]] = []
        for change in history.instances(TRAILS.StatusTransition):
            said = history.properties(change)
            place = int(history.values(said[TRAILS.step][0], TRAILS.index)[0])
            good = said[TRAILS.to][0] in _GOOD
            changes.append((place, said[TRAILS.hypothesis][0].value, good))
        about = {
            h.value: history.values(h, TRAILS.symptom)[0]
            for h in history.instances(TRAILS.Hypothesis)
            if isinstance(h, ox.NamedNode)
        }
        out: dict[tuple[str, int], set[str]] = {}
        for plan in history.instances(TRAILS.HypothesisPlan):
            said = history.properties(plan)
            place, symptom = int(said[TRAILS.index][0].value), said[TRAILS.symptom][0].value
            last = {h: good for when, h, good in sorted(changes) if when < place}
            supported = {h for h, good in last.items() if good and about.get(h) == symptom}
            out[symptom, int(said[TRAILS.round][0].value)] = supported
        return out


def _first(values: Sequence[Term] | None) -> str:
    return values[0].value if values else "-1"


def _cell(text: str) -> tuple[Decimal, str]:
    """Return a number so that it can be compared with others, or a word."""
    plain = {"true": "1", "True": "1", "false": "0", "False": "0"}.get(text, text)
    try:
        return Decimal(plain), ""
    except InvalidOperation:
        return Decimal(-1), plain
