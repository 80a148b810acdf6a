"""A repair that moves values between units is told with a caution."""

from collections.abc import Sequence

import pytest

import kgreason
from kgreason.repair.unit_change import unit_of

HEAD = "@prefix w: <https://example.org/wells#> . @prefix sh: <http://www.w3.org/ns/shacl#> .\n"
SHAPES = HEAD + "w:S sh:targetClass w:Well ; sh:property [ sh:path w:depth ; sh:minCount 1 ] ."


def wells(slip: str, depths: Sequence[float]) -> kgreason.Text:
    """Give 60 wells of which 20 have their depth under another name."""
    lines = [HEAD]
    for number in range(60):
        name = slip if number % 3 == 0 else "depth"
        value = depths[number // 3 % len(depths)] if name == slip else 10 + number % 17
        lines.append(f'w:w{number} a w:Well ; w:{name} {value} ; w:bore "b{number % 7}" .\n')
    return kgreason.Text("".join(lines))


@pytest.mark.parametrize(
    ("slip", "depths", "said"),
    [
        ("depthFeet", (33, 49, 60), "The name depthFeet says “feet”, and depth names no unit. The"),
        ("totalDepth", (33, 49, 60), "The median of the values under totalDepth is 49, of those"),
        ("totalDepth", (12, 18, 25), ""),
    ],
)
def test_a_change_of_unit_is_warned_of(slip: str, depths: Sequence[float], said: str) -> None:
    with kgreason.investigate(wells(slip, depths), shapes=kgreason.Text(SHAPES)) as result:
        (cause,) = result.causes
        told = result.as_dict()["causes"][0]
        assert cause.repair is not None
        assert cause.repair.instruction == f"Rename {slip} to depth"
        assert (cause.repair.caution or "").startswith(said)
        assert bool(cause.repair.caution) == bool(said)
        assert told["next"]["words"].endswith(
            "Check the unit before you apply it." if said else "causes no new one."
        )
        assert (said in result.summary()) or not said


def test_units_stand_behind_what_is_measured() -> None:
    for name, unit in {
        "depthFeet": "feet",
        "depth_ft": "ft",
        "weightKG": "kg",
        "areaM2": "m2",
        "hectaresSown": None,
        "unitPrice": None,
        "bornIn": None,
        "secondAuthor": None,
        "priceMin": None,
        "depth": None,
    }.items():
        assert unit_of(name) == unit, name
