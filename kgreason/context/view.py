"""View: one symptom on one graph: who is looked at, who fails, and what lies inside a region."""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from pyoxigraph import Literal, NamedNode

from kgreason.base.budget import UNLIMITED, Budget
from kgreason.base.figures import figure, integer
from kgreason.base.statistics import Table
from kgreason.base.store import Row, Term
from kgreason.base.templates import Fragment, Template, Value, role, template
from kgreason.base.terms import FORM_PREFIX, OWL, RDF, SH, TRAILS, TYPE, XSD, iris_in
from kgreason.base.weights import among_drawn, weighted_rate
from kgreason.context.published import akin, published, vocabularies
from kgreason.graph import Graph
from kgreason.graph.marks import Marks, Split, region_name
from kgreason.graph.names import local_name
from kgreason.shacl import Constraint, Path, Reading, chosen_by
from kgreason.shacl.asked_iris import asked_iris
from kgreason.shacl.needed import NEARLY

_VALUE: Final = re.compile(r"[?$]value\b")
_OF_QUERIES: Final = frozenset({TRAILS.OutcomeQuery, SH.SPARQLConstraintComponent})
_OF_TEXTS: Final = frozenset(
    SH[f"{name}ConstraintComponent"] for name in ("Pattern", "In", "MinLength", "MaxLength")
)
_LIFT: Final = figure("clearRate")
_FEWEST: Final = integer("halvedFrom")


_ABSENCE: Final = frozenset(
    SH[f"{name}ConstraintComponent"]
    for name in ("MinCount", "QualifiedMinCount", "HasValue", "Node", "Property", "Or", "Xone")
)
"""Components that a node (mostly) fails because it lacks something."""


_PRESENCE: Final = frozenset(
    SH[f"{name}ConstraintComponent"]
    for name in (
        *("Class", "Datatype", "NodeKind", "In", "Pattern", "LanguageIn", "UniqueLang"),
        *("MinLength", "MaxLength", "MinInclusive", "MinExclusive", "MaxInclusive"),
        *("MaxExclusive", "MaxCount", "QualifiedMaxCount", "LessThan", "LessThanOrEquals"),
        *("Node", "Not", "And", "Or", "Xone", "Disjoint"),
    )
)
"""Components that only a node with a value can fail."""
_BOUNDS: Final = (SH.minInclusive, SH.minExclusive, SH.maxInclusive, SH.maxExclusive)
_ORDERED: Final = (SH.lessThan, SH.lessThanOrEquals)
"""Parameters that name another property, whose values have to come after."""
_PAIRED: Final = (SH.disjoint, *_ORDERED)
"""Parameters that name another property, of which a node needs a value as well to fail."""


def _component(parameter: NamedNode) -> NamedNode:
    """Return the constraint component that has a parameter, as SHACL names it."""
    name = local_name(parameter.value)
    return SH[f"{name[0].upper()}{name[1:]}ConstraintComponent"]


_COMPARING: Final = frozenset(map(_component, _ORDERED))
_BOUNDING: Final = frozenset(map(_component, _BOUNDS))
_FORMAL: Final = frozenset(
    SH[f"{name}ConstraintComponent"] for name in ("Datatype", "NodeKind", "Class", "LanguageIn")
)
"""Components that ask for a form of the value, whatever it says."""
COUNTED: Final = frozenset({SH.MaxCountConstraintComponent, SH.UniqueLangConstraintComponent})
"""Components that no value alone breaks, but one value too many."""
_UNBOUNDED: Final = 1_000_000
LEAST: Final = 3
"""Failing nodes that make a candidate; of fewer only families whose values show it are asked."""


_THINGS: Final = frozenset({SH.IRI, SH.BlankNodeOrIRI})


@dataclass(frozen=True)
class View:
    """What a proposer looks at: the graph, one symptom, its marks.

    `known` are the nodes of regions looked at before, by the name of the region's mark; `answers`
    the rows of queries that several symptoms ask, `parted` the nodes of each level, by population
    and pattern. `complete` are the properties and classes that were declared complete for all its
    nodes, `asked` the paths of several steps at whose end shapes ask all of them for a value;
    `offered` what `values` gave before; `kept` what a proposer keeps for other symptoms of
    the same population, under a name of its own; `budget` is asked before each unit of work; what
    is drawn by lot is drawn with `seed`. `failed` are the failing nodes before anything was taken
    out: of this symptom, then of every symptom of the population. `weight` is what a passing node
    stands for beside a failing one, where nodes were drawn by whether they fail.
    """

    graph: Graph
    constraint: Constraint
    marks: Marks
    known: dict[str, int] = field(default_factory=dict, repr=False)
    answers: dict[str, Sequence[Row]] = field(default_factory=dict, repr=False)
    parted: dict[str, dict[str, int]] = field(default_factory=dict, repr=False)
    complete: frozenset[NamedNode] = frozenset()
    asked: frozenset[tuple[NamedNode, ...]] = frozenset()
    budget: Budget = field(default=UNLIMITED, repr=False, compare=False)
    seed: int = 0
    kept: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)
    offered: dict[tuple[str, frozenset[NamedNode], Reading | None], dict[str, Value]] = field(
        default_factory=dict, repr=False, compare=False
    )
    failed: tuple[int, ...] = field(default=(), repr=False, compare=False)
    weight: float = 1.0

    def values(self, split: Split, reading: Reading | None = None) -> dict[str, Value]:
        """Return the values every family may ask for, where a query is read in one of its ways."""
        # A repair that is tried may bring a predicate new forms.
        key = (split.scheme, self.graph.formed, reading)
        if key not in self.offered:
            self.offered[key] = self._values(split, reading)
        return self.offered[key]

    def read_as(self, family: Template, values: Mapping[str, Term]) -> Reading | None:
        """Return the reading of a query from which a family bound some values.

        None for a rule that has no readings, or where the family asks for none.
        """
        ends = (values.get("via"), values.get("dimension"))
        found = [one for one in self.constraint.readings if reads(family, one)]
        for one in found:
            if ends in ((None, one.predicate), one.ends):
                return one
        return next(iter(found), None)

    def _values(self, split: Split, reading: Reading | None) -> dict[str, Value]:
        path = self.constraint.path if reading is None else reading.path
        predicate = path.predicate if path is not None else None
        passing = self.marks.population.count - self.marks.failing_count
        offered: dict[str, Value] = {
            "symptom": self.marks.failing,
            "half": split.mining or split.discovery,
            "population": self.marks.everyone,
            "least": number(LEAST),
            "lone": self.marks.failing_count < LEAST,
            "passing": number(round(self.weight * passing)),
            "failed": number(self.marks.failing_count),
            "weight": Literal(f"{self.weight:.9f}", datatype=XSD.decimal),
            "constrained": list(own_terms(self.constraint)),
            "raised": self._raised(),
            "listed": self._listed(),
            "chosen": self._chosen(predicate),
            "imported": self._imported(),
            "asked": self.is_question,
            "unique": self.constraint.component == SH.UniqueLangConstraintComponent,
            "published": list(published()),
            "vocabularies": list(vocabularies()),
            "akin": list(akin(predicate)) if predicate is not None else [],
        }
        offered |= self._of_rule() if reading is None else _of_reading(reading)
        asked = self.constraint.parameters if reading is None else reading.parameters
        named = {self.constraint.component} if reading is None else reading.named
        offered |= self._of_the_exposed(formal=bool(_FORMAL & named))
        offered |= {
            "classed": SH["class"] in asked,
            "kinds": self._kinds(asked),
            "allowed": self._allowed(reading),
            "most": _most(asked),
        }
        offered["textual"] = bool((_OF_TEXTS | COUNTED) & named)
        offered |= {"ordered": bool(_COMPARING & named), "bounded": bool(_BOUNDING & named)}
        offered |= self._of_iris()
        if not self.is_question:
            offered["shape"] = self.constraint.component
        if split.sound is not None:
            offered["sound"] = split.sound.name
        offered |= _steps(path) | _link(path, self.constraint)
        if predicate is not None:
            offered["predicate"] = predicate
            # A query reads values as the store has them.
            offered["formed"] = predicate in self.graph.formed and reading is None
            offered["form"] = NamedNode(FORM_PREFIX + predicate.value)
        for name in ("class", "datatype"):
            for wanted in asked.get(SH[name], ())[:1]:
                if isinstance(wanted, NamedNode):
                    offered[name] = wanted
        if SH.LanguageInConstraintComponent in named:
            # Who asks for a language asks for texts that have one.
            offered.setdefault("datatype", RDF.langString)
        offered["spoken"] = offered.get("datatype") == RDF.langString
        return offered

    def _chosen(self, predicate: NamedNode | None) -> "list[NamedNode | Literal | Fragment]":
        """Return the properties of which each node has one, where the right one is among them.

        Other ways to choose nodes say nothing of what stands in place of it.
        """
        found = chosen_by(self.constraint)
        return list(found) if predicate in found else []

    def _of_the_exposed(self, *, formal: bool) -> dict[str, Value]:
        """Return who could fail, and whether nearly all do; `formal` rules ask for a form."""
        could = exposed(self).bit_count()
        # Who has both of two properties that are compared may well be who has one too many.
        paired = any(name in self.constraint.parameters for name in _PAIRED)
        rate = weighted_rate(self.marks.failing_count, could, self.weight)
        everyone = self.marks.population.count + self.marks.population.unexposed
        asked = _asked_of(self.constraint)
        needed: dict[str, Value] = {"needed": asked[0]} if asked else {}
        whole = weighted_rate(self.marks.failing_count, everyone, self.weight)
        return needed | {
            "exposed": Fragment("") if paired else exposure(self),
            "peers": Fragment("") if paired else exposure(self, "peer"),
            "partly": not paired and could < everyone,
            "everywhere": whole >= NEARLY,
            "uniform": rate >= NEARLY and not formal,
        }

    def _of_rule(self) -> dict[str, Value]:
        """Return what the rule itself says of the values that it asks for."""
        inner: dict[str, Value] = {"inner": list(self.constraint.inner)}
        typed: dict[str, Value] = {"typed": True}
        # Of which kind a value is does not hang on what is said of it.
        described: dict[str, Value] = {"described": True}
        return (
            (inner if self.constraint.inner else {})
            | (typed if self._asks_class else {})
            | (described if self.constraint.component != SH.NodeKindConstraintComponent else {})
            | self._compared()
            | self._bounded()
            | {
                "linked": self._linked(),
                "absence": self.constraint.component in _ABSENCE,
                "counted": self.constraint.component in COUNTED,
                "qualified": SH.qualifiedValueShape in self.constraint.parameters,
                "compiled": self.names_values,
                "offending": self.constraint.violation,
                "judged": True,
            }
        )

    def _compared(self) -> dict[str, Value]:
        """Return the property with whose values those of the path are compared."""
        asked = self.constraint.parameters
        named = (term for name in _ORDERED for term in asked.get(name, ()))
        found = next((term for term in named if isinstance(term, NamedNode)), None)
        return {} if found is None else {"compared": found}

    def _bounded(self) -> dict[str, Value]:
        """Return the bound of a rule that has one."""
        asked = self.constraint.parameters
        found = (term for name in _BOUNDS for term in asked.get(name, ()))
        bound = next((term for term in found if isinstance(term, Literal)), None)
        return {} if bound is None else {"bound": bound}

    def _imported(self) -> "list[NamedNode | Literal | Fragment]":
        """Return what the shapes graph imports."""
        shapes = self.constraint.shapes
        found = shapes.subjects(OWL.imports) if shapes is not None else ()
        named = (t for s in found for t in (shapes.objects(s, OWL.imports) if shapes else ()))
        return sorted({t for t in named if isinstance(t, NamedNode)}, key=str)

    def _allowed(self, reading: Reading | None) -> "list[NamedNode | Literal | Fragment]":
        """Return the values that the rule lists or asks for; none where it asks for others."""
        asked, shapes = self.constraint.parameters, self.constraint.shapes
        found = list(asked.get(SH.hasValue, ()))
        if reading is not None:
            found += reading.allowed
        for head in asked.get(SH["in"], ()) if shapes is not None else ():
            found += shapes.list(head) or [] if shapes is not None else []
        return [term for term in found if isinstance(term, NamedNode | Literal)]

    def _kinds(
        self, asked: Mapping[NamedNode, tuple[Term, ...]]
    ) -> "list[NamedNode | Literal | Fragment]":
        """Return the classes that the rule asks for, and the others of its shape."""
        shape, shapes = self.constraint.shape, self.constraint.shapes
        beside = shapes.objects(shape, SH["class"]) if shapes is not None and shape else ()
        found = {*asked.get(SH["class"], ()), *beside}
        return sorted((term for term in found if isinstance(term, NamedNode)), key=str)

    def _linked(self) -> bool:
        """Check whether the shape asks for things, not for literals."""
        asked = self.constraint.parameters
        kinds = asked.get(SH.nodeKind, ())
        return SH["class"] in asked or any(kind in _THINGS for kind in kinds)

    @property
    def _asks_class(self) -> bool:
        """Whether the rule may ask for the class of a value, itself or by an inner shape."""
        text = self.constraint.violation.text
        return self.constraint.is_listed or "rdf:type" in text or TYPE.value in text

    @property
    def asks_iri(self) -> bool:
        """Whether the rule is about the text of the node's own IRI."""
        if self.constraint.path is None and self.constraint.component in _OF_TEXTS:
            return True
        named = self.constraint.component in _OF_QUERIES
        return named and asked_iris(self.constraint.violation).own

    @property
    def holds_iri(self) -> bool:
        """Whether an outcome holds the node's own IRI against what else is said of the node."""
        asked = self.is_question
        return asked and asked_iris(self.constraint.violation).held

    def _of_iris(self) -> dict[str, Value]:
        """Return whether the rule is about the IRIs of the nodes, or of their properties."""
        offered: dict[str, Value] = {"named" if self.asks_iri else "minted": True}
        asked = self.constraint.component in _OF_QUERIES
        if asked and asked_iris(self.constraint.violation).properties:
            offered["properties"] = True
        return offered

    @property
    def is_question(self) -> bool:
        """Whether a query asks who has an outcome, and no rule says who fails.

        What goes with an outcome is asked then. That a few groups differ answers it, also where
        such groups differ anyway; of a failure that is no cause.
        """
        return self.constraint.component == TRAILS.OutcomeQuery

    @property
    def looks_at(self) -> Reading | None:
        """The ends of one link that an outcome looks at; None for any other rule."""
        if not self.is_question or self.constraint.at is not None:
            return None
        found = self.constraint.readings
        alone = len(found) == 1 and found[0].offending is not None
        return found[0] if alone and found[0].predicate is not None else None

    @property
    def names_values(self) -> bool:
        """Check whether the constraint says which values are at fault.

        One that was compiled from a shape and judges each value alone does, and one that lists
        the values of its failing nodes; one that lists these alone, or counts values, does not.
        """
        name = f"sh:{self.constraint.component.value.rpartition('#')[2]}"
        judged = any(
            made.header.get("component") == name and made.header.get("form") == "test"
            for made in role("observe").values()
        )
        listed = _VALUE.search(self.constraint.violation.text) is not None
        return judged and (self.constraint.aim is not None or listed)

    def split(self, family: Template) -> Split:
        """Return the split that a family works with.

        Where so few nodes fail that a half hardly holds any, a mechanism is looked for among all:
        it is told by a direct check of each node, not by how often nodes fail.
        """
        if family.header["aspect"] == "mechanism" and self.marks.split and self._few:
            return self.marks.whole
        return self.marks.scheme(family.header["split"])

    @property
    def _few(self) -> bool:
        return self.marks.failing_count < _FEWEST

    def _raised(self) -> Literal:
        """Return the rate from which a region fails clearly more often than the population.

        It is a rate among the nodes that are at hand, as a query counts them.
        """
        rate = among_drawn(self._rate + _LIFT * (1 - self._rate), self.weight)
        return Literal(f"{rate:.6f}", datatype=XSD.decimal)

    @property
    def _rate(self) -> float:
        """The rate of the population; where nodes were drawn, that of the graph."""
        return weighted_rate(self.marks.failing_count, self.marks.population.count, self.weight)

    def _listed(self) -> "list[NamedNode | Literal | Fragment]":
        """Return the properties that a closed shape lists or ignores: all its condition names."""
        return [NamedNode(iri) for iri in iris_in(self.constraint.violation.text)]


def reads(family: Template, reading: Reading) -> bool:
    """Check whether a family is about what a query asks, as it is read.

    Where to have a value is to have the outcome, nothing that is wrong with values is a cause.
    """
    wanted = frozenset(family.header.get("components", "").split())
    if reading.most == 0 and "beside-value" not in family.header:
        return False
    if "UniqueValue" in reading.components:
        # No value is wrong by itself that another node has, too.
        return "UniqueValue" in wanted
    return bool(wanted & (reading.components | {"OutcomeQuery"}))


def _of_reading(reading: Reading) -> dict[str, Value]:
    """Return what a reading of a query says of the values that it asks for."""
    offered: dict[str, Value] = {
        "linked": reading.linked,
        "absence": reading.lacking,
        "counted": bool({"MaxCount", "UniqueLang"} & reading.components),
        "unique": "UniqueLang" in reading.components,
        "qualified": "QualifiedMinCount" in reading.components,
        "typed": True,
        "compiled": reading.offending is not None,
        "offending": reading.offending or Fragment(""),
    }
    if reading.compared is not None:
        offered["compared"] = reading.compared
    if reading.described:
        offered["described"] = True
    # That a term is not there tells something too where it is said which values are wrong or right.
    if reading.described or reading.offending is not None or reading.allowed:
        offered["judged"] = True
    return offered


def _most(asked: Mapping[NamedNode, tuple[Term, ...]]) -> Literal:
    """Return how many values a rule allows, where it counts them."""
    given = asked.get(SH.maxCount, ())
    return next((term for term in given if isinstance(term, Literal)), number(_UNBOUNDED))


def _steps(path: Path | None) -> dict[str, Value]:
    """Return a path that goes forwards as a whole, its last predicate, and those of several steps.

    Of several steps these are the first predicate, and both of a path of two.
    """
    if path is None or (path.kind != "/" and path.predicate is None):
        return {}
    steps = [path.predicate] if path.kind != "/" else [part.iri for part in path.parts]
    found: dict[str, Value] = {}
    if all(steps) and steps[-1] is not None:
        found |= {"along": Fragment(path.text), "last": steps[-1]}
    if len(steps) > 1 and steps[0] is not None:
        found["first"] = steps[0]
    leading, closing = steps if len(steps) == 2 else (None, None)  # noqa: PLR2004 - two steps
    if leading is None or closing is None:
        return found
    return found | {"leading": leading, "closing": closing}


def _link(path: Path | None, constraint: Constraint) -> dict[str, Value]:
    """Return the predicate of a path of one step, and whether the rule goes it backwards.

    Without a path, it is the predicate by which the target finds the nodes: who says of which class
    its subjects are asks for what such a thing points at, as a path that goes it backwards does.
    """
    aim = constraint.aim
    if path is not None:
        inward = path.kind == "^"
        link: Term | None = path.parts[0].iri if inward else path.iri
    elif aim is not None and aim.kind in {"subjects", "objects"}:
        link, inward = aim.terms[0], aim.kind == "subjects"
    else:
        return {}
    brought = path is None
    found: dict[str, Value] = {"inward": inward, "brought": brought}
    return found | {"link": link} if isinstance(link, NamedNode) else {}


def own_terms(constraint: Constraint) -> list[NamedNode]:
    """Return every IRI of the outcome condition; no region may be made of these."""
    found, spoken = named_in(constraint), constraint.spoken
    if spoken is not None:
        # Who is looked at may be said by what tells those that fail from others.
        found = {iri for iri in found if iri.value in spoken}
    return sorted(found | set(predicates(constraint.path)), key=str)


def named_in(constraint: Constraint) -> set[NamedNode]:
    """Return every IRI that the condition of an outcome names, rdf:type left out."""
    if constraint.is_listed:
        return set()
    texts = f"{constraint.violation.text} {constraint.violation.prefixes}"
    return {NamedNode(iri) for iri in iris_in(texts)} - {TYPE}


def predicates(path: Path | None) -> Iterator[NamedNode]:
    """Return every predicate of a path."""
    if path is None:
        return
    if path.iri is not None:
        yield path.iri
    for part in path.parts:
        yield from predicates(part)


def number(value: int) -> Literal:
    """Make an xsd:integer."""
    return Literal(str(value), datatype=XSD.integer)


def members(view: View, pattern: Fragment) -> int:
    """Return the nodes of the population that fit a pattern (left out ones too), a bit for each."""
    name = region_name(view.marks.population, digest(pattern)).value
    if name not in view.known:
        text = template("context", "members").render(
            region=pattern, population=view.marks.population.mark
        )
        view.known[name] = view.marks.population.mask(view.graph.store.column(text))
    return view.known[name]


def leveled(view: View, levels: Fragment) -> dict[str, int]:
    """Return the nodes of the population of each level (left out ones too), a bit for each."""
    population = view.marks.population
    text = template("context", "leveled").render(population=population.mark, levels=levels)
    if text not in view.parted:
        found = view.parted.setdefault(text, {})
        for row in view.graph.store.select(text):
            place, level = population.index.get(row["focus"]), row["level"].value
            if place is not None:
                found[level] = found.get(level, 0) | 1 << place
    return view.parted[text]


def exposed(view: View) -> int:
    """Return the nodes of the population that could fail, a bit for each.

    Where a rule is about the values of a property, these are the nodes that have one: what has
    none passes, whatever else is true of it.
    """
    having, everyone = exposure(view), view.marks.population.everyone
    return members(view, having) & everyone if having.text else everyone


def exposure(view: View, node: str = "focus") -> Fragment:
    """Return the pattern of the ?focus (or `node`) that could fail; nothing where all could."""
    return exposure_of(view.constraint, node)


def exposure_of(given: Constraint, node: str = "focus") -> Fragment:
    """Return that pattern for a rule, or for a query that is read as one."""
    end = "asked" if node == "focus" else f"{node}asked"
    needed = _asked_of(given)
    return Fragment(" ".join(f"?{node} {one} ?{end}{n} ." for n, one in enumerate(needed)))


def _asked_of(given: Constraint) -> list[NamedNode]:
    """Return the properties of which a node needs a value to fail; none where it needs none."""
    if forbids(given):
        return []
    if given.component == TRAILS.OutcomeQuery:
        found = given.readings
        # Of several things that are asked, one may be enough; two that are compared are both.
        alone = len(found) == 1 or all("LessThan" in one.components for one in found)
        asked = [one.predicate for one in found if alone and not one.lacking]
        return [p for p in asked if p is not None] if asked and all(asked) else [*given.needed]
    if given.component not in _PRESENCE:
        return []
    path = given.path
    needed = [] if path is None or path.predicate is None else [path.predicate]
    beside = (term for name in _PAIRED for term in given.parameters.get(name, ()))
    return [one for one in (*needed, *beside) if isinstance(one, NamedNode)]


def forbids(constraint: Constraint) -> bool:
    """Check whether a rule allows no value at all, so that to have one is to fail.

    Or whether a query asks just that: which nodes have one.
    """
    given = constraint.parameters.get(SH.maxCount, ())
    none = any(isinstance(term, Literal) and term.value.strip("+-0") == "" for term in given)
    return none or any(one.most == 0 for one in constraint.readings)


def digest(pattern: Fragment) -> str:
    """Return a short name for a region."""
    return hashlib.sha256(pattern.text.encode()).hexdigest()[:16]


def inside(view: View, pattern: Fragment) -> Fragment:
    """Return the pattern of a region by its mark."""
    name = region_name(view.marks.population, digest(pattern))
    return template("context", "inside-mark").fragment(region=name)


def table(view: View, nodes: int, half: int | None = None) -> Table:
    """Return the 2×2 table of a set of nodes on a half, or on the whole population."""
    everyone = view.marks.population.everyone if half is None else half
    failing = view.marks.failing_mask & everyone
    nodes &= everyone
    bad = (nodes & failing).bit_count()
    rest = failing.bit_count() - bad, (everyone & ~nodes).bit_count()
    return Table(bad, nodes.bit_count(), *rest, view.weight)
