"""Links that were written from the wrong end: one cause of all the rules that it breaks."""

from pathlib import Path

import kgreason
from kgreason.audit import audit

HEAD = """
@prefix e: <https://example.org/> . @prefix sh: <http://www.w3.org/ns/shacl#> .
"""
SHAPES = """
e:Contents a sh:NodeShape ; sh:targetSubjectsOf e:contains ; sh:class e:Title .
e:Parts a sh:NodeShape ; sh:targetClass e:Part ;
  sh:property [ sh:path [ sh:inversePath e:contains ] ; sh:minCount 1 ; sh:class e:Title ] .
"""


def test_a_link_from_the_wrong_end_is_one_cause_and_turning_it_mends_all(tmp_path: Path) -> None:
    titles = [f"e:t{n} a e:Title ; e:name 'T{n}' ; e:contains e:p{n} ." for n in range(20)]
    wrong = "; e:contains e:t{other} ; e:by e:scan"
    parts = [
        f"e:p{n} a e:Part ; e:order {n}"
        + (wrong.format(other=n % 20) if n >= 20 else "; e:by e:hand")
        + " ."
        for n in range(60)
    ]
    (tmp_path / "data.ttl").write_text(HEAD + "\n".join(titles + parts), encoding="utf-8")
    (tmp_path / "shapes.ttl").write_text(HEAD + SHAPES, encoding="utf-8")

    with kgreason.investigate(tmp_path / "data.ttl", shapes=tmp_path / "shapes.ttl") as result:
        assert not audit(result.record).findings
        told = result.as_dict()

    cause = told["causes"][0]
    assert cause["statement"].startswith(
        "contains was written the wrong way round: it leads from what is a Part to what is a Title"
    )
    assert len(cause["symptoms"]) == 2
    mended = cause["repair"]
    assert (mended["repair"], mended["outcome"]) == ("turn-link", "cleared")
    assert (mended["violations"], mended["cleared"], mended["caused"]) == (40, 40, 0)
