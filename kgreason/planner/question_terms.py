"""What a question names in a graph: classes, a property, a value, a number, a node.

Words are held against the names and labels of the graph's own terms; nothing is understood. A name
fits where all its words stand in the question. Words that name nothing are told, so that an answer
can say what it takes no account of.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Final, NamedTuple, TypeVar

import pyoxigraph as ox

from kgreason.base.store import Row, Term
from kgreason.base.templates import template
from kgreason.base.terms import TYPE, XSD
from kgreason.base.words import content
from kgreason.graph import Graph
from kgreason.graph.names import Names, local_name
from kgreason.planner import class_links
from kgreason.planner.measures import (
    Measured,
    best_measured,
    longest_in,
    measured_in,
    number_in,
    period_in,
)
from kgreason.planner.named_nodes import called_node, there
from kgreason.planner.question_places import CAPITAL, CODES, NAMED, SHORT, Places, is_loud
from kgreason.planner.question_understood import Understood

_T = TypeVar("_T")
_Value = tuple[Measured, ox.NamedNode | ox.Literal, list[ox.NamedNode]]
"""A value with its property and the class whose nodes have it."""
_Called = tuple[tuple[ox.NamedNode, ...], str]
"""Classes, and what they are called together."""

_CLASSES: Final = 60
_FEW: Final = 50
_BOTH: Final = 2
_OF_TWO: Final = frozenset({"connected", "highest", "lowest"})
"""Intents for which a second class is meant rather than a property of the same name."""
_COMPARED: Final = frozenset({"above", "below"})
_ORDERS: Final = frozenset({"highest", "lowest"}) | _COMPARED
"""Intents for which nodes are held against each other by a number or a date."""
_NO_TIME: Final = _ORDERS | {"missing", "each", "average", "connected"}
"""Intents of which no query narrows nodes down to a time."""
EACH: Final = frozenset({"which", "what", "each", "every", "per", "by"})
"""Words before the class that is asked about, where a question names two."""


class _Named(NamedTuple):
    """What a question names, as it is read; Understood tells what each is."""

    first: _Called
    second: _Called
    along: tuple[ox.NamedNode, ...]
    found: Measured | None
    value: _Value | None
    beside: _Value | None
    beyond: Measured | None
    node: ox.NamedNode | None
    other: ox.NamedNode | None
    number: ox.Literal | None
    most: int


def understood(
    question: str,
    graph: Graph,
    names: Names,
    intents: Mapping[str, frozenset[str]],
    about: tuple[ox.NamedNode, ...] = (),
) -> Understood:
    """Return what a question names in a graph; `intents` are those it has, with their words.

    It is about the classes `about` where it names none.
    """
    reader = _Reader(graph, names, question, intents)
    return reader.read(about)


class _Reader:
    """Reads one question against one graph."""

    def __init__(
        self, graph: Graph, names: Names, question: str, intents: Mapping[str, frozenset[str]]
    ) -> None:
        self._graph, self._names, self._question = graph, names, question
        self._intents = intents
        said = frozenset(w for ws in intents.values() for w in ws)
        spent = content(" ".join(said)) | {"term", "quoted"}
        self._codes = set() if is_loud(question) else set(SHORT.findall(question))
        self._every = content(question)
        self._asked = self._every - spent
        """Words that may name something; those of the intents may too, if nothing else does."""
        self._period = period_in(question)
        self._used: set[str] = set(content(self._period.said) if self._period else ())
        self._unknown: list[str] = []
        self._places = Places(question)
        self._numbered, self._taken = "", ""
        self._words: dict[str, frozenset[str]] = {}

    def read(self, about: tuple[ox.NamedNode, ...]) -> Understood:
        number = self._naming("number", self._number)
        node, other = (*self._naming("node", self._nodes), None, None)[:2]
        classes, called = self._naming("class", self._classes)
        classes = classes or about
        found, second = self._property_or_second(classes, node)
        value = self._naming("value", lambda: self._value(classes, found))
        if node is not None and other is None and classes:
            found, node_value, classes = self._at_node(classes, found, node)
            value, node = node_value or value, None if node_value else node
        if value is not None:
            found = value[0]
            classes = classes or tuple(value[2])
        if node is None and not second[0]:
            second = self._second_left(classes, found)
        beyond, beside = None, None
        if node is None and classes:
            found, beyond = self._ordering(classes, second[0], found)
            value, beside = self._values_of(classes, second[0], found, value)
            found = self._dated(classes, found, other=bool(second[0] or value))
        if found is not None and not classes and node is None:
            node = self._naming("node", lambda: self._small(found.name))
            classes = () if node is not None else self._having(found.name)
        if not classes and found is None and node is None:
            node = self._naming("node", self._small)
        most = self._most(number)
        first: _Called = (classes, called or " and ".join(map(self._names, classes[:3])))
        if found is None and second[0] and self._sides_turned("second"):
            first, second = second, first
            named = self._words
            named["class"], named["second"] = named["second"], named["class"]
        along = class_links.along(self._rows, first[0], second[0]) if second[0] else ()
        return self._understood(
            _Named(first, second, along, found, value, beside, beyond, node, other, number, most)
        )

    def _understood(self, named: _Named) -> Understood:
        """Return what was named as the facts of rules and the arguments of queries."""
        found, value, beside, beyond = named.found, named.value, named.beside, named.beyond
        told = self._told(named)
        return Understood(
            frozenset(self._intents),
            named.first[0],
            named.second[0],
            named.along,
            found.name if found else None,
            bool(found and found.numeric),
            value[1] if value else None,
            named.number,
            named.node,
            named.other,
            self._left(),
            tuple(self._unknown),
            told,
            self._sides_turned("property") if found and named.first[0] else False,
            words=self._words,
            dated=bool(found and found.dated),
            beyond=beyond.name if beyond else None,
            measured=bool(measured_in(self._question)),
            beside=(beside[0].name, beside[1]) if beside else (),
            period=(self._period.first, self._period.last) if self._period else (),
            most=named.most,
        )

    def _property_or_second(
        self, classes: tuple[ox.NamedNode, ...], node: ox.NamedNode | None
    ) -> tuple[Measured | None, _Called]:
        """Return the property that is named, or the second class, or a property that leads to it.

        Where two classes are what a question is about, the class goes before the property.
        """
        second: _Called = ((), "")
        if self._intents.keys() & _OF_TWO and node is None:
            second = self._naming("second", lambda: self._second(classes))
        if second[0]:
            return None, second
        found = self._naming("property", lambda: self._property(classes, node))
        if found is None and node is None:
            found, second = self._naming("second", lambda: self._leading(classes))
        return found, second

    def _ordering(
        self,
        classes: Sequence[ox.NamedNode],
        others: Sequence[ox.NamedNode],
        found: Measured | None,
    ) -> tuple[Measured | None, Measured | None]:
        """Return the property that is asked about, or that of a second class to order by.

        "Heaviest" tells the property where none is named, and goes before one of which only a value
        is named: "the latest shipment of alder".
        """
        if not self._intents.keys() & _ORDERS:
            return found, None
        wanted = measured_in(self._question)
        if others and found is None:
            beyond = best_measured(wanted, self._properties(others)) if wanted else None
            if beyond is None and "most" not in self._intents:
                beyond = self._naming("property", lambda: self._property(others, None))
            return found, beyond if beyond and (beyond.numeric or beyond.dated) else None
        if wanted and not self._words.get("property"):
            found = best_measured(wanted, self._properties(classes)) or found
        return found, None

    def _values_of(
        self,
        classes: Sequence[ox.NamedNode],
        others: Sequence[ox.NamedNode],
        found: Measured | None,
        value: _Value | None,
    ) -> tuple[_Value | None, _Value | None]:
        """Return the value that is asked about, and another one that nodes have to have.

        "The freight cost of alder shipments" asks about a property of those that have a value.
        """
        if found is None or others:
            return value, None
        if value is not None and found.name != value[0].name:
            return None, value
        return value, self._naming("value", lambda: self._value(classes, None, found.name))

    def _at_node(
        self, classes: tuple[ox.NamedNode, ...], found: Measured | None, node: ox.NamedNode
    ) -> tuple[Measured | None, _Value | None, tuple[ox.NamedNode, ...]]:
        """Return the property, value and classes that are asked about, beside a node.

        A node is a value of what leads to it ("which parts does V1082 supply?"), and what it leads
        to is the value of a property of its own ("what is the supplier of P88990?").
        """
        asked = self._intents.keys()
        if "connected" in asked or not asked & {"pick", "count"}:
            return found, None, classes
        named = found.name if found else None
        leads = class_links.leading(self._rows, "leading-to-node", classes, node, named)
        if leads is not None:
            return found, (Measured(leads), node, [classes[0]]), classes
        leads = class_links.leading(self._rows, "leading-from-node", classes, node, named)
        return (found, None, classes) if leads is None else (Measured(leads), None, ())

    def _dated(
        self, classes: Sequence[ox.NamedNode], found: Measured | None, *, other: bool
    ) -> Measured | None:
        """Return the property of dates that a time of the question is about, or the one found.

        The time is dropped, and its words are told, where something else narrows the nodes down.
        """
        period, self._period = self._period, None
        if period is None:
            return found
        words = content(period.said)
        self._used -= words
        if other or self._intents.keys() & _NO_TIME:
            return found
        dates = found or best_measured(frozenset({"date"}), self._properties(classes))
        if dates is None or not dates.dated:
            return found
        self._period = period
        self._used |= words
        return dates

    def _most(self, number: ox.Literal | None) -> int:
        """Return how many are asked for, 0 where that is not said; a number without use is told."""
        place = self._places.first({self._numbered}) if number else 0
        before = self._places.first(self._words.get("class", ())) - place in {1, 2}
        asked = self._intents.keys()
        if number is None or asked & _COMPARED:
            return 0
        if not (asked & _ORDERS or (before and not asked & {"count", "missing"})):
            self._used -= content(self._numbered)
            self._asked |= {self._numbered}
            return 0
        return max(0, int(float(number.value)))

    def _order(self, by: Measured | None) -> str:
        """Return what the first of an order is called."""
        dated = by is not None and by.dated and not by.numeric
        if dated and longest_in(self._question):  # since the earliest day it is the longest
            sides = {"highest": "lowest", "lowest": "highest"}
            self._intents = {sides.get(one, one): said for one, said in self._intents.items()}
        if "highest" in self._intents:
            return "latest" if dated else "highest"
        return "earliest" if dated else "lowest"

    def _second_left(self, classes: tuple[ox.NamedNode, ...], found: Measured | None) -> _Called:
        """Return the second class that the words left over name, if no property is named."""
        if found is not None:
            return (), ""
        second = self._naming("second", lambda: self._second(classes))
        if "connected" in self._intents and classes and not second[0]:
            second = self._naming("second", lambda: self._filling(classes))
        return second

    def _told(self, named: _Named) -> dict[str, str]:
        """Return how what the question names is called, and its words that name nothing."""
        found, beside = named.found, named.beside
        by = [self._names(one) for one in named.along]
        terms: dict[str, Term | None] = {"node": named.node, "other": named.other}
        terms["property"], terms["value"] = found and found.name, named.value and named.value[1]
        terms["beyond"] = named.beyond and named.beyond.name
        narrowed = (
            f" with {self._names(beside[1])} as {self._names(beside[0].name)}" if beside else ""
        )
        return {
            "left": ", ".join(f"“{one}”" for one in self._left()),
            "unknown": ", ".join(f"“{one}”" for one in self._unknown),
            "class": named.first[1] + narrowed,
            "taken": self._taken,
            "second": named.second[1],
            "along": " and ".join(filter(None, (", ".join(by[:-1]), *by[-1:]))),
            "order": self._order(named.beyond or found),
            "period": self._period.said if self._period else "",
            **({"number": named.number.value} if named.number else {}),
            **{name: self._names(term) for name, term in terms.items() if term},
        }

    def _naming(self, what: str, reading: Callable[[], _T]) -> _T:
        """Return what a reading gives, and keep the words that it used as those of `what`."""
        before = frozenset(self._used)
        out = reading()
        self._words[what] = self._words.get(what, frozenset()) | (self._used - before)
        return out

    def _left(self) -> tuple[str, ...]:
        """Return the words that name nothing, as they stand in the question."""
        words = dict.fromkeys(re.findall(r"[^\W_]+", self._question))
        named = self._asked - self._used | self._codes - self._used
        return tuple(word for word in words if (content(word) | {word}) & named)

    def _rows(self, role: str, query: str, /, **given: Any) -> Sequence[Row]:
        return self._graph.store.select(template(role, query).render(**given))

    def _number(self) -> ox.Literal | None:
        free = self._question.replace(self._period.said, " ") if self._period else self._question
        if (found := number_in(NAMED.sub(" ", free))) is None:
            return None
        self._used |= content(found[1])
        self._numbered = found[1]
        return ox.Literal(found[0], datatype=XSD.decimal)

    def _nodes(self) -> list[ox.NamedNode]:
        """Return the nodes that the question names by IRI, label or the end of their IRI."""
        hits = [*NAMED.finditer(self._question), *CAPITAL.finditer(self._question)]
        found: dict[ox.NamedNode, int] = {}
        for hit in hits:
            text = next((one for one in hit.groupdict().values() if one), hit[0])
            node = called_node(self._graph, text)
            if node is not None:
                self._used |= content(text)
                found.setdefault(node, hit.start())
            elif any(hit.groupdict().get(one) for one in CODES):
                self._unknown.append(text)
        if "connected" in self._intents and len(found) < _BOTH:
            for word in self._left():
                node = called_node(self._graph, word)
                if node is not None:
                    self._used |= content(word)
                    found.setdefault(node, self._question.index(word))
        return sorted(found, key=lambda node: found[node])

    def _small(self, having: ox.NamedNode | None = None) -> ox.NamedNode | None:
        """Return the node that a plain word names, as in "what is alder?".

        It has to have the property `having`, if any: "how many dock doors does venlo have?".
        """
        for word in self._left():
            node = called_node(self._graph, word)
            if node is not None and (having is None or there(self._graph, node, having)):
                self._used |= content(word)
                return node
        return None

    @cached_property
    def _known(self) -> tuple[dict[ox.NamedNode, int], dict[ox.NamedNode, list[ox.NamedNode]]]:
        """The classes with the number of their nodes, and the classes below each."""
        below: dict[ox.NamedNode, list[ox.NamedNode]] = {}
        sizes: dict[ox.NamedNode, int] = {}
        for row in self._rows("context", "asked-classes"):
            if isinstance(row["class"], ox.NamedNode):
                sizes[row["class"]] = int(row["nodes"].value)
        for row in self._rows("look", "class-tree"):
            upper, lower = row["class"], row["below"]
            if isinstance(upper, ox.NamedNode) and isinstance(lower, ox.NamedNode):
                below.setdefault(upper, []).append(lower)
        return sizes, below

    def _classes(self) -> _Called:
        """Return the classes that words of the question fit best, with those below; and a name."""
        whole = self._whole(frozenset())
        if whole[0]:
            return whole
        classes, self._taken = self._headed(self._asked)
        return classes, self._taken

    def _second(self, classes: Sequence[ox.NamedNode]) -> _Called:
        """Return the class that the question names beside some classes, with those below."""
        if not classes:
            return (), ""
        whole = self._whole(frozenset(classes))
        return whole if whole[0] else self._headed(self._asked - self._used, classes)

    def _headed(self, words: Iterable[str], beside: Sequence[ox.NamedNode] = ()) -> _Called:
        """Return the classes whose last word is among some words, but for those `beside`."""
        heads = [one for one in self._known[0] if self._head(one) & set(words)]
        heads = [one for one in heads if one not in beside]
        for one in heads:
            self._used |= self._head(one)
        return tuple(heads), " or ".join(self._names(one) for one in heads[:4])

    def _filling(self, classes: Sequence[ox.NamedNode]) -> _Called:
        """Return the classes of what a property of any class leads to that is named as a role."""
        among, kinds = self._asked - self._used, list(self._known[0])[:_CLASSES]
        for row in self._rows("context", "asked-properties", **{"class": kinds}) if among else ():
            known = row["property"]
            if not isinstance(known, ox.NamedNode) or not (fit := self._fit(known, among)):
                continue
            given = {"class": kinds, "property": known}
            ends = [one["kind"] for one in self._rows("look", "ends-of", **given, beside=[])]
            found = [one for one in ends if isinstance(one, ox.NamedNode) and one not in classes]
            if found:
                self._used |= fit
                return tuple(found), self._names(found[0])
        return (), ""

    def _whole(self, beside: frozenset[ox.NamedNode]) -> _Called:
        """Return the class all of whose words stand in the question, with those below it.

        It is none of some others, and neither above nor below them.
        """
        sizes, below = self._known
        free = self._every - self._used
        if beside:  # a word that stands there twice may name both
            free |= {word for word in self._every if len(self._places.of(word)) > 1}
        whole = [
            (one, fit)
            for one in dict.fromkeys((*sizes, *below))
            if beside.isdisjoint({one, *below.get(one, ())})
            and (fit := self._fit(one, free))
            and self._places.together(fit)
        ]
        if not whole:
            return (), ""
        # The first one is meant ("shipments per carrier"), or what it qualifies ("museum objects").
        starts = {self._places.first(fit) for _, fit in whole}
        heads = [each for each in whole if self._places.behind(each[1]) not in starts]
        best = max(
            heads or whole,
            key=lambda each: (
                -self._places.first(each[1]), len(each[1]), sizes.get(each[0], 0), each[0].value,
            ),
        )  # fmt: skip
        self._used |= best[1]
        return tuple(dict.fromkeys((best[0], *below.get(best[0], [])))), self._names(best[0])

    def _sides_turned(self, to: str) -> bool:
        """Check whether a second class or a property is asked about ("parts per supplier")."""
        asked = (self._places.follows(self._words[one], EACH) for one in (to, "class"))
        return next(asked) and not next(asked)

    def _head(self, term: ox.NamedNode) -> frozenset[str]:
        """Return the last word by which a term is called."""
        words = re.findall(r"[^\W_]+", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", self._plain(term)))
        return content(words[-1]) if len(words) > 1 else frozenset()

    def _plain(self, term: ox.NamedNode) -> str:
        told = self._names(term)
        label = re.match(r"“(.*)” \(", told)
        return label[1] if label else local_name(term.value)

    def _fit(self, term: Term, among: Iterable[str]) -> frozenset[str]:
        """Return the words of a name of a term, where all of them are among some words."""
        asked = frozenset(among)
        local = local_name(term.value) if isinstance(term, ox.NamedNode) else term.value
        ways = [content(local)]
        if isinstance(term, ox.NamedNode):
            ways.append(content(self._plain(term)))
        fits = [way for way in ways if way and way <= asked]
        return max(fits, key=len, default=frozenset())

    def _property(
        self, classes: Sequence[ox.NamedNode], node: ox.NamedNode | None
    ) -> Measured | None:
        """Return the property that the other words fit, if any.

        It is one of some classes, of a node where one is named and no class, or else of any class.
        """
        among = self._every - self._used
        found: dict[Measured, tuple[int, int]] = {}
        alone = node is not None and not classes
        rows = (
            self._rows("look", "properties-at", node=node) if alone else self._properties(classes)
        )
        for row in rows:
            known = row["property"]
            if not isinstance(known, ox.NamedNode) or known == TYPE:
                continue
            fit = self._fit(known, among)
            words = content(self._plain(known))
            half = classes and not fit and 2 * len(words & among) >= len(words) > 0
            score = 2 * len(fit) if fit else len(words & among) if half else 0
            if score:
                dates = int(row["dates"].value) > 1 if "dates" in row else False
                made = Measured(known, int(row["numbers"].value) > 1, dates)
                found[made] = max(found.get(made, (0, 0)), (score, int(row["having"].value)))
        if not found:
            return None
        best = max(found, key=lambda one: (*found[one], one.name.value))
        self._used |= self._fit(best.name, among) or content(self._plain(best.name)) & among
        return best

    def _leading(self, classes: Sequence[ox.NamedNode]) -> tuple[Measured | None, _Called]:
        """Return the property by which some classes lead to a class that other words fit; and it.

        Where they lead to none that is named, it gives none.
        """
        before = set(self._used)
        others, called = self._second(classes)
        for one in others:
            rows = self._rows("look", "leading-to", other=one, **{"class": [*classes]})
            if rows and isinstance(rows[0]["property"], ox.NamedNode):
                return Measured(rows[0]["property"]), (others, called)
        self._used = before
        return None, ((), "")

    def _properties(self, classes: Sequence[ox.NamedNode]) -> list[Row]:
        kinds: list[ox.NamedNode] = list(classes)
        if not kinds:
            rows = self._rows("context", "asked-classes")[:_CLASSES]
            kinds = [r["class"] for r in rows if isinstance(r["class"], ox.NamedNode)]
        key = {"class": kinds}
        return [
            row
            for kind in key["class"]
            for row in self._rows("context", "asked-properties", **{"class": [kind]})
        ]

    def _having(self, known: ox.NamedNode) -> tuple[ox.NamedNode, ...]:
        """Return the class most of whose nodes have a property."""
        best: tuple[int, ox.NamedNode] | None = None
        for row in self._rows("context", "asked-classes")[:_CLASSES]:
            kind = row["class"]
            if isinstance(kind, ox.NamedNode):
                rows = self._rows("context", "asked-properties", **{"class": [kind]})
                having = sum(int(r["having"].value) for r in rows if r["property"] == known)
                if having and (best is None or having > best[0]):
                    best = having, kind
        return () if best is None else (best[1],)

    def _value(
        self,
        classes: Sequence[ox.NamedNode],
        found: Measured | None,
        other: ox.NamedNode | None = None,
    ) -> _Value | None:
        """Return a value that the other words are the name of, with its property and class.

        It is one of the property `found`, if any, and of none that is the `other`.
        """
        among = self._asked - self._used
        quoted = {hit[1].casefold() for hit in re.finditer(r'"([^"]+)"', self._question)}
        codes = self._codes - self._used
        if not classes:
            return None
        best: tuple[int, ox.NamedNode, ox.NamedNode | ox.Literal, ox.NamedNode] | None = None
        for kind in classes:
            for row in self._rows("context", "asked-properties", **{"class": [kind]}):
                known = row["property"]
                if not isinstance(known, ox.NamedNode) or known in {TYPE, other}:
                    continue
                if (found and known != found[0]) or int(row["values"].value) > _FEW:
                    continue
                for value in self._values(kind, known):
                    fit = len(self._fit(value, among))
                    fit += 9 if value.value.casefold() in quoted else 0
                    fit += 1 if self._short(value) in codes else 0
                    is_so = (
                        value.value == "true" and value.datatype == XSD.boolean
                        if isinstance(value, ox.Literal)
                        else False
                    )
                    fit += 1 if found and is_so and not fit else 0
                    if fit and (best is None or fit > best[0]):
                        best = fit, known, value, kind
        if best is None:
            return None
        self._used |= self._fit(best[2], among) | codes & {self._short(best[2])}
        several = (found.numeric, found.dated) if found else (False, False)
        return Measured(best[1], *several), best[2], [best[3]]

    def _short(self, value: Term) -> str:
        """Return what a value is as a code: its text, or the end of its IRI."""
        return local_name(value.value) if isinstance(value, ox.NamedNode) else value.value

    def _values(self, kind: ox.NamedNode, known: ox.NamedNode) -> list[ox.NamedNode | ox.Literal]:
        rows = self._rows("context", "asked-values", **{"class": [kind], "property": known})
        return [r["value"] for r in rows if isinstance(r["value"], ox.NamedNode | ox.Literal)]
