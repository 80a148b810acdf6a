"""Add the results of trials up: how often right, how often wrong, how well calibrated."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import median
from typing import Any, Final

Result = Mapping[str, Any]
_BINS: Final = 10
OWN: Final = "kgreason"
OWN_KIND: Final = "kgreason, kind right too"


def figures(results: Sequence[Result]) -> dict[str, Any]:
    """Return all figures: over everything, by group, by fault, by graph, and by fault and graph.

    `peers` has rows for kgreason and each baseline that was run too, for all trials and by group;
    nothing where there were none.
    """

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
        "peers": _baselines(results),
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
    seen = [r for r in faults if _is_seen(r)]
    unseen = [r for r in faults if not _is_seen(r)]
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


def _is_seen(result: Result) -> bool:
    """Check whether an oracle would see the cause, or the cause is strong."""
    return bool(result["detectable"]) or result["group"] != "weak"


def _baselines(results: Sequence[Result]) -> dict[str, Any]:
    done = [r for r in results if r["outcome"] == "done" and "peers" in r]
    groups: dict[str, list[Result]] = {"all": done} if done else {}
    for result in done:
        groups.setdefault(_kin(result), []).append(result)
    return {name: compared(group) for name, group in groups.items()}


def _kin(result: Result) -> str:
    """Return the group; strong causes without a region of their own are apart from the others."""
    name = str(result["group"])
    if len(result["truth"]["causes"]) != 1 or name != "one strong cause":
        return name
    own = result["fault"] in result["truth"]["operations"]
    return f"{name}, {'an operation' if own else 'a region'}"


def compared(results: Sequence[Result]) -> dict[str, dict[str, Any]]:
    """Compare kgreason with its baselines by region alone, over trials that they were run in.

    Each row has `top1`, `top3` and `f1` over trials with a cause that an oracle would see, and
    `false_report` over those without a cause, of what is listed; the same with `clear_` before it
    of what is significant (baselines only); the number of `trials`, of those in which the baseline
    `failed`, and the median of CPU `seconds`: of kgreason those of a whole investigation from
    reading to result, of baselines those of the search alone.
    """
    seen = [r for r in results if r["truth"]["causes"] and _is_seen(r)]
    nulls = [r for r in results if not r["truth"]["causes"]]
    if not seen and not nulls:
        return {}
    names = dict.fromkeys(name for r in (*seen, *nulls) for name in r["peers"])
    kind = [{key: r[key] for key in ("top1", "top3", "f1")} for r in seen]
    reports = [{"reported": len(r["supported"])} for r in nulls]
    whole = [r["cpu"] for r in (*seen, *nulls)]
    own = _row([r["place"] for r in seen], reports)
    rows = {
        OWN_KIND: {**_row(kind, reports), "failed": 0, "seconds": median(whole)},
        OWN: {**own, "failed": 0, "seconds": median(whole)},
    }
    for name in names:
        found = [r["peers"][name] for r in seen]
        empty = [r["peers"][name] for r in nulls]
        clear = _row([f["significant"] for f in found], [f["significant"] for f in empty])
        ended = [f for f in (*found, *empty) if f["outcome"] == "done"]
        rows[name] = {
            **_row(found, empty),
            **{f"clear_{key}": clear[key] for key in ("top1", "top3", "f1", "false_report")},
            "failed": len(found) + len(empty) - len(ended),
            "seconds": median(f["seconds"] for f in ended) if ended else None,
        }
    return rows


def _row(found: Sequence[Result], empty: Sequence[Result]) -> dict[str, Any]:
    return {
        "trials": len(found) + len(empty),
        "top1": _share(found, "top1"),
        "top3": _share(found, "top3"),
        "f1": _mean([f["f1"] for f in found]),
        "false_report": _mean([float(f["reported"] > 0) for f in empty]),
    }


def _share(results: Sequence[Result], name: str) -> float | None:
    return _mean([float(r[name]) for r in results])


def _mean(numbers: Sequence[float]) -> float | None:
    return sum(numbers) / len(numbers) if numbers else None


def calibration(results: Iterable[Result]) -> dict[str, Any]:
    """Compare the leader's confidence with how often the leader is right.

    `ece` is the expected calibration error over ten bins of equal width (Naeini and others 2015),
    `brier` the mean squared difference; both None where there is no result. The leader is right if
    it is a cause that was injected, or "none of these" where there is none to be seen.
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
    gaps = [abs(sum(c - r for c, r in inside)) for inside in bins]
    return {
        "leaders": len(pairs),
        "ece": sum(gaps) / len(pairs) if pairs else None,
        "brier": _mean([(c - r) ** 2 for c, r in pairs]),
        "reliability": table,
    }
