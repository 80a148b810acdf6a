"""What the search in conditions finds pays by its length, and is framed like all others."""

from pathlib import Path

import pytest

import kgreason
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
