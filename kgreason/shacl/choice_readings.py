"""What sh:or, sh:xone, sh:not and inner shapes ask of values, read as the constraints in them.

A label that may be an xsd:string or an rdf:langString is a matter of datatypes, although it is
sh:or that fails. So families of causes about datatypes, kinds and references read it as such.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from pyoxigraph import Literal, NamedNode

from kgreason.base.store import Term
from kgreason.base.templates import Fragment
from kgreason.base.terms import SH, TYPE
from kgreason.shacl.components import registry
from kgreason.shacl.paths import IllFormedError, Path, of_predicate, shape_path
from kgreason.shacl.readings import Reading, lack_of, lack_of_class
from kgreason.shacl.shapes import Node, Shapes

CHOICES: Final = frozenset({SH["or"], SH.xone, SH["not"]})
_THINGS: Final = frozenset({SH.IRI, SH.BlankNode, SH.BlankNodeOrIRI})
_DESCRIBING: Final = frozenset({"Class", "Node", "Property"})
INNER: Final = frozenset({SH.node, SH.qualifiedMinCount, SH.hasValue})
"""Parameters that ask something of values by another shape, or of what lies behind them."""
_OF_VALUES: Final = frozenset({"LanguageIn", "Datatype", "NodeKind", "Class"})
"""What a shape may ask of the value itself for which families of causes look."""


def choice_readings(
    shapes: Shapes, parameter: NamedNode, given: Term, path: Path | None, violation: Fragment
) -> tuple[Reading, ...]:
    """Return what a choice between shapes asks of the values at `path`, or of the node itself.

    `violation` binds ?value of ?focus to each value at fault. Nothing is read of a choice that has
    another choice in it, but for sh:or whose other shapes hold for values that are not of a kind.
    """
    members = [given] if parameter == SH["not"] else shapes.list(given) or []
    alternatives = [one for one in members if not isinstance(one, Literal)]
    found = [_asked(shapes, one) for one in alternatives]
    if parameter == SH["or"] and path is not None:
        # That a value is not of a kind tells which values the other shapes are about, and what is
        # at fault is of that kind and conforms to none of the others.
        found = [asked for asked in found if asked.keys() != {SH["not"]}]
    if not found or any(not asked or asked.keys() & CHOICES for asked in found):
        return ()
    if path is None:
        if parameter == SH["not"]:
            return ()
        if all(asked.keys() == {SH["class"]} for asked in found):
            return (_of_a_class([term for asked in found for term in asked[SH["class"]]]),)
        lacking = _lacking(shapes, alternatives)
        return tuple({one.path.text: one for one in lacking}.values())
    known = registry()
    components = frozenset(_local(known[name].iri) for asked in found for name in asked)
    kinds = [
        set(asked.get(SH.nodeKind, ())) <= _THINGS for asked in found if SH["class"] not in asked
    ]
    listed = [term for asked in found for term in _listed(shapes, asked)]
    reading = Reading(
        path,
        components,
        lacking=False,
        offending=violation,
        parameters=_agreed(found),
        allowed=() if parameter == SH["not"] else tuple(listed),
        described=bool(components & _DESCRIBING),
        text="Pattern" in components,
        linked=parameter != SH["not"] and all(kinds) and "Datatype" not in components,
    )
    return (reading,)


def inner_readings(
    shapes: Shapes,
    outer: Node,
    parameter: NamedNode,
    given: Term,
    path: Path | None,
    violation: Fragment,
) -> tuple[Reading, ...]:
    """Return what is asked of values by a shape that they conform to, or by a class behind them.

    `outer` is the shape with the `parameter`: sh:node, sh:qualifiedMinCount, or sh:hasValue at the
    end of a path that ends with the class; of the node itself, sh:class is such a parameter, too.
    `violation` binds ?value of ?focus to each value that does not conform, where all have to.
    Nothing is read where the inner shape has a choice in it, or asks nothing of the value itself.
    """
    if path is None:
        return (_of_a_class([given]),) if parameter == SH["class"] else ()
    if parameter == SH.hasValue:
        return tuple(_classed(path, given))
    some = parameter == SH.qualifiedMinCount
    inner = shapes.nodes(outer, SH.qualifiedValueShape) if some else (given,)
    each = (_asked(shapes, one) for one in inner if not isinstance(one, Literal))
    return tuple(
        _of_values(shapes, path, asked, None if some else violation)
        for asked in each
        if not asked.keys() & CHOICES and _named(asked) & _OF_VALUES
    )


def own_reading(
    shapes: Shapes,
    outer: Node,
    parameter: NamedNode,
    given: Term,
    path: Path,
    violation: Fragment,
) -> Reading:
    """Return what a shape asks of each value by a `parameter` of its own."""
    beside = {one: shapes.objects(outer, one) for one in registry()[parameter].extra}
    asked = {parameter: (given,)} | {one: values for one, values in beside.items() if values}
    told = frozenset({_local(registry()[parameter].iri)})
    return Reading(
        path,
        told,
        lacking=False,
        offending=violation,
        parameters=asked,
        allowed=tuple(_listed(shapes, asked)),
        described=bool(told & _DESCRIBING),
        text="Pattern" in told,
        linked="Class" in told or bool(set(asked.get(SH.nodeKind, ())) & _THINGS),
    )


def _of_values(
    shapes: Shapes,
    path: Path,
    asked: dict[NamedNode, tuple[Term, ...]],
    offending: Fragment | None,
) -> Reading:
    """Return what a shape asks of all values, or of some where none alone is at fault."""
    told, some = _named(asked), offending is None
    return Reading(
        path,
        told | (frozenset({"MinCount", "QualifiedMinCount"}) if some else frozenset({"Node"})),
        lacking=some,
        offending=offending,
        parameters=_agreed([asked]),
        allowed=tuple(_listed(shapes, asked)),
        described=bool(told & _DESCRIBING) or not some,
        text="Pattern" in told,
        linked="Class" in told or bool(set(asked.get(SH.nodeKind, ())) & _THINGS),
    )


def _classed(path: Path, given: Term) -> Iterator[Reading]:
    """Return that a value needs a class, where a path goes one step and then to the class."""
    if path.kind != "/" or len(path.parts) != 2 or path.parts[1].iri != TYPE:  # noqa: PLR2004
        return
    first = path.parts[0]
    if first.predicate is not None and isinstance(given, NamedNode):
        yield lack_of_class(first, given)


def _named(asked: dict[NamedNode, tuple[Term, ...]]) -> frozenset[str]:
    """Return the names of the components of some parameters."""
    known = registry()
    return frozenset(_local(known[parameter].iri) for parameter in asked)


def _asked(shapes: Shapes, shape: Node) -> dict[NamedNode, tuple[Term, ...]]:
    """Return the parameters of constraint components that a shape has, with their values."""
    told = {parameter: shapes.objects(shape, parameter) for parameter in registry()}
    return {parameter: values for parameter, values in told.items() if values}


def _agreed(found: list[dict[NamedNode, tuple[Term, ...]]]) -> dict[NamedNode, tuple[Term, ...]]:
    """Return the parameters that have one value wherever they stand."""
    out: dict[NamedNode, set[Term]] = {}
    for asked in found:
        for parameter, values in asked.items():
            out.setdefault(parameter, set()).update(values)
    return {parameter: tuple(values) for parameter, values in out.items() if len(values) == 1}


def _listed(
    shapes: Shapes, asked: dict[NamedNode, tuple[Term, ...]]
) -> Iterator[NamedNode | Literal]:
    """Return the values that a shape lists as right."""
    lists = [shapes.list(head) or [] for head in asked.get(SH["in"], ())]
    for one in (*asked.get(SH.hasValue, ()), *(term for each in lists for term in each)):
        if isinstance(one, NamedNode | Literal):
            yield one


def _of_a_class(classes: Sequence[Term]) -> Reading:
    """Return the reading that a node is of none of some classes."""
    return Reading(
        of_predicate(TYPE),
        frozenset({"In", "HasValue"}),
        lacking=True,
        allowed=tuple(one for one in classes if isinstance(one, NamedNode)),
    )


def _lacking(shapes: Shapes, alternatives: list[Node]) -> Iterator[Reading]:
    """Return the properties of which a node needs one, where each shape asks for that alone."""
    for one in alternatives:
        for inner in (one, *shapes.nodes(one, SH.property)):
            asks = shapes.objects(inner, SH.minCount)
            if not any(isinstance(n, Literal) and n.value.lstrip("+0") for n in asks):
                continue
            try:
                path = shape_path(shapes, inner)
            except IllFormedError:
                continue
            if path is not None:
                yield lack_of(path)


def _local(component: NamedNode) -> str:
    return component.value.rpartition("#")[2].removesuffix("ConstraintComponent")
