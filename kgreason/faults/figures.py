"""Add the results of trials up: how often right, how often wrong, how well calibrated."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import median
from typing import Any, Final

Result = Mapping[str, Any]
_BINS: Final = 10


def figures(results: Sequence[Result]) -> dict[str, Any]:
    """Give all figures: over everything, by group, by fault, by graph, and by fault and graph."""

    def by(key: Callable[[Result], str]) -> dict[str, Any]:
        names = dict.fromkeys(key(r) for r in results)
        return {name: added([r for r in results if key(r) == name]) for name in names}

    return {
        "all": added(results),
        "calibration": calibration(results),
        "group": by(lambda r: str(r["group"])),
        "fault": by(lambda r: str(r["fault"])),
        "graph": by(lambda r: str(r["graph"])),
        "cell": by(lambda r: f"{r['fault']} | {r['graph']}"),
    }


def added(results: Sequence[Result]) -> dict[str, Any]:
    """Add some results up; shares are 0 to 1, None where there is nothing to count.

    `top1`, `top3`, `f1`, `wrong` and `kind` are over trials with a cause that an oracle would see;
    `abstained` over those with one that it would not; `false_report` over those without a cause.
    `fdr` is the share of wrong ones among all answers, `parts` the share of those that only name
    some of the nodes of a true cause. Seconds are of work, as recorded.
    """
    done = [r for r in results if r["outcome"] == "done"]
    faults = [r for r in done if r["truth"]["causes"]]
    seen = [r for r in faults if r["detectable"] or r["group"] != "weak"]
    unseen = [r for r in faults if not r["detectable"] and r["group"] == "weak"]
    nulls = [r for r in done if not r["truth"]["causes"]]
    placed = [r for r in seen if r["place_right"]]
    answers = sum(len(r["supported"]) for r in done)
    return {
        "trials": len(results),
        "done": len(done),
        "not_sown": sum(r["outcome"] == "not sown" for r in results),
        "failed": sum(r["outcome"] == "failed" for r in results),
        "with_cause": len(seen),
        "top1": _share(seen, "top1"),
        "top3": _share(seen, "top3"),
        "f1": _mean([r["f1"] for r in seen]),
        "wrong": _share(seen, "wrong"),
        "kind": _share(placed, "kind_right"),
        "unseen": len(unseen),
        "abstained": _share(unseen, "abstained"),
        "nulls": len(nulls),
        "false_report": None if not nulls else 1 - (_share(nulls, "abstained") or 0.0),
        "answers": answers,
        "fdr": sum(r["wrong_answers"] for r in done) / answers if answers else None,
        "parts": sum(r["parts"] for r in done) / answers if answers else None,
        "seconds": median(r["seconds"] for r in done) if done else None,
        "tests": median(r["tests"] for r in done) if done else None,
    }


def _share(results: Sequence[Result], name: str) -> float | None:
    return _mean([float(r[name]) for r in results])


def _mean(numbers: Sequence[float]) -> float | None:
    return sum(numbers) / len(numbers) if numbers else None


def calibration(results: Iterable[Result]) -> dict[str, Any]:
    """Compare the leader's confidence with how often the leader is right.

    `ece` is the expected calibration error over ten bins of equal width (Naeini and others 2015),
    `brier` the mean squared difference; both None where there is no result. The leader is right if
    it is a cause that was sown, or "none of these" where there is none to be seen.
    """
    pairs = [
        (float(r["confidence"]), bool(r["leader_right"]))
        for r in results
        if r["outcome"] == "done" and r["confidence"] is not None
    ]
    bins: list[list[tuple[float, bool]]] = [[] for _ in range(_BINS)]
    for confidence, right in pairs:
        bins[min(_BINS - 1, int(confidence * _BINS))].append((confidence, right))
    table = [
        {
            "from": place / _BINS,
            "to": (place + 1) / _BINS,
            "leaders": len(inside),
            "confidence": _mean([c for c, _ in inside]),
            "right": _mean([float(r) for _, r in inside]),
        }
        for place, inside in enumerate(bins)
        if inside
    ]
    gaps = [abs(row["confidence"] - row["right"]) * row["leaders"] for row in table]  # type: ignore[operator]
    return {
        "leaders": len(pairs),
        "ece": sum(gaps) / len(pairs) if pairs else None,
        "brier": _mean([(c - r) ** 2 for c, r in pairs]),
        "reliability": table,
    }
