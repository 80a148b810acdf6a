"""What a record joins: mechanisms with the origin of their failures, and with their pieces."""

from collections.abc import Sequence
from typing import Any, Final

from kgreason.base.figures import figure
from kgreason.base.store import Row

NEARLY: Final = figure("originShare")
_SHOWN: Final = ("id", "kind", "statement", "status", "region", "inside", "outside", "evidence")


_PIECES: Final = 3
"""How many pieces a sentence names."""
_ENDINGS: Final = {
    f" {verb}{often}.": what
    for verb, what in (("fail", "failures"), ("have the outcome", "nodes with the outcome"))
    for often in ("", " more often than others")
}


def sentence(
    mechanism: str,
    failing: int,
    origin: tuple[str, int] | None,
    pieces: Sequence[tuple[str, int]],
) -> str:
    """Return what a mechanism with so many failures is told as, given the statements of the parts.

    With the origin stands how many of these failures it holds, with each piece how many are its
    own; the pieces are sorted, and the first of them are named.
    """
    said = [_with_origin(mechanism.removesuffix("."), failing, origin)]
    named = [f"{n}: {text.removesuffix('.')}" for text, n in _sorted(pieces)[:_PIECES]]
    if named:
        said.append(f"Of these, {'; '.join(named)}.")
    return " ".join(said)


def _sorted(pieces: Sequence[tuple[str, int]]) -> list[tuple[str, int]]:
    return sorted(pieces, key=lambda piece: (-piece[1], piece[0]))


def _with_origin(body: str, failing: int, origin: tuple[str, int] | None) -> str:
    if origin is None:
        return f"{body}."
    text, shared = origin
    for ending, what in _ENDINGS.items():
        if text.endswith(ending):
            where = text.removesuffix(ending)
            where = f"{where[:1].lower()}{where[1:]}"
            many = (
                f"all {failing} of these" if shared == failing else f"{shared} of these {failing}"
            )
            return f"{body}; {many} {what} come from {where}."
    return f"{body}; of these {failing}, {shared} lie here: {text}"


def one_cause(findings: Sequence[Row]) -> dict[str, str]:
    """Return by the IRI of each origin that is one cause with a mechanism the IRI of that one.

    Nearly all failures of such an origin are those of the mechanism.
    """
    out: dict[str, str] = {}
    for row in findings:
        if "origin" in row and int(row["shared"].value) >= NEARLY * int(row["held"].value):
            out.setdefault(row["origin"].value, row["hypothesis"].value)
    return out


def with_origins(
    entries: Sequence[dict[str, Any]], findings: Sequence[Row]
) -> list[dict[str, Any]]:
    """Return the entries of hypotheses, each with its `origin`, `pieces` and `finding`."""
    known = {entry["id"]: entry for entry in entries}
    rows: dict[str, list[Row]] = {}
    for row in findings:
        rows.setdefault(row["hypothesis"].value, []).append(row)
    return [entry | _joined(rows.get(entry["id"], []), known) for entry in entries]


def _joined(rows: Sequence[Row], known: dict[str, dict[str, Any]]) -> dict[str, Any]:
    if not rows:
        return {"finding": None, "origin": None, "pieces": []}
    row = rows[0]
    entry = known.get(row["origin"].value) if "origin" in row else None
    origin = None
    if entry is not None:
        shared = {"failing": int(row["shared"].value), "population": int(row["failing"].value)}
        origin = {name: entry[name] for name in _SHOWN} | {"shared": shared}
    return {
        "finding": row["statement"].value,
        "origin": origin,
        "pieces": [each["piece"].value for each in rows if "piece" in each],
    }
