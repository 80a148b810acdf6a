"""What comes of the papers (open, cited, retracted), and the factors that were planted in it."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import date, timedelta
from random import Random
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:  # a type checker starts at the top of the project, the script in this folder
    from examples.academic.world import (
        LAST,
        MANDATE_FUNDER,
        PROXY_INSTITUTION,
        Iri,
        Node,
        World,
        item,
    )
else:
    from world import LAST, MANDATE_FUNDER, PROXY_INSTITUTION, Iri, Node, World, item

MANDATE_FROM, CITED_UNTIL, OFTEN = date(2022, 3, 1), date(2021, 1, 1), 12
OPEN_VENUE, OPEN_FIELD, CITED_PUBLISHER = "open-letters", "astronomy", "meridian"

Inside = Callable[[World, Node], bool]


class Factor(NamedTuple):
    """Something that goes with an outcome: planted, or (a proxy) going along with what was."""

    name: str
    kind: str
    cause: str
    region: str
    query: str
    inside: Inside
    rate: float = 0
    """The share it lifts the outcome to; of citations, by how many times it lifts their number."""


class Question(NamedTuple):
    """An outcome query of the folder with what is true of it."""

    name: str
    at: int | None
    rate: float
    """The share of the outcome where no factor is; of citations, their mean number."""
    population: Inside
    outcome: Inside
    factors: tuple[Factor, ...] = ()
    proxies: tuple[Factor, ...] = ()
    asked: str = "?focus ex:title ?title ."
    """The population as a SPARQL pattern."""


def _is(name: str, kind: str, key: str) -> Inside:
    return lambda _world, paper: paper.has(name, item(kind, key))


def _mandated(_world: World, paper: Node) -> bool:
    return paper.has("fundedBy", item("funder", MANDATE_FUNDER)) and paper.day() >= MANDATE_FROM


def _on_open_field(world: World, paper: Node) -> bool:
    topic = world.nodes[Iri(str(paper.one("field")))]
    subfield = world.nodes[Iri(str(topic.one("broader")))]
    return subfield.has("broader", item("field", OPEN_FIELD))


def _published_by(world: World, paper: Node) -> bool:
    venue = world.nodes[Iri(str(paper.one("venue")))]
    return venue.has("publisher", item("publisher", CITED_PUBLISHER))


def _cited(world: World, paper: Node) -> bool:
    return sum(other.has("cites", paper.iri) for other in world.papers) >= OFTEN


SINCE = f'FILTER(?day >= "{MANDATE_FROM}"^^xsd:date)'
OPEN = Question(
    name="open-access",
    at=None,
    rate=0.24,
    population=lambda _world, _paper: True,
    outcome=lambda _world, paper: paper.has("openAccess", value=True),
    factors=(
        Factor(
            "mandate",
            "cohort",
            "Since the day of its mandate the funder pays only for papers that are open.",
            f"papers funded by {MANDATE_FUNDER} and published on {MANDATE_FROM} or later",
            f"?focus ex:fundedBy <{item('funder', MANDATE_FUNDER)}> ; ex:publishedOn ?day {SINCE}",
            _mandated,
            0.92,
        ),
        Factor(
            "field",
            "cohort",
            "Astronomers put their papers on a server for all, whatever the topic and the venue.",
            f"papers whose field is narrower than {OPEN_FIELD}",
            f"?focus ex:field/skos:broader+ <{item('field', OPEN_FIELD)}>",
            _on_open_field,
            0.76,
        ),
        Factor(
            "venue",
            "cohort",
            "The venue is open as a whole.",
            f"papers in {OPEN_VENUE}",
            f"?focus ex:venue <{item('venue', OPEN_VENUE)}>",
            _is("venue", "venue", OPEN_VENUE),
            0.94,
        ),
    ),
    proxies=(
        Factor(
            "university",
            "cohort",
            "Half of what the funder pays for is written there; nothing else sets it apart.",
            f"papers from {PROXY_INSTITUTION}",
            f"?focus ex:institution <{item('institution', PROXY_INSTITUTION)}>",
            _is("institution", "institution", PROXY_INSTITUTION),
        ),
    ),
)
CITED = Question(
    name="often-cited",
    asked=f'?focus ex:publishedOn ?date FILTER(?date < "{CITED_UNTIL}"^^xsd:date)',
    at=OFTEN,
    rate=4,
    population=lambda _world, paper: paper.day() < CITED_UNTIL,
    outcome=_cited,
    factors=(
        Factor(
            "reviews",
            "cohort",
            "Reviews are cited in place of what they review.",
            "reviews",
            "?focus a ex:Review",
            lambda _world, paper: paper.kind == "Review",
            3.4,
        ),
        Factor(
            "publisher",
            "cohort",
            "The publisher's venues are read more than others.",
            f"papers in a venue of the publisher {CITED_PUBLISHER}",
            f"?focus ex:venue/ex:publisher <{item('publisher', CITED_PUBLISHER)}>",
            _published_by,
            2.8,
        ),
    ),
)
RETRACTED = Question(
    name="retracted",
    at=None,
    rate=0.04,
    population=lambda _world, _paper: True,
    outcome=lambda _world, paper: "retractedOn" in paper.values,
)
QUESTIONS = (OPEN, CITED, RETRACTED)


def plant(world: World) -> None:
    """Decide what becomes of each paper; every concern draws from random numbers of its own."""
    _open(world, world.random("open access"))
    _cite(world, world.random("citations"))
    _retract(world, world.random("retractions"))


def _open(world: World, rng: Random) -> None:
    """Decide for each paper whether it is open; the strongest reason that holds decides."""
    for paper in world.papers:
        reasons = [f.rate for f in OPEN.factors if f.inside(world, paper)]
        paper.values["openAccess"] = [rng.random() < max(reasons, default=OPEN.rate)]


def _cite(world: World, rng: Random) -> None:
    """Draw how often each paper is cited, and by which of those of the next five years."""
    by_day = sorted(world.papers, key=lambda paper: (paper.day(), paper.iri))
    for cited in by_day:
        start, end = cited.day() + timedelta(60), cited.day() + timedelta(5 * 365)
        later = [paper for paper in by_day if start <= paper.day() <= end]
        mean = CITED.rate * rng.choice((0.4, 0.7, 1, 1, 1.4, 1.8))
        for factor in CITED.factors:
            mean *= factor.rate if factor.inside(world, cited) else 1
        # What is recent has had less time: only the part of the five years that has passed.
        mean *= min(1, max(0, (LAST - start).days / (end - start).days))
        for citing in rng.sample(later, min(_poisson(rng, mean), len(later))):
            citing.values.setdefault("cites", []).append(cited.iri)


def _retract(world: World, rng: Random) -> None:
    for paper in world.papers:
        if rng.random() < RETRACTED.rate:
            paper.values["retractedOn"] = [paper.day() + timedelta(rng.randrange(90, 900))]


def _poisson(rng: Random, mean: float) -> int:
    """Draw from a Poisson distribution by multiplying uniform draws (Knuth)."""
    bound, left, drawn = math.exp(-mean), rng.random(), 0
    while left > bound:
        left, drawn = left * rng.random(), drawn + 1
    return drawn
