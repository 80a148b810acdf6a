"""Two columns in the wrong order: told as one cause with its place, and put right on a copy."""

from pathlib import Path

import kgreason
from kgreason.audit import audit

HEAD = """
@prefix e: <https://example.org/> . @prefix sh: <http://www.w3.org/ns/shacl#> .
"""
SHAPES = """
e:S a sh:NodeShape ; sh:targetClass e:Well ;
  sh:property [ sh:path e:lat ; sh:minInclusive 35 ; sh:maxInclusive 72 ] ,
    [ sh:path e:long ; sh:minInclusive -12 ; sh:maxInclusive 34 ] .
"""


def test_exchanged_coordinates_are_one_cause_of_both_rules_and_are_put_back(
    tmp_path: Path,
) -> None:
    wells = []
    for n in range(120):
        lat, long, by = 46 + n % 13 * 0.7, 2 + n % 11 * 0.9, "survey" if n % 4 else "atlas"
        lat, long = (long, lat) if by == "atlas" else (lat, long)
        wells.append(f"e:w{n} a e:Well ; e:lat {lat:.4f} ; e:long {long:.4f} ; e:by e:{by} .")
    wells[7] = "e:w7 a e:Well ; e:lat -3.1 ; e:long 4.0 ; e:by e:survey ."
    (tmp_path / "data.ttl").write_text(HEAD + "\n".join(wells), encoding="utf-8")
    (tmp_path / "shapes.ttl").write_text(HEAD + SHAPES, encoding="utf-8")

    with kgreason.investigate(tmp_path / "data.ttl", shapes=tmp_path / "shapes.ttl") as result:
        assert not audit(result.record).findings
        told = result.as_dict()

    cause = told["causes"][0]
    assert cause["statement"].startswith("The values of lat and long were exchanged; 30 of")
    assert len(cause["symptoms"]) == 2
    mended = cause["repair"]
    assert (mended["repair"], mended["outcome"]) == ("exchange-values", "cleared")
    leading = told["symptoms"][0]["hypotheses"][0]
    assert leading["inside"] == {"failing": 30, "population": 30}
    assert leading["origin"]["statement"] == "Nodes whose by is atlas fail."
