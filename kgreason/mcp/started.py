"""Investigations that were started here: each runs in a thread, and can be asked how it goes."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from kgreason import api
from kgreason.base.errors import KgreasonError, OptionError
from kgreason.mcp.marked import plain

_KEPT: Final = 50
"""So many runs are remembered; the oldest that have ended are forgotten first."""


@dataclass
class Started:
    """One run: what it is doing, and in the end the number of its investigation or its error."""

    name: str
    ledger: Path
    doing: str = "waiting"
    done: int = 0
    of: int = 0
    notices: list[str] = field(default_factory=list)
    number: int | None = None
    error: str | None = None
    to_stop: bool = False
    stopped: bool = False

    @property
    def state(self) -> str:
        """It is "running", "finished", "stopped" or "failed"."""
        if self.error is not None:
            return "failed"
        if self.stopped:
            return "stopped"
        return "running" if self.number is None else "finished"


class Runs:
    """The runs of a server, one at a time: an investigation keeps a processor busy."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._runs: dict[str, Started] = {}
        self._last = 0

    def start(self, ledger: Path, asked: Mapping[str, Any]) -> Started:
        """Start an investigation; raises OptionError while another one runs."""
        with self._lock:
            busy = [one for one in self._runs.values() if one.state == "running"]
            if busy:
                raise OptionError(
                    f"{busy[0].name} is still running; poll it, and start another when it is done."
                )
            self._last += 1
            started = Started(f"R{self._last}", ledger)
            self._runs[started.name] = started
            for old in list(self._runs)[:-_KEPT]:
                del self._runs[old]
        # The thread ends with the server; what it has recorded by then can be resumed.
        threading.Thread(target=_run, args=(started, asked), daemon=True).start()
        return started

    def __getitem__(self, name: str) -> Started:
        """Return a run by its name; raises OptionError where there is none."""
        found = self._runs.get(name.strip().upper())
        if found is None:
            known = ", ".join(self._runs) or "none"
            raise OptionError(f"There is no such run; this server has {known}.")
        return found


def _run(started: Started, asked: Mapping[str, Any]) -> None:
    def progress(doing: str, done: int, of: int) -> None:
        if started.to_stop:
            raise KeyboardInterrupt  # what Ctrl-C does on a terminal: the record can be resumed
        started.doing, started.done, started.of = doing, done, of

    try:
        with api.investigate(
            **asked, ledger=started.ledger, progress=progress, notice=started.notices.append
        ) as result:
            name = result.record.iri.value
        listed = api.OpenLedger(started.ledger).investigations
        started.number = next(one.number for one in listed if one.id == name)
    except KeyboardInterrupt:
        started.stopped = True
    except KgreasonError as error:
        started.error = plain(error)
    except Exception as error:  # noqa: BLE001 - a thread has nobody above it to tell
        started.error = f"Unexpected {type(error).__name__}; this is a fault of kgreason."
