"""What is kept out stays out: canaries sown wherever a value can stand, sought in every face."""

import asyncio
import json
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pyoxigraph as ox
import pytest

import kgreason
from kgreason.base.errors import OptionError
from kgreason.observe.opening import seen
from kgreason.observe.request import request_of
from tests.cli_support import PREFIXES, run

EX = "http://example.org/"
CANARIES = ("qxz", "98712345", "1931-07", "1931")
"""What may stand nowhere, in any case: each value below has one of these in it."""
BY_CHANCE = re.compile(r"[\da-f]{8}(-[\da-f]{4}){3}-|[\da-f]{12,}|\bRA[\w-]{43}\b|\b\d{1,3}\.\d+")
"""Digests, identifiers and fractions: now and then one of them holds the digits of a canary."""
SHAPES = (
    PREFIXES
    + """
ex:S a sh:NodeShape ; sh:targetClass ex:Visit ;
  sh:property [ sh:path ex:ward ; sh:minCount 1 ; sh:name "A visit has a ward" ] ;
  sh:property [ sh:path ex:name ; sh:pattern "^[A-Z][a-z]+ [A-Z]" ; sh:name "A name is a name" ;
    sh:message "No name such as Anna Qxzname 3 or 'QXZBAD' is told" ] ;
  sh:property [ sh:path ex:treatedBy ; sh:maxCount 1 ; sh:name "One doctor" ] ;
  sh:property [ sh:path ex:insurance ; sh:maxInclusive 98712300 ; sh:name "Low numbers" ] ;
  sh:property [ sh:path ex:born ; sh:maxInclusive "1931-06-30"^^xsd:date ; sh:name "Old" ] ;
  sh:property [ sh:path ex:name ; sh:not [ sh:in ( "qxzbad" ) ] ; sh:name "Not qxzbad" ] .
ex:D a sh:NodeShape ; sh:targetClass ex:Doctor ;
  sh:property [ sh:path ex:room ; sh:minCount 1 ; sh:name "A doctor has a room" ] .
"""
)
REDACTED = (EX + "name", EX + "insurance", EX + "born", EX + "Doctor")


def write(folder: Path) -> None:
    """Write visits: those to one doctor lack wards, those of one file have bad names."""
    data = folder / "data"
    data.mkdir(parents=True)
    for number, feed in enumerate(("north", "Anna Qxzname 1", "south")):
        lines = [PREFIXES, "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"]
        for i in range(60):
            doctor = i % 6
            ward = "" if doctor == 1 and i % 12 != 3 else f' ; ex:ward "w{i % 5}"'
            name = "qxzbad" if number == 1 and i % 5 else f"Anna Qxzname {number * 60 + i}"
            born = f"1931-07-{1 + i % 28:02}" if i % 3 == 0 else f"1931-05-{1 + i % 28:02}"
            lines.append(
                f"ex:v{number}-{i} a ex:Visit ; ex:treatedBy ex:qxzdoctor{doctor} "
                f'; ex:name "{name}"@en ; ex:born "{born}"^^xsd:date '
                f'; ex:insurance "098712345"^^xsd:int, 5 '
                f'; rdfs:comment "The visit of {name}, who came again." {ward} .\n'
            )
        lines += [
            f'ex:qxzdoctor{i} a ex:Doctor ; rdfs:label "Dr Qxz {i}" ; ex:pay {98712345 + i} '
            f"; ex:at <http://example.org/qxzdoctor{i}/room#1> .\n"
            for i in range(6)
        ]
        (data / f"{feed}.ttl").write_text("".join(lines), encoding="utf-8")
    (folder / "shapes.ttl").write_text(SHAPES, encoding="utf-8")
    ideas = [
        {
            "statement": "Visits of Anna Qxzname 7 go wrong.",
            "mechanism": "QXZBAD is typed in a hurry.",
            "region": f'?focus a <{EX}Visit> ; <{EX}name> "qxzbad"@en .',
        }
    ]
    (folder / "ideas.json").write_text(json.dumps(ideas), encoding="utf-8")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Give a folder with canaries that were investigated, all kept out."""
    folder = tmp_path_factory.mktemp("redact")
    write(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        kept = [part for iri in REDACTED for part in ("--redact", iri)]
        asked = ("investigate", "data", "--shapes", "shapes.ttl", "--question", "Why Qxzbad?")
        more = ("--hypothesis", "ideas.json", "--events", "events.jsonl", "--interventions", "4")
        done = run(*asked, *more, *kept, "--format", "summary")
        assert done.code == 0, done.err
        (folder / "summary.txt").write_text(done.out + done.err, encoding="utf-8")
        yield folder


def found(text: str) -> list[str]:
    """Give each canary in a text, with what stands around it."""
    text = BY_CHANCE.sub("", text)
    low = text.lower()
    return [
        f"{one}: …{text[max(0, at - 80) : at + 60]}…"
        for one in CANARIES
        if (at := low.find(one)) >= 0
    ]


def test_the_canaries_are_there(place: Path) -> None:
    """Without --redact they show, or this file would test nothing."""
    with kgreason.investigate("data", shapes="shapes.ttl") as result:
        said = result.turtle() + result.markdown()
    assert {one.split(":")[0] for one in found(said)} == set(CANARIES)
    assert place


def test_nothing_in_the_summary_the_events_and_the_ledger(place: Path) -> None:
    for name in ("summary.txt", "events.jsonl"):
        assert found((place / name).read_text(encoding="utf-8")) == [], name
    ledger = ox.Store.read_only(str(place / ".kgreason"))
    assert found("\n".join(map(str, ledger))) == []
    for file in (place / ".kgreason").rglob("*"):
        if file.is_file():  # bytes of other kinds may look like a short canary
            raw = file.read_bytes().lower()
            whole = (b"qxzname", b"qxzbad", b"qxzdoctor", b"98712345")
            assert [one for one in whole if one in raw] == [], file.name


FACES = [
    *(("report", "--format", name) for name in ("md", "html", "json", "ttl", "summary", "sarif")),
    *(("report", "--format", name) for name in ("junit", "github", "csv", "shacl", "earl", "dqv")),
    ("report", "--all"),
    *(("nodes", "C1", "--all", "--format", name) for name in ("csv", "ttl", "jsonl", "table")),
    *(("nodes", "C2", "--all", "--format", name) for name in ("csv", "jsonl")),
    ("why", "http://example.org/v1-7"),
    ("why", "http://example.org/qxzdoctor1"),
    ("query", "SELECT * { ?s ?p ?o }", "--format", "json"),
    ("query", "SELECT * { GRAPH ?g { ?s ?p ?o } }", "--format", "csv"),
    ("explain", "H1"),
    ("compare", "I1", "I1", "--format", "json"),
    ("ledger", "--format", "json"),
    ("audit",),
    ("audit", "--data", "data", "--all"),
    ("replay",),
    ("fragility",),
]


@pytest.mark.parametrize("command", FACES, ids=" ".join)
@pytest.mark.slow
def test_nothing_in_any_face(place: Path, command: tuple[str, ...]) -> None:
    assert place
    done = run(*command)
    assert done.code == 0, done.out + done.err
    assert found(done.out + done.err) == []


def _unpacked(file: Path) -> str:
    """Give the text of a file, or of all that is in an archive."""
    if not zipfile.is_zipfile(file):
        return file.read_text(encoding="utf-8")
    with zipfile.ZipFile(file) as archive:
        return "\n".join(archive.read(name).decode() for name in archive.namelist())


@pytest.mark.slow
def test_nothing_in_what_python_gives(place: Path) -> None:
    with kgreason.open(".kgreason") as ledger:
        result = ledger.result()
        told = [repr(result), result._repr_html_(), str(result.rows()), str(result.symptoms)]
        told += [str(list(ledger.history(name))) for name in ledger.questions()]
        for kind, name in (("prov-json", "p.json"), ("nanopub", "n.trig"), ("ro-crate", "c")):
            for path in ledger.export(place / name, kind):
                files = [Path(path)] if Path(path).is_file() else list(Path(path).rglob("*"))
                told += [_unpacked(f) for f in files if f.is_file()]
    for text in told:
        assert found(text) == []


@pytest.mark.slow
def test_nothing_in_the_answers_to_an_agent(place: Path) -> None:
    pytest.importorskip("mcp", reason="the extra `mcp` is not installed")
    from kgreason.mcp.granted import Granted  # noqa: PLC0415 - the extra may be missing
    from kgreason.mcp.mcp_server import server  # noqa: PLC0415

    made = server(Granted.of([place]), REDACTED)

    def ask(tool: str, **given: object) -> str:
        return str(asyncio.run(made.call_tool(tool, given)))

    for tool, given in (
        ("symptoms", {}),
        ("causes", {}),
        ("nodes", {"cause": "C1"}),
        ("why", {"node": "http://example.org/v1-7"}),
        ("evidence", {"name": "C1"}),
        ("query", {"sparql": "SELECT * { ?s ?p ?o FILTER isLiteral(?o) }"}),
        ("investigations", {}),
        ("audit", {}),
    ):
        said = ask(tool, **given)
        assert "BEGIN GRAPH DATA" in said
        assert found(said) == [], tool
    # What was investigated without keeping them out is not told of, by any way.
    kgreason.investigate("data", shapes="shapes.ttl", question="Qxz?", ledger="open").close()
    for tool, given in (
        ("causes", {}),
        ("nodes", {"cause": "C1"}),
        ("query", {"sparql": "SELECT * { GRAPH ?g { ?s ?p ?o } }"}),
        ("audit", {}),
    ):
        with pytest.raises(Exception, match="without --redact"):
            ask(tool, ledger="open", **given)
    assert found(ask("investigations", ledger="open")) == []


def test_the_record_says_that_it_did_and_the_causes_are_found(place: Path) -> None:
    with kgreason.result(place / ".kgreason") as result:
        told = result.as_dict()
        assert any("Kept out: the values of" in one for one in told["notices"])
        statements = {one.statement for one in result.causes}
        names = {one.name for one in result.symptoms}
    rows = kgreason.open(place / ".kgreason").query("SELECT ?o { ?i trails:options ?o }")
    assert not isinstance(rows, bool)
    (asked,) = rows
    assert isinstance(asked, dict)
    assert json.loads(asked["o"].value)["redact"] == list(REDACTED)
    assert "A visit has a ward" in names
    # The doctor whose visits lack a ward is found, under a digest.
    assert any("redacted:" in one for one in statements), statements


def test_digests_follow_the_values_and_the_data(place: Path) -> None:
    def looked(*more: str) -> ox.Store:
        request = request_of([str(place / "data"), *more], shapes="shapes.ttl", redact=REDACTED)
        return seen(request, None, None)[0].store.inner

    def names(store: ox.Store, node: str) -> set[str]:
        quads = store.quads_for_pattern(
            ox.NamedNode(EX + node), ox.NamedNode(EX + "name"), None, ox.DefaultGraph()
        )
        return {quad.object.value for quad in quads if isinstance(quad.object, ox.Literal)}

    store = looked()
    assert names(store, "v1-1") == names(store, "v1-2")  # both the bad name
    assert names(store, "v0-1") != names(store, "v0-2")
    assert names(looked(), "v0-1") == names(store, "v0-1")
    (place / "more.ttl").write_text(PREFIXES + "ex:x a ex:Other .\n", encoding="utf-8")
    assert names(looked("more.ttl"), "v0-1") != names(store, "v0-1")
    # Datatypes are no values, and links between nodes stay.
    born = store.quads_for_pattern(ox.NamedNode(EX + "v0-1"), ox.NamedNode(EX + "born"), None)
    assert {q.object.datatype.value.rpartition("#")[2] for q in born} == {"date"}  # type: ignore[union-attr]


@pytest.mark.usefixtures("place")
def test_what_would_keep_nothing_out_is_refused() -> None:
    for iri, said in (
        (EX + "nmae", "nothing in the data or the ontology has this property or class"),
        (EX + "qxzdoctor1", "nothing in the data or the ontology has this property or class"),
        ("http://www.w3.org/1999/02/22-rdf-syntax-ns#type", "rules are read by this term"),
        ("name", "give the absolute IRI"),
    ):
        with pytest.raises(OptionError, match=said):
            kgreason.investigate("data", shapes="shapes.ttl", redact=iri)
    # The summary names no command that is refused.
    told = run("report", "--all").out
    assert "nodes C1 I1 --format csv" in told
    assert "kgreason repair" not in told
    done = run("repair", "I1", "--dry-run")
    assert done.code == 2
    assert "made with --redact" in done.err
    bad = Path("bad.ttl")
    bad.write_text('<urn:a> <urn:b> "x" .\n<urn:a> qxz:leak "y" .\n', encoding="utf-8")
    done = run("symptoms", "bad.ttl", "--shapes", "shapes.ttl", "--redact", "urn:b")
    assert done.code == 2
    assert "line 2" in done.err
    assert found(done.err) == []
    done = run("symptoms", "data", "--shapes", "shapes.ttl", "--redact", EX + "name")
    assert done.code == 0
    assert "qxzbad" not in done.out
