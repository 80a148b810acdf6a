"""The pages for which the data are read again: all nodes of a cause, why a node fails, compare."""

import csv
import io
from collections.abc import Sequence
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response

from kgreason.api import OpenLedger, compare
from kgreason.base.errors import KgreasonError
from kgreason.base.locks import Lock
from kgreason.report.focus_nodes import FocusNodes
from kgreason.serve.explorer import Explorer, Held
from kgreason.serve.pages import filled
from kgreason.serve.refusal import Refusal, of_error

_SHOWN: Final = 500
_HEADS: Final = ("node", "fails", "field", "value", "source", "rule")


class FromData:
    """Answers the requests for pages that need the data; one at a time, since that takes memory."""

    def __init__(self, explorer: Explorer) -> None:
        self.explorer = explorer
        self._turn = Lock()

    def nodes(self, request: Request) -> Response:
        """List the nodes of a cause: those that are cited, or with ?data=1 all of them."""
        held = self.explorer.held(request)
        name = request.path_params["name"]
        found = self._found(held, name, whole="data" in request.query_params)
        rows = found.rows()
        return self.explorer.page(
            held,
            "nodes",
            "causes",
            name=name,
            found=found,
            heads=_HEADS,
            rows=rows[:_SHOWN],
            more=max(0, len(rows) - _SHOWN),
            asked="data" in request.query_params,
        )

    def table(self, request: Request) -> Response:
        """Return all nodes of a cause as CSV, as `kgreason nodes` does."""
        held = self.explorer.held(request)
        rows = self._found(held, request.path_params["name"], whole=True).rows()
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(_HEADS)
        writer.writerows([_cell(row[head]) for head in _HEADS] for row in rows)
        name = f"{held.investigation.name}-{request.path_params['name']}.csv"
        headers = {"Content-Disposition": f'attachment; filename="{name}"'}
        return Response(out.getvalue(), media_type="text/csv", headers=headers)

    def _found(self, held: Held, name: str, *, whole: bool) -> FocusNodes:
        try:
            if not whole:
                with held.snapshot.result(held.iri) as result:
                    return result.nodes(result.cause(name))
            with self._turn:
                return OpenLedger(held.investigation.folder).nodes(name, held.iri)
        except KgreasonError as error:
            raise of_error(error) from error

    def why(self, request: Request) -> Response:
        """Return why a node fails, as `kgreason why` has it; without a node ask for one."""
        held = self.explorer.held(request)
        node = request.query_params.get("node", "").strip()
        if not node:
            return self.explorer.page(held, "why", "nodes", node="", found=None)
        try:
            with self._turn:
                found = OpenLedger(held.investigation.folder).why(node, held.iri)
        except KgreasonError as error:
            raise of_error(error) from error
        return self.explorer.page(held, "why", "nodes", node=node, found=found)

    def compare(self, request: Request) -> Response:
        """Compare two investigations by what their causes say, with ?data=1 by their nodes too."""
        snapshot = self.explorer.snapshots.now()
        names = [request.query_params.get(side, "") for side in ("before", "after")]
        values: dict[str, Any] = {
            "held": snapshot.investigations,
            "before": names[0],
            "after": names[1],
        }
        if not all(names):
            return filled("compare", tab="compare", found=None, **values)
        try:
            old, new = (snapshot.investigation(name) for name in names)
        except KgreasonError as error:
            raise Refusal(404, of_error(error).sentence) from error
        before = snapshot.told(old.listed.id)
        if "data" in request.query_params:
            with self._turn:
                found = compare(before, new.listed.id, ledger=new.folder)
        else:
            found = compare(before, snapshot.told(new.listed.id))
        return filled("compare", tab="compare", found=found, old=old, new=new, **values)


def _cell(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)


PAGES: Final[Sequence[tuple[str, str]]] = (
    ("/compare", "compare"),
    ("/i/{nonce}/nodes/{name}", "nodes"),
    ("/i/{nonce}/nodes/{name}/csv", "table"),
    ("/i/{nonce}/why", "why"),
)
"""The address of each page, and the method that makes it."""
