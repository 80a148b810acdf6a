"""Nothing reaches for the network, whatever the input says."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli_support import PREFIXES, SHAPES, Ran, process, run, write_graph

GUARD = """
import socket

def refuse(*args, **kwargs):
    with open({log!r}, "a") as log:
        log.write(repr(args) + "\\n")
    raise OSError("the network is out of bounds")

socket.socket.connect = socket.socket.connect_ex = refuse
socket.create_connection = socket.getaddrinfo = refuse
"""


class Listener:
    """A port that notes who calls; it answers nothing."""

    def __init__(self) -> None:
        self.calls = 0
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}/"
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        while True:
            try:
                caller, _ = self._socket.accept()
            except OSError:
                return
            self.calls += 1
            caller.close()

    def close(self) -> None:
        self._socket.close()


@pytest.fixture
def listener() -> Iterator[Listener]:
    made = Listener()
    yield made
    made.close()


@pytest.fixture(autouse=True)
def _place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def guarded(*args: str | Path) -> Ran:
    """Run a command where Python code that opens a connection leaves a trace."""
    Path("guard").mkdir(exist_ok=True)
    text = GUARD.format(log=str(Path("calls.log").resolve()))
    Path("guard/sitecustomize.py").write_text(text)
    return process(*args, env={"PYTHONPATH": str(Path("guard").resolve())})


def tempting(url: str) -> Path:
    """Write data and shapes that name a server wherever a reader could follow."""
    data = write_graph(Path())
    (data / "more.ttl").write_text(
        f"""{PREFIXES}@prefix owl: <http://www.w3.org/2002/07/owl#> .
<{url}> a owl:Ontology ; owl:imports <{url}imported.ttl> .
ex:x a ex:Thing ; ex:size 50 ; ex:knows <{url}person> .
"""
    )
    Path("schema.rdf").write_text(
        f"""<?xml version="1.0"?>
<r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xml:base="{url}"
  xmlns:o="http://www.w3.org/2002/07/owl#" xmlns:i="http://www.w3.org/2001/XMLSchema-instance"
  i:schemaLocation="{url} {url}schema.xsd">
<o:Ontology r:about="{url}o"><o:imports r:resource="{url}other.rdf"/></o:Ontology>
</r:RDF>"""
    )
    Path("s.ttl").write_text(
        f"""{SHAPES}@prefix owl: <http://www.w3.org/2002/07/owl#> .
<{url}shapes> a owl:Ontology ; owl:imports <{url}more.ttl> ; sh:shapesGraph <{url}graph> .
ex:Loop sh:targetClass ex:Thing ; sh:property [ sh:path ex:knows ; sh:node ex:Loop ] .
ex:Remote sh:targetClass ex:Thing ; sh:sparql [
  sh:select "SELECT $this {{ SERVICE <{url}> {{ $this ?p ?o }} }}" ] .
ex:Script sh:targetClass ex:Thing ; sh:js [ sh:jsLibrary [ sh:jsLibraryURL "{url}x.js" ] ] .
"""
    )
    return data


def test_an_investigation_calls_nobody(listener: Listener) -> None:
    data = tempting(listener.url)
    args = ("--shapes", "s.ttl", "--ontology", "schema.rdf", "--format", "json")
    done = guarded("investigate", data, *args)
    assert done.code == 0, done.err
    assert json.loads(done.out)["symptoms"]
    assert f"owl:imports <{listener.url}imported.ttl> is not among the data" in done.err
    assert "SERVICE" in done.err
    assert guarded("audit").code in {0, 1}
    assert not Path("calls.log").exists()
    assert listener.calls == 0


def test_files_that_ask_for_more_files_are_refused(listener: Listener) -> None:
    write_graph(Path())
    remote = {"@context": f"{listener.url}context", "@id": f"{listener.url}a", "name": "x"}
    Path("remote.jsonld").write_text(json.dumps(remote))
    Path("entity.rdf").write_text(
        f"""<?xml version="1.0"?>
<!DOCTYPE r:RDF [<!ENTITY x SYSTEM "{listener.url}x">]>
<r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://example.org/">
<e:Thing><e:name>&x;</e:name></e:Thing></r:RDF>"""
    )
    for name in ("remote.jsonld", "entity.rdf"):
        done = guarded("symptoms", name, "--shapes", "shapes.ttl")
        assert done.code == 2
        assert len(done.sentences) == 1
    by_url = run("symptoms", f"{listener.url}data.ttl", "--shapes", "shapes.ttl")
    assert by_url.code == 2
    assert "files are never fetched" in by_url.err
    assert not Path("calls.log").exists()
    assert listener.calls == 0


@pytest.mark.slow
def test_queries_call_only_if_allowed(listener: Listener) -> None:
    data = write_graph(Path())
    assert run("investigate", data, "--shapes", "shapes.ttl").code == 0
    text = f"SELECT * {{ SERVICE SILENT <{listener.url}> {{ ?s ?p ?o }} }}"
    Path("q.rq").write_text(
        f"SELECT ?focus ?outcome FROM <{listener.url}g> {{ ?focus a ?x . BIND(true AS ?outcome) "
        f"SERVICE <{listener.url}> {{ ?focus ?p ?o }} }}"
    )
    assert run("query", text).code == 2
    assert run("query", f"LOAD <{listener.url}>").code == 2
    assert run("query", f"SELECT * FROM <{listener.url}> {{ ?s ?p ?o }}").code == 0
    assert run("symptoms", data, "--outcome", "q.rq").code == 2
    assert listener.calls == 0
    run("query", text, "--allow-service")  # shows that a call would have been noticed
    assert listener.calls > 0


@pytest.mark.slow
def test_it_runs_where_there_is_no_network() -> None:
    unshare = shutil.which("unshare")
    alone = [unshare or "unshare", "-rn", sys.executable]
    if unshare is None or subprocess.run([*alone, "-c", ""], check=False).returncode:
        pytest.skip("a process cannot be cut off from the network here (unshare -rn)")
    data = tempting("http://example.org/")
    command = [*alone, "-m", "kgreason", "investigate", str(data), "--shapes", "s.ttl"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("# ")
