"""Requests to literature services: no faster than allowed, again where that may help, cached.

Nothing here knows the format of a service. A key is in the header or in the parameters of a request
alone: errors name the host, and what is kept of an answer is its text.
"""

import hashlib
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlencode, urljoin, urlsplit

from kgreason.base.errors import OptionError, RunError
from kgreason.base.figures import figure, integer

if TYPE_CHECKING:
    import httpx

_AGAIN: Final = frozenset({408, 425, 429, 500, 502, 503, 504})
_LARGEST: Final = 10_000_000
_OK: Final = 200
_SECONDS: Final = integer("fetchSeconds")
CACHE: Final = "retrieved"
"""The folder of a ledger that keeps the answers of services."""


class SourceError(RunError):
    """A source gave no answer, or none that can be read."""


def from_environment(**variables: str) -> dict[str, str]:
    """Return the parameters whose environment variables are set, by name."""
    return {name: os.environ[key] for name, key in variables.items() if os.environ.get(key)}


@dataclass
class Fetch:
    """Asks one service.

    `base` is its address, `per_second` how often it may be asked. `cache` is a folder of answers
    by the digest of their request, keys left out. `sleep` and `now` stand for the clock.
    """

    base: str
    per_second: float
    cache: Path | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    secret: Mapping[str, str] = field(default_factory=dict)
    sleep: Callable[[float], None] = time.sleep
    now: Callable[[], float] = time.monotonic
    raw: list[str] = field(default_factory=list)
    _next: float = 0.0
    _client: Any = None

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

    def _asked(self, address: str, parameters: Mapping[str, str | int]) -> str:
        host, tries, pause = urlsplit(address).netloc, integer("fetchTries"), figure("fetchPause")
        for attempt in range(1, tries + 1):
            self._wait()
            answer, wrong = self._once(address, parameters)
            if answer is None:
                told, again, after = wrong, True, None
            elif answer.status_code == _OK:
                return self._text(answer, host)
            else:
                told = f"answered {answer.status_code}"
                again, after = answer.status_code in _AGAIN, retry_after(answer.headers)
            longest = integer("retryAfterLongest")
            if after is not None and after > longest:
                raise SourceError(
                    f"{host} {told} and asks to be left alone for {after:.0f} s, which is longer "
                    f"than the {longest} s that are waited; try again later."
                )
            if not again or attempt == tries:
                raise SourceError(f"{host} {told}{f', {tries} times' if again else ''}.")
            self.sleep(pause * 2 ** (attempt - 1) if after is None else after)
        raise AssertionError

    def _wait(self) -> None:
        left = self._next - self.now()
        if left > 0:
            self.sleep(left)
        self._next = max(self.now(), self._next) + 1 / self.per_second

    def _once(
        self, address: str, parameters: Mapping[str, str | int]
    ) -> tuple["httpx.Response | None", str]:
        """Ask once; gives the answer, or None and what went wrong."""
        client, errors = self._connected()
        try:
            return client.get(address, params=dict(parameters)), ""
        except errors.TimeoutException:
            return None, f"did not answer within {_SECONDS} s"
        except errors.HTTPError as error:
            return None, f"cannot be reached ({type(error).__name__})"

    def _connected(self) -> tuple[Any, Any]:
        try:
            import httpx  # noqa: PLC0415 - an extra
        except ImportError as error:
            raise OptionError(
                "Literature services need an extra: pip install 'kgreason[literature]'."
            ) from error
        if self._client is None:
            agent = {"User-Agent": f"kgreason/{version('kgreason')}", **self.headers}
            self._client = httpx.Client(headers=agent, timeout=_SECONDS, follow_redirects=False)
        return self._client, httpx

    @staticmethod
    def _text(answer: "httpx.Response", host: str) -> str:
        if len(answer.content) > _LARGEST:
            raise SourceError(f"{host} answered with more than {_LARGEST} bytes.")
        return answer.text


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
