"""Try a repair: what it mends at the claimed nodes, what it breaks, and what it does elsewhere."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import pyoxigraph as ox

from kgreason.base.store import Row, Term
from kgreason.base.templates import template
from kgreason.base.terms import SH, TRAILS
from kgreason.graph import Graph
from kgreason.repair.least import least, takes_least
from kgreason.repair.patch import Patch, read_changes
from kgreason.repair.scope import Scope, outside
from kgreason.repair.validation import Effect, Violation, effect, fingerprint
from kgreason.shacl import Constraint

CLAIMED: Final = "claimed"
NOTHING: Final = "It would change nothing at the claimed nodes."
_FEASIBLE: Final = 0.95
_PATHLESS: Final = frozenset(
    {
        SH[f"{name}ConstraintComponent"]
        for name in ("Closed", "SPARQL", "Xone", "Or", "And", "Not", "Node")
    }
) | {TRAILS.OutcomeQuery}
"""Rules without a path, whose text names the properties that they are about."""


@dataclass(frozen=True)
class Arm:
    """The nodes of one arm, what stands in the way of some, and the changes at the others."""

    nodes: tuple[Term, ...]
    obstacles: Mapping[Term, str]
    patch: Patch


@dataclass(frozen=True)
class Feasibility:
    """Whether a repair can be made at (nearly) all claimed nodes, what it costs, and why not.

    `patch` is the digest of what it would change, `caution` what to look at before it is applied.
    """

    feasible: bool
    changes: int
    obstacles: int
    why: str
    patch: str = ""
    caution: str | None = None


@dataclass(frozen=True)
class Trial:
    """What a repair did; `figures` are by the name of their trails property.

    `removed`, `left` and `caused` are violations; `strays` are quads that were changed outside what
    the repair declares.
    """

    repair: str
    patch: Patch
    figures: Mapping[str, int]
    before: str
    after: str
    removed: frozenset[Violation] = field(repr=False, default=frozenset())
    left: frozenset[Violation] = field(repr=False, default=frozenset())
    caused: frozenset[Violation] = field(repr=False, default=frozenset())
    strays: tuple[ox.Quad, ...] = ()
    unchecked: tuple[str, ...] = ()


def read_arms(graph: Graph, rows: Iterable[Row]) -> tuple[str, dict[str, Arm]]:
    """Sort the rows of `queries/test/intervention.rq` by arm; gives the name of the repair too.

    Nodes with an obstacle are left as they are.
    """
    name = ""
    by_arm: dict[str, list[Row]] = {}
    for row in rows:
        name = row["repair"].value
        by_arm.setdefault(row["arm"].value, []).append(row)
    return name, {arm: _arm(graph, found) for arm, found in by_arm.items()}


def _arm(graph: Graph, rows: Sequence[Row]) -> Arm:
    nodes = dict.fromkeys(r["focus"] for r in rows if r["change"].value == "node")
    obstacles = {r["focus"]: r["object"].value for r in rows if r["change"].value == "obstacle"}
    patch = read_changes(graph, (r for r in rows if r["focus"] not in obstacles))
    return Arm(tuple(sorted(nodes, key=str)), obstacles, patch)


def feasibility(arm: Arm | None) -> Feasibility:
    """Check whether a repair can be made at 95 % of claimed nodes, and would change anything."""
    if arm is None or not arm.nodes:
        return infeasible("No claimed node is left to mend.")
    stuck, all_ = len(arm.obstacles), len(arm.nodes)
    if (all_ - stuck) < _FEASIBLE * all_:
        why = min(set(arm.obstacles.values()))
        said = f"{stuck} of {all_} claimed nodes cannot be mended so: {why}."
        return infeasible(said, len(arm.patch), stuck)
    if not len(arm.patch):
        return infeasible(NOTHING, 0, stuck)
    said = f"It can be made at {all_ - stuck} of {all_} claimed nodes."
    return Feasibility(
        feasible=True, changes=len(arm.patch), obstacles=stuck, why=said, patch=arm.patch.digest
    )


def infeasible(why: str, changes: int = 0, obstacles: int = 0) -> Feasibility:
    """Return the verdict that a repair cannot be made, and why."""
    return Feasibility(feasible=False, changes=changes, obstacles=obstacles, why=why)


def trial(
    graph: Graph,
    constraint: Constraint,
    rows: Iterable[Row],
    level: Term | None,
    dimension: Term | None = None,
    *,
    seconds: float = 60.0,
) -> Trial:
    """Make the changes of each arm on the scratch copy, validate, and put it back.

    Where the repair would break something at up to 5 % of the claimed nodes, those are spared: they
    stay as they are, and what they violate is left. Of a repair that takes the least, only that is
    made at the claimed nodes. `level` is what the hypothesis is about, `dimension` the property
    that it names.
    Figures: violations of the symptom at the claimed nodes before (claimed), gone (holds), newly
    caused of any constraint, changes outside the scope, and what is cleared at placebo nodes.
    """
    name, arms = read_arms(graph, rows)
    claimed = arms.pop(CLAIMED, Arm((), {}, Patch(())))
    if name and takes_least(template("repair", name)):
        small = least(graph, constraint, claimed.patch, claimed.nodes, seconds=seconds)
        claimed = replace(claimed, patch=small)
    done = effect(graph, constraint, claimed.patch, claimed.nodes, seconds=seconds)
    spared = _harmed(claimed, done.caused)
    if 0 < len(spared) <= (1 - _FEASIBLE) * len(claimed.nodes):
        claimed = replace(claimed, patch=_without(claimed.patch, spared))
        done = effect(graph, constraint, claimed.patch, claimed.nodes, seconds=seconds)
    else:
        spared = frozenset()
    mine = _of(done.before, constraint, claimed.nodes)
    left = mine & done.after
    tried = cleared = 0
    for arm in arms.values():
        found, gone = _placebo(graph, constraint, arm, seconds)
        tried, cleared = tried + found, cleared + gone
    about = (level, dimension)
    strays = outside(graph, _scope(name, constraint, claimed, *about), done.made) if name else []
    figures = {
        "claimed": len(mine),
        "holds": len(mine - left),
        "violationsCaused": len(done.caused),
        "alsoRemoved": len(done.before - done.after - mine),
        "touchedOutside": len(strays),
        "placeboTried": tried,
        "placeboCleared": cleared,
        "changes": len(claimed.patch),
        "nodesChanged": len(_changed(claimed)),
        "unchecked": len(done.unchecked),
        "spared": len(spared),
    }
    before, after = fingerprint(done.before), fingerprint(done.after)
    return Trial(
        name,
        claimed.patch,
        figures,
        before,
        after,
        mine - left,
        left,
        done.caused,
        tuple(strays),
        done.unchecked,
    )


def _changed(arm: Arm) -> set[Term]:
    """Return the nodes of an arm that are changed, or that something is changed for."""
    changes = arm.patch.changes
    return {c.focus for c in changes} | ({c.subject for c in changes} & set(arm.nodes))


def _harmed(arm: Arm, caused: Iterable[Violation]) -> frozenset[Term]:
    """Return nodes at which a change broke something; none where it broke anything elsewhere."""
    by_node: dict[Term, set[Term]] = {}
    for change in arm.patch.changes:
        for node in (change.focus, change.subject):
            by_node.setdefault(node, set()).add(change.focus)
    out: set[Term] = set()
    for violation in caused:
        if violation.focus not in by_node:
            return frozenset()
        out |= by_node[violation.focus]
    return frozenset(out)


def _without(patch: Patch, spared: frozenset[Term]) -> Patch:
    return Patch(tuple(c for c in patch.changes if c.focus not in spared))


def _of(found: Iterable[Violation], own: Constraint, nodes: Iterable[Term]) -> frozenset[Violation]:
    here = set(nodes)
    return frozenset(v for v in found if v.key == own.key and v.focus in here)


def _placebo(graph: Graph, own: Constraint, arm: Arm, seconds: float) -> tuple[int, int]:
    """Return the violations at the nodes of an arm, and how many of them the repair clears.

    Those it causes are taken off: what breaks more than it mends is no repair there.
    """
    done: Effect = effect(graph, own, arm.patch, arm.nodes, seconds=seconds)
    mine = _of(done.before, own, arm.nodes)
    return len(mine), max(0, len(mine - done.after) - len(done.caused))


def _scope(
    name: str, constraint: Constraint, arm: Arm, level: Term | None, dimension: Term | None
) -> Scope:
    """Return what a repair declares: of the property it is given, else of the constrained one."""
    repair, path = template("repair", name), constraint.path
    region, operation = repair.header["region"], repair.header["operation"]
    if "dimension" in repair.parameters and isinstance(dimension, ox.NamedNode):
        predicate: ox.NamedNode | None = dimension
    else:
        predicate = path.predicate if path is not None else _listed(constraint, arm.patch)
    return Scope(region, operation, frozenset(arm.nodes), predicate, level)


def _listed(constraint: Constraint, patch: Patch) -> ox.NamedNode | None:
    """Return the one property that all additions have, where the rule lists it or asks about it."""
    added = {change.predicate for change in patch.changes if change.adds}
    if len(added) != 1 or constraint.component not in _PATHLESS:
        return None
    (predicate,) = added
    return predicate if str(predicate) in constraint.violation.text else None
