"""From a question to symptoms that it may mean: those at hand, and outcome queries to choose from.

Words of the question are held against the names and labels of the graph's own terms; nothing is
understood. Cue words ("without", "late") are those in the headers of the outcome queries.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from pyoxigraph import Literal, NamedNode

from kgreason.base.store import Term
from kgreason.base.templates import Template, Value, template
from kgreason.base.terms import TYPE
from kgreason.base.words import content, every_word
from kgreason.context.symptom import Observed
from kgreason.graph import Graph
from kgreason.graph.names import Names, local_name
from kgreason.shacl import names as symptom_names

MOST: Final = 9
"""As many as are offered."""
_CLASSES: Final = 40
_FEW: Final = 50
_PROPERTY, _VALUE, _CLASS, _CUE = 2, 3, 1, 1


@dataclass(frozen=True)
class Offered:
    """What a question may mean: words, how many nodes fail of how many, and how it is asked.

    `query` is an outcome query; it is empty for a symptom at hand, which `only` names as the option
    of that name takes it. `score` counts the words that fit.
    """

    words: str
    score: int
    failing: int
    nodes: int
    query: str = ""
    only: str = ""


def at_hand(question: str, observed: Observed) -> list[Offered]:
    """Return the symptoms of shapes that a question may mean, the best first."""
    asked = content(question)
    failing = observed.failing
    out = []
    for symptom, name in zip(failing, symptom_names([s.constraint for s in failing]), strict=True):
        rule = symptom.constraint
        called = [name, rule.path.text if rule.path else ""]
        called += [local_name(rule.named_shape.value)] if rule.named_shape else []
        score = len(asked & content(" ".join(called)))
        only = rule.path.text if rule.path else rule.named_shape.value if rule.named_shape else ""
        if score and only:
            fails = len(symptom.failing)
            nodes = rule.population or fails
            out.append(Offered(name, score, fails, nodes, only=only))
    return _best(out)


def outcomes(question: str, graph: Graph) -> list[Offered]:
    """Return the outcome queries that a question may mean, the best first."""
    asked, every = content(question), every_word(question)
    names = Names(graph)
    found: list[Offered] = []
    for row in graph.store.select(template("context", "asked-classes").render())[:_CLASSES]:
        kind = row["class"]
        if isinstance(kind, NamedNode):
            about = len(asked & _called(kind, names)) * _CLASS
            found += _of_class(graph, kind, int(row["nodes"].value), asked, every, about, names)
    return _best(found)


def _best(found: Sequence[Offered]) -> list[Offered]:
    return sorted(found, key=lambda o: (-o.score, -o.failing, o.words))[:MOST]


def _of_class(
    graph: Graph,
    kind: NamedNode,
    nodes: int,
    asked: frozenset[str],
    every: frozenset[str],
    about: int,
    names: Names,
) -> Iterator[Offered]:
    rows = graph.store.select(template("context", "asked-properties").render(**{"class": kind}))
    for row in rows:
        known = row["property"]
        if not isinstance(known, NamedNode) or known == TYPE:
            continue
        having, values = int(row["having"].value), int(row["values"].value)
        fits = len(asked & _called(known, names)) * _PROPERTY
        given: dict[str, Value] = {"class": kind, "property": known}
        if fits and having < nodes:
            yield _offer(
                "outcome-missing", given, names, every, about + fits, nodes - having, nodes
            )
        if fits and int(row["numbers"].value) > 1:
            for name in ("outcome-high", "outcome-low"):
                yield _offer(name, given, names, every, about + fits, having // 4, having)
        if values <= _FEW:
            yield from _of_values(graph, given, nodes, asked, about + fits, names)


def _of_values(
    graph: Graph,
    given: dict[str, Value],
    nodes: int,
    asked: frozenset[str],
    score: int,
    names: Names,
) -> Iterator[Offered]:
    for row in graph.store.select(template("context", "asked-values").render(**given)):
        value, having = row["value"], int(row["nodes"].value)
        if not isinstance(value, NamedNode | Literal) or having >= nodes:
            continue
        fits = len(asked & _called(value, names)) * _VALUE
        true = isinstance(value, Literal) and value.value == "true" and score >= _PROPERTY
        if fits or true:
            more = {**given, "value": value}
            yield _offer("outcome-value", more, names, frozenset(), score + fits, having, nodes)


def _offer(
    name: str,
    given: dict[str, Value],
    names: Names,
    every: frozenset[str],
    score: int,
    failing: int,
    nodes: int,
) -> Offered:
    made = template("context", name)
    told = {key: names(v) for key, v in given.items() if isinstance(v, NamedNode | Literal)}
    words = made.header["words"].format(**told)
    score += _CUE if _cues(made) & every else 0
    return Offered(words, score, failing, nodes, made.render(**given))


def _cues(made: Template) -> frozenset[str]:
    return frozenset(made.header.get("cues", "").split())


def _called(term: Term, names: Names) -> frozenset[str]:
    """Return the words by which a term is called: its label and its local name."""
    local = local_name(term.value) if isinstance(term, NamedNode) else term.value
    return content(f"{names(term)} {local}")
