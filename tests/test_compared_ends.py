"""What an outcome compares is not told as a factor of it."""

import random
from pathlib import Path

import pytest
from pyoxigraph import NamedNode

import kgreason
from kgreason.hypothesize.conditions.outcome_paths import both_ends, gone_along, round_about
from kgreason.shacl.compared_ends import compared_ends

E = "https://example.org/c#"
HEAD = f"@prefix e: <{E}> .\n"
QUERY = f"""PREFIX e: <{E}>
SELECT ?focus ?outcome WHERE {{
  ?focus a e:Employee ; e:employedBy ?own ; e:chargedTo/e:company ?other
  BIND (?own != ?other AS ?outcome)
}}"""


@pytest.mark.parametrize(
    ("test", "pairs"),
    [
        ("?own != ?other", 1),
        ("!(?own = ?other)", 1),
        ("?own = ?other", 1),
        ("?own < ?other", 0),
        ("?own - ?other", 0),
        ("1 / ?own > ?other", 0),
        ("?own != <https://example.org/c#A>", 0),
    ],
)
def test_the_two_ends_that_are_compared_are_known(test: str, pairs: int) -> None:
    query = (
        f"SELECT ?focus ?outcome WHERE {{ ?focus <{E}employedBy> ?own ; <{E}chargedTo> ?centre . "
        f"?centre <{E}company> ?other BIND ({test} AS ?outcome) }}"
    )
    found = compared_ends(query)
    assert len(found) == pairs
    own, centre = ((False, f"{E}{name}") for name in ("employedBy", "chargedTo"))
    assert not both_ends(found, [[own], [own]])
    assert not both_ends([], [[own], [centre]])


def test_a_query_that_is_not_read_compares_nothing() -> None:
    assert not compared_ends("SELECT ?focus ?outcome WHERE { ?focus")


def test_a_code_of_two_companies_is_told_and_not_that_companies_differ(tmp_path: Path) -> None:
    """Who is charged to a number that two companies have is charged to either of them."""
    dice = random.Random(5)
    rows = [HEAD]
    centres: dict[str, list[str]] = {}
    for place in range(60):
        number = 100 + (place if place < 40 else place - 20)  # 20 numbers are those of two centres
        company = "ABC"[place % 3]
        rows.append(f'e:k{place} a e:Centre ; e:number "{number}" ; e:company e:{company} .')
        centres.setdefault(company, []).append(f"k{place}")
    doubled = {f"k{n}" for n in range(20, 60)}
    by_number = {f"k{n}": [f"k{n + 20}"] for n in range(20, 40)}
    by_number |= {f"k{n}": [f"k{n - 20}"] for n in range(40, 60)}
    for person in range(400):
        company = dice.choice("ABC")
        centre = dice.choice(centres[company])
        charged = dice.choice([centre, *by_number[centre]]) if centre in doubled else centre
        rows.append(
            f"e:p{person} a e:Employee ; e:employedBy e:{company} ; e:chargedTo e:{charged} ."
        )
    (tmp_path / "data.ttl").write_text("\n".join(rows), encoding="utf-8")
    with kgreason.investigate(tmp_path / "data.ttl", outcome=QUERY) as found:
        told = [cause.statement for cause in found.causes]
    assert told
    assert "number of chargedTo is shared by 2 or more" in told[0]
    assert not any("employedBy" in one and "company of chargedTo" in one for one in told)


def test_what_a_rule_goes_along_however_far_is_known() -> None:
    text = "$this <https://e/above>+ $this . ?x (<https://e/in>)* ?y . ?x <https://e/of> ?z"
    assert gone_along(text) == {NamedNode("https://e/above"), NamedNode("https://e/in")}


@pytest.mark.parametrize(
    ("ways", "told"),
    [
        ([["author", "^editor", "of"]], ["round about"]),
        ([["editor", "^author"]], ["round about"]),
        ([["author", "nation"], ["editor", "nation"]], ["round about"]),
        ([["author", "nation"], ["editor", "town"]], []),
        ([["author", "nation"]], []),
        ([["author", "^author"]], []),
    ],
)
def test_what_leads_from_one_compared_thing_to_the_other_is_known(
    ways: list[list[str]], told: list[str]
) -> None:
    def way(names: list[str]) -> tuple[tuple[bool, NamedNode], ...]:
        return tuple((n.startswith("^"), NamedNode(E + n.lstrip("^"))) for n in names)

    author = ((False, NamedNode(f"{E}author")),)
    assert round_about(author, NamedNode(f"{E}editor"), map(way, ways)) is bool(told)


def test_of_a_rule_that_another_engine_checks_the_shape_tells_what_it_names(tmp_path: Path) -> None:
    """pySHACL checks doubles that the store writes anew; no bound on them is a cause."""
    dice = random.Random(2)
    rows = [HEAD]
    for wall in range(300):
        metres = wall % 3 == 0 and dice.random() < 0.95
        width = dice.uniform(100, 500) * (0.001 if metres else 1)
        place = "north" if wall % 3 == 0 else "south"
        rows.append(f"e:w{wall} a e:Wall ; e:width {width:.2e} ; e:site e:{place} .")
    (tmp_path / "data.ttl").write_text("\n".join(rows), encoding="utf-8")
    shapes = HEAD + (
        "@prefix sh: <http://www.w3.org/ns/shacl#> . e:S a sh:NodeShape ; sh:targetClass e:Wall ; "
        "sh:or ( [ sh:path e:width ; sh:minInclusive 50 ] [ sh:path e:layers ; sh:minCount 1 ] ) ."
    )
    (tmp_path / "shapes.ttl").write_text(shapes, encoding="utf-8")
    with kgreason.investigate(tmp_path / "data.ttl", shapes=tmp_path / "shapes.ttl") as found:
        told = [cause.statement for cause in found.causes]
    assert told
    assert "site is north" in told[0]
