"""Several investigations of one divided question, judged as one: a wider e-BH, a joint cover."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import pyoxigraph as ox

from kgreason.base.errors import GraphError, KgreasonError, LedgerError
from kgreason.base.extensions import Extension, using
from kgreason.base.store import Row, Store, Term, check_query, guarded_select
from kgreason.base.templates import template
from kgreason.base.terms import PREFIXES
from kgreason.decide.joint import cover
from kgreason.graph.graph import exact
from kgreason.observe import opening
from kgreason.observe.request import correlation_name
from kgreason.record import Ledger, Record, extended
from kgreason.record.ranking import Hypothesis, by_share, hypotheses, joint, short, symptoms

_NEVER: Final = ox.Literal("100000000000", datatype=ox.NamedNode(PREFIXES["xsd"] + "decimal"))
"""More than any e-value: where the e-BH set is empty, nobody is in it."""


@dataclass(frozen=True)
class CorrelatedInvestigation:
    """An investigation of a correlation, and the e-BH set of its own last decision.

    `state` is "finished", "running" or "failed"; only finished ones are counted. `graph` is the
    fingerprint of its data. `threshold` is None where no hypothesis was in its e-BH set.
    """

    id: str
    number: int
    state: str
    graph: str
    policy: str
    family: int
    threshold: float | None


@dataclass(frozen=True)
class OutsideHypothesis:
    """A hypothesis that its own investigation supports, but that is not in the wider e-BH set.

    `name` is what people call its symptom, `threshold` what was enough in its own investigation.
    """

    id: str
    number: int
    investigation: int
    symptom: str
    name: str
    statement: str
    e: float
    threshold: float | None


@dataclass(frozen=True)
class CorrelatedCause:
    """A cause of one graph, counted once however many symptoms and investigations tell it.

    `failing` are the pairs of a failing node and the rule it breaks that it holds, `adds` those
    that no cause before it holds; None where they could not be counted, and `adds` is None too
    where it only narrows down where failures lie. One without an `adds` is not counted among the
    causes, nor is one with an `adds` of 0.
    """

    statement: str
    hypotheses: tuple[str, ...]
    investigations: tuple[int, ...]
    failing: int | None
    adds: int | None


@dataclass(frozen=True)
class GraphExplanation:
    """What the causes of a correlation explain together of one graph.

    `failing` and `explained` count pairs of a failing node and the rule it breaks, each once.
    `uncounted` says why nothing could be counted; then `explained` and `count` are None.
    """

    graph: str
    investigations: tuple[int, ...]
    failing: int
    explained: int | None
    count: int | None
    causes: tuple[CorrelatedCause, ...]
    uncounted: str | None


@dataclass(frozen=True)
class Correlation:
    """All investigations of a correlation, judged as one.

    `family` is the number of hypotheses told by statistics that its finished investigations
    registered, `threshold` the least e-value of the e-BH set over all of them at `alpha` (None
    where the set is empty). `outside` are supported alone, but not in that set; the others are
    explained together, graph by graph.
    """

    name: str
    investigations: tuple[CorrelatedInvestigation, ...]
    alpha: float | None
    family: int
    threshold: float | None
    supported: int
    outside: tuple[OutsideHypothesis, ...]
    explanations: tuple[GraphExplanation, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return everything, for JSON."""
        return asdict(self)

    def markdown(self) -> str:
        """Return it in sentences and tables."""
        return "\n".join(self._lines()) + "\n"

    def _lines(self) -> Iterator[str]:
        counted = [one for one in self.investigations if one.state == "finished"]
        yield f"# Correlation {self.name}"
        yield ""
        yield from self._investigations(counted)
        yield ""
        yield from self._e_bh(counted)
        if len(self.explanations) > 1:
            yield ""
            yield (
                f"The investigations are of {len(self.explanations)} different graphs. What is "
                "found in one explains nothing in another, so causes are told graph by graph."
            )
        for one in self.explanations:
            yield from ("", *_explained(one))

    def _investigations(self, counted: Sequence[CorrelatedInvestigation]) -> Iterator[str]:
        yield f"{_number(len(counted), 'finished investigation')}: {_listed(counted)}."
        left = [one for one in self.investigations if one.state != "finished"]
        if left:
            told = ", ".join(f"I{one.number} ({one.state})" for one in left)
            yield f"Not counted, for they are not finished: {told}."

    def _e_bh(self, counted: Sequence[CorrelatedInvestigation]) -> Iterator[str]:
        own = " + ".join(str(one.family) for one in counted)
        yield "## e-BH over the correlation"
        yield ""
        alpha = self.alpha or 1.0
        in_it = (
            f"the e-BH set is empty; one alone would need an e-value of {_e(self.family / alpha)}"
            if self.threshold is None
            else f"the e-BH set holds those with an e-value of at least {_e(self.threshold)}"
        )
        sum_ = f" ({own})" if len(counted) > 1 else ""
        yield (
            f"{_number(self.family, 'hypothesis', 'hypotheses')}{sum_} told by statistics "
            f"{'was' if self.family == 1 else 'were'} registered. At alpha {alpha:g}, {in_it}."
        )
        if not self.outside:
            yield f"All supported hypotheses ({self.supported}) are in it."
            return
        few = _number(len(self.outside), "supported hypothesis", "supported hypotheses")
        yield f"{few} of {self.supported} would not be supported over the whole correlation:"
        yield ""
        yield "| hypothesis | symptom | statement | e-value | least in its own set | here |"
        yield "|---|---|---|---|---|---|"
        for one in self.outside:
            cells = (
                f"I{one.investigation} H{one.number}",
                _cell(one.name),
                _cell(one.statement),
                _e(one.e),
                "none" if one.threshold is None else _e(one.threshold),
                "none" if self.threshold is None else _e(self.threshold),
            )
            yield f"| {' | '.join(cells)} |"


def correlation(folder: str | Path, name: str, extend: Sequence[Extension] = ()) -> Correlation:
    """Judge all finished investigations of a correlation as one.

    e-values and families come from the records. What causes hold together is counted on the data,
    which are read again from where they were; where that cannot be, it is said. Raises OptionError
    for what is no name, LedgerError where no investigation has it.
    """
    wanted = ox.Literal(correlation_name(name))
    with Ledger.read(Path(folder)) as store:
        rows = _select(store.store, "record", "correlated", correlation=wanted)
        if not rows:
            raise _unknown(store.store, Path(folder), wanted.value)
        listed = [_investigation(row) for row in rows]
        (family,) = _select(store.store, "status", "e-bh-of-correlation", correlation=wanted)
        threshold = family.get("threshold")
        records = {
            one.number: store.record(store.entry(one.id))
            for one in listed
            if one.state == "finished"
        }
        outside = _outside(store.store, wanted, threshold, listed, records)
        left = {one.id for one in outside}
        causes = {number: _causes(record) for number, record in records.items()}
        return Correlation(
            name=wanted.value,
            investigations=tuple(listed),
            alpha=_float(family.get("alpha")),
            family=int(family["family"].value),
            threshold=_float(threshold),
            supported=sum(map(len, causes.values())),
            outside=outside,
            explanations=tuple(
                _Graph(graph, {n: records[n] for n in numbers}, causes, left, extend).explanation()
                for graph, numbers in _by_graph(listed)
            ),
        )


def _select(store: Store, role: str, name: str, **values: ox.NamedNode | ox.Literal) -> list[Row]:
    return list(store.select(template(role, name).render(**values)))


def _unknown(store: Store, folder: Path, name: str) -> LedgerError:
    known = [row["correlation"].value for row in _select(store, "record", "correlations")]
    there = f"there are {', '.join(known)}" if known else "there are no correlations"
    return LedgerError(
        f"{folder}: no investigation has the correlation {name!r}; {there}. It is given by "
        "`kgreason investigate --correlation NAME`."
    )


def _investigation(row: Row) -> CorrelatedInvestigation:
    return CorrelatedInvestigation(
        id=row["investigation"].value,
        number=int(row["number"].value),
        state=short(row["state"].value),
        graph=row["fingerprint"].value,
        policy=row["policy"].value,
        family=int(row["family"].value) if "family" in row else 0,
        threshold=_float(row.get("threshold")),
    )


def _by_graph(listed: Iterable[CorrelatedInvestigation]) -> list[tuple[str, list[int]]]:
    """Return the numbers of the finished investigations by the graph that they are of."""
    out: dict[str, list[int]] = {}
    for one in listed:
        if one.state == "finished":
            out.setdefault(one.graph, []).append(one.number)
    return list(out.items())


def _outside(
    store: Store,
    name: ox.Literal,
    threshold: Term | None,
    listed: Sequence[CorrelatedInvestigation],
    records: Mapping[int, Record],
) -> tuple[OutsideHypothesis, ...]:
    by_id = {one.id: one for one in listed}
    least = threshold if isinstance(threshold, ox.Literal) else _NEVER
    text = template("record", "outside-e-bh").render(correlation=name, threshold=least)
    rows = list(store.select(text))
    names = {
        row["symptom"].value: row["name"].value
        for number in {by_id[row["investigation"].value].number for row in rows}
        for row in symptoms(records[number])
    }
    return tuple(
        OutsideHypothesis(
            id=row["hypothesis"].value,
            number=int(row["place"].value),
            investigation=by_id[row["investigation"].value].number,
            symptom=row["symptom"].value,
            name=names[row["symptom"].value],
            statement=row["statement"].value,
            e=float(row["e"].value),
            threshold=by_id[row["investigation"].value].threshold,
        )
        for row in rows
    )


def _causes(record: Record) -> list[Hypothesis]:
    """Return the supported causes of a record, symptom by symptom, the largest share first."""
    known = hypotheses(record)
    return [
        one
        for row in record.select("symptom-keys")
        for one in by_share([h for h in known.get(row["symptom"].value, ()) if h.cause])
    ]


class _Graph:
    """The investigations of one graph: their causes, and what these hold together."""

    def __init__(
        self,
        graph: str,
        records: Mapping[int, Record],
        causes: Mapping[int, Sequence[Hypothesis]],
        left: Collection[str],
        extend: Sequence[Extension],
    ) -> None:
        self._graph, self._records, self._extend = graph, records, extend
        self._keys: dict[str, str] = {}
        self._failing: dict[str, int] = {}
        for record in records.values():
            for row in record.select("symptom-keys"):
                self._keys[row["symptom"].value] = row["key"].value
                self._failing[row["key"].value] = int(row["failing"].value)
        self._causes = {n: [h for h in causes[n] if h.id not in left] for n in records}
        self._homes = {h.id: n for n, several in self._causes.items() for h in several}

    def explanation(self) -> GraphExplanation:
        """Return what the causes explain, each counted once."""
        groups = self._groups()
        try:
            held, why = self._held(), None
        except KgreasonError as error:
            held, why = None, str(error).partition("\n")[0]
        told = None if held is None else _covered(groups, held)
        causes = (
            tuple(self._cause(group, None, None) for group in groups)
            if told is None
            else tuple(self._cause(group, failing, adds) for group, failing, adds in told)
        )
        return GraphExplanation(
            graph=self._graph,
            investigations=tuple(self._records),
            failing=sum(self._failing.values()),
            explained=None if told is None else sum(adds or 0 for *_, adds in told),
            count=None if told is None else sum(1 for *_, adds in told if adds),
            causes=causes,
            uncounted=why,
        )

    def _groups(self) -> list[list[Hypothesis]]:
        """Group the hypotheses that are one cause; twins of another investigation are, too."""
        twins: dict[tuple[str, str, str | None], list[Hypothesis]] = {}
        for several in self._causes.values():
            for h in several:
                twins.setdefault((self._keys[h.symptom], h.family, h.pattern), []).append(h)
        same = {each[0].id: each for each in twins.values()}
        first = [each[0] for each in twins.values()]
        return [[h for one in group for h in same[one.id]] for group in joint(first)]

    def _cause(
        self, group: Sequence[Hypothesis], failing: int | None, adds: int | None
    ) -> CorrelatedCause:
        homes = sorted({self._homes[h.id] for h in group})
        ids = tuple(h.id for h in group)
        return CorrelatedCause(group[0].statement, ids, tuple(homes), failing, adds)

    def _held(self) -> dict[str, int]:
        """Return the failures in the region of each cause, a bit for each rule and failing node."""
        places: dict[tuple[str, Term], int] = {}
        held: dict[str, int] = {}
        for number, several in self._causes.items():
            if not several:
                continue
            record = self._records[number]
            with using(extended.reading(record, self._extend)):
                for h, failing in self._inside(number, record, several):
                    bits = (
                        1 << places.setdefault((self._keys[h.symptom], node), len(places))
                        for node in failing
                    )
                    held[h.id] = sum(bits)  # of a set, so no bit comes twice
        return held

    def _inside(
        self, number: int, record: Record, several: Sequence[Hypothesis]
    ) -> Iterator[tuple[Hypothesis, set[Term]]]:
        """Return the failing nodes in the region of each cause, found in the data read again."""
        request = opening.recorded_request(record)
        graph, observed = opening.seen(request, None, None)
        if graph.fingerprint != self._graph:
            raise GraphError(f"The data of investigation I{number} have changed since.")
        failing = {one.constraint.key: one.observation.failing for one in observed.symptoms}
        for h in several:
            key = self._keys[h.symptom]
            if len(failing.get(key, ())) != self._failing[key]:
                raise GraphError(f"The shapes of investigation I{number} have changed since.")
            text = h.region or ""
            check_query(text, h.id)
            rows = guarded_select(graph.store, text, request.query_seconds, h.id)
            inside = {exact(row["focus"]) for row in rows if "focus" in row}
            yield h, inside & set(failing[key])


def _covered(
    groups: Sequence[list[Hypothesis]], held: Mapping[str, int]
) -> list[tuple[list[Hypothesis], int, int | None]]:
    """Return groups with what each holds and adds, those that add nothing last.

    What only narrows down where failures lie explains none of them: it comes after all others, and
    nothing is said of what it adds.
    """
    explaining = [group for group in groups if not all(h.narrows for h in group)]
    faint = [group for group in groups if all(h.narrows for h in group)]
    sets = [_together(group, held) for group in explaining]
    order = cover(sets)
    seen = 0
    out: list[tuple[list[Hypothesis], int, int | None]] = []
    for place in [*order, *(place for place in range(len(sets)) if place not in order)]:
        adds = (sets[place] & ~seen).bit_count()
        out.append((explaining[place], sets[place].bit_count(), adds))
        seen |= sets[place]
    return [*out, *((group, _together(group, held).bit_count(), None) for group in faint)]


def _together(group: Sequence[Hypothesis], held: Mapping[str, int]) -> int:
    together = 0
    for h in group:
        together |= held[h.id]
    return together


def _explained(one: GraphExplanation) -> Iterator[str]:
    yield f"## Joint explanation of the graph {one.graph[:12]}…"
    yield ""
    where = ", ".join(f"I{number}" for number in one.investigations)
    failures = _number(one.failing, "failure")
    if one.explained is None or one.count is None:
        causes = _number(len(one.causes), "cause")
        yield f"{where}: {failures}, and {causes}. What they hold together is not counted:"
        yield one.uncounted or ""
    else:
        verb = "explains" if one.count == 1 else "explain"
        yield f"{where}: {_number(one.count, 'cause')} {verb} {one.explained} of {failures}."
    if one.causes:
        yield from ("", "| cause | told by | holds | adds |", "|---|---|---|---|")
    for cause in one.causes:
        told = ", ".join(f"I{number}" for number in cause.investigations)
        unknown = "?" if cause.failing is None else "narrows down"
        figures = [unknown if n is None else str(n) for n in (cause.failing, cause.adds)]
        yield f"| {_cell(cause.statement)} | {told} | {' | '.join(figures)} |"


def _listed(several: Iterable[CorrelatedInvestigation]) -> str:
    return ", ".join(f"I{one.number}" for one in several) or "none"


def _number(count: int, one: str, more: str | None = None) -> str:
    return f"{count} {one if count == 1 else more or one + 's'}"


def _float(term: Term | None) -> float | None:
    return None if term is None else float(term.value)


def _e(value: float) -> str:
    return f"{value:,.1f}".removesuffix(".0")


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
