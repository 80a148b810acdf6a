"""A place whose numbers are in another unit: all of them, those that fail and those that pass."""

import math
import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyoxigraph as ox
import pytest

import kgreason
from kgreason.audit import audit
from kgreason.base.store import Row
from kgreason.base.terms import XSD
from kgreason.test.finding import Finding, Setting
from kgreason.test.rescaling import read

HEAD = "@prefix e: <https://example.org/> . @prefix sh: <http://www.w3.org/ns/shacl#> .\n"


def told(sides: Mapping[str, Sequence[float]]) -> Finding:
    rows: list[Row] = [
        {
            "outside": ox.Literal(side),
            "number": ox.Literal(f"{number:.6f}", datatype=XSD.decimal),
            "nodes": ox.Literal("1", datatype=XSD.integer),
        }
        for side, numbers in sides.items()
        for number in numbers
    ]
    return read(rows, Setting())


def spread(seed: int, count: int, mean: float, deviation: float = 0.4) -> list[float]:
    chance = random.Random(seed)
    return [mean * math.exp(chance.gauss(0, deviation)) for _ in range(count)]


@pytest.mark.parametrize(
    ("sides", "outcome", "ratio"),
    [
        ({"": spread(1, 200, 250.0), "0": spread(2, 500, 25.0)}, "rescaled", "10.000000"),
        ({"": spread(1, 200, 0.025), "0": spread(2, 500, 25.0)}, "rescaled", "1000.000000"),
        ({"": spread(1, 300, 55.1), "0": spread(2, 900, 25.0)}, "rescaled", "2.204620"),
        # Twice as large is no other unit, nor is ten times as large and spread otherwise.
        ({"": spread(1, 300, 40.0, 0.1), "0": spread(2, 900, 20.0, 0.1)}, "alike", None),
        ({"": spread(1, 200, 250.0, 0.1), "0": spread(2, 500, 25.0, 0.9)}, "alike", None),
        ({"": spread(1, 200, 25.0), "0": spread(2, 500, 25.0)}, "alike", None),
        # What the second condition alone leaves out is like it; what the first leaves out is not.
        (
            {"": spread(1, 99, 250.0), "1": spread(2, 99, 25.0), "0": spread(3, 400, 90.0)},
            "rescaled",
            "10.000000",
        ),
        ({"": spread(1, 11, 250.0), "0": spread(2, 500, 25.0)}, "undetermined", None),
        ({"": spread(1, 200, 250.0)}, "undetermined", None),
        ({"0": spread(2, 500, 25.0)}, "undetermined", None),
    ],
)
def test_a_place_is_held_against_what_lies_beside_it(
    sides: dict[str, list[float]], outcome: str, ratio: str | None
) -> None:
    found = told(sides)
    given = found.figures.get("unitRatio")
    assert (found.outcome, given and str(given)) == (outcome, ratio)


def test_numbers_without_a_size_are_left_out() -> None:
    rows = [(text, side) for side in ("", "0") for text in ("INF", "NaN", "-3.0", "0.0", "1e-999")]
    given: list[Row] = [
        {
            "outside": ox.Literal(side),
            "number": ox.Literal(text, datatype=XSD.double),
            "nodes": ox.Literal("40", datatype=XSD.integer),
        }
        for text, side in rows
    ]
    assert read(given, Setting()).outcome == "undetermined"


def test_few_numbers_that_vary_much_tell_no_unit() -> None:
    assert told({"": spread(1, 15, 250.0, 1.4), "0": spread(2, 500, 25.0, 1.4)}).outcome == "alike"


SHAPES = "e:S a sh:NodeShape ; sh:targetClass e:Parcel ; sh:property [ sh:path e:mass ; %s ] ."
OUTCOME = """
PREFIX e: <https://example.org/>
SELECT ?focus ?outcome WHERE { ?focus a e:Parcel ; e:mass ?mass . BIND (?mass > 60 AS ?outcome) }
"""


def parcels(path: Path, mass: Callable[[int, int, float], float]) -> Path:
    """Write parcels of nine senders; `mass` makes their mass of sender, year and kilograms."""
    chance = random.Random(4)
    lines = [HEAD]
    for n in range(900):
        sender, year = n % 9, chance.randint(2015, 2024)
        kilograms = min(58.0, 25 * math.exp(chance.gauss(0, 0.5)))
        lines.append(
            f"e:p{n} a e:Parcel ; e:sender e:s{sender} ; e:year {year} ; "
            f"e:mass {mass(sender, year, kilograms):.2f} ."
        )
    (path / "data.ttl").write_text("\n".join(lines), encoding="utf-8")
    return path / "data.ttl"


@pytest.mark.parametrize("asked", ["shapes", "outcome"])
def test_pounds_for_kilograms_are_told_of_their_sender(asked: str, tmp_path: Path) -> None:
    data = parcels(tmp_path, lambda sender, _, mass: mass * 2.20462 if sender == 3 else mass)
    rules = tmp_path / ("rules.rq" if asked == "outcome" else "rules.ttl")
    text = OUTCOME if asked == "outcome" else HEAD + SHAPES % "sh:maxInclusive 60"
    rules.write_text(text, encoding="utf-8")
    rule: dict[str, Any] = {asked: rules}

    with kgreason.investigate(data, **rule) as result:
        assert not audit(result.record).findings
        cause = result.as_dict()["causes"][0]
        (leading, *_) = result.as_dict()["symptoms"][0]["hypotheses"]
        summary, page = " ".join(result.summary().split()), result.markdown()

    assert "sender is s3" in cause["statement"]
    (sizes,) = (each for each in leading["evidence"] if each["test"] == "rescaling")
    assert sizes["note"].startswith("The numbers there are about 2.2 times as large as those")
    assert sizes["note"] in summary
    assert sizes["note"] in page
    assert cause["next"]["words"].startswith("Find out in which unit the numbers of the parcels")


def test_heavier_parcels_of_one_sender_are_in_no_other_unit(tmp_path: Path) -> None:
    data = parcels(tmp_path, lambda sender, _, mass: mass + 30 if sender == 3 else mass)
    rules = tmp_path / "rules.ttl"
    rules.write_text(HEAD + SHAPES % "sh:maxInclusive 60", encoding="utf-8")

    with kgreason.investigate(data, shapes=rules) as result:
        cause = result.as_dict()["causes"][0]
        assert "as in another unit" not in " ".join(result.summary().split())

    assert "sender is s3" in cause["statement"]
    assert cause["next"]["words"].startswith("Find out what is different about")


def test_a_place_gets_its_turn_where_the_mechanism_that_it_made_way_for_does_not_hold(
    tmp_path: Path,
) -> None:
    """Most of the numbers that are ten times too large pass, so that no factor puts all right."""
    chance = random.Random(3)
    lines = [HEAD]
    for n in range(900):
        year, mass = chance.randint(2015, 2024), min(340.0, 30 * math.exp(chance.gauss(0, 0.8)))
        mass *= 10 if n % 9 == 4 and year >= 2019 else 1
        lines.append(
            f"e:p{n} a e:Parcel ; e:sender e:s{n % 9} ; e:year {year} ; e:mass {mass:.2f} ."
        )
    (tmp_path / "data.ttl").write_text("\n".join(lines), encoding="utf-8")
    (tmp_path / "rules.ttl").write_text(HEAD + SHAPES % "sh:maxInclusive 350", encoding="utf-8")

    with kgreason.investigate(tmp_path / "data.ttl", shapes=tmp_path / "rules.ttl") as result:
        assert not audit(result.record).findings
        told = result.as_dict()

    tested = {h["statement"] for h in told["symptoms"][0]["hypotheses"] if h["evidence"]}
    assert any(one.startswith("The wrong values of mass are off by the factor") for one in tested)
    assert "sender is s4" in told["causes"][0]["statement"]
