"""Compile a shapes graph: every constraint that a target reaches becomes a set of queries."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyoxigraph as ox

from kgreason.base.errors import ShapesError
from kgreason.base.store import Term
from kgreason.base.templates import Fragment
from kgreason.base.terms import SH, TYPE
from kgreason.graph import Graph
from kgreason.shacl.choice_readings import (
    CHOICES,
    INNER,
    choice_readings,
    inner_readings,
    own_reading,
)
from kgreason.shacl.components import Component, custom, registry
from kgreason.shacl.constraint import Compiled, Constraint, Fallback, Texts, label
from kgreason.shacl.each_property import of_each_property, properties
from kgreason.shacl.misspelt import misspelt
from kgreason.shacl.paths import DEEP, IllFormedError, Path, is_prefixed, shape_path
from kgreason.shacl.population import Counts, Populations
from kgreason.shacl.prebinding import read_select
from kgreason.shacl.readings import Reading, readings
from kgreason.shacl.scope import Context, Scope, about, parts
from kgreason.shacl.shapes import TARGETS, Node, Shapes, expanded, key_of
from kgreason.shacl.superclasses import Superclasses
from kgreason.shacl.targets import Target, read_targets, union
from kgreason.shacl.values import Exact, NotCompilableError, Variables, check_start

_FOCUS = Fragment("?focus")
_VALUE = Fragment("?value")
_NAMED = 3
_UNHEARD = {
    SH.js: "the constraints in JavaScript (sh:js)",
    SH.rule: "what the rules (sh:rule) would infer",
}


@dataclass
class _Reached:
    """A shape, its path, and the targets from which sh:property leads to it."""

    shape: Node
    path: Path | None
    targets: list[Target] = field(default_factory=list)
    roots: list[Node] = field(default_factory=list)


@dataclass(frozen=True)
class _Aim:
    """A target written down: as it is, and with each node once.

    `marked` says whether its literals carry the mark of the graph of forms, `used` whether that
    made a difference.
    """

    target: Target
    pattern: Fragment
    once: Fragment
    marked: bool
    used: bool
    population: int | None


def compile_shapes(
    shapes: Shapes,
    graph: Graph,
    *,
    severity: ox.NamedNode | None = None,
    only: str | None = None,
    seconds: float = 60.0,
    counts: Counts | None = None,
) -> Compiled:
    """Compile every constraint that has nodes to look at.

    `severity` keeps the constraints of that severity; `only` those whose shape, or path in SPARQL,
    is the text given (an IRI with or without angle brackets). `seconds` limits a query of a
    sh:target. `counts` counts nodes where the graph cannot. Raises ShapesError if `only` fits
    nothing, or no shape of all can be used.
    """
    return _Compiler(shapes, graph, counts or Populations(graph, seconds)).run(severity, only)


def _in_data(shapes: Shapes, graph: Graph) -> Iterator[ox.NamedNode]:
    """Yield prefixed names in angle brackets that stand in the shapes, and in the graph as well."""
    found = graph.store.inner.quads_for_pattern
    objects = {o for said in shapes.index.values() for values in said.values() for o in values}
    for iri in objects:
        if isinstance(iri, ox.NamedNode) and is_prefixed(iri):
            places = (found(iri, None, None), found(None, iri, None), found(None, None, iri))
            if any(True for quads in places for _ in quads):
                yield iri


class _Compiler:
    def __init__(self, shapes: Shapes, graph: Graph, counts: Counts) -> None:
        self.shapes, self.graph = shapes, graph
        shapes.in_data = frozenset(_in_data(shapes, graph))
        self.notices: list[str] = list(shapes.notices)
        self.passed_over: list[str] = []
        self.empty: dict[str, int] = {}
        self.unmet: dict[Target, None] = {}
        self.superclasses = Superclasses(graph.store)
        self.held: dict[Term, bool] = {}
        self.populations = counts
        self.reached: dict[Node, _Reached] = {}

    def run(self, severity: ox.NamedNode | None, only: str | None) -> Compiled:
        self._reach_all()
        made: list[Constraint | Fallback] = []
        for reached in self.reached.values():
            if severity is None or self._severity(reached.shape) == severity:
                made += self._constraints(reached, only)
        if only is not None and not made and not self.empty:
            raise ShapesError(
                f"No constraint belongs to {only}; give the IRI of a shape or of a property."
            )
        if not made and not self.empty and self.passed_over:
            raise ShapesError(
                f"{', '.join(self.shapes.files)}: no shape can be used. {self.passed_over[0]}"
            )
        used = list({entry.key: entry for entry in made}.values())
        if self.empty:
            names = sorted(self.empty)
            self.notices.append(
                f"Constraints without a node to look at: {sum(self.empty.values())}, "
                f"of {', '.join(names[:_NAMED])}{' …' if len(names) > _NAMED else ''}."
            )
        self.notices += [*self._unheard(), *misspelt(self.shapes)]
        fallback = tuple(entry for entry in used if isinstance(entry, Fallback))
        self.notices += [
            f"{label(entry)}: {entry.reason}, so pySHACL checks it." for entry in fallback
        ]
        return Compiled(
            tuple(entry for entry in used if isinstance(entry, Constraint)),
            fallback,
            list(dict.fromkeys(self.notices)),
            self.shapes,
            tuple(dict.fromkeys(self.passed_over)),
            sum(self.empty.values()),
            tuple(self.unmet),
        )

    def _unheard(self) -> Iterator[str]:
        """Describe what shapes say beside constraints, which is not done here."""
        for predicate, what in _UNHEARD.items():
            named = {self.shapes.named(one) for one in self.shapes.subjects(predicate)}
            told = sorted(f"<{one.value}>" if one else "a shape without a name" for one in named)
            more = " …" if len(told) > _NAMED else ""
            if told:
                yield f"Not checked: {what} of {', '.join(told[:_NAMED])}{more}."

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
        """Return all subjects that may be shapes: with targets, or said to be shapes or classes."""
        for node, described in self.shapes.index.items():
            if any(target in described for target in TARGETS) or any(
                predicate in SH for predicate in described
            ):
                yield node

    def _untargeted(self) -> None:
        """Report shapes that no target reaches and no other shape uses."""
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
        if len(above) == DEEP:
            self._pass_over(shape, f"sh:property is nested too deeply, more than {DEEP} times")
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
        own = custom(self.shapes, reached.shape)
        found = [p for p in parts(context, reached.shape) if p[0].parameter != SH.property]
        self._pass_over_all(context)
        aim: _Aim | None = None
        reason = ""
        try:
            aim = self._aim(union(reached.targets), portable=False)
        except IllFormedError as error:
            self._pass_over(reached.shape, str(error))
            return
        except NotCompilableError as error:
            reason = str(error)
        if aim is not None and aim.population == 0 and (own or found):
            name = str(self.shapes.named(reached.shape) or reached.shape)
            self.empty[name] = self.empty.get(name, 0) + len(own) + len(found)
            self.unmet[aim.target] = None
            return
        for iri, parameters in own:
            yield self._custom(reached, aim, iri, parameters)
        for component, given in found:
            made = self._constraint(reached, aim, component, given, reason)
            if made is not None:
                yield made

    def _aim(self, target: Target, *, portable: bool) -> _Aim:
        """Write the target down, and count its nodes where it is for the embedded store."""
        exact = self._exact(portable=portable)
        once = target.distinct(_FOCUS, Variables("t"), exact)
        return _Aim(
            target,
            target.pattern(_FOCUS, Variables("t"), exact),
            once,
            target.marked(exact),
            exact.used,
            None if portable else self.populations.count(once, guarded=target.of_user),
        )

    def _exact(self, *, portable: bool) -> Exact:
        return Exact(
            self.graph.formed, portable=portable, holds=self._holds, beyond=self.graph.beyond
        )

    def _holds(self, term: Term) -> bool:
        """Check whether a term is a node of the graph; asked once for each, targets may be long."""
        if term not in self.held:
            inner, merge = self.graph.store.inner, ox.DefaultGraph()
            found = inner.quads_for_pattern(None, None, term, merge)
            if next(iter(found), None) is None and not isinstance(term, ox.Literal):
                found = inner.quads_for_pattern(term, None, None, merge)
            self.held[term] = next(iter(found), None) is not None
        return self.held[term]

    def _context(self, exact: Exact, shapes: tuple[Node, ...]) -> Context:
        return Context(self.shapes, exact, self.graph.formed, self.superclasses, open=shapes)

    def _fits(self, reached: _Reached, only: str | None) -> bool:
        if only is None:
            return True
        only = expanded(only.strip(), self.shapes.prefixes)
        wanted = only.removeprefix("<").removesuffix(">")
        named = self.shapes.named(reached.shape)
        path = reached.path.text if reached.path else ""
        return wanted in {getattr(named, "value", ""), path, path[1:-1]} or only == path

    def _constraint(
        self, reached: _Reached, aim: _Aim | None, component: Component, given: Term, reason: str
    ) -> Constraint | Fallback | None:
        described = self._described(reached, component, given)
        if aim is None:
            return self._fallback(reached, None, described, reason)
        try:
            exact, context = self._texts(reached, aim, component, given, portable=False)
            portable = exact
            if context.exact.used or aim.used:
                elsewhere = self._aim(aim.target, portable=True)
                portable, _ = self._texts(reached, elsewhere, component, given, portable=True)
        except IllFormedError as error:
            self._pass_over(reached.shape, str(error))
            return None
        except NotCompilableError as error:
            return self._fallback(reached, aim, described, str(error))
        self._pass_over_all(context)
        return Constraint(
            **described,
            exact=exact,
            portable=portable,
            population=aim.population,
            guarded=context.guarded or aim.target.of_user,
            shapes=self.shapes,
            aim=aim.target,
            readings=self._readings(reached, aim, component, given, exact),
        )

    def _readings(
        self, reached: _Reached, aim: _Aim, component: Component, given: Term, texts: Texts
    ) -> tuple[Reading, ...]:
        """Return what a rule asks where it is another than its component: a choice, a query."""
        shape = (self.shapes, reached.shape, component.parameter, given)
        if component.parameter == SH.qualifiedMaxCount and _is_nought(given):
            return of_each_property(self._barring(reached, aim))
        if component.parameter in CHOICES:
            asked = (self.shapes, component.parameter, given)
            return of_each_property(choice_readings(*asked, reached.path, texts.violation))
        of_itself = reached.path is None and component.parameter == SH["class"]
        if component.parameter in INNER or of_itself:
            return of_each_property(inner_readings(*shape, reached.path, texts.violation))
        if component.is_test and reached.path is not None and properties(reached.path):
            own = own_reading(*shape, reached.path, texts.violation)
            return of_each_property((own,))[1:]
        if component.accepts != "select" or isinstance(given, ox.Literal):
            return ()
        path = reached.path.text if reached.path else None
        return readings(read_select(self.shapes, given, {}).as_query(path), focus="this")

    def _barring(self, reached: _Reached, aim: _Aim) -> Iterator[Reading]:
        """Return what it asks that no value may conform to a shape: of each value what sh:not asks.

        The shape has been compiled to count its values, so that it compiles here. Nothing is read
        where values that conform to a sibling do not count.
        """
        shapes, denied = self.shapes, registry()[SH["not"]]
        if shapes.is_true(reached.shape, SH.qualifiedValueShapesDisjoint):
            return
        for inner in shapes.objects(reached.shape, SH.qualifiedValueShape):
            texts, _ = self._texts(reached, aim, denied, inner, portable=False)
            asked = (shapes, denied.parameter, inner)
            yield from choice_readings(*asked, reached.path, texts.violation)

    def _custom(
        self, reached: _Reached, aim: _Aim | None, iri: ox.NamedNode, parameters: list[ox.NamedNode]
    ) -> Fallback:
        given = {path: self.shapes.objects(reached.shape, path) for path in parameters}
        described = self._common(reached, iri, given)
        reason = "it is a constraint component of the shapes' author"
        return self._fallback(reached, aim, described, reason)

    def _fallback(
        self, reached: _Reached, aim: _Aim | None, described: dict[str, Any], reason: str
    ) -> Fallback:
        return Fallback(
            **described,
            roots=tuple(dict.fromkeys(reached.roots)),
            target=aim.once if aim else None,
            population=aim.population if aim else None,
            reason=reason,
            portable=self._aim(aim.target, portable=True).once if aim and aim.used else None,
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
            "title": _first_text(shapes.objects(shape, SH.name)),
        }

    def _severity(self, shape: Node) -> ox.NamedNode:
        found = self.shapes.one(shape, SH.severity)
        return found if isinstance(found, ox.NamedNode) else SH.Violation

    def _texts(
        self, reached: _Reached, aim: _Aim, component: Component, given: Term, *, portable: bool
    ) -> tuple[Texts, Context]:
        exact = self._exact(portable=portable)
        context = self._context(exact, (reached.shape,))
        context.absent = aim.target.absent(exact)
        path = reached.path
        check_start(path, marked=aim.marked)
        marked = aim.marked if path is None else exact.concerns(path)
        at = _FOCUS if path is None and component.is_test else _VALUE
        scope = Scope(
            context,
            reached.shape,
            path,
            _FOCUS,
            at,
            marked,
            (aim.pattern, aim.once),
            aim.marked,
            aim.target.may_be_literal,
        )
        violation = scope.pattern(component, given)
        if at == _FOCUS:
            violation = Fragment(
                f"{violation.text.rstrip()}\nBIND (?focus AS ?value)\n", violation.prefixes
            )
        whole = component.accepts == "select"
        return Texts(aim.once, violation, whole=whole, gives_path=component.gives_path), context


def _is_nought(given: Term) -> bool:
    """Check whether a count is 0, however it is written."""
    return isinstance(given, ox.Literal) and not given.value.lstrip("+0")


def _first_text(values: Sequence[Term]) -> str | None:
    """Return the English message, or the one without a language, or the first."""
    texts = [value for value in values if isinstance(value, ox.Literal)]
    for wanted in ("en", None):
        for text in texts:
            if text.language == wanted:
                return text.value
    return texts[0].value if texts else None
