"""What a question names in a graph, as the facts of rules and the arguments of queries."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import pyoxigraph as ox

from kgreason.base.templates import template

_COMPARING: Final = ("nodes-above", "nodes-below", "linked-above", "linked-below")
"""Queries whose value is the number of the question."""


@dataclass(frozen=True)
class Understood:
    """What a question names.

    `classes` are those that one word of it fits, and those below them; `others` are a second class
    and those below it, and `along` the properties, three at most, that connect most nodes of the
    two. `numeric` says that the property has numbers; `other` is a second node. `left` are words
    that name nothing, `unknown` those of them that look like the name of a node; `named` is how the
    rest is called. `by_value` says that the values of the property are asked about, and not the
    nodes that have them ("which author wrote most papers?"). `words` are those that name something,
    by what they name. `finding` is what it names of an earlier question of its conversation.
    `dated` says that the property has dates; `beyond` is a property of the `others` by which nodes
    are ordered; `beside` is another property and the value of it that nodes have to have;
    `measured` says that a word such as "heaviest" asks for an order. `period` is a time that dates
    of the property are held to, as the least and the greatest text; `most` is how many nodes are
    asked for.
    """

    intents: frozenset[str]
    classes: tuple[ox.NamedNode, ...] = ()
    others: tuple[ox.NamedNode, ...] = ()
    along: tuple[ox.NamedNode, ...] = ()
    property: ox.NamedNode | None = None
    numeric: bool = False
    value: ox.NamedNode | ox.Literal | None = None
    number: ox.Literal | None = None
    node: ox.NamedNode | None = None
    other: ox.NamedNode | None = None
    left: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    named: Mapping[str, str] = field(default_factory=dict)
    by_value: bool = False
    finding: Mapping[str, str] = field(default_factory=dict)
    words: Mapping[str, frozenset[str]] = field(default_factory=dict)
    dated: bool = False
    beyond: ox.NamedNode | None = None
    measured: bool = False
    beside: tuple[ox.NamedNode | ox.Literal, ...] = ()
    period: tuple[str, ...] = ()
    most: int = 0

    def facts(self) -> set[str]:
        """Return what is given by the question alone, as ontology/decisions.ttl names it."""
        out = {f"asks {one}" for one in self.intents}
        if self.numeric:
            out.add("number property")
        if self.numeric or (self.dated and not self.by_value):
            out.add("ordered property")
        if self.left:
            out.add("words left")
        if self.by_value:
            out.add("by value")
        for name, there in (
            ("class", self.classes),
            ("second class", self.others),
            ("linked", self.along),
            ("beyond", self.beyond),
            ("measured", self.measured),
            ("period", self.period),
            ("property", self.property),
            ("value", self.value),
            ("number", self.number),
            ("node", self.node),
            ("two nodes", self.other),
            ("finding", self.finding),
            ("unknown name", self.unknown),
        ):
            if there:
                out.add(name)
        return out

    def arguments(self, query: str) -> dict[str, Any]:
        """Return the arguments of a stored query, as a call of the query tool takes them."""
        takes = template("look", query).parameters
        several = {"class": self.classes, "others": self.others, "along": self.along}
        terms = {"property": self.property, "node": self.node, "other": self.other}
        terms |= {"beyond": self.beyond}
        texts = {
            "here": self.named.get("class", ""),
            "there": self.named.get("second", ""),
            "value": str(self.number if query in _COMPARING else self.value),
            "least": str(self.number),
            **dict(zip(("first", "last"), self.period, strict=False)),
        }
        given: dict[str, Any] = {
            **{name: [one.value for one in terms_] for name, terms_ in several.items()},
            "beside": [str(one) for one in self.beside],
            **{name: term.value for name, term in terms.items() if term is not None},
            **texts,
        }
        named = {name: one for name, one in given.items() if name in takes}
        return {"query": query} | named | ({"most": self.most} if self.most else {})


def term_of(text: str) -> ox.NamedNode | ox.Literal:
    """Return a term of its text in N-Triples; raises TypeError or SyntaxError for another."""
    rows = ox.parse(f"<urn:s> <urn:p> {text} .", format=ox.RdfFormat.N_TRIPLES)
    (quad,) = rows
    if not isinstance(quad.object, ox.NamedNode | ox.Literal):
        raise TypeError(text)
    return quad.object


def as_json(arguments: Mapping[str, Any]) -> str:
    """Return the arguments of a call as they are recorded."""
    return json.dumps(arguments, sort_keys=True, ensure_ascii=False)
