"""A deep graph of any size: results of an invented measuring network, with what lies behind them.

From a result lead sensor, model and maker; sensor, site and region; run, agent and organisation;
document and what else is in it; and, against the arrow, the reports that cite it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from random import Random
from typing import Final

import pyoxigraph as ox

from kgreason.base.store import Term
from kgreason.base.terms import PREFIXES, RDFS, TYPE, XSD
from kgreason.inject.fault import draws

_NET: Final = "https://example.org/network/"
_FIRST: Final = date(2022, 1, 1)
_SPAN: Final = 1200
_MASTER: Final = ox.NamedNode("urn:src:master.ttl")
_GENERATED_BY: Final = ox.NamedNode(PREFIXES["prov"] + "wasGeneratedBy")
_ASSOCIATED: Final = ox.NamedNode(PREFIXES["prov"] + "wasAssociatedWith")
_ON_BEHALF: Final = ox.NamedNode(PREFIXES["prov"] + "actedOnBehalfOf")
_ACTIVITY: Final = ox.NamedNode(PREFIXES["prov"] + "Activity")
_STARTED: Final = ox.NamedNode(PREFIXES["prov"] + "startedAtTime")
_LETTERS: Final = ("NRT", "KAV", "OST", "BEL", "HUM", "ZIR", "LOP", "DAW")
_KINDS: Final = ("nitrate", "ozone", "level", "flow", "turbidity", "chloride")
_SIGNS: Final = ("sunny", "windy", "rain at noon", "foggy", "calm", "ice on the river")
_PLACES: Final = ("pier", "weir", "bridge", "tower", "field", "quay", "roof")


@dataclass(frozen=True)
class _Sizes:
    """How many there are of each thing."""

    results: int

    @property
    def sensors(self) -> int:
        return min(180, max(40, self.results // 25))

    @property
    def runs(self) -> int:
        return min(190, max(40, self.results // 30))

    @property
    def documents(self) -> int:
        return min(150, max(30, self.results // 40))

    @property
    def reports(self) -> int:
        return min(120, max(30, self.results // 30))

    sites = 36
    models = 18
    makers = 7
    regions = 12
    agents = 14
    organisations = 6


def store(size: int) -> ox.Store:
    """Make a graph with `size` results, always the same for a size."""
    made = ox.Store()
    rng = draws("network", size)
    sizes = _Sizes(size)
    made.extend(_things(sizes, rng))
    made.extend(_results(sizes, rng))
    return made


def _term(name: str) -> ox.NamedNode:
    return ox.NamedNode(f"{_NET}vocab#{name}")


def _item(kind: str, number: int) -> ox.NamedNode:
    return ox.NamedNode(f"{_NET}{kind}/{number}")


def _day(number: int) -> ox.Literal:
    return ox.Literal((_FIRST + timedelta(days=number)).isoformat(), datatype=XSD.date)


def _time(number: int, rng: Random) -> ox.Literal:
    day = (_FIRST + timedelta(days=number)).isoformat()
    text = f"{day}T{rng.randrange(24):02}:{rng.randrange(60):02}:00Z"
    return ox.Literal(text, datatype=XSD.dateTime)


def _decimal(text: str) -> ox.Literal:
    return ox.Literal(text, datatype=XSD.decimal)


def _skewed(many: int, rng: Random) -> int:
    """Return one of `many`, the first ones oftener."""
    return int(many * rng.random() ** 1.4)


def _about(node: ox.NamedNode, *said: tuple[ox.NamedNode | str, Term]) -> Iterator[ox.Quad]:
    for name, value in said:
        yield ox.Quad(node, _term(name) if isinstance(name, str) else name, value, _MASTER)


def _things(sizes: _Sizes, rng: Random) -> Iterator[ox.Quad]:
    yield from _where(sizes, rng)
    yield from _made(sizes, rng)
    yield from _done(sizes, rng)


def _where(sizes: _Sizes, rng: Random) -> Iterator[ox.Quad]:
    for number in range(sizes.regions):
        node = _item("region", number)
        yield from _about(
            node,
            (TYPE, _term("Region")),
            (RDFS.label, ox.Literal(f"Region {number}", language="en")),
            ("climate", ox.Literal(rng.choice(("alpine", "coastal", "inland", "marsh")))),
        )
    for number in range(sizes.sites):
        node = _item("site", number)
        yield from _about(
            node,
            (TYPE, _term("Site")),
            (RDFS.label, ox.Literal(f"{rng.choice(_PLACES)} {number}", language="en")),
            ("region", _item("region", number % sizes.regions)),
            ("altitude", ox.Literal(rng.randrange(0, 2400))),
            ("operator", _item("organisation", rng.randrange(sizes.organisations))),
            ("openedOn", _day(-rng.randrange(200, 4000))),
        )


def _made(sizes: _Sizes, rng: Random) -> Iterator[ox.Quad]:
    for number in range(sizes.makers):
        country = ox.Literal(rng.choice(("AT", "CH", "DK", "FI", "JP")))
        yield from _about(_item("maker", number), (TYPE, _term("Maker")), ("basedIn", country))
    for number in range(sizes.models):
        yield from _about(
            _item("model", number),
            (TYPE, _term("Model")),
            (RDFS.label, ox.Literal(f"{rng.choice('KLMX')}{rng.randrange(100, 999)}")),
            ("maker", _item("maker", number % sizes.makers)),
            ("voltage", ox.Literal(rng.choice((5, 12, 24, 48)))),
            ("principle", ox.Literal(rng.choice(("optical", "electric", "acoustic")))),
        )
    for number in range(sizes.sensors):
        yield from _about(
            _item("sensor", number),
            (TYPE, _term("Sensor")),
            ("model", _item("model", _skewed(sizes.models, rng))),
            ("site", _item("site", number % sizes.sites)),
            ("installedOn", _day(-rng.randrange(1500))),
            ("depth", _decimal(f"{rng.uniform(0, 30):.1f}")),
            ("firmware", ox.Literal(f"{rng.randrange(1, 5)}.{rng.randrange(4)}")),
        )


def _done(sizes: _Sizes, rng: Random) -> Iterator[ox.Quad]:
    for number in range(sizes.organisations):
        node = _item("organisation", number)
        name = ox.Literal(f"Organisation {number}", language="en")
        yield from _about(node, (TYPE, _term("Organisation")), (RDFS.label, name))
    for number in range(sizes.agents):
        yield from _about(
            _item("agent", number),
            (TYPE, _term("Importer")),
            (_ON_BEHALF, _item("organisation", number % sizes.organisations)),
            ("release", ox.Literal(f"{rng.randrange(2, 6)}.{rng.randrange(3)}")),
        )
    for number in range(sizes.runs):
        yield from _about(
            _item("run", number),
            (TYPE, _ACTIVITY),
            (_ASSOCIATED, _item("agent", _skewed(sizes.agents, rng))),
            (_STARTED, _time(_started(number, sizes), rng)),
            ("mode", ox.Literal(rng.choice(("full", "update", "update")))),
        )


def _started(run: int, sizes: _Sizes) -> int:
    return run * _SPAN // sizes.runs


def _results(sizes: _Sizes, rng: Random) -> Iterator[ox.Quad]:
    cited: list[list[Term]] = [[] for _ in range(sizes.reports)]
    for number in range(sizes.results):
        run, document = rng.randrange(sizes.runs), _skewed(sizes.documents, rng)
        label = f"{rng.choice(_LETTERS)}-{rng.randrange(20, 60)}-{number:05}"
        node = ox.NamedNode(f"{_NET}result/{label}")
        graph = _document(document)
        yield ox.Quad(node, TYPE, _term("Result"), graph)
        yield ox.Quad(node, _GENERATED_BY, _item("run", run), graph)
        for name, value in _result(_started(run, sizes), sizes, rng):
            yield ox.Quad(node, _term(name), value, graph)
        cited[_skewed(sizes.reports, rng)].append(node)
    for number, nodes in enumerate(cited):
        report = _item("report", number)
        topic = ox.Literal(rng.choice(("health", "navigation", "planning", "research")))
        yield from _about(report, (TYPE, _term("Report")), ("topic", topic))
        yield from _about(report, *(("cites", node) for node in nodes))
    yield from _papers(sizes, rng)


def _document(number: int) -> ox.NamedNode:
    return ox.NamedNode(f"urn:src:upload-{number:03}.ttl")


def _papers(sizes: _Sizes, rng: Random) -> Iterator[ox.Quad]:
    """Return what else is in a document: nearly always a manifest, often a licence."""
    for number in range(sizes.documents):
        graph = _document(number)
        for name, share in (("Manifest", 0.8), ("Licence", 0.6), ("Checksum", 0.9)):
            if rng.random() < share:
                node = _item(name.lower(), number)
                yield ox.Quad(node, TYPE, _term(name), graph)
                yield ox.Quad(node, RDFS.label, ox.Literal(f"{name} {number}"), graph)


def _result(begun: int, sizes: _Sizes, rng: Random) -> Sequence[tuple[str, Term]]:
    bottle = f"{rng.choice('ABCDE')}{rng.randrange(1, 4)}/{rng.randrange(1000):03}"
    told = f"{rng.choice(_SIGNS)}, {rng.choice(_PLACES)} {rng.randrange(50)}"
    return (
        ("number", _decimal(f"{rng.lognormvariate(3, 0.4):.2f}")),
        ("quantity", _term(rng.choice(_KINDS))),
        ("sensor", _item("sensor", _skewed(sizes.sensors, rng))),
        ("takenOn", _day(begun - rng.randrange(60))),
        ("checkedOn", _day(begun + rng.randrange(1, 20))),
        ("bottle", ox.Literal(bottle)),
        ("state", ox.Literal(rng.choices(("checked", "raw", "estimated"), weights=(6, 4, 1))[0])),
        ("shift", ox.Literal(rng.choices(("day", "night"), weights=(6, 4))[0])),
        ("basis", ox.Literal(rng.choices(("mean", "spot"), weights=(5, 5))[0])),
        ("count", ox.Literal(rng.randrange(1, 400))),
        ("temperature", _decimal(f"{rng.gauss(11, 6):.1f}")),
        ("remark", ox.Literal(told, language="en")),
        ("contact", ox.Literal(f"m{rng.randrange(10**5)}@example.org")),
    )
