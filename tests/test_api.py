"""What Python programs call: sources that are objects, results as dataclasses, an open ledger."""

import json
import os
import pydoc
import re
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import FrozenInstanceError, asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import pyoxigraph as ox
import pytest
import rdflib

import kgreason
from kgreason import api
from kgreason.base.errors import GraphError, LedgerError, OptionError
from kgreason.report.focus_nodes import FROM_DATA, FROM_RECORD

PREFIXES: Final = """@prefix e: <https://example.org/> .
@prefix sh: <http://www.w3.org/ns/shacl#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""
SHAPES: Final = f"""{PREFIXES}
e:PartShape a sh:NodeShape ; sh:targetClass e:Part ; sh:property [ sh:path e:code ; {{0}} ] .
"""
OUTCOME: Final = """PREFIX e: <https://example.org/>
SELECT ?focus (!BOUND(?code) AS ?outcome) WHERE {
  ?focus a e:Part . OPTIONAL { ?focus e:code ?code . } }
"""
REQUIRED: Final = SHAPES.format("sh:minCount 1")


def trig(value: Callable[[int], str] = lambda n: f'"c{n}"') -> str:
    """Give 160 parts of four feeds; all but one of the last feed have no code."""
    lines = [PREFIXES]
    for feed in range(4):
        parts = []
        for n in range(40):
            code = f" ; e:code {value(n)}" if feed < 3 or n == 0 else ""
            parts.append(f"e:p{feed}-{n} a e:Part ; e:name 'part {n}'{code} .")
        lines.append(f"e:feed{feed} {{ {' '.join(parts)} }}")
    return "\n".join(lines)


@contextmanager
def exact_literals() -> Iterator[None]:
    before, rdflib.NORMALIZE_LITERALS = rdflib.NORMALIZE_LITERALS, False
    try:
        yield
    finally:
        rdflib.NORMALIZE_LITERALS = before


def dataset(text: str) -> rdflib.Dataset:
    with warnings.catch_warnings(), exact_literals():
        warnings.simplefilter("ignore")
        made = rdflib.Dataset()
        made.parse(data=text, format="trig")
    return made


def store(text: str) -> ox.Store:
    made = ox.Store()
    made.load(text.encode(), format=ox.RdfFormat.TRIG)
    return made


@pytest.fixture(scope="module")
def found() -> Iterator[kgreason.Result]:
    with kgreason.investigate(trig(), shapes=REQUIRED, question="Why <b>no</b> code?") as result:
        yield result


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.trig").write_text(trig(), encoding="utf-8")
    (tmp_path / "shapes.ttl").write_text(REQUIRED, encoding="utf-8")
    return tmp_path


def answers(result: kgreason.Result) -> Any:
    """Give what a result says, without what names the sources and the time worked."""
    told = result.as_dict()
    return [
        (one["name"], one["population"], one["failing"], one["verdict"], one["explained"])
        for one in told["symptoms"]
    ], [one["statement"] for one in told["causes"]]


# Sources


@pytest.mark.parametrize(
    "data",
    [
        trig(),
        kgreason.Text(trig(), format="trig"),
        dataset(trig()),
        store(trig()),
        kgreason.Text(
            (ox.serialize(store(trig()), format=ox.RdfFormat.N_QUADS) or b"").decode(), "n-quads"
        ),
    ],
    ids=["str", "Text", "rdflib", "store", "n-quads"],
)
def test_any_source_gives_what_the_files_give(data: Any, found: kgreason.Result) -> None:
    with kgreason.investigate(data, shapes=rdflib.Graph().parse(data=REQUIRED)) as result:
        assert answers(result) == answers(found)
        assert result.causes[0].statement
        assert result.symptoms[0].verdict == "explained"


def test_objects_and_files_may_stand_beside_each_other(place: Path) -> None:
    more = kgreason.Text(PREFIXES + "e:more a e:Part .")
    found = kgreason.symptoms([place / "data.trig", more], shapes="shapes.ttl", ontology=[more])
    assert [(one.failing, one.population) for one in found] == [(40, 161)]
    assert len(found) == len(found.symptoms) == 1


@pytest.mark.parametrize("outcome", [OUTCOME, OUTCOME.replace("\n", " "), kgreason.Text(OUTCOME)])
def test_an_outcome_is_a_path_or_a_query(place: Path, outcome: Any) -> None:
    (place / "no code.rq").write_text(OUTCOME, encoding="utf-8")
    for each in (outcome, place / "no code.rq", "no code.rq"):
        (seen,) = kgreason.symptoms("data.trig", outcome=each)
        assert (seen.failing, seen.population) == (39, 160)


def test_a_str_without_a_line_end_is_a_path(place: Path) -> None:
    with pytest.raises(GraphError, match=r"no such file or folder; .* use kgreason\.Text"):
        kgreason.symptoms("<urn:a> <urn:b> <urn:c> .", shapes="shapes.ttl")
    odd = place / "a\nb.trig"
    odd.write_text(trig(), encoding="utf-8")
    assert kgreason.symptoms(odd, shapes="shapes.ttl")[0].failing == 39


def test_the_command_line_takes_paths_alone(place: Path) -> None:
    (place / "a{b.rq").write_text(OUTCOME, encoding="utf-8")
    (place / "data.trig").rename(place / "a\nb.trig")
    done = subprocess.run(
        [sys.executable, "-m", "kgreason", "symptoms", "a\nb.trig", "--outcome", "a{b.rq"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "39" in done.stdout


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (3, "not int"),
        (kgreason.Text("x", format="excel"), r"format='excel'\) does not fit data="),
        (kgreason.Text("x", format="sparql"), r"format='sparql'\) does not fit data="),
    ],
)
def test_what_is_no_source_is_refused(data: Any, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        kgreason.investigate(data, shapes=REQUIRED)


def test_a_fault_in_a_text_is_named_with_its_line() -> None:
    with pytest.raises(GraphError, match=r"^given:data\.trig: line 5"):
        kgreason.investigate(f"{PREFIXES}\ne:a e:b", shapes=REQUIRED)


@pytest.mark.parametrize("iri", ["https://e.org/a b", "https://e.org/> <urn:b> <urn:c> .\n<urn:d"])
def test_terms_of_rdflib_that_are_no_terms_break_out_of_nothing(iri: str) -> None:
    graph = rdflib.Graph()
    graph.add((rdflib.URIRef(iri), rdflib.RDF.type, rdflib.URIRef("https://example.org/Part")))
    with pytest.raises(GraphError, match=r"^given:data\.nq: line 1"):
        kgreason.symptoms(graph, shapes=REQUIRED)
    (seen,) = kgreason.symptoms(graph, shapes=REQUIRED, lenient=True) or [None]
    assert seen is None or seen.population <= 1


def test_literals_and_blank_nodes_of_rdflib_arrive_as_they_are() -> None:
    graph = rdflib.Graph()
    e = rdflib.Namespace("https://example.org/")
    for n, text in enumerate(['a "quoted" \\ text\nof two lines\r', "tab\tand é and \U0001f600"]):
        node = rdflib.BNode(f"odd label {n}")
        graph.add((node, rdflib.RDF.type, e.Part))
        graph.add((node, e.code, rdflib.Literal(text, lang="en" if n else None)))
    wanted = SHAPES.format("sh:hasValue 'a \"quoted\" \\\\ text\\nof two lines\\r'")
    (seen,) = kgreason.symptoms(graph, shapes=wanted)
    assert (seen.failing, seen.population) == (1, 2)


PADDED: Final = SHAPES.format('sh:datatype xsd:int ; sh:pattern "^0"')


def padded(n: int) -> str:
    return f'"0{n}"^^xsd:int'


def test_forms_are_kept_of_rdflib_graphs_parsed_without_normalisation() -> None:
    text = trig(padded)
    data = dataset(text)
    with exact_literals():
        assert list(kgreason.symptoms(data, shapes=PADDED)) == []
    said: list[str] = []
    kgreason.symptoms(data, shapes=PADDED, notice=said.append)
    assert any("NORMALIZE_LITERALS" in one for one in said)


def test_findings_about_forms_that_a_store_has_lost_are_refused() -> None:
    said: list[str] = []
    seen = kgreason.symptoms(store(trig(padded)), shapes=PADDED, notice=said.append)
    assert list(seen) == []
    assert any("a store has lost lexical forms" in one for one in said)
    refused = [one for one in said if "rewritten the literals of nodes that fail it" in one]
    assert sorted(one.split()[0] for one in refused) == ["Datatype", "Pattern"]


def test_findings_about_strings_are_made_of_a_store_too() -> None:
    """A string where a number is due is no work of the store."""
    data = store(trig())
    seen = kgreason.symptoms(data, shapes=SHAPES.format("sh:datatype xsd:integer"))
    assert [one.failing for one in seen] == [121]


def test_shapes_within_shapes_that_look_at_forms_are_refused_too() -> None:
    inner = 'sh:or ( [ sh:datatype xsd:int ] [ sh:pattern "^x" ] )'
    assert [x.failing for x in kgreason.symptoms(trig(), shapes=SHAPES.format(inner))] == [121]
    assert list(kgreason.symptoms(store(trig(padded)), shapes=SHAPES.format(inner))) == []


# Resuming


def test_what_was_given_as_an_object_is_given_again_to_resume(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger"

    def interrupted(_: Any, __: Any) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        kgreason.investigate(trig(), shapes=REQUIRED, ledger=ledger, told=interrupted)
    before = sorted((p.name, p.stat().st_size) for p in ledger.iterdir())
    with pytest.raises(GraphError, match=r"given as an object .* give it again") as error:
        kgreason.resume(ledger)
    assert str(error.value).count(". ") == 0
    assert sorted((p.name, p.stat().st_size) for p in ledger.iterdir()) == before
    with pytest.raises(GraphError, match="have changed since it began"):
        kgreason.resume(ledger, data=trig() + "\n", shapes=REQUIRED)
    with kgreason.resume(ledger, data=trig(), shapes=REQUIRED) as result:
        assert result.finished
        assert result.symptoms[0].verdict == "explained"
    with kgreason.open(ledger) as opened:
        assert opened.audit().ok


def test_nothing_of_an_object_is_recorded_but_its_name(tmp_path: Path) -> None:
    kgreason.investigate(store(trig()), shapes=REQUIRED, ledger=tmp_path / "ledger").close()
    with kgreason.open(tmp_path / "ledger") as opened:
        text = opened.result().turtle()
        for again in (opened.repair, opened.replay, lambda: opened.audit(data="given:data.nq")):
            with pytest.raises(GraphError, match=r"given:data\.nq: this was given as an object"):
                again()
    assert "given:data.nq" in text
    assert "objects" not in text


# Results


def test_symptoms_and_causes_have_all_that_the_json_has(found: kgreason.Result) -> None:
    told = found.as_dict()
    for name, entries in (("symptoms", found.symptoms), ("causes", found.causes)):
        assert isinstance(entries, tuple)
        assert json.loads(json.dumps([asdict(one) for one in entries])) == told[name]
    assert found.symptoms[0].hypotheses[0].evidence[0].citations
    with pytest.raises(FrozenInstanceError):
        found.causes[0].statement = "another"  # type: ignore[misc]


def test_nodes_of_a_cause_come_from_the_data(found: kgreason.Result) -> None:
    nodes = found.nodes(found.causes[0])
    assert nodes.complete
    assert nodes.source == FROM_DATA
    leader = found.symptoms[0].hypotheses[0]
    assert len(nodes) == leader.inside.population == 40
    assert sum(one.fails is True for one in nodes) == leader.inside.failing == 39
    (passing,) = [one for one in nodes if not one.fails]
    assert (passing.node, passing.values) == ("https://example.org/p3-0", ("c0",))
    assert list(nodes) == list(found.nodes(leader))


@pytest.mark.usefixtures("place")
def test_nodes_of_a_cause_come_from_the_record_where_the_data_are_not_there() -> None:
    kgreason.investigate("data.trig", shapes="shapes.ttl", ledger="ledger").close()
    with kgreason.result("ledger") as result:
        nodes = result.nodes(result.causes[0])
    assert not nodes.complete
    assert nodes.source == FROM_RECORD
    assert 0 < len(nodes) < 40
    assert {one.node.partition("-")[0] for one in nodes} == {"https://example.org/p3"}
    assert all(one.fails is (one.node != "https://example.org/p3-0") for one in nodes)


def test_rows_are_plain(found: kgreason.Result) -> None:
    (row,) = found.rows()
    assert all(isinstance(value, str | int | float | None) for value in row.values())
    assert row["statement"] == found.symptoms[0].hypotheses[0].statement
    assert (row["failing"], row["population"], row["verdict"]) == (39, 160, "explained")


def test_a_notebook_shows_the_headline_in_a_frame(found: kgreason.Result) -> None:
    text = found._repr_html_()
    assert text.startswith("<iframe sandbox ")
    assert "39 failing nodes" in text


def test_repr_says_the_headline(found: kgreason.Result) -> None:
    assert found.headline.startswith("1 rule is broken, by 39 failing nodes")
    assert found.headline in repr(found)
    result = kgreason.investigate(trig(), shapes=REQUIRED)
    result.close()
    assert "closed" in repr(result)
    assert "closed" in result._repr_html_()


# An open ledger


def test_an_open_ledger_gives_all_that_the_commands_give(place: Path) -> None:
    kgreason.investigate("data.trig", shapes="shapes.ttl", ledger="ledger").close()
    with kgreason.open("ledger") as opened:
        (one,) = opened.investigations
        assert (one.number, one.finished) == (1, True)
        assert opened.result(1).record.iri.value == opened.result().record.iri.value == one.id
        assert opened.resume().finished
        assert opened.audit().ok
        assert opened.audit(1, data="data.trig", sample=None).ok
        rows = opened.query("SELECT ?h { ?h a trails:Hypothesis }")
        assert not isinstance(rows, bool)
        assert len(rows) > 1
        assert opened.query("ASK { ?s trails:failing 39 }", 1) is True
        assert opened.history("Which hypotheses?")
        assert "which-hypotheses" in opened.questions()
        assert opened.reassess(policies=["delta"]).as_dict()["recorded"] == "code"
        assert opened.explain(1)
        assert opened.fragility()[0].name
        assert opened.replay().same
        assert opened.repair(dry_run=True).tried
        assert opened.export(place / "record.json", "prov-json") == [str(place / "record.json")]
        kept = opened.result()
    assert "closed" in repr(kept)


def test_an_open_ledger_has_to_be_there(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match="there is no ledger here"):
        kgreason.open(tmp_path)


# The package


def test_help_fits_on_two_screens() -> None:
    text = pydoc.plain(pydoc.render_doc(kgreason))
    assert len(text.splitlines()) < 110
    for name in ("investigate(", "open = ", "result(", "resume(", "symptoms("):
        assert name in text


def test_every_public_name_is_there_and_nothing_private() -> None:
    for name in kgreason.__all__:
        assert getattr(kgreason, name) is not None
    assert kgreason.__version__ == version("kgreason")
    with pytest.raises(AttributeError):
        _ = kgreason.nothing  # type: ignore[attr-defined]


USER: Final = """
import rdflib
import pyoxigraph
import kgreason

result = kgreason.investigate(
    [rdflib.Graph(), pyoxigraph.Store(), "a.ttl", kgreason.Text("")], shapes="s.ttl", max_steps=3
)
for symptom in result.symptoms:
    share: float = symptom.failing / symptom.population
    said: str = symptom.hypotheses[0].evidence[0].citations[0].node
for cause in result.causes:
    names: list[str] = [one.node for one in result.nodes(cause) if one.fails]
rows: list[dict[str, object]] = [dict(row) for row in result.rows()]
with kgreason.open("ledger") as ledger:
    ok: bool = ledger.audit().ok
    again: kgreason.Result = ledger.result(1)
    paths: list[str] = ledger.export("out.zip", "ro-crate")
try:
    seen = kgreason.symptoms("a.ttl", shapes="s.ttl")[0].failing + 1
except kgreason.KgreasonError as error:
    code: int = error.exit_code
v: str = kgreason.__version__
"""
WRONG: Final = """
import kgreason
kgreason.investigate('a', shape='b', seed='c')
kgreason.nothing
"""


@pytest.mark.slow
def test_a_user_sees_the_types(tmp_path: Path) -> None:
    (tmp_path / "user.py").write_text(USER, encoding="utf-8")
    (tmp_path / "wrong.py").write_text(WRONG, encoding="utf-8")
    package = Path(kgreason.__file__).parent
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--config-file=", "user.py", "wrong.py"],
        cwd=tmp_path,
        env={**os.environ, "MYPYPATH": str(package.parent), "MYPY_CACHE_DIR": str(tmp_path / "c")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert not any(line.startswith("user.py") for line in done.stdout.splitlines()), done.stdout
    wrong = [line for line in done.stdout.splitlines() if line.startswith("wrong.py")]
    assert set(re.findall(r"\[([\w-]+)\]", "\n".join(wrong))) == {
        "arg-type",
        "attr-defined",
        "call-arg",
    }
    assert (package / "py.typed").exists()


COMMANDS: Final = {
    "looking": ["base.errors", "cli"],
    "exporting": ["base.errors", "cli"],
    "repairing": ["base.errors", "cli", "repair.results"],
    "reviewing": ["base.errors", "cli"],
}


@pytest.mark.parametrize("module", COMMANDS)
def test_commands_call_the_api_alone(module: str) -> None:
    """Errors, types and how arguments are read aside; `graph.names` shortens IRIs for people."""
    text = (Path(api.__file__).parents[1] / "cli" / f"{module}.py").read_text(encoding="utf-8")
    used = set(re.findall(r"from kgreason\.([\w.]+) import", text)) - {"graph.names", "record"}
    others = {
        name for name in used if not any(name.startswith(allowed) for allowed in COMMANDS[module])
    }
    assert others - {"review.events"} == set()
    assert "from kgreason import api" in text
