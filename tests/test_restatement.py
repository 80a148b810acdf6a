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
from kgreason.hypothesize.filters.restatement import Restatement
from kgreason.hypothesize.free_region import free_region
from kgreason.hypothesize.proposer import Suggestion
from kgreason.record.agents import Agent
from kgreason.review.replay import replay
from tests.audit_support import tampered
from tests.lifetime_support import of

EX: Final = "https://example.org/"
PREFIXES: Final = f"@prefix ex: <{EX}> .\n@prefix sh: <http://www.w3.org/ns/shacl#> .\n"
HEAD: Final = f"{PREFIXES}@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .\n"
NODES: Final = 160
AUTHOR: Final = Agent(ox.NamedNode(f"{EX}idea"), "idea", software=True)


@dataclass(frozen=True)
class Idea:
    """Proposes one region; it says that it saw nothing of the held-out half."""

    pattern: str
    agent: Agent = AUTHOR
    mines: bool = False
    blinded: bool = True

    def propose(self, _view: Any, /) -> Iterator[Suggestion]:
        """Return the region."""
        region = free_region(self.pattern, {"ex": EX}, "idea")
        yield Suggestion(region, statement="It is so.")

    def refine(self, _view: Any, _parent: Any, _others: Any, /) -> Iterator[Suggestion]:
        """Return nothing."""
        return iter(())


def nodes(says: Callable[..., str], bad: Sequence[int] | None = None) -> str:
    """Write nodes at eight sites, of which nearly those of two sites fail, and things."""
    draw = random.Random(11)
    lines = [HEAD]
    for n in range(NODES):
        site = n % 8
        fails = n in bad if bad is not None else site < 2 and n % 10 > 0
        lines.append(f"ex:n{n} a ex:Node ; ex:site ex:site{site} ; {says(draw, fails=fails)} .")
    lines += [f"ex:t{n} a ex:Thing ; ex:name 'thing {n}' ." for n in range(20)]
    lines += [f"ex:d{n} a ex:Document ; ex:name 'document {n}' ." for n in range(20)]
    return "\n".join(lines)


def shape(text: str) -> str:
    return f"{HEAD}ex:Shape a sh:NodeShape ; sh:targetClass ex:Node ; {text} ."


def count(draw: random.Random, *, fails: bool) -> str:
    notes = [f"'note {draw.randrange(9)}{k}'" for k in range(draw.randint(2, 3) if fails else 1)]
    return f"ex:note {', '.join(notes)}"


def bound(draw: random.Random, *, fails: bool) -> str:
    return f"ex:result {draw.randrange(62, 90) if fails else draw.randrange(5, 60)}"


def linked(draw: random.Random, *, fails: bool) -> str:
    ends = [f"ex:d{draw.randrange(20)}", f"ex:x{draw.randrange(99)}", "'a text'"]
    return f"ex:thing {draw.choice(ends) if fails else f'ex:t{draw.randrange(20)}'}"


def closed(draw: random.Random, *, fails: bool) -> str:
    strange = draw.choice(["ex:colour 'red'", "ex:size 5", "ex:owner ex:t1"])
    return f"ex:note 'x'{f' ; {strange}' if fails else ''}"


def address(draw: random.Random, *, fails: bool) -> str:
    return f"ex:page 'http{'ss' if fails else 's'}://example.org/{draw.randrange(999)}'"


def state(draw: random.Random, *, fails: bool) -> str:
    return f"ex:state ex:{'delayed' if fails else draw.choice(['done', 'open'])}"


PROPERTY: Final = "sh:property [ sh:path ex:{} ; {} ]"
COUNT: Final = (count, shape(PROPERTY.format("note", "sh:maxCount 1")))
BOUND: Final = (bound, shape(PROPERTY.format("result", "sh:maxInclusive 60")))
LINKED: Final = (linked, shape(PROPERTY.format("thing", "sh:class ex:Thing")))
CLOSED: Final = (
    closed,
    shape(
        "sh:closed true ; sh:ignoredProperties (rdf:type) ;"
        "sh:property [ sh:path ex:note ] , [ sh:path ex:site ]"
    ),
)
ADDRESS: Final = (address, shape(PROPERTY.format("page", "sh:pattern '^https?:'")))
STATE: Final = (
    state,
    f"""PREFIX ex: <{EX}> SELECT ?focus (EXISTS {{ ?focus ex:state ex:delayed }} AS ?outcome)
    WHERE {{ ?focus a ex:Node }}""",
)
LATE: Final = (
    bound,
    f"""PREFIX ex: <{EX}> SELECT ?focus (?days > 60 AS ?outcome)
    WHERE {{ ?focus a ex:Node ; ex:result ?days }}""",
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


def asked(
    world: tuple[Any, str], pattern: str, bad: Sequence[int] | None = None, **more: Any
) -> kgreason.Result:
    says, rule = world
    kind = "outcome" if "SELECT" in rule else "shapes"
    options = {kind: rule, "proposers": [Idea(pattern)], "calibration": "none"} | more
    return kgreason.investigate(nodes(says, bad), **options)


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
    if world is CLOSED:  # one mechanism tells all properties that are not listed
        dropped = of(result.record, "Candidate").values()
        (reason,) = {one["reason"][0] for one in dropped if one["statement"] == ["It is so."]}
        assert reason == Restatement.reason
        return
    hypothesis, evidence = found(result)
    assert evidence["outcomeClass"] == ["restates"]
    assert int(evidence["broken"][0]) >= 5
    assert int(evidence["entered"][0]) >= 0.8 * int(evidence["broken"][0])
    assert not hypothesis["status"][0].endswith("Supported")
    assert audit(result.record).ok, str(audit(result.record))


SPECIFIC: Final = (ADDRESS, "?focus ex:page ?p . FILTER (STRSTARTS(STR(?p), 'httpss'))")


def test_one_wrong_form_is_no_restatement_and_may_be_supported() -> None:
    # The default finds the same by itself, and what restates a mechanism yields to it.
    result = asked(*SPECIFIC, policy="frame")
    hypothesis, evidence = found(result)
    assert evidence["outcomeClass"] == ["specific"]
    assert int(evidence["waysEntered"][0]) == 1 < int(evidence["ways"][0])
    assert hypothesis["status"][0].endswith("Supported")
    assert audit(result.record).ok, str(audit(result.record))


def test_the_properties_that_a_closed_shape_does_not_list_are_told_together() -> None:
    result = kgreason.investigate(nodes(CLOSED[0]), shapes=CLOSED[1], calibration="none")
    supported = [
        said["statement"][0]
        for said in of(result.record, "Hypothesis").values()
        if said["status"][0].endswith("Supported")
    ]
    for site in ("site0", "site1"):  # where they are used
        supported.remove(f"Nodes whose site is {site} fail.")
    (together,) = supported
    assert together == (
        "Properties are used that the closed shape does not list: size (15 nodes), colour (13) and "
        "owner (8)."
    )


def test_a_true_cohort_is_found_beside_what_restates_the_rule() -> None:
    bad = [n for n in range(NODES) if (n % 8 == 0 and n % 10) or n in {3, 51, 100}]
    result = asked(*SAYS_AGAIN[0], bad=bad)
    again, _ = found(result)
    true, evidence = found(result, "Nodes whose site is site0 fail.")
    assert not again["status"][0].endswith("Supported")
    assert true["status"][0].endswith("Supported")
    assert evidence["outcomeClass"] == ["news"]


@pytest.mark.parametrize("world", [COUNT, BOUND, LINKED, CLOSED, STATE, LATE], ids=NAMES)
@pytest.mark.parametrize("policy", ["frame", "code"])
def test_a_true_cohort_is_news_and_supported(world: tuple[Any, str], policy: str) -> None:
    hypothesis, evidence = found(asked(world, NORTH, policy=policy))
    assert evidence["outcomeClass"] == ["news"]
    assert int(evidence["broken"][0]) >= 5
    assert evidence["entered"] == ["0"]
    assert hypothesis["status"][0].endswith("Supported")


def test_the_report_says_that_it_says_the_rule_again() -> None:
    told = asked(*SAYS_AGAIN[0]).markdown()
    assert "says the rule again in other words: of 16 passing nodes" in told
    assert "passing nodes that were broken at the rule" in told


def test_the_figures_are_in_the_record_by_way() -> None:
    result = asked(*SAYS_AGAIN[0])
    _, evidence = found(result)
    strata = of(result.record, "Stratum")
    ways = {strata[one]["way"][0]: strata[one] for one in evidence["stratum"]}
    assert {"second", "several", "exchanged"} == set(ways)
    counted = sum(int(w["inside"][0]) + int(w["outside"][0]) for w in ways.values())
    assert counted == int(evidence["broken"][0])
    (test,) = evidence["test"]
    assert of(result.record, "Test")[test]["testRole"][0].endswith("Restatement")


@pytest.mark.slow
def test_the_sample_hangs_on_the_seed_alone_and_the_graph_is_mended() -> None:
    one, same, other = (asked(*SAYS_AGAIN[1], seed=seed) for seed in (1, 1, 2))
    first, again, third = (found(result)[1] for result in (one, same, other))
    assert first["note"] == again["note"]
    cited = {said["query"][0] for said in of(other.record, "Test").values()}
    assert cited
    assert third["outcomeClass"] == ["restates"]


@pytest.mark.slow
def test_under_every_policy_what_restates_the_rule_is_not_supported() -> None:
    for policy in ("delta", "net-weight", "likelihood-ratio", "e-value", "competing-scores"):
        hypothesis, _ = found(asked(*SAYS_AGAIN[0], policy=policy))
        assert hypothesis["status"][0].rpartition("#")[2] not in {"Supported", "Converged"}, policy


def test_where_all_that_was_tested_restates_the_rule_nothing_is_said_of_causes() -> None:
    draw = random.Random(3)
    bad = sorted(draw.sample(range(NODES), 40))
    says, rule = COUNT
    result = kgreason.investigate(
        nodes(says, bad), shapes=rule, proposers=[Idea(SAYS_AGAIN[0][1])], calibration="none"
    )
    hypothesis, _ = found(result)
    assert not hypothesis["status"][0].endswith("Supported")
    assert audit(result.record).ok, str(audit(result.record))


def plain_texts(draw: random.Random, *, fails: bool) -> str:
    return f"ex:name 'thing {draw.randrange(99)}'{'' if fails else '@en'}"


def blanks(draw: random.Random, *, fails: bool) -> str:
    # Nothing but the blank is the same: no word, and no order of words and marks.
    letters = "abcdefghij"
    parts = ["".join(draw.choices(letters, k=draw.randint(2, 6))) for _ in range(2)]
    parts += draw.sample(["zz.z", "k-k", "(u)", "q/q"], draw.randint(0, 3))
    return f"ex:name '{(' ' if fails else '-').join(draw.sample(parts, len(parts)))}'"


def test_where_a_form_that_the_rule_names_holds_all_it_is_not_said_that_there_is_no_cause() -> None:
    rule = shape(PROPERTY.format("name", "sh:pattern '^[^ ]*$'"))
    bad = sorted(random.Random(3).sample(range(NODES), 30))
    result = kgreason.investigate(nodes(blanks, bad), shapes=rule, calibration="none")
    hypotheses = of(result.record, "Hypothesis")
    named = [h for h in hypotheses.values() if "has a blank" in h["statement"][0]]
    assert [h["status"][0].rpartition("#")[2] for h in named] == ["Inconclusive"]
    assert [v["outcome"] for v in of(result.record, "Verdict").values()] == [["inconclusive"]]
    assert audit(result.record).ok, str(audit(result.record))
    forged = tampered(result.record, SUPPORT_NONE, strict=False)
    assert "gate-none" in {one.rule for one in audit(forged).findings}


SUPPORT_NONE: Final = """
DELETE { ?t trails:to ?was ; trails:rule ?rule ; trails:cause ?c . ?h trails:status ?was }
INSERT {
  ?t trails:to trails:Supported ; trails:rule "support" ; trails:cause "passes every gate" .
  ?h trails:status trails:Supported
}
WHERE {
  ?h trails:catchAll true ; trails:status ?was .
  ?t trails:hypothesis ?h ; trails:to ?was ; trails:rule ?rule ; trails:cause ?c
}
"""


def test_a_language_that_is_lacking_is_one_wrong_form() -> None:
    asked = f"?focus a <{EX}Node> ; <{EX}name> ?name"
    outcome = f"SELECT ?focus (!LANGMATCHES(LANG(?name), '*') AS ?outcome) WHERE {{ {asked} }}"
    bad = sorted(random.Random(3).sample(range(NODES), 30))
    result = kgreason.investigate(nodes(plain_texts, bad), outcome=outcome, calibration="none")
    told = [
        h["statement"][0]
        for h in of(result.record, "Hypothesis").values()
        if h["status"][0].endswith("Supported")
    ]
    assert told == ["The values of name were written as texts without a language."]
    assert audit(result.record).ok, str(audit(result.record))


def test_a_replay_breaks_the_same_nodes(tmp_path: Path) -> None:
    says, rule = LINKED
    (tmp_path / "data.ttl").write_text(nodes(says), encoding="utf-8")
    (tmp_path / "shapes.ttl").write_text(rule, encoding="utf-8")
    kgreason.investigate(
        tmp_path / "data.ttl",
        shapes=tmp_path / "shapes.ttl",
        ledger=tmp_path / "ledger",
        proposers=[Idea(SAYS_AGAIN[2][1])],
        calibration="none",
    ).close()
    again = replay(tmp_path / "ledger")
    assert again.same, (again.recorded[:3], again.replayed[:3])


def test_a_mechanism_is_no_restatement_because_nodes_take_the_form_of_those_that_fail() -> None:
    """The rule is only broken with the very term that was replaced; its direct check decides."""
    lines = [HEAD, "@prefix dct: <http://purl.org/dc/terms/> .", "ex:k3 dct:isReplacedBy ex:new ."]
    lines.append("ex:k3 ex:same ex:new .")
    for n in range(160):
        kind = "k3" if n % 8 == 3 else "new" if n % 8 == 4 else f"k{n % 8}"
        lines.append(f"ex:n{n} a ex:Node ; ex:kind ex:{kind} ; ex:batch 'b{n % 7}' .")
    rule = (
        f"SELECT $this ?b WHERE {{ $this <{EX}kind> ?a . ?a <{EX}same> ?b "
        f"FILTER NOT EXISTS {{ $this <{EX}kind> ?b }} }}"
    )
    result = kgreason.investigate(
        "\n".join(lines), shapes=shape(f"sh:sparql [ sh:select '{rule}' ]"), calibration="none"
    )
    (symptom,) = result.symptoms
    leader = symptom.hypotheses[0]
    assert (leader.kind, leader.status) == ("reference", "supported")
    told = [
        said["outcomeClass"]
        for said in of(result.record, "Evidence").values()
        if said["testRole"][0].endswith("Restatement") and said["hypothesis"] == [leader.id]
    ]
    assert told == [["undetermined"]]
    assert audit(result.record).ok


def test_where_a_rule_is_broken_in_one_way_the_mechanism_names_it() -> None:
    lines = [f'ex:n{n} ex:label "Thing {n}"{"" if n % 9 == 4 else "@en"} .' for n in range(NODES)]
    rule = PROPERTY.format("label", "sh:not [ sh:datatype xsd:string ]")
    shapes = f"""{HEAD}@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
    ex:Shape a sh:NodeShape ; sh:targetSubjectsOf ex:label ; {rule} ."""
    result = kgreason.investigate(HEAD + "\n".join(lines), shapes=shapes, calibration="none")
    told, evidence = found(result, "The values of label were written as xsd:string.")
    assert (evidence["outcomeClass"], evidence["ways"]) == (["specific"], ["1"])
    assert told["status"][0].endswith("Supported")
    assert audit(result.record).ok, str(audit(result.record))
