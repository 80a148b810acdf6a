"""Our constraints on PROV, held to the cases of the PROV-CONSTRAINTS corpus where they apply."""

import json
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from xml.etree import ElementTree as ET

import pyoxigraph as ox
import pytest

from kgreason.audit.record_shapes import shapes
from kgreason.base.store import Store
from kgreason.base.terms import PROV, TYPE, XSD
from tests.audit_support import CASES

EXAMPLE: Final = "http://example.org/"
SPACE: Final = "{http://www.w3.org/ns/prov#}"
EXPECTED: Final = tomllib.loads((CASES / "prov.toml").read_text(encoding="utf-8"))
CORPUS: Final = Path("suites", "prov", "unification")


@dataclass(frozen=True)
class Kind:
    """How a relation looks in PROV-O: its subject, class, plain property, and what its ends are."""

    subject: str
    name: str
    plain: str
    target: str | None
    ends: Mapping[str, str]


RELATIONS: Final = {
    "wasGeneratedBy": Kind(
        "entity", "Generation", "wasGeneratedBy", "activity", {"activity": "activity"}
    ),
    "used": Kind("activity", "Usage", "used", "entity", {"entity": "entity"}),
    "wasInformedBy": Kind(
        "informed", "Communication", "wasInformedBy", "informant", {"informant": "activity"}
    ),
    "wasStartedBy": Kind(
        "activity", "Start", "wasStartedBy", "trigger",
        {"trigger": "entity", "starter": "hadActivity"},
    ),
    "wasEndedBy": Kind(
        "activity", "End", "wasEndedBy", "trigger", {"trigger": "entity", "ender": "hadActivity"}
    ),
    "wasInvalidatedBy": Kind(
        "entity", "Invalidation", "wasInvalidatedBy", "activity", {"activity": "activity"}
    ),
    "wasDerivedFrom": Kind(
        "generatedEntity", "Derivation", "wasDerivedFrom", "usedEntity",
        {
            "usedEntity": "entity", "activity": "hadActivity",
            "generation": "hadGeneration", "usage": "hadUsage",
        },
    ),
    "wasAttributedTo": Kind(
        "entity", "Attribution", "wasAttributedTo", "agent", {"agent": "agent"}
    ),
    "wasAssociatedWith": Kind(
        "activity", "Association", "wasAssociatedWith", "agent",
        {"agent": "agent", "plan": "hadPlan"},
    ),
    "actedOnBehalfOf": Kind(
        "delegate", "Delegation", "actedOnBehalfOf", "responsible",
        {"responsible": "agent", "activity": "hadActivity"},
    ),
    "wasInfluencedBy": Kind(
        "influencee", "Influence", "wasInfluencedBy", "influencer", {"influencer": "influencer"}
    ),
}  # fmt: skip
PLAIN: Final = {
    "specializationOf": ("specificEntity", "generalEntity"),
    "alternateOf": ("alternate1", "alternate2"),
    "hadMember": ("collection", "entity"),
}
ACTIVITIES: Final = ("wasInformedBy", "used", "wasAssociatedWith")

Record = tuple[str, str | None, dict[str, list[str]]]
"""Kind, name if it has one, and the values of its attributes."""


def records(path: Path) -> Iterator[Record]:
    """Read PROV-JSON or PROV-XML."""
    if path.suffix == ".json":
        yield from _json(json.loads(path.read_text(encoding="utf-8")))
        return
    for element in ET.parse(path).getroot():  # noqa: S314 - a vendored corpus
        values: dict[str, list[str]] = {}
        for part in element:
            quoted = any(name.endswith("}type") and "string" in t for name, t in part.items())
            said = part.get(f"{SPACE}ref") or (part.text or "").strip()
            if not quoted:
                values.setdefault(part.tag.removeprefix(SPACE), []).append(said)
        yield element.tag.removeprefix(SPACE), element.get(f"{SPACE}id"), values


def _json(document: dict[str, Any]) -> Iterator[Record]:
    for kind, named in document.items():
        if kind == "prefix":
            continue
        for name, given in named.items():
            for record in given if isinstance(given, list) else [given]:
                values = {
                    key.removeprefix("prov:"): [v if isinstance(v, str) else v["$"]]
                    for key, v in record.items()
                }
                yield kind, None if name.startswith("_:") else name, values


def node(name: str) -> ox.NamedNode:
    prefix, _, local = name.partition(":")
    return ox.NamedNode({"ex": EXAMPLE, "prov": PROV.iri}.get(prefix, f"{prefix}:") + local)


def time(text: str) -> ox.Literal:
    return ox.Literal(text, datatype=XSD.dateTime)


def graph(path: Path) -> ox.Store:
    """Read a case as PROV-O, each relation both ways where it can be said both ways."""
    store = ox.Store()

    def add(subject: Any, predicate: ox.NamedNode, value: Any) -> None:
        store.add(ox.Quad(subject, predicate, value))

    for kind, name, values in records(path):
        if kind in RELATIONS:
            _relate(add, RELATIONS[kind], name, values)
            for activity in values.get("activity", []) if kind in ACTIVITIES else ():
                add(node(activity), TYPE, PROV.Activity)  # it stands where only activities may
        elif kind in PLAIN:
            one, other = (values.get(end, [None])[0] for end in PLAIN[kind])
            if one and other:
                add(node(one), PROV[kind], node(other))
        elif name is not None:
            _describe(add, node(name), kind, values)
    return store


def _describe(add: Any, subject: ox.NamedNode, kind: str, values: dict[str, list[str]]) -> None:
    add(subject, TYPE, PROV[kind.capitalize()])
    for key, property_ in (("startTime", "startedAtTime"), ("endTime", "endedAtTime")):
        for text in values.get(key, []):
            add(subject, PROV[property_], time(text))
    for kind_ in values.get("type", []):
        if kind_.startswith("prov:"):
            add(subject, TYPE, node(kind_))


def _relate(add: Any, kind: Kind, name: str | None, values: dict[str, list[str]]) -> None:
    relation = node(name) if name else ox.BlankNode()
    add(relation, TYPE, PROV[kind.name])
    for end, property_ in kind.ends.items():
        for value in values.get(end, []):
            add(relation, PROV[property_], node(value))
    for text in values.get("time", []):
        add(relation, PROV.atTime, time(text))
    for subject in values.get(kind.subject, []):
        add(node(subject), PROV[f"qualified{kind.name}"], relation)
        for target in values.get(str(kind.target), []):
            add(node(subject), PROV[kind.plain], node(target))


def spoken(path: Path) -> set[str]:
    """Give the constraints that a case breaks."""
    return broken(graph(path))


def broken(store: ox.Store) -> set[str]:
    """Give the constraints on PROV that a graph breaks."""
    rules = (rule for rule in shapes().rules if rule.name.startswith("prov-"))
    return {rule.name for rule in rules if len(Store(store, "a case").select(rule.query))}


def cases(folder: Path) -> dict[str, Path]:
    suffixes = {".json", ".xml", ".provx"}
    found = sorted(path for path in (folder / CORPUS).rglob("*") if path.suffix in suffixes)
    return {path.name: path for path in found}


def test_what_is_valid_breaks_nothing(data_folder: Path) -> None:
    wrong = {
        name: rules
        for name, path in cases(data_folder).items()
        if ("success" in name or "PASS" in name) and (rules := spoken(path))
    }
    assert not wrong


def test_what_is_invalid_breaks_the_constraint_it_was_made_for(data_folder: Path) -> None:
    found = {
        name: sorted(spoken(path))
        for name, path in cases(data_folder).items()
        if "fail" in name or "FAIL" in name
    }
    expected = {name: sorted(rules) for name, rules in EXPECTED["applies"].items()}
    elsewhere: dict[str, list[str]] = {
        name: [] for names in EXPECTED["no-case"].values() for name in names
    }
    assert found == expected | elsewhere
    assert not set(expected) & set(elsewhere)


# What no case of the corpus is about: orders of time, and things on the wrong kind of node.
HEAD: Final = """
PREFIX prov: <http://www.w3.org/ns/prov#>
PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
PREFIX ex: <http://example.org/>
"""


@pytest.mark.parametrize("case", EXPECTED["own"], ids=lambda case: case["name"])
def test_what_the_corpus_has_no_case_for(case: dict[str, Any]) -> None:
    for said, expected in ((case["broken"], set(case["rules"])), (case["kept"], set())):
        store = ox.Store()
        store.update(f"{HEAD}INSERT DATA {{ {said} }}")
        assert broken(store) == expected, said


def test_every_constraint_has_a_case() -> None:
    tried = {rule for rules in EXPECTED["applies"].values() for rule in rules}
    tried |= {rule for case in EXPECTED["own"] for rule in case["rules"]}
    assert tried == {rule.name for rule in shapes().rules if rule.name.startswith("prov-")}
