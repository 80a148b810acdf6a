"""The audit finds nothing in a history as it was written, and what was done to one that was not."""

import tomllib
from collections.abc import Callable, Iterable
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import pyoxigraph as ox
import pytest

import kgreason
from kgreason.audit import audit, check_step, figures, pinned, recheck
from kgreason.audit import chain as seal
from kgreason.audit.findings import AuditReport, Finding, report
from kgreason.audit.merged import History
from kgreason.audit.record_shapes import ontology, shapes
from kgreason.audit.statements import plain
from kgreason.base.errors import LedgerError, OptionError, QueryError
from kgreason.base.templates import role
from kgreason.base.terms import RDFS, TRAILS
from kgreason.graph import load
from kgreason.record import Record, policy
from kgreason.test.finding import READERS
from kgreason.test.tester import GraphTester
from tests.audit_forger import forged
from tests.audit_support import (
    CASES,
    EXAMPLE,
    grouped,
    history,
    kept_in,
    lab,
    relinked,
    statements,
    tampered,
    tiny,
)

MUTANTS: Final[list[dict[str, Any]]] = tomllib.loads(
    (CASES / "mutants.toml").read_text(encoding="utf-8")
)["mutant"]
CAREFUL: Final[list[dict[str, Any]]] = tomllib.loads(
    (CASES / "careful.toml").read_text(encoding="utf-8")
)["mutant"]
ALL: Final[list[dict[str, Any]]] = [
    mutant
    for path in sorted(CASES.glob("*.toml"))
    for mutant in tomllib.loads(path.read_text(encoding="utf-8")).get("mutant", ())
]
UNSEEN: Final = [mutant for mutant in CAREFUL if "unseen" in mutant]
NAMED: Final = {mutant["name"]: mutant["update"] for mutant in MUTANTS}
OF_SEALS: Final = {"seal", "unsealed", "one-investigation", "policy-known", "figures-known"}
NOTICES: Final = {"unfinished"}
TOGETHER_ONLY: Final = {
    "settlement-effect": "what became of a settled hypothesis is a change of status, so that these "
    "speak too",
    "attempt-after-stray": "what a stray attempt touched stands in its evidence too, where its "
    "mutant is seen by the figures; nobody worked it out anew as a careful forger would",
    "gate-corroborated": "what speaks for a cause stands in its lists and its claim, and is worth "
    "what the policy says, so that these speak too",
    "segment-once": "the name of the step of work is in all names that the worker sealed, so that "
    "its seal speaks too",
    "segment-steps": "the seal of a segment is worked out from the very steps that it names",
    "attempt-evidence": "an attempt is told by its counts, so that its note speaks too",
    "plan-tool-offered": "what was not offered has no scope there either",
    "open-step-done": "what was sent to a worker is under the seal of what the worker did",
}
"""Rules that no mutant breaks alone, each with the reason."""
PARTS: Final = 8
TOGETHER: Final = (
    (
        "a confidence is no number",
        "a prior is raised",
        "an update is struck out",
        "more fail than there are",
        "a citation is cut off from its evidence",
        "a status changes as the policy forbids",
        "the e-BH threshold is lower than it was",
        "a likelihood of the policy is changed",
        "another author is put in",
        "a statement is deleted",
        "a verdict says more than it may",
        "two steps change places",
        "a step ends before it starts",
        "a hypothesis starts at a time",
    ),
    (
        "a hypothesis has two confidences",
        "the last update gives another confidence",
        "evidence cites nothing",
        "a supported hypothesis is left open",
        "a hypothesis is supported without a threshold",
        "too few failing nodes were there to split",
        "a threshold of the policy is raised, and every copy of it",
        "a region is hidden",
        "more fails than there is",
        "a symptom has two verdicts",
        "the chain forks",
        "the head is moved back",
        "a step has no times",
        "a hypothesis is associated with an agent",
        "an entity has no generation",
        "a hash is no hash",
    ),
)
"""What is done to one history at once; pySHACL needs seconds for each."""


@pytest.fixture(scope="module")
def laboratory(tmp_path_factory: pytest.TempPathFactory) -> Record:
    """The record of an investigation with causes of three kinds."""
    return lab(tmp_path_factory.mktemp("lab"))


@pytest.fixture(scope="module")
def histories(
    laboratory: Record, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], Record]:
    """Give a record by the name of its history; each is made once."""

    @cache
    def made(name: str) -> Record:
        if name == "laboratory":
            return laboratory
        return history(tmp_path_factory.mktemp("history"), name)

    return made


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Record:
    """The smallest record that has updates and a decision."""
    return tiny(tmp_path_factory.mktemp("tiny"))


def said(found: AuditReport) -> set[tuple[str, str]]:
    return {(finding.rule, finding.node) for finding in (*found.findings, *found.notices)}


def rules(findings: Iterable[Finding]) -> set[str]:
    return {finding.rule for finding in findings}


# --- histories as they were written -----------------------------------------------------


def test_a_history_as_it_was_written_is_clean(laboratory: Record) -> None:
    found = audit(laboratory)
    assert found.ok, str(found)
    assert not found.notices
    assert found.checked["steps"] > 20
    assert found.checked["updates"] > 20


def test_a_ledger_folder_is_audited_read_only(laboratory: Record, tmp_path: Path) -> None:
    assert audit(kept_in(tmp_path / "ledger", laboratory)).ok


def test_the_shipped_example_is_clean() -> None:
    found = audit(_example(only="https://example.org/supply/vocab#freightCost").record)
    assert found.ok, str(found)
    assert found.checked["updates"] > 10


@pytest.mark.slow
def test_the_whole_shipped_example_is_clean() -> None:
    found = audit(_example().record)
    assert found.ok, str(found)
    assert found.checked["updates"] > 150


def _example(**options: Any) -> Any:
    ontology = EXAMPLE / "ontology.ttl"
    shapes_ = EXAMPLE / "shapes.ttl"
    return kgreason.investigate(EXAMPLE / "data", shapes=shapes_, ontology=ontology, **options)


def test_an_unfinished_investigation_is_noticed_and_no_fault(laboratory: Record) -> None:
    name = "the tail is struck out, which only a head pinned elsewhere would show"
    found = audit(tampered(laboratory, NAMED[name]))
    assert found.ok, str(found)
    assert rules(found.notices) == {"unfinished"}
    assert found.notices[0].node == laboratory.iri.value


def test_a_symptom_that_nobody_counted_is_no_fault(tmp_path: Path) -> None:
    record = grouped(tmp_path)
    found = audit(record)
    assert found.ok, str(found)
    assert not [q for q in statements(record) if q.predicate == TRAILS.population]


@pytest.mark.parametrize(
    ("update", "rule"),
    [
        (
            """DELETE { ?v trails:outcome ?o } INSERT { ?v trails:outcome "no systematic cause" }
WHERE { ?v trails:outcome ?o }""",
            "verdict-outcome",
        ),
        (
            """DELETE { ?h trails:claimable ?n } INSERT { ?h trails:claimable 10 }
WHERE { ?h trails:claimable ?n }""",
            "hypothesis-counts",
        ),
        ("INSERT { ?s trails:population 8 } WHERE { ?s a trails:Symptom }", "symptom-counts"),
        ("DELETE { ?s trails:failing 9 } WHERE { ?s trails:failing 9 }", "symptom-counts"),
    ],
)
def test_what_is_done_to_a_symptom_that_nobody_counted_is_found(
    tmp_path: Path, update: str, rule: str
) -> None:
    assert rule in audit(relinked(tampered(grouped(tmp_path), update))).rules


def test_tests_that_a_budget_cut_are_closed_as_cancelled(tmp_path: Path) -> None:
    tiny(tmp_path)
    data, needed = tmp_path / "data", tmp_path / "shapes.ttl"
    with kgreason.investigate(data, shapes=needed, max_steps=5) as cut:
        found = audit(cut.record)
        ends = {
            name: {q.object for q in statements(cut.record) if q.predicate == TRAILS[name]}
            for name in ("closed", "cause", "test")
        }
        tests = {q.subject for q in statements(cut.record) if q.object == TRAILS.Test}
        again = tampered(
            cut.record,
            "DELETE { ?c ?p ?o } WHERE { ?c a trails:Cancellation ; ?p ?o }",
        )
        kept = tampered(
            cut.record,
            "DELETE { ?s trails:cut ?why } WHERE { ?s trails:cut ?why }",
        )
    assert found.ok, str(found)
    assert not found.notices
    assert TRAILS.Cancelled in ends["closed"]
    assert "stopped after 5 steps" in {cause.value for cause in ends["cause"]}
    assert ends["test"] == tests
    assert "never-run" in audit(relinked(again)).rules
    assert "cancellation" in audit(relinked(kept)).rules


def test_a_test_that_fails_is_closed_as_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = GraphTester.run.__globals__
    read = names["read"]

    def failing(kind: str, *more: Any) -> Any:
        if kind == "counterexamples":
            raise QueryError("The query fell over.\nIt was long.")
        return read(kind, *more)

    monkeypatch.setitem(names, "read", failing)
    record = tiny(tmp_path)
    found = audit(record)
    assert found.ok, str(found)
    steps = {q.subject for q in statements(record) if q.object == TRAILS.Error}
    assert len(steps) == int(policy.load().number("attempts"))
    assert ["The query fell over."] * len(steps) == [
        q.object.value
        for q in statements(record)
        if q.subject in steps and q.predicate == TRAILS.note
    ]


def test_every_kind_of_test_is_recomputed() -> None:
    """A kind that is read in Python has figures that only the audit's own reader can judge."""
    read = {
        name
        for name in role("test")
        if any(find_spec(f"kgreason.{room}.{name.replace('-', '_')}") for room in READERS)
    }
    assert read == set(figures.KINDS)


def test_domains_and_ranges_fit_what_is_recorded(laboratory: Record) -> None:
    """What the ontology says of a property holds for every statement of a record."""
    history = History(laboratory)
    above = shapes().above
    wrong = set()
    for term in plain(ontology()):
        place = {RDFS.domain: "subject", RDFS.range: "object"}.get(term.predicate)
        if place is None or "w3.org/2001/XMLSchema" in term.object.value:
            continue
        for said_ in history.statements(None, term.subject):  # type: ignore[arg-type]
            node = getattr(said_, place)
            kinds = {k for t in history.types(node) for k in (t, *above.get(t, ()))}
            if isinstance(node, ox.Literal):
                kinds = {node.datatype}
            if term.object not in kinds:
                wrong.add((term.subject.value, place, str(node)))
    assert sorted(wrong) == []


# --- histories that someone was at ------------------------------------------------------


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant["name"])
@pytest.mark.slow
def test_a_mutant_is_found_by_the_rules_named(
    mutant: dict[str, Any], histories: Callable[[str], Record]
) -> None:
    name = mutant.get("history", "laboratory")
    record = histories(name)
    forged = tampered(record, mutant["update"])
    expected = set(mutant["rules"])
    assert audit(relinked(forged)).rules == expected
    raw = expected | set(mutant["raw"])
    # Of all rules but those about seals only this one looks at a hash at all.
    notices = {"policy-known"} if "own" in name else set()
    assert rules(seal.findings(History(forged))) == raw & OF_SEALS | notices
    if "Step.hash.pattern" in raw:
        assert "Step.hash.pattern" in audit(forged).rules


@pytest.mark.parametrize("mutant", CAREFUL, ids=lambda mutant: mutant["name"])
@pytest.mark.slow
def test_what_a_careful_forger_did_is_found_by_the_rules_named(
    mutant: dict[str, Any], histories: Callable[[str], Record]
) -> None:
    name = mutant.get("history", "laboratory")
    record = histories(name)
    found = audit(forged(record, tampered(record, mutant["update"])))
    assert found.rules == set(mutant["rules"]), str(found)
    expected = set(mutant.get("notices", ())) | ({"policy-known"} if "own" in name else set())
    assert rules(found.notices) - {"unfinished"} == expected
    assert mutant["rules"] or "unseen" in mutant


@pytest.mark.slow
@pytest.mark.parametrize("mutant", UNSEEN, ids=lambda mutant: mutant["name"])
def test_what_the_history_cannot_show_is_shown_by_what_is_named(
    mutant: dict[str, Any], tmp_path: Path
) -> None:
    """By a head that was pinned before, and where the graph tells it, by the queries run again."""
    record = history(tmp_path, mutant.get("history", "laboratory"))
    pin = tmp_path / "heads.json"
    nothing = AuditReport(record.iri.value, (), (), {})
    pinned(nothing, record, pin)
    changed = forged(record, tampered(record, mutant["update"]))
    assert pinned(nothing, changed, pin).rules == {"pin"}
    graph = load([tmp_path / "data"])
    assert recheck(record, graph) == []
    assert bool(recheck(changed, graph)) == (mutant["unseen"] == "data")


@pytest.mark.parametrize("name", ["laboratory", "doubtful", "paired", *policy.names()])
def test_a_forger_who_changes_nothing_leaves_all_as_it_is(
    name: str, histories: Callable[[str], Record]
) -> None:
    """The figures that the forger works out by himself are those of the rules."""
    record = histories(name)
    assert set(map(str, statements(forged(record, record)))) == set(map(str, statements(record)))


def test_every_rule_about_a_history_has_a_mutant() -> None:
    tried = {rule for mutant in ALL for rule in mutant["rules"]}
    of_histories = {rule.name for rule in shapes().rules if not rule.name.startswith("prov-")}
    assert of_histories - NOTICES <= tried


def test_every_rule_has_a_mutant_that_it_alone_finds() -> None:
    alone = {mutant["rules"][0] for mutant in ALL if len(mutant["rules"]) == 1}
    of_histories = {rule.name for rule in shapes().rules if not rule.name.startswith("prov-")}
    assert of_histories - NOTICES - alone == set(TOGETHER_ONLY)


@pytest.mark.slow
def test_both_engines_find_nothing_in_a_clean_history(small: Record) -> None:
    assert said(audit(small, engine="pyshacl")) == said(audit(small)) == set()


@pytest.mark.slow
def test_both_engines_find_nothing_where_nobody_counted(tmp_path: Path) -> None:
    record = grouped(tmp_path)
    assert said(audit(record, engine="pyshacl")) == said(audit(record)) == set()


@pytest.mark.slow
@pytest.mark.parametrize("names", TOGETHER, ids=["some", "others"])
def test_both_engines_find_the_same(names: tuple[str, ...], small: Record) -> None:
    forged = tampered(small, *(NAMED[name] for name in names))
    native = audit(forged)
    assert said(audit(forged, engine="pyshacl")) == said(native)
    assert len(native.rules) >= len(names)


@pytest.mark.slow
def test_both_engines_find_nothing_in_a_longer_history(laboratory: Record) -> None:
    assert said(audit(laboratory, engine="pyshacl")) == said(audit(laboratory)) == set()


@pytest.mark.slow
@pytest.mark.parametrize("start", range(PARTS))
def test_both_engines_find_the_same_in_all_mutants(start: int, laboratory: Record) -> None:
    updates = [m["update"] for m in MUTANTS[start::PARTS] if "history" not in m]
    forged = tampered(laboratory, *updates, strict=False)
    native = audit(forged)
    assert said(audit(forged, engine="pyshacl")) == said(native)
    assert len(native.rules) >= len(updates)


def test_a_blank_node_is_sealed_by_nothing(small: Record) -> None:
    update = "INSERT { ?h trails:cites [ a trails:Citation ] } WHERE { ?h a trails:Symptom }"
    forged = tampered(small, update)
    found = audit(forged)
    assert {"unsealed", "Citation.node.minCount", "citation-cited"} <= found.rules


def test_a_policy_of_another_version_is_noticed(small: Record) -> None:
    update = """DELETE { ?p owl:versionInfo ?v } INSERT { ?p owl:versionInfo "99" }
WHERE { ?p a trails:Policy ; owl:versionInfo ?v }"""
    found = audit(relinked(tampered(small, update)))
    assert found.ok, str(found)
    assert rules(found.notices) == {"policy-known"}


def test_a_record_made_with_other_figures_is_noticed(small: Record) -> None:
    assert rules(audit(small).notices) <= NOTICES
    update = """DELETE { ?f policy:clearRate ?old } INSERT { ?f policy:clearRate 0.3 }
WHERE { ?i trails:figures ?f . ?f policy:clearRate ?old }"""
    found = audit(relinked(tampered(small, update)))
    assert found.ok, str(found)
    (notice,) = [one for one in found.notices if one.rule == "figures-known"]
    told = "The record was made with 0.3 for policy:clearRate; this engine has 0.25."
    assert notice.message == told


def test_a_record_that_says_no_figures_is_noticed(small: Record) -> None:
    update = "DELETE { ?i trails:figures ?f . ?f ?p ?o } WHERE { ?i trails:figures ?f . ?f ?p ?o }"
    found = audit(relinked(tampered(small, update)))
    assert found.ok, str(found)
    (notice,) = [one for one in found.notices if one.rule not in NOTICES]
    assert notice.rule == "figures-known"
    assert "does not say by which figures" in notice.message


# --- what an audit gives ----------------------------------------------------------------


def test_a_report_says_each_thing_once_and_in_order() -> None:
    found = [
        Finding("seal", "urn:b", "one"),
        Finding("seal", "urn:a", "two"),
        Finding("seal", "urn:b", "the same again"),
        Finding("unfinished", "urn:c", "goes on", "notice"),
    ]
    made = report("urn:i", found, {"steps": 3})
    assert [finding.node for finding in made.findings] == ["urn:a", "urn:b"]
    assert [finding.rule for finding in made.notices] == ["unfinished"]
    assert not made.ok
    assert made.rules == {"seal"}
    assert str(made).splitlines()[0] == "urn:i: 2 findings, 1 notices (3 steps)"


def test_a_finding_names_node_value_and_rule(laboratory: Record) -> None:
    found = audit(tampered(laboratory, NAMED["a status is none of the scheme"])).findings
    told = {finding.rule: finding for finding in found}
    assert "Proven" in told["Hypothesis.status.in"].message
    assert "Supported" in told["Hypothesis.status.in"].message
    assert told["status-current"].message.endswith(": https://w3id.org/trails#Proven.")
    assert told["status-current"].severity == "violation"


def test_what_is_not_there_cannot_be_audited(small: Record) -> None:
    with pytest.raises(LedgerError, match="There is no record of urn:x"):
        audit(Record(small.store, ox.NamedNode("urn:x")))


def test_an_unknown_engine_is_named(small: Record) -> None:
    with pytest.raises(OptionError, match="There is no engine 'rudof'; there are native, pyshacl"):
        audit(small, engine="rudof")  # type: ignore[arg-type]


# --- one step, and the graph itself -----------------------------------------------------


def _steps(record: Record) -> list[ox.NamedNode]:
    return [q.subject for q in statements(record) if q.predicate == TRAILS.phase]


def test_each_step_is_fine_by_itself(laboratory: Record) -> None:
    steps = _steps(laboratory)
    assert len(steps) > 20
    assert not [told for step in steps for told in check_step(laboratory, step)]


def test_a_broken_node_is_found_in_its_step_and_in_no_other(laboratory: Record) -> None:
    forged = tampered(laboratory, NAMED["a confidence leaves its range"])
    [messages] = [told for step in _steps(forged) if (told := check_step(forged, step))]
    [message] = messages
    assert message.endswith("(Hypothesis.confidence.maxInclusive)")


def test_the_recorded_queries_give_the_recorded_counts(tmp_path: Path) -> None:
    record = lab(tmp_path)
    assert recheck(record, load([tmp_path / "data"])) == []


def test_what_changed_in_the_graph_is_told(tmp_path: Path) -> None:
    record = tiny(tmp_path)
    south = tmp_path / "data" / "south.ttl"
    lines = south.read_text(encoding="utf-8").splitlines()
    south.write_text("\n".join(line for line in lines if "south1 " not in line), encoding="utf-8")
    differences = {d.figure: d for d in recheck(record, load([tmp_path / "data"]))}
    assert set(differences) - {"digest"} == {
        "failing", "fingerprint", "inside", "insideFailing", "node", "population",
    }  # fmt: skip
    assert (differences["population"].recorded, differences["population"].found) == ("48", "47")
    assert (differences["failing"].recorded, differences["failing"].found) == ("22", "21")


def test_a_cited_statement_that_changed_is_told(tmp_path: Path) -> None:
    record = tiny(tmp_path)
    south = tmp_path / "data" / "south.ttl"
    text = south.read_text(encoding="utf-8")
    south.write_text(text + "e:south1 e:mass 3.5 .", encoding="utf-8")
    told = {d.node for d in recheck(record, load([tmp_path / "data"])) if d.figure == "digest"}
    cited = {
        q.subject.value
        for q in statements(record)
        if q.predicate == TRAILS.node and q.object.value.endswith("south1")
    }
    assert cited
    assert told == cited


def test_a_count_that_was_altered_is_told(tmp_path: Path) -> None:
    record = tiny(tmp_path)
    update = """DELETE { ?s trails:failing ?n } INSERT { ?s trails:failing 21 }
WHERE { ?s trails:failing ?n }"""
    [difference] = recheck(tampered(record, update), load([tmp_path / "data"]))
    assert (difference.figure, difference.recorded, difference.found) == ("failing", "21", "22")
