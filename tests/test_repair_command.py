"""`kgreason repair`: what it tells, what it writes, what it refuses, and what it leaves alone."""

import hashlib
import json
import shutil
from pathlib import Path

import pyoxigraph as ox
import pytest

from kgreason.audit import audit
from kgreason.base.terms import TRAILS
from kgreason.record import Ledger
from tests.audit_support import ROOT, lab
from tests.cli_support import run

NAMESPACE = "https://example.org/lab/"


@pytest.fixture(scope="module")
def investigated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with data, shapes and a ledger: 24 labels stand under another predicate."""
    folder = tmp_path_factory.mktemp("investigated")
    lab(folder, ledger=folder / "ledger").store.close()
    return folder


@pytest.fixture
def place(investigated: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the ledger beside the data, where commands run."""
    shutil.copytree(investigated / "ledger", tmp_path / ".kgreason")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def content(folder: Path) -> str:
    seal = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.name != "kgreason.lock":
            seal.update(path.name.encode() + path.read_bytes())
    return seal.hexdigest()


def triples(*files: Path) -> set[ox.Triple]:
    return {
        quad.triple
        for file in files
        for quad in ox.parse(path=str(file), format=ox.RdfFormat.from_extension(file.suffix[1:]))
    }


def data(folder: Path) -> set[ox.Triple]:
    return triples(*sorted((folder / "data").glob("*.ttl")))


def statements(folder: Path) -> set[tuple[str, str]]:
    """Give the class of each node of the record, with its IRI."""
    with Ledger.read(folder / ".kgreason") as store:
        record = store.record(store.entry())
        return {
            (q.object.value.rpartition("#")[2], q.subject.value)
            for q in store.store.quads(record.iri)
            if q.predicate.value.endswith("#type")
            and isinstance(q.subject, ox.NamedNode)
            and isinstance(q.object, ox.NamedNode)
            and q.object in TRAILS
        }


def classes(folder: Path) -> list[str]:
    return [name for name, _ in statements(folder)]


def test_a_dry_run_tells_and_writes_nothing(place: Path, investigated: Path) -> None:
    before = content(place), content(investigated)
    done = run("repair", "I1", "--dry-run", "--format", "json")
    assert done.code == 0
    found = json.loads(done.out)
    by_repair = {one["repair"]: one for one in found["tried"]}
    figures = by_repair["rename-predicate"]["figures"]
    assert (figures["claimed"], figures["holds"], figures["violationsCaused"]) == (24, 24, 0)
    assert by_repair["rename-predicate"]["outcome"] == "cleared"
    assert None in by_repair  # a bad feed cannot be mended from the graph
    assert (content(place), content(investigated)) == before


def test_the_table_shows_what_was_tried_and_what_else_would_do(place: Path) -> None:
    done = run("repair", "I1", "--dry-run")
    assert place.is_dir()
    line = next(x for x in done.out.splitlines() if "rename-predicate" in x)
    assert line.split()[1:] == [
        "rename-predicate",
        "48",
        "24",
        "24",
        "0",
        "0",
        "0",
        "of",
        "0",
        "cleared",
    ]
    assert (
        "rename-namespace (rename property-assertion): 0 triples of the data; it cannot" in done.out
    )
    assert "no other source says 62 of the things that this one says" in done.out


@pytest.mark.parametrize("ending", ["rdfp", "ru", "nq", "ttl"])
def test_what_is_written_mends_the_data(ending: str, place: Path, investigated: Path) -> None:
    untouched = content(investigated)
    done = run("repair", "I1", "--out", f"mended.{ending}")
    assert done.code == 0, done.err
    assert "Failures of all constraints: 44 before, 20 after." in done.out
    made = place / f"mended.{ending}"
    before = data(investigated)
    if ending in {"nq", "ttl"}:
        after = triples(made)
    else:
        after = patched(before, made.read_text(encoding="utf-8"), ending)
    title, label = (ox.NamedNode(NAMESPACE + name) for name in ("title", "label"))
    assert {t for t in after if t.predicate == title} == set()
    moved = {ox.Triple(t.subject, label, t.object) for t in before if t.predicate == title}
    assert len(moved) == 24
    assert after == {t for t in before if t.predicate != title} | moved
    assert content(investigated) == untouched
    assert classes(place).count("RepairApplication") == 1
    with Ledger.read(place / ".kgreason") as store:
        assert audit(store.record(store.entry())).ok


def patched(before: set[ox.Triple], text: str, ending: str) -> set[ox.Triple]:
    assert text.startswith("# Repair of urn:kgreason:")
    store = ox.Store()
    store.extend(ox.Quad(t.subject, t.predicate, t.object) for t in before)
    if ending == "ru":
        store.update(text)
    else:
        for line in text.splitlines():
            if line[:2] in {"A ", "D "}:
                (quad,) = ox.parse(line[2:], format=ox.RdfFormat.N_TRIPLES)
                (store.add if line[0] == "A" else store.remove)(quad)
    return {quad.triple for quad in store}


def test_the_input_is_changed_only_if_told_and_then_kept(place: Path, investigated: Path) -> None:
    shutil.copytree(investigated / "data", place / "data")
    before = data(place)
    done = run("repair", "I1", "data", "--in-place")
    assert done.code == 0, done.err
    assert "Failures of all constraints: 44 before, 20 after." in done.out
    label = ox.NamedNode(NAMESPACE + "label")
    assert sum(t.predicate == label for t in data(place)) == 120
    kept = {p.with_suffix(""): p for p in (place / "data").glob("*.bak")}
    assert len(kept) == 6
    copies = place / "copies"
    copies.mkdir()
    for path, backup in kept.items():
        shutil.copy(backup, copies / path.name)
    assert triples(*copies.glob("*.ttl")) == before
    assert "@prefix e:" in (place / "data" / "feed-0.ttl").read_text(encoding="utf-8")
    assert data(investigated) == before


def test_what_the_policy_does_not_allow_is_refused_and_recorded(place: Path) -> None:
    with Ledger.write(place / ".kgreason") as store:
        record = store.record(store.entry())
        store.store.update(
            f"DELETE {{ GRAPH ?g {{ ?p <{TRAILS.action.value}> <{TRAILS.ApplyRepair.value}> }} }} "
            f"WHERE {{ GRAPH ?g {{ ?p <{TRAILS.action.value}> <{TRAILS.ApplyRepair.value}> }} }}"
        )
        assert record is not None
    done = run("repair", "I1", "--out", "mended.nq")
    assert done.code == 1
    assert "is not applied: the policy does not allow it at status supported." in done.out
    assert not (place / "mended.nq").exists()
    found = classes(place)
    assert found.count("RepairApplication") == 0
    assert found.count("RepairAttempt") == 1
    with Ledger.read(place / ".kgreason") as store:
        refused = ox.Literal(
            "false", datatype=ox.NamedNode("http://www.w3.org/2001/XMLSchema#boolean")
        )
        record = store.record(store.entry())
        assert (
            len(
                [
                    q
                    for q in store.store.quads(record.iri)
                    if q.object == refused and q.predicate == TRAILS.granted
                ]
            )
            == 1
        )


def test_a_repair_that_does_harm_is_not_written(place: Path, investigated: Path) -> None:
    """Labels become too long for a constraint that held before; the shapes are those recorded."""
    shapes = investigated / "shapes.ttl"
    text = shapes.read_text(encoding="utf-8")
    try:
        shapes.write_text(
            text + "e:L a sh:NodeShape ; sh:targetClass e:Sample ;\n"
            "  sh:property [ sh:path e:label ; sh:pattern '^sample [0-9]*[^27]$' ] .\n",
            encoding="utf-8",
        )
        done = run("repair", "I1", "--out", "mended.nq")
    finally:
        shapes.write_text(text, encoding="utf-8")
    assert done.code == 1
    assert "harmful" in done.out
    assert "No repair was shown to work, so none is applied." in done.out
    assert not (place / "mended.nq").exists()


BAD = {
    "no such investigation": (["I7"], "There is no investigation I7"),
    "no such hypothesis": (["I1", "--hypothesis", "99"], "there is no such hypothesis"),
    "a repair that does not fit": (["I1", "--using", "cast-node"], "does not fit hypothesis"),
    "an ending that is not known": (["I1", "--out", "x.csv"], "the ending .csv is not known"),
    "a folder that is not there": (["I1", "--out", "no/x.nq"], "there is no folder no"),
    "dry and written": (["I1", "--dry-run", "--out", "x.nq"], "--dry-run writes nothing"),
    "other data": (["I1", "{shapes}"], "These are not the data that were investigated"),
    "no data": (["I1", "missing.ttl"], "there is no such file or folder"),
    "no ledger": (["I1", "--ledger", "nowhere"], "there is no ledger here"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_ends_with_one_sentence(name: str, place: Path, investigated: Path) -> None:
    given, said = BAD[name]
    before = classes(place)
    done = run("repair", *(x.format(shapes=investigated / "shapes.ttl") for x in given))
    assert done.code == 2
    assert len(done.sentences) == 1
    assert said in done.err
    assert sorted(classes(place)) == sorted(before)


def test_files_with_graphs_of_their_own_are_not_changed_in_place(tmp_path: Path) -> None:
    from kgreason.base.errors import OptionError  # noqa: PLC0415 - for this one test
    from kgreason.graph import load  # noqa: PLC0415
    from kgreason.repair.patch import Change, Patch  # noqa: PLC0415
    from kgreason.repair.writing import in_place  # noqa: PLC0415

    path = tmp_path / "data.nq"
    path.write_text("<urn:a> <urn:p> <urn:b> <urn:g> .\n", encoding="utf-8")
    a, g = ox.NamedNode("urn:a"), ox.NamedNode("urn:g")
    adds = True
    for graph in (g, ox.NamedNode("urn:src:data.nq")):
        patch = Patch((Change(adds, graph, a, a, a, a),))
        with pytest.raises(OptionError, match="--out"):
            in_place(load([path]), patch)
    assert [p.name for p in tmp_path.iterdir()] == ["data.nq"]


def test_shapes_are_mended_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = "".join(f'e:s{n} a e:S ; e:code "{n:06d}" .\n' for n in range(40))
    head = f"@prefix e: <{NAMESPACE}> . @prefix sh: <http://www.w3.org/ns/shacl#> .\n"
    (tmp_path / "data.ttl").write_text(head + rows, encoding="utf-8")
    (tmp_path / "shapes.ttl").write_text(
        f"{head}e:Shape a sh:NodeShape ; sh:targetClass e:S ; sh:property e:Code .\n"
        "e:Code sh:path e:code ; sh:maxLength 4 .\n",
        encoding="utf-8",
    )
    assert run("investigate", "data.ttl", "--shapes", "shapes.ttl").code == 0
    done = run("repair", "I1", "--using", "relax-bound", "--out", "better.ttl")
    assert done.code == 0, done.err
    assert "40 before, 0 after" in done.out
    better = (tmp_path / "better.ttl").read_text(encoding="utf-8")
    assert "sh:maxLength 6" in better or "maxLength> 6" in better
    assert 'code "000' not in better
    other = run("repair", "I1", "--using", "drop-constraint", "--out", "drop.ru")
    assert other.code == 0, other.err
    assert "DELETE DATA" in (tmp_path / "drop.ru").read_text(encoding="utf-8")


def test_the_page_says_what_the_command_does() -> None:
    page = (ROOT / "docs" / "repair.md").read_text(encoding="utf-8")
    for name in ("--dry-run", "--in-place", "--using", ".rdfp", "placebo", "out-of-scope"):
        assert name in page
