"""What a question names in a graph: classes, a property, a value, a number, a node.

Of several ways to read it, that one counts in which the classes and properties of the graph fit
together. Words that name nothing are told, so that an answer can say what it takes no account of.
"""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import pyoxigraph as ox

from kgreason.base.store import Term
from kgreason.base.words import content
from kgreason.graph import Graph
from kgreason.graph.names import Names
from kgreason.planner import class_links
from kgreason.planner.measures import (
    Measured,
    Period,
    best_measured,
    longest_in,
    measured_in,
    period_in,
)
from kgreason.planner.named_terms import Called, NamedTerms, Value
from kgreason.planner.question_understood import Understood

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

    first: Called
    second: Called
    along: tuple[ox.NamedNode, ...]
    found: Measured | None
    value: Value | None
    beside: Value | None
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
        self._names, self._question, self._intents = names, question, intents
        said = frozenset(w for ws in intents.values() for w in ws)
        spent = content(" ".join(said)) | {"term", "quoted"}
        self._terms = NamedTerms(graph, names, question, spent)
        self._period = period_in(question)
        if self._period:
            self._terms.used |= content(self._period.said)

    def read(self, about: tuple[ox.NamedNode, ...]) -> Understood:
        number = self._terms.naming("number", self._numeral)
        node, other = (*self._terms.naming("node", self._nodes), None, None)[:2]
        classes, called = self._terms.naming("class", self._terms.classes)
        classes = classes or about
        found, second = self._property_or_second(classes, node)
        value = self._terms.naming("value", lambda: self._terms.value(classes, found))
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
        else:
            self._timeless()
        if found is not None and not classes and node is None:
            node = self._terms.naming("node", lambda: self._terms.plain_node(found.name))
            classes = () if node is not None else self._terms.classes_having(found.name)
        if not classes and found is None and node is None:
            node = self._terms.naming("node", self._terms.plain_node)
        most = self._most(number)
        first: Called = (classes, called or " and ".join(map(self._names, classes[:3])))
        if found is None and second[0] and self._sides_turned("second"):
            first, second = second, first
            named = self._terms.words
            named["class"], named["second"] = named["second"], named["class"]
        along = class_links.along(self._terms.rows, first[0], second[0]) if second[0] else ()
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
            self._terms.left(),
            tuple(self._terms.unknown),
            told,
            self._sides_turned("property") if found and named.first[0] else False,
            words=self._terms.words,
            dated=bool(found and found.dated),
            beyond=beyond.name if beyond else None,
            measured=bool(measured_in(self._question)),
            beside=(beside[0].name, beside[1]) if beside else (),
            period=(self._period.first, self._period.last) if self._period else (),
            most=named.most,
        )

    def _property_or_second(
        self, classes: tuple[ox.NamedNode, ...], node: ox.NamedNode | None
    ) -> tuple[Measured | None, Called]:
        """Return the property that is named, or the second class, or a property that leads to it.

        Where two classes are what a question is about, the class goes before the property.
        """
        second: Called = ((), "")
        if self._intents.keys() & _OF_TWO and node is None:
            second = self._terms.naming("second", lambda: self._terms.second_class(classes))
        if second[0]:
            return None, second
        found = self._terms.naming("property", lambda: self._terms.property_of(classes, node))
        if found is None and node is None:
            found, second = self._terms.naming("second", lambda: self._terms.leading(classes))
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
            beyond = best_measured(wanted, self._terms.properties(others)) if wanted else None
            if beyond is None and "most" not in self._intents:
                beyond = self._terms.naming(
                    "property", lambda: self._terms.property_of(others, None)
                )
            return found, beyond if beyond and (beyond.numeric or beyond.dated) else None
        if wanted and not self._terms.words.get("property"):
            found = best_measured(wanted, self._terms.properties(classes)) or found
        return found, None

    def _values_of(
        self,
        classes: Sequence[ox.NamedNode],
        others: Sequence[ox.NamedNode],
        found: Measured | None,
        value: Value | None,
    ) -> tuple[Value | None, Value | None]:
        """Return the value that is asked about, and another one that nodes have to have.

        "The freight cost of alder shipments" asks about a property of those that have a value.
        """
        if found is None or others:
            return value, None
        if value is not None and found.name != value[0].name:
            return None, value
        return value, self._terms.naming(
            "value", lambda: self._terms.value(classes, None, found.name)
        )

    def _at_node(
        self, classes: tuple[ox.NamedNode, ...], found: Measured | None, node: ox.NamedNode
    ) -> tuple[Measured | None, Value | None, tuple[ox.NamedNode, ...]]:
        """Return the property, value and classes that are asked about, beside a node.

        A node is a value of what leads to it ("which parts does V1082 supply?"), and what it leads
        to is the value of a property of its own ("what is the supplier of P88990?").
        """
        asked = self._intents.keys()
        if "connected" in asked or not asked & {"pick", "count"}:
            return found, None, classes
        named = found.name if found else None
        leads = class_links.leading(self._terms.rows, "leading-to-node", classes, node, named)
        if leads is not None:
            return found, (Measured(leads), node, [classes[0]]), classes
        leads = class_links.leading(self._terms.rows, "leading-from-node", classes, node, named)
        return (found, None, classes) if leads is None else (Measured(leads), None, ())

    def _dated(
        self, classes: Sequence[ox.NamedNode], found: Measured | None, *, other: bool
    ) -> Measured | None:
        """Return the property of dates that a time of the question is about, or the one found.

        The time is dropped, and its words are told, where something else narrows the nodes down.
        """
        period = self._timeless()
        if period is None:
            return found
        if other or self._intents.keys() & _NO_TIME:
            return found
        dates = found or best_measured(frozenset({"date"}), self._terms.properties(classes))
        if dates is None or not dates.dated:
            return found
        self._period = period
        self._terms.used |= content(period.said)
        return dates

    def _timeless(self) -> Period | None:
        """Leave the time of the question aside, so that its words are told; gives it, if any."""
        period, self._period = self._period, None
        self._terms.used -= content(period.said) if period else set()
        return period

    def _most(self, number: ox.Literal | None) -> int:
        """Return how many are asked for, 0 where that is not said; a number without use is told."""
        place = self._terms.places.first({self._terms.numbered}) if number else 0
        before = self._terms.places.first(self._terms.words.get("class", ())) - place in {1, 2}
        asked = self._intents.keys()
        if number is None or asked & _COMPARED:
            return 0
        if not (asked & _ORDERS or (before and not asked & {"count", "missing"})):
            self._terms.used -= content(self._terms.numbered)
            self._terms.asked |= {self._terms.numbered}
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

    def _second_left(self, classes: tuple[ox.NamedNode, ...], found: Measured | None) -> Called:
        """Return the second class that the words left over name, if no property is named."""
        if found is not None:
            return (), ""
        second = self._terms.naming("second", lambda: self._terms.second_class(classes))
        if "connected" in self._intents and classes and not second[0]:
            second = self._terms.naming("second", lambda: self._terms.in_role(classes))
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
            "left": ", ".join(f"“{one}”" for one in self._terms.left()),
            "unknown": ", ".join(f"“{one}”" for one in self._terms.unknown),
            "class": named.first[1] + narrowed,
            "taken": self._terms.taken,
            "second": named.second[1],
            "along": " and ".join(filter(None, (", ".join(by[:-1]), *by[-1:]))),
            "order": self._order(named.beyond or found),
            "period": self._period.said if self._period else "",
            **({"number": named.number.value} if named.number else {}),
            **{name: self._names(term) for name, term in terms.items() if term},
        }

    def _sides_turned(self, to: str) -> bool:
        """Check whether a second class or a property is asked about ("parts per supplier")."""
        said = self._terms.words
        asked = [
            one in said and self._terms.places.follows(said[one], EACH) for one in (to, "class")
        ]
        return asked[0] and not asked[1]

    def _numeral(self) -> ox.Literal | None:
        return self._terms.number(self._period.said if self._period else "")

    def _nodes(self) -> list[ox.NamedNode]:
        return self._terms.nodes(both="connected" in self._intents)
