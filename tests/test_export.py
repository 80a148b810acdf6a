"""Exports, read back by libraries that know nothing of kgreason, say what the record says."""

import hashlib
import json
import os
import re
import warnings
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyoxigraph as ox
import pytest
import rdflib
import rdflib.term
from hypothesis import given
from hypothesis import strategies as st

from kgreason.base.errors import LedgerError, OptionError, RunError
from kgreason.base.store import Store
from kgreason.base.terms import PREFIXES, PROV, RDFS, TRAILS, TYPE
from kgreason.record import Ledger, Record, policy
from kgreason.report.export import KINDS, crate, export, rdf, trusty, write
from kgreason.report.export import atomic as writing
from tests.audit_support import kept_in, lab, number, statements, tampered
from tests.casebook import trig
from tests.cli_support import run

CASES = Path(__file__).parent / "cases" / "export"
LICENSE = "https://creativecommons.org/licenses/by/4.0/"
RELATIONS = {
    "wasGeneratedBy": "ProvGeneration",
    "used": "ProvUsage",
    "wasInformedBy": "ProvCommunication",
    "wasDerivedFrom": "ProvDerivation",
    "wasRevisionOf": "ProvDerivation",
    "wasAssociatedWith": "ProvAssociation",
    "wasAttributedTo": "ProvAttribution",
    "actedOnBehalfOf": "ProvDelegation",
    "specializationOf": "ProvSpecialization",
    "hadMember": "ProvMembership",
}
KINDS_OF_NODE = {"Entity": "ProvEntity", "Activity": "ProvActivity", "Agent": "ProvAgent"}


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Record:
    return lab(tmp_path_factory.mktemp("lab"), question="Why is it so?")


@pytest.fixture(scope="module")
def ledger(record: Record, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("export") / "ledger"
    kept_in(folder, record)
    return folder


def by_hand(graph: str) -> Record:
    """Give a graph of the cases as if it were the record of an investigation of that name."""
    iri = ox.NamedNode(f"https://example.org/{graph}")
    inner = ox.Store()
    inner.extend(q for q in trig(CASES / "record.trig") if q.graph_name == iri)
    return Record(Store(inner, "a record by hand"), iri)


# PROV-JSON


def document(path: Path) -> Any:
    model = pytest.importorskip("prov.model", reason="reading PROV-JSON back needs prov")
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # it warns of what it will refuse one day
        return model.ProvDocument.deserialize(str(path))


@pytest.fixture(scope="module")
def read(ledger: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The PROV-JSON of the record, as the library `prov` reads it."""
    path = tmp_path_factory.mktemp("prov") / "record.json"
    assert export(ledger, path, "prov-json") == [str(path)]
    return document(path)


def of_kind(found: Any, kind: str) -> dict[str, Any]:
    return {r.identifier.uri: r for r in found.get_records() if type(r).__name__ == kind}


@pytest.mark.parametrize("kind", KINDS_OF_NODE)
def test_nodes_are_those_of_the_record(record: Record, read: Any, kind: str) -> None:
    typed = record.store.inner.quads_for_pattern(None, TYPE, PROV[kind], record.iri)
    wanted = {quad.subject.value for quad in typed if isinstance(quad.subject, ox.NamedNode)}
    assert wanted
    assert set(of_kind(read, KINDS_OF_NODE[kind])) == wanted


def ends(relation: Any) -> tuple[str, str, str]:
    values = [value.uri for _, value in relation.formal_attributes if hasattr(value, "uri")]
    return type(relation).__name__, values[0], values[1]


def test_relations_are_those_of_the_record(record: Record, read: Any) -> None:
    wanted = [
        (RELATIONS[quad.predicate.value.rpartition("#")[2]], quad.subject.value, quad.object.value)
        for quad in statements(record)
        if quad.predicate.value.rpartition("#")[2] in RELATIONS and quad.predicate in PROV
    ]
    found = [ends(r) for r in read.get_records() if type(r).__name__ in RELATIONS.values()]
    assert len(wanted) > 200
    assert sorted(found) == sorted(wanted)
    others = {type(r).__name__ for r in read.get_records()} - set(RELATIONS.values())
    assert others == set(KINDS_OF_NODE.values())


def test_times_are_those_of_the_record(record: Record, read: Any) -> None:
    wanted = {
        (quad.subject.value, quad.predicate.value.rpartition("#")[2][:-6], quad.object.value)
        for quad in statements(record)
        if quad.predicate in {PROV.startedAtTime, PROV.endedAtTime}
    }
    found = set()
    for uri, activity in of_kind(read, "ProvActivity").items():
        times = {"started": activity.get_startTime(), "ended": activity.get_endTime()}
        for name, time in times.items():
            text = time.isoformat().replace("+00:00", "Z")
            found.add((uri, name, re.sub(r"(\.\d*?)0+Z", r"\1Z", text).replace(".Z", "Z")))
    assert found == wanted


def attribute(value: Any) -> str:
    if hasattr(value, "uri"):
        return str(value.uri)
    if isinstance(value, bool):
        return str(value).lower()
    return str(getattr(value, "value", value))


def test_all_else_that_is_said_of_a_node_is_an_attribute(record: Record, read: Any) -> None:
    nodes = {kind: of_kind(read, kind) for kind in KINDS_OF_NODE.values()}
    known = {uri for found in nodes.values() for uri in found}
    renamed = {TYPE.value: PROV.type.value, RDFS.label.value: PROV.label.value}
    wanted = {
        (q.subject.value, renamed.get(q.predicate.value, q.predicate.value), q.object.value)
        for q in statements(record)
        if q.subject.value in known
        and (q.predicate not in PROV)
        and (q.predicate != TRAILS.step or q.subject.value.startswith(record.iri.value))
        and not (q.predicate == TYPE and q.object in {PROV.Entity, PROV.Activity, PROV.Agent})
    }
    found = {
        (uri, name.uri, attribute(value))
        for each in nodes.values()
        for uri, node in each.items()
        for name, value in node.extra_attributes
    }
    assert found == wanted


def test_numbers_and_languages_keep_their_datatype(tmp_path: Path) -> None:
    out = tmp_path / "x.json"
    write(by_hand("i"), out, "prov-json")
    found = json.loads(out.read_text(encoding="utf-8"))
    symptom = found["entity"]["this:symptom:1"]
    assert symptom["trails:failing"] == {"$": "4", "type": "xsd:integer"}
    assert symptom["prov:label"] == {"$": "a part without a price", "lang": "en"}
    assert symptom["trails:shape"]["$"].endswith("PartShape")
    (label,) = [
        value
        for node in of_kind(document(out), "ProvEntity").values()
        for name, value in node.extra_attributes
        if name.uri == PROV.label.value
    ]
    assert (label.value, label.langtag) == ("a part without a price", "en")


def test_a_node_of_two_kinds_has_its_times_as_an_activity(tmp_path: Path) -> None:
    made = by_hand("i")
    made.store.inner.add(ox.Quad(made.iri, TYPE, PROV.Agent, made.iri))
    write(made, tmp_path / "x.json", "prov-json")
    found = json.loads((tmp_path / "x.json").read_text(encoding="utf-8"))
    (name,) = set(found["activity"]) & set(found["agent"])
    assert found["activity"][name]["prov:startTime"] == "2026-01-05T10:00:00Z"
    assert "prov:startTime" not in found["agent"][name]
    assert found["agent"][name]["trails:question"] == "Why?"


def test_what_is_stated_both_ways_is_told_once_with_all_that_is_known(tmp_path: Path) -> None:
    """A record of kgreason has no qualified relations yet; one by hand has."""
    other = by_hand("other")
    inner = other.store.inner
    about = {"number": "1", "seed": "0", "triples": "0", "graphs": "0"}
    integer = ox.NamedNode(PREFIXES["xsd"] + "integer")
    time = ox.Literal("2026-01-05T10:00:00Z", datatype=ox.NamedNode(PREFIXES["xsd"] + "dateTime"))
    facts: dict[ox.NamedNode, Any] = {
        TYPE: TRAILS.Investigation,
        TRAILS.state: TRAILS.Finished,
        TRAILS.policy: ox.NamedNode("https://example.org/policy"),
        TRAILS.fingerprint: ox.Literal("f00d"),
        PROV.startedAtTime: time,
        PROV.endedAtTime: time,
        **{TRAILS[name]: ox.Literal(value, datatype=integer) for name, value in about.items()},
    }
    inner.extend(ox.Quad(other.iri, name, value, other.iri) for name, value in facts.items())
    write(other, tmp_path / "x.json", "prov-json")
    found = document(tmp_path / "x.json")
    ex = "https://example.org/"
    relations = sorted(
        ends(r) for r in found.get_records() if type(r).__name__ in RELATIONS.values()
    )
    assert relations == [
        ("ProvAssociation", f"{ex}writing", f"{ex}ann"),
        ("ProvAttribution", f"{ex}report", f"{ex}ann"),
        ("ProvDelegation", f"{ex}ann", f"{ex}firm"),
        ("ProvDerivation", f"{ex}report", f"{ex}draft"),
        ("ProvGeneration", f"{ex}report", f"{ex}writing"),
        ("ProvMembership", f"{ex}bag", f"{ex}report"),
        ("ProvSpecialization", f"{ex}report", f"{ex}work"),
    ]
    told = {type(r).__name__: r for r in found.get_records()}
    values = {
        (kind, name.localpart): attribute(value)
        for kind in ("ProvAssociation", "ProvDerivation", "ProvGeneration")
        for name, value in told[kind].attributes
    }
    assert values["ProvAssociation", "plan"] == f"{ex}plan"
    assert values["ProvDerivation", "type"] == PROV.Revision.value
    assert values["ProvGeneration", "time"].startswith("2026-01-05 11:00:00")
    assert values["ProvGeneration", "role"] == f"{ex}output"
    assert set(of_kind(found, "ProvEntity")) == {f"{ex}report", f"{ex}plan", f"{ex}bag"}


def test_a_record_that_prov_json_cannot_say_is_refused(record: Record, tmp_path: Path) -> None:
    step = f"<{record.iri.value}:step:2>"
    text = f"INSERT DATA {{ {step} prov:startedAtTime '2020-01-01T00:00:00Z'^^xsd:dateTime }}"
    with pytest.raises(LedgerError, match=r"step:2: it begins or ends more than once"):
        write(tampered(record, text), tmp_path / "x.json", "prov-json")
    assert list(tmp_path.iterdir()) == []


# Trusty URIs


def test_a_code_is_the_hash_that_the_specification_describes() -> None:
    """The text is written out by hand from the specification, version 1."""
    code = "RA" + "x" * 43
    own, seen = f"https://example.org/{code}", "https://example.org/p"
    turtle = f"""
      <{own}#g> {{
        <{own}> <{seen}> "b", "a\\nb\\\\"@en, 7, <{own}#end>, <urn:z>, "a\\nb\\\\" .
      }}
      <urn:a> {{ <urn:s> <{seen}> "x" . }}
    """
    first = ["https://example.org/ #g", "https://example.org/ ", seen]
    string, integer = (f"^{PREFIXES['xsd']}{name}" for name in ("string", "integer"))
    lines = [
        *first, "https://example.org/ #end",
        *first, "urn:z",
        *first, f"{integer} 7",
        *first, "@en a\\nb\\\\",
        *first, f"{string} a\\nb\\\\",
        *first, f"{string} b",
        "urn:a", "urn:s", seen, f"{string} x",
    ]  # fmt: skip
    digest = hashlib.sha256("".join(f"{line}\n" for line in lines).encode()).digest()
    quads = list(ox.parse(turtle, format=ox.RdfFormat.TRIG))
    found = trusty.artifact_code(quads, code)
    assert len(found) == trusty.LENGTH
    bits = "".join(f"{byte:08b}" for byte in digest) + "00"
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    assert found == "RA" + "".join(
        alphabet[int(bits[n : n + 6], 2)] for n in range(0, len(bits), 6)
    )
    assert trusty.artifact_code([*quads, *quads], code) == found


def test_blank_nodes_have_no_code() -> None:
    quad = ox.Quad(ox.BlankNode(), TYPE, TYPE, TYPE)
    with pytest.raises(TypeError, match="only what has an IRI"):
        trusty.artifact_code([quad], trusty.OPEN)


CODE = "RA" + "y" * 43
IRIS = st.sampled_from(
    ["urn:a", "urn:a#b", "urn:B", "https://example.org/é", f"https://example.org/{CODE}",
     f"https://example.org/{CODE}#x", f"https://example.org/{CODE}a"]
)  # fmt: skip
TEXTS = st.one_of(
    st.text(max_size=8), st.sampled_from(["", "\n", "\\n", "\\", '"', "a\r\nb", "😀", "\ue000"])
)
TYPES = st.sampled_from(["xsd:string", "xsd:integer", "xsd:decimal", "urn:t"])


@st.composite
def terms(draw: st.DrawFn) -> tuple[ox.NamedNode | ox.Literal, Any]:
    """Draw a term, for pyoxigraph and for rdflib."""
    which = draw(st.sampled_from(["iri", "typed", "language"]))
    if which == "iri":
        iri = draw(IRIS)
        return ox.NamedNode(iri), rdflib.URIRef(iri)
    text = draw(TEXTS)
    if which == "language":
        language = draw(st.sampled_from(["en", "de", "de-at"]))
        return ox.Literal(text, language=language), rdflib.Literal(text, lang=language)
    datatype = draw(TYPES).replace("xsd:", PREFIXES["xsd"])
    plain = datatype.endswith("#string")
    return ox.Literal(text, datatype=ox.NamedNode(datatype)), rdflib.Literal(
        text, datatype=None if plain else rdflib.URIRef(datatype), normalize=False
    )


@given(st.lists(st.tuples(IRIS, IRIS, IRIS, terms()), max_size=6))
def test_codes_are_those_of_another_implementation(drawn: list[Any]) -> None:
    hasher = pytest.importorskip(
        "nanopub.trustyuri.rdf.RdfHasher", reason="comparing codes needs nanopub"
    )
    ours = [
        ox.Quad(ox.NamedNode(s), ox.NamedNode(p), o[0], ox.NamedNode(g)) for g, s, p, o in drawn
    ]
    theirs = [(*map(rdflib.URIRef, (g, s, p)), o[1]) for g, s, p, o in drawn]
    assert trusty.artifact_code(ours, CODE) == hasher.make_hash(theirs, hashstr=CODE)


# Nanopublications


@pytest.fixture(scope="module")
def nanopubs(ledger: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("np") / "nanopubs"
    return [Path(name) for name in export(ledger, folder, "nanopub", license=LICENSE)]


def code_of(path: Path) -> str:
    return path.name.split(".")[-2]


def test_there_is_one_for_each_supported_conclusion(record: Record, nanopubs: list[Path]) -> None:
    supported = {
        quad.subject
        for quad in statements(record)
        if quad.predicate == TRAILS.status
        and quad.object in {TRAILS.Supported, TRAILS.Converged}
        and ox.Quad(quad.subject, TRAILS.catchAll, ox.Literal(value=False), record.iri)
        in record.store.inner
    }
    assert len(supported) >= 2
    about = set()
    for path in nanopubs:
        quads = list(ox.parse(path=str(path), format=ox.RdfFormat.TRIG))
        (claim,) = {q.subject for q in quads if q.predicate == TYPE and q.object == TRAILS.Claim}
        about |= {
            q.object for q in quads if q.subject == claim and q.predicate == TRAILS.hypothesis
        }
    assert about == supported
    assert len(nanopubs) == len(supported)


def test_rdflib_reads_four_graphs_that_are_about_each_other(nanopubs: list[Path]) -> None:
    np = rdflib.Namespace("http://www.nanopub.org/nschema#")
    prov = rdflib.Namespace(PREFIXES["prov"])
    for path in nanopubs:
        dataset = rdflib.Dataset()
        dataset.parse(path)
        this = rdflib.URIRef(f"https://w3id.org/np/{code_of(path)}")
        graphs = {str(g.identifier): g for g in dataset.graphs() if len(g)}
        head, assertion, provenance, publication = (
            graphs.pop(f"{this}#{name}") for name in ("Head", "assertion", "provenance", "pubinfo")
        )
        assert graphs == {}
        assert set(head) == {
            (this, rdflib.RDF.type, np.Nanopublication),
            (this, np.hasAssertion, assertion.identifier),
            (this, np.hasProvenance, provenance.identifier),
            (this, np.hasPublicationInfo, publication.identifier),
        }
        derived = list(provenance.objects(assertion.identifier, prov.wasDerivedFrom))
        assert derived
        polarity = rdflib.URIRef(TRAILS.polarity.value)
        assert all((ground, polarity, None) in provenance for ground in derived)
        assert (this, rdflib.DCTERMS.license, rdflib.URIRef(LICENSE)) in publication
        assert len(list(publication.objects(this, rdflib.DCTERMS.created))) == 1


def test_another_library_finds_them_valid(
    nanopubs: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    library = pytest.importorskip("nanopub", reason="checking nanopublications needs nanopub")
    # Else rdflib gives times another form, and so another hash.
    monkeypatch.setattr(rdflib, "NORMALIZE_LITERALS", False)
    for path in nanopubs:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = library.Nanopub(rdf=path)
            assert found.is_valid
            assert found.has_valid_trusty
        assert str(found.metadata.np_uri).endswith(code_of(path))


def test_any_changed_literal_changes_the_code(nanopubs: list[Path]) -> None:
    for path in nanopubs:
        code = code_of(path)
        quads = list(ox.parse(path=str(path), format=ox.RdfFormat.TRIG))
        assert trusty.artifact_code(quads, code) == code
        seen = {code}
        literals = [(n, q) for n, q in enumerate(quads) if isinstance(q.object, ox.Literal)]
        assert len(literals) > 20
        for n, quad in literals:
            value = quad.object
            assert isinstance(value, ox.Literal)
            other = ox.Literal(f"{value.value} ", datatype=value.datatype)
            changed = ox.Quad(quad.subject, quad.predicate, other, quad.graph_name)
            seen.add(trusty.artifact_code([*quads[:n], changed, *quads[n + 1 :]], code))
        assert len(seen) == len(literals) + 1


def test_base_and_license_are_part_of_what_is_hashed(ledger: Path, tmp_path: Path) -> None:
    base = "https://data.example.org/np/"
    codes = set()
    for n, options in enumerate([{}, {"license": LICENSE}, {"base": base}]):
        written = export(ledger, tmp_path / str(n), "nanopub", **options)
        codes |= {code_of(Path(name)) for name in written}
        text = Path(written[0]).read_text(encoding="utf-8")
        assert (f"<{base}{code_of(Path(written[0]))}>" in text) == ("base" in options)
        assert ("dct:license" in text) == ("license" in options)
    assert len(codes) == 3 * len(written)


def test_where_nothing_is_supported_there_is_none(tmp_path: Path) -> None:
    made = by_hand("i")
    status = ox.Quad(
        ox.NamedNode("https://example.org/i:hypothesis:1"),
        TRAILS.status,
        TRAILS.Supported,
        made.iri,
    )
    made.store.inner.remove(status)
    assert write(made, tmp_path / "np", "nanopub") == []
    assert list((tmp_path / "np").iterdir()) == []


# RO-Crate


@pytest.fixture(scope="module")
def packed(ledger: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("crate") / "crate"
    export(ledger, folder, "ro-crate", license=LICENSE)
    return folder


def opened(path: Path) -> Any:
    library = pytest.importorskip("rocrate.rocrate", reason="reading a crate back needs rocrate")
    return library.ROCrate(str(path))


def test_rocrate_reads_every_file_with_its_description(packed: Path) -> None:
    found = opened(packed)
    described = {entity.id: entity for entity in found.data_entities}
    there = {str(p.relative_to(packed)) for p in packed.rglob("*") if p.is_file()}
    assert set(described) == there - {crate.METADATA}
    for name, entity in described.items():
        data = (packed / name).read_bytes()
        assert entity["sha256"] == hashlib.sha256(data).hexdigest()
        assert entity["contentSize"] == str(len(data))
        assert entity["name"]
        assert re.fullmatch(r"(text|application)/[a-z-]+", entity["encodingFormat"])
    assert found.version == "1.2"
    assert found.license.id == LICENSE
    assert found.name == "Why is it so?"


def test_the_run_is_told_with_tool_inputs_and_results(packed: Path, record: Record) -> None:
    found = opened(packed)
    action = found.dereference(record.iri.value)
    assert action.type == "CreateAction"
    assert (action["instrument"]["name"], action["instrument"]["softwareVersion"]) == (
        "kgreason",
        "0.1.0",
    )
    inputs = {entity.id: entity for entity in action["object"]}
    assert set(inputs) == {"#graph", "#given", "policy.ttl"}
    fingerprints = {
        quad.object.value for quad in statements(record) if quad.predicate == TRAILS.fingerprint
    }
    assert inputs["#graph"]["identifier"]["value"] in fingerprints
    assert {part["name"] for part in inputs["#given"]["hasPart"]} == {"data", "shapes.ttl"}
    assert re.fullmatch("[0-9a-f]{64}", inputs["#given"]["identifier"]["value"])
    results = {entity.id for entity in action["result"]}
    assert results == {entity.id for entity in found.data_entities} - {"policy.ttl"}
    times = {
        quad.object.value
        for quad in statements(record)
        if quad.subject == record.iri and quad.predicate in {PROV.startedAtTime, PROV.endedAtTime}
    }
    assert {action["startTime"], action["endTime"]} == times


def test_every_term_of_the_metadata_is_in_the_context(packed: Path) -> None:
    library = pytest.importorskip("rocrate", reason="rocrate brings the context along")
    place = Path(library.__file__).parent / "data" / "ro-crate.jsonld"
    context = json.loads(place.read_text(encoding="utf-8"))["@context"]
    terms_of = (
        context if isinstance(context, dict) else {k: v for c in context for k, v in c.items()}
    )
    text = (packed / crate.METADATA).read_text(encoding="utf-8")
    document = json.loads(text)
    assert document["@context"] == "https://w3id.org/ro/crate/1.2/context"
    entities = document["@graph"]
    used = {key for entity in entities for key in entity if not key.startswith("@")}
    used |= {entity["@type"] for entity in entities}
    assert sorted(used - set(terms_of)) == []
    graph = rdflib.Graph()
    graph.parse(
        data=json.dumps(document | {"@context": terms_of}), format="json-ld", publicID="urn:crate:/"
    )
    values = sum(
        len(v) if isinstance(v, list) else 1
        for entity in entities
        for key, v in entity.items()
        if key != "@id"
    )
    assert len(graph) == values
    pointed = set(re.findall(r'"@id": "([^"]*)"', text))
    assert pointed - {entity["@id"] for entity in entities} == {crate.SPECIFICATION}


def test_its_files_say_what_the_record_says(packed: Path, record: Record) -> None:
    held = set(ox.parse(path=str(packed / "record.nq"), format=ox.RdfFormat.N_QUADS))
    assert held == set(statements(record))
    result = json.loads((packed / "result.json").read_text(encoding="utf-8"))
    assert result["investigation"] == record.iri.value
    assert result["causes"]
    assert (
        (packed / "report.md").read_text(encoding="utf-8").count(result["causes"][0]["statement"])
    )
    assert "<html" in (packed / "report.html").read_text(encoding="utf-8")
    again = document(packed / "record.prov.json")
    assert len(of_kind(again, "ProvEntity")) > 100
    codes = [code_of(p) for p in sorted((packed / "nanopublications").iterdir())]
    assert len(codes) == len(result["causes"]) == len(set(codes))


def test_its_policy_can_be_used_again(packed: Path, tmp_path: Path) -> None:
    """Under another name, since that of a policy that comes along is taken."""
    text = (packed / "policy.ttl").read_text(encoding="utf-8")
    own = tmp_path / "own.ttl"
    own.write_text(text.replace("policy:code a", "<urn:example:own> a"), encoding="utf-8")
    again, shipped = policy.load(str(own)), policy.load()
    assert again.iri.value == "urn:example:own"
    assert again.outcomes == shipped.outcomes
    assert [gate.name for gate in again.gates] == [gate.name for gate in shipped.gates]


# All of them


def content(path: Path) -> dict[str, bytes]:
    if path.is_file():
        return {"": path.read_bytes()}
    return {str(p.relative_to(path)): p.read_bytes() for p in path.rglob("*") if p.is_file()}


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "name"), [*((k, "a") for k in KINDS), ("ro-crate", "a.zip")])
def test_the_same_record_gives_the_same_bytes(
    ledger: Path, record: Record, tmp_path: Path, kind: str, name: str
) -> None:
    """Twice from the folder, and once from memory, where statements come in another order."""
    for n in range(2):
        (tmp_path / str(n)).mkdir()
        export(ledger, tmp_path / str(n) / name, kind)
    (tmp_path / "2").mkdir()
    shuffled = ox.Store()
    for quad in sorted(statements(record), key=lambda q: hashlib.sha256(str(q).encode()).digest()):
        shuffled.add(quad)
    number(Store(shuffled, "another store"), record.iri)  # of which the report speaks
    write(Record(Store(shuffled, "another store"), record.iri), tmp_path / "2" / name, kind)
    first, *others = (content(tmp_path / str(n) / name) for n in range(3))
    assert first
    assert all(other == first for other in others)


def test_a_zip_file_holds_what_a_folder_does(packed: Path, ledger: Path, tmp_path: Path) -> None:
    out = tmp_path / "crate.ZIP"
    export(ledger, out, "ro-crate", license=LICENSE)
    with zipfile.ZipFile(out) as archive:
        assert archive.testzip() is None
        assert {n: archive.read(n) for n in archive.namelist()} == content(packed)
        assert all(m.date_time[0] >= 2026 for m in archive.infolist())
    assert opened(out).name == "Why is it so?"


NODES = st.builds(
    ox.NamedNode,
    st.sampled_from(
        ["urn:a", "urn:a:b.c", "urn:x:", "urn:x:1-", "urn:x:é", "urn:x:-a", "urn:x:a.", "urn:x:a/b"]
    ),
)
VALUES = st.one_of(
    NODES,
    st.builds(ox.Literal, TEXTS),
    TEXTS.map(lambda text: ox.Literal(text, language="en")),
    st.tuples(TEXTS, TYPES).map(
        lambda x: ox.Literal(x[0], datatype=ox.NamedNode(x[1].replace("xsd:", PREFIXES["xsd"])))
    ),
    TEXTS.map(lambda text: ox.Literal(f'{text}"^^<urn:t>')),
)


@given(st.lists(st.tuples(NODES, NODES, VALUES), max_size=8))
def test_what_is_written_as_rdf_is_read_again(drawn: list[Any]) -> None:
    prefixes = {"a": "urn:a", "x": "urn:x:", "xsd": PREFIXES["xsd"], "unused": "urn:unused:"}
    graph = ox.NamedNode("urn:g")
    triples = {ox.Triple(*each) for each in drawn}
    quads = {ox.Quad(s, p, o, graph) for s, p, o in drawn}
    turtle = rdf.turtle(triples, prefixes)
    assert {q.triple for q in ox.parse(turtle, format=ox.RdfFormat.TURTLE)} == triples
    assert set(ox.parse(rdf.trig(quads, [graph], prefixes), format=ox.RdfFormat.TRIG)) == quads
    assert set(ox.parse(rdf.n_quads(quads), format=ox.RdfFormat.N_QUADS)) == quads
    assert b"unused" not in turtle


# Wrong input


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    left = [p.name for p in tmp_path.rglob("*") if p.name.endswith(".tmp")]
    assert left == []


def refused(ledger: Path, *args: str, code: int = 2) -> str:
    done = run("export", *args, "--ledger", ledger)
    assert done.code == code, done.err
    assert done.out == ""
    (sentence,) = done.sentences
    return sentence


def test_the_command_writes_what_the_api_writes(ledger: Path, place: Path) -> None:
    done = run("export", "1", "--as", "prov-json", "--out", "x.json", "--ledger", ledger)
    assert (done.code, done.out) == (0, "")
    assert done.err.startswith("kgreason: Written: x.json (")
    export(ledger, "y.json", "prov-json", "1")
    assert (place / "x.json").read_bytes() == (place / "y.json").read_bytes()


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_there_is_left_alone(ledger: Path, place: Path, kind: str) -> None:
    (place / "file").write_text("kept")
    (place / "folder").mkdir()
    (place / "link").symlink_to("nowhere")
    for name in ("file", "folder", "link"):
        sentence = refused(ledger, "--as", kind, "--out", name)
        assert f"{name}: this is there already" in sentence
    assert (place / "file").read_text() == "kept"
    assert list((place / "folder").iterdir()) == []
    assert sorted(p.name for p in place.iterdir()) == ["file", "folder", "link"]


def test_a_place_that_cannot_be_written_is_told(
    ledger: Path, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sentence = refused(ledger, "--as", "ro-crate", "--out", "no/where")
    assert "no/where: there is no folder no; make it first." in sentence
    (place / "locked").mkdir(mode=0o555)
    if os.geteuid() == 0:  # root may write everywhere
        allowed = os.access
        monkeypatch.setattr(
            os, "access", lambda path, mode: Path(path).name != "locked" and allowed(path, mode)
        )
    sentence = refused(ledger, "--as", "nanopub", "--out", "locked/np")
    assert "locked/np: no permission to write in locked." in sentence


def test_an_unknown_investigation_is_told(ledger: Path, place: Path) -> None:
    assert "There is no investigation 7" in refused(ledger, "7", "--as", "nanopub", "--out", "np")
    assert "there is no ledger here" in refused(place, "--as", "nanopub", "--out", "np")
    assert list(place.iterdir()) == []


def test_an_unfinished_investigation_is_refused(record: Record, place: Path) -> None:
    text = f"""DELETE {{ {record.iri} trails:state ?any ; prov:endedAtTime ?time }}
      INSERT {{ {record.iri} trails:state trails:Running }}
      WHERE {{ {record.iri} trails:state ?any ; prov:endedAtTime ?time }}"""
    kept_in(place / "ledger", tampered(record, text))
    for kind in KINDS:
        sentence = refused(place / "ledger", "--as", kind, "--out", "out")
        assert "Investigation I1 is not finished" in sentence
        assert "`kgreason resume` goes on with it." in sentence
    assert [p.name for p in place.iterdir()] == ["ledger"]


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("--license", "CC-BY", "The license CC-BY is no absolute IRI."),
        ("--base", "np/", "The base np/ is no absolute IRI."),
        ("--base", "https://example.org/np", "must end with a slash"),
    ],
)
def test_wrong_options_are_told(
    ledger: Path, place: Path, option: str, value: str, said: str
) -> None:
    assert said in refused(ledger, "--as", "nanopub", "--out", "np", option, value)
    assert list(place.iterdir()) == []


def test_an_unknown_kind_and_a_missing_option_are_told(ledger: Path, place: Path) -> None:
    assert run("export", "--as", "pdf", "--out", "x", "--ledger", ledger).code == 2
    assert run("export", "--as", "nanopub", "--ledger", ledger).code == 2
    assert run("export", "--out", "x", "--ledger", ledger).code == 2
    assert "not to stdout" in refused(ledger, "--as", "prov-json", "--out", "-")
    with pytest.raises(OptionError, match="There is no export as pdf; use prov-json, nanopub"):
        export(ledger, "x", "pdf")
    assert list(place.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "kind"),
    [("folder", "ro-crate"), ("file.zip", "ro-crate"), ("record.json", "prov-json")],
)
def test_nothing_is_left_where_writing_fails(
    place: Path, monkeypatch: pytest.MonkeyPatch, name: str, kind: str
) -> None:
    made = by_hand("i")

    def fail(target: Any, *_: Any) -> None:
        if isinstance(target, Path):
            target.touch()  # as far as it came
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", fail)
    monkeypatch.setattr(zipfile.ZipFile, "writestr", fail)
    with pytest.raises(RunError, match=r"cannot be written \(No space left"):
        write(made, name, kind)
    assert list(place.iterdir()) == []


def test_what_came_to_be_there_meanwhile_is_left_alone(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_folder = writing._folder

    def slow(made: Path, files: Any) -> None:
        write_folder(made, files)
        (place / "out").mkdir()

    monkeypatch.setattr(writing, "_folder", slow)
    with pytest.raises(OptionError, match="out: this is there already"):
        write(by_hand("i"), "out", "nanopub")
    assert [p.name for p in place.iterdir()] == ["out"]
    assert list((place / "out").iterdir()) == []


def test_where_nothing_is_supported_the_command_says_so(place: Path) -> None:
    made = by_hand("i")
    iri = ox.NamedNode("urn:kgreason:f00d")
    supported = (TRAILS.status, TRAILS.Supported)
    with Ledger.write(place / "ledger") as ledger:
        ledger.store.inner.extend(
            ox.Quad(iri if q.subject == made.iri else q.subject, q.predicate, q.object, iri)
            for q in statements(made)
            if (q.predicate, q.object) != supported
        )
        number(ledger.store, iri)
    done = run("export", "--as", "nanopub", "--out", "np", "--ledger", place / "ledger")
    assert done.code == 0
    assert "np: it is empty, for no conclusion of this investigation is supported." in done.err
