"""What is refused, or cannot be done: a status of HTTP and one sentence."""

from typing import Final

from kgreason.base.errors import (
    InputError,
    KgreasonError,
    LedgerError,
    RowsExceeded,
    ServiceError,
    TimeoutExceeded,
)

_STATUSES: Final[tuple[tuple[type[KgreasonError], int], ...]] = (
    (ServiceError, 403),
    (RowsExceeded, 403),
    (TimeoutExceeded, 503),
    (LedgerError, 503),
    (InputError, 400),
)


class Refusal(Exception):  # noqa: N818 - it says what is done, and is no fault of ours
    """Ends a request with a status of HTTP and a sentence."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status
        self.sentence = sentence


def of_error(error: KgreasonError) -> Refusal:
    """Return the refusal that an error comes to: its first line, and the status of its kind."""
    status = next((code for kind, code in _STATUSES if isinstance(error, kind)), 500)
    return Refusal(status, str(error).strip().partition("\n")[0])
