"""A small world of readings with marks one, two and three steps away, and faults sown into it.

Every fault takes the unit from most readings of a region and from a few others; the rule asks for
the unit. Where nothing is planted, readings lose it at random, or clusters at rates of their own.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path
from random import Random

import pyoxigraph as ox

from kgreason.base.terms import PREFIXES, RDFS, TYPE, XSD
from kgreason.context.view import View
from kgreason.graph import load
from kgreason.graph.graph import Graph
from kgreason.graph.marks import Population
from kgreason.hypothesize.conditions.views import view_of
from kgreason.observe.look import look
from kgreason.observe.request import request_of

EX = "https://example.org/"
SHAPES = f"""@prefix sh: <{PREFIXES["sh"]}> . @prefix ex: <{EX}> .
ex:shape a sh:NodeShape ; sh:targetClass ex:Reading ;
  sh:property [ sh:path ex:unit ; sh:minCount 1 ] .
"""
PROV = PREFIXES["prov"]
BASE, RATE = 0.02, 0.9
REGIONS, SITES, SENSORS, RUNS, AGENTS, FILES = 6, 30, 90, 60, 6, 50


def ex(name: str) -> ox.NamedNode:
    return ox.NamedNode(EX + name)


@dataclass
class Reading:
    """One reading with all that is said of it."""

    number: int
    sensor: int
    run: int
    file: int
    day: date
    level: float
    channel: str
    note: str
    link: str
    iri: str
    tags: tuple[str, ...]
    cleared: bool = False


@dataclass
class World:
    """The readings, and of each cluster what it is like."""

    readings: list[Reading]
    site_of: list[int]
    region_of: list[int]
    agent_of: list[int]
    maker_of: list[str]
    calibrated: list[bool]
    depth: list[float] = field(default_factory=list)


Fault = Callable[[World, Reading], bool]


def world(seed: int, size: int = 1500) -> World:
    rng = Random(seed)
    made = World(
        [],
        [s % SITES for s in range(SENSORS)],
        [s % REGIONS for s in range(SITES)],
        [rng.randrange(AGENTS) for _ in range(RUNS)],
        [rng.choice(("acme", "brio", "cito")) for _ in range(SENSORS)],
        [f % 5 != 0 for f in range(FILES)],
        [round(rng.uniform(1, 90), 1) for _ in range(SITES)],
    )
    for number in range(size):
        run = rng.randrange(RUNS)
        note = f"{rng.choice(('calm', 'windy', 'wet', 'dry'))} day {rng.randrange(900)}"
        link = rng.choice(("http", "http", "https")) + "://reg.example/" + str(rng.randrange(10**5))
        made.readings.append(
            Reading(
                number,
                rng.randrange(SENSORS),
                run,
                rng.randrange(FILES),
                date(2024, 1, 1) + timedelta(days=rng.randrange(400)),
                round(rng.gauss(50, 20), 2),
                rng.choice("ABCD"),
                note,
                link,
                f"reading/{rng.choice(('k', 'm'))}/{number:05d}",
                tuple(rng.sample(("raw", "manual", "night", "retry"), rng.choice((0, 1, 1, 2, 3)))),
            )
        )
    return made


def quads(made: World) -> Iterator[ox.Quad]:
    yield from _things(made)
    for reading in made.readings:
        node, graph = ex(reading.iri), ox.NamedNode(f"urn:src:file{reading.file:02d}.ttl")
        say: Mapping[str, ox.NamedNode | ox.Literal] = {
            "sensor": ex(f"sensor/{reading.sensor}"),
            "on": ox.Literal(reading.day.isoformat(), datatype=XSD.date),
            "level": ox.Literal(str(reading.level), datatype=XSD.decimal),
            "channel": ox.Literal(reading.channel),
            "note": ox.Literal(reading.note),
            "link": ox.NamedNode(reading.link),
        }
        yield ox.Quad(node, TYPE, ex("Reading"), graph)
        for name, value in say.items():
            yield ox.Quad(node, ex(name), value, graph)
        for tag in reading.tags:
            yield ox.Quad(node, ex("tag"), ox.Literal(tag), graph)
        if not reading.cleared:
            yield ox.Quad(node, ex("unit"), ex("metre"), graph)
        made_by = ox.NamedNode(PROV + "wasGeneratedBy")
        yield ox.Quad(node, made_by, ex(f"run/{reading.run}"), graph)


def _things(made: World) -> Iterator[ox.Quad]:
    graph = ox.NamedNode("urn:src:master.ttl")
    for sensor, site in enumerate(made.site_of):
        node = ex(f"sensor/{sensor}")
        yield ox.Quad(node, ex("site"), ex(f"site/{site}"), graph)
        yield ox.Quad(node, ex("maker"), ox.Literal(made.maker_of[sensor]), graph)
    for site, region in enumerate(made.region_of):
        node = ex(f"site/{site}")
        yield ox.Quad(node, ex("region"), ex(f"region/{region}"), graph)
        depth = ox.Literal(str(made.depth[site]), datatype=XSD.decimal)
        yield ox.Quad(node, ex("depth"), depth, graph)
        label = ox.Literal(f"{'Upper' if site % 4 == 1 else 'Lower'} mill {site}")
        yield ox.Quad(node, RDFS.label, label, graph)
    for run, agent in enumerate(made.agent_of):
        node = ex(f"run/{run}")
        yield ox.Quad(node, ox.NamedNode(PROV + "wasAssociatedWith"), ex(f"agent/{agent}"), graph)
    for file, calibrated in enumerate(made.calibrated):
        here = ox.NamedNode(f"urn:src:file{file:02d}.ttl")
        header = ex(f"header/{file}")
        yield ox.Quad(header, TYPE, ex("Header"), here)
        yield ox.Quad(header, ex("version"), ox.Literal(f"v{file % 3}"), here)
        if calibrated:
            yield ox.Quad(ex(f"calibration/{file}"), TYPE, ex("Calibration"), here)


def strike(made: World, fault: Fault, seed: int, rate: float = RATE, base: float = BASE) -> None:
    rng = Random(f"{seed}:strike")
    for reading in made.readings:
        reading.cleared = rng.random() < (rate if fault(made, reading) else base)


def view(made: World, folder: Path) -> View:
    """Write the world to a file and look at it as anyone would."""
    data, shapes = folder / "data.nq", folder / "shapes.ttl"
    text = ox.serialize(quads(made), format=ox.RdfFormat.N_QUADS)
    assert text is not None
    data.write_bytes(text)
    shapes.write_text(SHAPES, encoding="utf-8")
    return look_at(load([data]), [str(data)], str(shapes))


def look_at(graph: Graph, data: list[str], shapes: str) -> View:
    (seen,) = look(graph, request_of(data, shapes=shapes)).failing
    return view_of(graph, seen.constraint, seen.observation.failing, dict[str, Population]())


def truth(made: World, fault: Fault, looked: View) -> int:
    """Return the nodes of a region, as the view has them."""
    nodes = (ex(r.iri) for r in made.readings if fault(made, r))
    return looked.marks.population.mask(nodes)
