"""Passing nodes are broken at the rule's own statement: what restates the rule is no cause."""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pyoxigraph as ox
import pytest

import kgreason
from kgreason.audit import audit
from kgreason.hypothesize.free_region import free_region
from kgreason.hypothesize.proposer import Suggestion
from kgreason.record.agents import Agent
from kgreason.review.replay import replay
from tests.lifetime_support import of

EX: Final = "https://example.org/"
HEAD: Final = f"@prefix ex: <{EX}> .\n@prefix sh: <http://www.w3.org/ns/shacl#> .\n"
NODES: Final = 160


@dataclass(frozen=True)
class Idea:
    """Proposes one region; it says that it saw nothing of the held-out half."""

    pattern: str
    agent: Agent = Agent(ox.NamedNode("https://example.org/idea"), "idea", software=True)
    mines: bool = False
    blinded: bool = True

    def propose(self, _view: Any, /) -> Iterator[Suggestion]:
        """Return the region."""
        region = free_region(self.pattern, {"ex": EX}, "idea")
        yield Suggestion(region, statement="It is so.")

    def refine(self, _view: Any, _parent: Any, _others: Any, /) -> Iterator[Suggestion]:
        """Return nothing."""
        return iter(())


def nodes(says: Callable[[random.Random, bool], str], bad: Sequence[int] | None = None) -> str:
    """Write nodes at eight sites, of which nearly those of two sites fail, and things."""
    draw = random.Random(11)
    lines = [HEAD]
    for n in range(NODES):
        site = n % 8
        fails = n in bad if bad is not None else site < 2 and n % 10 > 0
        lines.append(f"ex:n{n} a ex:Node ; ex:site ex:site{site} ; {says(draw, fails)} .")
    lines += [f"ex:t{n} a ex:Thing ; ex:name 'thing {n}' ." for n in range(20)]
    lines += [f"ex:d{n} a ex:Document ; ex:name 'document {n}' ." for n in range(20)]
    return "\n".join(lines)


def shape(text: str) -> str:
    return f"{HEAD}ex:Shape a sh:NodeShape ; sh:targetClass ex:Node ; {text} ."


def count(draw: random.Random, fails: bool) -> str:
    notes = [f"'note {draw.randrange(9)}{k}'" for k in range(draw.randint(2, 3) if fails else 1)]
    return f"ex:note {', '.join(notes)}"


def bound(draw: random.Random, fails: bool) -> str:
    return f"ex:result {draw.randrange(62, 90) if fails else draw.randrange(5, 60)}"


def linked(draw: random.Random, fails: bool) -> str:
    ends = [f"ex:d{draw.randrange(20)}", f"ex:x{draw.randrange(99)}", "'a text'"]
    return f"ex:thing {draw.choice(ends) if fails else f'ex:t{draw.randrange(20)}'}"


def closed(draw: random.Random, fails: bool) -> str:
    strange = draw.choice(["ex:colour 'red'", "ex:size 5", "ex:owner ex:t1"])
    return f"ex:note 'x'{f' ; {strange}' if fails else ''}"


def address(draw: random.Random, fails: bool) -> str:
    return f"ex:page 'http{'ss' if fails else 's'}://example.org/{draw.randrange(999)}'"


def state(draw: random.Random, fails: bool) -> str:
    return f"ex:state ex:{'delayed' if fails else draw.choice(['done', 'open'])}"


PROPERTY: Final = "sh:property [ sh:path ex:{} ; {} ]"
COUNT: Final = (count, shape(PROPERTY.format("note", "sh:maxCount 1")))
BOUND: Final = (bound, shape(PROPERTY.format("result", "sh:maxInclusive 60")))
LINKED: Final = (linked, shape(PROPERTY.format("thing", "sh:class ex:Thing")))
CLOSED: Final = (
    closed,
    shape(
        "sh:closed true ; sh:ignoredProperties (<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>) ;"
        "sh:property [ sh:path ex:note ] , [ sh:path ex:site ]"
    ),
)
ADDRESS: Final = (address, shape(PROPERTY.format("page", "sh:pattern '^https?:'")))
STATE: Final = (
    state,
    f"PREFIX ex: <{EX}> SELECT ?focus (EXISTS {{ ?focus ex:state ex:delayed }} AS ?outcome)\n"
    "WHERE { ?focus a ex:Node }",
)
LATE: Final = (
    bound,
    f"PREFIX ex: <{EX}> SELECT ?focus (?days > 60 AS ?outcome)\n"
    "WHERE { ?focus a ex:Node ; ex:result ?days }",
)
NORTH: Final = "?focus ex:site ?s . FILTER (?s IN (ex:site0, ex:site1))"
SAYS_AGAIN: Final = [
    (COUNT, "?focus ex:note ?a , ?b . FILTER (?a != ?b)"),
    (BOUND, "?focus ex:result ?r . FILTER (?r > 60.1)"),
    (LINKED, "?focus ex:thing ?t . FILTER NOT EXISTS { ?t a ex:Thing }"),
    (CLOSED, "?focus ?p ?v . FILTER (?p NOT IN (rdf:type, ex:note, ex:site))"),
    (STATE, "?focus ex:state ex:delayed ."),
    (LATE, "?focus ex:result ?r . FILTER (?r > 60.1)"),
]


def asked(world: tuple[Any, str], pattern: str, **more: Any) -> kgreason.Result:
    says, rule = world
    kind = "outcome" if "SELECT" in rule else "shapes"
    options = {kind: rule, "proposers": [Idea(pattern)], "calibration": "none"} | more
    return kgreason.investigate(nodes(says), **options)


def found(result: kgreason.Result, statement: str = "It is so.") -> tuple[Any, Any]:
    """Give a hypothesis and its evidence of the role."""
    every = of(result.record, "Hypothesis")
    (name,) = [n for n, said in every.items() if said["statement"] == [statement]]
    (told,) = [
        said
        for said in of(result.record, "Evidence").values()
        if said["testRole"][0].endswith("Restatement") and said["hypothesis"] == [name]
    ]
    return every[name], told


NAMES: Final = ["count", "bound", "class", "closed", "outcome", "outcome-bound"]


@pytest.mark.parametrize(("world", "pattern"), SAYS_AGAIN, ids=NAMES)
def test_what_restates_the_rule_is_not_supported(world: tuple[Any, str], pattern: str) -> None:
    result = asked(world, pattern)
    hypothesis, evidence = found(result)
    assert evidence["outcomeClass"] == ["restates"]
    assert int(evidence["broken"][0]) >= 5
    assert int(evidence["entered"][0]) >= 0.8 * int(evidence["broken"][0])
    assert not hypothesis["status"][0].endswith("Supported")
    assert audit(result.record).ok, str(audit(result.record))
