"""Compile a shapes graph: every constraint that a target reaches becomes a set of queries."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyoxigraph as ox

from kgreason.errors import ShapesError
from kgreason.graph import Graph
from kgreason.store import Term
from kgreason.symptoms.components import Component
from kgreason.symptoms.model import Compiled, Constraint, Fallback, Texts, label
from kgreason.symptoms.paths import IllFormedError, Path
from kgreason.symptoms.population import Populations
from kgreason.symptoms.scope import Context, Scope, about, custom, parts, shape_path
from kgreason.symptoms.shapes import TARGETS, Node, Shapes, key_of
from kgreason.symptoms.superclasses import Superclasses
from kgreason.symptoms.targets import Target, read_targets, union
from kgreason.symptoms.values import Exact, NotCompilableError, Variables
from kgreason.templates import Fragment
from kgreason.terms import SH, TYPE

_FOCUS = Fragment("?focus")
_VALUE = Fragment("?value")


@dataclass
class _Reached:
    """A shape, its path, and the targets from which sh:property leads to it."""

    shape: Node
    path: Path | None
    targets: list[Target] = field(default_factory=list)
    roots: list[Node] = field(default_factory=list)


def compile_shapes(
    shapes: Shapes,
    graph: Graph,
    *,
    severity: ox.NamedNode | None = None,
    only: str | None = None,
    seconds: float = 60.0,
) -> Compiled:
    """Compile every constraint that has nodes to look at.

    `severity` keeps the constraints of that severity; `only` those whose shape, or path in SPARQL,
    is the text given (an IRI with or without angle brackets). `seconds` limits a query of a
    sh:target. Raises ShapesError if `only` fits nothing, or no shape of all can be used.
    """
    return _Compiler(shapes, graph, seconds).run(severity, only)


class _Compiler:
    def __init__(self, shapes: Shapes, graph: Graph, seconds: float) -> None:
        self.shapes, self.graph = shapes, graph
        self.notices: list[str] = list(shapes.notices)
        self.passed_over: list[str] = []
        self.superclasses = Superclasses(graph.store)
        self.populations = Populations(graph, seconds)
        self.reached: dict[Node, _Reached] = {}

    def run(self, severity: ox.NamedNode | None, only: str | None) -> Compiled:
        self._reach_all()
        made: list[Constraint | Fallback] = []
        for reached in self.reached.values():
            if severity is None or self._severity(reached.shape) == severity:
                made += self._constraints(reached, only)
        if only is not None and not made:
            raise ShapesError(
                f"No constraint belongs to {only}; give the IRI of a shape or of a property."
            )
        if not made and self.passed_over:
            raise ShapesError(
                f"{', '.join(self.shapes.files)}: no shape can be used. {self.passed_over[0]}"
            )
        kept = {entry.key: entry for entry in made}
        empty = [entry for entry in kept.values() if entry.population == 0]
        used = [entry for entry in kept.values() if entry.population != 0]
        if empty:
            shapes = {str(e.named_shape or e.shape) for e in empty}
            self.notices.append(
                f"{len(empty)} constraints of {len(shapes)} shapes have no node to look at: "
                f"{', '.join(sorted(shapes)[:3])}{' …' if len(shapes) > 3 else ''}."  # noqa: PLR2004
            )
        fallback = tuple(entry for entry in used if isinstance(entry, Fallback))
        self.notices += [
            f"{label(entry)}: {entry.reason}, so pySHACL checks it." for entry in fallback
        ]
        return Compiled(
            tuple(entry for entry in used if isinstance(entry, Constraint)),
            fallback,
            list(dict.fromkeys(self.notices)),
            self.shapes,
        )

    def _reach_all(self) -> None:
        classes = self.shapes.classes()
        roots = 0
        for shape in self._candidates():
            targets, wrong = read_targets(self.shapes, shape, self.superclasses, classes)
            for what in wrong:
                self._pass_over(shape, what)
            if targets:
                roots += 1
                self._reach(shape, union(targets), shape, ())
        if not roots:
            self.notices.append(
                f"{', '.join(self.shapes.files)}: no shape has a target, so nothing is checked."
            )
        self._untargeted()

    def _candidates(self) -> Iterator[Node]:
        """Give all subjects that may be shapes: with targets, or said to be shapes or classes."""
        for node, described in self.shapes.index.items():
            if any(target in described for target in TARGETS) or any(
                predicate in SH for predicate in described
            ):
                yield node

    def _untargeted(self) -> None:
        """Tell of shapes that no target reaches and no other shape uses."""
        lost = [
            node
            for node in self.shapes.index
            if node not in self.reached
            and not self.shapes.parents(node)
            and not self.shapes.is_true(node, SH.deactivated)
            and {SH.NodeShape, SH.PropertyShape} & set(self.shapes.objects(node, TYPE))
            and not any(t in self.shapes.index[node] for t in TARGETS)
        ]
        for node in lost[:5]:
            self.notices.append(f"{node}: the shape has no target and no other shape uses it.")

    def _reach(self, shape: Node, target: Target, root: Node, above: tuple[Node, ...]) -> None:
        if self.shapes.is_true(shape, SH.deactivated):
            return
        if shape in above:
            self._pass_over(shape, "sh:property leads back to the shape")
            return
        try:
            path = shape_path(self.shapes, shape)
        except IllFormedError as error:
            self._pass_over(shape, str(error))
            return
        entry = self.reached.setdefault(shape, _Reached(shape, path))
        if target in entry.targets:
            return
        entry.targets.append(target)
        entry.roots.append(root)
        inner = target if path is None else Target("walk", parts=(target,), path=path)
        for child in self.shapes.objects(shape, SH.property):
            if isinstance(child, ox.Literal) or not self.shapes.is_property_shape(child):
                what = f"sh:property leads to {child}, which is no property shape"
                self._pass_over(shape, what)
            else:
                self._reach(child, inner, root, (*above, shape))

    def _constraints(self, reached: _Reached, only: str | None) -> Iterator[Constraint | Fallback]:
        context = self._context(Exact(self.graph.formed), ())
        if not self._fits(reached, only):
            return
        found = parts(context, reached.shape)
        self._pass_over_all(context)
        for iri, parameters in custom(self.shapes, reached.shape):
            yield self._custom(reached, iri, parameters)
        for component, given in found:
            if component.parameter != SH.property:
                made = self._constraint(reached, component, given)
                if made is not None:
                    yield made

    def _context(self, exact: Exact, shapes: tuple[Node, ...]) -> Context:
        return Context(self.shapes, exact, self.graph.formed, self.superclasses, open=shapes)

    def _fits(self, reached: _Reached, only: str | None) -> bool:
        if only is None:
            return True
        wanted = only.strip().removeprefix("<").removesuffix(">")
        named = self.shapes.named(reached.shape)
        path = reached.path.text if reached.path else ""
        return wanted in {getattr(named, "value", ""), path, path[1:-1]} or only == path

    def _constraint(
        self, reached: _Reached, component: Component, given: Term
    ) -> Constraint | Fallback | None:
        target = union(reached.targets)
        described = self._described(reached, component, given)
        bound: Fragment | None = None
        try:
            population, bound = self._population(target)
            exact, context = self._texts(reached, component, given, target, portable=False)
            portable, _ = (
                self._texts(reached, component, given, target, portable=True)
                if context.exact.used
                else (exact, context)
            )
        except IllFormedError as error:
            self._pass_over(reached.shape, str(error))
            return None
        except NotCompilableError as error:
            return Fallback(
                **described,
                roots=tuple(dict.fromkeys(reached.roots)),
                target=bound,
                population=population if bound is not None else None,
                reason=str(error),
            )
        self._pass_over_all(context)
        return Constraint(
            **described,
            exact=exact,
            portable=portable,
            population=population,
            guarded=context.guarded or target.of_user,
            shapes=self.shapes,
            aim=target,
        )

    def _custom(
        self, reached: _Reached, iri: ox.NamedNode, parameters: list[ox.NamedNode]
    ) -> Fallback:
        population, bound = self._population(union(reached.targets))
        given = {path: self.shapes.objects(reached.shape, path) for path in parameters}
        return Fallback(
            **self._common(reached, iri, given),
            roots=tuple(dict.fromkeys(reached.roots)),
            target=bound,
            population=population,
            reason="it is a constraint component of the shapes' author",
        )

    def _pass_over(self, shape: Node, what: str) -> None:
        self.passed_over.append(about(self.shapes, shape, what))
        self.notices.append(self.passed_over[-1])

    def _pass_over_all(self, context: Context) -> None:
        self.passed_over += context.notices
        self.notices += context.notices

    def _described(self, reached: _Reached, component: Component, given: Term) -> dict[str, Any]:
        shapes, shape = self.shapes, reached.shape
        parameters: dict[ox.NamedNode, tuple[Term, ...]] = {component.parameter: (given,)}
        for extra in component.extra:
            if values := shapes.objects(shape, extra):
                parameters[extra] = values
        described = self._common(reached, component.iri, parameters)
        if component.accepts == "select" and not isinstance(given, ox.Literal):
            text = _first_text(shapes.objects(given, SH.message))
            described |= {"source": given, "message": text or described["message"]}
        return described

    def _common(
        self,
        reached: _Reached,
        component: ox.NamedNode,
        parameters: dict[ox.NamedNode, tuple[Term, ...]],
    ) -> dict[str, Any]:
        shapes, shape = self.shapes, reached.shape
        lines = [
            shapes.identity(shape),
            component.value,
            reached.path.text if reached.path else "",
            *sorted(f"{p} {shapes.digest(v)}" for p, values in parameters.items() for v in values),
        ]
        return {
            "key": key_of(*lines),
            "shape": shape,
            "named_shape": shapes.named(shape),
            "component": component,
            "path": reached.path,
            "severity": self._severity(shape),
            "message": _first_text(shapes.objects(shape, SH.message)),
            "parameters": parameters,
            "source": None,
        }

    def _severity(self, shape: Node) -> ox.NamedNode:
        found = self.shapes.one(shape, SH.severity)
        return found if isinstance(found, ox.NamedNode) else SH.Violation

    def _population(self, target: Target) -> tuple[int | None, Fragment]:
        exact = Exact(self.graph.formed)
        bound = target.distinct(_FOCUS, Variables("t"), exact)
        return self.populations.count(bound, guarded=target.of_user), bound

    def _texts(
        self,
        reached: _Reached,
        component: Component,
        given: Term,
        target: Target,
        *,
        portable: bool,
    ) -> tuple[Texts, Context]:
        exact = Exact(self.graph.formed, portable=portable)
        context = self._context(exact, (reached.shape,))
        pattern = target.pattern(_FOCUS, Variables("t"), exact)
        once = target.distinct(_FOCUS, Variables("t"), exact)
        path = reached.path
        marked = target.marked(exact) if path is None else exact.concerns(path)
        at = _VALUE
        if path is None:
            at = _FOCUS if component.is_test or component.gives_path else _VALUE
        if component.gives_path and component.accepts != "select":
            at = _VALUE
        scope = Scope(context, reached.shape, path, _FOCUS, at, marked, (pattern, once))
        violation = scope.pattern(component, given)
        if path is None and component.is_test:
            violation = Fragment(
                f"{violation.text.rstrip()}\nBIND (?focus AS ?value)\n", violation.prefixes
            )
        whole = component.accepts == "select"
        return Texts(once, violation, whole=whole, gives_path=component.gives_path), context


def _first_text(values: Sequence[Term]) -> str | None:
    """Give the English message, or the one without a language, or the first."""
    texts = [value for value in values if isinstance(value, ox.Literal)]
    for wanted in ("en", None):
        for text in texts:
            if text.language == wanted:
                return text.value
    return texts[0].value if texts else None
