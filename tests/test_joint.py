"""Joint explanation: the causes told are few, none can be left out, and each stands in it once."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import kgreason
from kgreason.audit import audit
from kgreason.base.terms import PREFIXES
from kgreason.decide.joint import cover
from kgreason.record import Record
from kgreason.report.as_json import as_dict
from tests.audit_support import relinked, tampered


def union(sets: list[int]) -> int:
    held = 0
    for each in sets:
        held |= each
    return held


@pytest.mark.parametrize(
    ("sets", "taken"),
    [
        ([], []),
        ([0, 0], []),
        ([0b0011, 0b1100], [0, 1]),
        ([0b0001, 0b1110], [1, 0]),  # what adds most comes first
        ([0b0110, 0b0110], [0]),  # of equals the first
        ([0b0010, 0b0111], [1]),
        # The largest is taken first, and held by the two that are needed anyway.
        ([0b011110, 0b000111, 0b111000], [1, 2]),
    ],
)
def test_cover(sets: list[int], taken: list[int]) -> None:
    assert cover(sets) == taken


@given(st.lists(st.integers(0, 2**12 - 1), max_size=8))
def test_cover_holds_all_and_none_can_be_left_out(sets: list[int]) -> None:
    taken = cover(sets)
    assert union([sets[place] for place in taken]) == union(sets)
    for place in taken:
        others = [sets[each] for each in taken if each != place]
        assert union(others) != union(sets)
    seen, last = 0, 2**12
    for place in taken:
        adds = (sets[place] & ~seen).bit_count()
        assert 0 < adds <= last
        seen, last = seen | sets[place], adds


DATA = "@prefix e: <https://example.org/lab/> .\n"
SHAPES = f"""{DATA}@prefix sh: <{PREFIXES["sh"]}> .
e:Sample-shape a sh:NodeShape ; sh:targetClass e:Sample ;
    sh:property [ sh:path e:mass ; sh:minCount 1 ] , [ sh:path e:colour ; sh:minCount 1 ] .
"""


def two_symptoms(folder: Path, light: str = "1.5", grey: str = '"grey"') -> Record:
    """Investigate samples of which one feed lacks masses and colours, and few others a mass."""
    (folder / "data").mkdir()
    for feed in ("north", "south"):
        rows = []
        for n in range(24):
            lacks = feed == "south" and n % 8
            mass = "" if lacks or n == 5 else f" ; e:mass {light}"
            colour = "" if lacks else f" ; e:colour {grey}"
            rows.append(f"e:{feed}{n} a e:Sample{mass}{colour} .")
        rows.append('e:grey e:label "grey" . e:light e:label "light" .')
        (folder / "data" / f"{feed}.ttl").write_text(DATA + "\n".join(rows), encoding="utf-8")
    shapes = folder / "shapes.ttl"
    shapes.write_text(SHAPES, encoding="utf-8")
    return kgreason.investigate(folder / "data", shapes=shapes).record


def test_one_cause_explains_two_symptoms_once(tmp_path: Path) -> None:
    record = two_symptoms(tmp_path)
    result = as_dict(record)
    assert result["explanation"] == {"failures": 43, "explained": 42, "causes": 1}
    (cause,) = result["causes"]
    assert cause["id"] == "C1"
    assert len(cause["symptoms"]) == len(cause["hypotheses"]) == 2
    assert cause["adds"] == cause["explains"] == 42
    assert audit(record).ok
    apart = """DELETE {
  ?c trails:hypothesis ?h ; trails:insideFailing ?n ; trails:adds ?n . ?e trails:causes ?k }
INSERT { ?c trails:insideFailing 21 ; trails:adds 21 . ?e trails:causes 2 . <urn:x:c> ?p ?o ;
  trails:hypothesis ?h ; trails:index 2 ; trails:insideFailing 21 ; trails:adds 21 }
WHERE { ?c a trails:JointCause ; trails:insideFailing ?n ; trails:explanation ?e ; ?p ?o ;
    trails:hypothesis ?h .
  ?e trails:causes ?k . ?h trails:symptom/trails:index 1 .
  FILTER (?p NOT IN (trails:hypothesis, trails:index, trails:insideFailing, trails:adds)) }"""
    assert audit(relinked(tampered(record, apart))).rules == {"joint-cause-one"}


def test_that_more_is_lacking_is_no_cause_of_a_lack(tmp_path: Path) -> None:
    """Nor is it said of what stands behind the lacking values."""
    result = as_dict(two_symptoms(tmp_path, "e:light", "e:grey"))
    assert result["explanation"] == {"failures": 43, "explained": 42, "causes": 1}
    assert {h["statement"] for s in result["symptoms"] for h in s["hypotheses"] if h["region"]} == {
        "Nodes described in the source south.ttl fail."
    }
