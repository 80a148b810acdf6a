"""What a question suspects: “is X related to Y?” asks about an outcome and about a factor.

Phrases between the two are `trails:Link` in ontology/decisions.ttl. The factor is held against what
is said of the nodes in question: their properties, those of the things that they point at, values,
classes, and the sources they come from. What is found becomes a suggestion, in the name of whoever
asks, and is tested like all others.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import pyoxigraph as ox

from kgreason.base.extensions import cached
from kgreason.base.store import Term
from kgreason.base.templates import Value
from kgreason.base.terms import TRAILS, TYPE
from kgreason.observe.question_words import Asked, Calling, Vocabulary, stems
from kgreason.planner.decision_list import intents_of
from kgreason.planner.tool_catalogue import catalogue, text, values
from kgreason.routing.phrases import Phrases

_BEFORE, _AFTER, _BETWEEN = "before", "after", "between"
_FEW: Final = 50
_DOES: Final = ("does ", "do ", "did ")
_IS: Final = ("is ", "are ", "was ", "were ")
_THERE: Final = tuple(f"{one}there " for one in _IS)
_TOKEN: Final = re.compile(r"[^\s?!.,;:]+(?:[.:][^\s?!.,;:]+)*")
_LAST: Final = re.compile(r"[/#:]")
_IT: Final = re.compile(r"\b(?:it|this|that|they|these|those)\b", re.IGNORECASE)
_OR: Final = re.compile(r"\s+(?:or|and/or)\s+", re.IGNORECASE)
_SOURCE: Final = {"step": "source"}


@dataclass(frozen=True)
class Linked:
    """A question in two: the outcome, and what may go with it; `either` may be either.

    With `back` the outcome is only called "it", and was told before.
    """

    outcome: str
    factor: str
    either: bool = False
    back: bool = False

    @property
    def factors(self) -> tuple[str, ...]:
        """What may go with it, one by one: "the feed or the site" are two."""
        parts = tuple(one for one in _OR.split(self.factor) if names_anything(one))
        return parts or ((self.factor,) if names_anything(self.factor) else ())

    def turned(self) -> "Linked":
        """Return the same with the two sides exchanged."""
        return Linked(self.factor, self.outcome)


def links_back(question: str) -> bool:
    """Check whether a question links "it" with something, so that the outcome is told elsewhere."""
    sides = linked(question)
    return sides is not None and sides.back


def linked(question: str) -> Linked | None:
    """Return the two sides of the first link in a question; None where it has none, or one side."""
    tokens = _TOKEN.findall(question)
    words = f" {' '.join(tokens).casefold()} "
    hits = [
        (hit.start(), -hit.end(), stands) for stands, one in _links() for hit in one.finditer(words)
    ]
    if not hits:
        return None
    start, end, stands = min(hits)
    first, last = words[:start].count(" ") - 1, words[:-end].count(" ") - 1
    before, after = " ".join(tokens[:first]), " ".join(tokens[last:])
    if stands == _BETWEEN:
        before, _, after = after.partition(" and ")
    if stands == _BEFORE and _IT.search(before) and not names_anything(before):
        return Linked("", after, back=True) if names_anything(after) else None
    if not names_anything(before) or stands == _AFTER:
        made = Linked(after, before)
    else:
        made = Linked(before, after, stands != _BEFORE and names_anything(after))
    return made if names_anything(made.outcome) else None


def suspects(question: str) -> bool:
    """Check whether a question names what may bring about the rest of it, and not the other way."""
    sides = linked(question)
    if sides is None or not names_anything(sides.factor):
        return False
    # "Is X linked to Y" mostly asks for statements, "does X go with Y" for what brings about what,
    # and so does "is a missing X linked to Y", for what is not there is in no statement.
    opening = question.casefold().lstrip()
    if not sides.either or opening.startswith(_DOES):
        return True
    lacking = any("missing" in intents_of(one) for one in (sides.outcome, sides.factor))
    return lacking and opening.startswith(_IS) and not opening.startswith(_THERE)


@cached
def _links() -> tuple[tuple[str, re.Pattern[str]], ...]:
    store, phrases = catalogue(), Phrases({})
    found = []
    for quad in store.quads_for_pattern(None, TYPE, TRAILS.Link, None):
        if not isinstance(quad.subject, ox.Triple):
            (stands,) = (text(one) for one in values(store, quad.subject, TRAILS.outcomeStands))
            said = sorted(text(one) for one in values(store, quad.subject, TRAILS.phrase))
            found.append((stands, phrases.any_of(said)))
    return tuple(sorted(found, key=lambda one: (one[0], one[1].pattern)))


def names_anything(factor: str) -> bool:
    """Check whether the words of a factor name something, and do not only ask for any factor."""
    generic = intents_of(factor).get("any factor", frozenset())
    return bool(stems(factor) - stems(" ".join(generic)))


def suggestion(
    factor: str, classes: tuple[ox.NamedNode, ...], vocabulary: Vocabulary
) -> Mapping[str, Any] | None:
    """Return a hypothesis about a factor, as `--hypothesis` takes it; None where none is named.

    Of all that the words fit the one is taken that most of them name, and whose name has the fewest
    others. What is said further away is asked for only where words are left over.
    """
    asked = Asked(factor)
    near = _ranked(_near(asked, classes, vocabulary))
    if near is not None and near.fit == asked.stems:
        return near.region
    far = (*_leading(asked, classes, vocabulary), *_beyond(asked, classes, vocabulary))
    best = _ranked([*([near] if near else ()), *far])
    if best is not None:
        return best.region
    return {"factor": [_SOURCE]} if "source" in intents_of(factor) else None


class _Named(NamedTuple):
    """What words of a factor may name: the stems that fit, how many do not, and what is meant."""

    fit: frozenset[str]
    extra: int
    region: Mapping[str, Any]


def _ranked(found: Iterable[_Named]) -> _Named | None:
    fitting = (one for one in found if one.fit and one.extra <= len(one.fit))
    return min(fitting, key=lambda one: (-len(one.fit), one.extra), default=None)


def _near(
    asked: Asked, classes: tuple[ox.NamedNode, ...], vocabulary: Vocabulary
) -> Iterator[_Named]:
    """Return the properties, values, classes and sources of the nodes of some classes."""
    calling = Calling(asked, vocabulary.graph)
    of: dict[str, Value] = {"class": [*classes]}
    for row in vocabulary.rows("context", "asked-properties", **of):
        known = row["property"]
        if not isinstance(known, ox.NamedNode):
            continue
        own = frozenset[str]()
        if known != TYPE:
            own, extra = calling.fits(known)
            yield _Named(own, extra, {"factor": str(known)})
        if int(row["values"].value) <= _FEW:
            for one in vocabulary.rows("context", "asked-values", **of, property=known):
                fit, extra = calling.fits(one["value"])
                yield _Named(fit and fit | own, extra, _is([_forward(known)], one["value"]))
    for name in vocabulary.graph.named_graphs():
        called = _LAST.split(name.value)[-1].partition(".")[0]
        yield _Named(*asked.fits([stems(called)]), _is([_SOURCE], name))


def _leading(
    asked: Asked, classes: tuple[ox.NamedNode, ...], vocabulary: Vocabulary
) -> Iterator[_Named]:
    """Return the property by which the nodes of some classes lead to a class that is named."""
    calling = Calling(asked, vocabulary.graph)
    known: dict[Term, list[Term]] = {}
    for row in vocabulary.rows("context", "asked-classes"):
        known.setdefault(row["class"], [row["class"]])
    for row in vocabulary.rows("look", "class-tree"):
        known.setdefault(row["class"], []).append(row["below"])
    for named, members in known.items():
        fit, extra = calling.fits(named)
        if not fit or extra or named in classes:
            continue
        for member in (one for one in members if isinstance(one, ox.NamedNode)):
            of: dict[str, Value] = {"class": [*classes], "other": member}
            for row in vocabulary.rows("look", "leading-to", **of)[:1]:
                yield _Named(fit, extra, {"factor": str(row["property"])})


def _beyond(
    asked: Asked, classes: tuple[ox.NamedNode, ...], vocabulary: Vocabulary
) -> Iterator[_Named]:
    """Return the properties of what the nodes of some classes point at."""
    calling = Calling(asked, vocabulary.graph)
    of: dict[str, Value] = {"class": [*classes]}
    for row in vocabulary.rows("context", "asked-beyond", **of):
        first, second = row["property"], row["beyond"]
        fit, extra = calling.fits(second)
        if fit and TYPE not in {first, second}:
            more, _ = calling.fits(first)
            yield _Named(fit | more, extra, {"factor": [_forward(first), _forward(second)]})


def _forward(known: Term) -> dict[str, str]:
    return {"step": "forward", "along": str(known)}


def _is(path: list[dict[str, str]], value: Term) -> Mapping[str, Any]:
    return {"condition": [{"path": path, "test": "equals", "terms": {"term": str(value)}}]}
