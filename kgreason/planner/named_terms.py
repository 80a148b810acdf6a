"""The terms of a graph that the words of one question name; each word is used once.

Words are held against the names and labels of the graph's own terms; nothing is understood. A name
fits where all its words stand in the question.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any, Final, TypeVar

import pyoxigraph as ox

from kgreason.base.store import Row, Term
from kgreason.base.templates import template
from kgreason.base.terms import TYPE, XSD
from kgreason.base.words import content
from kgreason.graph import Graph
from kgreason.graph.names import Names, local_name
from kgreason.planner.measures import Measured, number_in
from kgreason.planner.named_nodes import called_node, there
from kgreason.planner.question_places import CAPITAL, CODES, NAMED, SHORT, Places, is_loud

_T = TypeVar("_T")
Value = tuple[Measured, ox.NamedNode | ox.Literal, list[ox.NamedNode]]
"""A value with its property and the class whose nodes have it."""
Called = tuple[tuple[ox.NamedNode, ...], str]
"""Classes, and what they are called together."""

_CLASSES: Final = 60
_FEW: Final = 50
_BOTH: Final = 2


class NamedTerms:
    """Looks up what words of a question name.

    `asked` are the words that may name something, `spent` those that say what is asked; these may
    too, if nothing else does. `used` are the words that named something, `words` the same by what
    they named; `unknown` what looks like a node and is none, `taken` what classes are called that
    only the last word of their names fits, and `numbered` how a number is said.
    """

    def __init__(self, graph: Graph, names: Names, question: str, spent: frozenset[str]) -> None:
        self._graph, self._names, self._question = graph, names, question
        self._codes = set() if is_loud(question) else set(SHORT.findall(question))
        self._every = content(question)
        self.asked = self._every - spent
        self.used: set[str] = set()
        self.unknown: list[str] = []
        self.places = Places(question)
        self.numbered, self.taken = "", ""
        self.words: dict[str, frozenset[str]] = {}

    def naming(self, what: str, reading: Callable[[], _T]) -> _T:
        """Return what a reading gives, and keep the words that it used as those of `what`."""
        before = frozenset(self.used)
        out = reading()
        self.words[what] = self.words.get(what, frozenset()) | (self.used - before)
        return out

    def left(self) -> tuple[str, ...]:
        """Return the words that name nothing, as they stand in the question."""
        words = dict.fromkeys(re.findall(r"[^\W_]+", self._question))
        named = self.asked - self.used | self._codes - self.used
        return tuple(word for word in words if (content(word) | {word}) & named)

    def rows(self, role: str, query: str, /, **given: Any) -> Sequence[Row]:
        """Return the rows of a query of the catalogue on the graph."""
        return self._graph.store.select(template(role, query).render(**given))

    def number(self, without: str) -> ox.Literal | None:
        """Return the number that the question says, outside some of its words."""
        free = self._question.replace(without, " ") if without else self._question
        if (found := number_in(NAMED.sub(" ", free))) is None:
            return None
        self.used |= content(found[1])
        self.numbered = found[1]
        return ox.Literal(found[0], datatype=XSD.decimal)

    def nodes(self, *, both: bool) -> list[ox.NamedNode]:
        """Return the nodes that the question names by IRI, label or the end of their IRI.

        Where `both` of two are looked for, plain words may name them, too.
        """
        hits = [*NAMED.finditer(self._question), *CAPITAL.finditer(self._question)]
        found: dict[ox.NamedNode, int] = {}
        for hit in hits:
            text = next((one for one in hit.groupdict().values() if one), hit[0])
            node = called_node(self._graph, text)
            if node is not None:
                self.used |= content(text)
                found.setdefault(node, hit.start())
            elif any(hit.groupdict().get(one) for one in CODES):
                self.unknown.append(text)
        if both and len(found) < _BOTH:
            for word in self.left():
                node = called_node(self._graph, word)
                if node is not None:
                    self.used |= content(word)
                    found.setdefault(node, self._question.index(word))
        return sorted(found, key=lambda node: found[node])

    def plain_node(self, having: ox.NamedNode | None = None) -> ox.NamedNode | None:
        """Return the node that a plain word names, as in "what is alder?".

        It has to have the property `having`, if any: "how many dock doors does venlo have?".
        """
        for word in self.left():
            node = called_node(self._graph, word)
            if node is not None and (having is None or there(self._graph, node, having)):
                self.used |= content(word)
                return node
        return None

    @cached_property
    def _known(self) -> tuple[dict[ox.NamedNode, int], dict[ox.NamedNode, list[ox.NamedNode]]]:
        """The classes with the number of their nodes, and the classes below each."""
        below: dict[ox.NamedNode, list[ox.NamedNode]] = {}
        sizes: dict[ox.NamedNode, int] = {}
        for row in self.rows("context", "asked-classes"):
            if isinstance(row["class"], ox.NamedNode):
                sizes[row["class"]] = int(row["nodes"].value)
        for row in self.rows("look", "class-tree"):
            upper, lower = row["class"], row["below"]
            if isinstance(upper, ox.NamedNode) and isinstance(lower, ox.NamedNode):
                below.setdefault(upper, []).append(lower)
        return sizes, below

    def classes(self) -> Called:
        """Return the classes that words of the question fit best, with those below; and a name."""
        whole = self._whole(frozenset())
        if whole[0]:
            return whole
        classes, self.taken = self._headed(self.asked)
        return classes, self.taken

    def second_class(self, classes: Sequence[ox.NamedNode]) -> Called:
        """Return the class that the question names beside some classes, with those below."""
        if not classes:
            return (), ""
        whole = self._whole(frozenset(classes))
        return whole if whole[0] else self._headed(self.asked - self.used, classes)

    def in_role(self, classes: Sequence[ox.NamedNode]) -> Called:
        """Return the classes of what a property of any class leads to that is named as a role."""
        among, kinds = self.asked - self.used, list(self._known[0])[:_CLASSES]
        for row in self.rows("context", "asked-properties", **{"class": kinds}) if among else ():
            known = row["property"]
            if not isinstance(known, ox.NamedNode) or not (fit := self._fit(known, among)):
                continue
            given = {"class": kinds, "property": known}
            ends = [one["kind"] for one in self.rows("look", "ends-of", **given, beside=[])]
            found = [one for one in ends if isinstance(one, ox.NamedNode) and one not in classes]
            if found:
                self.used |= fit
                return tuple(found), self._names(found[0])
        return (), ""

    def _headed(self, words: Iterable[str], beside: Sequence[ox.NamedNode] = ()) -> Called:
        """Return the classes whose last word is among some words, but for those `beside`."""
        heads = [one for one in self._known[0] if self._head(one) & set(words)]
        heads = [one for one in heads if one not in beside]
        for one in heads:
            self.used |= self._head(one)
        return tuple(heads), " or ".join(self._names(one) for one in heads[:4])

    def _whole(self, beside: frozenset[ox.NamedNode]) -> Called:
        """Return the class all of whose words stand in the question, with those below it.

        It is none of some others, and neither above nor below them.
        """
        sizes, below = self._known
        free = self._every - self.used
        if beside:  # a word that stands there twice may name both
            free |= {word for word in self._every if len(self.places.of(word)) > 1}
        whole = [
            (one, fit)
            for one in dict.fromkeys((*sizes, *below))
            if beside.isdisjoint({one, *below.get(one, ())})
            and (fit := self._fit(one, free))
            and self.places.together(fit)
        ]
        if not whole:
            return (), ""
        # The first one is meant ("shipments per carrier"), or what it qualifies ("museum objects").
        starts = {self.places.first(fit) for _, fit in whole}
        heads = [each for each in whole if self.places.behind(each[1]) not in starts]
        best = max(
            heads or whole,
            key=lambda each: (
                -self.places.first(each[1]), len(each[1]), sizes.get(each[0], 0), each[0].value,
            ),
        )  # fmt: skip
        self.used |= best[1]
        return tuple(dict.fromkeys((best[0], *below.get(best[0], [])))), self._names(best[0])

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

    def property_of(
        self, classes: Sequence[ox.NamedNode], node: ox.NamedNode | None
    ) -> Measured | None:
        """Return the property that the other words fit, if any.

        It is one of some classes, of a node where one is named and no class, or else of any class.
        """
        among = self._every - self.used
        found: dict[Measured, tuple[int, int]] = {}
        alone = node is not None and not classes
        rows = self.rows("look", "properties-at", node=node) if alone else self.properties(classes)
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
        self.used |= self._fit(best.name, among) or content(self._plain(best.name)) & among
        return best

    def leading(self, classes: Sequence[ox.NamedNode]) -> tuple[Measured | None, Called]:
        """Return the property by which some classes lead to a class that other words fit; and it.

        Where they lead to none that is named, it gives none.
        """
        before = set(self.used)
        others, called = self.second_class(classes)
        for one in others:
            rows = self.rows("look", "leading-to", other=one, **{"class": [*classes]})
            if rows and isinstance(rows[0]["property"], ox.NamedNode):
                return Measured(rows[0]["property"]), (others, called)
        self.used = before
        return None, ((), "")

    def properties(self, classes: Sequence[ox.NamedNode]) -> list[Row]:
        """Return the properties of nodes of some classes, or of the largest ones where none is."""
        kinds: list[ox.NamedNode] = list(classes)
        if not kinds:
            rows = self.rows("context", "asked-classes")[:_CLASSES]
            kinds = [r["class"] for r in rows if isinstance(r["class"], ox.NamedNode)]
        return [
            row
            for kind in kinds
            for row in self.rows("context", "asked-properties", **{"class": [kind]})
        ]

    def classes_having(self, known: ox.NamedNode) -> tuple[ox.NamedNode, ...]:
        """Return the class most of whose nodes have a property."""
        best: tuple[int, ox.NamedNode] | None = None
        for row in self.rows("context", "asked-classes")[:_CLASSES]:
            kind = row["class"]
            if isinstance(kind, ox.NamedNode):
                rows = self.rows("context", "asked-properties", **{"class": [kind]})
                having = sum(int(r["having"].value) for r in rows if r["property"] == known)
                if having and (best is None or having > best[0]):
                    best = having, kind
        return () if best is None else (best[1],)

    def value(
        self,
        classes: Sequence[ox.NamedNode],
        found: Measured | None,
        other: ox.NamedNode | None = None,
    ) -> Value | None:
        """Return a value that the other words are the name of, with its property and class.

        It is one of the property `found`, if any, and of none that is the `other`.
        """
        among = self.asked - self.used
        quoted = {hit[1].casefold() for hit in re.finditer(r'"([^"]+)"', self._question)}
        codes = self._codes - self.used
        if not classes:
            return None
        best: tuple[int, ox.NamedNode, ox.NamedNode | ox.Literal, ox.NamedNode] | None = None
        for kind in classes:
            for row in self.rows("context", "asked-properties", **{"class": [kind]}):
                known = row["property"]
                if not isinstance(known, ox.NamedNode) or known in {TYPE, other}:
                    continue
                if (found and known != found[0]) or int(row["values"].value) > _FEW:
                    continue
                for value in self._values(kind, known):
                    fit = len(self._fit(value, among))
                    fit += 9 if value.value.casefold() in quoted else 0
                    fit += 9 if self._stands(self._short(value)) else 0
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
        self.used |= self._fit(best[2], among) | codes & {self._short(best[2])}
        several = (found.numeric, found.dated) if found else (False, False)
        return Measured(best[1], *several), best[2], [best[3]]

    def _stands(self, text: str) -> bool:
        """Check whether a code of several words, such as neg-wo-call, stands in the question."""
        code = re.escape(text)
        compound = re.search(r"\w[-_]\w", text) is not None
        return compound and bool(
            re.search(rf"(?<![\w-]){code}(?![\w-])", self._question, re.IGNORECASE)
        )

    def _short(self, value: Term) -> str:
        """Return what a value is as a code: its text, or the end of its IRI."""
        return local_name(value.value) if isinstance(value, ox.NamedNode) else value.value

    def _values(self, kind: ox.NamedNode, known: ox.NamedNode) -> list[ox.NamedNode | ox.Literal]:
        rows = self.rows("context", "asked-values", **{"class": [kind], "property": known})
        return [r["value"] for r in rows if isinstance(r["value"], ox.NamedNode | ox.Literal)]
