"""What was learned from labelled questions: frames, and the weights of features for types of tasks.

`ontology/frames.ttl` holds the frames, which are written by hand, and `ontology/routing.ttl` the
weights, which `python benchmarks/learn_router.py` makes from the questions.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property

import pyoxigraph as ox

from kgreason.base.extensions import cached
from kgreason.base.resources import folder
from kgreason.base.terms import RDFS, SKOS, TRAILS, TYPE
from kgreason.routing.features import Frame, features
from kgreason.routing.phrases import Phrases


@dataclass(frozen=True)
class Reading:
    """How questions are read: frames, and words of politeness that say nothing."""

    frames: tuple[Frame, ...]
    opening: re.Pattern[str]

    def features(self, question: str) -> dict[str, str]:
        """Return the features of a question, each with the words that gave it."""
        return features(question, self.frames, self.opening)


@dataclass(frozen=True)
class Learned:
    """Weights of features by the IRI of a type of task, in natural logarithms of odds."""

    weights: Mapping[str, Mapping[str, Decimal]]

    @cached_property
    def names(self) -> frozenset[str]:
        """The features that have a weight for any type."""
        return frozenset(name for of in self.weights.values() for name in of)


def read_frames(phrases: Phrases) -> Reading:
    """Return the frames that come along; `phrases` knows the groups of words they refer to."""
    store = ox.Store()
    store.load(path=str(folder("ontology") / "frames.ttl"), format=ox.RdfFormat.TURTLE)
    made = []
    for quad in store.quads_for_pattern(None, TYPE, TRAILS.WordFrame, None):
        said: dict[str, list[str]] = {}
        for one in store.quads_for_pattern(quad.subject, None, None, None):
            if isinstance(one.object, ox.Literal):
                said.setdefault(one.predicate.value, []).append(one.object.value)
        (name,), (label,) = said[SKOS.notation.value], said[RDFS.label.value]
        combines = said[TRAILS.combines.value] == ["true"]
        several = sorted(said[TRAILS.phrase.value], key=lambda one: (-len(one), one))
        made.append(Frame(name, label, combines, phrases.any_of(several)))
    return Reading(tuple(sorted(made, key=lambda one: one.name)), phrases.opening())


@cached
def learned() -> Learned:
    """Return the weights that come along."""
    store = ox.Store()
    store.load(path=str(folder("ontology") / "routing.ttl"), format=ox.RdfFormat.TURTLE)
    number = dict(_literals(store, TRAILS.weight))
    features: dict[object, list[str]] = {}
    for cue, name in _literals(store, TRAILS.feature):
        features.setdefault(cue, []).append(name)
    weights: dict[str, dict[str, Decimal]] = {}
    for quad in store.quads_for_pattern(None, TRAILS.learnedCue, None, None):
        if isinstance(quad.subject, ox.NamedNode):
            weight = Decimal(number[quad.object])
            known = weights.setdefault(quad.subject.value, {})
            known |= dict.fromkeys(features[quad.object], weight)
    return Learned(weights)


def _literals(store: ox.Store, predicate: ox.NamedNode) -> Iterator[tuple[object, str]]:
    for quad in store.quads_for_pattern(None, predicate, None, None):
        if isinstance(quad.object, ox.Literal):
            yield quad.subject, quad.object.value
