"""Repair options: which repairs fit a hypothesis, whether each can be made, and what it costs."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import pyoxigraph as ox

from kgreason.base.budget import ask
from kgreason.base.errors import QueryError, RunError
from kgreason.base.store import Row, Term
from kgreason.base.templates import Fragment, Value, template
from kgreason.base.terms import PROV
from kgreason.context.context import Context, mark_inside, pattern, view_of
from kgreason.context.symptom import Symptom
from kgreason.context.view import View, inside, members
from kgreason.graph.names import Names
from kgreason.hypothesize import bindings, several
from kgreason.record import Step
from kgreason.repair import new_class, unit_change
from kgreason.repair.catalogue import Cause, Repair, concept, repairs
from kgreason.repair.least import takes_least
from kgreason.repair.trial import CLAIMED, Feasibility, feasibility, infeasible, read_arms

MOST: Final = 1_000
"""Nodes on which an intervention is tried at most; drawn by a seeded digest of many."""
_ALL: Final = "g"  # above every hexadecimal figure
_FIGURES: Final = 16**6


@dataclass(frozen=True)
class Option:
    """A repair for a hypothesis, with the verdict on whether it can be made."""

    repair: Repair
    verdict: Feasibility


@dataclass(frozen=True)
class Claim:
    """A hypothesis as repairs see it: its row of `queries/record/repairable.rq`, and its view."""

    row: Row
    symptom: Symptom
    view: View

    @property
    def node(self) -> ox.NamedNode:
        """The hypothesis."""
        return ox.NamedNode(self.row["hypothesis"].value)

    @property
    def level(self) -> Term | None:
        """What it is about: a predicate, a class, a value, a form."""
        return self.row.get("level")

    @property
    def dimension(self) -> Term | None:
        """The property that it names, if any."""
        return self.row.get("dimension")

    @property
    def pattern(self) -> Fragment:
        """Its region on the scratch copy."""
        return pattern(self.row["pattern"].value)

    @property
    def cause(self) -> Cause:
        """What a repair needs to know of it."""
        kind = ox.NamedNode(self.row["kind"].value)
        text = self.row["bindings"].value
        levels, bound = several.of_bindings(text), bindings.terms_of(text)
        family = self.row["family"].value
        return Cause(family, kind, self.dimension, self.level, levels, bound)


def claims(
    context: Context, symptoms: Sequence[Symptom], only: frozenset[str] | None = None
) -> list[Claim]:
    """Return the hypotheses on some symptoms, by symptom and frame, the most likely first.

    `only` are the IRIs of those that are wanted; without it all are.
    """
    known = {symptom.node: symptom for symptom in symptoms}
    rows = [r for r in context.record.select("repairable") if r["symptom"] in known]
    if only is not None:
        rows = [r for r in rows if r["hypothesis"].value in only]
    out = []
    for row in rows:
        symptom = known[ox.NamedNode(row["symptom"].value)]
        out.append(Claim(row, symptom, view_of(context, symptom, int(row["round"].value))))
    return out


def options(
    context: Context, claim: Claim, most: int | None = None, imported: Sequence[ox.Quad] = ()
) -> list[Option]:
    """Return the repairs that fit a hypothesis, each with whether it can be made.

    With `most`, that many claimed nodes are looked at, drawn by lot. `imported` are quads of
    another source. A repair of the shapes is left to `kgreason repair`. Raises Spent where the
    budget is spent.
    """
    found = repairs(claim.cause, claim.symptom.constraint, context.graph, imported)
    return [Option(one, _verdict(context, claim, one, most)) for one in found if one.mends_data]


def _verdict(context: Context, claim: Claim, repair: Repair, most: int | None) -> Feasibility:
    ask(context.budget, f"repair {repair.name}")
    try:
        text = query(context, claim, repair, None, most, placebo=False)
        rows = repair.select(context.graph, text)
    except (QueryError, RunError) as error:
        return infeasible(str(error).partition("\n")[0])
    _, arms = read_arms(context.graph, rows)
    found = feasibility(arms.get(CLAIMED))
    if found.feasible:
        patch = arms[CLAIMED].patch
        units = unit_change.caution(context.graph, claim.view, patch, context.names)
        classes = new_class.caution(context.graph, patch, context.names)
        warned = " ".join(filter(None, (units, classes))) or None
        found = replace(found, caution=warned)
    if found.feasible and takes_least(repair.template):
        return replace(found, why=f"{found.why} Only as much of it is made as mends.")
    return found


def query(
    context: Context,
    claim: Claim,
    repair: Repair,
    rival: Fragment | None,
    most: int | None,
    *,
    placebo: bool = True,
) -> str:
    """Return the query of an intervention: what a repair would change, arm by arm.

    `rival` is the region of a rival. With `most`, arms have about as many nodes at most.
    """
    kind = template("test", "intervention")
    view = claim.view
    mark_inside(context, view, claim.pattern)
    nodes = members(view, claim.pattern) & view.marks.failing_mask
    size = nodes.bit_count()
    taken = size if most is None else min(most, size)
    given: dict[str, Value] = {
        "symptom": view.marks.failing,
        "population": view.marks.population.mark,
        "region": inside(view, claim.pattern),
        "seed": ox.Literal(f"{context.seed}"),
    }
    drawn = {"claimed": _below(taken, size)}
    if placebo:
        outside = view.marks.population.everyone & ~members(view, claim.pattern)
        drawn["random"] = _below(taken, outside.bit_count())
        if rival is not None:
            mark_inside(context, view, rival)
            given["rival"] = inside(view, rival)
            apart = members(view, rival) & outside & view.marks.failing_mask
            drawn["rival"] = _below(taken, apart.bit_count())
    arms: list[ox.NamedNode | ox.Literal | Fragment] = []
    for arm, below in drawn.items():
        wanted = {n: v for n, v in given.items() if n in _USED[arm]}
        arms += repair.rows(arm, kind.fragment(arm, **wanted, below=ox.Literal(below)))
    return kind.render("rows", arms=arms)


_USED: Final = {
    "claimed": {"symptom", "region", "seed"},
    "random": {"population", "region", "seed"},
    "rival": {"symptom", "region", "rival", "seed"},
}


def _below(wanted: int, size: int) -> str:
    """Return the figures of a digest below which about `wanted` of `size` nodes are."""
    if wanted >= size:
        return _ALL
    return f"{_FIGURES * wanted // size:06x}"


def describe_option(
    step: Step, claim: Claim, repair: Repair, verdict: Feasibility, names: Names
) -> ox.NamedNode:
    """Write an option into a step, feasible or not; `names` are those that people read."""
    return step.make(
        "RepairOption",
        PROV.Entity,
        hypothesis=claim.node,
        repair=repair.name,
        instruction=repair.instruction(names),
        regionKind=concept("RegionKindScheme", repair.region),
        operation=concept("OperationScheme", repair.operation),
        mends="data" if repair.mends_data else "shapes",
        feasible=verdict.feasible,
        changes=verdict.changes,
        obstacles=verdict.obstacles,
        reason=verdict.why,
        caution=verdict.caution,
    )
