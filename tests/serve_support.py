"""What the tests of `kgreason serve` share: a small ledger, a client, and a server that runs."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from pyoxigraph import NamedNode

pytest.importorskip("starlette", reason="kgreason serve needs the extra `serve`")
pytest.importorskip("uvicorn", reason="kgreason serve needs the extra `serve`")
pytest.importorskip("httpx", reason="the client of the tests needs httpx")

from starlette.testclient import TestClient

import kgreason
from kgreason.record import Record
from kgreason.review.events import Stream
from kgreason.serve.protocol import Limits
from kgreason.serve.website import Site, application
from tests.cli_support import write_graph

OWN = "http://127.0.0.1:7878"


def investigate(folder: Path) -> Path:
    """Investigate a graph of two feeds; gives the ledger."""
    data = write_graph(folder)
    ledger = folder / "ledger"
    shapes = folder / "shapes.ttl"
    kgreason.investigate(
        data, shapes=shapes, ledger=ledger, question="Why <b>no</b> names?", nonce="aa11bb22"
    ).close()
    return ledger


def interrupted(folder: Path, events: Path) -> Path:
    """Begin an investigation that writes its events to a file, and break it off; gives the ledger.

    It is found out by its nonce, cc33dd44.
    """
    data = write_graph(folder)
    stream, left = Stream(events), iter(range(8))

    def told(record: Record, step: NamedNode) -> None:
        stream(record, step)
        if next(left, None) is None:
            raise KeyboardInterrupt

    with suppress(KeyboardInterrupt):
        kgreason.investigate(
            data,
            shapes=folder / "shapes.ttl",
            ledger=folder / "ledger",
            nonce="cc33dd44",
            told=told,
        )
    return folder / "ledger"


def client(*ledgers: Path, limits: Limits | None = None, **options: object) -> TestClient:
    site = Site([str(one) for one in ledgers], limits=limits or Limits(), **options)  # type: ignore[arg-type]
    return TestClient(application(site), base_url=OWN, follow_redirects=False)


@contextmanager
def running(*arguments: str | Path) -> Iterator[str]:
    """Run the command in a process of its own; gives its address."""
    command = [sys.executable, "-m", "kgreason", "serve", *map(str, arguments), "--port", "0"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        said = process.stderr.readline()
        found = re.search(r"serving at (http://\S+)/ ", said)
        assert found is not None, said + process.stderr.read()
        yield found[1]
    finally:
        process.terminate()
        process.wait()
        process.stderr.close()
