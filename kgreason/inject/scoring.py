"""Compare what an investigation says with what was injected."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

import pyoxigraph as ox

from kgreason.base.store import Store
from kgreason.inject.fault import ALIKE, Cause, Focus, Truth, jaccard

NONE: Final = "none"
_CONFORMS: Final = "the data conform"
_DETECTABLE: Final = 0.01
_INSIDE: Final = 0.95  # share of a region that makes it a part of another
_STRONG: Final = 0.5  # severity from which a cause is to be found, whatever the oracle says

Found = tuple[Mapping[str, Any], frozenset[Focus]]
"""A hypothesis of the result with the focus nodes of its region."""


def score(result: Mapping[str, Any], truth: Truth, store: ox.Store) -> dict[str, Any]:
    """Score one result; `store` holds the data as they were investigated, by named graph.

    A hypothesis is right about a cause if its kind is right and the nodes of its region, as its
    own query gives them, have a Jaccard index of at least 0.8 with those that the cause was
    injected into. The answers are the supported hypotheses; `top1` looks at the first of them,
    `top3` at the first three that are not refuted, supported or not. Where silence is right too, a
    result without an answer is right in all of this.
    """
    symptom = _symptom(result, truth)
    population = truth.population
    hypotheses = symptom["hypotheses"] if symptom else []
    named = [(h, _region(h, store) & population) for h in hypotheses if h["kind"] != NONE]
    answers = [found for found in named if found[0]["status"] == "supported"]
    failing = symptom["failing"] if symptom else 0
    out: dict[str, Any] = {
        "verdict": symptom["verdict"] if symptom else _CONFORMS,
        "failing": failing,
        "population": len(population),
        "supported": [_told(h, nodes, truth) for h, nodes in answers],
        "tests": sum(len(h["evidence"]) for s in result["symptoms"] for h in s["hypotheses"]),
        "seconds": result["budget"]["seconds"],
        "policy": result["policy"],
        "features": symptom["features"] if symptom else None,
        "oracle": _oracle(truth, len(population), failing, symptom, store),
    }
    out["detectable"] = all(p <= _DETECTABLE for p in out["oracle"])
    weak = any(cause.severity < _STRONG for cause in truth.causes)
    visible = bool(truth.causes) and (out["detectable"] or not weak) and not truth.silence
    out |= _judged(answers, named, hypotheses, truth, visible=visible)
    if truth.silence and truth.causes and not answers:
        out |= {"top1": True, "top3": True, "f1": 1.0}
    out["proposed"] = [_nearest(cause, named, truth.decoy) for cause in truth.causes]
    return out


def _symptom(result: Mapping[str, Any], truth: Truth) -> Mapping[str, Any] | None:
    fitting = [s for s in result["symptoms"] if s["shape"] == truth.shape]
    exact = [s for s in fitting if s["constraint"] == truth.target.iri]
    return next(iter(exact or fitting), None)


def _region(hypothesis: Mapping[str, Any], store: ox.Store) -> frozenset[Focus]:
    if not hypothesis["region"]:
        return frozenset()
    return _focus(store, hypothesis["region"])


def _focus(store: ox.Store, query: str) -> frozenset[Focus]:
    rows = Store(store, "the injected data").select(query)
    found = (row["focus"] for row in rows if "focus" in row)
    return frozenset(node for node in found if isinstance(node, ox.NamedNode))


def _right(found: Found, cause: Cause, decoy: frozenset[Focus]) -> bool:
    return found[0]["kind"] in cause.twins and same(found[1], cause, decoy)


def same(nodes: frozenset[Focus], cause: Cause, decoy: frozenset[Focus]) -> bool:
    """Check whether nodes are those of a cause, and not rather those of its proxy."""
    alike = max(jaccard(nodes, told) for told in (cause.nodes, *cause.also))
    return alike >= ALIKE and alike >= jaccard(nodes, decoy)


def by_place(regions: Sequence[frozenset[Focus]], truth: Truth) -> dict[str, Any]:
    """Score ranked regions by their nodes alone: `top1`, `top3`, set `f1`, how many `reported`."""
    right = [any(same(nodes, c, truth.decoy) for c in truth.causes) for nodes in regions]
    met = sum(any(same(nodes, c, truth.decoy) for nodes in regions) for c in truth.causes)
    return {
        "top1": bool(right[:1] and right[0]),
        "top3": any(right[:3]),
        "f1": _f1(sum(right), len(regions), met, len(truth.causes)),
        "reported": len(regions),
    }


def _f1(good: int, answers: int, met: int, causes: int) -> float:
    precision = good / answers if answers else 0.0
    recall = met / causes if causes else 0.0
    both = precision + recall
    return 2 * precision * recall / both if both else 0.0


def _any_right(found: Found, truth: Truth) -> bool:
    return any(_right(found, cause, truth.decoy) for cause in truth.causes)


def _judged(
    answers: Sequence[Found],
    named: Sequence[Found],
    hypotheses: Sequence[Mapping[str, Any]],
    truth: Truth,
    *,
    visible: bool,
) -> dict[str, Any]:
    open_ = [f for f in named if f[0]["status"] != "refuted"]
    placed = [f for f in answers if any(same(f[1], cause, truth.decoy) for cause in truth.causes)]
    met = [cause for cause in truth.causes if any(_right(f, cause, truth.decoy) for f in answers)]
    good = [f for f in answers if _any_right(f, truth)]
    leader = hypotheses[0] if hypotheses else None
    first = next((f for f in named if leader is not None and f[0]["id"] == leader["id"]), None)
    tested = any(h["evidence"] for h in hypotheses)
    nothing = leader is not None and leader["kind"] == NONE and not answers
    right = _any_right(first, truth) if first else nothing and not visible
    return {
        "top1": bool(answers) and _any_right(answers[0], truth),
        "top3": any(_any_right(f, truth) for f in open_[:3]),
        "abstained": not answers,
        "wrong": bool(answers) and not _any_right(answers[0], truth),
        "wrong_answers": sum(not _any_right(f, truth) and not _part(f, truth) for f in answers),
        "parts": sum(not _any_right(f, truth) and _part(f, truth) for f in answers),
        "place_right": bool(placed),
        "kind_right": any(_any_right(f, truth) for f in placed),
        "f1": _f1(len(good), len(answers), len(met), len(truth.causes)),
        # Whatever the kind, to be compared with what knows of no kinds.
        "place": by_place([nodes for _, nodes in answers], truth)
        | {"top3": by_place([nodes for _, nodes in open_], truth)["top3"]},
        # Where nothing was tested, "none of these" only has its prior: it claims nothing.
        "confidence": leader["confidence"] if leader and (first or tested) else None,
        "posterior": leader["posterior"] if leader and (first or tested) else None,
        "leader": leader["kind"] if leader else None,
        "proof": leader["proof"] if leader else None,
        "leader_right": right,
    }


def _part(found: Found, truth: Truth) -> bool:
    """Check whether an answer names some of the nodes of a cause and hardly any others."""
    nodes = found[1]
    return any(len(nodes & c.nodes) >= _INSIDE * len(nodes) for c in truth.causes if nodes)


def _told(hypothesis: Mapping[str, Any], nodes: frozenset[Focus], truth: Truth) -> dict[str, Any]:
    best = max((jaccard(nodes, cause.nodes) for cause in truth.causes), default=0.0)
    within = max((len(nodes & c.nodes) / len(nodes) for c in truth.causes if nodes), default=0.0)
    return {
        "kind": hypothesis["kind"],
        "statement": hypothesis["statement"],
        "confidence": hypothesis["confidence"],
        "jaccard": round(best, 3),
        "within": round(within, 3),
        "nodes": len(nodes),
    }


def _nearest(
    cause: Cause, named: Sequence[Found], decoy: frozenset[Focus]
) -> dict[str, Any] | None:
    """Return the hypothesis that is right about a cause, or else none; with its status."""
    for hypothesis, nodes in named:
        if _right((hypothesis, nodes), cause, decoy):
            keys = ("kind", "statement", "status", "confidence", "e_value", "rank")
            return {key: hypothesis[key] for key in keys}
    return None


def _oracle(
    truth: Truth, size: int, failing: int, symptom: Mapping[str, Any] | None, store: ox.Store
) -> list[float]:
    """Return, for each cause, what one who knows its region would see.

    That is the hypergeometric probability of so many failing nodes in it or more, on all data,
    times the number of levels in its dimension (at most 1). The failing nodes of a cause are taken
    to be those that were corrupted in its region and the others by the rate outside.
    """
    if symptom is None:
        return [1.0 for _ in truth.causes]
    failed = frozenset(_failing(store, truth))
    return [
        min(1.0, cause.levels * tail(len(cause.nodes & failed), len(cause.nodes), failing, size))
        for cause in truth.causes
    ]


def _failing(store: ox.Store, truth: Truth) -> set[Focus]:
    """Return the failing nodes: whoever was corrupted, as far as the constraint can tell."""
    path, component = truth.target.path, truth.target.component
    if component == "MinCount":
        query = f"SELECT DISTINCT ?focus WHERE {{ GRAPH ?g {{ ?focus {path} ?value }} }}"
        return set(truth.population - _focus(store, query))
    if component == "MaxCount":
        query = (
            f"SELECT DISTINCT ?focus WHERE {{ GRAPH ?g {{ ?focus {path} ?one }} "
            f"GRAPH ?h {{ ?focus {path} ?two }} FILTER (?one != ?two) }}"
        )
        return set(truth.population & _focus(store, query))
    return {node for cause in truth.causes for node in cause.corrupted}


def tail(bad: int, inside: int, failing: int, population: int) -> float:
    """Return the hypergeometric probability of `bad` or more failing nodes among those inside."""
    top = min(inside, failing)
    if bad > top:
        return 0.0
    whole = _log_choose(population, inside)
    logs = [
        _log_choose(failing, k) + _log_choose(population - failing, inside - k) - whole
        for k in range(bad, top + 1)
        if inside - k <= population - failing
    ]
    return min(1.0, math.fsum(map(math.exp, logs)))


def _log_choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
