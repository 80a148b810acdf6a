"""A result as SARIF 2.1.0: one result a cause, its rules the constraints that it breaks.

Static Analysis Results Interchange Format, OASIS Standard, 2020:
https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
"""

import json
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any, Final

from kgreason.report.export.findings import CauseFinding, Failure, Findings, Rule, uri

SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
_SHOWN: Final = 1_000
"""The most nodes that a result names, which is what GitHub takes of related locations."""
_HOME: Final = "https://w3id.org/trails"


def render(found: Findings) -> str:
    """Return the causes as a SARIF log; a rule without a cause is a notification of the run."""
    places = {rule.symptom: number for number, rule in enumerate(found.rules)}
    run = {
        "tool": {
            "driver": {
                "name": "kgreason",
                "version": version("kgreason"),
                "informationUri": _HOME,
                "rules": [_rule(rule) for rule in found.rules],
            }
        },
        "columnKind": "utf16CodeUnits",
        "results": [_result(cause, places) for cause in found.causes],
        "invocations": [
            {
                "executionSuccessful": found.finished,
                "toolExecutionNotifications": [_open(rule, places) for rule in found.open],
            }
        ],
    }
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(log, indent=2, ensure_ascii=False) + "\n"


def _rule(rule: Rule) -> dict[str, Any]:
    made: dict[str, Any] = {
        "id": rule.id,
        "shortDescription": {"text": rule.name},
        "fullDescription": {"text": f"{rule.name}: {rule.counts}."},
        "defaultConfiguration": {"level": rule.level},
        "properties": {
            "shape": rule.shape,
            "constraint": rule.component,
            "failing": rule.failing,
            "population": rule.population,
            "verdict": rule.verdict,
        },
    }
    if rule.shape is not None and rule.shape.startswith(("http://", "https://")):
        made["helpUri"] = rule.shape
    return made


def _result(cause: CauseFinding, places: Mapping[str, int]) -> dict[str, Any]:
    first = cause.rules[0]
    shown = cause.failures[:_SHOWN]
    place = cause.place
    made: dict[str, Any] = {
        "ruleId": first.id,
        "ruleIndex": places[first.symptom],
        "level": cause.level,
        "message": {"text": f"{cause.id}: {cause.statement}"},
        "partialFingerprints": {"kgreasonCause/v1": cause.fingerprint},
        "occurrenceCount": max(1, cause.explains),
        "locations": [] if place is None else [{"physicalLocation": _artifact(*place)}],
        "relatedLocations": [_node(number, one) for number, one in enumerate(shown)],
        "properties": {
            "cause": cause.id,
            "rules": [rule.id for rule in cause.rules],
            "explains": cause.explains,
            "confidence": cause.confidence,
            "narrows": cause.narrows,
            "nodesLeftOut": len(cause.failures) - len(shown),
        },
    }
    return made


def _artifact(file: str, line: int | None) -> dict[str, Any]:
    told: dict[str, Any] = {"artifactLocation": {"uri": uri(file)}}
    return told if line is None else told | {"region": {"startLine": line}}


def _node(number: int, one: Failure) -> dict[str, Any]:
    value = "" if one.value is None else f": {one.value}"
    made: dict[str, Any] = {
        "id": number,
        "message": {"text": f"{one.node}{value}"},
        "logicalLocations": [{"fullyQualifiedName": one.node, "kind": "resource"}],
    }
    if one.file is not None:
        made["physicalLocation"] = _artifact(one.file, one.line)
    return made


def _open(rule: Rule, places: Mapping[str, int]) -> dict[str, Any]:
    return {
        "level": rule.level,
        "message": {"text": f"{rule.name}: {rule.counts}, and no cause was found."},
        "associatedRule": {"id": rule.id, "index": places[rule.symptom]},
    }
