"""The site as a whole: its addresses, and the process that serves them."""

import contextlib
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from kgreason.api.snapshots import Snapshots
from kgreason.base.errors import KgreasonError, OptionError
from kgreason.serve import explorer as record_pages
from kgreason.serve import from_data, scripts
from kgreason.serve.live import Live
from kgreason.serve.pages import SHARED, filled
from kgreason.serve.protection import Protection, Token, names
from kgreason.serve.protocol import Endpoint, Limits
from kgreason.serve.refusal import Refusal, of_error

_SECONDS_TO_END = 5


@dataclass(frozen=True)
class Site:
    """What is served, where, and how far: ledgers, events files, limits, and who may write."""

    ledgers: Sequence[str]
    host: str = "127.0.0.1"
    port: int = 7878
    known_as: Sequence[str] = ()
    events: Sequence[str] = ()
    limits: Limits = field(default_factory=Limits)
    read_only: bool = False
    extend: Sequence[str] = ()


def application(site: Site, stopping: Callable[[], bool] = lambda: False) -> Starlette:
    """Return the site as an ASGI application; raises LedgerError for a folder without a ledger.

    `stopping` says whether the server is about to end.
    """
    snapshots = Snapshots(site.ledgers, extend=site.extend)
    live = Live(snapshots, [Path(one) for one in site.events], stopping)
    pages = record_pages.Explorer(snapshots, live, None if site.read_only else Token())
    data = from_data.FromData(pages)
    routes = [
        Route("/sparql", Endpoint(snapshots, site.limits).respond, methods=["GET", "POST"]),
        *(Route(path, getattr(data, name)) for path, name in from_data.PAGES),
        *(Route(path, getattr(pages, name)) for path, name in record_pages.PAGES),
        Route("/i/{nonce}/hypotheses/{number}/verdicts", pages.verdict, methods=["POST"]),
        Route("/static/report.css", _report_style),
        Mount("/static", StaticFiles(directory=scripts.OWN)),
    ]
    return Starlette(
        routes=routes,
        middleware=[Middleware(Protection, hosts=names(site.host, site.port, site.known_as))],
        exception_handlers={
            Refusal: _refused,
            KgreasonError: _failed,
            HTTPException: _not_there,
        },
    )


def _report_style(_: Request) -> Response:
    return FileResponse(SHARED / "report.css")


def _refused(_: Request, error: Exception) -> Response:
    if not isinstance(error, Refusal):
        raise error
    return filled("refusal", error.status, code=error.status, sentence=error.sentence)


def _failed(request: Request, error: Exception) -> Response:
    if not isinstance(error, KgreasonError):
        raise error
    return _refused(request, of_error(error))


def _not_there(request: Request, error: Exception) -> Response:
    if not isinstance(error, HTTPException):
        raise error
    told = {404: f"There is no page {request.url.path}.", 405: "This is not how to ask for it."}
    return _refused(request, Refusal(error.status_code, told.get(error.status_code, error.detail)))


def serve(site: Site, ready: Callable[[str], None]) -> None:
    """Serve a site until it is stopped; `ready` is told its address.

    Raises LedgerError for a folder without a ledger, OptionError for an address that cannot be had.
    """
    listening = _bound(site.host, site.port)
    with contextlib.closing(listening):
        port = listening.getsockname()[1]
        running: list[uvicorn.Server] = []
        app = application(replace(site, port=port), lambda: any(one.should_exit for one in running))
        settings = uvicorn.Config(
            app,
            log_level="warning",
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=_SECONDS_TO_END,
        )
        running.append(uvicorn.Server(settings))
        shown = f"[{site.host}]" if ":" in site.host else site.host
        ready(f"http://{shown}:{port}/")
        with contextlib.suppress(KeyboardInterrupt):  # the usual way to end it
            running[0].run(sockets=[listening])


def _bound(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((host, port))
        made.listen()  # only now a port that another process listens on is found out
    except OSError as error:
        made.close()
        why = error.strerror or error
        raise OptionError(
            f"{host}:{port}: this address cannot be had ({why}); give --port another number."
        ) from error
    return made
