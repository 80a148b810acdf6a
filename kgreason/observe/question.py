"""From a question to symptoms that it may mean: those at hand, and outcome queries to choose from.

Words of the question are held against the names and labels of the graph's own terms; nothing is
understood. The forms of outcome query are the files `queries/context/outcome-*.rq`; cue words
("without", "late") are in their headers.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Any, Final

from pyoxigraph import Literal, NamedNode

from kgreason.base.store import Term
from kgreason.base.templates import Fragment, Template, Value, role, template
from kgreason.base.terms import PREFIXES, TYPE
from kgreason.context.symptom import Observed
from kgreason.graph import Graph
from kgreason.graph.names import local_name
from kgreason.observe.question_words import CUE_FAR, Asked, Calling, Vocabulary, common, stem, stems
from kgreason.shacl import Constraint
from kgreason.shacl import names as symptom_names

MOST: Final = 9
"""As many as are offered."""
_CLASSES: Final = 40
_FEW: Final = 50
_DATES: Final = 6
_COUNTED: Final = 2 * MOST
_PROPERTY, _VALUE, _CLASS, _HALF_CLASS = 2, 2, 2, 1
_LANGUAGES: Final = tuple(PREFIXES[one] for one in ("rdf", "rdfs", "owl", "sh"))
"""Whose classes hold the words of a schema; these are asked about only where they are named."""
_TRUE: Final = Literal(True)  # noqa: FBT003
_FORM: Final = "outcome-"
_OVER_ANY: Final = frozenset({"any", "pointers"})


@dataclass(frozen=True)
class Offered:
    """What a question may mean: words, how many nodes fail of how many, and how it is asked.

    `query` is an outcome query; it is empty for a symptom at hand, which `only` names as the option
    of that name takes it, and for `every` symptom at hand. `score` counts the words that fit, which
    are `used` (by their stems), `extra` those of the names that the question does not have; it is
    `cued` where a word of it says what is odd. `classes` are those whose nodes it is about.
    `suspected` are hypotheses about what the question names beside the outcome, as `--hypothesis`
    takes them; `unread` are words of the question that name nothing. With `within` the query asks a
    symptom at hand of some of its nodes.
    """

    words: str
    score: int
    failing: int
    nodes: int
    query: str = ""
    only: str = ""
    extra: int = 0
    classes: tuple[NamedNode, ...] = ()
    cued: bool = False
    used: frozenset[str] = frozenset()
    suspected: tuple[Mapping[str, Any], ...] = field(default=(), hash=False)
    unread: str = ""
    every: bool = False
    within: bool = False


def spoken_of(question: str, rule: Constraint, name: str) -> frozenset[str]:
    """Return the stems of a question that a rule is called by: name, property and shape."""
    called = [name, rule.path.text if rule.path else ""]
    called += [local_name(rule.named_shape.value)] if rule.named_shape else []
    return common(question, " ".join(called))


def all_at_hand(graph: Graph, observed: Observed) -> Offered | None:
    """Return all symptoms of shapes as one reading, for a question that names none of them."""
    failing, nodes = observed.failing, {node for one in observed.failing for node in one.failing}
    if not failing:
        return None
    words = f"All {len(failing)} broken rules" if len(failing) > 1 else "The one broken rule"
    classes = tuple(dict.fromkeys(c for one in failing for c in _classes(graph, one.failing)))
    most = max(one.population for one in failing)
    return Offered(words, 0, len(nodes), most, classes=classes, every=True)


def at_hand(question: str, graph: Graph, observed: Observed) -> list[Offered]:
    """Return the symptoms of shapes that a question may mean, the best first."""
    failing = observed.failing
    out = []
    for symptom, name in zip(failing, symptom_names([s.constraint for s in failing]), strict=True):
        rule = symptom.constraint
        used = spoken_of(question, rule, name)
        score = len(used)
        only = rule.path.text if rule.path else rule.named_shape.value if rule.named_shape else ""
        if score and only:
            fails = len(symptom.failing)
            nodes = rule.population or fails
            classes = _classes(graph, symptom.failing)
            out.append(Offered(name, score, fails, nodes, only=only, classes=classes, used=used))
    return _best(out)


def _classes(graph: Graph, failing: Iterable[Term]) -> tuple[NamedNode, ...]:
    """Return the classes of the first of some nodes."""
    found: dict[NamedNode, None] = {}
    for node in islice(failing, _FEW):
        if not isinstance(node, Literal):
            for quad in graph.store.inner.quads_for_pattern(node, TYPE, None):
                if isinstance(quad.object, NamedNode):
                    found.setdefault(quad.object)
    return tuple(found)


def outcomes(question: str, vocabulary: Vocabulary) -> list[Offered]:
    """Return the outcome queries that a question may mean, the best first."""
    reader = _Reader(Asked(question), vocabulary)
    found = [one for population in reader.populations() for one in reader.about(population)]
    found.sort(key=lambda one: (-one.score, one.extra))
    # To count who has an outcome takes longer than all the rest.
    offered = (made for one in found if (made := reader.offered(one)) is not None)
    return _best(islice(offered, _COUNTED))


@dataclass(frozen=True)
class Complete:
    """What a question may say is lacking, and all nodes of a class have.

    `score`, `cued` and `used` are as for Offered.
    """

    words: str
    score: int
    cued: bool
    used: frozenset[str]


def complete(question: str, vocabulary: Vocabulary) -> Complete | None:
    """Return the best of what a question may say is lacking, and is nowhere."""
    reader = _Reader(Asked(question), vocabulary)
    found = (said for one in reader.populations() for said in reader.complete(one))
    return max(found, key=lambda one: one.score, default=None)


@dataclass(frozen=True)
class NamedClass:
    """A class that a question names in full: what it is called, and all that is said of its nodes.

    `words` are the stems of the question's words that name it, `classes` itself and those below it,
    `nodes` how many nodes they have.
    """

    called: str
    words: frozenset[str]
    said: tuple[str, ...]
    classes: tuple[NamedNode, ...] = ()
    nodes: int = 0


def named_classes(question: str, vocabulary: Vocabulary) -> list[NamedClass]:
    """Return the classes that a question names in full."""
    reader = _Reader(Asked(question), vocabulary)
    out = []
    for one in reader.populations():
        if one.words and not one.extra:
            said = sorted(reader.properties(one), key=lambda p: (-p.having, p.name.value))
            called = tuple(vocabulary.names(each.name) for each in said)
            told = vocabulary.names(one.name)
            out.append(NamedClass(told, one.words, called, one.classes, one.nodes))
    return out


def cue_stems() -> frozenset[str]:
    """Return the stems of all words by which a question says what is odd."""
    forms = (made for name, made in role("context").items() if name.startswith(_FORM))
    return frozenset(stem(one) for made in forms for one in made.header.get("cues", "").split())


def _best(found: Iterable[Offered]) -> list[Offered]:
    ranked = sorted(found, key=lambda o: (-o.score, o.extra, -o.failing, o.words))
    alike: dict[object, Offered] = {}
    for one in ranked:
        # A class and the one above it have the same nodes where there is nothing beside them.
        key = (one.only or one.words.partition(" ")[2], one.failing, one.nodes)
        alike.setdefault(key, one)
    return list(alike.values())[:MOST]


@dataclass(frozen=True)
class _Population:
    """Nodes of some classes: how they are called together, how many, and what of it was asked."""

    name: NamedNode
    classes: tuple[NamedNode, ...]
    nodes: int
    words: frozenset[str]
    extra: int

    @property
    def score(self) -> int:
        """What the words of the question that name it count."""
        return len(self.words) * (_HALF_CLASS if self.extra else _CLASS)


@dataclass(frozen=True)
class _Property:
    """What is said of a population, with the stems of its name that were asked, and those not."""

    name: NamedNode
    asked: frozenset[str]
    extra: int
    having: int
    values: int
    numbers: int
    dates: int


@dataclass(frozen=True)
class _Candidate:
    """An outcome query that a question may mean, before anybody counted who has the outcome."""

    form: Template
    population: _Population
    given: Mapping[str, Value]
    score: int
    extra: int
    used: frozenset[str]
    cued: bool


class _Reader:
    """Holds the words of a question against one graph."""

    def __init__(self, asked: Asked, vocabulary: Vocabulary) -> None:
        self._asked, self._rows, self._names = asked, vocabulary.rows, vocabulary.names
        self._calling = Calling(asked, vocabulary.graph)
        self._select = vocabulary.graph.store.select
        self._claimed = frozenset[str]()
        self._named_kinds = list[NamedNode]()

    @cached_property
    def _forms(self) -> tuple[Template, ...]:
        return tuple(made for name, made in role("context").items() if name.startswith(_FORM))

    def populations(self) -> list[_Population]:
        """Return the classes that have nodes, and those above them; the named first."""
        sizes: dict[Term, int] = {}
        for row in self._rows("context", "asked-classes"):
            if isinstance(row["class"], NamedNode):
                sizes[row["class"]] = int(row["nodes"].value)
        below: dict[Term, list[NamedNode]] = {}
        for row in self._rows("look", "class-tree"):
            if isinstance(row["below"], NamedNode):
                below.setdefault(row["class"], []).append(row["below"])
        found = [
            self._population(kind, (kind, *below.get(kind, [])), sizes)
            for kind in dict.fromkeys((*sizes, *below))
            if isinstance(kind, NamedNode)
        ]
        full = [one for one in found if one.words and not one.extra]
        named = [set(one.classes) for one in full]
        self._claimed = frozenset(word for one in full for word in one.words)
        self._named_kinds = [one.name for one in full]
        plain = [
            one
            for one in found
            if one.words
            or not (
                one.name.value.startswith(_LANGUAGES)
                or any(inner <= set(one.classes) for inner in named)
            )
        ]
        plain.sort(key=lambda one: (-len(one.words), one.extra, -one.nodes, one.name.value))
        return plain[:_CLASSES]

    def _population(
        self, kind: NamedNode, classes: tuple[NamedNode, ...], sizes: Mapping[Term, int]
    ) -> _Population:
        having = tuple(dict.fromkeys(one for one in classes if one in sizes))
        nodes = sizes.get(kind, 0)
        if len(having) > 1:
            (row,) = self._rows("look", "count-of", **_of(having), beside=[])
            nodes = int(row["nodes"].value)
        asked, extra = self._calling.fits(kind)
        return _Population(kind, having, nodes, asked, extra)

    def about(self, population: _Population) -> Iterator[_Candidate]:
        """Return the outcome queries about a population that words of the question fit."""
        properties = list(self.properties(population))
        for made in self._forms:
            for given, of in self._given(made, population, properties):
                candidate = self._candidate(made, population, given, of)
                if candidate is not None:
                    yield candidate

    def complete(self, population: _Population) -> Iterator[Complete]:
        """Return the properties that were asked about and that all nodes of a named class have."""
        called = self._names(population.name)
        lacking = template("context", f"{_FORM}missing")
        for one in self.properties(population) if self._named(population) else ():
            if one.asked and one.having == population.nodes:
                said = f"all {population.nodes:,} nodes of the class {called} have "
                score = population.score + len(one.asked) * _PROPERTY
                cue = self._cue(lacking, one.asked)
                used = population.words | one.asked
                yield Complete(said + self._names(one.name), score + cue, cue > 0, used)

    def properties(self, population: _Population) -> Iterator[_Property]:
        """Return what is said of a population."""
        yield from self._said("asked-properties", population)

    def _said(self, asked: str, population: _Population) -> Iterator[_Property]:
        for row in self._rows("context", asked, **_of(population.classes)):
            known = row["property"]
            if isinstance(known, NamedNode) and known != TYPE:
                counts = ("having", "values", "numbers", "dates")
                numbers = (int(row[n].value) if n in row else 0 for n in counts)
                fit, extra = self._calling.fits(known)
                # A word that names the class does not name its property too, nor one that names
                # another class in full a part of a longer name.
                fit -= population.words | (self._claimed if extra else frozenset())
                yield _Property(known, fit, extra, *numbers)

    def _given(
        self, made: Template, population: _Population, properties: Sequence[_Property]
    ) -> Iterator[tuple[dict[str, Value], Sequence[_Property]]]:
        """Return what a form can be asked with, and the properties that it is then about."""
        over = made.header.get("over", "any")
        classes = _of(population.classes)
        if over == "dates":
            days = [one for one in properties if one.dates][:_DATES]
            cued = self._cue(made, frozenset()) and (population.words or any(d.asked for d in days))
            for one, other in ((a, b) for a in days for b in days if a is not b and cued):
                yield {**classes, "property": one.name, "other": other.name}, (one, other)
            return
        if over == "pointing":
            yield from self._pointing(classes, population)
            return
        if over == "pointers":
            properties = list(self._said("asked-pointers", population))
        for one in properties:
            given = {**classes, "property": one.name}
            if over == "values" and one.values <= _FEW:
                for value in self._values(given, population, one):
                    yield {**given, "value": value}, (one,)
            elif one.asked and (over in _OVER_ANY or (over == "numbers" and one.numbers > 1)):
                yield given, (one,)

    def _pointing(
        self, classes: Mapping[str, Value], population: _Population
    ) -> Iterator[tuple[dict[str, Value], Sequence[_Property]]]:
        """Return the classes that the question names and whose things point at a population."""
        kinds: list[NamedNode | Literal | Fragment] = [
            kind for kind in self._named_kinds if kind not in population.classes
        ]
        rows = self._rows("context", "asked-pointing", **classes, kind=kinds) if kinds else ()
        for row in rows:
            kind, by, having = row["kind"], row["property"], int(row["having"].value)
            if isinstance(kind, NamedNode) and isinstance(by, NamedNode) and by != TYPE:
                fit, _ = self._calling.fits(kind)
                one = _Property(by, fit - population.words, 0, having, having, 0, 0)
                yield {**classes, "property": by, "kind": kind}, (one,)

    def _values(
        self, given: Mapping[str, Value], population: _Population, one: _Property
    ) -> Iterator[NamedNode | Literal]:
        """Return the values that most words of a name are asked of, and yes where one is asked."""
        for row in self._rows("context", "asked-values", **given):
            value, every = row["value"], int(row["nodes"].value) == population.nodes
            if isinstance(value, NamedNode | Literal) and not every:
                fit, extra = self._calling.fits(value)
                new = fit - population.words - one.asked
                if (new and extra <= len(fit)) or (value == _TRUE and one.asked):
                    yield value

    def _candidate(
        self,
        made: Template,
        population: _Population,
        given: Mapping[str, Value],
        of: Sequence[_Property],
    ) -> _Candidate | None:
        """Return an outcome query with its score; None where only a cue could speak for it."""
        about = frozenset(word for one in of for word in one.asked)
        cue = self._cue(made, about)
        if cue == CUE_FAR and made.header.get("over") == "numbers":
            cue = 0  # "so many nodes" says nothing of a number
        if not cue and "cued" in made.header:
            return None
        value = given.get("value")
        fit, more = frozenset[str](), 0
        if isinstance(value, NamedNode | Literal):
            fit, more = self._calling.fits(value)
        # A word names one thing: what names the class or the property does not name the value too.
        own = len(fit - about - population.words) * _VALUE
        score = population.score + len(about) * _PROPERTY + own + cue + self._due(made, of)
        extra = population.extra + sum(one.extra for one in of) + more
        used = population.words | about | fit
        return _Candidate(made, population, given, score, extra, used, cued=cue > 0)

    def offered(self, one: _Candidate) -> Offered | None:
        """Count who has the outcome; None where nobody has it or everybody."""
        query = one.form.render(**one.given)
        failing, nodes = self._counted(query)
        header = one.form.header
        rare = header.get("over") == "dates" or ("rare" in header and not one.cued)
        if not 0 < failing < nodes or (rare and 2 * failing > nodes):
            return None
        said = {name: self._names(v) for name, v in one.given.items() if isinstance(v, Term)}
        said["class"] = self._names(one.population.name)
        return Offered(
            one.form.header["words"].format(**said),
            one.score,
            failing,
            nodes,
            query,
            extra=one.extra,
            classes=one.population.classes,
            cued=one.cued,
            used=one.used,
        )

    def _named(self, population: _Population) -> bool:
        return bool(population.words) and not population.extra

    def _cue(self, made: Template, about: frozenset[str]) -> int:
        return self._asked.cue(frozenset(made.header.get("cues", "").split()), about)

    def _due(self, made: Template, of: Sequence[_Property]) -> int:
        """Return 1 where the second property is called as one that the first is held against."""
        due = stems(made.header.get("due", ""))
        called = map(stems, self._calling.names(of[-1].name)) if due else ()
        return int(any(due & one for one in called))

    def _counted(self, query: str) -> tuple[int, int]:
        """Return how many nodes have the outcome of a query, of how many; of numbers a quarter."""
        rows = [row for row in self._select(query) if "outcome" in row]
        every = {row["focus"] for row in rows}
        said = {row["outcome"].value for row in rows}
        if not said <= {"true", "false"}:
            return len(every) // 4, len(every)
        return len({row["focus"] for row in rows if row["outcome"].value == "true"}), len(every)


def _of(classes: Sequence[NamedNode]) -> dict[str, Value]:
    return {"class": [*classes]}
