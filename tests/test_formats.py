"""What CI and other tools read: SARIF, JUnit, GitHub, CSV, and RDF in the words of others."""

import csv
import io
import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pyoxigraph as ox
import pytest
from jsonschema import Draft202012Validator

import kgreason
from kgreason.base.errors import OptionError
from kgreason.report.export import ci_text, sarif
from kgreason.report.export.findings import CauseFinding, Failure, Findings, Rule, uri
from tests.cli_support import Ran, run
from tests.following_support import SHAPES, shop

EX = "http://example.org/"
SH = "http://www.w3.org/ns/shacl#"
OPEN_SHAPE = """
ex:ThingShape sh:property ex:CodeShape .
ex:CodeShape a sh:PropertyShape ; sh:path ex:code ; sh:maxCount 0 ; sh:name "No code is given" .
"""


def _object(required: list[str], **properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "required": required,
        "properties": properties,
        "additionalProperties": False,
    }


def _array(items: Any) -> dict[str, Any]:
    return {"type": "array", "items": items}


TEXT = {"type": "string", "minLength": 1}
MESSAGE = _object(["text"], text=TEXT)
LEVEL = {"enum": ["none", "note", "warning", "error"]}
PHYSICAL = _object(
    ["artifactLocation"],
    artifactLocation=_object(["uri"], uri=TEXT),
    region=_object(["startLine"], startLine={"type": "integer", "minimum": 1}),
)
LOCATION = _object(
    [],
    id={"type": "integer", "minimum": -1},
    message=MESSAGE,
    physicalLocation=PHYSICAL,
    logicalLocations=_array(_object([], fullyQualifiedName=TEXT, kind=TEXT)),
)
SARIF = _object(
    ["version", "runs"],
    **{"$schema": TEXT},
    version={"const": "2.1.0"},
    runs=_array(
        _object(
            ["tool", "results"],
            tool=_object(
                ["driver"],
                driver=_object(
                    ["name", "rules"],
                    name=TEXT,
                    version=TEXT,
                    informationUri=TEXT,
                    rules=_array(
                        _object(
                            ["id"],
                            id=TEXT,
                            shortDescription=MESSAGE,
                            fullDescription=MESSAGE,
                            defaultConfiguration=_object([], level=LEVEL),
                            helpUri={"type": "string", "pattern": "^https?:"},
                            properties={"type": "object"},
                        )
                    ),
                ),
            ),
            columnKind={"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
            results=_array(
                _object(
                    ["message", "ruleId", "partialFingerprints"],
                    ruleId=TEXT,
                    ruleIndex={"type": "integer", "minimum": 0},
                    level=LEVEL,
                    message=MESSAGE,
                    partialFingerprints={
                        "type": "object",
                        "minProperties": 1,
                        "additionalProperties": TEXT,
                    },
                    occurrenceCount={"type": "integer", "minimum": 1},
                    locations=_array(LOCATION),
                    relatedLocations=_array(LOCATION) | {"uniqueItems": True},
                    properties={"type": "object"},
                )
            ),
            invocations=_array(
                _object(
                    ["executionSuccessful"],
                    executionSuccessful={"type": "boolean"},
                    toolExecutionNotifications=_array(
                        _object(
                            ["message"],
                            level=LEVEL,
                            message=MESSAGE,
                            associatedRule=_object(
                                [], id=TEXT, index={"type": "integer", "minimum": 0}
                            ),
                        )
                    ),
                )
            ),
        )
    ),
)
"""The parts of SARIF 2.1.0 (OASIS, 2020) that are written, with what the standard asks of them:
sections 3.13 (sarifLog), 3.14 (run), 3.19 (toolComponent), 3.27 (result), 3.28 (location), 3.30
(region), 3.49 (reportingDescriptor) and 3.58 (notification)."""
VALID = Draft202012Validator(SARIF)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a shop with two faults, and two slips that have no cause."""
    folder = shop(tmp_path_factory.mktemp("formats"), oversized=30)
    (folder / "shapes.ttl").write_text(SHAPES + OPEN_SHAPE, encoding="utf-8")
    for feed, thing in (("north", "north7"), ("west", "west9")):
        with (folder / "data" / f"{feed}.ttl").open("a", encoding="utf-8") as file:
            file.write(f'ex:{thing} ex:code "x" .\n')
    data, shapes = folder / "data", folder / "shapes.ttl"
    kgreason.investigate(data, shapes=shapes, ledger=folder / "ledger").close()
    return folder


def reported(place: Path, format_: str, *more: str | Path) -> Ran:
    done = run("report", "--ledger", place / "ledger", "--format", format_, *more)
    assert done.code == 0, done.err
    return done


def log_of(place: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.chdir(place)
    log = json.loads(reported(place, "sarif").out)
    assert list(VALID.iter_errors(log)) == []
    return dict(log["runs"][0])


def test_sarif_has_a_result_a_cause(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = log_of(place, monkeypatch)
    rules = told["tool"]["driver"]["rules"]
    assert {one["id"] for one in rules} == {
        "NameShape/MinCount/name", "SizeShape/MaxInclusive/size", "CodeShape/MaxCount/code",
    }  # fmt: skip
    with kgreason.result(place / "ledger") as result:
        causes = result.causes
    results = told["results"]
    assert [one["properties"]["cause"] for one in results] == [one.id for one in causes]
    for one, cause in zip(results, causes, strict=True):
        assert one["message"]["text"] == f"{cause.id}: {cause.said}"
        assert "odes" not in cause.said
        assert one["partialFingerprints"] == {"kgreasonCause/v1": cause.fingerprint}
        assert rules[one["ruleIndex"]]["id"] == one["ruleId"]
        assert one["occurrenceCount"] == cause.explains == len(one["relatedLocations"])
    large = next(one for one in results if one["ruleId"].startswith("Size"))
    assert large["level"] == "warning"
    names = {one["logicalLocations"][0]["fullyQualifiedName"] for one in large["relatedLocations"]}
    assert names == {f"{EX}west{i}" for i in range(30)}
    (location,) = large["locations"]
    assert location["physicalLocation"]["artifactLocation"]["uri"] == "data/west.ttl"
    text = (place / "data" / "west.ttl").read_text(encoding="utf-8").splitlines()
    for each in large["relatedLocations"]:
        name = each["logicalLocations"][0]["fullyQualifiedName"]
        line = text[each["physicalLocation"]["region"]["startLine"] - 1]
        assert line.startswith(f"ex:{name.removeprefix(EX)} a ex:Thing"), line
    first = min(
        each["physicalLocation"]["region"]["startLine"] for each in large["relatedLocations"]
    )
    assert location["physicalLocation"]["region"] == {"startLine": first}


def test_what_has_no_cause_is_a_notification(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (invocation,) = log_of(place, monkeypatch)["invocations"]
    (open_,) = invocation["toolExecutionNotifications"]
    assert open_["message"]["text"] == (
        "No code is given: 2 of 120 nodes fail, and no cause was found."
    )
    assert open_["associatedRule"]["id"] == "CodeShape/MaxCount/code"


def test_the_fingerprint_stays_when_only_counts_change(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    marks = {
        one["ruleId"]: one["partialFingerprints"] for one in log_of(place, monkeypatch)["results"]
    }
    later = shop(tmp_path / "later", oversized=31)
    done = run(
        "investigate", later / "data", "--shapes", later / "shapes.ttl", "--ledger",
        tmp_path / "ledger", "--out", tmp_path / "why.sarif",
    )  # fmt: skip
    assert done.code == 0, done.err
    log = json.loads((tmp_path / "why.sarif").read_text(encoding="utf-8"))
    VALID.validate(log)
    for one in log["runs"][0]["results"]:
        assert one["partialFingerprints"] == marks[one["ruleId"]]


def test_junit_has_a_case_for_each_broken_rule(place: Path) -> None:
    root = ET.fromstring(reported(place, "junit").out)  # noqa: S314 - our own text
    assert root.attrib == {"tests": "3", "failures": "3"}
    cases = {one.attrib["name"]: one for one in root.iter("testcase")}
    failure = cases["A size is 900 or less"][0]
    assert failure.attrib["message"].startswith("30 of 120 nodes fail. C")
    assert "- http://example.org/west14: 915" in (failure.text or "")
    assert "- and 10 more" in (failure.text or "")
    assert "No cause was found" in cases["No code is given"][0].attrib["message"]


def test_github_gets_annotations_and_a_job_summary(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(place)
    summary = tmp_path / "summary.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    lines = reported(place, "github").out.splitlines()
    assert len(lines) == 3
    assert any(re.match(r"::warning file=data/west\.ttl,line=\d+,title=C", line) for line in lines)
    assert any(re.match(r"::error file=data/south\.ttl,line=\d+,title=C", line) for line in lines)
    assert "::error title=No code is given::2 of 120 nodes fail" in lines[2]
    text = summary.read_text(encoding="utf-8")
    assert "3 rules are broken" in text
    assert "| C1 |" in text
    reported(place, "sarif")
    assert summary.read_text(encoding="utf-8") == text


def test_csv_has_a_row_a_cause_and_rule(place: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(reported(place, "csv").out)))
    assert [one["cause"] for one in rows] == ["C1", "C2", ""]
    assert tuple(rows[0]) == ci_text.HEADS
    assert rows[2]["rule"] == "No code is given"


def test_a_shacl_report_names_the_cause_and_can_be_read_again(place: Path, tmp_path: Path) -> None:
    file = tmp_path / "report.ttl"
    reported(place, "shacl", "--out", file)
    found = list(ox.parse(path=str(file), format=ox.RdfFormat.TURTLE))
    said = {q.subject: q.object.value for q in found if q.predicate.value == f"{SH}resultMessage"}
    focus = {q.object.value: q.subject for q in found if q.predicate.value == f"{SH}focusNode"}
    assert len(said) == 30 + 26 + 2
    assert said[focus[f"{EX}west4"]].endswith("(A size is 900 or less)")
    assert said[focus[f"{EX}west4"]].startswith("C")
    again = run(
        "symptoms", place / "data", "--violations", file, "--shapes", place / "shapes.ttl",
        "--format", "json",
    )  # fmt: skip
    assert {one["name"]: one["failing"] for one in json.loads(again.out)} == {
        "A size is 900 or less": 30, "A thing has a name": 26, "No code is given": 2,
    }  # fmt: skip


def test_earl_and_dqv_are_turtle_with_one_entry_a_rule(place: Path) -> None:
    for format_, kind in (
        ("earl", "http://www.w3.org/ns/earl#Assertion"),
        ("dqv", "http://www.w3.org/ns/dqv#QualityMeasurement"),
    ):
        found = ox.parse(reported(place, format_).out, format=ox.RdfFormat.TURTLE)
        kinds = [q.object.value for q in found if isinstance(q.object, ox.NamedNode)]
        assert kinds.count(kind) == 3


def test_without_the_data_only_cited_nodes_are_told(place: Path) -> None:
    (place / "data").rename(place / "away")
    try:
        done = reported(place, "sarif")
    finally:
        (place / "away").rename(place / "data")
    assert "Only the failing nodes that the record cites are told" in done.err
    (told,) = json.loads(done.out)["runs"]
    assert all(0 < len(one["relatedLocations"]) < 30 for one in told["results"])


def test_python_has_the_same_and_refuses_another_name(place: Path) -> None:
    with kgreason.open(place / "ledger") as opened, opened.with_nodes() as (result, why):
        assert why == ""
        assert len(json.loads(result.formatted("sarif"))["runs"][0]["results"]) == 2
        with pytest.raises(OptionError, match="use sarif, junit"):
            result.formatted("pdf")


RULE = Rule("a/b", "urn:s", "100 %: a, <b>|\x07 c\n::d", None, None, "error", 3, None, None)
CAUSE = CauseFinding("C1", "Why <i>|\x00|</i>\n::error::", "f" * 64, 3, False, 0.9)  # noqa: FBT003
CAUSE.rules.append(RULE)
CAUSE.failures.append(Failure("_:b1", "urn:s", 'a"<\x1b>&', "data/ä b.ttl"))
HOSTILE = Findings((RULE,), (CAUSE,), (), tuple(CAUSE.failures))


def test_data_stay_data_whatever_they_hold() -> None:
    log = json.loads(sarif.render(HOSTILE))
    VALID.validate(log)
    assert "data/%C3%A4%20b.ttl" in json.dumps(log)
    root = ET.fromstring(ci_text.junit(HOSTILE))  # noqa: S314 - our own text
    assert next(root.iter("testcase")).attrib["name"].startswith("100 %: a, <b>|")
    (line,) = ci_text.annotations(HOSTILE).splitlines()
    assert line.startswith("::error file=data/ä b.ttl,title=C1%3A 100 %25%3A a%2C <b>|")
    assert line.endswith("%0A::error::")
    summary = ci_text.job_summary(HOSTILE, "All <is> well")
    assert r"\<i\>\|" in summary
    assert "All \\<is\\> well" in summary
    assert uri("urn:a:ü") == "urn:a:%C3%BC"
    assert uri("/x/y z.ttl") == "file:///x/y%20z.ttl"


def test_nothing_wrong_is_a_log_without_results_and_a_test_that_passes() -> None:
    nothing = Findings((), (), (), ())
    log = json.loads(sarif.render(nothing))
    VALID.validate(log)
    assert log["runs"][0]["results"] == []
    root = ET.fromstring(ci_text.junit(nothing))  # noqa: S314 - our own text
    assert (root.attrib["tests"], root.attrib["failures"]) == ("1", "0")
    assert ci_text.annotations(nothing) == ""
