"""Virtuoso on loopback, where Debian's package of it is installed."""

import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

_INI = """[Database]
DatabaseFile = {folder}/virtuoso.db
ErrorLogFile = {folder}/virtuoso.log
LockFile = {folder}/virtuoso.lck
TransactionFile = {folder}/virtuoso.trx
xa_persistent_file = {folder}/virtuoso.pxa
[TempDatabase]
DatabaseFile = {folder}/temporary.db
TransactionFile = {folder}/temporary.trx
[Parameters]
ServerPort = 127.0.0.1:{port}
ServerThreads = 10
NumberOfBuffers = 10000
DirsAllowed = {folder}
SchedulerInterval = 0
[HTTPServer]
ServerPort = 127.0.0.1:{web}
ServerRoot = {folder}
ServerThreads = 5
[SPARQL]
ResultSetMaxRows = 10000
"""
_QUADS = 512
"""The flag by which its loader reads N-Quads."""


@dataclass
class Virtuoso:
    """A server: the address of its SPARQL endpoint, and how it is asked as its owner."""

    address: str
    command: tuple[str, ...]

    def asked(self, statement: str) -> str:
        """Return what the server's own console prints for a statement."""
        told = [*self.command, "VERBOSE=OFF", "BANNER=OFF", "PROMPT=OFF", f"exec={statement}"]
        done = subprocess.run(told, capture_output=True, text=True, check=True, timeout=300)
        assert "Error" not in done.stderr, done.stderr
        return done.stdout

    def holds(self) -> str:
        """Return how many quads the server holds, and how long their names are, as it counts."""
        lengths = (f"SUM(LENGTH(ID_TO_IRI({one})))" for one in "GSP")
        return self.asked(f"SELECT COUNT(*), {', '.join(lengths)} FROM DB.DBA.RDF_QUAD")


def virtuoso_programs() -> tuple[str, str]:
    """Return the server and its console; skips the test where they are not there."""
    program, console = shutil.which("virtuoso-t"), shutil.which("isql-vt")
    if program is None or console is None:
        pytest.skip("Virtuoso is not installed (apt-get install virtuoso-opensource-7-bin)")
    return program, console


@contextmanager
def virtuoso_server(graphs: Mapping[str, Path], folder: Path) -> Iterator[Virtuoso]:
    """Run Virtuoso with files of Turtle in named graphs; skips the test where there is none.

    Files of N-Quads (.nq) name their graphs themselves; what they have without one is in the graph
    under whose name they are given.
    """
    program, console = virtuoso_programs()
    port, web = _free(), _free()
    (folder / "virtuoso.ini").write_text(_INI.format(folder=folder, port=port, web=web))
    process = subprocess.Popen(
        [program, "-f", "-c", str(folder / "virtuoso.ini")],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    served = Virtuoso(
        f"http://127.0.0.1:{web}/sparql", (console, f"127.0.0.1:{port}", "dba", "dba")
    )
    try:
        _await(web)
        for name, path in graphs.items():
            own = folder / path.name
            if own != path:
                own.write_bytes(path.read_bytes())
            flags = _QUADS if own.suffix == ".nq" else 0
            served.asked(f"DB.DBA.TTLP(file_to_string_output('{own}'), '', '{name}', {flags})")
        yield served
    finally:
        process.terminate()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(10)


def _free() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


def _await(port: int) -> None:
    for _ in range(600):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise AssertionError("Virtuoso does not answer")
