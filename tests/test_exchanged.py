"""Two columns, or day and month, in the wrong order: told as one cause, and put right on a copy."""

from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

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
    assert cause["statement"].startswith("The values of lat and long were exchanged; all 30")
    assert len(cause["symptoms"]) == 2
    mended = cause["repair"]
    assert (mended["repair"], mended["outcome"]) == ("exchange-values", "cleared")
    leading = told["symptoms"][0]["hypotheses"][0]
    assert leading["inside"] == {"failing": 30, "population": 30}
    assert leading["origin"]["statement"] == "Nodes whose by is atlas fail."


LOANS = """
PREFIX e: <https://example.org/>
SELECT ?focus ?outcome WHERE { ?focus e:start ?start ; e:end ?end BIND (?start > ?end AS ?outcome) }
"""
ENDS = """
e:S a sh:NodeShape ; sh:targetClass e:Loan ;
  sh:property [ sh:path e:start ; sh:lessThanOrEquals e:end ] .
"""


def lend(folder: Path, *, end: bool) -> Path:
    """Write loans of which one desk took day and month of the start, or of the end, for another."""
    loans = []
    for n in range(200):
        days = [date(2023, 1, 1) + timedelta(n), date(2023, 1, 1) + timedelta(n + 9 + n % 5)]
        written = [day.isoformat() for day in days]
        if n % 3 == 0 and days[end].day <= 12:
            written[end] = f"{days[end].year}-{days[end].day:02}-{days[end].month:02}"
        start, last = written
        by = "e:desk" if n % 3 == 0 else "e:web"
        typed = "^^<http://www.w3.org/2001/XMLSchema#date>"
        said = f'e:start "{start}"{typed} ; e:end "{last}"{typed}'
        loans.append(f"e:l{n} a e:Loan ; e:by {by} ; {said} .")
    (folder / "data.ttl").write_text(HEAD + "\n".join(loans), encoding="utf-8")
    return folder / "data.ttl"


@pytest.mark.parametrize("asked", ["shapes", "outcome"])
def test_day_and_month_that_were_taken_for_each_other(asked: str, tmp_path: Path) -> None:
    file = tmp_path / {"shapes": "rules.ttl", "outcome": "rules.rq"}[asked]
    file.write_text(HEAD + ENDS if asked == "shapes" else LOANS, encoding="utf-8")

    rule: dict[str, Any] = {asked: file}
    with kgreason.investigate(lend(tmp_path, end=False), **rule) as result:
        assert not audit(result.record).findings
        told = result.as_dict()

    leading = told["symptoms"][0]["hypotheses"][0]
    said = "Day and month were taken for each other in the values of start."
    assert (leading["statement"], leading["status"]) == (said, "supported")
    assert leading["outside"]["failing"] == 0
    if asked == "shapes":
        mended = told["causes"][0]["repair"]
        assert (mended["repair"], mended["outcome"]) == ("turn-date", "cleared")


def test_the_dates_that_were_turned_may_be_those_compared_with(tmp_path: Path) -> None:
    (tmp_path / "rules.ttl").write_text(HEAD + ENDS, encoding="utf-8")
    data = lend(tmp_path, end=True)

    with kgreason.investigate(data, shapes=tmp_path / "rules.ttl") as result:
        (cause, *_) = result.as_dict()["causes"]

    said = "Day and month were taken for each other in the values of end"
    assert cause["statement"].startswith(said)
    assert (cause["repair"]["repair"], cause["repair"]["outcome"]) == ("turn-date", "cleared")
