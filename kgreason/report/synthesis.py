"""What the parts of a divided question gave together, as data."""

from typing import Any

from kgreason.base.store import Row, Term
from kgreason.record import Record
from kgreason.record.fanning import expected_below


def synthesis(record: Record) -> dict[str, Any] | None:
    """Return what the last synthesis of an investigation says; None where there is none.

    Statuses are those of the whole correlation; `provisional` is what a part says itself.
    """
    rows = record.select("synthesis")
    if not rows:
        return None
    first = rows[0]
    return {
        "id": first["synthesis"].value,
        "correlation": first["correlation"].value,
        "partial": first["partial"].value in {"true", "1"},
        "statement": first["statement"].value,
        "family": int(first["family"].value),
        "threshold": _float(first.get("threshold")),
        "failing": _int(first.get("failing")),
        "explained": _int(first.get("explained")),
        "causes": _causes(rows),
        "parts": [
            {
                "investigation": one.session.value,
                "goal": one.goal,
                "fan_out": one.fan_out_number,
                "status": one.status or "open",
                "reason": one.reason,
                "given_out_again": one.missed,
                "parent": one.parent.value,
                "divided": one.divided,
            }
            for one in expected_below(record)
        ],
        "hypotheses": [
            {
                "id": row["hypothesis"].value,
                "investigation": row["session"].value,
                "provisional": row["before"].value,
                "status": row["after"].value,
                "e": float(row["e"].value),
            }
            for row in record.select("final-statuses")
        ],
    }


def _causes(rows: list[Row]) -> list[dict[str, Any]]:
    out: dict[str, dict[str, Any]] = {}
    for row in rows:
        if "place" in row:
            made = out.setdefault(
                row["place"].value,
                {
                    "statement": row["cause"].value,
                    "explains": _int(row.get("holds")),
                    "adds": _int(row.get("adds")),
                    "hypotheses": [],
                },
            )
            made["hypotheses"].append(row["hypothesis"].value)
    return list(out.values())


def _float(term: Term | None) -> float | None:
    return None if term is None else float(term.value)


def _int(term: Term | None) -> int | None:
    return None if term is None else int(term.value)
