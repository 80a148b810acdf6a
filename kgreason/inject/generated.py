"""A graph of any size for measuring: orders of an invented mail-order house, in eight feeds."""

from collections.abc import Iterator
from datetime import date, timedelta
from random import Random
from typing import Final

import pyoxigraph as ox

from kgreason.base.terms import PREFIXES, RDFS, TYPE, XSD
from kgreason.inject.fault import draws

_EX: Final = "https://example.org/orders/"
_FEEDS: Final = ("north", "south", "east", "west", "web", "fax", "partner", "legacy")
_COUNTRIES: Final = ("AT", "BE", "CH", "DE", "DK", "ES", "FR", "IT", "NL", "PL", "PT", "SE")
_CHANNELS: Final = ("app", "desk", "phone", "post", "shop")
_GENERATED_BY: Final = ox.NamedNode(PREFIXES["prov"] + "wasGeneratedBy")
_ACTIVITY: Final = ox.NamedNode(PREFIXES["prov"] + "Activity")


def _term(name: str) -> ox.NamedNode:
    return ox.NamedNode(f"{_EX}vocab#{name}")


def _item(kind: str, number: int) -> ox.NamedNode:
    return ox.NamedNode(f"{_EX}{kind}/{number}")


def store(size: int) -> ox.Store:
    """Make a graph with `size` orders, always the same for a size."""
    made = ox.Store()
    made.extend(_quads(size))
    return made


def _quads(size: int) -> Iterator[ox.Quad]:
    rng = draws("orders", size)
    customers, products, imports = max(60, size // 12), max(40, size // 50), max(40, size // 80)
    master = _graph("master")
    for number in range(customers):
        yield from _customer(number, master, rng)
    for number in range(products):
        yield from _product(number, master, rng)
    for number in range(imports):
        graph = _graph(_feed_of(number))
        yield ox.Quad(_item("import", number), TYPE, _ACTIVITY, graph)
    by_feed = {f: [n for n in range(imports) if _feed_of(n) == f] for f in _FEEDS}
    for number in range(size):
        (feed,) = rng.choices(_FEEDS, weights=(9, 8, 6, 5, 5, 2, 4, 3))
        order = _item("order", number)
        batch = rng.choice(by_feed[feed])
        graph = _graph(feed)
        for name, value in _order(number, customers, products, rng):
            yield ox.Quad(order, _term(name), value, graph)
        yield ox.Quad(order, TYPE, _term("Order"), graph)
        yield ox.Quad(order, _GENERATED_BY, _item("import", batch), graph)


def _graph(feed: str) -> ox.NamedNode:
    return ox.NamedNode(f"urn:src:{feed}.ttl")


def _feed_of(number: int) -> str:
    return _FEEDS[number % len(_FEEDS)]


def _customer(number: int, graph: ox.NamedNode, rng: Random) -> Iterator[ox.Quad]:
    node = _item("customer", number)
    (country,) = rng.choices(_COUNTRIES, weights=range(len(_COUNTRIES), 0, -1))
    yield ox.Quad(node, TYPE, _term("Customer"), graph)
    yield ox.Quad(node, _term("country"), ox.Literal(country), graph)
    yield ox.Quad(node, RDFS.label, ox.Literal(f"Customer {number}", language="en"), graph)
    yield ox.Quad(node, _term("segment"), ox.Literal(rng.choice(("A", "B", "C"))), graph)


def _product(number: int, graph: ox.NamedNode, rng: Random) -> Iterator[ox.Quad]:
    node = _item("product", number)
    yield ox.Quad(node, TYPE, _term("Product"), graph)
    yield ox.Quad(node, RDFS.label, ox.Literal(f"Product {number}", language="en"), graph)
    yield ox.Quad(node, _term("family"), ox.Literal(f"family {rng.randrange(9)}"), graph)


def _order(
    number: int, customers: int, products: int, rng: Random
) -> Iterator[tuple[str, ox.NamedNode | ox.Literal]]:
    placed = date(2023, 1, 1) + timedelta(days=rng.randrange(1000))
    shipped = placed + timedelta(days=rng.randrange(1, 12))
    yield "orderNumber", ox.Literal(f"{rng.choice('KLM')}-{number:07d}")
    yield "customer", _item("customer", int(customers * rng.random() ** 1.5))
    yield "product", _item("product", int(products * rng.random() ** 1.5))
    yield "placedOn", _day(placed)
    yield "shippedOn", _day(shipped)
    yield "channel", ox.Literal(rng.choices(_CHANNELS, weights=(6, 2, 3, 1, 4))[0])
    yield "priority", ox.Literal(rng.choices((1, 2, 3), weights=(1, 3, 9))[0])
    yield "amount", _decimal(f"{rng.lognormvariate(4, 1):.2f}")
    yield "weight", _decimal(f"{rng.uniform(0.1, 40):.1f}")
    yield "depot", _item("depot", int(30 * rng.random() ** 2))
    yield "note", ox.Literal(f"Leave at door {rng.randrange(1, 400)}", language="en")
    yield "contact", ox.Literal(f"c{rng.randrange(10**6)}@example.org")


def _day(day: date) -> ox.Literal:
    return ox.Literal(day.isoformat(), datatype=XSD.date)


def _decimal(text: str) -> ox.Literal:
    return ox.Literal(text, datatype=XSD.decimal)
