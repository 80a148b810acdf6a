"""Joint explanation: the causes told are few, none can be left out, and each stands in it once."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import kgreason
from kgreason.audit import audit
from kgreason.base.terms import PREFIXES
from kgreason.decide.joint import cover, slivers
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


@pytest.mark.parametrize(
    ("sets", "symptoms", "thin"),
    [
        ([2**100 - 1, 0b111 << 100], [[2**103 - 1], [2**103 - 1]], [1]),
        ([2**100 - 1, 0b11111 << 100], [[2**105 - 1], [2**105 - 1]], []),  # five are no handful
        ([2**40 - 1, 0b111 << 40], [[2**43 - 1], [2**43 - 1]], []),  # the first holds too little
        ([2**100 - 1, 0b111 << 100], [[2**100 - 1], [0b111 << 100]], []),  # all of another rule
        # Two together are more than may be left over.
        ([2**60 - 1, 7 << 60, 7 << 63], [[2**66 - 1]] * 3, [2]),
    ],
    ids=["a handful", "five", "too little", "another rule", "two"],
)
def test_what_adds_a_handful_to_nearly_all_is_a_sliver(
    sets: list[int], symptoms: list[list[int]], thin: list[int]
) -> None:
    assert slivers(sets, cover(sets), symptoms) == thin


DATA = "@prefix e: <https://example.org/lab/> .\n"
COLOUR = " , [ sh:path e:colour ; sh:minCount 1 ]"
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


def test_a_sliver_is_told_beside_the_cause_and_not_counted(tmp_path: Path) -> None:
    """One feed lacks its masses; of a kind that is common there a few lack them elsewhere too."""
    (tmp_path / "data").mkdir()
    for feed in range(12):
        rows = []
        for n in range(120):
            odd = (feed == 3 and n < 60) or (feed == 5 and n < 4)
            mass = "" if (feed == 3 and n < 118) or odd else " ; e:mass 1.5"
            kind = "odd" if odd else f"k{n % 7}"
            rows.append(f'e:s{feed}-{n} a e:Sample ; e:kind "{kind}" ; e:of e:f{n % 9}{mass} .')
        text = DATA + "\n".join(rows)
        (tmp_path / "data" / f"feed-{feed}.ttl").write_text(text, encoding="utf-8")
    (tmp_path / "shapes.ttl").write_text(SHAPES.replace(COLOUR, ""), encoding="utf-8")
    with kgreason.investigate(tmp_path / "data", shapes=tmp_path / "shapes.ttl") as result:
        told = result.as_dict()
        assert told["explanation"] == {"failures": 122, "explained": 122, "causes": 1}
        assert [(c["adds"], c["sliver"]) for c in told["causes"]] == [(118, False), (4, True)]
        assert "beside what is told above it adds only 4 failures" in result.markdown()
        assert audit(result.record).ok
        more = "DELETE { ?c trails:adds 4 } INSERT { ?c trails:adds 6 } WHERE { ?c trails:adds 4 }"
        found = audit(relinked(tampered(result.record, more))).rules
    assert found >= {"joint-cause-counts", "explanation-sums"}
