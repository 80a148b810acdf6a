"""What people say of hypotheses, taken from a form: the one thing that a page may write."""

from pathlib import Path
from urllib.parse import parse_qsl

from starlette.requests import Request

from kgreason.base.errors import KgreasonError, LedgerError
from kgreason.report.cells import clean
from kgreason.review.judge import judge
from kgreason.serve.protection import Token
from kgreason.serve.protocol import body
from kgreason.serve.refusal import Refusal, of_error

_FORM = "application/x-www-form-urlencoded"
_LONGEST = 16_384


async def sent(request: Request, token: Token) -> dict[str, str]:
    """Return the fields of a form that a page of this process sent; refuses any other."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != _FORM:
        raise Refusal(415, f"A verdict is sent as {_FORM}.")
    text = (await body(request, _LONGEST)).decode("utf-8", "replace")
    fields = dict(parse_qsl(text, keep_blank_values=True))
    token.check(request, fields.get("token", ""))
    return fields


def record(folder: Path, hypothesis: str, fields: dict[str, str]) -> None:
    """Append a verdict to the record of an investigation, as `kgreason verdict` does.

    Refuses a verdict that is neither right nor wrong or has no name, and one that cannot be
    written now.
    """
    said, person = fields.get("said", ""), clean(fields.get("by", ""))
    if said not in {"right", "wrong"}:
        raise Refusal(400, "Say whether the hypothesis is right or wrong.")
    if not person:
        raise Refusal(400, "Say who judges: a verdict has a name.")
    note = clean(fields.get("note", ""), _LONGEST)
    try:
        judge(folder, hypothesis, person, right=said == "right", note=note)
    except LedgerError as error:
        raise Refusal(409, str(error)) from error
    except KgreasonError as error:
        raise of_error(error) from error
