"""The port of queues, held by each adapter: on the real servers, where they are on this machine."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest

import kgreason
from kgreason.audit import audit
from kgreason.base.errors import OptionError
from kgreason.queue.opening_queue import opened_queue
from kgreason.queue.queue_port import Queue
from tests.lifetime_support import timeless
from tests.queue_support import (
    apart_from_calls,
    content,
    modelled,
    segments,
    started,
    with_model,
)
from tests.resume_support import several

SERVERS: Final = tuple(pytest.param(name, marks=pytest.mark.slow) for name in ("nats", "postgres"))
SESSION: Final = "urn:kgreason:0123456789abcdef"
STEP: Final = "round-1-symptom-1"
_HOLDING: Final = """
import sys, time
from kgreason.queue.opening_queue import opened_queue
with opened_queue(sys.argv[1]) as queue:
    message = queue.take(10)
    print(message.step, flush=True)
    time.sleep(600)
"""


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def program(*places: str) -> str | None:
    """Find a program of a server; Debian keeps them where not every PATH leads."""
    for place in places:
        there = sorted(map(str, Path("/").glob(place.lstrip("/")))) if place[0] == "/" else []
        found = shutil.which(place) or next(reversed(there), None)
        if found:
            return found
    return None


@contextmanager
def nats_server(folder: Path) -> Iterator[str]:
    server = program("nats-server", "/usr/sbin/nats-server")
    if server is None:
        pytest.skip("there is no nats-server here (Debian: apt-get install nats-server)")
    pytest.importorskip("nats", reason="the extra nats is not installed")
    port = free_port()
    command = [server, "-js", "-a", "127.0.0.1", "-p", str(port), "-sd", str(folder)]
    running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield f"nats://127.0.0.1:{port}"
    finally:
        running.kill()
        running.wait()


@contextmanager
def postgres_server(_: Path) -> Iterator[str]:
    initdb = program("/usr/lib/postgresql/*/bin/initdb", "initdb")
    if initdb is None:
        pytest.skip("there is no PostgreSQL server here (Debian: apt-get install postgresql)")
    pytest.importorskip("psycopg", reason="the extra postgres is not installed")
    # The server refuses to run as root, and its sockets need short names.
    folder = Path(tempfile.mkdtemp(prefix="pg"))
    as_user: list[str] = []
    if os.getuid() == 0:
        shutil.chown(folder, "postgres")
        as_user = ["runuser", "-u", "postgres", "--"]
    port, tools = free_port(), Path(initdb).parent
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    quiet |= {"cwd": "/"}
    make = [*as_user, initdb, "-D", str(folder / "db"), "-A", "trust", "-U", "kgreason", "-N"]
    subprocess.run(make, check=True, **quiet)
    options = f"-p {port} -k {folder} -c listen_addresses=127.0.0.1 -c fsync=off"
    control = [*as_user, str(tools / "pg_ctl"), "-D", str(folder / "db"), "-w"]
    subprocess.run(
        [*control, "-o", options, "-l", str(folder / "log"), "start"], check=True, **quiet
    )
    try:
        yield f"postgresql://kgreason@127.0.0.1:{port}/postgres"
    finally:
        subprocess.run([*control, "-m", "immediate", "stop"], check=True, **quiet)
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def folder_queue(folder: Path) -> Iterator[str]:
    yield str(folder / "ledger")


STARTED: Final[dict[str, Callable[[Path], Any]]] = {
    "folder": folder_queue,
    "nats": nats_server,
    "postgres": postgres_server,
}


@pytest.fixture(scope="module")
def urls(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], str]]:
    """Give the URL of a queue; its server is started when it is first asked for."""
    running: dict[str, tuple[Any, str]] = {}

    def url(name: str) -> str:
        if name not in running:
            server = STARTED[name](tmp_path_factory.mktemp(name))
            running[name] = server, server.__enter__()
        return running[name][1]

    yield url
    for server, _ in running.values():
        server.__exit__(None, None, None)


@pytest.fixture(params=["folder", *SERVERS])
def url(request: pytest.FixtureRequest, urls: Callable[[str], str]) -> str:
    return urls(request.param)


@pytest.fixture
def queue(url: str) -> Iterator[Queue]:
    for _ in range(50):  # the server may need a moment
        try:
            opened = opened_queue(url)
            made = opened.__enter__()
            break
        except OptionError:
            time.sleep(0.2)
    else:
        pytest.fail(f"{url} does not answer")
    made.drop(SESSION)
    yield made
    made.drop(SESSION)
    opened.__exit__(None, None, None)


def test_what_is_put_is_taken_until_it_is_acknowledged(queue: Queue) -> None:
    queue.put(SESSION, STEP)
    first = queue.take(5)
    assert first is not None
    assert (first.session, first.step) == (SESSION, STEP)
    first.back()
    again = queue.take(5)
    assert again is not None
    assert again.step == STEP
    again.ack()
    assert queue.take(0.2) is None


def test_each_message_is_for_one(queue: Queue, url: str) -> None:
    steps = {f"round-1-symptom-{number}" for number in range(1, 5)}
    for step in sorted(steps):
        queue.put(SESSION, step)
    with opened_queue(url) as other:
        taken = [one.take(5) for one in (queue, other)]
        assert all(taken)
        assert len({one.step for one in taken if one}) == 2
        for one in taken:
            assert one is not None
            one.ack()
    while (left := queue.take(1)) is not None:
        taken.append(left)
        left.ack()
    assert {one.step for one in taken if one} == steps


def test_what_a_killed_process_had_taken_is_given_to_another(queue: Queue, url: str) -> None:
    queue.put(SESSION, STEP)
    holding = subprocess.Popen(
        [sys.executable, "-c", _HOLDING, url], stdout=subprocess.PIPE, text=True
    )
    assert holding.stdout is not None
    assert holding.stdout.readline().strip() == STEP
    assert queue.take(0.3) is None, "somebody is at work on it"
    os.kill(holding.pid, signal.SIGKILL)
    holding.wait()
    holding.stdout.close()
    again = queue.take(30)
    assert again is not None
    again.ack()


def test_what_is_kept_is_there_for_all_until_it_is_dropped(queue: Queue, url: str) -> None:
    large = os.urandom(3_000_000)
    assert queue.kept(SESSION, "state-round-1") is None
    queue.keep(SESSION, "state-round-1", b"first")
    queue.keep(SESSION, "state-round-1", large)
    queue.put(SESSION, STEP)
    with opened_queue(url) as other:
        assert other.kept(SESSION, "state-round-1") == large
        assert other.kept(SESSION, "segment-round-1-symptom-1") is None
    queue.drop(SESSION)
    assert queue.kept(SESSION, "state-round-1") is None
    assert queue.take(0.3) is None


def test_a_worker_that_is_long_at_work_keeps_its_message(queue: Queue, url: str) -> None:
    queue.put(SESSION, STEP)
    held = queue.take(5)
    assert held is not None
    with opened_queue(url) as other:
        assert other.take(20 if url.startswith("nats") else 0.3) is None
    held.ack()


@pytest.fixture(scope="module")
def options(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return several(tmp_path_factory.mktemp("several"), interventions=0, try_repairs=False)


@pytest.mark.parametrize("name", SERVERS)
def test_workers_on_a_server_do_what_one_process_does(
    name: str, urls: Callable[[str], str], options: dict[str, Any], tmp_path: Path
) -> None:
    """One of the two is killed in the midst of it."""
    at = urls(name)
    with kgreason.investigate(**options) as found:
        alone = timeless(found.record)
    workers = [started(at) for _ in range(2)]
    try:
        for each in workers:
            assert each.stderr is not None
            assert "waiting" in each.stderr.readline()
        killed = threading_kill(workers[0])
        with kgreason.investigate(**options, ledger=tmp_path / "ledger", queue=at) as found:
            assert content(timeless(found.record)) == content(alone)
            assert len(segments(found.record)) >= 7
            assert audit(found.record).rules == set()
        killed()
    finally:
        for each in workers:
            each.kill()
            each.wait()


@pytest.mark.parametrize("name", SERVERS)
def test_a_model_takes_part_beside_workers_on_a_server(
    name: str, urls: Callable[[str], str], options: dict[str, Any], tmp_path: Path
) -> None:
    """The parent asks it the same as one process does; workers test what it proposed."""
    request = modelled(options)
    once, asked = with_model(request, tmp_path / "alone", None)
    workers = [started(urls(name)) for _ in range(2)]
    try:
        for each in workers:
            assert each.stderr is not None
            assert "waiting" in each.stderr.readline()
        found, spread = with_model(request, tmp_path / "ledger", urls(name))
    finally:
        for each in workers:
            each.kill()
            each.wait()
    assert sorted(spread.prompts) == sorted(asked.prompts)
    assert len(segments(found.record)) >= 7
    assert apart_from_calls(found.record) == apart_from_calls(once.record)
    assert audit(found.record).rules == set()


def threading_kill(worker: subprocess.Popen[str]) -> Callable[[], None]:
    """Kill a worker once it has told of its first step; gives what waits for that."""
    import threading  # noqa: PLC0415

    def kill() -> None:
        assert worker.stderr is not None
        worker.stderr.readline()
        worker.kill()

    thread = threading.Thread(target=kill)
    thread.start()
    return thread.join


@pytest.mark.slow
@pytest.mark.parametrize("at", ["nats://127.0.0.1:1", "postgresql://nobody@127.0.0.1:1/none"])
def test_a_server_that_does_not_answer_is_told(at: str) -> None:
    pytest.importorskip("nats" if at.startswith("nats") else "psycopg")
    with pytest.raises(OptionError, match="cannot be used"), opened_queue(at):
        pass
