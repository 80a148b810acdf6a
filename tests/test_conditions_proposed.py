"""What the search in conditions finds pays by its length, and is framed like all others."""

from datetime import date, timedelta
from pathlib import Path
from random import Random

import pytest

import kgreason
from kgreason.audit import audit
from tests.cli_support import run
from tests.conditions_world import World, strike, view, world
from tests.resume_support import several
from tests.test_conditions import PLANTED


def investigated(
    made: World, place: Path, policy: str = "code", *, seed: int = 0
) -> kgreason.Result:
    view(made, place)
    data, shapes = str(place / "data.nq"), str(place / "shapes.ttl")
    ledger = str(place / f"{policy}{seed}")
    return kgreason.investigate(data, shapes=shapes, ledger=ledger, policy=policy, seed=seed)


def leading(found: kgreason.Result) -> list[str]:
    (symptom,) = found.as_dict()["symptoms"]
    return [h["statement"] for h in symptom["hypotheses"] if h["status"] == "supported"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "statement"),
    [
        ("three-steps", "Nodes whose sensor/site/region is 2 fail."),
        ("window", "Nodes whose on lies between “2024-05-10” and “2024-06-0"),
        ("beside", "Nodes without Calibration in source fail."),
    ],
)
def test_one_region_is_told_in_place_of_its_pieces(
    name: str, statement: str, tmp_path: Path
) -> None:
    made = world(5, size=600)
    strike(made, PLANTED[name][0], 5)
    assert leading(investigated(made, tmp_path))[0].startswith(statement)
    # All nodes were looked at, so that it is the same region however the halves are drawn.
    assert leading(investigated(made, tmp_path, seed=1))[0].startswith(statement)
    told = leading(investigated(made, tmp_path, "frame"))
    assert not any(one.startswith(statement) for one in told)


def test_nothing_is_told_where_nothing_is_wrong(tmp_path: Path) -> None:
    made = world(6)
    strike(made, lambda _, __: False, 6, base=0.08)
    found = investigated(made, tmp_path)
    (symptom,) = found.as_dict()["symptoms"]
    assert symptom["verdict"] == "no systematic cause"
    assert [s for s in leading(found) if "no systematic cause" not in s] == []


def test_a_record_with_conditions_is_sound(tmp_path: Path) -> None:
    made = world(5)
    strike(made, PLANTED["two-of-them"][0], 5)
    found = investigated(made, tmp_path)
    done = run("audit", "--ledger", tmp_path / "code0")
    assert done.code == 0, done.out
    (symptom,) = found.as_dict()["symptoms"]
    told = {e["test"] for h in symptom["hypotheses"] for e in h["evidence"]}
    assert {"code-length", "recurrence"} <= told


def test_two_causes_are_told_apart_and_what_mixes_them_is_no_rival(tmp_path: Path) -> None:
    """Of two feeds most weights are missing, of one all but some and of the other half."""
    asked = several(tmp_path, interventions=0, max_hypotheses=6)
    result = kgreason.investigate(**asked, only="https://example.org/lab/Weight", policy="code")
    told = [cause.statement for cause in result.causes]
    assert len(told) == 2
    assert "feed-1.ttl" in told[0]
    assert "feed-4.ttl" in told[1]
    assert not any("feed-1.ttl" in said and "feed-4.ttl" in said for said in told)


LOANS = """@prefix : <https://example.org/loan/> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
@prefix sh: <http://www.w3.org/ns/shacl#> .
"""
RULES = f"""{LOANS}
:Loan a sh:NodeShape ; sh:targetClass :LoanOf ;
  sh:property [ sh:path :state ; sh:in ( "out" "back" "late" ) ] ;
  sh:property [ sh:path :fee ; sh:minCount 1 ] .
"""


@pytest.fixture(scope="module")
def loans(tmp_path_factory: pytest.TempPathFactory) -> kgreason.Result:
    """Return what is found in loans: old states come with a prefix; fees lack at two desks."""
    rng, place = Random(4), tmp_path_factory.mktemp("loans")
    lines = [LOANS, *(f":desk{n} :software :s{n % 7} ." for n in range(14))]
    for n in range(700):
        desk, day = rng.randrange(14), date(2023, 1, 1) + timedelta(rng.randrange(700))
        state = rng.choice(["out", "back", "late"])
        state = f"OLD-{state}" if rng.random() < (0.95 if desk == 3 else 0.01) else state
        broken = desk % 7 == 5 and day >= date(2024, 3, 10) and rng.random() < 0.95
        text = str(day) if rng.random() < 0.85 else f"{day:%d.%m.%Y}"
        fee = "" if broken else f" :fee {n % 9} ;"
        lines.append(
            f':l{n} a :LoanOf ; :desk :desk{desk} ; :on "{text}" ;{fee} :state "{state}" .'
        )
    (place / "data.ttl").write_text("\n".join(lines))
    (place / "shapes.ttl").write_text(RULES)
    return kgreason.investigate(place / "data.ttl", shapes=place / "shapes.ttl")


def supported(found: kgreason.Result, name: str) -> list[tuple[str, str]]:
    (symptom,) = (s for s in found.as_dict()["symptoms"] if name in s["name"])
    told = [h for h in symptom["hypotheses"] if h["status"] == "supported"]
    return [(h["kind"], h["statement"]) for h in told]


def test_what_wrong_values_have_in_common_is_told_once_with_where_it_comes_from(
    loans: kgreason.Result,
) -> None:
    first, second = supported(loans, "state")[:2]
    assert first[0] == "value"
    assert first[1].startswith("Nodes whose state contains “OLD")
    assert second == ("cohort", "Nodes whose desk is desk3 fail.")


def test_a_condition_on_dates_is_found_beside_dates_written_as_text(loans: kgreason.Result) -> None:
    """Two desks of fourteen have the software: each part pays for itself, not for the other."""
    (_, statement), *_ = supported(loans, "fee")
    assert "software" in statement
    assert "s5" in statement
    assert "on is “2024-03-1" in statement


def test_a_rule_about_the_own_iri_is_not_told_again_by_the_iri(tmp_path: Path) -> None:
    """Two registers of six wrote their IRIs with www: beside how, it is told who did."""
    lines = ["@prefix v: <https://example.org/vocab#> ."]
    for n in range(240):
        host = "www.plants" if n % 6 in {1, 4} and n % 17 else "plants"
        lines.append(f"<http://{host}.example.org/{n}> a v:Plant ; v:register v:r{n % 6} .")
    (tmp_path / "data.ttl").write_text("\n".join(lines))
    asked = """SELECT ?focus ?outcome WHERE { ?focus a <https://example.org/vocab#Plant>
      BIND (!STRSTARTS(STR(?focus), "http://plants.example.org/") AS ?outcome) }"""
    found = kgreason.investigate(tmp_path / "data.ttl", outcome=asked)
    how, *who = leading(found)
    assert how.startswith("The IRIs of nodes that have the outcome begin with “http://www.plants.")
    assert who
    assert all("register" in said and "IRI" not in said for said in who)


def test_what_is_found_with_a_mechanism_and_without_it_is_proposed_once(tmp_path: Path) -> None:
    """Lost orders are not sent, nor are open ones: both searches say "without sent"."""
    lines = ["@prefix v: <https://example.org/vocab#> ."]
    for n in range(3000):
        state = "lost" if n % 40 == 0 else ("open" if n % 3 else "sent")
        sent = f" v:sent {n} ;" if state == "sent" else ""
        lines.append(f'v:o{n} a v:Order ;{sent} v:status "{state}" ; v:amount {n % 7} .')
    (tmp_path / "data.ttl").write_text("\n".join(lines))
    (tmp_path / "shapes.ttl").write_text("""@prefix sh: <http://www.w3.org/ns/shacl#> .
      @prefix v: <https://example.org/vocab#> .
      v:OrderShape sh:targetClass v:Order ; a sh:NodeShape ;
        sh:property [ sh:path v:status ; sh:in ( "open" "sent" ) ] .""")
    found = kgreason.investigate(
        tmp_path / "data.ttl", shapes=tmp_path / "shapes.ttl", ledger=tmp_path / "ledger"
    )
    assert any("lost" in said for said in leading(found))
    assert audit(found.record).findings == ()


def papers(lines: list[str], outcome: str) -> list[str]:
    head = "@prefix v: <https://example.org/vocab#> .\n"
    asked = f"PREFIX v: <https://example.org/vocab#> {outcome}"
    return leading(kgreason.investigate(head + "\n".join(lines), outcome=asked))


def test_as_many_authors_and_as_many_of_their_names_are_one_factor() -> None:
    """A few authors share a name, so that the two regions are not quite the same."""
    lot = Random(4)
    lines = [f'v:a{n} a v:Author ; v:name "name {n // 2}" .' for n in range(400)]
    for n in range(500):
        many = lot.randrange(1, 9)
        by = " , ".join(f"v:a{one}" for one in lot.sample(range(400), many))
        cited = "true" if lot.random() < (0.6 if many > 4 else 0.1) else "false"
        lines.append(f"v:p{n} a v:Paper ; v:creator {by} ; v:cited {cited} .")
    told = papers(lines, "SELECT ?focus (?x AS ?outcome) { ?focus a v:Paper ; v:cited ?x }")
    assert told == ["Nodes with 5 or more values of creator have the outcome."]


def test_what_an_outcome_looks_for_at_the_end_of_a_link_is_no_factor() -> None:
    """One in three has a notice; that the severe ones are of archived projects is told."""
    lot = Random(5)
    lines = [f'v:r{n} a v:Project ; v:status "{"live" if n % 5 else "old"}" .' for n in range(50)]
    for n in range(600):
        project = lot.randrange(50)
        severe = lot.random() < (0.05 if project % 5 else 0.6)
        lines.append(f"v:p{n} a v:Package ; v:uses v:r{project} .")
        if severe or n % 4 == 0:
            level = "critical" if severe else lot.choice(["low", "moderate", "high"])
            lines.append(f'v:n{n} a v:Notice ; v:affects v:p{n} ; v:severity "{level}" .')
    told = papers(
        lines,
        """SELECT ?focus ?outcome { ?focus a v:Package
      BIND (EXISTS { ?n v:affects ?focus ; v:severity "critical" } AS ?outcome) }""",
    )
    assert told
    assert all("affects" not in one for one in told)
    assert "uses has status" in told[0] or "status of uses" in told[0]


def test_how_many_share_what_nodes_are_linked_with_is_a_condition() -> None:
    """Whoever has twelve students loses half of them; which teacher it is tells less."""
    lot = Random(6)
    lines = []
    for n in range(160):
        many = lot.choice([2, 3, 3, 4, 12])
        lines.append(f"v:t{n} a v:Teacher .")
        for one in range(many):
            left = "true" if lot.random() < (0.6 if many > 4 else 0.04) else "false"
            lines.append(f"v:s{n}x{one} a v:Student ; v:supervisor v:t{n} ; v:left {left} .")
    told = papers(lines, "SELECT ?focus (?x AS ?outcome) { ?focus a v:Student ; v:left ?x }")
    assert told == ["Nodes whose supervisor is shared by 12 or more have the outcome."]
