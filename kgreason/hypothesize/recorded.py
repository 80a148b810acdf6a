"""Read the proposals of earlier rounds from the record, so that nothing is proposed twice."""

from collections.abc import Iterator
from dataclasses import replace

import pyoxigraph as ox

from kgreason.base.errors import RecordError
from kgreason.base.store import Row
from kgreason.base.templates import Fragment
from kgreason.context.context import Context, pattern, view_of
from kgreason.context.symptom import Symptom
from kgreason.context.view import View, members
from kgreason.hypothesize import bindings
from kgreason.hypothesize.candidates import Candidate, Key
from kgreason.hypothesize.outlines import PATTERNS, Outline
from kgreason.record.record import literal


def frames(context: Context, symptom: Symptom, round_: int) -> list[list[Row]]:
    """Return the frames of a round in order, each as the rows of its members."""
    rows = context.record.select("frames", symptom=symptom.node, round=literal(round_))
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row["frame"].value, []).append(row)
    return list(found.values())


def outline(row: Row) -> Outline:
    """Return the outline of a recorded hypothesis; raises RecordError if it has none."""
    if "kinds" not in row or "scheme" not in row:
        raise RecordError(
            f"{row['hypothesis'].value}: the record does not say what it is to be put to; "
            "start a new one with `kgreason investigate`."
        )
    return Outline(
        pattern(row["pattern"].value),
        tuple(row["kinds"].value.split()),
        row["scheme"].value,
        {name: pattern(row[name].value) for name in PATTERNS if name in row},
        silent=row["silent"].value == "true" if "silent" in row else True,
    )


def proposed(context: Context, symptom: Symptom, round_: int) -> list[Candidate]:
    """Return the candidates that a round proposed, except those of families that are gone."""
    view = view_of(context, symptom, round_)
    rows = [row for frame in frames(context, symptom, round_) for row in frame if "bindings" in row]
    return list(_made(view, rows))


def left_out(context: Context, symptom: Symptom, round_: int) -> list[Candidate]:
    """Return the candidates that a round left out, except those of families that are gone."""
    view = view_of(context, symptom, round_)
    rows = context.record.select("candidates", symptom=symptom.node, round=literal(round_))
    return list(_made(view, rows))


def _made(view: View, rows: list[Row]) -> Iterator[Candidate]:
    for row in rows:
        candidate = bindings.known(view, row["bindings"].value)
        if candidate is None:
            continue
        if "revises" in row:
            way = bindings.way(row["way"])
            candidate = replace(candidate, revises=row["revises"].value, way=way)
        yield candidate


def looked_at(context: Context, symptom: Symptom, before: int, view: View) -> set[tuple[str, int]]:
    """Return the aspect and the nodes of each proposal of earlier rounds on the same nodes."""
    everyone = view.marks.population.everyone
    return {
        (row["aspect"].value.rpartition("#")[2].lower(), members(view, region) & everyone)
        for earlier in range(1, before)
        if view_of(context, symptom, earlier).marks is view.marks
        for frame in frames(context, symptom, earlier)
        for row in frame
        for region in _region(row)
    }


def _region(row: Row) -> list[Fragment]:
    return [pattern(row["pattern"].value)] if "pattern" in row else []


def found_wanting(context: Context, symptom: Symptom, round_: int) -> frozenset[Key]:
    """Return the keys of earlier proposals that failed their tests; nothing yields to these."""
    rows = context.record.select("found-wanting", symptom=symptom.node, round=literal(round_))
    made = (
        bindings.known(view_of(context, symptom, int(row["proposed"].value)), row["bindings"].value)
        for row in rows
    )
    return frozenset(candidate.key for candidate in made if candidate is not None)


def hypothesis_of(row: Row) -> ox.NamedNode:
    """Return the hypothesis of a row."""
    return ox.NamedNode(row["hypothesis"].value)
