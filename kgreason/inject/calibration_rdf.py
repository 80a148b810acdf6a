"""A calibration that was learned as statements of RDF, in the terms of ontology/trails.ttl."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import ROUND_HALF_UP, Decimal
from typing import Any, Final

import pyoxigraph as ox

from kgreason.base.terms import POLICY, PROV, TRAILS, TYPE
from kgreason.inject.calibration_cases import NATURAL
from kgreason.inject.isotonic import Block, bounds
from kgreason.inject.learn_calibration import Learned, Pair, input_of
from kgreason.record import policy
from kgreason.record.calibration import Calibration, versioned
from kgreason.record.record import Value, literal

NODE: Final = ox.NamedNode("urn:kgreason:calibration:new")
"""Stands for the calibration until its content is known, which gives it its name."""
_SIX: Final = Decimal("1e-6")


def calibration_of(learned: Learned) -> Calibration:
    """Return what was learned as RDF, named by its content."""
    return versioned(_triples(learned), NODE)


def _triples(learned: Learned) -> Iterator[ox.Triple]:
    """Return what was learned, how well it does and from what, as said of `NODE`."""
    used = policy.load(learned.policy)
    after = learned.after or {}
    yield ox.Triple(NODE, TYPE, PROV.Entity)
    yield from _said(
        NODE,
        "Calibration",
        learnedUnder=POLICY[learned.policy],
        policyVersion=used.version,
        withFeatures=learned.features,
        leaders=len(learned.cases),
        foldedBy=learned.folded_by,
        folds=learned.folds,
        rawEce=_six(learned.before["ece"]),
        rawBrier=_six(learned.before["brier"]),
        calibratedEce=_six(after["ece"]) if after else None,
        calibratedBrier=_six(after["brier"]) if after else None,
    )
    yield from _parts("calibrationStep", "step", _steps(learned))
    yield from _parts("reliabilityBefore", "before", _bins(learned.before))
    yield from _parts("reliabilityAfter", "after", _bins(after))
    yield from _parts("learnedFrom", "source", _sources(learned))


def _steps(learned: Learned) -> Iterator[tuple[str, dict[str, Value | None]]]:
    for proof, blocks in learned.maps.items():
        natural = [case for case in learned.of(proof) if case.fault == NATURAL]
        outcomes = [(input_of(c, features=learned.features), c.right) for c in natural]
        yield from _stretches(proof, blocks, outcomes)


def _stretches(
    proof: str, blocks: tuple[Block, ...], natural: Sequence[Pair]
) -> Iterator[tuple[str, dict[str, Value | None]]]:
    ends = [0.0, *bounds(blocks), 1.0]
    for block, lower, upper in zip(blocks, ends, ends[1:], strict=False):
        inside = [right for at, right in natural if block.first <= at <= block.last]
        yield (
            "CalibrationStep",
            {
                "proof": proof or None,
                "naturalLeaders": len(inside) if proof else None,
                "naturalRight": sum(inside) if proof else None,
                "lower": _exact(lower),
                "upper": _exact(upper),
                "leaders": block.number,
                "leadersRight": block.right,
                "meanConfidence": _six(block.total / block.number),
                "calibrated": calibrated(block),
            },
        )


def calibrated(block: Block) -> Decimal:
    """Return value of a block to six places, worked out as queries/audit/calibration-value.rq."""
    return (Decimal(block.right + 1) / (block.number + 2)).quantize(_SIX, ROUND_HALF_UP)


def _bins(figures: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Value]]]:
    for row in figures.get("reliability", ()):
        yield (
            "ReliabilityBin",
            {
                "lower": _six(row["from"]),
                "upper": _six(row["to"]),
                "leaders": row["leaders"],
                "leadersRight": round(row["right"] * row["leaders"]),
                "meanConfidence": _six(row["confidence"]),
            },
        )


def _sources(learned: Learned) -> Iterator[tuple[str, dict[str, Value]]]:
    """Return how many leaders there were of each graph and fault.

    Natural faults are each of a graph of their own: they are counted by the part of the collection
    that they stand in, for the map is copied into every record.
    """
    counted = Counter((case.part or case.graph, case.fault) for case in learned.cases)
    graphs: dict[str, set[str]] = {}
    for case in learned.cases:
        graphs.setdefault(case.part, set()).add(case.graph)
    told = {part: f"{part} ({len(found)} graphs)" for part, found in graphs.items() if part}
    for (source, fault), number in sorted(counted.items()):
        graph = told.get(source, source)
        yield "CalibrationSource", {"ofGraph": graph, "ofFault": fault, "leaders": number}


def _parts(
    link: str, name: str, parts: Iterable[tuple[str, Mapping[str, Value | None]]]
) -> Iterator[ox.Triple]:
    for number, (kind, properties) in enumerate(parts, start=1):
        node = ox.NamedNode(f"{NODE.value}:{name}:{number}")
        yield ox.Triple(NODE, TRAILS[link], node)
        yield from _said(node, kind, **properties)


def _said(node: ox.NamedNode, kind_: str, /, **properties: Value | None) -> Iterator[ox.Triple]:
    yield ox.Triple(node, TYPE, TRAILS[kind_])
    for name, value in properties.items():
        if value is not None:
            yield ox.Triple(node, TRAILS[name], literal(value))


def _six(number: float) -> Decimal:
    return Decimal(repr(number)).quantize(_SIX, ROUND_HALF_UP)


def _exact(number: float) -> Decimal:
    """Return a confidence as it is recorded: with at most nine places."""
    return Decimal(repr(number)).quantize(Decimal("1e-9"), ROUND_HALF_UP).normalize()
