"""The pages that are read from the record: the list, an investigation, and what is in it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pyoxigraph as ox
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from kgreason.api.snapshots import HeldInvestigation, Snapshot, Snapshots
from kgreason.base.errors import LedgerError
from kgreason.report.document import Block
from kgreason.report.summary import SHOWN, Answer, command
from kgreason.serve import verdicts, walk
from kgreason.serve.addresses import place
from kgreason.serve.live import Live
from kgreason.serve.pages import filled
from kgreason.serve.protection import REPORT_POLICY, Token
from kgreason.serve.refusal import Refusal

_LEVELS: Final = {"report": 2, "symptom": 2, "hypothesis": 2}


@dataclass(frozen=True)
class Held:
    """An investigation that a page is about, with the snapshot it is read from."""

    snapshot: Snapshot
    investigation: HeldInvestigation

    @property
    def iri(self) -> str:
        """Its IRI."""
        return self.investigation.listed.id

    @property
    def told(self) -> Mapping[str, Any]:
        """Its result as in docs/result.schema.json."""
        return self.snapshot.told(self.iri)

    def pasted(self, words: str) -> str:
        """Return a command that names the ledger of the investigation."""
        return command(words, str(self.investigation.folder))

    def explored(self, page_: str, **about: str) -> Block:
        """Return the sections of a page."""
        return self.snapshot.explored(self.iri, page_, **about)

    def entry(self, of: str, number: str) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        """Return a symptom or hypothesis by number, with the symptom that it belongs to."""
        for symptom in self.told["symptoms"]:
            for one in [symptom] if of == "symptom" else symptom["hypotheses"]:
                if one["id"] == f"{self.iri}:{of}:{number}":
                    return symptom, one
        raise Refusal(404, f"There is no {of} {number} in {self.investigation.name}.")


class Explorer:
    """Answers the requests for pages that are read from the record."""

    def __init__(self, snapshots: Snapshots, live: Live, token: Token | None) -> None:
        self.snapshots = snapshots
        self.live = live
        self.token = token

    def held(self, request: Request) -> Held:
        """Return the investigation that a request is about; refuses one that there is not."""
        snapshot = self.snapshots.now()
        try:
            return Held(snapshot, snapshot.investigation(request.path_params["nonce"]))
        except LedgerError as error:
            raise Refusal(404, str(error)) from error

    def page(self, held: Held, template: str, tab: str, **values: Any) -> HTMLResponse:
        """Return a page about an investigation."""
        own: dict[str, Any] = {
            "investigation": held.investigation,
            "nonce": held.investigation.nonce,
        }
        return filled(template, tab=tab, levels=_LEVELS, **own, **values)

    def front(self, _: Request) -> Response:
        """List the investigations of all ledgers."""
        snapshot = self.snapshots.now()
        held = sorted(snapshot.investigations, key=lambda one: one.listed.begun)
        listed = [(one, snapshot.explored(one.listed.id, "list")) for one in held]
        return filled("front", listed=listed, folders=self.snapshots.folders, tab="list")

    def answer(self, request: Request) -> Response:
        """Return the short answer: the first screen and the cards of the report."""
        held = self.held(request)
        answer = held.snapshot.short_answer(held.iri)
        told: dict[str, Any] = {"answer": answer, "shown": SHOWN, "pasted": held.pasted}
        return self.page(
            held,
            "answer_page",
            "answer",
            first=held.snapshot.section(held.iri, "provisional"),
            division=held.snapshot.section(held.iri, "division"),
            **told,
        )

    def causes(self, request: Request) -> Response:
        """List the causes."""
        held = self.held(request)
        short = held.snapshot.short_answer(held.iri)
        said = {one.cause.name: one.statement for one in short.causes}
        return self.page(held, "causes", "causes", causes=held.told["causes"], said=said)

    def cause(self, request: Request) -> Response:
        """Return one cause: its card, its hypotheses, and where to go on."""
        held = self.held(request)
        name = request.path_params["name"]
        cause = next((one for one in held.told["causes"] if one["id"] == name), None)
        if cause is None:
            names = ", ".join(one["id"] for one in held.told["causes"]) or "none"
            raise Refusal(
                404, f"There is no cause {name} in {held.investigation.name}; it has {names}."
            )
        own = set(cause["hypotheses"])
        hypotheses = [
            (symptom, one)
            for symptom in held.told["symptoms"]
            for one in symptom["hypotheses"]
            if one["id"] in own
        ]
        card = _card(held.snapshot.short_answer(held.iri), name)
        return self.page(
            held,
            "cause",
            "causes",
            cause=cause,
            card=card,
            hypotheses=hypotheses,
            pasted=held.pasted,
        )

    def symptoms(self, request: Request) -> Response:
        """List the broken rules."""
        held = self.held(request)
        return self.page(held, "symptoms", "symptoms", symptoms=held.told["symptoms"])

    def symptom(self, request: Request) -> Response:
        """Return one broken rule: the verdict, all its hypotheses, what the report says of it."""
        held = self.held(request)
        _, symptom = held.entry("symptom", request.path_params["number"])
        return self.page(
            held,
            "symptom",
            "symptoms",
            symptom=symptom,
            block=held.explored("symptom", symptom=symptom["id"]),
            reported=held.snapshot.part(held.iri, symptom["id"]),
        )

    def hypotheses(self, request: Request) -> Response:
        """List all hypotheses."""
        held = self.held(request)
        return self.page(held, "hypotheses", "hypotheses", block=held.explored("hypotheses"))

    def hypothesis(self, request: Request) -> Response:
        """Return one hypothesis: its evidence, why its confidence, its life, what people say."""
        held = self.held(request)
        symptom, one = held.entry("hypothesis", request.path_params["number"])
        finished = held.investigation.listed.finished
        return self.page(
            held,
            "hypothesis",
            "hypotheses",
            symptom=symptom,
            hypothesis=one,
            number=request.path_params["number"],
            block=held.explored("hypothesis", hypothesis=one["id"]),
            reported=held.snapshot.part(held.iri, symptom["id"], one["id"]),
            token=self.token.text if self.token is not None and finished else None,
            finished=finished,
        )

    async def verdict(self, request: Request) -> Response:
        """Take a verdict from the form of a page, and lead back to that page."""
        if self.token is None:
            raise Refusal(403, "This server was started with --read-only: it takes no verdicts.")
        fields = await verdicts.sent(request, self.token)
        return await run_in_threadpool(self._judged, request, fields)

    def _judged(self, request: Request, fields: dict[str, str]) -> Response:
        held = self.held(request)
        number = request.path_params["number"]
        _, one = held.entry("hypothesis", number)
        verdicts.record(held.investigation.folder, one["id"], fields)
        self.snapshots.anew()
        back = place(held.investigation.nonce, "hypotheses", number)
        return RedirectResponse(f"{back}#people", 303)

    def evidence(self, request: Request) -> Response:
        """Return one piece of evidence, to the very nodes that it cites."""
        held = self.held(request)
        number = request.path_params["number"]
        node = f"{held.iri}:evidence:{number}"
        block = held.explored("evidence", node=node)
        if all(section.content.is_empty for section in block.sections):
            raise Refusal(404, f"There is no evidence {number} in {held.investigation.name}.")
        return self.page(held, "evidence", "hypotheses", block=block, number=number, node=node)

    def node(self, request: Request) -> Response:
        """Return where a node of the graph is cited."""
        held = self.held(request)
        node = _iri(request)
        block = held.explored("node", node=node)
        return self.page(held, "node", "nodes", node=node, block=block)

    def provenance(self, request: Request) -> Response:
        """Show a node of the record with what is next to it."""
        held = self.held(request)
        node = _iri(request, held.iri)
        block = held.explored("provenance", node=node)
        beside = walk.neighbours(block)
        drawn = walk.drawing(held.investigation.nonce, node, beside)
        return self.page(
            held, "provenance", "provenance", node=node, block=block, drawn=drawn, styled=True
        )

    def walked(self, request: Request) -> Response:
        """Return a node of the record with its neighbours as JSON."""
        held = self.held(request)
        node = _iri(request, held.iri)
        beside = walk.neighbours(held.explored("provenance", node=node))
        return JSONResponse(walk.elements(held.investigation.nonce, node, beside))

    def report(self, request: Request) -> Response:
        """Return the whole report, as `kgreason report --format html` writes it."""
        held = self.held(request)
        with held.snapshot.result(held.iri) as result:
            text = result.html(ledger=str(held.investigation.folder))
        return HTMLResponse(text, headers={"Content-Security-Policy": REPORT_POLICY})

    def watched(self, request: Request) -> Response:
        """Show what happened, and what happens while an investigation runs."""
        held = self.held(request)
        events = self.live.events(held.iri)
        return self.page(held, "live", "live", events=events)

    def stream(self, request: Request) -> Response:
        """Send what happens as server-sent events."""
        return self.live.response(request, self.held(request).iri)

    def said(self, request: Request) -> Response:
        """Send what is said, chunk by chunk, as server-sent events."""
        return self.live.chunks(request, self.held(request).iri)

    def query(self, request: Request) -> Response:
        """Offer the stored questions, and any query."""
        snapshot = self.snapshots.now()
        held = snapshot.investigations
        if not held:
            return filled("query", styled=True, tab="query", chosen=None, held=(), questions=())
        wanted = request.query_params.get("i")
        chosen = next((one for one in held if one.nonce == wanted), held[-1])
        return filled(
            "query",
            styled=True,
            tab="query",
            chosen=chosen,
            held=held,
            questions=snapshot.questions(chosen.listed.id),
        )


def _card(answer: Answer, name: str) -> Any:
    return next((one for one in answer.causes if one.cause.name == name), None)


def _iri(request: Request, default: str | None = None) -> str:
    """Return the node that a request asks about; refuses what is no IRI."""
    given = request.query_params.get("node", default)
    if given is None:
        raise Refusal(400, "Say which node: ?node=IRI.")
    try:
        return ox.NamedNode(given).value
    except ValueError as error:
        raise Refusal(400, f"{given[:200]}: this is no absolute IRI.") from error


PAGES: Final[Sequence[tuple[str, str]]] = (
    ("/", "front"),
    ("/query", "query"),
    ("/i/{nonce}", "answer"),
    ("/i/{nonce}/causes", "causes"),
    ("/i/{nonce}/causes/{name}", "cause"),
    ("/i/{nonce}/symptoms", "symptoms"),
    ("/i/{nonce}/symptoms/{number}", "symptom"),
    ("/i/{nonce}/hypotheses", "hypotheses"),
    ("/i/{nonce}/hypotheses/{number}", "hypothesis"),
    ("/i/{nonce}/evidence/{number}", "evidence"),
    ("/i/{nonce}/node", "node"),
    ("/i/{nonce}/provenance", "provenance"),
    ("/i/{nonce}/walk", "walked"),
    ("/i/{nonce}/report", "report"),
    ("/i/{nonce}/live", "watched"),
    ("/i/{nonce}/events", "stream"),
    ("/i/{nonce}/chunks", "said"),
)
"""The address of each page, and the method that makes it."""
