"""Targets: which nodes a shape looks at."""

from collections.abc import Iterable
from dataclasses import dataclass, field

import pyoxigraph as ox

from kgreason.base.store import Term
from kgreason.base.templates import Fragment, template
from kgreason.base.terms import SH, TYPE
from kgreason.shacl.components import ROLE
from kgreason.shacl.paths import IllFormedError, Path, checked_iri, of_predicate
from kgreason.shacl.prebinding import Select, read_select
from kgreason.shacl.shapes import Node, Shapes
from kgreason.shacl.superclasses import Superclasses
from kgreason.shacl.values import Exact, Variables, bind_values, check_start
from kgreason.shacl.written_forms import as_written


@dataclass(frozen=True)
class Target:
    """Where focus nodes come from.

    `kind` is class, node, subjects, objects, sparql, union (of `parts`) or walk (from `parts[0]`
    along `path`). `subclasses` says whether the graph has subclasses of the class.
    """

    kind: str
    terms: tuple[Term, ...] = ()
    parts: tuple["Target", ...] = ()
    path: Path | None = None
    select: Select | None = field(default=None, compare=False)
    subclasses: bool = False

    @property
    def once(self) -> bool:
        """Whether the pattern gives each node once."""
        return self.kind in {"node", "sparql"} or (self.kind == "class" and not self.subclasses)

    @property
    def of_user(self) -> bool:
        """Whether it holds a query of the shapes' author."""
        return self.kind == "sparql" or any(part.of_user for part in self.parts)

    @property
    def may_be_literal(self) -> bool:
        """Whether a focus node may be a literal."""
        if self.kind == "node":
            return any(isinstance(term, ox.Literal) for term in self.terms)
        if self.kind == "union":
            return any(part.may_be_literal for part in self.parts)
        return self.kind not in {"class", "subjects"}

    def absent(self, exact: Exact) -> bool:
        """Check whether a focus node may be none of the graph's."""
        if self.kind == "node":
            return not all(exact.holds(term) for term in self.terms)
        return any(part.absent(exact) for part in self.parts)

    def marked(self, exact: Exact) -> bool:
        """Check whether focus nodes may be literals that carry a mark."""
        if self.kind == "node":
            return exact.unstable(list(self.terms))
        if self.kind in {"objects", "walk"} and self.path is not None:
            return exact.concerns(self.path)
        # Every part must be marked alike, or equal literals would count twice.
        return any(part.marked(exact) for part in self.parts)

    def pattern(
        self, focus: Fragment, variables: Variables, exact: Exact, *, marked: bool | None = None
    ) -> Fragment:
        """Return the pattern that binds `focus`; it may give a node several times."""
        if self.kind == "class":
            return template(ROLE, "target-class").fragment(
                focus=focus, given=_iri(self.terms[0]), subclasses=self.subclasses
            )
        if self.kind == "node":
            marked = self.marked(exact) if marked is None else marked
            nodes = exact.candidates(list(self.terms), marked=marked)
            return template(ROLE, "target-node").fragment(focus=focus, given=list(nodes))
        if self.kind == "subjects":
            return template(ROLE, "target-subjects-of").fragment(
                focus=focus, given=_iri(self.terms[0]), any=variables.new()
            )
        if self.kind == "objects" and self.path is not None:
            return template(ROLE, "target-objects-of").fragment(
                values=bind_values(self.path, variables.new(), focus, variables, exact)
            )
        return self._made_of_others(focus, variables, exact, marked=marked)

    def _made_of_others(
        self, focus: Fragment, variables: Variables, exact: Exact, *, marked: bool | None
    ) -> Fragment:
        if self.select is not None:
            given = self.select
            query = exact.asked(
                given,
                lambda formed: as_written(given, formed, gives_focus=True, beyond=exact.beyond),
            )
            return query.as_target(focus)
        if self.path is not None:
            start = variables.new()
            check_start(self.path, marked=self.parts[0].marked(exact))
            base = self.parts[0].distinct(start, variables, exact)
            around = base if self.parts[0].absent(exact) else None
            return template(ROLE, "target-walk").fragment(
                base=base,
                values=bind_values(self.path, start, focus, variables, exact, around=around),
            )
        marked = self.marked(exact) or marked
        parts = [
            part.pattern(focus, variables, exact, marked=marked or None) for part in self.parts
        ]
        return template(ROLE, "target-union").fragment(parts=list(parts))

    def distinct(self, focus: Fragment, variables: Variables, exact: Exact) -> Fragment:
        """Return the pattern that binds `focus` to each node once."""
        pattern = self.pattern(focus, variables, exact)
        if self.once:
            return pattern
        return template(ROLE, "target-once").fragment(focus=focus, pattern=pattern)


def _iri(term: Term) -> ox.NamedNode:
    if not isinstance(term, ox.NamedNode):
        raise TypeError(term)
    return term


def union(targets: Iterable[Target]) -> Target:
    """Return one target for several."""
    distinct = list(dict.fromkeys(targets))
    if len(distinct) == 1:
        return distinct[0]
    nodes = [target for target in distinct if target.kind == "node"]
    if len(nodes) > 1:
        terms = tuple(dict.fromkeys(term for target in nodes for term in target.terms))
        distinct = [t for t in distinct if t.kind != "node"] + [Target("node", terms)]
    return distinct[0] if len(distinct) == 1 else Target("union", parts=tuple(distinct))


def read_targets(
    shapes: Shapes, shape: Node, superclasses: Superclasses, classes: frozenset[Term]
) -> tuple[list[Target], list[str]]:
    """Return the targets that a shape declares, and what is wrong with those that mean nothing."""
    found: list[Target] = []
    wrong: list[str] = []

    def add(value: Term, kind: str, name: str) -> None:
        try:
            found.append(_one(shapes, value, kind, name, superclasses))
        except IllFormedError as error:
            wrong.append(str(error))

    for value in shapes.objects(shape, SH.targetClass):
        add(value, "class", "sh:targetClass")
    if isinstance(shape, ox.NamedNode) and classes & set(shapes.objects(shape, TYPE)):
        add(shape, "class", "the shape")
    for value in shapes.objects(shape, SH.targetNode):
        add(value, "node", "sh:targetNode")
    for value in shapes.objects(shape, SH.targetSubjectsOf):
        add(value, "subjects", "sh:targetSubjectsOf")
    for value in shapes.objects(shape, SH.targetObjectsOf):
        add(value, "objects", "sh:targetObjectsOf")
    for value in shapes.objects(shape, SH.target):
        add(value, "sparql", "sh:target")
    return found, wrong


def _one(shapes: Shapes, value: Term, kind: str, name: str, superclasses: Superclasses) -> Target:
    if kind == "sparql":
        return Target("sparql", (value,), select=read_select(shapes, *_target_query(shapes, value)))
    if kind == "node":
        if isinstance(value, ox.BlankNode):
            raise IllFormedError("sh:targetNode is a blank node, which no query can ask for")
        if isinstance(value, ox.NamedNode):
            checked_iri(shapes, value, name)
        return Target("node", (value,))
    iri = checked_iri(shapes, value, name)
    if kind == "class":
        return Target("class", (iri,), subclasses=iri in superclasses)
    return Target(kind, (iri,), path=of_predicate(iri) if kind == "objects" else None)


def _target_query(shapes: Shapes, value: Term) -> tuple[Node, dict[str, Term]]:
    """Return the node that has the sh:select of a target, and the parameters of its target type."""
    if isinstance(value, ox.Literal):
        raise IllFormedError(f"sh:target is the literal {value}")
    if shapes.objects(value, SH.select):
        return value, {}
    for kind in shapes.nodes(value, TYPE):
        if shapes.objects(kind, SH.select):
            bindings: dict[str, Term] = {}
            for parameter in shapes.nodes(kind, SH.parameter):
                path = shapes.one(parameter, SH.path)
                given = shapes.objects(value, path) if isinstance(path, ox.NamedNode) else ()
                if len(given) == 1 and isinstance(path, ox.NamedNode):
                    bindings[_local(path)] = given[0]
            return kind, bindings
    raise IllFormedError("sh:target has no sh:select, nor has its type")


def _local(iri: ox.NamedNode) -> str:
    for separator in ("#", "/", ":"):
        head, found, tail = iri.value.rpartition(separator)
        if found and head:
            return tail
    return iri.value
