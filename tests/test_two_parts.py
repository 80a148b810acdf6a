"""A finding of two parts: what happened, and where it comes from, told as one cause."""

from pathlib import Path
from typing import Any

import pytest

import kgreason
from kgreason import Result
from kgreason.audit import audit

HEAD = """
@prefix ex: <https://example.org/> . @prefix sh: <http://www.w3.org/ns/shacl#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""
DATED = """
ex:S a sh:NodeShape ; sh:targetClass ex:Part ;
  sh:property [ sh:path ex:sent ; sh:datatype xsd:date ; sh:minCount 1 ] .
"""
FEEDS, EACH = 8, 60
CLAIMED = """PREFIX trails: <https://w3id.org/trails#>
SELECT ?said { GRAPH ?any { ?claim a trails:Claim ; trails:statement ?said } }"""


def written(folder: Path, spread: int) -> Path:
    """Write feeds of parts; the first `spread` of them write part of their dates as texts."""
    data = folder / "data"
    data.mkdir()
    for feed in range(FEEDS):
        lines = []
        for n in range(EACH):
            day = f"{n % 28 + 1:02}"
            wrong = feed < spread and n % spread == 0
            date = f'"{day}.01.2026"' if wrong else f'"2026-01-{day}"^^xsd:date'
            lines.append(f"ex:p{feed}x{n} a ex:Part ; ex:sent {date} .")
        (data / f"feed{feed}.ttl").write_text(HEAD + "\n".join(lines), encoding="utf-8")
    (folder / "shapes.ttl").write_text(HEAD + DATED, encoding="utf-8")
    return data


@pytest.fixture
def found(tmp_path: Path) -> Result:
    """Give what is found where one feed writes its dates as texts."""
    data = written(tmp_path, 1)
    return kgreason.investigate(data, shapes=tmp_path / "shapes.ttl", ledger=tmp_path / "ledger")


def leading(result: Result) -> dict[str, Any]:
    """Give the leading hypothesis of the first symptom."""
    told: dict[str, Any] = result.as_dict()["symptoms"][0]["hypotheses"][0]
    return told


def test_what_happened_and_where_it_comes_from_are_one_sentence(found: Result) -> None:
    told = leading(found)
    assert told["kind"] == "datatype"
    assert told["statement"].startswith("The values of sent")
    assert "all 60 of these failures come from nodes described in the source" in told["finding"]
    origin = told["origin"]
    assert origin["kind"] == "source"
    assert origin["shared"] == {"failing": EACH, "population": EACH}
    assert origin["inside"]["failing"] == EACH
    assert "SELECT" in origin["region"]
    assert any(one["test"] == "association" for one in origin["evidence"])


def test_the_two_are_one_cause_in_report_claims_and_record(found: Result) -> None:
    told = leading(found)
    causes = found.as_dict()["causes"]
    assert [cause["statement"] for cause in causes] == [told["finding"]]
    assert causes[0]["hypotheses"][0] == told["id"]
    markdown = found.markdown()
    assert "Also supported, but others hold" not in markdown
    assert markdown.count(told["finding"].removesuffix(".")) > 1
    assert told["finding"].removesuffix(".") in found.html()
    said = found.record.store.select(CLAIMED)
    assert told["finding"] in {row["said"].value for row in said}


def test_the_audit_has_nothing_against_a_joined_finding(found: Result, tmp_path: Path) -> None:
    found.close()
    with kgreason.open(tmp_path / "ledger") as ledger:
        assert not ledger.audit().findings


def test_a_mechanism_that_stands_in_several_feeds_has_no_origin(tmp_path: Path) -> None:
    data = written(tmp_path, 6)
    with kgreason.investigate(data, shapes=tmp_path / "shapes.ttl") as result:
        told = leading(result)
    assert told["kind"] == "datatype"
    assert told["origin"] is None
    assert told["finding"] is None


def test_a_piece_of_a_direct_cause_is_told_with_it_and_is_no_rival(tmp_path: Path) -> None:
    """Three of four missing makers are one term with a slash too many, the others are all over."""
    lines = ["<https://one.example/maker> a ex:Maker ."]
    for n in range(240):
        target = "<https://one.example/maker>"
        if n % 3 == 0:
            target = f"{target[:-1]}/>" if n % 4 else f"<https://other{n % 5}.example/x{n}>"
        lines.append(f"ex:p{n} a ex:Part ; ex:by {target} .")
    asked = "sh:targetClass ex:Part ; sh:property [ sh:path ex:by ; sh:class ex:Maker ]"
    (tmp_path / "data.ttl").write_text(HEAD + "\n".join(lines), encoding="utf-8")
    (tmp_path / "shapes.ttl").write_text(f"{HEAD} ex:S a sh:NodeShape ; {asked} .")
    with kgreason.investigate(tmp_path / "data.ttl", shapes=tmp_path / "shapes.ttl") as result:
        told = leading(result)
        causes = result.as_dict()["causes"]
        markdown = result.markdown()
    assert told["inside"]["failing"] == 80
    assert "Of these, 60: by points at <https://one.example/maker/>, of which" in told["finding"]
    assert len(told["pieces"]) == 1
    assert [cause["adds"] for cause in causes] == [80, 0]
    assert "Also supported, but others hold" not in markdown


def test_where_the_very_nodes_of_a_mechanism_come_from_is_told_with_it() -> None:
    """All meters of one firmware count in another unit, and no others: both hold the same nodes."""
    lines = []
    for meter in range(60):
        lines.append(f'ex:m{meter} ex:firmware "{"2.4" if meter % 5 == 0 else "2.3"}" .')
        for n in range(6):
            used = 20 + (meter * 7 + n * 13) % 60
            kwh = used * 1000 if meter % 5 == 0 else used
            lines.append(f"ex:r{meter}x{n} a ex:Reading ; ex:meter ex:m{meter} ; ex:kWh {kwh}.0 .")
    shapes = """ex:S a sh:NodeShape ; sh:targetClass ex:Reading ;
      sh:property [ sh:path ex:kWh ; sh:maxInclusive 500 ] ."""
    found = kgreason.investigate(HEAD + "\n".join(lines), shapes=HEAD + shapes)
    told = leading(found)
    assert told["statement"].startswith("The wrong values of kWh are off by the factor “1000”")
    assert told["origin"]["shared"] == {"failing": 72, "population": 72}
    assert "meter has firmware “2.4”" in told["finding"]
    assert audit(found.record).ok
