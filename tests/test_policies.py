"""Every policy that comes along runs, keeps its own table of transitions, and can be audited."""

import tomllib
from decimal import Decimal
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import pytest

from kgreason.audit import audit
from kgreason.base.errors import OptionError
from kgreason.base.resources import DEFAULT_POLICY
from kgreason.base.templates import role
from kgreason.base.terms import POLICY, TRAILS
from kgreason.record import Record, policy
from tests.audit_support import CASES, lab, relinked, statements, tampered

OTHERS: Final = sorted(set(policy.names()) - {DEFAULT_POLICY})
MUTANTS: Final[list[dict[str, Any]]] = tomllib.loads(
    (CASES / "policies.toml").read_text(encoding="utf-8")
)["mutant"]
SOURCE: Final = "Nodes described in the source feed-3.ttl fail."


@cache
def run(name: str) -> Record:
    """Give the record of the laboratory under a policy."""
    with TemporaryDirectory() as folder:
        return lab(Path(folder), policy=name)


def fates(name: str) -> dict[str, tuple[str, Decimal]]:
    """Give status and confidence of each hypothesis but the catch-alls by its statement."""
    said: dict[Any, dict[str, Any]] = {}
    for quad in statements(run(name)):
        said.setdefault(quad.subject, {})[quad.predicate.value.rpartition("#")[2]] = quad.object
    return {
        one["statement"].value: (
            one["status"].value.rpartition("#")[2],
            Decimal(one["confidence"].value),
        )
        for one in said.values()
        if "regionPattern" in one and "status" in one
    }


def test_the_policies_are_those_documented() -> None:
    page = (Path(__file__).parents[1] / "docs" / "policies.md").read_text(encoding="utf-8")
    assert [name for name in policy.names() if f"\n## {name}\n" not in page] == []
    assert len(OTHERS) == 7


@pytest.mark.parametrize("name", OTHERS)
def test_a_history_under_a_policy_is_clean(name: str) -> None:
    found = audit(run(name))
    assert found.ok, str(found)
    assert not found.notices
    assert found.checked["updates"] > 1


@pytest.mark.slow
@pytest.mark.parametrize("name", OTHERS)
def test_both_engines_find_nothing_under_a_policy(name: str) -> None:
    found = audit(run(name), engine="pyshacl")
    assert found.ok, str(found)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant["name"])
@pytest.mark.slow
def test_a_mutant_is_found_by_the_rules_named(mutant: dict[str, Any]) -> None:
    forged = relinked(tampered(run(mutant["policy"]), mutant["update"]))
    # A node that a forger puts in names no step, unless it says so itself.
    assert audit(forged).rules - {"unsealed"} == set(mutant["rules"])


@pytest.mark.slow
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant["name"])
def test_both_engines_find_the_same_in_a_mutant(mutant: dict[str, Any]) -> None:
    forged = tampered(run(mutant["policy"]), mutant["update"])
    native, reference = audit(forged), audit(forged, engine="pyshacl")
    said = [{(f.rule, f.node) for f in found.findings} for found in (native, reference)]
    assert said[0] == said[1]


@pytest.mark.parametrize("name", OTHERS)
def test_a_policy_has_the_rows_of_the_default_as_its_own(name: str) -> None:
    other = policy.load(name)
    assert other.outcomes == policy.load().outcomes
    rows = [t for t in other.triples if t.predicate == POLICY.likelihood]
    assert len(rows) == len(other.outcomes)
    assert all(t.subject == other.iri for t in rows)
    assert not [t for t in other.triples if t.predicate == POLICY.rowsOf]


@pytest.mark.parametrize("name", policy.names())
def test_each_gate_leads_where_the_table_allows(name: str) -> None:
    used = policy.load(name)
    parts = {t.object for t in used.triples if t.predicate == POLICY.transition}
    allowed = {t.object for t in used.triples if t.subject in parts and t.predicate == TRAILS.to}
    assert {TRAILS[gate.header["to"]] for gate in used.gates} <= allowed


def test_every_rule_and_gate_is_of_some_policy() -> None:
    every = [policy.load(name) for name in policy.names()]
    known = {rule.name for one in every for rule in (*one.rules, *one.last_rules)}
    assert known == set(role("confidence"))
    gates = {made.name for made in role("status").values() if made.is_update}
    assert {gate.name for one in every for gate in one.gates} == gates


def test_priors() -> None:
    half = Decimal("0.5")
    assert policy.load("frame").priors(3) == (Decimal("0.166667"), half)
    assert policy.load("delta").priors(3) == (half, half)
    assert policy.load("frame").priors(0)[1] == half


def test_a_number_that_a_rule_needs_is_asked_for(tmp_path: Path) -> None:
    shipped = Path(__file__).parents[1] / "ontology" / "policies" / "delta.ttl"
    text = shipped.read_text(encoding="utf-8").replace("policy:delta ", "<urn:mine> ")
    own = tmp_path / "own.ttl"
    own.write_text(text, encoding="utf-8")
    assert policy.load(str(own)).outcomes == policy.load().outcomes
    own.write_text(text.replace("    policy:deltaStep 0.5 ;\n", ""), encoding="utf-8")
    with pytest.raises(OptionError, match="'delta' needs policy:deltaStep, which is missing"):
        policy.load(str(own))


def test_net_weight_converges_only_from_round_two() -> None:
    rounds: dict[str, set[str]] = {}
    record = run("net-weight")
    text = f"""PREFIX trails: <https://w3id.org/trails#>
SELECT ?rule ?round WHERE {{ GRAPH <{record.iri.value}> {{
  ?t a trails:StatusTransition ; trails:rule ?rule ; trails:step/trails:round ?round }} }}"""
    for row in record.store.select(text):
        rounds.setdefault(row["rule"].value, set()).add(row["round"].value)
    assert rounds["converge"] == {"2"}
    assert rounds["support-weight"] == {"1"}
    assert fates("net-weight")[SOURCE] == ("Converged", Decimal(1))


def test_policies_disagree_about_the_same_data() -> None:
    assert fates("likelihood-ratio")[SOURCE][0] == "Supported"
    assert fates("competing-scores")[SOURCE] == ("Inconclusive", Decimal("0.454545455"))
    assert fates("e-value")[SOURCE] == ("Supported", Decimal("0.25"))
