"""Fuseki itself on loopback, where an environment variable says where it is.

`KGREASON_FUSEKI` is its jar (one that `java -jar` runs), or a class path that has Fuseki Main.
Fuseki is no package of Debian or PyPI, so whoever has none sees these tests skipped.
"""

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import Final

import pytest

from tests.endpoint_server import Served

VARIABLE: Final = "KGREASON_FUSEKI"
_MAIN: Final = "org.apache.jena.fuseki.main.cmds.FusekiMainCmd"
_SIGN: Final = "Fuseki-Request-Id"
"""A header that is in each of its answers."""
_CONFIGURATION: Final = """PREFIX fuseki: <http://jena.apache.org/fuseki#>
PREFIX ja: <http://jena.hpl.hp.com/2005/11/Assembler#>
PREFIX tdb2: <http://jena.apache.org/2016/tdb#>
[] a fuseki:Server {limit} .
[] a fuseki:Service ;
  fuseki:name "ds" ;
  fuseki:endpoint [ fuseki:operation fuseki:query ; fuseki:name "query" ] ,
    [ fuseki:operation fuseki:update ; fuseki:name "update" ] ,
    [ fuseki:operation fuseki:gsp-rw ; fuseki:name "data" ] ;
  fuseki:dataset [ {dataset} ] .
"""
_LIMIT: Final = '; ja:context [ ja:cxtName "arq:queryTimeout" ; ja:cxtValue "{milliseconds}" ]'
_IN_MEMORY: Final = "a ja:MemoryDataset"
_ON_DISK: Final = 'a tdb2:DatasetTDB2 ; tdb2:location "{location}" ; tdb2:unionDefaultGraph {union}'
_SECONDS: Final = 60.0


@dataclass
class Fuseki(Served):
    """A server with one dataset: `dataset` is its address."""

    whole: str = "/ds/data"

    @property
    def dataset(self) -> str:
        return f"{self.base}/ds"

    @property
    def address(self) -> str:
        return f"{self.dataset}/query"


def fuseki_command() -> Sequence[str]:
    """Return the command that runs Fuseki; skips the test where there is none."""
    java, said = shutil.which("java"), os.environ.get(VARIABLE)
    if not said:
        pytest.skip(f"Fuseki is not there ({VARIABLE}: its jar, or a class path with Fuseki Main)")
    if java is None:
        pytest.skip("Fuseki needs Java (apt-get install default-jre-headless)")
    if os.pathsep not in said and Path(said).is_file():
        return (java, "-Xmx2g", "-jar", str(Path(said).absolute()))
    return (java, "-Xmx2g", "-cp", said, _MAIN)


@contextmanager
def fuseki_server(
    nquads: Sequence[Path] = (),
    *,
    on_disk: bool = False,
    union: bool = False,
    milliseconds: int | None = None,
) -> Iterator[Fuseki]:
    """Run Fuseki with files of N-Quads; skips the test where there is none.

    Its dataset is in memory, or a TDB2 `on_disk`. With `union` the union of the named graphs is the
    default graph of that. A query may take so many `milliseconds`.
    """
    command = fuseki_command()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        configuration = Path(folder) / "configuration.ttl"
        place = _ON_DISK.format(location=Path(folder) / "tdb2", union=str(union).lower())
        (Path(folder) / "tdb2").mkdir()
        limit = "" if milliseconds is None else _LIMIT.format(milliseconds=milliseconds)
        configuration.write_text(
            _CONFIGURATION.format(limit=limit, dataset=place if on_disk else _IN_MEMORY),
            encoding="utf-8",
        )
        process = subprocess.Popen(
            [*command, "--localhost", f"--port={port}", f"--config={configuration}"],
            cwd=folder,
            env={**os.environ, "FUSEKI_BASE": str(Path(folder) / "base")},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        served = Fuseki(f"http://127.0.0.1:{port}", process)
        try:
            _await(served, port)
            for path in nquads:
                _asked(port, "POST", "/ds/data", path.read_bytes())
            yield served
        finally:
            served.stop()


def _await(served: Fuseki, port: int) -> None:
    until = time.monotonic() + _SECONDS
    while time.monotonic() < until:
        assert served.process.poll() is None, f"what {VARIABLE} names does not run"
        try:
            _asked(port, "GET", "/ds/query?query=ASK%20%7B%7D", None)
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise AssertionError("Fuseki does not answer")


def _asked(port: int, method: str, path: str, quads: bytes | None) -> None:
    connection = HTTPConnection("127.0.0.1", port, timeout=300)
    try:
        kind = {} if quads is None else {"Content-Type": "application/n-quads"}
        connection.request(method, path, quads, kind)
        answer = connection.getresponse()
        content = answer.read()
        assert answer.status in {200, 201, 204}, content
        assert answer.headers[_SIGN], "it is not Fuseki that answers"
    finally:
        connection.close()
