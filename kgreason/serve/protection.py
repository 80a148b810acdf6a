"""Who may ask: only under names of this server, only from its own pages, nothing from elsewhere.

A page of another site can send requests to a local server, and by DNS rebinding even under a name
of its own, which would make it read the answers. So the Host header must be one that this server
is known by, and an Origin, where there is one, must be its own. What changes something needs both
an Origin and the token of this process, which only its pages know.
"""

import hmac
import secrets
from collections.abc import MutableMapping, Sequence
from typing import Any, Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kgreason.serve.refusal import Refusal

LOOPBACK: Final = ("127.0.0.1", "localhost", "[::1]")
CONTENT_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; style-src-attr 'unsafe-inline'; "
    "img-src 'self' data:; font-src 'self' data:; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
"""Nothing is loaded from elsewhere, and no script runs that is not a file of this server."""
STYLED_POLICY: Final = CONTENT_POLICY.replace(
    "style-src 'self'", "style-src 'self' 'unsafe-inline'", 1
)
"""The same for pages whose third-party scripts write styles into the page."""
REPORT_POLICY: Final = (
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'"
)
"""For the report, which is one file with its styles in it and no scripts."""
_HEADERS: Final = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",  # with no-referrer a form would be sent with Origin: null
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class Protection:
    """Refuses requests under foreign names or from foreign pages, and adds the headers."""

    def __init__(self, app: ASGIApp, hosts: Sequence[str]) -> None:
        self.app = app
        self.hosts = frozenset(host.lower() for host in hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it with 403."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        host = headers.get("host", "").lower()
        origin = headers.get("origin")
        app = self.app
        if host not in self.hosts:
            names = ", ".join(sorted(self.hosts))
            app = PlainTextResponse(
                f"This server does not answer to {_told(host)}; it is {names}.\n", 403
            )
        elif origin is not None and not self._own(origin, host):
            app = PlainTextResponse(f"Requests from pages of {_told(origin)} are refused.\n", 403)
        await app(scope, receive, _adding(send))

    def _own(self, origin: str, host: str) -> bool:
        return origin.lower() in {f"http://{host}", f"https://{host}"}


def _told(given: str) -> str:
    """Return what a header says as far as it can be told: printable, and not long."""
    return "".join(c for c in given[:80] if c.isprintable()) or "a request without a name"


def _adding(send: Send) -> Send:
    async def add(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=_with_headers(message))
            for name, value in _HEADERS.items():
                headers.setdefault(name, value)
            headers.setdefault("Content-Security-Policy", CONTENT_POLICY)
            headers.setdefault("Cache-Control", "no-store")
        await send(message)

    return add


def _with_headers(message: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    message.setdefault("headers", [])
    return message


class Token:
    """The token of this process, which its own pages carry in their forms."""

    def __init__(self) -> None:
        self.text = secrets.token_urlsafe(24)

    def check(self, request: Request, given: str) -> None:
        """Refuse what does not come from a page of this process."""
        if request.headers.get("origin") is None:
            raise Refusal(403, "A verdict is taken from a page of this server alone.")
        if not hmac.compare_digest(given.encode(), self.text.encode()):
            raise Refusal(
                403, "This page is from before the server was started anew; load it again."
            )


def names(host: str, port: int, more: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the values of the Host header that a server is known by."""
    own = [*LOOPBACK] if host in {*LOOPBACK, "::1"} else [f"[{host}]" if ":" in host else host]
    given = [name if _has_port(name) else f"{name}:{port}" for name in (*own, *more)]
    bare = [name for name in (*own, *more) if port == _HTTP and not _has_port(name)]
    return tuple(dict.fromkeys([*given, *bare]))


_HTTP: Final = 80


def _has_port(name: str) -> bool:
    return name.rpartition("]")[2].rpartition(":")[1] == ":"
