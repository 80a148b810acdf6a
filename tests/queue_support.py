"""Workers for tests: in this process, so that all that happens can be said beforehand."""

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pyoxigraph as ox
import pytest

import kgreason
from kgreason import run as running
from kgreason.base.terms import TRAILS
from kgreason.model.opening import Company, of_client
from kgreason.model.spending import Spending
from kgreason.observe.request import Request, request_of
from kgreason.queue import opening_queue, worker
from kgreason.queue.folder_queue import FolderQueue
from kgreason.queue.opening_queue import carried
from kgreason.record import Record
from kgreason.record.policy import Policy
from tests import chat_server
from tests.lifetime_support import timeless
from tests.model_support import Stub, acting, judging, tell

ABOUT = (":step:", ":segment:", ":openstep:")


@dataclass
class WorkedHere:
    """A queue whose messages are worked off whenever somebody waits for a segment.

    `between` may change what a worker is about to keep, or keep nothing (None).
    """

    inner: Any
    between: Callable[[str, bytes], bytes | None] = lambda _, content: content
    said: list[str] = field(default_factory=list)
    bench: worker.Bench = field(default_factory=worker.Bench)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def keep(self, session: str, name: str, content: bytes) -> None:
        changed = self.between(name, content) if name.startswith("segment-") else content
        if changed is not None:
            self.inner.keep(session, name, changed)

    def kept(self, session: str, name: str) -> bytes | None:
        found: bytes | None = self.inner.kept(session, name)
        if found is None and name.startswith("segment-"):
            self.work()
            found = self.inner.kept(session, name)
        return found

    def work(self) -> None:
        """Take a message, if there is one, and do its step."""
        message = self.inner.take(0)
        if message is not None:
            worker._do(self, self.bench, message, self.said.append)


@contextmanager
def workers_here(
    between: Callable[[str, bytes], bytes | None] = lambda _, content: content,
) -> Iterator[list[WorkedHere]]:
    """Have each queue that is opened worked off in this process; gives those that were opened."""
    opened: list[WorkedHere] = []

    def opening(url: str) -> WorkedHere:
        opened.append(WorkedHere(FolderQueue(Path(url)), between))
        return opened[-1]

    with patch.object(opening_queue, "_queue", opening):
        yield opened


def content(lines: set[str]) -> set[str]:
    """Give what a record says, apart from the numbers of steps and from how it was spread."""
    return {line for line in lines if not any(about in line for about in ABOUT)}


def segments(record: Record) -> list[ox.NamedNode]:
    """Give the segments of a record."""
    quads = record.store.inner.quads_for_pattern(None, TRAILS.segmentStep, None, record.iri)
    return [q.subject for q in quads if isinstance(q.subject, ox.NamedNode)]


def started(url: str | Path, *more: str) -> subprocess.Popen[str]:
    """Start a worker in a process of its own."""
    command = [sys.executable, "-m", "kgreason", "worker", "--queue", str(url), *more]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def of_modes(prompt: str) -> str:
    """Blame two modes, as a model that proposes."""
    mode = chat_server.path(prompt, "mode")
    return chat_server.said(
        *(
            chat_server.one(f"Mode {n}.", region=[chat_server.condition(mode, "equals", n)])
            for n in "31"
        )
    )


def with_model(
    request: Request, ledger: Path, queue: str | Path | None
) -> tuple[kgreason.Result, Stub]:
    """Investigate, or go on where the ledger is there, with a scripted model in rounds."""
    stub = Stub(acting(of_modes, lambda _: judging(0.9, 0.1), tell))

    def taking_part(_: Request, rules: Policy, *__: object, **___: object) -> Company:
        return of_client(stub, Spending(), rules)

    with pytest.MonkeyPatch.context() as patched, carried(queue, None) as carrier:
        patched.setattr(running, "company", taking_part)
        if ledger.exists():
            return running.go_on(ledger, None, lambda was: was, carrier=carrier), stub
        return running.begin(request, ledger, carrier=carrier), stub


def modelled(options: dict[str, Any]) -> Request:
    given = dict(options)
    return request_of(given.pop("data"), **given)


def apart_from_calls(record: Record) -> set[str]:
    """Give what a record says but for the numbers of the calls of a model, and for those."""
    lines = content(timeless(record))
    kept = {line for line in lines if not re.match(r"\S+:modelcall:\d+> ", line)}
    return {re.sub(r":modelcall:\d+>", ":modelcall>", line) for line in kept}
