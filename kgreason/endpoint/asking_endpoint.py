"""Ask an endpoint by the SPARQL 1.1 Protocol: one SELECT at a time, never an update.

An answer that was cut counts as none. Some engines cut with status 200: by a limit of rows, which
only a header tells, or by a limit of time, which only another header tells; a body may end in the
middle. All of these raise `Truncated`.
"""

import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from time import sleep as _sleep
from typing import Any, Final, TypeVar

import pyoxigraph as ox

from kgreason.base.errors import QueryError
from kgreason.base.fetching import (
    AGAIN,
    Answered,
    Fetch,
    GaveUp,
    Late,
    SourceError,
    says_out_of_time,
)
from kgreason.base.figures import integer
from kgreason.base.redaction import without_secrets
from kgreason.base.store import Results, Store, Term
from kgreason.base.templates import Fragment, template
from kgreason.endpoint.dialect import calls_itself
from kgreason.endpoint.kept_answers import KeptAnswers
from kgreason.endpoint.named_endpoint import NamedEndpoint

_T = TypeVar("_T")
_ACCEPT: Final = {"Accept": "application/sparql-results+json"}
_JSON: Final = ("application/sparql-results+json", "application/json")
_ROWS: Final = "x-sparql-maxrows"
_STATES: Final = ("x-sql-state", "x-sql-message")
_PAGE: Final = integer("endpointPage")
_LONG: Final = integer("endpointLongPage")
_OWN_LIMIT: Final = "That is the server's own time limit, which --query-seconds does not change."
_LAST: Final = 300  # bytes of an answer in which a server says why it was cut
BATCH: Final = integer("endpointBatch")
"""As many nodes an endpoint is asked about in one query."""
_FASTEST: Final = 1000.0  # queries a second where no pause was asked for: one after the other


class Truncated(SourceError):  # noqa: N818 - reads as what happened
    """An answer that was cut, or may have been: it is never taken for a whole one."""


class Inconsistent(SourceError):  # noqa: N818 - as above
    """An endpoint counts otherwise than it lists: nothing of it can be relied on."""


@dataclass
class Asked:
    """What was asked so far: queries, and the bytes of their answers.

    `kept` of the answers were kept from a run that was interrupted.
    """

    queries: int = 0
    bytes: int = 0
    kept: int = 0


class AskingEndpoint:
    """An endpoint, behind a connection.

    `graphs` make up what is looked at, where there are any: merged they are the default graph.
    `union` is a parameter that makes the merge of all graphs the default graph, None where that
    needs none.
    `cap` is the greatest number of rows that the endpoint gives, None where that is not known.
    Answers are kept in `answers`, where there is such a folder, and are not asked for again.
    """

    def __init__(
        self,
        named: NamedEndpoint,
        told: Callable[[str, int, int], None] | None = None,
        sleep: Callable[[float], None] = _sleep,
        answers: KeptAnswers | None = None,
    ) -> None:
        self.named = named
        self.answers = answers
        self.graphs: tuple[str, ...] = named.graphs
        self.union: str | None = None
        self.cap: int | None = None
        self._longest: int | None = None
        self.asked = Asked()
        self.server = ""
        self._told = told or (lambda *_: None)
        self._fetch = Fetch(
            named.address,
            1 / named.pause if named.pause else _FASTEST,
            None,
            {**_ACCEPT, **named.headers},
            sleep=sleep,
            seconds=named.seconds,
            largest=integer("endpointBytes"),
            again=AGAIN - {500},  # for an endpoint that is an error of the query
            patient=False,
        )

    def solutions(self, query: str) -> Any:
        """Ask a SELECT; gives what pyoxigraph makes of the answer. Raises SourceError."""
        form = [("query", query)]
        form += [("default-graph-uri", one) for one in self.graphs]
        form += [("named-graph-uri", one) for one in self.graphs]
        form += [] if self.union is None else [(self.union, "true")]
        kept = self.answers and self.answers.get(self.named.address, form)
        answer = Answered(200, {"server": kept[1]}, kept[0]) if kept else self._sent(form)
        self.asked.queries += 1
        self.asked.bytes += len(answer.body)
        if self.answers and kept and self.answers.is_earlier(self.named.address, form):
            self.asked.kept += 1
        said = calls_itself(answer.headers)
        self.server = self.server or said
        self._told("asking the endpoint", self.asked.queries, 0)
        self._whole(answer)
        found = self._parsed(answer)
        if self.answers and not kept:
            self.answers.put(self.named.address, form, answer.body, said)
        return found

    def _sent(self, form: Sequence[tuple[str, str]]) -> Answered:
        try:
            return self._fetch.post(form)
        except GaveUp as error:
            raise GaveUp(f"{error} {_OWN_LIMIT}", error.status) from error
        except Late as error:
            raise Late(f"{error} Allow its answers more time with --query-seconds.") from error

    def alive(self) -> bool:
        """Check whether the endpoint still answers what is no work at all."""
        try:
            self._sent([("query", "SELECT (1 AS ?one) WHERE { }")])
        except SourceError:
            return False
        return True

    def goes_on_after(self, error: SourceError) -> bool:
        """Check whether what went wrong is about one query, so that others may be asked.

        After a query that took too long that is found out by another one.
        """
        return about_one_query(error) or (isinstance(error, Late) and self.alive())

    @property
    def page(self) -> int:
        """As many rows may be asked for at once."""
        return _PAGE if self.cap is None else min(_PAGE, self.cap - 1)

    def page_for(self, wanted: float) -> int:
        """Return as many rows as may be asked for at once where so many are wanted.

        Whether a longer answer than usual comes whole is asked once, when that is first needed.
        Raises SourceError.
        """
        if wanted <= self.page or self.cap is not None:
            return self.page
        if self._longest is None:
            query, more = _long_answer()
            try:
                rows = len(self.select(query))
            except SourceError as error:
                if not about_one_query(error):
                    raise
                rows = 0
            self._longest = _LONG if rows == more else self.page
        return self._longest

    def select(self, query: str) -> Results:
        """Ask a SELECT; raises SourceError, and Truncated where rows may be missing."""
        found = self.solutions(query)
        names = [variable.value for variable in found.variables]
        return Results(names, _rows(names, found, self.named.host))

    def count(self, query: str) -> int:
        """Ask a SELECT of one number; raises SourceError where there is none."""
        rows = self.select(query)
        value = next(iter(rows[0].values()), None) if len(rows) == 1 else None
        if not isinstance(value, ox.Literal) or not value.value.isdigit():
            raise SourceError(f"{self.named.host} gave no number where one was asked for.")
        return int(value.value)

    def nodes(self, query: str, name: str) -> list[Term]:
        """Ask a SELECT, and return what one of its variables is bound to."""
        return [row[name] for row in self.select(query) if name in row]

    def _whole(self, answer: Answered) -> None:
        for name in _STATES:
            if answer.headers.get(name):
                said = without_secrets(answer.headers[name])
                raise Truncated(
                    f"{self.named.host} gave up on a query before its end ({name}: {said}), and "
                    "what it answered may be a part; ask for less with --only, or allow more time "
                    "at the endpoint."
                )

    def _parsed(self, answer: Answered) -> Any:
        kind = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind and kind not in _JSON:
            raise SourceError(
                f"{self.named.host} answered with {kind}, not with SPARQL results in JSON; is "
                f"{self.named.address} the address of its SPARQL endpoint?"
            )
        try:
            found = ox.parse_query_results(
                _labelled(answer.body), format=ox.QueryResultsFormat.JSON
            )
            if not isinstance(found, ox.QuerySolutions):
                raise SourceError(f"{self.named.host} answered a SELECT with something else.")
            rows = list(found)
        except (SyntaxError, ValueError, RuntimeError, OSError, AttributeError, TypeError) as error:
            raise self._cut_off(answer) from error
        self._not_capped(len(rows), answer)
        return Solutions(found.variables, rows)

    def _cut_off(self, answer: Answered) -> Truncated:
        """Say why an answer cannot be read, which its last lines may tell."""
        for line in answer.body[-_LAST:].decode("utf-8", "replace").splitlines():
            if says_out_of_time(Answered(answer.status, {}, line.encode())):
                told = without_secrets(line.strip("# "))
                return Truncated(
                    f"{self.named.host} cut its answer off in the middle: {told}. {_OWN_LIMIT}"
                )
        return Truncated(
            f"{self.named.host}: the answer is no SPARQL result in JSON, or was cut off."
        )

    def _not_capped(self, rows: int, answer: Answered) -> None:
        said = answer.headers.get(_ROWS, "")
        caps = [int(said)] if said.isdigit() else []
        caps += [] if self.cap is None else [self.cap]
        if any(rows >= cap for cap in caps):
            raise Truncated(
                f"{self.named.host} gives {min(caps):,} rows at most, and gave as many; "
                "the answer may be a part of what there is."
            )


def _long_answer() -> tuple[str, int]:
    """Return a query with more rows than a long page, and how many it has."""
    each = math.ceil((_LONG + 1) ** (1 / 3))
    numbers: list[ox.NamedNode | ox.Literal | Fragment]
    numbers = [ox.Literal(number) for number in range(each)]
    return template("endpoint", "long-answer").render(numbers=numbers), each**3


def _labelled(body: bytes) -> bytes:
    """Give blank nodes labels that can be read: some engines give them names like nodeID://b1."""
    if b'"bnode"' not in body:
        return body
    told = json.loads(body)
    for row in told.get("results", {}).get("bindings", ()):
        for term in row.values():
            if term.get("type") == "bnode":
                term["value"] = "b" + sha256(term["value"].encode()).hexdigest()[:24]
    return json.dumps(told).encode()


def batches(things: Sequence[_T]) -> Iterator[Sequence[_T]]:
    """Return things in batches, each for one query."""
    for start in range(0, len(things), BATCH):
        yield things[start : start + BATCH]


def about_one_query(error: SourceError) -> bool:
    """Check whether an error is about one query, so that others may still be answered."""
    return error.status in {400, 500, 501} or isinstance(error, Truncated | GaveUp)


@dataclass(frozen=True)
class Solutions:
    """The solutions of an answer, as pyoxigraph has them."""

    variables: Sequence[ox.Variable]
    rows: Sequence[ox.QuerySolution]

    def __iter__(self) -> Any:
        return iter(self.rows)


class EndpointStore(Store):
    """A store that asks an endpoint; `inner` holds only what is known of the endpoint already."""

    def __init__(self, asking: AskingEndpoint, inner: ox.Store) -> None:
        super().__init__(inner, asking.named.address)
        self.asking = asking

    def _solutions(self, query: str) -> Any:
        return self.asking.solutions(query)

    def _query(self, query: str) -> Any:
        raise QueryError(f"{self.where} is asked nothing but SELECT: {query}")


def _rows(names: Sequence[str], found: Any, host: str) -> list[dict[str, Term]]:
    rows = []
    for solution in found:
        row: dict[str, Term] = {}
        for name, term in zip(names, solution, strict=True):
            if isinstance(term, ox.Triple):
                raise SourceError(f"{host} answered with a triple as a term, which is not read.")
            if term is not None:
                row[name] = term
        rows.append(row)
    return rows
