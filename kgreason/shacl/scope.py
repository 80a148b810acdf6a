"""From a constraint to SPARQL: what each template asks for, and conformance to nested shapes."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import pyoxigraph as ox

from kgreason.base.store import Term
from kgreason.base.templates import Fragment, template
from kgreason.base.terms import FORM_PREFIX, SH, XSD
from kgreason.graph.forms import admitted
from kgreason.shacl.components import ROLE, Component, custom, registry
from kgreason.shacl.look_ahead import Parts, in_parts
from kgreason.shacl.paths import DEEP, IllFormedError, Path, TooDeepError, of_predicate, shape_path
from kgreason.shacl.prebinding import read_select
from kgreason.shacl.shapes import Node, Shapes
from kgreason.shacl.superclasses import Superclasses
from kgreason.shacl.values import (
    Exact,
    NotCompilableError,
    Variables,
    among,
    bind_values,
    check_start,
    datatype_of,
    plain,
)
from kgreason.shacl.written_forms import as_written

_ALLOWED_FLAGS: Final = frozenset("imsxq")


@dataclass
class Context:
    """What all scopes of one constraint share; `absent`: the graph may lack its focus nodes."""

    shapes: Shapes
    exact: Exact
    formed: frozenset[ox.NamedNode]
    superclasses: Superclasses
    variables: Variables = field(default_factory=Variables)
    open: tuple[Node, ...] = ()
    notices: list[str] = field(default_factory=list)
    guarded: bool = False
    absent: bool = False


@dataclass(frozen=True)
class Scope:
    """A shape at a variable: `focus` is bound outside, `value` is what the path reaches from it.

    `marked` says whether values may carry the mark of the graph of forms. `target` is the pattern
    of the target (as it is, and each node once) where the shape is not nested. `focus_marked` says
    that the focus may carry a mark, `focus_literal` that it may be a literal at all.
    """

    context: Context
    shape: Node
    path: Path | None
    focus: Fragment
    value: Fragment
    marked: bool
    target: tuple[Fragment, Fragment] | None = None
    focus_marked: bool = False
    focus_literal: bool = True

    @property
    def nested(self) -> bool:
        """Whether the shape is used by another one, with the node bound outside."""
        return self.target is None

    def fragment(self, component: Component, given: Term) -> Fragment:
        """Render a component: a condition on `value`, or a pattern, as its template says."""
        arguments = _Arguments(self, component, given)
        asked = {name: getattr(arguments, name)() for name in component.template.parameters}
        return component.template.fragment(**asked)

    def bind(
        self,
        value: Fragment,
        path: Path | None = None,
        *,
        inside: bool,
        marked: bool | None = None,
    ) -> Fragment:
        """Return the pattern that binds a variable to the values, maybe inside an EXISTS."""
        path = path or self.path
        if path is None:
            if value == self.focus:
                return Fragment("")
            return template(ROLE, "itself").fragment(focus=self.focus, value=value)
        context = self.context
        return bind_values(
            path,
            self.focus,
            value,
            context.variables,
            context.exact,
            inside=inside,
            marked=marked,
            around=self._around(inside=inside),
        )

    def _around(self, *, inside: bool) -> Fragment | None:
        """Return what binds focus where the graph may lack it; nothing where that is outside."""
        if not self.context.absent:
            return None
        return Fragment("") if inside or self.target is None else self.target[0]

    def pattern(self, component: Component, given: Term) -> Fragment:
        """Return the pattern that has a solution where the focus node fails."""
        made = self.fragment(component, given)
        if not component.is_test:
            return made
        values = self.bind(self.value, inside=self.nested)
        return template(ROLE, "check").fragment(values=values, tests=[made])


class _Arguments:
    """Each method makes the parameter of a template that has its name."""

    def __init__(self, scope: Scope, component: Component, given: Term) -> None:
        self._scope, self._component, self._given = scope, component, given
        self._shapes, self._context = scope.context.shapes, scope.context
        self._other = scope.context.variables.new()
        # A node shape inside another has its node as value; what is bound again needs its own name.
        own = scope.value == scope.focus
        self._compared = scope.context.variables.new() if own else scope.value

    def focus(self) -> Fragment:
        return self._scope.focus

    def value(self) -> Fragment:
        return self._scope.value

    def object(self) -> Fragment:
        return self._compared

    def values(self) -> Fragment:
        return self._scope.bind(self._scope.value, inside=True, marked=self._forms())

    def _forms(self) -> bool | None:
        """Return False where the form of values makes no difference, None where it may."""
        parameter = self._component.parameter
        if (
            parameter == SH.uniqueLang
            or (parameter == SH.minCount and self.one())
            or (parameter == SH.maxCount and self.zero())
        ):
            return False
        return None

    def given(self) -> Any:
        if self._component.accepts == "languages":
            return self._shapes.list(self._given)
        if self._component.accepts == "count" and isinstance(self._given, ox.Literal):
            return ox.Literal(int(self._given.value))
        if self._component.accepts == "literal" and isinstance(self._given, ox.Literal):
            return comparable(self._given)
        return self._given

    def subclasses(self) -> bool:
        return self._given in self._context.superclasses

    def one(self) -> bool:
        return int(getattr(self._given, "value", "0")) == 1

    def zero(self) -> bool:
        return int(getattr(self._given, "value", "0")) == 0

    def datatype(self) -> Fragment:
        return datatype_of(self._scope.value, marked=self._scope.marked)

    def plain(self) -> Fragment:
        exact = self._context.exact
        return plain(self._scope.value, marked=self._scope.marked, beyond=exact.beyond)

    def boolean(self) -> bool:
        return getattr(self._given, "datatype", None) == XSD.boolean

    def ordered(self) -> bool | Fragment:
        """Check whether the first of two that are compared has an order."""
        if isinstance(self._given, ox.Literal):
            return has_order(comparable(self._given))
        return template(ROLE, "ordered").fragment(value=self.plain())

    def flags(self) -> ox.Literal:
        return ox.Literal(self._flags)

    def wanted(self) -> list[ox.Literal]:
        return [known_regex(text, self._flags) for text in self._parts.wanted]

    def barred(self) -> list[ox.Literal]:
        return [known_regex(text, self._flags) for text in self._parts.barred]

    @property
    def _parts(self) -> Parts:
        return in_parts(getattr(self._given, "value", ""), self._flags)

    @property
    def _flags(self) -> str:
        return allowed_flags(self._shapes.one(self._scope.shape, SH.flags))

    def other(self) -> Fragment:
        return self._other

    def again(self) -> Fragment:
        return self._scope.bind(self._other, inside=True, marked=self._forms())

    def _given_path(self) -> Path:
        if not isinstance(self._given, ox.NamedNode):
            raise TypeError(self._given)
        return of_predicate(self._given)

    def others(self) -> Fragment:
        return self._scope.bind(self._other, self._given_path(), inside=True)

    def other_plain(self) -> Fragment:
        exact = self._context.exact
        marked = exact.concerns(self._given_path())
        return plain(self._other, marked=marked, beyond=exact.beyond)

    def either(self) -> Fragment:
        given, path = self._given_path(), self._scope.path
        scope, value = self._scope, self._compared
        if path is not None:
            both = Path("|", parts=(path, given))
            return scope.bind(value, both, inside=scope.nested)
        # One side of a UNION does not see what is bound outside, so the target comes in once more.
        itself = template(ROLE, "itself").fragment(focus=scope.focus, value=value)
        around = scope.target[0] if scope.target else Fragment("")
        parts: list[ox.NamedNode | ox.Literal | Fragment] = [
            template(ROLE, "values-joined").fragment(before=around, values=itself),
            scope.bind(value, given, inside=scope.nested),
        ]
        return template(ROLE, "target-union").fragment(parts=parts)

    def same(self) -> Fragment:
        """Terms of two properties are compared as written, be they marked or not."""
        value, other = self._compared, self._other
        if self._component.is_test:
            value = self._scope.value
        if self._scope.marked or self._context.exact.concerns(self._given_path()):
            return template(ROLE, "exact-same").fragment(value=value, other=other)
        return Fragment(f"sameTerm({other.text}, {value.text})")

    def fails(self) -> Fragment:
        return fails(self._context, self._node(self._given), self._scope.value, self._scope.marked)

    def each_fails(self) -> list[Fragment]:
        return [
            fails(self._context, self._node(shape), self._scope.value, self._scope.marked)
            for shape in self._shapes.list(self._given) or ()
        ]

    def _node(self, term: Term) -> Node:
        if isinstance(term, ox.Literal):
            raise IllFormedError(f"{term} is no shape")
        return term

    def unqualified(self) -> Fragment:
        """Return when a value does not count: it fails shape, or conforms to a sibling of it."""
        shape, value, marked = self._scope.shape, self._scope.value, self._scope.marked
        own = self._shapes.nodes(shape, SH.qualifiedValueShape)
        if len(own) != 1:
            raise IllFormedError("sh:qualifiedValueShape is given several times")
        tests = [fails(self._context, own[0], value, marked)]
        if self._shapes.is_true(shape, SH.qualifiedValueShapesDisjoint):
            siblings = {
                sibling: None
                for parent in self._shapes.parents(shape)
                for child in self._shapes.nodes(parent, SH.property)
                for sibling in self._shapes.nodes(child, SH.qualifiedValueShape)
                if sibling != own[0]
            }
            for sibling in siblings:
                unlike = fails(self._context, sibling, value, marked)
                tests.append(Fragment(f"!({unlike.text.strip()})", unlike.prefixes))
        return template(ROLE, "fails").fragment(tests=list(tests), patterns=[])

    def holder(self) -> Fragment:
        return self._scope.focus if self._scope.path is None else self._other

    def told(self) -> bool:
        return self._scope.path is not None and not self._scope.nested

    def holders(self) -> Fragment:
        if self._scope.path is None:
            return Fragment("")
        return self._scope.bind(self._other, inside=self._scope.nested)

    def path(self) -> Fragment:
        return self._context.variables.new() if self._scope.nested else Fragment("?path")

    def allowed(self) -> list[Term]:
        found: list[Term] = []
        for child in self._shapes.nodes(self._scope.shape, SH.property):
            step = self._shapes.one(child, SH.path)
            if isinstance(step, ox.NamedNode):
                found.append(step)
        for head in self._shapes.objects(self._scope.shape, SH.ignoredProperties):
            members = self._shapes.list(head)
            if members is None:
                raise IllFormedError("sh:ignoredProperties is no well-formed list")
            found += [member for member in members if isinstance(member, ox.NamedNode)]
        return list(dict.fromkeys(found))

    def among(self) -> Fragment:
        terms = self._shapes.list(self._given) if self._component.accepts == "terms" else None
        wanted = [self._given] if terms is None else terms
        marked = self._scope.marked
        return among(self._scope.value, self._context.exact.candidates(wanted, marked=marked))

    def select(self) -> Fragment:
        self._context.guarded = True
        given = read_select(self._shapes, self._node(self._given), {})
        given.refuse()
        if given.early:
            self._context.notices.append(_too_early(self._shapes, self._scope.shape, given.early))
        path = self._scope.path
        if self._context.absent and (
            (path is not None and path.may_be_empty) or {"*", "?"} & {t.word for t in given.body}
        ):
            raise NotCompilableError("a focus node that the graph lacks may be its own value")
        query = self._context.exact.asked(
            given,
            lambda formed: as_written(
                given,
                formed,
                path=path.text if path else None,
                focus_marked=self._scope.focus_marked,
                focus_literal=self._scope.focus_literal,
                nested=self._scope.nested,
                beyond=self._context.exact.beyond,
            ),
        )
        return query.as_violation(
            self._scope.focus,
            self._scope.target,
            self._context.variables,
            path.text if path else None,
            self._scope.shape,
        )

    def nested(self) -> bool:
        return self._scope.nested

    def bound(self) -> Fragment:
        if self._scope.path is None:
            return Fragment("COALESCE(?given, ?focus)")
        return Fragment("?given")


def comparable(literal: ox.Literal) -> ox.Literal:
    """Return a literal as others are compared with it.

    A text with a language, or a number that is none of its type, gets a type of its own, so that
    nothing compares with it.
    """
    if literal.language is None and admitted(literal):
        return literal
    return ox.Literal(literal.value, datatype=ox.NamedNode(FORM_PREFIX + literal.datatype.value))


def has_order(literal: ox.Literal) -> bool:
    """Check whether SPARQL has an order for a literal; NaN is not even equal to itself."""
    made = template(ROLE, "ordered").render(value=Fragment(str(literal)))
    head, _, test = made.partition("COALESCE")
    return bool(
        ox.Store().query(f"{head} ASK {{ FILTER ({literal} = {literal} && COALESCE{test}) }}")
    )


def allowed_flags(flags: Term | None) -> str:
    """Return the flags of a regular expression; raises IllFormedError where there are others."""
    given = flags.value if isinstance(flags, ox.Literal) else ""
    if not set(given) <= _ALLOWED_FLAGS:
        raise IllFormedError(f"sh:flags is {flags}, with flags that SPARQL does not have")
    return given


def known_regex(expression: str, flags: str) -> ox.Literal:
    """Return a regular expression as the store can run it.

    Raises NotCompilableError if it does not know its syntax.
    """
    text = ox.Literal(expression)
    # What is no expression to the store gives an error, and BOUND of that is false.
    probe = ox.Store().query(
        f"ASK {{ BIND (REGEX('', {text}, {ox.Literal(flags)}) AS ?x) FILTER BOUND(?x) }}"
    )
    if not probe:
        raise NotCompilableError(f"the regular expression {text} is not one the store knows")
    return text


def fails(context: Context, shape: Node, value: Fragment, marked: bool) -> Fragment:  # noqa: FBT001
    """Return the condition under which the node at a variable does not conform to a shape."""
    shapes = context.shapes
    if shapes.is_true(shape, SH.deactivated):
        return Fragment("false")
    if shape in context.open:
        raise NotCompilableError("its shapes refer to one another in a circle")
    if len(context.open) >= DEEP:
        raise TooDeepError(f"its shapes are nested too deeply, more than {DEEP} times")
    inner = replace(context, open=(*context.open, shape))
    try:
        path = shape_path(shapes, shape)
        if path is None:
            scope = Scope(inner, shape, None, value, value, marked, focus_marked=marked)
        else:
            check_start(path, marked=marked)
            at = context.variables.new()
            scope = Scope(
                inner, shape, path, value, at, inner.exact.concerns(path), focus_marked=marked
            )
        made = fails_here(scope)
    finally:
        context.guarded = context.guarded or inner.guarded
    return made


def fails_here(scope: Scope) -> Fragment:
    """Return the condition under which the focus node of a scope does not conform to its shape."""
    tests: list[Fragment] = []
    patterns: list[Fragment] = []
    for component, given in parts(scope.context, scope.shape):
        try:
            made = scope.fragment(component, given)
        except TooDeepError:
            raise
        except IllFormedError as error:
            scope.context.notices.append(about(scope.context.shapes, scope.shape, str(error)))
            continue
        (tests if component.is_test else patterns).append(made)
    if tests and scope.path is not None:
        values = scope.bind(scope.value, inside=True)
        patterns.append(template(ROLE, "check").fragment(values=values, tests=list(tests)))
        tests = []
    return template(ROLE, "fails").fragment(tests=list(tests), patterns=list(patterns))


def parts(context: Context, shape: Node) -> list[tuple[Component, Term]]:
    """Return the constraints of a shape that mean something; notes the others."""
    found: list[tuple[Component, Term]] = []
    if context.open[1:] and custom(context.shapes, shape):
        raise NotCompilableError("it uses a constraint component of its own inside another shape")
    for predicate in context.shapes.index.get(shape, {}):
        component = registry().get(predicate)
        if component is None:
            continue
        for value in component.check(context.shapes, shape):
            if isinstance(value, IllFormedError):
                context.notices.append(about(context.shapes, shape, str(value)))
            elif _says_something(context.shapes, component, value):
                found.append((component, value))
    return found


def _says_something(shapes: Shapes, component: Component, value: Term) -> bool:
    if component.accepts == "boolean":
        return isinstance(value, ox.Literal) and value.value == "true"
    if component.accepts == "select":
        return not shapes.is_true(value, SH.deactivated)
    if component.parameter in {SH.minCount, SH.qualifiedMinCount}:
        return isinstance(value, ox.Literal) and int(value.value) > 0
    return True


def about(shapes: Shapes, shape: Node, what: str) -> str:
    """Return the notice that something in a shape is passed over."""
    named = shapes.named(shape)
    return f"{f'<{named.value}>' if named else 'A shape without a name'}: {what}; passed over."


def _too_early(shapes: Shapes, shape: Node, names: Sequence[str]) -> str:
    """Return the notice that HAVING names what has no value yet.

    SPARQL 1.1 (18.2.4.2, 18.2.4.4) filters groups before SELECT gives its expressions names.
    """
    named = shapes.named(shape)
    listed = ", ".join(f"?{name}" for name in names)
    return (
        f"{f'<{named.value}>' if named else 'A shape without a name'}: its query names {listed} in "
        "HAVING, which has no value there yet, so that no group may pass and nobody fail; write "
        "the expression itself there."
    )
