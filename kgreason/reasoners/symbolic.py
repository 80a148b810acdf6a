"""The reasoner that needs no model: candidates from the data, tests from the families."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Final

from pyoxigraph import Literal, NamedNode

from kgreason.graph.names import Names
from kgreason.probes.finding import decimal
from kgreason.probes.sibling_spread import FEW
from kgreason.reasoners.candidates import Candidate, View, inside, section
from kgreason.reasoners.frames import Frame, jaccard
from kgreason.reasoners.openness import known_outside
from kgreason.store import Term
from kgreason.symptoms import Constraint, conforms_with_path
from kgreason.templates import Fragment, Template, Value, template
from kgreason.terms import TRAILS

_PLACEBOS: Final = 8
_TOLD_APART: Final = "stratification"
_AND: Final = " and "


@dataclass(frozen=True)
class Wording:
    """A hypothesis in words."""

    statement: str
    mechanism: str
    prediction: str


@dataclass(frozen=True)
class PlannedTest:
    """A test to be registered: its kind, the very query, and how each member stands to it.

    `members` gives the role (self, named, rival, none) and the overlap for each position in the
    frame; `tested` and `named` are positions. A rival of another frame is an `outsider`.
    """

    kind: str
    query: str
    half: str
    tested: int
    named: int | None = None
    members: Sequence[tuple[str, Decimal]] = field(default=())
    outsider: NamedNode | None = None


def wording(candidate: Candidate, names: Names, constraint: Constraint) -> Wording:
    """Put a candidate into words."""
    told: dict[str, str] = {name: names(term) for name, term in candidate.values.items()}
    if told.get("dimension") == told.get("level"):
        # Two properties of the same local name: only their full IRIs tell them apart.
        told |= {n: str(t) for n, t in candidate.values.items() if isinstance(t, NamedNode)}
    if candidate.parts:
        parts = [wording(part, names, constraint).statement for part in candidate.parts]
        ending = f" {_verb(constraint)}."
        clauses = [p.removesuffix(ending).removeprefix("Nodes ") for p in parts]
        told["parts"] = "Nodes " + ", and nodes ".join(clauses)
    return phrase(candidate.family, told, constraint)


def _verb(constraint: Constraint) -> str:
    """Say what a node with the bad outcome does: a user's own outcome need not be a failure."""
    return "have the outcome" if constraint.component == TRAILS.OutcomeQuery else "fail"


def phrase(family: Template, told: Mapping[str, str], constraint: Constraint) -> Wording:
    """Fill a family's sentences in."""
    verb = _verb(constraint)
    failures = "The failures" if verb == "fail" else "The nodes with the outcome"
    told = {**told, "fail": verb, "Failures": failures}

    def fill(key: str) -> str:
        text = family.header[key]
        for name, value in told.items():
            text = text.replace("{" + name + "}", value)
        return text

    return Wording(fill("statement"), fill("mechanism"), fill("prediction"))


def first_tests(view: View, frame: Frame) -> list[PlannedTest]:
    """Design the tests of every member; the catch-all has none of its own."""
    out = []
    for position, candidate in enumerate(frame.members):
        members = _roles(frame, position)
        split = view.split(candidate.family)
        for kind in candidate.family.header["tests"].split():
            query = _query(view, candidate, kind, split.heldout)
            if query is not None:
                out.append(PlannedTest(kind, query, split.scheme, position, None, members))
    return out


def _roles(frame: Frame, tested: int, named: int | None = None) -> list[tuple[str, Decimal]]:
    own = frame.members[tested]
    roles = []
    for position, member in enumerate(frame.members):
        if position == tested:
            roles.append(("self", Decimal(1)))
        elif position == named:
            roles.append(("named", decimal(jaccard(own, member))))
        else:
            roles.append(("rival", decimal(jaccard(own, member))))
    return [*roles, ("none", Decimal(0))]


def _query(view: View, candidate: Candidate, kind: str, half: NamedNode) -> str | None:
    """Render the query of a test, or give None where it has no meaning for this candidate."""
    kind_template = template("test", kind)
    offered: dict[str, Value] = {
        "symptom": view.marks.failing,
        "half": half,
        "region": inside(view, candidate.pattern),
    }
    split = view.split(candidate.family)
    offered["other"] = split.common or split.discovery
    if "passing" in kind_template.parameters:
        offered["passing"] = "exception" in candidate.family.sections
        if offered["passing"]:
            offered["region"] = section(candidate.family, "exception", candidate.values, view)
    if "levels" in kind_template.parameters:
        levels = _levels(view, candidate, half)
        if levels is None or not _several(view, levels):
            return None
        offered["levels"] = levels
    if "prediction" in kind_template.parameters:
        offered["prediction"] = _prediction(view, candidate, half)
    if "known" in kind_template.parameters:
        offered["known"], offered["complete"] = known_outside(view, candidate, half)
    if "body" in kind_template.parameters:
        offered["body"] = _placebo(view, candidate, half)
    return kind_template.render(**{k: offered[k] for k in kind_template.parameters})


def _levels(view: View, candidate: Candidate, half: NamedNode) -> Fragment | None:
    """Give the pattern of the sibling levels; of a conjunction these are pairs of levels."""
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
    """Say whether there are enough levels for a spread; a test that cannot tell is not made."""
    population = view.marks.population.mark
    text = template("observe", "few-levels").render(population=population, levels=levels)
    return len(list(view.graph.store.select(text))) >= FEW


def joint_level(candidate: Candidate) -> Literal | None:
    """Give the level of a conjunction among all pairs of levels, or None where there are none."""
    levels = [part.values.get("level") for part in candidate.parts]
    named = all(
        part.family.header.get("levels") == "nominal" and "levels" in part.family.sections
        for part in candidate.parts
    )
    if not named or any(level is None for level in levels):
        return None
    return Literal(_AND.join(level.value for level in levels if level is not None))


def _prediction(view: View, candidate: Candidate, half: NamedNode) -> Fragment:
    more: dict[str, Value] = {"half": half}
    if "conforming" in candidate.family.parameters:
        more["conforming"] = _conforming(
            view, candidate.values["level"], inside(view, candidate.pattern)
        )
    return section(candidate.family, "prediction", candidate.values, view, **more)


def _placebo(view: View, candidate: Candidate, half: NamedNode) -> Fragment:
    family = candidate.family
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
            conforming = _conforming(view, level, pattern)
            values = {**candidate.values, "level": level}
            arms.append(section(family, "arm", values, view, half=half, conforming=conforming))
    return section(family, "placebo", candidate.values, view, half=half, arms=list(arms))


def _conforming(view: View, level: Term, pattern: Fragment) -> Fragment:
    if not isinstance(level, NamedNode):
        return Fragment("")
    query = conforms_with_path(view.constraint, view.graph, level, pattern)
    return Fragment(f"{{ {query.text} }}", query.prefixes)


def telling_apart(
    view: View, regions: Sequence[Fragment], pairs: Sequence[tuple[int, int]]
) -> list[tuple[int, int, str, str]]:
    """Design stratification tests for pairs of members: (tested, rival, query, scheme)."""
    split = view.marks.node
    kind = template("test", _TOLD_APART)
    return [
        (
            tested,
            rival,
            kind.render(
                symptom=view.marks.failing,
                half=split.heldout,
                region=inside(view, regions[tested]),
                rival=inside(view, regions[rival]),
            ),
            split.scheme,
        )
        for tested, rival in pairs
    ]
