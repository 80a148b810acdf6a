"""What a calibration is learned from: results of benchmarks, and judgements in ledgers."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from kgreason.base.errors import GraphError, OptionError
from kgreason.base.terms import POLICY
from kgreason.record import Ledger, Record, policy
from kgreason.review.judge import Opinion, contradiction, opinions

JUDGEMENT: Final = "judgement"
NATURAL: Final = "natural"
"""The fault of cases that nobody sowed."""
_LAST: Final = 2**31


@dataclass(frozen=True)
class Case:
    """A leader, or a hypothesis that people judged, and whether it was right.

    `confidence` is that within its frame: what a calibration made of it before does not count.
    `adjustment` is that of the verdict, where it is known; `policy` the IRI of the policy by which
    the confidence came about; `proof` by what the hypothesis stands or falls, where it is known.
    `part` names the part of a collection of graphs that a natural fault stands in. `told` says
    whether it was told as a cause, `winning` how far the hypothesis with most
    confidence stood, "none" apart; both are known of trials alone.
    """

    confidence: float
    right: bool
    graph: str
    fault: str
    seed: int
    policy: str
    adjustment: float | None = None
    proof: str | None = None
    told: bool | None = None
    winning: float | None = None
    part: str = ""


def trials(file: str | Path) -> list[Case]:
    """Read the leaders of the trials in a results.json of `kgreason bench`.

    Or those of the symptoms that benchmarks/natural_bench.py wrote. Trials that were not done, and
    symptoms of which nothing was said, are passed over. Raises GraphError for a file that is no
    such thing.
    """
    try:
        found = json.loads(Path(file).read_text(encoding="utf-8"))
        if isinstance(found, list) and found:
            return [_natural(one) for one in found if one["leader"] is not None]
        done = [t for t in found["trials"] if t["outcome"] == "done"]
        return [_case(t) for t in done if t["confidence"] is not None]
    except OSError as error:
        raise GraphError(f"{file}: the file cannot be read ({error.strerror or error}).") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise GraphError(
            f"{file}: this is no results.json of `kgreason bench --out DIR` ({error!r})."
        ) from error


def _natural(symptom: dict[str, Any]) -> Case:
    leader = symptom["leader"]
    confidence, right = _outcome(_posterior(leader), leader["right"])
    seed, rules = int(leader["seed"]), str(leader["policy"])
    name = str(symptom["case"])
    proof, part = str(leader["proof"]), str(symptom["split"])
    return Case(confidence, right, name, NATURAL, seed, rules, None, proof, part=part)


def _posterior(told: dict[str, Any]) -> Any:
    """Return the confidence within the frame; results of versions before had no other."""
    return told.get("posterior", told["confidence"])


def _outcome(confidence: Any, right: Any) -> tuple[float, bool]:
    if not 0.0 <= float(confidence) <= 1.0 or not isinstance(right, bool):
        raise ValueError(f"a leader of confidence {confidence} that is right: {right!r}")
    return float(confidence), right


def _case(trial: dict[str, Any]) -> Case:
    features = trial.get("features") or {}
    confidence, right = _outcome(_posterior(trial), trial["leader_right"])
    adjustment = features.get("adjustment")
    return Case(
        confidence,
        right,
        str(trial["graph"]),
        str(trial["fault"]),
        int(trial["seed"]),
        str(trial.get("policy") or POLICY.frame.value),  # unsaid before there were others
        None if adjustment is None else float(adjustment),
        trial.get("proof"),
        bool(trial["supported"]) and trial["leader"] != "none" if "supported" in trial else None,
        None if features.get("winning") is None else float(features["winning"]),
    )


def judged(folder: str | Path) -> tuple[list[Case], list[str]]:
    """Read what people last said of hypotheses in a ledger; with the notices there are.

    Several people who agree make one case; where they contradict each other there is none, and a
    notice says so. Raises LedgerError where there is no ledger.
    """
    cases: list[Case] = []
    notices: list[str] = []
    with Ledger.read(Path(folder)) as ledger:
        for entry in ledger.entries():
            record = ledger.record(entry)
            for said in opinions(record).values():
                clash = contradiction(said)
                if clash is None:
                    cases.append(_judgement(record, said[0]))
                else:
                    notices.append(f"{clash} It is left out.")
    return cases, notices


def _judgement(record: Record, said: Opinion) -> Case:
    about = record.select("result-investigation")[0]
    # A judgement has no seed; a digest puts it into one of the folds.
    seed = int(sha256(said.hypothesis.encode()).hexdigest(), 16) % _LAST
    return Case(
        said.confidence,
        said.right,
        about["fingerprint"].value,
        JUDGEMENT,
        seed,
        about["policy"].value,
        said.adjustment,
        said.proof,
    )


def of_policy(cases: Iterable[Case], name: str) -> Iterator[Case]:
    """Return the cases under one of the policies that come along, by its name.

    Raises OptionError if there is none of that name.
    """
    if name not in policy.names():
        raise OptionError(f"There is no policy {name!r}; there are: {', '.join(policy.names())}.")
    yield from (case for case in cases if case.policy == POLICY[name].value)
