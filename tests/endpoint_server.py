"""Oxigraph's own server on loopback, and a proxy before it that does things wrong."""

import contextlib
import http.client
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

import pytest

_KEPT = {"content-type", "server", "fuseki-request-id"}
"""The headers that a proxy passes on."""


@dataclass
class Served:
    """A server: its address, and the address of its SPARQL endpoint; `whole` gives all it holds."""

    base: str
    process: subprocess.Popen[bytes]
    whole: str = "/store"

    @property
    def address(self) -> str:
        return f"{self.base}/query"

    def dump(self) -> str:
        """Return a digest of all that the server holds."""
        body = _ask(self.base, "GET", self.whole, None, {"Accept": "application/n-quads"})
        return sha256(b"\n".join(sorted(body.splitlines()))).hexdigest()

    def cpu(self) -> float:
        """Return the CPU seconds of the server so far, as Linux tells them."""
        said = Path(f"/proc/{self.process.pid}/stat").read_text(encoding="utf-8")
        own, of_kernel = said.rpartition(")")[2].split()[11:13]
        return (int(own) + int(of_kernel)) / os.sysconf("SC_CLK_TCK")

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(10)


def oxigraph_program() -> str:
    """Return Oxigraph's command; skips the test where there is none."""
    program = Path(sys.executable).with_name("oxigraph")
    found = str(program) if program.is_file() else shutil.which("oxigraph")
    if found is None:
        pytest.skip("the server of Oxigraph is not installed (pip install oxigraph)")
    return found


@contextmanager
def _serving(*command: str) -> Iterator[Served]:
    """Run the server, and wait until it answers."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    served = Served(
        f"http://127.0.0.1:{port}",
        subprocess.Popen(
            [oxigraph_program(), *command, "--bind", f"127.0.0.1:{port}"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ),
    )
    try:
        _await(served)
        yield served
    finally:
        served.stop()


@contextmanager
def served_from(data: Path, location: Path) -> Iterator[Served]:
    """Load a file into a store on disk, where it is not there yet, and serve that read-only."""
    if not location.exists():
        command = [oxigraph_program(), "load", "--location", str(location), "--file", str(data)]
        subprocess.run(command, check=True, capture_output=True)
    with _serving("serve-read-only", "--location", str(location)) as served:
        yield served


@contextmanager
def oxigraph_server(
    graphs: Mapping[str, bytes], *options: str, nquads: Sequence[Path] = ()
) -> Iterator[Served]:
    """Run Oxigraph's server with Turtle in named graphs ("" is the default graph), and files."""
    with _serving("serve", *options) as served:
        for name, content in graphs.items():
            where = f"/store?graph={quote(name, safe='')}" if name else "/store?default"
            _ask(served.base, "POST", where, content, {"Content-Type": "text/turtle"})
        for path in nquads:
            kind = "text/turtle" if path.suffix == ".ttl" else "application/n-quads"
            where = f"/store?graph=urn:file:{path.stem}" if path.suffix == ".ttl" else "/store"
            _ask(served.base, "POST", where, path.read_bytes(), {"Content-Type": kind})
        yield served


def _await(served: Served) -> None:
    for _ in range(400):
        try:
            _ask(served.base, "GET", "/query?query=ASK%20%7B%7D", None, {})
        except OSError:
            time.sleep(0.025)
        else:
            return
    raise AssertionError("the server of Oxigraph does not answer")


def _ask(
    base: str, method: str, path: str, body: bytes | None, headers: Mapping[str, str]
) -> bytes:
    parts = urlsplit(base)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=30)
    try:
        connection.request(method, path, body, dict(headers))
        answer = connection.getresponse()
        content = answer.read()
        assert answer.status < 300, content
        return content
    finally:
        connection.close()


@dataclass
class Proxy:
    """What stands before a server: `mishaps` are what it does with the next queries, by number.

    `asked` are the queries that came, `headers` those of the last. `on_way` is told the path and
    the body of a request before the server is, and gives the body that goes on: a shorter one ends
    in the middle, None does not arrive. A mishap that gives None loses the answer. The connection
    is then closed without a word.
    """

    target: str
    mishaps: dict[int, Any] = field(default_factory=dict)
    every: Any = None
    on_way: Any = None
    asked: list[str] = field(default_factory=list)
    methods: list[str] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)
    base: str = ""

    @property
    def address(self) -> str:
        return f"{self.base}/query"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.0"
    proxy: Proxy

    def log_message(self, *_: Any) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        self._answer(b"")

    def do_POST(self) -> None:
        self._answer(self.rfile.read(int(self.headers["content-length"])))

    def _answer(self, body: bytes) -> None:
        proxy = self.proxy
        proxy.methods.append(self.command)
        proxy.headers = {name.lower(): said for name, said in self.headers.items()}
        proxy.asked.append(parse_qs(body.decode()).get("query", [""])[0])
        goes_on = proxy.on_way(self.path, body) if proxy.on_way else body
        mishap = proxy.mishaps.pop(len(proxy.asked), proxy.every)
        if goes_on is None or len(goes_on) < len(body):
            self._cut_short(body, goes_on or b"")
            return
        answer = self._through(body)
        if callable(mishap):
            answer = mishap(proxy.asked[-1], *answer)
        if answer is None:
            return
        status, headers, content = answer
        with contextlib.suppress(ConnectionError):  # who asked may be dead
            self.send_response(status)
            for name, said in headers.items():
                self.send_header(name, said)
            self.end_headers()
            self.wfile.write(content)

    def _cut_short(self, body: bytes, goes_on: bytes) -> None:
        """Send the beginning of a request, if any, and hang up."""
        if goes_on:
            parts = urlsplit(self.proxy.target)
            said = {"Content-Type": self.headers["content-type"], "Content-Length": str(len(body))}
            lines = [f"{self.command} {self.path} HTTP/1.1", f"Host: {parts.netloc}"]
            lines += [f"{name}: {value}" for name, value in said.items()]
            with socket.create_connection((parts.hostname or "", parts.port or 80)) as server:
                server.sendall("\r\n".join([*lines, "", ""]).encode() + goes_on)

    def _through(self, body: bytes) -> tuple[int, dict[str, str], bytes]:
        parts = urlsplit(self.proxy.target)
        connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=30)
        try:
            own = {n: s for n, s in self.headers.items() if n.lower() not in {"host", "connection"}}
            own["Accept-Encoding"] = "identity"
            connection.request(self.command, self.path, body, own)
            answer = connection.getresponse()
            content = answer.read()
            kept = {n: s for n, s in answer.getheaders() if n.lower() in _KEPT}
            return answer.status, kept | {"Content-Length": str(len(content))}, content
        finally:
            connection.close()


@contextmanager
def proxy_before(target: str) -> Iterator[Proxy]:
    """Run a proxy before a server."""
    proxy = Proxy(target)
    handler = type("Handler", (_Handler,), {"proxy": proxy})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    proxy.base = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield proxy
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def trickling(beginning: bytes) -> Iterator[str]:
    """Run a server that sends a beginning and then byte after byte, as long as anybody reads."""
    stopped = threading.Event()
    listening = socket.create_server(("127.0.0.1", 0))

    def trickle(connection: socket.socket) -> None:
        with connection:
            try:
                connection.recv(1)
                connection.sendall(beginning)
                while not stopped.wait(0.02):
                    connection.sendall(b"x")
            except OSError:
                return

    def serve() -> None:
        while not stopped.is_set():
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            threading.Thread(target=trickle, args=(connection,), daemon=True).start()

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/query"
    finally:
        stopped.set()
        listening.shutdown(socket.SHUT_RDWR)
        listening.close()
        thread.join()
