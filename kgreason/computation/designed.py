"""Designed tests: queries, and code over their rows, that a person or a program wrote.

Each is registered with the answer that is expected before it runs, and can only bear that out or
not. It reads the data and nothing else: neither marks nor halves, no other endpoint, no FROM.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pyoxigraph import NamedNode

from kgreason.base.errors import OptionError, QueryError, RunError
from kgreason.base.figures import figure, integer
from kgreason.base.store import Results, check_query, guarded, names_dataset
from kgreason.base.terms import PREFIXES
from kgreason.base.words import content
from kgreason.computation.sandbox import run_code
from kgreason.context.view import View
from kgreason.record.agents import Agent
from kgreason.test.finding import Finding
from kgreason.test.plans import PlannedTest
from kgreason.test.tester import KindOfTest, Member, RegisteredTest, planned

QUERY_KIND: Final = "designed-query"
CODE_KIND: Final = "designed-code"
_OUTCOMES: Final = ("as-expected", "otherwise")
_KEYS: Final = frozenset({"about", "query", "code", "expect"})
_BOUNDS: Final = frozenset({"least", "most"})
_OWN: Final = "urn:x-kgreason:"
_PREFIXES: Final = {p: iri for p, iri in PREFIXES.items() if not iri.startswith(_OWN)}
_TOLD: Final = 200
ROWS: Final = integer("codeRows")
"""Rows or triples of a query that are read at most."""
_AGENT: Final = Agent(
    NamedNode("urn:kgreason:agent:designed-tests"), "designed tests", software=True
)
_ADVICE: Final = "make it narrower"


@dataclass(frozen=True)
class Design:
    """A test as somebody wrote it.

    `about` are words that a hypothesis has to have to be tested; `code` works on the `rows` of the
    query. `expect` is the very answer, or `least` and `most` of a number (of rows, of triples, or
    what the code gives).
    """

    query: str
    expect: Any
    about: str = ""
    code: str = ""

    @property
    def question(self) -> str:
        """The test as it is registered, with the expected answer."""
        told = {"query": self.query, "code": self.code, "expect": self.expect}
        return json.dumps({k: v for k, v in told.items() if v != ""}, ensure_ascii=False)


def designs_of(found: Any, where: str) -> tuple[Design, ...]:
    """Return the tests of a list of objects, checked; raises OptionError with `where`."""
    if not isinstance(found, Sequence) or isinstance(found, str):
        raise OptionError(f"{where}: write a JSON list of tests, each with query and expect.")
    return tuple(_design(one, f"{where}, test {n}") for n, one in enumerate(found, start=1))


def read_designs(path: str | Path) -> tuple[Mapping[str, Any], ...]:
    """Return the tests of a JSON file, each checked and as it was written; raises OptionError."""
    where = f"--tests {path}"
    try:
        found = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        why = getattr(error, "strerror", None) or "it is no JSON"
        raise OptionError(f"{where}: the file cannot be read ({why}).") from error
    designs_of(found, where)
    return tuple(found)


def _design(one: Any, where: str) -> Design:
    if not isinstance(one, Mapping) or not {"query", "expect"} <= set(one) <= _KEYS:
        raise OptionError(f"{where}: give query and expect, and where needed about and code.")
    texts = {name: one.get(name, "") for name in ("about", "query", "code")}
    if not all(isinstance(text, str) for text in texts.values()):
        raise OptionError(f"{where}: about, query and code are texts.")
    try:
        check_query(texts["query"], where, prefixes=_PREFIXES)
    except QueryError as error:
        raise OptionError(str(error)) from error
    if names_dataset(texts["query"]) or _OWN in texts["query"]:
        raise OptionError(f"{where}: the query is asked of the data as they are; leave out FROM.")
    expect = one["expect"]
    if isinstance(expect, Mapping) and not (
        expect and set(expect) <= _BOUNDS and all(_is_number(n) for n in expect.values())
    ):
        raise OptionError(f"{where}: expect the answer, or least and most of a number.")
    return Design(expect=expect, **texts)


@dataclass(frozen=True)
class DesignedTests:
    """Runs designed tests of one modality: queries alone, or code over the rows of a query.

    `seconds` bound a query, where they are not those of the engine's figures.
    """

    designs: tuple[Design, ...]
    modality: str
    kinds: tuple[KindOfTest, ...]
    agent: Agent = _AGENT
    seconds: float | None = None

    def design(self, _view: View, frame: Sequence[Member], /) -> Iterator[PlannedTest]:
        """Return the tests of the members that they are about."""
        for position, member in enumerate(frame):
            said = content(f"{member.statement} {member.mechanism}")
            for one in self.designs:
                if content(one.about) <= said:
                    yield planned(self.kinds[0].name, one.question, position)

    def run(self, view: View, test: RegisteredTest, /) -> Finding:
        """Return whether a test gives what was expected; raises RunError where it gives nothing."""
        asked = json.loads(test.query)
        found: Any = _asked(view, asked["query"], self.seconds or figure("designedSeconds"))
        count: Any = len(found) if isinstance(found, list) else found
        printed = ""
        if "code" in asked:
            done = run_code(asked["code"], {"rows": found})
            found = count = json.loads(done.value)
            printed = f" It printed: {done.printed.strip()[:_TOLD]}" if done.printed.strip() else ""
        fits = as_expected(asked["expect"], found, count)
        told = json.dumps(found, ensure_ascii=False, sort_keys=True)
        short = told if len(told) <= _TOLD else f"{told[:_TOLD]}…"
        wanted = json.dumps(asked["expect"], ensure_ascii=False, sort_keys=True)
        note = f"It gives {short}; {'as' if fits else 'and not'} expected ({wanted}).{printed}"
        return Finding(
            _OUTCOMES[0] if fits else _OUTCOMES[1],
            note,
            source=view.graph.fingerprint,
            computed=told,
        )


def designed_testers(designs: Sequence[Design]) -> Iterable[DesignedTests]:
    """Return the testers that designed tests need, none where there is no test."""
    for code, kind, modality in (
        (False, QUERY_KIND, "designed-query"),
        (True, CODE_KIND, "computation"),
    ):
        own = tuple(one for one in designs if bool(one.code) == code)
        if own:
            yield DesignedTests(own, modality, (KindOfTest(kind, _OUTCOMES),))


def as_expected_outcomes() -> tuple[str, ...]:
    """Return the outcome classes of a designed test."""
    return _OUTCOMES


def as_expected(expect: Any, found: Any, count: Any) -> bool:
    """Check whether an answer, or the number it comes to, is what was expected.

    Numbers are compared as such, rows without regard to their order.
    """
    if isinstance(expect, Mapping):
        if not _is_number(count):
            return False
        return bool(expect.get("least", count) <= count <= expect.get("most", count))
    if isinstance(expect, list) and isinstance(found, list):
        return sorted(map(_text, expect)) == sorted(map(_text, found))
    if isinstance(expect, bool) or isinstance(found, bool):
        return expect is found
    return bool(expect == found)


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _asked(view: View, query: str, seconds: float) -> bool | list[Any]:
    """Return the answer of a query over the data: a truth value, rows, or triples as texts."""
    store = view.graph.store
    graphs = [
        graph
        for graph in store.inner.named_graphs()
        if isinstance(graph, NamedNode) and not graph.value.startswith(_OWN)
    ]

    def work() -> bool | list[Any]:
        found = store.answer_over(query, graphs, graphs, _PREFIXES, ROWS)
        if isinstance(found, bool):
            return found
        if isinstance(found, Results):
            return [{name: term.value for name, term in row.items()} for row in found]
        return sorted(str(triple) for triple in found)

    return guarded(work, seconds, "the designed query", _ADVICE)


def no_sandbox(designs: Sequence[Design]) -> bool:
    """Check whether code is to be run and the sandbox is not there."""
    try:
        if any(one.code for one in designs):
            run_code("0", {})
    except OptionError:
        return True
    except RunError:
        return False
    return False
