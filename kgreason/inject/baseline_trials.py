"""Run the baselines on the data of one trial, and score them by their regions alone."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pyoxigraph as ox

from kgreason.base.errors import RunError, TimeoutExceeded
from kgreason.base.store import guarded
from kgreason.inject.baselines import BASELINES, Answer
from kgreason.inject.fault import Focus, Truth, jaccard
from kgreason.inject.feature_table import Features, features
from kgreason.inject.scoring import by_place, tail
from kgreason.observe import opening

LIMIT: Final = 120.0
"""Seconds after which a baseline is stopped."""
SIGNIFICANT: Final = 0.05
"""What the p of a region times the number of candidates may be at most."""


def compared(
    names: Sequence[str], truth: Truth, store: ox.Store, failing: frozenset[Focus], seed: int
) -> dict[str, Any]:
    """Return the scores of baselines on the data of a trial, by the name of the baseline.

    Each runs in a process of its own. `outcome` is `done`, or `failed` with `why`: more than LIMIT
    seconds, a crash, an error. A baseline that failed, or had nothing to look at, reports nothing.
    `top1`, `top3`, `f1` and `reported` are of its list as it comes, for no baseline abstains;
    those in `significant` are of the regions with a hypergeometric p of at most 0.05 after
    Bonferroni. `seconds` are CPU seconds of the search alone.
    """
    known = features(store, truth, failing)
    return {name: _scored(name, known, truth, seed) for name in names}


def failing_of(
    data: Path, shapes: Path, ontology: Sequence[Path], truth: Truth
) -> frozenset[Focus]:
    """Return the focus nodes that fail the constraint of a trial, from its files alone."""
    _, observed = opening.symptoms(data, shapes=shapes, ontology=list(ontology), lenient=True)
    fitting = [
        seen
        for seen in observed.symptoms
        if seen.constraint.named_shape is not None
        and seen.constraint.named_shape.value == truth.shape
        and seen.constraint.component.value == truth.target.iri
    ]
    nodes = (node for seen in fitting for node in seen.observation.failing)
    return frozenset(node for node in nodes if isinstance(node, ox.NamedNode))


def _scored(name: str, known: Features, truth: Truth, seed: int) -> dict[str, Any]:
    answer = Answer((), 0, 0.0)
    why = None
    if known.failing and (known.items or known.numbers):
        try:
            answer = guarded(lambda: BASELINES[name].search(known, seed), LIMIT, name)
        except TimeoutExceeded:
            why = f"stopped after {LIMIT:g} s"
        except RunError:
            why = "the process crashed or took too much memory"
        except Exception as error:  # noqa: BLE001 - a baseline must not end the trial it runs beside
            why = f"{type(error).__name__}: {error}"
    regions = [frozenset(known.nodes[place] for place in r.nodes) for r in answer.regions]
    chances = [_chance(region.nodes, known, answer.candidates) for region in answer.regions]
    clear = [r for r, p in zip(regions, chances, strict=True) if p <= SIGNIFICANT]
    told = [
        _told(region.condition, nodes, p, truth)
        for region, nodes, p in zip(answer.regions, regions, chances, strict=True)
    ]
    out: dict[str, Any] = {"outcome": "failed" if why else "done"}
    if why:
        out["why"] = why
    return out | {
        **by_place(regions, truth),
        "significant": by_place(clear, truth),
        "candidates": answer.candidates,
        "seconds": round(answer.seconds, 3),
        "regions": told,
    }


def _chance(nodes: frozenset[int], known: Features, candidates: int) -> float:
    """Return the hypergeometric p of so many failing nodes or more, times the candidates."""
    bad = len(nodes & known.failing)
    p = tail(bad, len(nodes), len(known.failing), len(known.nodes))
    return min(1.0, p * candidates)


def _told(
    condition: str, nodes: frozenset[Focus], chance: float, truth: Truth
) -> Mapping[str, Any]:
    best = max((jaccard(nodes, cause.nodes) for cause in truth.causes), default=0.0)
    return {
        "condition": condition,
        "nodes": len(nodes),
        "p": float(f"{chance:.3g}"),
        "jaccard": round(best, 3),
    }
