"""A gate for CI: what of a result makes a build fail, said in sentences."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from kgreason.base.certainty import ENOUGH
from kgreason.base.errors import OptionError
from kgreason.review.comparison import Comparison

KINDS: Final = ("violation", "cause", "new-cause")
"""What a gate may fail on."""
_DOUBTS: Final = re.compile(
    r"Nothing was checked|Is an ontology missing\?|.*nobody knows whether anything was checked"
)
"""How the notices of a record begin that say why no failure (or a failure) may mean nothing."""
_TOLERANCE: Final = re.compile(r"(\d{1,12})|(\d{1,3}(?:\.\d{1,9})?)%", re.ASCII)


@dataclass(frozen=True)
class Tolerance:
    """How many failing nodes a rule or a cause may have: a count, or a share of those looked at."""

    count: int = 0
    share: Fraction = Fraction(0)

    @classmethod
    def of(cls, text: str | None) -> "Tolerance":
        """Read a count (10) or a share (1%); raises OptionError for anything else."""
        if text is None:
            return cls()
        found = _TOLERANCE.fullmatch(text.strip())
        if found is None or (found[2] and Fraction(found[2]) > 100):  # noqa: PLR2004 - per cent
            raise OptionError(f"--tolerate {text}: give a number of nodes (10) or a share (1%).")
        return cls(int(found[1])) if found[1] else cls(share=Fraction(found[2]) / 100)

    def allows(self, failing: int, population: int) -> bool:
        """Check whether so many failing nodes of all are no more than is tolerated."""
        return failing <= self.count or failing <= self.share * population


def check(kind: str | None, tolerance: Tolerance, *, compared: bool) -> None:
    """Refuse a gate that has no meaning; raises OptionError."""
    if kind is None:
        if tolerance != Tolerance():
            raise OptionError("--tolerate is of use with --fail-on.")
        return
    if kind not in KINDS:
        raise OptionError(f"--fail-on {kind}: give one of {', '.join(KINDS)}.")
    if kind == "new-cause" and not compared:
        raise OptionError(
            "--fail-on new-cause: new compared with what? Give --baseline, a result as JSON or an "
            "earlier investigation such as I1."
        )


def doubts(told: Mapping[str, Any]) -> list[str]:
    """Return the notices of a result that doubt whether anything was checked."""
    return [text for text in told["notices"] if _DOUBTS.match(text)]


def failures(
    told: Mapping[str, Any],
    kind: str,
    comparison: Comparison | None = None,
    tolerance: Tolerance | None = None,
) -> list[str]:
    """Return why a gate fails, a sentence for each rule or cause; nothing where it passes.

    `told` is a result as in docs/result.schema.json. A cause that only narrows down is none, nor is
    one whose kind of proof leaves it of low certainty. Raises OptionError for a kind there is not,
    or `new-cause` with nothing to compare with.
    """
    least = tolerance or Tolerance()
    check(kind, least, compared=comparison is not None)
    if kind == "violation":
        return [
            f"{one['name']}: {one['failing']} of {one['population'] or '?'} nodes fail."
            for one in told["symptoms"]
            if not least.allows(one["failing"], one["population"])
        ]
    faint = _unlikely(told)
    causes = [
        one
        for one in told["causes"]
        if not one["narrows"] and not faint.issuperset(one["hypotheses"])
    ]
    if kind == "new-cause" and comparison is not None:
        new = {one.after for one in comparison.new}
        causes = [one for one in causes if one["id"] in new]
    word = "a new cause" if kind == "new-cause" else "a cause"
    return [
        f"{one['id']} is {word} of {one['explains']} failures: {one.get('said', one['statement'])}"
        for one in causes
        if not least.allows(one["explains"], _population(told["symptoms"], one))
    ]


def _unlikely(told: Mapping[str, Any]) -> set[str]:
    """Return the hypotheses that their kind of proof made less likely right than wrong."""
    return {
        one["id"]
        for symptom in told["symptoms"]
        for one in symptom["hypotheses"]
        if one["confidence"] < min(ENOUGH, one.get("posterior", 0.0))
    }


def _population(symptoms: Sequence[Mapping[str, Any]], cause: Mapping[str, Any]) -> int:
    return sum(one["population"] for one in symptoms if one["id"] in cause["symptoms"])
