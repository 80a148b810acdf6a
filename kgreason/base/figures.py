"""The figures and words by which the engine judges: data of `ontology/engine.ttl`, read once."""

from collections.abc import Mapping
from functools import cache
from typing import Final

import pyoxigraph as ox

from kgreason.base.errors import RunError
from kgreason.base.resources import folder
from kgreason.base.terms import POLICY, TYPE

ENGINE: Final = POLICY.engine
"""What the figures are said of, in the file and in a record."""
_FILE: Final = "engine.ttl"


def figure(name: str) -> float:
    """Return a figure by the local name of its property; raises RunError where there is none."""
    return float(_value(name))


def integer(name: str) -> int:
    """Return a figure that is a whole number; raises RunError where there is none."""
    return int(_value(name))


def word_list(name: str) -> frozenset[str]:
    """Return the words of a list that the engine goes by; raises RunError where there is none."""
    return frozenset(_value(name).split())


def number_list(name: str) -> tuple[float, ...]:
    """Return the numbers of a list in their order; raises RunError where there is none."""
    return tuple(map(float, _value(name).split()))


@cache
def figures() -> Mapping[str, str]:
    """Return each figure as it is written, by the local name of its property."""
    return {
        t.predicate.value.removeprefix(POLICY.iri): t.object.value
        for t in copied()
        if t.predicate in POLICY and isinstance(t.object, ox.Literal)
    }


@cache
def copied() -> tuple[ox.Triple, ...]:
    """Return what the engine is and its figures, of which a record holds a copy."""
    path = folder("ontology") / _FILE
    said = (q.triple for q in ox.parse(path=str(path), format=ox.RdfFormat.TURTLE))
    return tuple(
        t for t in said if t.subject == ENGINE and (t.predicate == TYPE or t.predicate in POLICY)
    )


def _value(name: str) -> str:
    try:
        return figures()[name]
    except KeyError as error:
        raise RunError(f"ontology/{_FILE}: policy:engine has no policy:{name}.") from error
