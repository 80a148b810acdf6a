"""OWL axioms as constraints: each has a population, and the nodes that break it.

A template of `queries/observe/` whose header names an `axiom` finds such axioms in a file
(`declared`) and says who breaks one (`failing`). Names are taken as unique unless the graph says
owl:sameAs; what a graph does not say breaks nothing.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path as File
from types import MappingProxyType
from typing import Final

import pyoxigraph as ox

from kgreason.base.errors import ShapesError
from kgreason.base.store import Row, Store, Term
from kgreason.base.templates import Fragment, Template, Value, role, template
from kgreason.base.terms import FORM_PREFIX, OWL, PREFIXES, RDFS, SH, TYPE, XSD
from kgreason.graph import Graph
from kgreason.graph.bounds import MOST_BYTES
from kgreason.graph.given import Objects
from kgreason.graph.names import local_name
from kgreason.shacl.components import ROLE
from kgreason.shacl.constraint import Compiled, Constraint, Texts
from kgreason.shacl.paths import Path, of_predicate
from kgreason.shacl.population import Counts, Populations
from kgreason.shacl.shapes import expanded, key_of, read_triples
from kgreason.shacl.superclasses import Superclasses
from kgreason.shacl.targets import Target, union
from kgreason.shacl.values import Exact, Variables, bind_values, datatype_of

_FOCUS: Final = Fragment("?focus")
_VALUE: Final = Fragment("?value")
_WHOLE: Final = frozenset({XSD.decimal, OWL.real, OWL.rational})
_NAMED: Final = 3
_Single = ox.NamedNode | ox.Literal | Fragment


@dataclass(frozen=True)
class Axiom:
    """One axiom of a file: what it is said of, and the terms it names."""

    form: Template
    said: ox.NamedNode
    other: ox.NamedNode | None
    given: Term | None
    on_path: bool
    keys: tuple[ox.NamedNode, ...] = ()
    among: "Among | None" = None

    @property
    def terms(self) -> frozenset[ox.NamedNode]:
        """All classes and properties that the axiom names."""
        more = () if self.among is None else self.among.members
        return frozenset((*self.names(), *self.keys, *more))

    @property
    def kind(self) -> ox.NamedNode:
        """The OWL term that the axiom is told by, such as owl:FunctionalProperty."""
        return _terms(self.form, "axiom")[0]

    def names(self) -> Iterator[ox.NamedNode]:
        """Return the IRIs of the properties and classes that the axiom is about."""
        yield self.said
        if self.other is not None:
            yield self.other
        if self.among is not None:
            yield from self.among.after(self.said)


@dataclass(frozen=True)
class Among:
    """Classes that are disjoint one by one, sorted; there is an axiom for each, not for each pair.

    `key` stands for all of them.
    """

    members: tuple[ox.NamedNode, ...]
    key: str

    def after(self, said: ox.NamedNode) -> tuple[ox.NamedNode, ...]:
        """Return the members after one: what breaks two of them is told of the first."""
        return self.members[self.members.index(said) + 1 :]


@dataclass
class Axioms:
    """The axioms of some files, and what there is to say of those that are not looked at.

    `above` are their statements of what is below what, of classes and of properties with an IRI.
    """

    found: tuple[Axiom, ...]
    files: tuple[str, ...]
    notices: list[str] = field(default_factory=list)
    prefixes: Mapping[str, str] = field(default_factory=dict)
    above: tuple[ox.Triple, ...] = ()


def _terms(form: Template, key: str) -> list[ox.NamedNode]:
    pairs = (name.partition(":") for name in form.header.get(key, "").split())
    return [ox.NamedNode(PREFIXES[prefix] + local) for prefix, _, local in pairs]


def forms() -> list[Template]:
    """Return the templates of all kinds of axiom, sorted by name."""
    return [form for form in role(ROLE).values() if "axiom" in form.header]


def read_axioms(
    paths: Sequence[File], *, most: int = MOST_BYTES, objects: Objects = MappingProxyType({})
) -> Axioms:
    """Read the OWL axioms of some files.

    No packed file may hold more than `most` bytes. What is among `objects` is no file. Raises
    ShapesError for a file that cannot be read (it names the line), and where there is no axiom that
    can be checked.
    """
    read = read_triples(paths, most=most, objects=objects)
    inner = ox.Store()
    inner.extend(ox.Quad(t.subject, t.predicate, t.object) for t in read.triples())
    store = Store(inner, "the axioms")
    named = ", ".join(read.files)
    found: list[Axiom] = []
    unnamed: dict[ox.NamedNode, int] = {}
    for form in forms():
        for rows in _grouped(store.select(form.render("declared"))):
            made = _axiom(form, rows)
            if made is None:
                kind = _terms(form, "axiom")[0]
                unnamed[kind] = unnamed.get(kind, 0) + 1
            else:
                found.append(made)
        if "members" in form.sections:
            for terms in _sets(store.select(form.render("members"))):
                named_ones = [t for t in terms if isinstance(t, ox.NamedNode) and _sound(t)]
                kind = _terms(form, "axiom")[0]
                if len(named_ones) < len(terms):
                    unnamed[kind] = unnamed.get(kind, 0) + len(terms) - len(named_ones)
                found += _set_axioms(form, named_ones)
    if not found:
        looked = ", ".join(form.header["axiom"].split()[0] for form in forms())
        raise ShapesError(
            f"{named}: there is no OWL axiom in it that can be checked (looked for: {looked}); "
            "give the ontology that states them."
        )
    notices = [*read.notices, *_unread(store, named, found, unnamed)]
    above = tuple(
        triple
        for triple in read.triples()
        if triple.predicate in {RDFS.subClassOf, RDFS.subPropertyOf}
        and triple.subject != triple.object
        and all(isinstance(t, ox.NamedNode) and _sound(t) for t in (triple.subject, triple.object))
    )
    return Axioms(tuple(found), read.files, notices, read.prefixes, above)


def _grouped(rows: Iterable[Row]) -> Iterator[list[Row]]:
    """Return the rows of each axiom: those that differ in ?key alone."""
    groups: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        mark = tuple(str(row.get(name)) for name in ("axiom", "said", "other", "given"))
        groups.setdefault(mark, []).append(row)
    yield from groups.values()


def _axiom(form: Template, rows: list[Row]) -> Axiom | None:
    """Return an axiom, or None where it is about a class or property without an IRI."""
    first = rows[0]
    named = [row[n] for row in rows for n in ("said", "other", "key") if n in row]
    if not all(isinstance(term, ox.NamedNode) and _sound(term) for term in named):
        return None
    said, other = first["said"], first.get("other")
    if not isinstance(said, ox.NamedNode):
        return None
    keys = dict.fromkeys(k for r in rows if isinstance(k := r.get("key"), ox.NamedNode))
    return Axiom(
        form,
        said,
        other if isinstance(other, ox.NamedNode) else None,
        first.get("given"),
        "path" in first,
        tuple(keys),
    )


def _sets(rows: Iterable[Row]) -> Iterator[list[Term]]:
    """Return the members of each set, each once."""
    sets: dict[str, dict[Term, None]] = {}
    for row in rows:
        sets.setdefault(str(row["set"]), {})[row["said"]] = None
    yield from (list(members) for members in sets.values())


def _set_axioms(form: Template, members: Sequence[ox.NamedNode]) -> Iterator[Axiom]:
    """Return an axiom for each member of a set but the last; for a set of two as for a pair."""
    ordered = tuple(sorted(members, key=lambda iri: iri.value))
    if len(ordered) == 2:  # noqa: PLR2004 - a pair
        yield Axiom(form, ordered[0], ordered[1], None, on_path=False)
    elif ordered:
        among = Among(ordered, key_of(*(iri.value for iri in ordered)))
        for said in ordered[:-1]:
            yield Axiom(form, said, None, None, on_path=False, among=among)


def _sound(iri: ox.NamedNode) -> bool:
    """Check whether an IRI, which was read leniently, can stand in a query."""
    try:
        ox.NamedNode(iri.value)
    except ValueError:
        return False
    return True


def _unread(
    store: Store, named: str, found: list[Axiom], unnamed: dict[ox.NamedNode, int]
) -> Iterator[str]:
    """Return a sentence on which axioms are not looked at."""
    looked: list[_Single] = [term for form in forms() for term in _terms(form, "axiom")]
    ranges = {a.given for a in found if a.kind == RDFS.range}
    given: list[_Single] = [term for term in ranges if isinstance(term, ox.NamedNode)]
    rows = store.select(template(ROLE, "axioms-unread").render(looked=looked, given=given))
    told = [f"{_short(row['axiom'])} ({row['n'].value})" for row in rows]
    told += [f"{_short(kind)} without an IRI ({n})" for kind, n in sorted(unnamed.items(), key=str)]
    if told:
        yield f"{named}: axioms that are not looked at: {', '.join(told)}."


def _short(term: Term) -> str:
    for prefix in ("owl", "rdfs"):
        if term.value.startswith(PREFIXES[prefix]):
            return f"{prefix}:{term.value.removeprefix(PREFIXES[prefix])}"
    return f"<{term.value}>"


def compile_axioms(
    axioms: Axioms,
    graph: Graph,
    *,
    severity: ox.NamedNode | None = None,
    only: str | None = None,
    counts: Counts | None = None,
) -> Compiled:
    """Make a constraint of every axiom that has nodes to look at, or of which that is not known.

    An axiom has the severity of a violation. `only` keeps those that are about the property or
    class of that IRI. `counts` counts who is looked at, where the graph does not. Raises
    ShapesError if `only` fits none.
    """
    return _Compiler(axioms, graph, counts or Populations(graph, 0.0)).run(severity, only)


class _Compiler:
    def __init__(self, axioms: Axioms, graph: Graph, counts: Counts) -> None:
        self.axioms, self.graph = axioms, graph
        self.superclasses = Superclasses(graph.store)
        self.populations = counts
        self.below = _subproperties(graph)
        quads = graph.store.inner.quads_for_pattern(None, OWL.sameAs, None, ox.DefaultGraph())
        self.same = next(iter(quads), None) is not None

    @cached_property
    def instantiated(self) -> frozenset[object]:
        """The classes that have an instance, or a class below them has one."""
        inner = self.graph.store.inner
        above: dict[object, list[object]] = {}
        for quad in inner.quads_for_pattern(None, RDFS.subClassOf, None, ox.DefaultGraph()):
            above.setdefault(quad.subject, []).append(quad.object)
        left: list[object] = [
            quad.object for quad in inner.quads_for_pattern(None, TYPE, None, ox.DefaultGraph())
        ]
        seen: set[object] = set()
        while left:
            one = left.pop()
            if one not in seen:
                seen.add(one)
                left += above.get(one, ())
        return frozenset(seen)

    def run(self, severity: ox.NamedNode | None, only: str | None) -> Compiled:
        meant = None if only is None else expanded(only.strip(), self.axioms.prefixes)
        chosen = [axiom for axiom in self.axioms.found if _fits(axiom, meant)]
        if not chosen:
            raise ShapesError(
                f"No axiom is about {only}; give the IRI of a property or class of "
                f"{', '.join(self.axioms.files)}."
            )
        if severity not in {None, SH.Violation}:
            chosen = []
        made: dict[str, Constraint] = {}
        empty: list[str] = []
        unmet: dict[Target, None] = {}
        for axiom in chosen:
            constraint = self._constraint(axiom)
            if constraint.population != 0:
                made.setdefault(constraint.key, constraint)
            else:
                empty.append(local_name(axiom.said.value))
                unmet.update(dict.fromkeys([constraint.aim] if constraint.aim else []))
        notices = list(self.axioms.notices)
        if empty:
            named = list(dict.fromkeys(empty))
            more = " …" if len(named) > _NAMED else ""
            notices.append(
                f"Axioms without a node to look at: {len(empty)}, "
                f"of {', '.join(named[:_NAMED])}{more}."
            )
        return Compiled(tuple(made.values()), (), notices, empty=len(empty), unmet=tuple(unmet))

    def _constraint(self, axiom: Axiom) -> Constraint:
        header = axiom.form.header
        target = self._target(axiom)
        pattern = target.distinct(_FOCUS, Variables("t"), Exact(frozenset()))
        exact = Texts(pattern, self._failing(axiom, portable=False))
        portable = Texts(pattern, self._failing(axiom, portable=True))
        like, parameter = _terms(axiom.form, "like")[0], _terms(axiom.form, "parameter")
        given = axiom.given is not None and parameter
        path = self._path(axiom.said) if axiom.on_path else None
        said = header["message"].format(
            said=local_name(axiom.said.value),
            other=_other(axiom),
            given=local_name(axiom.given.value) if axiom.given else "",
        )
        about = [axiom.kind.value, *(str(t) for t in (axiom.said, axiom.other, axiom.given))]
        about += [axiom.among.key] if axiom.among else []
        return Constraint(
            key_of(*about, *map(str, axiom.keys)),
            None,
            axiom.said,
            like,
            path,
            SH.Violation,
            f"{said}.",
            {parameter[0]: (axiom.given,)} if given and axiom.given is not None else {},
            exact,
            portable,
            population=self.populations.count(pattern, guarded=False),
            title=said,
            aim=target,
            axiom=axiom.kind,
            peers=lambda graph: compile_axioms(self.axioms, graph).constraints,
        )

    def _target(self, axiom: Axiom) -> Target:
        if axiom.form.header["population"] == "instances":
            return Target("class", (axiom.said,), subclasses=axiom.said in self.superclasses)
        properties = (axiom.said, *self.below.get(axiom.said, ()))
        return union(Target("subjects", (iri,)) for iri in properties)

    def _path(self, iri: ox.NamedNode) -> Path:
        """Return the path of a property: itself, or itself and all that are below it."""
        below = self.below.get(iri, ())
        if not below:
            return of_predicate(iri)
        return Path("|", parts=tuple(of_predicate(one) for one in (iri, *below)))

    def _failing(self, axiom: Axiom, *, portable: bool) -> Fragment:
        """Return the pattern of those who break an axiom, with what its template asks for."""
        wanted = axiom.form.parameters
        values: dict[str, Value] = {"said": axiom.said, "same": self.same}
        values["path"] = Fragment(f"({self._path(axiom.said).text})")
        if axiom.other is not None:
            values["other"] = axiom.other
            values["below"] = axiom.other in self.superclasses
            values["second"] = Fragment(f"({self._path(axiom.other).text})")
        if "others" in wanted:
            among = axiom.among.after(axiom.said) if axiom.among else ()
            values["others"] = [iri for iri in among if iri in self.instantiated]
            # Where there is no instance of any of them, none can be one of two.
            values.setdefault("other", axiom.said if not among else OWL.Nothing)
            values.setdefault("below", False)
        if axiom.keys:
            keys: list[_Single] = [Fragment(f"({self._path(key).text})") for key in axiom.keys]
            values |= {"first": keys[0], "rest": keys[1:]}
        if "values" in wanted:
            values |= self._written(axiom, portable=portable)
        return axiom.form.fragment("failing", **{n: values[n] for n in wanted})

    def _written(self, axiom: Axiom, *, portable: bool) -> dict[str, Value]:
        """Return what a template needs that looks at values as they were written."""
        exact = Exact(self.graph.formed, portable=portable, beyond=self.graph.beyond)
        path = self._path(axiom.said)
        marked = exact.concerns(path)
        datatype = datatype_of(_VALUE, marked=marked)
        tests: list[_Single] = [
            template(ROLE, "datatype").fragment(value=_VALUE, datatype=datatype, given=key)
            for key in axiom.keys
        ]
        given = axiom.given if isinstance(axiom.given, ox.NamedNode) else XSD.decimal
        number = Fragment("xsd:decimal(STR(?value))", {"xsd": XSD.iri})
        within = template(ROLE, "in-range").fragment(datatype=Fragment(str(given)), number=number)
        return {
            "values": bind_values(path, _FOCUS, _VALUE, Variables(), exact),
            "tests": tests,
            "whole": XSD.decimal in axiom.keys and given not in _WHOLE,
            "within": within,
        }


def _other(axiom: Axiom) -> str:
    """Return what the message of an axiom calls the other class or property."""
    if axiom.among is not None:
        return f"another of {len(axiom.among.members)} classes"
    return local_name(axiom.other.value) if axiom.other else ""


def _fits(axiom: Axiom, only: str | None) -> bool:
    if only is None:
        return True
    wanted = only.strip().removeprefix("<").removesuffix(">")
    return wanted in {iri.value for iri in axiom.names()}


def _subproperties(graph: Graph) -> dict[ox.NamedNode, tuple[ox.NamedNode, ...]]:
    """Return, for each property, those below it that the graph uses, sorted."""
    inner = graph.store.inner
    direct: dict[object, set[ox.NamedNode]] = {}
    for quad in inner.quads_for_pattern(None, RDFS.subPropertyOf, None, ox.DefaultGraph()):
        if isinstance(quad.subject, ox.NamedNode) and quad.subject != quad.object:
            direct.setdefault(quad.object, set()).add(quad.subject)
    out: dict[ox.NamedNode, tuple[ox.NamedNode, ...]] = {}
    for above, first in direct.items():
        seen: set[ox.NamedNode] = set()
        left = list(first)
        while left:
            one = left.pop()
            if one not in seen and one != above:
                seen.add(one)
                left += direct.get(one, ())
        used = [p for p in seen if _used(inner, p)]
        if isinstance(above, ox.NamedNode) and used:
            out[above] = tuple(sorted(used, key=lambda iri: iri.value))
    return out


def _used(inner: ox.Store, predicate: ox.NamedNode) -> bool:
    if predicate.value.startswith(FORM_PREFIX):
        return False
    found = inner.quads_for_pattern(None, predicate, None, ox.DefaultGraph())
    return next(iter(found), None) is not None
