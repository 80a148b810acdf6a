"""What the search in conditions finds is framed and tested like all others, if a policy says so."""

from pathlib import Path

import pytest

import kgreason
from kgreason.base.resources import folder
from tests.cli_support import run
from tests.conditions_world import World, strike, view, world
from tests.test_conditions import PLANTED

LINE = "policy:refineMost 2 ;"


def asking(place: Path) -> str:
    """Write a policy that is as the usual one, but asks for conditions."""
    text = (folder("ontology") / "policies" / "frame.ttl").read_text(encoding="utf-8")
    assert LINE in text
    text = text.replace(LINE, f"{LINE} policy:conditions 4 ;")
    text = text.replace("policy:frame", "policy:asking").replace('"frame"@en', '"asking"@en')
    file = place / "asking.ttl"
    file.write_text(text, encoding="utf-8")
    return str(file)


def investigated(made: World, place: Path, policy: str) -> kgreason.Result:
    view(made, place)
    data, shapes = str(place / "data.nq"), str(place / "shapes.ttl")
    ledger = str(place / Path(policy).stem)
    return kgreason.investigate(data, shapes=shapes, ledger=ledger, policy=policy)


def leading(found: kgreason.Result) -> list[str]:
    (symptom,) = found.as_dict()["symptoms"]
    return [h["statement"] for h in symptom["hypotheses"] if h["status"] == "supported"]


@pytest.mark.parametrize(
    ("name", "statement"),
    [
        ("three-steps", "Nodes whose region of site of sensor is 2 fail."),
        ("window", "Nodes whose on lies between “2024-05-10” and “2024-06-0"),
        ("beside", "Nodes without Calibration in source fail."),
    ],
)
def test_one_region_is_told_in_place_of_its_pieces(
    name: str, statement: str, tmp_path: Path
) -> None:
    made = world(5)
    strike(made, PLANTED[name][0], 5)
    # The last day of a window may lie in the half that was not looked at.
    assert leading(investigated(made, tmp_path, asking(tmp_path)))[0].startswith(statement)
    told = leading(investigated(made, tmp_path, "frame"))
    assert not any(one.startswith(statement) for one in told)


def test_nothing_is_told_where_nothing_is_wrong(tmp_path: Path) -> None:
    made = world(6)
    strike(made, lambda _, __: False, 6, base=0.08)
    found = investigated(made, tmp_path, asking(tmp_path))
    (symptom,) = found.as_dict()["symptoms"]
    assert symptom["verdict"] == "no systematic cause"
    assert [s for s in leading(found) if "no systematic cause" not in s] == []


def test_a_record_with_conditions_is_sound(tmp_path: Path) -> None:
    made = world(5)
    strike(made, PLANTED["two-of-them"][0], 5)
    investigated(made, tmp_path, asking(tmp_path))
    done = run("audit", "--ledger", tmp_path / "asking")
    assert done.code == 0, done.out
