"""Which of several media types a client wants most (RFC 9110, section 12.5.1)."""

from collections.abc import Sequence


def best(accept: str, offered: Sequence[str]) -> str | None:
    """Return the offered type with the highest quality, the first of equal ones.

    An empty `accept` takes anything; None says that nothing that is offered is wanted.
    """
    ranges = [_range(part) for part in accept.split(",") if part.strip()]
    if not ranges:
        return offered[0]
    quality = {one: _quality(one, ranges) for one in offered}
    first = max(offered, key=lambda one: quality[one])
    return first if quality[first] > 0 else None


def _range(part: str) -> tuple[str, float]:
    kind, *parameters = (piece.strip().lower() for piece in part.split(";"))
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if name.strip() == "q":
            try:
                return kind, min(1.0, max(0.0, float(value)))
            except ValueError:
                return kind, 0.0
    return kind, 1.0


def _quality(offered: str, ranges: Sequence[tuple[str, float]]) -> float:
    """Return the quality by the range that says most of a type."""
    major = offered.partition("/")[0]
    for wanted in (offered, f"{major}/*", "*/*"):
        found = [quality for kind, quality in ranges if kind == wanted]
        if found:
            return max(found)
    return 0.0
