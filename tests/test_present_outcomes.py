"""An outcome may be that there is a value at all: what is said of that value is no cause of it."""

import random
from pathlib import Path
from typing import Any, Final

import pytest

import kgreason
from kgreason.audit import audit

HEAD: Final = "@prefix e: <https://example.org/> .\n"
REFUSED: Final = {
    "bound": "(BOUND(?why) AS ?outcome) { ?focus a e:Sample OPTIONAL { ?focus e:refused ?why } }",
    "exists": "?outcome { ?focus a e:Sample BIND (EXISTS { ?focus e:refused ?any } AS ?outcome) }",
}
AGAIN: Final = {
    "linked": "EXISTS { ?again e:of ?focus }",
    "described": "EXISTS { ?again a e:Rerun ; e:of ?focus }",
}


def investigated(folder: Path, lines: list[str], query: str) -> dict[str, Any]:
    (folder / "data.ttl").write_text(HEAD + "\n".join(lines), encoding="utf-8")
    asked = f"PREFIX e: <https://example.org/>\nSELECT ?focus {query}"
    (folder / "asked.rq").write_text(asked, encoding="utf-8")
    with kgreason.investigate(folder / "data.ttl", outcome=folder / "asked.rq") as result:
        assert not audit(result.record).findings
        return result.as_dict()


def samples(mark: str) -> list[str]:
    """Give samples of eight wards; those with the outcome, most of them of ward 3, get a mark."""
    chance, lines = random.Random(1), []
    for n in range(600):
        ward = chance.randrange(8)
        why = chance.choice(["haemolysed", "clotted", "empty"])
        if chance.random() < (0.7 if ward == 3 else 0.02):
            lines.append(mark.format(n=n, why=why))
        taken = f"2024-{chance.randint(1, 12):02}-{chance.randint(1, 28):02}"
        lines.append(f'e:s{n} a e:Sample ; e:ward e:w{ward} ; e:taken "{taken}" .')
    return lines


@pytest.mark.parametrize("asked", REFUSED)
def test_the_ward_is_told_and_not_that_there_is_a_reason(asked: str, tmp_path: Path) -> None:
    lines = samples('e:s{n} e:refused "{why}" .')
    told = investigated(tmp_path, lines, REFUSED[asked])
    assert [c["statement"] for c in told["causes"]] == ["Nodes whose ward is w3 have the outcome."]


@pytest.mark.parametrize("asked", AGAIN)
def test_the_ward_is_told_and_not_that_something_points_there(asked: str, tmp_path: Path) -> None:
    lines = samples('e:r{n} a e:Rerun ; e:of e:s{n} ; e:note "{why} {n}" .')
    query = f"?outcome {{ ?focus a e:Sample BIND ({AGAIN[asked]} AS ?outcome) }}"
    told = investigated(tmp_path, lines, query)
    assert [c["statement"] for c in told["causes"]] == ["Nodes whose ward is w3 have the outcome."]


def test_how_many_things_lie_behind_what_is_counted_is_no_cause(tmp_path: Path) -> None:
    chance, lines = random.Random(2), []
    for n in range(84):
        year = chance.randint(2008, 2022)
        lines.append(f"e:d{n} a e:Device ; e:since {year} .")
        records = chance.randint(9, 14) if year < 2014 else chance.randint(1, 4)
        lines += [f'e:m{n}x{m} e:on e:d{n} ; e:note "note {n} {m}" .' for m in range(records)]
    told = investigated(
        tmp_path, lines, "(COUNT(?m) AS ?outcome) { ?m e:on ?focus } GROUP BY ?focus"
    )

    (cause,) = told["causes"]
    assert cause["statement"].startswith("Nodes whose since is “2013” or less")


def test_what_lots_are_like_is_looked_at_where_lots_tell_something(tmp_path: Path) -> None:
    """What each result has of its own leads to more paths than are looked at in all."""
    chance = random.Random(3)
    lines = [f"e:lot{n} e:number {5000 + n} ; e:maker e:m{n % 3} ." for n in range(60)]
    for n in range(900):
        lot = chance.randrange(60)
        again = chance.random() < (0.6 if lot % 3 == 1 and lot >= 30 else 0.03)
        said = f"e:x{n} a e:Result ; e:lot e:lot{lot} ; e:sample e:s{n} ; e:again {again} ."
        lines.append(said.replace("True", "true").replace("False", "false"))
        for k in range(8):
            own = " ; ".join(f"e:q{j} {chance.randrange(500)}" for j in range(6))
            lines.append(f"e:s{n} e:p{k} e:v{k}x{n} . e:v{k}x{n} {own} .")
    told = investigated(tmp_path, lines, "?outcome { ?focus a e:Result ; e:again ?outcome }")

    said = told["causes"][0]["statement"]
    assert "maker of lot is m1" in said or "lot has maker m1" in said
    assert "number of lot" in said or "lot has number" in said


def test_the_best_condition_stands_beside_the_best_of_thousands(tmp_path: Path) -> None:
    """Which of many samples a study used may tell more on one half by chance than its funds."""
    chance, lines = random.Random(47), []
    for n in range(620):
        funds = chance.choice(["public", "industry", "none", "foundation"])
        gone = chance.random() < (0.28 if funds == "industry" else 0.12)
        used = " , ".join(f"e:sample{chance.randrange(900)}" for _ in range(12))
        lines.append(f'e:t{n} a e:Study ; e:funds "{funds}" ; e:cohort e:c{n} .')
        lines.append(f"e:c{n} e:has {used} .")
        if gone:
            lines.append(f'e:t{n} e:retracted "2024" .')
    query = "(BOUND(?r) AS ?outcome) { ?focus a e:Study OPTIONAL { ?focus e:retracted ?r } }"
    told = investigated(tmp_path, lines, query)

    tested = {h["statement"] for h in told["symptoms"][0]["hypotheses"]}
    assert any("funds is “industry”" in one for one in tested), tested
