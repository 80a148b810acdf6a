"""What an outcome query asks of a focus node, read as constraints say it.

An outcome comes about because a value is lacking at the end of a path, or because there is one that
is not as it should be. Each such path is a reading: it says of which constraint components the
query has the meaning, so that a family of causes reads an outcome as it reads a shape.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Final

from pyoxigraph import Literal, NamedNode

from kgreason.base.store import Term
from kgreason.base.templates import Fragment
from kgreason.base.terms import SH, TYPE, XSD
from kgreason.shacl.asked_tests import Test, read_test
from kgreason.shacl.listed_predicates import decided
from kgreason.shacl.paths import Path, of_predicate
from kgreason.shacl.query_row import Row, Rows, UnreadError, plain, variables
from kgreason.shacl.query_text import Writer, as_term
from kgreason.shacl.query_tree import none_asked, parsed, rows_of, settled, truth_of, where_true

_HOLE: Final = "<urn:x-kgreason:work:asked>"
_OPEN: Final = frozenset({"Variable", "BNode"})
_FOCUS: Final = frozenset({"focus", "this"})
DESCRIBING: Final = frozenset({"Class", "Node"})
"""Components that ask what lies behind a value."""


@dataclass(frozen=True)
class Reading:
    """One thing that a query asks of ?focus: what it asks of the values at the end of a path.

    `components` are those constraint components whose meaning it has.


    `lacking` says that no value is as asked; else one is at fault, and `offending` binds ?value of
    ?focus to it. `parameters` are those of the components, `allowed` the values that are listed as
    right, `most` how many there may be. `described` says whether it is asked what lies behind the
    values, `text` whether what their text is like, `linked` whether they have to be things. Their
    values have to come before those of the property `compared`.
    """

    path: Path
    components: frozenset[str]
    lacking: bool
    offending: Fragment | None = None
    parameters: dict[NamedNode, tuple[Term, ...]] = field(default_factory=dict, compare=False)
    allowed: tuple[NamedNode | Literal, ...] = ()
    described: bool = False
    text: bool = False
    linked: bool = False
    most: int | None = None
    compared: NamedNode | None = None
    _asked: str = field(default="", repr=False)

    @property
    def predicate(self) -> NamedNode | None:
        """The predicate where the path is nothing else, or None."""
        return self.path.predicate

    @property
    def ends(self) -> tuple[NamedNode, NamedNode] | None:
        """Both predicates of a path of two steps forwards, or None."""
        steps = [part.iri for part in self.path.parts] if self.path.kind == "/" else []
        leading, closing = steps if len(steps) == 2 else (None, None)  # noqa: PLR2004 - two steps
        return (leading, closing) if leading is not None and closing is not None else None

    @property
    def named(self) -> frozenset[NamedNode]:
        """The components as terms of SHACL."""
        return frozenset(SH[f"{name}ConstraintComponent"] for name in self.components)

    @property
    def asks(self) -> bool:
        """Whether it can be asked of another path; else only its shape can."""
        return bool(self._asked)

    def satisfied(self, path: Path, pattern: Fragment) -> Fragment:
        """Return a SELECT of ?focus: the nodes of `pattern` that another path would satisfy.

        Where the query cannot be asked so, it gives none.
        """
        if not self._asked:
            text = f"SELECT DISTINCT ?focus WHERE {{ {pattern.text} FILTER (false) }}"
            return Fragment(text, pattern.prefixes)
        asked = self._asked.replace(_HOLE, path.text)
        there = f"FILTER EXISTS {{ ?focus {path.text} ?there . }}"
        tests = f"FILTER {'' if self.lacking else 'NOT '}EXISTS {{ {asked} }}"
        text = f"SELECT DISTINCT ?focus WHERE {{ {pattern.text} {there} {tests} }}"
        return Fragment(text, pattern.prefixes)


@lru_cache(maxsize=32)
def readings(query: str, focus: str = "focus", at: str | None = None) -> tuple[Reading, ...]:
    """Return what a SELECT of ?focus and ?outcome asks, as far as it can be read; full IRIs.

    Without ?outcome (a query of SHACL, with `focus` as `this`) all that it gives fails. `at` is the
    bound from which numbers fail.
    """
    try:
        found = [one for row, more in failing_rows(query, at) for one in _Failure(row, more, focus)]
    except (UnreadError, RecursionError):
        # What is not read here says nothing; an error of any other kind is one of this reader.
        return ()
    kept: dict[tuple[str, bool, frozenset[str]], Reading] = {}
    for one in found:
        kept.setdefault((one.path.text, one.lacking, one.components), one)
    return tuple(kept.values())


def failing_rows(query: str, at: str | None) -> Iterator[tuple[Row, Row]]:
    """Return what holds of all nodes that are looked at, and what else of those that fail."""
    whole = rows_of(parsed(query))
    rows = [one for row in whole for one in settled(row)]
    without = _none_of(whole)
    if without:
        yield Row(binds={k: v for row in rows for k, v in _rest(row).items()}), without
        return
    passing = [row for row in rows if truth_of(dict(row.binds).get("outcome")) is False]
    for row in rows:
        outcome, above = _told_above(dict(row.binds).get("outcome"), at)
        bare = _without(row)
        if outcome is None and not any("outcome" in dict(r.binds) for r in rows):
            yield (bare, Row(tests=(("least", _variable(query), at),))) if at else (Row(), row)
        elif truth_of(outcome) is True:
            shared = passing[0] if passing else Row()
            yield Row(row.triples), Row(
                tests=tuple(t for t in row.tests if t not in shared.tests), lacks=row.lacks,
                binds=bare.binds, options=bare.options,
            )  # fmt: skip
        elif outcome is not None and not above:
            yield bare, Row(tests=(("least", outcome, at),))
        elif outcome is not None:
            for one in where_true(_empty(bare), outcome):
                for each in settled(one):
                    yield from ((bare, told) for told in decided(each, dict(bare.binds)))


def _told_above(outcome: Any, at: str | None) -> tuple[Any, bool]:
    """Return an outcome that fails from a bound on as a truth where IF chooses it, and whether."""
    made = plain(outcome)
    if at is None or getattr(made, "name", "") != "Builtin_IF":
        return outcome, at is None
    ends = [_told_above(made[key], at) for key in ("arg2", "arg3")]
    truths = [one if chosen else _above(one, at) for one, chosen in ends]
    if None in truths:
        return outcome, False
    return type(made)("Builtin_IF", arg1=made.arg1, arg2=truths[0], arg3=truths[1]), True


def _above(number: Any, at: str) -> Any:
    """Return whether a number reaches a bound, as a term; None for anything but a number."""
    from rdflib import Literal  # noqa: PLC0415 - loaded by then: it parsed the query

    try:
        return Literal(float(str(plain(number))) >= float(at))
    except ValueError:
        return None


def _none_of(rows: Rows) -> Row | None:
    """Return what a node lacks where an aggregate says that no solution of it is such or such."""
    ways: list[Row] = []
    for row in rows:
        asked = none_asked(dict(row.binds).get("outcome"), row)
        if asked is None:
            return None
        weight = str(asked[0])
        if weight in {"0", "1"}:
            own = [t for t in row.triples if any(t not in one.triples for one in rows)]
            ways += settled(replace(row, triples=tuple(own))) if (weight == "1") == asked[1] else ()
            continue
        for one in where_true(_empty(_without(row)), asked[0], wanted=asked[1]):
            ways += settled(_with_ends(one, row))
    return Row(lacks=(tuple(ways),)) if ways and all(way.triples for way in ways) else None


def _with_ends(way: Row, row: Row) -> Row:
    """Return a row with the triples and tests of another that its own tests are about."""
    named = variables([way.tests]) - variables(way.triples)
    if not _FOCUS & variables(way.triples):
        # What lies behind a value is nothing that the node lacks without the way to it.
        named |= variables(way.triples)
    triples = tuple(t for t in row.triples if named & set(map(str, t)))
    return Row((*way.triples, *triples), (*way.tests, *_about(row, triples)), way.lacks)


def _about(row: Row, triples: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the tests of a row on what only some of its triples are about."""
    own = variables(triples) - variables([t for t in row.triples if t not in triples])
    return tuple(test for test in row.tests if own & variables([test]))


def _without(row: Row) -> Row:
    return Row(row.triples, row.tests, row.lacks, _rest(row), row.options)


def _empty(row: Row) -> Row:
    return Row(binds=row.binds, options=row.options)


def _rest(row: Row) -> dict[str, Any]:
    return {name: made for name, made in dict(row.binds).items() if name != "outcome"}


def _variable(query: str) -> Any:
    """Return the variable ?outcome, which a query takes from its triples."""
    tree = parsed(query)
    return next(one.var for one in tree.projection if str(one.var) == "outcome")


class _Failure:
    """One way to fail: `base` holds of all nodes that are looked at, `more` of those that fail."""

    def __init__(self, base: Row, more: Row, focus: str) -> None:
        self._base, self._more, self._focus = base, more, focus
        self._binds = {**dict(base.binds), **dict(more.binds)}
        options = [row for rows in (*base.options, *more.options) for row in rows]
        self._sure = reached((*base.triples, *more.triples), focus)
        beyond = tuple(t for row in options for t in row.triples)
        self._reached = reached((*base.triples, *more.triples, *beyond), focus)
        self._given = {self._text(one) for one in base.tests}

    def __iter__(self) -> Iterator[Reading]:
        """Return its readings: values at fault by the variable they are bound to, then lacks."""
        yield from self._counted()
        yield from self._shared()
        asked: dict[str, list[Test]] = {}
        several = {name: path for test in self._more.tests for name, path in self._differing(test)}
        for path in dict.fromkeys(several.values()):
            yield _at_most(path, 1)
        for test in self._more.tests:
            if self._text(test) not in self._given and not several.keys() & variables([test]):
                read = read_test(test, self._binds, set(self._sure) - {self._focus}, self._focus)
                for name in read.of:
                    thing, one = self._classed(name, read)
                    asked.setdefault(thing, []).append(one)
        for rows in self._more.lacks:
            for row in rows:
                ends = variables(row) & set(self._sure) - {self._focus}
                if self._focus in variables(row):
                    yield from _lacking(row, self._focus, self._binds)
                elif len(ends) == 1:
                    asked.setdefault(next(iter(ends)), []).append(_behind(row, next(iter(ends))))
        # What is said of a value is what is at fault only where nothing else is.
        found = asked if asked or self._more.lacks or several else self._said()
        if not found and not (self._more.tests or self._more.lacks) and self._base.triples:
            yield from self._present()
        yield from (self._at_fault(name, tests) for name, tests in found.items())

    def _classed(self, name: str, read: Test) -> tuple[str, Test]:
        """Return what a test of the class of a value asks of that value; any other as it is."""
        if read.components != {"In"} or len(read.allowed) != 1:
            return name, read
        said = (*self._base.triples, *self._more.triples)
        things = (str(s) for s, p, o in said if str(o) == name and str(p) == TYPE.value)
        thing = next(things, self._focus)
        if thing == self._focus or thing not in self._sure:
            return name, read
        return thing, Test((thing,), frozenset({"Class"}), {SH["class"]: read.allowed}, linked=True)

    def _present(self) -> Iterator[Reading]:
        """Return readings that there are values at all, where nothing is asked of them."""
        further = tuple(t for t in self._more.triples if t not in self._base.triples)
        given = reached(self._base.triples, self._focus).values()
        for path in reached(further, self._focus).values():
            if path not in given:
                yield _at_most(path, 0)

    def _said(self) -> dict[str, list[Test]]:
        """Return the values that are at fault for what is said of them, such as that they end."""
        further = [t for t in self._more.triples if t not in self._base.triples]
        about = (str(s) for s, _, value in further if type(value).__name__ not in _OPEN)
        ends = {name for name in about if name != self._focus and name in self._sure}
        return {name: [Test((name,), frozenset({"Node"}), linked=True)] for name in sorted(ends)}

    def _at_fault(self, name: str, tests: list[Test]) -> Reading:
        path = self._sure[name]
        named = {self._focus: "?focus", name: "?value"}
        row = self._base.joined(self._more)
        step = path.predicate
        return Reading(
            path=path,
            components=frozenset(c for one in tests for c in one.components),
            lacking=False,
            offending=_written(row, named, self._binds, None),
            parameters={k: v for one in tests for k, v in one.parameters.items()},
            allowed=tuple(t for one in tests for t in one.allowed),
            described=any(DESCRIBING & one.components for one in tests),
            text=any(one.text for one in tests),
            linked=any(one.linked for one in tests),
            compared=self._later(name, tests),
            _asked=_text(_written(row, named, self._binds, (self._focus, name))) if step else "",
        )

    def _later(self, name: str, tests: Sequence[Test]) -> NamedNode | None:
        """Return the property of ?focus whose values have to come after those of a variable."""
        pairs = (one.before for one in tests if one.before is not None)
        ends = [self._sure[late] for early, late in pairs if early == name and late in self._sure]
        return ends[0].predicate if len(ends) == 1 else None

    def _differing(self, test: Any) -> Iterator[tuple[str, Path]]:
        """Return the variables that a test wants to differ, where they are values of one path."""
        sides = [str(side) for side in _unequal(test)]
        paths = [self._sure.get(side) for side in sides]
        if sides and paths[0] is not None and paths[0] == paths[1] and self._focus not in sides:
            yield from ((side, paths[0]) for side in sides)

    def _shared(self) -> Iterator[Reading]:
        """Return readings that a value is that of another node, too."""
        for test in self._more.tests:
            for step in self._steps_to(self._other(test)):
                path = of_predicate(NamedNode(step))
                text = (
                    f"?focus {path.text} ?value . ?other {path.text} ?value . "
                    "FILTER (?other != ?focus)"
                )
                yield Reading(
                    path, frozenset({"UniqueValue"}), lacking=False, offending=Fragment(text)
                )

    def _other(self, test: Any) -> str:
        """Return what a test calls the other nodes: not ?focus, or more than one with it."""
        read = read_test(test, self._binds, set(self._reached) - {self._focus}, self._focus)
        counted = read.counted if read.most == 1 else None
        return _another(test, self._focus) or counted or ""

    def _steps_to(self, other: str) -> list[str]:
        """Return the properties by which another node has a value of ?focus; "*" is any other."""
        triples = (*self._base.triples, *self._more.triples)
        own = {
            (str(step), str(value))
            for node, step, value in triples
            if str(node) == self._focus and type(value).__name__ == "Variable"
        }
        found = (
            str(step)
            for node, step, value in triples
            if str(node) != self._focus
            and other in {"*", str(node)}
            and (str(step), str(value)) in own
            and type(step).__name__ == "URIRef"
        )
        return list(dict.fromkeys(found))

    def _counted(self) -> Iterator[Reading]:
        """Return readings of tests that count values: too few are lacking, too many are more."""
        for test in self._more.tests:
            read = read_test(test, self._binds, set(self._reached) - {self._focus}, self._focus)
            counted = read.counted
            if counted not in self._reached or self._steps_to(self._other(test)):
                continue
            path = self._reached[counted]
            none = read.most is None and read.least == 1
            lacks = list(self._lacks_of(counted)) if none else []
            if lacks:
                yield from lacks
            elif read.most is None:
                yield lack_of(path, read.least)
            else:
                yield _at_most(path, read.most, apart=read.apart)

    def _lacks_of(self, name: str) -> Iterator[Reading]:
        """Return what is asked of the values that an OPTIONAL binds, where there is none."""
        for option in (*self._base.options, *self._more.options):
            for row in (each for one in option for each in settled(one)):
                if {name, self._focus} <= variables(row.triples):
                    yield from _lacking(row, self._focus, self._binds)

    def _text(self, test: Any) -> str:
        """Return a test with the ways to its variables in their place, to be compared by."""
        return _expression(test, self._place, self._binds)

    def _place(self, name: str) -> str:
        return self._sure[name].text if name in self._sure else f"?{name}"


def _another(test: Any, focus: str) -> str:
    """Return the variable that a test wants to be another node than ?focus; "" for other tests."""
    sides = (_inside_str(side) for side in _unequal(test))
    names = [str(side) for side in sides if type(side).__name__ == "Variable"]
    return next((n for n in names if n != focus), "") if focus in names else ""


def _inside_str(side: Any) -> Any:
    """Return the term of which an expression is the text; the expression itself else."""
    return plain(side.arg) if getattr(side, "name", "") == "Builtin_STR" else side


def _unequal(test: Any) -> list[Any]:
    """Return the two sides that a test wants to differ; none for any other test."""
    denied = isinstance(test, tuple) and test[0] == "denied"
    given = test[1] if denied else test
    if getattr(given, "op", None) != ("=" if denied else "!="):
        return []
    return [plain(side) for side in (given.expr, given.other)]


def lack_of(path: Path, least: int = 1) -> Reading:
    """Return the reading that there are fewer values than `least`.

    That there is no value at all any other path would satisfy; of several values it is not asked.
    """
    if least == 1:
        hole = f"?focus {_HOLE} ?value ."
        return Reading(path, frozenset({"MinCount"}), lacking=True, _asked=hole)
    asked: dict[NamedNode, tuple[Term, ...]] = {SH.minCount: (Literal(least),)}
    return Reading(path, frozenset({"MinCount"}), lacking=True, parameters=asked)


def lack_of_class(path: Path, wanted: NamedNode) -> Reading:
    """Return the reading that no value has a class."""
    return Reading(
        path, frozenset({"Class"}), lacking=True, parameters={SH["class"]: (wanted,)},
        described=True, linked=True, _asked=f"?focus {_HOLE} ?value . ?value {TYPE} {wanted} .",
    )  # fmt: skip


def _at_most(path: Path, most: int, *, apart: bool = False) -> Reading:
    """Return the reading that there are too many values, of which none alone is at fault.

    `apart` says that those of each language are counted for themselves.
    """
    if apart:
        return Reading(
            path, frozenset({"UniqueLang"}), lacking=False, most=most,
            parameters={SH.uniqueLang: (Literal("true", datatype=XSD.boolean),)},
        )  # fmt: skip
    return Reading(
        path, frozenset({"MaxCount"}), lacking=False, most=most,
        parameters={SH.maxCount: (Literal(most),)},
    )  # fmt: skip


def _lacking(row: Row, focus: str, binds: dict[str, Any]) -> Iterator[Reading]:
    """Return what a group asks of a node without a solution of it: a reading for each branch."""
    branches = [t for t in row.triples if focus in {str(t[0]), str(t[2])} and not _open(t)]
    some = [t for t in branches if not _typed(t)] or branches
    for triple in some:
        steps, end, last = _walked(triple, focus, row)
        path = _path_of(steps)
        tests = [
            read
            for test in row.tests
            if (read := read_test(test, binds, {end}, focus)).of and end and not read.counted
        ]
        rest = [t for t in row.triples if end in {str(t[0]), str(t[2])} and t not in last]
        named = {focus: "?focus"} | ({end: "?value"} if end else {})
        components = {"MinCount"}
        parameters: dict[NamedNode, tuple[Term, ...]] = {}
        classes = tuple(as_term(t[2]) for t in rest if _typed(t))
        listed = [one for one in tests if one.listed]
        if not end:
            components = {"HasValue"}
        elif listed and not rest and len(tests) == 1:
            components = {"HasValue", "In"}
        elif rest or row.lacks:
            components |= {"QualifiedMinCount", *(["Class"] if classes else [])}
            parameters[SH["class"]] = tuple(one for one in classes if one is not None)
        for one in tests if "HasValue" not in components else ():
            components |= {"QualifiedMinCount", *one.components - {"Pattern", "MinInclusive"}}
            parameters |= one.right
        value = as_term(triple[2]) if not end else None
        values = [value] if value is not None else [v for one in listed for v in one.listed]
        # What has to be there is asked of another predicate by the same term at its end.
        ends = (focus, end or str(triple[2]))
        forwards = path.predicate is not None and str(triple[0]) == focus
        asked = _written(row, named, binds, ends) if forwards else None
        yield Reading(
            path, frozenset(components), lacking=True,
            parameters={k: v for k, v in parameters.items() if v},
            allowed=tuple(one for one in values if isinstance(one, NamedNode | Literal)),
            described=bool(rest), linked=bool(rest), _asked=_text(asked),
        )  # fmt: skip


def _walked(triple: Any, focus: str, row: Row) -> tuple[tuple[Path, ...], str, tuple[Any, ...]]:
    """Follow a branch while it goes on by one triple: its steps, and the variable at its end."""
    here = focus
    steps: tuple[Path, ...] = ()
    seen: tuple[Any, ...] = ()
    while True:
        forwards = str(triple[0]) == here
        steps = (*steps, *_steps(triple[1], forwards=forwards))
        seen = (*seen, triple)
        there = triple[2] if forwards else triple[0]
        if type(there).__name__ not in {"Variable", "BNode"}:
            return steps, "", seen
        here = str(there)
        onward = [t for t in row.triples if here in {str(t[0]), str(t[2])} and t not in seen]
        tested = any(here in variables([test]) for test in row.tests)
        if len(onward) != 1 or tested or _typed(onward[0]) or _open(onward[0]):
            return steps, here, seen
        triple = onward[0]


def _behind(row: Row, end: str) -> Test:
    """Return what is asked of a value by what may not lie behind it."""
    about = [t for t in row.triples if str(t[0]) == end]
    classes = tuple(one for t in about if _typed(t) and (one := as_term(t[2])) is not None)
    if classes and len(about) == len(row.triples):
        return Test((end,), frozenset({"Class"}), {SH["class"]: classes}, linked=True)
    return Test((end,), frozenset({"Node", "NodeKind"} if about else {"SPARQL"}), linked=True)


def reached(triples: tuple[Any, ...], focus: str) -> dict[str, Path]:
    """Return the path to each variable that can be reached from the focus node, the shortest."""
    found: dict[str, tuple[Path, ...]] = {focus: ()}
    waiting = [focus]
    while waiting:
        here = waiting.pop(0)
        for triple in triples:
            for forwards in (True, False):
                one, other = (triple[0], triple[2]) if forwards else (triple[2], triple[0])
                variable = type(other).__name__ in {"Variable", "BNode"}
                if str(one) != here or not variable or str(other) in found or _open(triple):
                    continue
                found[str(other)] = (*found[here], *_steps(triple[1], forwards=forwards))
                waiting.append(str(other))
    return {name: _path_of(steps) for name, steps in found.items() if steps}


def _typed(triple: Any) -> bool:
    """Check whether a triple says the class of its subject, by any path that begins so."""
    steps = [] if _open(triple) else _steps(triple[1], forwards=True)
    return bool(steps) and steps[0].iri == TYPE and type(triple[2]).__name__ == "URIRef"


def _open(triple: Any) -> bool:
    return type(triple[1]).__name__ == "Variable"


def _path_of(steps: tuple[Path, ...]) -> Path:
    return steps[0] if len(steps) == 1 else Path("/", parts=steps)


def _steps(path: Any, *, forwards: bool) -> tuple[Path, ...]:
    """Return the steps of a path of rdflib, gone forwards or backwards."""
    made = _path(path)
    steps = made.parts if made.kind == "/" else (made,)
    if forwards:
        return steps
    return tuple(s.parts[0] if s.kind == "^" else Path("^", parts=(s,)) for s in reversed(steps))


def _path(path: Any) -> Path:
    kind = type(path).__name__
    if kind == "URIRef":
        return of_predicate(NamedNode(str(path)))
    if kind == "InvPath":
        return Path("^", parts=(_path(path.arg),))
    if kind == "MulPath":
        return Path(str(path.mod), parts=(_path(path.path),))
    if kind in {"SequencePath", "AlternativePath"}:
        parts = tuple(_path(one) for one in path.args)
        return Path("/" if kind == "SequencePath" else "|", parts=parts)
    raise UnreadError(kind)


def _written(
    row: Row, named: dict[str, str], binds: dict[str, Any], ends: tuple[str, str] | None
) -> Fragment | None:
    """Return a row as a pattern, None where it cannot be written.

    There is a hole in place of the predicate between two variables, if they are given.
    """
    try:
        return Fragment(_writer(named, binds, ends).row(row))
    except (UnreadError, RecursionError):
        return None


def _expression(test: Any, name: Any, binds: dict[str, Any]) -> str:
    try:
        return Writer(name, binds, lambda _: None).expression(test)
    except (UnreadError, RecursionError):
        return repr(test)


def _writer(named: dict[str, str], binds: dict[str, Any], ends: tuple[str, str] | None) -> Writer:
    def name(variable: str) -> str:
        return named.get(variable, f"?asked_{variable}")

    def hole(triple: tuple[Any, Any, Any]) -> str | None:
        return _HOLE if (str(triple[0]), str(triple[2])) == ends else None

    return Writer(name, binds, hole)


def _text(made: Fragment | None) -> str:
    return "" if made is None else made.text
