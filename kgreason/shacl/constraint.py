"""What the compiler makes: constraints as queries, and what is observed with them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property
from typing import NamedTuple

import pyoxigraph as ox

from kgreason.base.store import Term
from kgreason.base.templates import Fragment, template
from kgreason.base.terms import TRAILS
from kgreason.graph import Graph
from kgreason.shacl.components import ROLE
from kgreason.shacl.paths import Path
from kgreason.shacl.readings import Reading
from kgreason.shacl.shapes import Node, Shapes
from kgreason.shacl.targets import Target


@dataclass(frozen=True)
class Texts:
    """A target and a violation that fit each other.

    `target` binds ?focus to each node of the population once. `violation` has a solution where the
    bound ?focus fails, with ?value where a value is at fault. `whole` says that the violation holds
    the target already.
    """

    target: Fragment
    violation: Fragment
    whole: bool = False
    gives_path: bool = False


@dataclass(frozen=True)
class Constraint:
    """One constraint of one shape, as queries.

    `key` is the same at every reading of the same shapes. `population` is the number of focus nodes
    in the graph it was compiled for, or None where that is not known. `exact` are the texts for the
    embedded store, which read literals as they were written from the graph of forms; `portable`
    those for any other SPARQL 1.1 engine with the data merged (the same where forms do not matter).
    `guarded` says that a text of the shapes' author is in it, which has to run with a time limit.
    `rule` are the exact texts as compiled, where `exact` and `portable` only list who is told to
    fail. `axiom` is the OWL term that states it, where it is no shape that does; `named_shape` then
    is the property or class it is said of, and `peers` gives all axioms of its files on a graph.
    `numbers` are those of a numeric outcome by focus node, the greatest of each. `readings` are
    what a query of an author asks, as constraints say it. `asked` are the texts that an endpoint
    was asked, where `exact` and `portable` list who is looked at and who fails on an extract of it.
    `spoken` are the IRIs and texts that an outcome query names of those that fail, None where that
    is not known; `needed` those properties of which a node needs a value to have the outcome, where
    its readings do not say so. `matched` are pairs of paths whose ends an outcome query holds
    against each other. `inner` bind ?broken and ?rule to what breaks rules of an inner
    shape, one pattern each, where values are known to break them.
    """

    key: str
    shape: Node | None
    named_shape: ox.NamedNode | None
    component: ox.NamedNode
    path: Path | None
    severity: ox.NamedNode | None
    message: str | None
    parameters: Mapping[ox.NamedNode, tuple[Term, ...]]
    exact: Texts
    portable: Texts
    population: int | None = None
    guarded: bool = False
    source: Node | None = None  # the node of a sh:sparql constraint
    at: ox.Literal | None = None  # where the numbers of an outcome query are cut
    cut_bits: Decimal | None = None  # what the two groups on both sides of the cut save
    torn: int = 0  # nodes for which an outcome query gives true and false
    rule: Texts | None = None
    title: str | None = None  # the sh:name of its shape
    shapes: Shapes | None = field(default=None, repr=False, compare=False)
    aim: Target | None = field(default=None, repr=False, compare=False)
    axiom: ox.NamedNode | None = None
    numbers: Mapping[Term, Decimal] = field(default_factory=dict, repr=False, compare=False)
    peers: "Callable[[Graph], tuple[Constraint, ...]] | None" = field(
        default=None, repr=False, compare=False
    )
    readings: tuple[Reading, ...] = field(default=(), repr=False, compare=False)
    asked: Texts | None = None
    spoken: frozenset[str] | None = None
    needed: tuple[ox.NamedNode, ...] = ()
    matched: frozenset[frozenset[Path]] = frozenset()
    inner: tuple[Fragment, ...] = field(default=(), repr=False, compare=False)

    @property
    def target(self) -> Fragment:
        """The pattern that binds ?focus to each node of the population once."""
        return self.exact.target

    @property
    def focus_class(self) -> ox.NamedNode | None:
        """The class whose instances are looked at, where the target is that one class."""
        aim = self.aim
        if aim is None or aim.kind != "class" or not isinstance(aim.terms[0], ox.NamedNode):
            return None
        return aim.terms[0]

    @property
    def violation(self) -> Fragment:
        """The pattern that has a solution where the bound ?focus fails, as the shape has it."""
        return (self.rule or self.exact).violation

    @property
    def is_listed(self) -> bool:
        """Whether the pattern only lists who fails, and by which values: no text of a rule."""
        return self.aim is None and self.component != TRAILS.OutcomeQuery

    @cached_property
    def population_query(self) -> str:
        """A SELECT of ?n, the number of focus nodes."""
        return template(ROLE, "population").render(target=self.exact.target)

    @cached_property
    def failing_query(self) -> str:
        """A SELECT of ?focus and ?value (and ?path) for all that fails, for the embedded store."""
        return template(ROLE, "failing").render(
            target=Fragment("") if self.exact.whole else self.exact.target,
            violation=self.exact.violation,
            paths=self.exact.gives_path,
        )

    @cached_property
    def checking_query(self) -> str:
        """As `failing_query`, but for data that were changed: nothing is taken from elsewhere."""
        if self.rule is None:
            return self.failing_query
        return replace(self, exact=self.rule, rule=None).failing_query

    @cached_property
    def outcome_query(self) -> str:
        """A SELECT of ?focus and ?outcome over the population, for any SPARQL 1.1 engine."""
        return template(ROLE, "outcome").render(
            target=self.portable.target, violation=self.portable.violation
        )

    @property
    def label(self) -> str:
        """What a notice calls it."""
        return label(self)


class Result(NamedTuple):
    """One thing that fails: the focus node, the value at fault, the property where it differs."""

    focus: Term
    value: Term | None
    path: Term | None


@dataclass(frozen=True)
class Observation:
    """What a constraint found: `failing` maps each failing focus node to its values at fault.

    `population` is the number of focus nodes, None where it is not known (a validation report
    without its shapes). All terms are just as they were written.
    """

    population: int | None
    failing: Mapping[Term, tuple[Term, ...]]
    results: tuple[Result, ...] = field(default=(), repr=False)


@dataclass(frozen=True)
class Fallback:
    """A constraint that is left to pySHACL, and why.

    `roots` are the shapes with targets from which its shape is reached; `portable` is the target as
    any other engine may be asked, where that differs.
    """

    key: str
    shape: Node
    named_shape: ox.NamedNode | None
    component: ox.NamedNode
    path: Path | None
    severity: ox.NamedNode | None
    message: str | None
    parameters: Mapping[ox.NamedNode, tuple[Term, ...]]
    roots: tuple[Node, ...]
    target: Fragment | None
    population: int | None
    reason: str
    source: Node | None = None
    portable: Fragment | None = None
    title: str | None = None


def label(entry: Constraint | Fallback) -> str:
    """Return what a notice calls a constraint."""
    name = entry.component.value.rpartition("#")[2].removesuffix("ConstraintComponent")
    if entry.shape is None:
        return name
    shape = f"<{entry.named_shape.value}>" if entry.named_shape else "a shape without a name"
    where = f" at {entry.path.text}" if entry.path else ""
    return f"{name}{where} in {shape}"


@dataclass(frozen=True)
class Compiled:
    """Constraints that run as queries, those left to pySHACL, and what there is to say.

    `ill_formed` are those of the notices that tell of shapes or parameters without a meaning;
    `empty` counts the constraints without a node to look at, `unmet` are their targets. `reported`
    is what a validation report says of constraints, by their keys.
    """

    constraints: tuple[Constraint, ...]
    fallback: tuple[Fallback, ...]
    notices: list[str]
    shapes: Shapes | None = field(default=None, repr=False)
    ill_formed: tuple[str, ...] = ()
    empty: int = 0
    unmet: tuple[Target, ...] = ()
    reported: Mapping[str, Observation] = field(default_factory=dict, repr=False)
