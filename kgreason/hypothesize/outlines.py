"""Outlines: what the design of tests needs to know about a hypothesis."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from pyoxigraph import Literal, NamedNode

from kgreason.base.figures import integer
from kgreason.base.siblings import LEAST_SIBLINGS
from kgreason.base.store import Term
from kgreason.base.templates import Fragment, Value, template
from kgreason.context.broken import breaks
from kgreason.context.view import View, inside
from kgreason.hypothesize.candidates import Candidate, section
from kgreason.hypothesize.conditions.seam import clusters, costing, wrong
from kgreason.hypothesize.openness import known_outside
from kgreason.record.test_kinds import RESTATEMENT, kinds_of
from kgreason.shacl import Path, conforms_with_path, of_predicate

_PLACEBOS: Final = integer("placebos")
_AND: Final = " and "
PATTERNS: Final = ("levels", "exception", "prediction", "placebo", "known", "cost", "clusters")
"""The parameters of tests that an outline may provide."""


@dataclass(frozen=True)
class Outline:
    """The region of a hypothesis, the kinds of test that it gets, and their parameters.

    `patterns` has the parameters by the names in `PATTERNS`: the levels of the siblings, the
    excepted level, the prediction, the placebo, the nodes that are known to lie outside, the length
    of the region's code, and the clusters that are dealt as wholes.
    `silent` says whether nodes without a statement lie outside as well. `scheme` names the split
    into halves.
    """

    pattern: Fragment
    kinds: tuple[str, ...]
    scheme: str
    patterns: Mapping[str, Fragment] = field(default_factory=dict)
    silent: bool = True


def outlined(view: View, candidate: Candidate) -> Outline:
    """Return the outline of a candidate: the tests of its family that can give a result here.

    Beside them stand the tests of whether it restates the rule, to which every region is put that
    is not known from elsewhere.
    """
    family = candidate.family
    half = view.split(family).heldout
    levels = _levels(view, candidate, half)
    dealt = clusters(view, candidate.values)
    kinds, asked = [], set()
    elsewhere = "known-elsewhere" in family.header
    asked_of_all = kinds_of(RESTATEMENT) if not elsewhere and breaks(view) else []
    for kind in dict.fromkeys([*family.header["tests"].split(), *asked_of_all]):
        parameters = template("test", kind).parameters
        needed = {
            "levels": levels is not None and _several(view, levels),
            "clusters": dealt is not None,
            "first": view.marks.split,
        }
        if all(there for name, there in needed.items() if name in parameters):
            kinds.append(kind)
            asked |= set(parameters)
    patterns: dict[str, Fragment] = {}
    silent = True
    if "levels" in asked and levels is not None:
        patterns["levels"] = levels
    if "passing" in asked and "exception" in family.sections:
        patterns["exception"] = section(family, "exception", candidate.values, view)
    if "prediction" in asked:
        patterns["prediction"] = prediction_of(view, candidate, half)
    if "body" in asked:
        patterns["placebo"] = placebo_of(view, candidate, half)
    if "known" in asked:
        patterns["known"], silent = known_outside(view, candidate, half)
    if "cost" in asked:
        patterns["cost"] = costing(candidate.values)
    if "clusters" in asked and dealt is not None:
        patterns["clusters"] = dealt
    uncut = view.split(family) is view.marks.whole
    scheme = view.marks.whole.scheme if uncut else family.header["split"]
    return Outline(candidate.pattern, tuple(kinds), scheme, patterns, silent)


def _levels(view: View, candidate: Candidate, half: NamedNode) -> Fragment | None:
    """Return a pattern for the sibling levels; those of a conjunction are pairs of levels."""
    if not candidate.parts:
        if "levels" not in candidate.family.sections:
            return None
        return section(candidate.family, "levels", candidate.values, view, half=half)
    if joint_level(candidate) is None:
        return None
    texts: list[str] = []
    prefixes: dict[str, str] = {}
    for place, part in enumerate(candidate.parts):
        inner = section(part.family, "levels", part.values, view, half=half)
        prefixes |= inner.prefixes
        texts.append(f"{{ SELECT ?focus (STR(?level) AS ?l{place}) WHERE {{ {inner.text} }} }}")
    joined = f', "{_AND}", '.join(f"?l{place}" for place in range(len(candidate.parts)))
    return Fragment("\n".join([*texts, f"BIND (CONCAT({joined}) AS ?level)"]), prefixes)


def _several(view: View, levels: Fragment) -> bool:
    """Check whether there are enough levels to estimate a spread from.

    Where it is asked what goes with an outcome, that few levels differ is the answer, and only
    many of them, of which the worst was picked, have a spread that it may be no more than.
    """
    many = view.is_question
    text = template("context", "few-levels").render(
        population=view.marks.everyone, levels=levels, many=many
    )
    return len(list(view.graph.store.select(text))) >= (LEAST_SIBLINGS + 1 if many else FEW)


def joint_level(candidate: Candidate) -> Literal | None:
    """Return the pair of levels that a conjunction stands for, or None if its parts have none."""
    levels = [part.values.get("level") for part in candidate.parts]
    named = all(
        part.family.header.get("levels") == "nominal" and "levels" in part.family.sections
        for part in candidate.parts
    )
    if not named or any(level is None for level in levels):
        return None
    return Literal(_AND.join(level.value for level in levels if level is not None))


def prediction_of(view: View, candidate: Candidate, half: NamedNode) -> Fragment:
    """Return what has to hold of a claimed node of a half; its region has to be marked."""
    more: dict[str, Value] = {"half": half}
    if "wrong" in candidate.family.parameters:
        more["wrong"] = wrong(view, candidate.values)
    if "conforming" in candidate.family.parameters:
        # Where a family says the same of two properties, either may be the level.
        other = candidate.values.get("other", candidate.values["level"])
        more["conforming"] = _conforming(view, candidate, other, inside(view, candidate.pattern))
    if "turned" in candidate.family.parameters:
        more["turned"] = _conforming(
            view,
            candidate,
            candidate.values["level"],
            inside(view, candidate.pattern),
            backwards=True,
        )
    return section(candidate.family, "prediction", candidate.values, view, **more)


def placebo_of(view: View, candidate: Candidate, half: NamedNode) -> Fragment:
    """Return the placebo query of a candidate on a half: a SELECT of ?claimed and ?holds."""
    family = candidate.family
    if "own" in family.parameters:
        own = inside(view, candidate.pattern)
        return section(family, "placebo", candidate.values, view, half=half, own=own)
    if "others" not in family.sections:
        return section(family, "placebo", candidate.values, view, half=half)
    others = section(family, "others", candidate.values, view)
    head = "".join(f"PREFIX {p}: <{iri}>\n" for p, iri in others.prefixes.items())
    rows = view.graph.store.select(head + others.text)
    levels = [r["level"] for r in rows if r["level"] != candidate.values["level"]][:_PLACEBOS]
    arms = []
    for level in levels:
        if isinstance(level, NamedNode):
            pattern = Fragment(f"?focus {level} ?any1 .")
            conforming = _conforming(view, candidate, level, pattern)
            values = {**candidate.values, "level": level}
            arms.append(section(family, "arm", values, view, half=half, conforming=conforming))
    return section(family, "placebo", candidate.values, view, half=half, arms=list(arms))


def _conforming(
    view: View, candidate: Candidate, level: Term, pattern: Fragment, *, backwards: bool = False
) -> Fragment:
    if not isinstance(level, NamedNode):
        return Fragment("")
    path = of_predicate(level)
    path = Path("^", parts=(path,)) if backwards else path
    reading = view.read_as(candidate.family, candidate.values)
    by_shape = reading is None or not (reading.asks or view.constraint.shape is None)
    query = (
        conforms_with_path(view.constraint, view.graph, path, pattern)
        if reading is None or by_shape
        else reading.satisfied(path, pattern)
    )
    return Fragment(f"{{ {query.text} }}", query.prefixes)


FEW: Final = integer("fewLevels")
