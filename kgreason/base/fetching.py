"""Requests to services: no faster than allowed, again where that may help, cached.

Nothing here knows the format of a service. A key is in the header or in the parameters of a request
alone: errors name the host, and what is kept of an answer is its text. No redirection is followed,
so that no other host is asked than the one that a user named.
"""

import codecs
import contextlib
import hashlib
import os
import re
import socket
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final, Self
from urllib.parse import urlencode, urljoin, urlsplit

from kgreason.base.errors import OptionError, RunError
from kgreason.base.figures import figure, integer
from kgreason.base.redaction import without_secrets

AGAIN: Final = frozenset({408, 425, 429, 500, 502, 503, 504})
"""The statuses of an answer after which a service is asked again."""
_LARGEST: Final = 10_000_000
_OK: Final = frozenset({200, 201, 204})
_MOVED: Final = range(300, 400)
_MOST_SAID: Final = 2_000
_SECONDS: Final = integer("fetchSeconds")
_OUT_OF_TIME: Final = r"(?:timed[ -]?out|time-?out|time limit)"
_GAVE_UP: Final = re.compile(
    rf"\bquery\b.{{0,80}}\b{_OUT_OF_TIME}\b|\b{_OUT_OF_TIME}\b.{{0,80}}\bquery\b", re.IGNORECASE
)
CACHE: Final = "retrieved"
"""The folder of a ledger that keeps the answers of services."""


class SourceError(RunError):
    """A source gave no answer, or none that can be read.

    `status` is that of its answer, None where there was none.
    """

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


class Late(SourceError):  # noqa: N818 - reads as what happened
    """An answer did not end in the time that it may take."""


class GaveUp(Late):
    """A service ended its work on a question by a time limit of its own, and said so."""


def from_environment(**variables: str) -> dict[str, str]:
    """Return the parameters whose environment variables are set, by name."""
    return {name: os.environ[key] for name, key in variables.items() if os.environ.get(key)}


@dataclass(frozen=True)
class Answered:
    """An answer that came whole: its status, its headers by their names in lower case, its body."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class _Wire:
    """The connection that a client uses now, so that it can be ended from another thread."""

    def __init__(self) -> None:
        self._stream: Any = None

    def told(self, event: str, of: Mapping[str, Any]) -> None:
        """Take note of a new connection; a client calls this with all that it does."""
        if event in {"connection.connect_tcp.complete", "connection.start_tls.complete"}:
            self._stream = of["return_value"]

    def end(self) -> None:
        """End the connection, whoever reads from it; nothing where there is none."""
        wire = None if self._stream is None else self._stream.get_extra_info("socket")
        if wire is not None:
            with contextlib.suppress(OSError):
                # That of TLS would wait for the other side.
                socket.socket.shutdown(wire, socket.SHUT_RDWR)


class _Limit:
    """A time limit of a request as a whole; `reached` says whether its connection was ended.

    The time limit of a client is one of each read, so that an answer which comes byte by byte would
    never end, its headers least of all.
    """

    def __init__(self, seconds: float, wire: _Wire) -> None:
        self.reached = False
        self._wire = wire
        self._timer = threading.Timer(seconds, self._end)
        self._timer.daemon = True

    def __enter__(self) -> Self:
        self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()

    def _end(self) -> None:
        self.reached = True
        self._wire.end()


@dataclass
class Fetch:
    """Asks one service.

    `base` is its address, `per_second` how often it may be asked. `cache` is a folder of answers
    by the digest of their request, keys left out. An answer may take `seconds` from the first byte
    that is sent to the last that comes, and hold `largest` bytes; after a status of `again` it is
    asked for once more, and after one that did not end in time unless `patient` is off: who is
    still at work on a long question is not helped by a second one. Who says that its own time
    limit ended a query is not asked again then either. `sleep` and `now` stand for the
    clock.
    """

    base: str
    per_second: float
    cache: Path | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    secret: Mapping[str, str] = field(default_factory=dict)
    sleep: Callable[[float], None] = time.sleep
    now: Callable[[], float] = time.monotonic
    raw: list[str] = field(default_factory=list)
    seconds: float = field(default_factory=lambda: _SECONDS)
    largest: int = _LARGEST
    again: frozenset[int] = AGAIN
    patient: bool = True
    _next: float = 0.0
    _client: Any = None
    _process: int = 0
    _wire: _Wire = field(default_factory=_Wire)

    @property
    def _traced(self) -> dict[str, Any]:
        """What has a client tell of its connections."""
        return {"trace": self._wire.told}

    def get(self, path: str, parameters: Mapping[str, str | int]) -> str:
        """Return the text of an answer; raises SourceError where there is none after all tries."""
        asked = f"{urljoin(self.base, path)}?{urlencode(parameters)}"
        place = self.cache and self.cache / hashlib.sha256(asked.encode()).hexdigest()
        if place is not None and place.is_file():
            text = place.read_text(encoding="utf-8")
        else:
            text = self._asked(urljoin(self.base, path), {**parameters, **self.secret})
            if place is not None:
                place.parent.mkdir(parents=True, exist_ok=True)
                new = place.with_suffix(".new")
                new.write_text(text, encoding="utf-8")
                new.replace(place)
        self.raw.append(text)
        return text

    def taken(self) -> tuple[str, ...]:
        """Return the answers since this was asked last."""
        out, self.raw = tuple(self.raw), []
        return out

    def post(self, form: Sequence[tuple[str, str]]) -> Answered:
        """Send a form, and return the answer; raises SourceError where there is none."""
        body = urlencode(form)
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        return self._answered("POST", self.base, content=body, headers=headers)

    def send(self, text: str, kind: str, accept: str = "*/*") -> Answered:
        """Send a text of a media type, and return the answer; raises SourceError without one."""
        headers = {"Content-Type": kind, "Accept": accept}
        return self._answered("POST", self.base, content=text.encode(), headers=headers)

    def _asked(self, address: str, parameters: Mapping[str, str | int]) -> str:
        answer = self._answered("GET", address, params=dict(parameters))
        return answer.body.decode(_charset(answer.headers), "replace")

    def _answered(self, method: str, address: str, **sent: Any) -> Answered:
        host, tries, pause = urlsplit(address).netloc, integer("fetchTries"), figure("fetchPause")
        for attempt in range(1, tries + 1):
            self._wait()
            answer, wrong, late = self._once(method, address, sent)
            gave_up = (
                answer is not None
                and answer.status in AGAIN
                and not self.patient
                and says_out_of_time(answer)
            )
            if answer is None:
                told, again, after = wrong, self.patient or not late, None
            elif answer.status in _OK:
                return answer
            else:
                told = f"answered {answer.status}{_elsewhere(answer, address)}"
                again = answer.status in self.again and not gave_up
                after = None if gave_up else retry_after(answer.headers)
            longest = integer("retryAfterLongest")
            if after is not None and after > longest:
                raise SourceError(
                    f"{host} {told} and asks to be left alone for {after:.0f} s, which is longer "
                    f"than the {longest} s that are waited; try again later.",
                    None if answer is None else answer.status,
                )
            if not again or attempt == tries:
                said = "" if answer is None else _said(answer)
                raise (GaveUp if gave_up else Late if late else SourceError)(
                    f"{host} {told}{f', {tries} times' if again else ''}{said}.",
                    None if answer is None else answer.status,
                )
            self.sleep(pause * 2 ** (attempt - 1) if after is None else after)
        raise AssertionError

    def _wait(self) -> None:
        left = self._next - self.now()
        if left > 0:
            self.sleep(left)
        self._next = max(self.now(), self._next) + 1 / self.per_second

    def _once(
        self, method: str, address: str, sent: Mapping[str, Any]
    ) -> tuple[Answered | None, str, bool]:
        """Ask once; gives the answer, or None, what went wrong, and whether time ran out."""
        client, errors = self._connected()
        until, late = self.now() + self.seconds, f"did not end its answer within {self.seconds:g} s"
        limit = _Limit(self.seconds, self._wire)
        try:
            with limit, client.stream(method, address, **sent, extensions=self._traced) as came:
                parts, size = [], 0
                for part in came.iter_bytes():
                    parts.append(part)
                    size += len(part)
                    if size > self.largest:
                        host = urlsplit(address).netloc
                        raise SourceError(f"{host} answered with more than {self.largest} bytes.")
                    if self.now() > until:
                        break
                # A body without a length ends where the connection does.
                if limit.reached or self.now() > until:
                    return None, late, True
                headers = {name.lower(): said for name, said in came.headers.items()}
                return Answered(came.status_code, headers, b"".join(parts)), "", False
        except errors.ConnectTimeout:
            return None, f"cannot be reached within {self.seconds:g} s", False
        except errors.TimeoutException:
            return None, f"did not answer within {self.seconds:g} s", True
        except errors.HTTPError as error:
            if limit.reached:
                return None, late, True
            return None, f"cannot be reached ({type(error).__name__})", False

    def _connected(self) -> tuple[Any, Any]:
        try:
            import httpx  # noqa: PLC0415 - an extra
        except ImportError as error:
            raise OptionError(
                "Services and endpoints need an extra: pip install 'kgreason[endpoint]'."
            ) from error
        # A forked process must not share a connection with its parent.
        if self._client is None or self._process != os.getpid():
            agent = {"User-Agent": f"kgreason/{version('kgreason')}", **self.headers}
            self._process = os.getpid()
            self._client = httpx.Client(headers=agent, timeout=self.seconds, follow_redirects=False)
        return self._client, httpx


def says_out_of_time(answer: Answered) -> bool:
    """Check whether an answer, or a line at its end, says that a query ran out of time."""
    ends = answer.body[:_MOST_SAID], answer.body[-_MOST_SAID:]
    said = [*answer.headers.values(), *(end.decode("utf-8", "replace") for end in ends)]
    return any(_GAVE_UP.search(one) for one in said)


def _charset(headers: Mapping[str, str]) -> str:
    """Return the encoding that an answer says it has; UTF-8 where it says none that there is."""
    said = re.search(r"charset=\"?([\w.-]+)", headers.get("content-type", ""))
    try:
        return codecs.lookup(said[1]).name if said else "utf-8"
    except LookupError:
        return "utf-8"


def _elsewhere(answer: Answered, address: str) -> str:
    """Return where an answer sends us, which is never followed: another host was not named."""
    to = answer.headers.get("location")
    if answer.status not in _MOVED or not to:
        return ""
    there = urlsplit(urljoin(address, to))
    return f" (it has moved to {there.scheme}://{there.netloc}{there.path}, which was not named)"


def _said(answer: Answered) -> str:
    """Return the first line that a service says of an error, where that is a plain text."""
    kind = answer.headers.get("content-type", "")
    if "html" in kind or answer.status in _MOVED:
        return ""
    lines = answer.body[:_MOST_SAID].decode("utf-8", "replace").strip().splitlines()
    told = without_secrets(lines[0]).rstrip(".") if lines else ""
    return f": {told}" if told.isprintable() and told else ""


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that Retry-After asks for: a number or a date (RFC 9110, 10.2.3)."""
    said = headers.get("retry-after", "").strip()
    if not said:
        return None
    if said.isdigit():
        return float(said)
    try:
        then = parsedate_to_datetime(said)
    except ValueError:
        return None
    then = then if then.tzinfo else then.replace(tzinfo=UTC)
    return max(0.0, (then - datetime.now(UTC)).total_seconds())
