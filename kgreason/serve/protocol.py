"""The SPARQL 1.1 Protocol over the history: queries by GET and POST, read-only, within limits."""

from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qsl

from anyio import CapacityLimiter, to_thread
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from kgreason.api.snapshots import Snapshots
from kgreason.base.errors import KgreasonError, ServiceError
from kgreason.base.store import Answer
from kgreason.serve.answer_formats import RDF_FORMATS, offered, written
from kgreason.serve.negotiation import best
from kgreason.serve.refusal import Refusal, of_error
from kgreason.serve.service_description import description

LONGEST: Final = 1 << 20
"""Bytes that the body of a request may have."""
_AT_ONCE: Final = 4
"""Queries that run at the same time; others wait for their turn."""
_FORM: Final = "application/x-www-form-urlencoded"
_QUERY: Final = "application/sparql-query"
_UPDATE: Final = "application/sparql-update"
_READ_ONLY: Final = "This endpoint is read-only: it takes queries, and no updates."


@dataclass(frozen=True)
class Limits:
    """How long a query may take, in seconds, and how many rows or triples it may give."""

    seconds: float = 30.0
    rows: int = 100_000


@dataclass(frozen=True)
class Asked:
    """A query with the dataset that the request names; None where it names none."""

    query: str
    default_graphs: tuple[str, ...] | None
    named_graphs: tuple[str, ...] | None


class Endpoint:
    """Answers the requests of the protocol."""

    def __init__(self, snapshots: Snapshots, limits: Limits) -> None:
        self.snapshots = snapshots
        self.limits = limits
        self._turns = CapacityLimiter(_AT_ONCE)

    async def respond(self, request: Request) -> Response:
        """Answer a request; what goes wrong is told as plain text with the status it has."""
        try:
            return await self._answer(request)
        except Refusal as refusal:
            text = refusal.sentence
            status = refusal.status
        return Response(f"{text}\n", status, media_type="text/plain")

    async def _answer(self, request: Request) -> Response:
        pairs = parse_qsl(request.url.query, keep_blank_values=True)
        if request.method != "POST" and not any(name in {"query", "update"} for name, _ in pairs):
            return self._described(request)
        asked = read(*await _sent(request), pairs)
        accept = request.headers.get("accept", "")
        answer = await to_thread.run_sync(self._ask, asked, limiter=self._turns)
        media_type = best(accept, offered(answer))
        if media_type is None:
            usual = ", ".join(offered(answer)[:4])
            raise Refusal(406, f"The answer can be had as {usual}, not as {accept}.")
        body, kind = await to_thread.run_sync(written, answer, media_type)
        return Response(body, headers={"Content-Type": _with_charset(kind)})

    def _ask(self, asked: Asked) -> Answer:
        try:
            return self.snapshots.now().query(
                asked.query,
                default_graphs=asked.default_graphs,
                named_graphs=asked.named_graphs,
                seconds=self.limits.seconds,
                most=self.limits.rows,
            )
        except ServiceError as error:
            raise Refusal(403, "SERVICE is refused: this server calls no other one.") from error
        except KgreasonError as error:
            raise of_error(error) from error

    def _described(self, request: Request) -> Response:
        """Describe the endpoint; a browser is led to the page for queries."""
        kind = best(request.headers.get("accept", ""), (*RDF_FORMATS, "text/html"))
        if kind == "text/html":
            return RedirectResponse("/query", 303)
        if kind is None:
            raise Refusal(406, f"The description can be had as {', '.join(RDF_FORMATS)}.")
        graphs = [one.listed.id for one in self.snapshots.now().investigations]
        endpoint = str(request.url.replace(query="", fragment=""))
        body, kind = written(description(endpoint, graphs), kind)
        return Response(body, headers={"Content-Type": _with_charset(kind)})


def _with_charset(kind: str) -> str:
    return f"{kind}; charset=utf-8" if kind.startswith("text/") else kind


async def _sent(request: Request) -> tuple[str, str]:
    """Return the type and the text of the body; nothing for a GET."""
    if request.method != "POST":
        return "", ""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == _UPDATE:
        raise Refusal(403, _READ_ONLY)
    if kind not in {_FORM, _QUERY}:
        raise Refusal(415, f"A POST is of the type {_QUERY} or {_FORM}, not {kind or 'unknown'}.")
    try:
        return kind, (await body(request)).decode("utf-8")
    except UnicodeDecodeError as error:
        raise Refusal(400, "The query is not UTF-8.") from error


async def body(request: Request, longest: int = LONGEST) -> bytes:
    """Return the body of a request; refuses one that is too long."""
    found = bytearray()
    async for piece in request.stream():
        found += piece
        if len(found) > longest:
            raise Refusal(413, f"A request may have {longest:,} bytes.")
    return bytes(found)


def read(kind: str, text: str, pairs: list[tuple[str, str]]) -> Asked:
    """Return what a request asks: section 2.1 of the protocol. Refuses what is not one query."""
    if kind == _FORM:
        pairs = [*pairs, *parse_qsl(text, keep_blank_values=True)]
    if any(name == "update" for name, _ in pairs):
        raise Refusal(403, _READ_ONLY)
    queries = [value for name, value in pairs if name == "query"]
    if kind == _QUERY:
        queries.append(text)
    if len(queries) != 1:
        count = "none" if not queries else f"{len(queries)} of them"
        raise Refusal(400, f"A request has one query, and this has {count}.")
    graphs = {
        name: tuple(value for given, value in pairs if given == name)
        for name in ("default-graph-uri", "named-graph-uri")
    }
    if not any(graphs.values()):
        return Asked(queries[0], None, None)
    return Asked(queries[0], graphs["default-graph-uri"], graphs["named-graph-uri"])
