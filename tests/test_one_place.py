"""A place that can be described in several ways is told once, with the mechanism it goes with."""

from pathlib import Path
from typing import Any

import kgreason

HEAD = """
@prefix e: <https://example.org/> . @prefix sh: <http://www.w3.org/ns/shacl#> .
"""
SERVER = """
e:S a sh:NodeShape ; sh:targetClass e:Image ;
  sh:property [ sh:path e:file ; sh:pattern "^https://images[.]example[.]org/" ] .
"""
WHOLE = """
e:S a sh:NodeShape ; sh:targetClass e:Part ; sh:property [ sh:path e:partOf ; sh:minCount 1 ] .
"""


def _leading(folder: Path, shapes: str) -> dict[str, Any]:
    (folder / "shapes.ttl").write_text(HEAD + shapes, encoding="utf-8")
    with kgreason.investigate(folder / "data", shapes=folder / "shapes.ttl") as result:
        told: dict[str, Any] = result.as_dict()["symptoms"][0]["hypotheses"][0]
    return told


def test_a_place_by_its_feed_and_by_its_days_is_one(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    for year in range(2019, 2025):
        rows = []
        for n in range(120):
            studio, month, day = n % 5, 1 + n % 12, 1 + n % 28
            wrong = studio == 3 and year >= 2022 and n != 3
            host = "http://test.example.org" if wrong else "https://images.example.org"
            rows.append(
                f"e:i{year}-{n} a e:Image ; e:studio e:s{studio} ; e:file '{host}/{year}/{n}' ;"
                f" e:taken '{year - 2 * (n % 120 in {13, 33})}-{month:02}-{day:02}' ."
            )
        (tmp_path / "data" / f"images-{year}.ttl").write_text(HEAD + "\n".join(rows))

    leading = _leading(tmp_path, SERVER)

    assert (leading["kind"], leading["status"]) == ("value", "supported")
    assert leading["inside"] == {"failing": 69, "population": 69}
    assert "studio is s3" in leading["origin"]["statement"]


def test_a_place_comes_before_what_only_says_the_mechanism_again(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    rows = ["e:hasPart <http://www.w3.org/2002/07/owl#inverseOf> e:partOf ."]
    rows += [f"e:m{n} a e:Museum ; e:system 'sys{n % 4}' ." for n in range(12)]
    for n in range(360):
        by, odd = f"e:m{n % 12}", n % 4 == 1 and n % 120 != 1
        rows.append(f"e:p{n} a e:Part ; e:owner {by} ; e:year {1800 + n * 7 % 199} .")
        link = f"e:w{n // 3} e:hasPart e:p{n} ." if odd else f"e:p{n} e:partOf e:w{n // 3} ."
        rows.append(f"e:w{n // 3} a e:Whole . {link}")
    (tmp_path / "data" / "data.ttl").write_text(HEAD + "\n".join(rows))

    leading = _leading(tmp_path, WHOLE)

    assert (leading["kind"], leading["status"]) == ("inference", "supported")
    assert leading["origin"]["statement"] == "Nodes whose owner has system “sys1” fail."
