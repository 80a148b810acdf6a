"""What may not be told as a cause because it only says the rule again in other words."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Final

from pyoxigraph import Literal, NamedNode

from kgreason.base.figures import figure
from kgreason.base.templates import Fragment
from kgreason.base.terms import NUMERIC, SH, TRAILS, TYPE, iris_in
from kgreason.context.named_wrong import names_wrong
from kgreason.context.view import COUNTED, View, forbids, members
from kgreason.hypothesize.conditions import kinds_of_test as kinds
from kgreason.hypothesize.conditions.condition import Condition
from kgreason.hypothesize.conditions.identifiers import identifies
from kgreason.hypothesize.conditions.outcome_paths import (
    Way,
    behind_both,
    both_ends,
    brought_by,
    gone_along,
    made_of,
    plain,
    round_about,
)
from kgreason.hypothesize.conditions.paths import Path
from kgreason.hypothesize.conditions.units import Dealt
from kgreason.shacl.needed import NEARLY
from kgreason.shacl.readings import DESCRIBING
from kgreason.shacl.rule_text import compared_with, rule_text

_TEXT: Final = re.compile(r'"((?:[^"\\]|\\.)*)"|\'((?:[^\'\\]|\\.)*)\'')
_NUMBER: Final = re.compile(r"(?<![\w.<:/-])-?[0-9]+(?:\.[0-9]+)?(?![\w.:/>-])")
PARTLY: Final = figure("partlyRate")
"""The share of nodes, or of claimed failures, from which on something holds for many of them."""
_LEAST_TEXT: Final = 3  # letters; what is shorter is in many texts by chance
_SUMS: Final = re.compile(r"\b(?:SUM|AVG)\s*\(\s*(?:DISTINCT\s+)?[?$]", re.IGNORECASE)
_CALENDAR: Final = re.compile(r"\b(?:HOURS|DAY|MONTH|SUBSTR)\s*\(", re.IGNORECASE)
_COUNTS: Final = re.compile(r"\bCOUNT\s*\(", re.IGNORECASE)
_OF_KINDS: Final = frozenset({"Datatype", "LanguageIn", "NodeKind"})
_OF_VALUE: Final = frozenset({"In", "MinInclusive", "MinExclusive", "MaxInclusive", "MaxExclusive"})
"""Components, in readings of a query, that go by which value there is."""
_DENIED: Final = re.compile(r"!\s*\(*\s*(?:REGEX|CONTAINS|STRSTARTS|STRENDS)\b", re.IGNORECASE)
"""A right form of a text that a pattern says is not there."""
_REGEX: Final = re.compile(r"\bREGEX\b", re.IGNORECASE)
_LACKING: Final = frozenset(
    SH[f"{name}ConstraintComponent"] for name in ("MinCount", "QualifiedMinCount", "HasValue")
)
_PAIRED: Final = frozenset(
    SH[f"{name}ConstraintComponent"] for name in ("LessThan", "LessThanOrEquals", "Equals")
)
"""Components that hold a value against another one of the node."""
_WHOLE: Final = frozenset(
    SH[f"{name}ConstraintComponent"]
    for name in ("Node", "Property", "And", "Or", "Xone", "Not", "SPARQL", "QualifiedMinCount")
) | {TRAILS.OutcomeQuery}
"""Components whose text may speak of any property, not of one path alone."""


class Bars:
    """Says of a condition whether it restates the rule, and why; "" where it does not.

    `own` gives nodes of the population in the numbers that conditions have them by.
    """

    def __init__(self, view: View, own: Callable[[int], int] = lambda nodes: nodes) -> None:
        self._view, self._own = view, own
        self._constraint = view.constraint
        self._text = rule_text(view.constraint)
        self._others = compared_with(view.constraint)
        self._listed = {NamedNode(iri) for iri in iris_in(self._text)}
        self._along_and_on = gone_along(self._text)
        path = view.constraint.path
        self._path = plain(path) if path is not None else ()
        # Of one of several properties the values are those of the rule as well.
        several = path.parts if path is not None and path.kind == "|" else ()
        self._paths = {way for part in several if (way := plain(part))} | {self._path} - {()}
        self._component = view.constraint.component
        self._presence = self._component in _LACKING or forbids(view.constraint)
        self._complete = view.complete
        self._looked = view.looks_at
        self._end = () if self._looked is None else ((False, self._looked.predicate),)

    def answers(self, made: Dealt, part: Condition) -> bool:
        """Check whether that clusters differ so answers what goes with an outcome.

        Few groups that differ do, and so do times or sizes that do from a bound on; of many groups
        the worst may be no more than that. No rule asks what goes with its failures.
        """
        along = "bounds" in part.template.header and made.unit.path == part.path
        return self._view.is_question and (not made.fine or along)

    def __call__(self, condition: Condition) -> str:
        """Return the reason for which a condition is none, or ""."""
        checks: tuple[Callable[[Condition], str], ...] = (
            self._of_iri,
            self._unlisted,
            self._defining,
            self._on_its_way,
            self._several_too,
            self._asked,
            self._asked_form,
            self._constrained,
            self._looked_at,
            self._there,
            self._decided,
            self._compared,
            self._beside,
            self._lacking_too,
            self._said_of_it,
            self._said_of_named,
            self._in_few_sources,
        )
        if self._when_compared(condition):
            return ""
        if any(round_about(self._path, n, map(_steps, condition.paths)) for n in self._others):
            return "whoever has one thing at both ends that the rule compares has this"
        if behind_both(self._constraint.matched, map(_steps, condition.paths)):
            return "it compares what lies behind the ends that the outcome compares"
        ways = [condition]
        if condition.beside is not None:
            # What holds an end against another one sets a bound to both.
            ways = [replace(condition, test=kinds.BOUND, path=p) for p in condition.paths]
        return next((why for way in ways for check in checks if (why := check(way))), "")

    def _when_compared(self, condition: Condition) -> bool:
        """Check whether a condition tells times of nodes whose dates the rule compares.

        Which of two dates comes first is told by neither alone: it is asked of the first one, for
        bounds on both say the rule again. Of numbers the least is below whatever it is compared
        with.
        """
        bound = condition.dated and condition.test in kinds.BOUNDS
        return self._compares and bound and _steps(condition.path) == self._first

    @cached_property
    def _first(self) -> tuple[tuple[bool, NamedNode], ...]:
        """The path to the first of two values that the rule compares."""
        read = self._constraint.readings
        return self._path or (plain(read[0].path) if read else ())

    @cached_property
    def _compares(self) -> bool:
        """Whether the rule compares two values of a node with each other, and asks nothing else."""
        asked = [one.components for one in self._constraint.readings]
        read = self._view.is_question and asked and all(c == {"LessThan"} for c in asked)
        return bool(read) or self._component in _PAIRED

    @cached_property
    def _constants(self) -> frozenset[str]:
        """What the rule names: IRIs, texts and numbers, as text."""
        given = {
            term.value
            for terms in self._constraint.parameters.values()
            for term in terms
            if isinstance(term, NamedNode | Literal)
        }
        numbers = set(_NUMBER.findall(self._text))
        return frozenset(given | self._texts | numbers | {iri.value for iri in self._listed})

    @cached_property
    def _texts(self) -> frozenset[str]:
        """The texts that the rule names."""
        return frozenset(one or other for one, other in _TEXT.findall(self._text))

    def _unlisted(self, condition: Condition) -> str:
        """Bar the very properties by which a closed shape fails: those it does not list."""
        if self._component != SH.ClosedConstraintComponent or not condition.path.steps:
            return ""
        first, last = condition.path.steps[0], condition.path.steps[-1]
        if last.kind == "properties" and set(condition.named) - self._listed:
            return "it is made of a property that the closed shape does not list"
        if first.kind in {"forward", "made-by"} and first.along not in self._listed:
            return "it is made of a property that the closed shape does not list"
        return ""

    def _of_iri(self, condition: Condition) -> str:
        """Bar what a node's own IRI is like where the rule asks for that.

        Where it is only held against what else is said, the texts that the rule names are barred.
        """
        if condition.path.steps or not self._view.asks_iri:
            return ""
        texts = [term.value for term in condition.named if _has_value(term)]
        told = any(text in said for said in self._constants for text in texts)
        asked = told or not self._view.holds_iri
        return "the rule itself asks what the IRI is like" if asked else ""

    def _defining(self, condition: Condition) -> str:
        """Bar what an outcome is made of: whoever has it, or much of it, has the outcome."""
        if self._component != TRAILS.OutcomeQuery or not condition.path.steps:
            return ""
        first = condition.path.steps[0]
        if condition.test in kinds.NUMBERS and self._sums:
            return ""
        if condition.test in kinds.CALENDAR and not _CALENDAR.search(self._text):
            return ""
        if (
            condition.test in kinds.TEXTS
            and self._looked
            and self._looked.text
            and self.on_value(condition)
        ):
            return ""
        if (first.kind == "backward", first.along) in self._made_of:
            return "the outcome is made of this"
        return ""

    def _several_too(self, condition: Condition) -> str:
        """Bar that nodes have several of something else where the rule counts values.

        What is two things under one IRI has more of everything: that says how, and not why. That it
        is two things is said where it has two identifiers.
        """
        several = condition.test == "many" and not identifies(self._view, condition.path)
        if several and self._counted and not self.on_value(condition):
            return "where the rule counts values, several of another kind say how they come along"
        return ""

    def _on_its_way(self, condition: Condition) -> str:
        """Bar what lies on the paths that a query goes by."""
        if self._component != TRAILS.OutcomeQuery:
            return ""
        way = _steps(condition.path)
        if any(way[: len(own)] == own for own in self._brought_by):
            return "what is said there is the outcome"
        if condition.test in kinds.LACKS and any(way[: len(own)] == own for own in self._lacking):
            return "of what is lacking nothing is said"
        if any(((not back, along),) == own for own in self._lacking for back, along in way[1:]):
            return "it is about the links of which one is lacking"
        if condition.test == "shared" and way in self._unique:
            return "the rule itself asks who shares this"
        return ""

    @cached_property
    def _made_of(self) -> frozenset[tuple[bool, NamedNode]]:
        return made_of(self._text)

    @cached_property
    def _unique(self) -> frozenset[Way]:
        found = (one for one in self._constraint.readings if "UniqueValue" in one.components)
        return frozenset(plain(one.path) for one in found)

    @cached_property
    def _lacking(self) -> frozenset[Way]:
        return frozenset(plain(r.path) for r in self._constraint.readings if r.lacking) - {()}

    @cached_property
    def _brought_by(self) -> frozenset[Way]:
        everyone = self._own(self._view.marks.population.everyone)

        def has(path: str) -> bool:
            having = (self._having(path) & everyone).bit_count()
            return having >= NEARLY * everyone.bit_count()

        return brought_by(self._constraint.readings, has)

    def _asked(self, condition: Condition) -> str:
        """Bar the property and value of which a query or a nested shape speaks."""
        if self._component not in _WHOLE:
            return ""
        along = condition.along
        if self._elsewhere(along):
            return ""
        if along is not None and self._asks_how_much(condition):
            return "the rule itself asks how much of this there is"
        if any(
            term.value in self._constants and self._speaks_of(term.value)
            for term in condition.named
            if _has_value(term)
        ):
            return "property and value are those of the rule"
        if condition.test in kinds.TEXTS and any(
            self._told_by_rule(term.value) for term in condition.named if _has_value(term)
        ):
            return "the text is one that the rule names"
        return ""

    def _elsewhere(self, along: NamedNode | None) -> bool:
        """Check whether a query does not speak of a property; of a node's IRI, see `_of_iri`."""
        if along is None:
            return self._view.holds_iri
        return along not in {*self._listed, TYPE} or not self._spoken(along)

    def _asks_how_much(self, condition: Condition) -> bool:
        """Check whether a condition says how much there is of what the rule speaks of.

        Where the rule sums numbers up, how many they are is something else.
        """
        if condition.test in kinds.NUMBERS and self._sums:
            return False
        but_a_number = condition.test in kinds.OTHERS and any(
            isinstance(term, Literal) and term.datatype in NUMERIC for term in condition.named
        )
        asked = condition.test in kinds.THERE | kinds.BOUNDS or but_a_number
        return asked or self._tells_who_has(condition)

    @cached_property
    def _sums(self) -> bool:
        """Whether the rule sums numbers up, and counts nothing."""
        return _SUMS.search(self._text) is not None and not _COUNTS.search(self._text)

    def _tells_who_has(self, condition: Condition) -> bool:
        """Check whether a condition holds all nodes that have a property, whatever its value is."""
        steps = condition.path.steps
        if len(steps) != 1 or steps[0].kind != "forward" or steps[0].along is None:
            return False
        return condition.mask == self._having(steps[0].along)

    @cached_property
    def _forbids_form(self) -> bool:
        """Whether values break the rule because they are like a pattern that it names."""
        if self._component != SH.NotConstraintComponent or _DENIED.search(self._text):
            return False
        return _REGEX.search(self._text) is not None

    def _asked_form(self, condition: Condition) -> str:
        """Bar what texts are like that the rule itself compares, or forbids to be like that."""
        if condition.test not in kinds.TEXTS:
            return ""
        on_value, along = self.on_value(condition), condition.along
        spoken = along in self._listed and along is not None and self._spoken(along)
        beside = self._component in _WHOLE and spoken and not on_value
        if (on_value and self._forbids_form) or (beside and condition.test in kinds.WRITTEN):
            return "the rule itself asks what this text is like"
        return ""

    def _spoken(self, along: NamedNode) -> bool:
        """Check whether a query may speak of a property where it says who fails."""
        return along == TYPE or self._speaks_of(along.value)

    def _speaks_of(self, said: str) -> bool:
        """Check whether a query names something where it says who fails, as far as is known."""
        spoken = self._constraint.spoken
        return spoken is None or said in spoken

    def _told_by_rule(self, text: str) -> bool:
        """Check whether a text is part of what the rule names, or begins or ends with it."""
        texts = (said for said in self._texts if len(said) >= _LEAST_TEXT)
        return any(text in said for said in self._constants) or any(
            text.startswith(said) or text.endswith(said) for said in texts
        )

    def _constrained(self, condition: Condition) -> str:
        """Bar bounds and counts on the constrained value, and whether there is one."""
        steps = _steps(condition.path)
        if self._of_own_class(condition):
            return "the rule itself asks for the class"
        if not self._path or not steps:
            return ""
        test, named = condition.test, self._names(condition)
        on_value = steps == self._path
        beyond = steps[: len(self._path)] == self._path
        end = (*self._path, (False, TYPE))
        typed = steps[: len(end)] == end and SH["class"] in self._constraint.parameters
        reasons = (
            (
                steps == self._path[: len(steps)] and test in kinds.THERE,
                "the rule itself asks whether there is a value",
            ),
            (
                on_value and test in kinds.BOUNDS | {"node-kind"},
                "bounds, counts and kinds of the constrained value are what the rule is about",
            ),
            (
                on_value and test in kinds.OTHERS | {"equals"} and named,
                "the value is the one that the rule names",
            ),
            (
                beyond and self._presence and test in kinds.THERE | kinds.OTHERS | kinds.BOUNDS,
                "what has no value has nothing behind it either",
            ),
            (
                beyond
                and len(steps) > len(self._path)
                and SH["class"] in self._constraint.parameters
                and test in kinds.THERE | kinds.OTHERS | {"few"},
                "of what is not described nothing is said, and no class either",
            ),
            (
                on_value and self._component in COUNTED and test in kinds.OTHERS,
                "of several values one is always another than the one named",
            ),
            (typed, "the rule itself asks for the class"),
        )
        return next((why for barred, why in reasons if barred), "")

    def _of_own_class(self, condition: Condition) -> bool:
        """Check whether nodes are told by the class that they lack, where a rule asks for one."""
        asked = self._constraint.path is None and SH["class"] in self._constraint.parameters
        lacking = condition.test in kinds.WHETHER
        return asked and lacking and _steps(condition.path) == ((False, TYPE),)

    def _looked_at(self, condition: Condition) -> str:
        """Bar what an outcome asks of a value: what its text is like, or what lies behind it."""
        steps = _steps(condition.path)
        if self._looked is None or steps[:1] != self._end:
            return ""
        asked = len(steps) == 1 and self._looked.text and condition.test in kinds.PIECES
        if asked and not self.on_value(condition):
            return "the rule itself asks what this text is like"
        if (
            len(steps) == 1
            and _OF_KINDS & self._looked.components
            and condition.test in kinds.KINDS
        ):
            return "the rule itself asks of which kind this value is"
        if len(steps) > 1 and self._looked.described and condition.test in kinds.WHETHER:
            return "of what is not described nothing is said"
        return ""

    def _there(self, condition: Condition) -> str:
        """Bar what is said of values where to have one is to have the outcome."""
        steps = _steps(condition.path)
        if any(steps[: len(end)] == end for end in self._enough):
            return "the query itself asks which nodes have a value"
        counted = any(steps[: len(end)] == end for end in self._counted)
        if counted and condition.test in kinds.NUMBERS:
            return "what has several values has several things behind them"
        return ""

    def _decided(self, condition: Condition) -> str:
        """Bar which value there is where a query goes by that alone: true or false, or a bound."""
        if condition.test in kinds.VALUES and _steps(condition.path) in self._deciding:
            return "the query itself asks which value this is"
        return ""

    @cached_property
    def _deciding(self) -> frozenset[tuple[tuple[bool, NamedNode], ...]]:
        """The paths whose value decides what a query asks, by what it is or by a bound.

        Where a query lists the right values, which of the wrong ones there is may tell a cause.
        """
        if not self._view.is_question:
            return frozenset()
        found = (
            plain(one.path)
            for one in self._constraint.readings
            if one.offending is not None and not one.lacking and not one.allowed
            and one.components and one.components <= _OF_VALUE
        )  # fmt: skip
        return frozenset(found) - {()}

    @cached_property
    def _counted(self) -> frozenset[tuple[tuple[bool, NamedNode], ...]]:
        """The paths whose values the rule counts, or a query that is read so."""
        own = {self._path} if self._component in COUNTED else set()
        read = {plain(one.path) for one in self._constraint.readings if one.most is not None}
        return frozenset(own | read) - {()}

    @cached_property
    def _enough(self) -> tuple[tuple[tuple[bool, NamedNode], ...], ...]:
        """The paths at the end of which one value is enough for an outcome, of whatever kind."""
        found = []
        failing = self._own(self._view.marks.failing_mask)
        looked = self._own(self._view.marks.population.everyone)
        for one in self._constraint.readings:
            having = self._having(one.path.text) & looked if plain(one.path) else 0
            bad = (having & failing).bit_count()
            whatever = one.most == 0 or (one.described and one.components <= DESCRIBING)
            if whatever and not one.lacking and having and bad >= NEARLY * having.bit_count():
                found.append(plain(one.path))
        return tuple(found)

    def _compared(self, condition: Condition) -> str:
        """Bar bounds on what the rule compares the value with."""
        asked = condition.test in kinds.BOUNDS | kinds.THERE | kinds.WRITTEN
        if asked and [s.along for s in condition.path.steps] in [[n] for n in self._others]:
            return "the rule compares the value with this one"
        return ""

    def _beside(self, condition: Condition) -> str:
        """Bar what a source says of the constrained property: where one node has it, so has it."""
        steps = condition.path.steps
        named = condition.test in {"equals", "one-of", "under"}
        told = {step.along for step in steps if step.kind == "properties"}
        if told and {step for _, step in self._path} & set(condition.named):
            return "it only says that the constrained property is used there, or is not"
        begun = {step.along for step in steps[: 2 if named else 1]}
        if len(steps) > named and begun <= self._along_and_on:
            return "the rule itself goes along this"
        asked = {step for _, step in self._path}
        asked |= self._listed if self._component in _WHOLE else set()
        if any(step.kind == "within" for step in steps) and steps[-1].along in asked - {TYPE}:
            return "it only says what the constrained property is like there"
        return ""

    def _lacking_too(self, condition: Condition) -> str:
        """Bar the lack of another property that shapes ask for, where the rule is about a lack.

        They may ask for it at the end of several steps.
        """
        if self._component not in _LACKING or condition.test not in kinds.LACKS:
            return ""
        steps = condition.path.steps
        forwards = tuple(s.along for s in steps if s.kind == "forward" and s.along is not None)
        if len(forwards) < len(steps) or forwards not in self._view.asked:
            forwards = forwards[:1]
            if not forwards or steps[0].along != forwards[0] or forwards[0] not in self._complete:
                return ""
        lacking = condition.mask & ~self._having("/".join(map(str, forwards)))
        if 2 * lacking.bit_count() > condition.mask.bit_count():
            return "that another property which is asked for is lacking too is one more sign"
        return ""

    def _said_of_it(self, condition: Condition) -> str:
        """Bar what is said of the very statement that is lacking: without it there is nothing.

        An axiom that annotates a definition, or a reified statement, names the property.
        """
        first = next(iter(condition.path.steps), None)
        if first is None or first.kind != "backward" or first.along is None:
            return ""
        linked = self._linked_by(first.along)
        for lacking in self._lacked:
            named = self._linked_by(first.along, f" ; ?says1 {lacking}")
            if linked and named.bit_count() >= PARTLY * linked.bit_count():
                return "it is said of the very statement that is lacking"
        return ""

    def _said_of_named(self, condition: Condition) -> str:
        """Bar what lies behind a wrong value that the rule names: it is that value's other name."""
        steps = _steps(condition.path)
        ends = [end for end in (*self._paths, self._end) if end]
        behind = any(len(steps) > len(end) and steps[: len(end)] == end for end in ends)
        if behind and self._all_named:
            return "it is said of the value that the rule names"
        return ""

    @cached_property
    def _all_named(self) -> bool:
        return names_wrong(self._view, self._looked)

    def _in_few_sources(self, condition: Condition) -> str:
        """Bar how few sources describe a node where the rule is about a lack.

        What a source would say of it is what is lacking, so there is a source less.
        """
        few = condition.test == "few" and [s.kind for s in condition.path.steps] == ["source"]
        return "of what lacks a value fewer sources speak" if few and self._lacked else ""

    def _linked_by(self, along: NamedNode, more: str = "") -> int:
        """Return the nodes that something points at by a property, a bit for each."""
        return self._own(members(self._view, Fragment(f"?other1 {along} ?focus{more} .")))

    @cached_property
    def _lacked(self) -> frozenset[NamedNode]:
        """The properties of which the rule says that they are lacking."""
        asked = self._constraint.path if self._component in _LACKING else None
        paths = [asked] if asked is not None else []
        paths += [one.path for one in self._constraint.readings if one.lacking]
        return frozenset(path.iri for path in paths if path.iri is not None)

    def _having(self, along: NamedNode | str) -> int:
        """Return the nodes that have a property, or something along a path, a bit for each."""
        return self._own(members(self._view, Fragment(f"?focus {along} ?any1 .")))

    def _names(self, condition: Condition) -> bool:
        return any(t.value in self._constants for t in condition.named if _has_value(t))

    def match(self, parts: Sequence[Condition]) -> bool:
        """Check whether parts name what lies at both of two ends that the outcome compares."""
        return both_ends(self._constraint.matched, [_steps(part.path) for part in parts])

    def on_value(self, condition: Condition) -> bool:
        """Check whether a condition is about the constrained value, as a mechanism tells it."""
        steps = _steps(condition.path)
        if condition.beside is not None:
            return False
        if steps in self._paths:
            # Of two values that are compared neither is wrong by itself.
            return self._component not in _PAIRED
        read = self._looked
        # Where texts fail that have no right form, a piece tells the form that they have instead;
        # where those fail that have a wrong one, it says the rule again, but for how they begin.
        denied = read is not None and read.offending and _DENIED.search(read.offending.text)
        told = kinds.TEXTS if denied else kinds.BEGINNINGS if steps else ()
        return steps == self._end and condition.test in told

    def direct(self, condition: Condition) -> bool:
        """Check whether a condition is about the constrained value, or one an outcome looks at."""
        return self.on_value(condition) or (bool(self._end) and _steps(condition.path) == self._end)

    def through_value(self, condition: Condition) -> bool:
        """Check whether a condition is about the constrained value, or what lies behind it."""
        ends = [end for end in (*self._paths, self._end) if end]
        ways = [_steps(path) for path in condition.paths]
        return any(way[: len(end)] == end for way in ways for end in ends)


def _steps(path: Path) -> tuple[tuple[bool, NamedNode | None], ...]:
    return tuple((step.kind == "backward", step.along) for step in path.steps)


def _has_value(term: object) -> bool:
    return isinstance(term, NamedNode | Literal)
