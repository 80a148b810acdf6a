"""A museum catalogue in which all is well: imports, makers, places, rooms, objects, loans."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, timedelta
from random import Random
from typing import NamedTuple

VOCABULARY, ITEMS = "https://example.org/museum/vocab#", "https://example.org/museum/"
OBJECTS, MAKERS, LOANS = 920, 190, 160
WITH_REMARK = 0.6  # of the descriptions
HARBOUR, CARDS = "harbour-bequest", "card-index"
# The four houses that merged, with the class of what each collected.
HOUSES = {"lantern": "Lamp", "loft": "Toy", "tide": "Instrument", "orchard": "Utensil"}


class Batch(NamedTuple):
    """An import: how long it ran, and how much of it came from which house."""

    first: date
    days: int
    shares: dict[str, int]


# Nearly every import runs beside another one and takes from several houses, so that neither a
# day nor a house is the same as an import.
IMPORTS = {
    CARDS: Batch(date(2008, 2, 4), 900, {"lantern": 40, "loft": 30, "tide": 35, "orchard": 35}),
    "lantern-ledger": Batch(date(2008, 9, 1), 1200, {"lantern": 120}),
    "loft-inventory": Batch(date(2009, 5, 11), 1500, {"loft": 130}),
    "tide-log": Batch(date(2010, 1, 18), 3400, {"tide": 70}),
    "orchard-books": Batch(date(2011, 3, 7), 1700, {"orchard": 120}),
    HARBOUR: Batch(date(2014, 6, 2), 1300, {"lantern": 10, "loft": 9, "tide": 64, "orchard": 9}),
    "gifts": Batch(date(2012, 1, 9), 4600, {"lantern": 32, "loft": 36, "tide": 30, "orchard": 34}),
    "purchases": Batch(
        date(2013, 8, 5), 4000, {"lantern": 30, "loft": 28, "tide": 32, "orchard": 26}
    ),
}
PLACES = (
    "Arvel:coast Bramsund:coast Corrie:coast Dunmore:hills Eskby:hills Fallow:plain Garth:plain "
    "Hollin:hills Inverley:coast Kelso-Mill:plain Lowick:plain Marram:coast Nethertown:hills "
    "Orbel:plain Penhallow:hills Quarne:coast Ravensey:coast Stell:hills Tarn:hills Ulby:plain"
)
STORES, DEPOTS, GALLERIES = 17, 4, 3
THINGS = {
    "Lamp": ("oil lamp", "miner's lamp", "storm lantern", "candle holder", "carriage lamp"),
    "Toy": ("spinning top", "rocking horse", "tin train", "marionette", "kite"),
    "Instrument": ("sextant", "tide gauge", "barometer", "ship's bell", "sounding line"),
    "Utensil": ("butter mould", "apple corer", "copper kettle", "bread stamp", "cider jug"),
}
FRENCH = {
    "oil lamp": "lampe à huile",
    "miner's lamp": "lampe de mineur",
    "storm lantern": "lanterne de tempête",
    "spinning top": "toupie",
    "kite": "cerf-volant",
    "sextant": "sextant",
    "barometer": "baromètre",
    "apple corer": "vide-pomme",
    "cider jug": "cruche à cidre",
}
MATERIALS = ("brass", "tin", "oak", "beech", "copper", "glass", "stoneware", "iron")
STATES = (
    "Well kept",
    "Worn at the rim",
    "Cracked and mended with wire",
    "Complete but for one screw",
    "Repainted at least twice",
    "Bent on one side",
)
USES = (
    "used in the kitchen of a large farm until the war",
    "carried on board of a coaster for thirty years",
    "made as a present for a child and never played with",
    "shown in the window of a shop in the high street",
    "found behind a wall when the old school was pulled down",
    "in daily use until the last owner moved away",
    "bought at a fair",
    "kept in a box of its own",
)
REMARKS = (
    "The handle is a later addition",
    "Two letters are scratched into the base",
    "The family still tells the story",
    "A twin of it is in a private house",
    "Its box has been lost",
    "No other of this kind is known",
)
BORROWERS = ("Arvel Town Hall", "School Museum Stell", "Lightship Trust", "Toy Fair", "Mill House")
COURIERS = ("Brand & Sons", "Own van", "Careful Carriers", "The borrower")
FORENAMES = ("Ada", "Bertil", "Clara", "Dora", "Edvin", "Frida", "Gil", "Hanna", "Ivar", "Jens")
SURNAMES = ("Askew", "Brook", "Crane", "Drey", "Elder", "Finch", "Gorse", "Heron", "Ibsley", "Jay")


class Iri(str):
    """An absolute IRI, to tell it from a text."""

    __slots__ = ()


class Literal(NamedTuple):
    """A literal as it is written: its text, and what follows it in Turtle (`@en`, `^^xsd:date`)."""

    text: str
    mark: str = ""


Value = Iri | Literal | int


@dataclass
class Node:
    """One thing of the graph: its class, the file that tells of it, its properties."""

    iri: Iri
    kind: str
    file: str
    values: dict[str, Value] = field(default_factory=dict)

    def text(self, name: str) -> str:
        """Give the text of a property that is known to be a literal."""
        value = self.values[name]
        if not isinstance(value, Literal):
            raise TypeError(f"{self.iri}: {name} is not a literal")
        return value.text


def item(kind: str, key: str) -> Iri:
    """Give the IRI of a thing: one namespace a class."""
    return Iri(f"{ITEMS}{kind}/{key}")


def day(when: date) -> Literal:
    """Give a date as a literal."""
    return Literal(when.isoformat(), "^^xsd:date")


class World:
    """The whole graph in memory, its nodes by IRI; the same seed gives the same world."""

    def __init__(self, seed: int) -> None:
        """Make a sound graph."""
        self.seed = seed
        self.nodes: dict[Iri, Node] = {}
        self._surroundings(self.random("surroundings"))
        self.objects = self._objects(self.random("objects"))
        self.loans = self._loans(self.random("loans"))

    def random(self, name: str) -> Random:
        """Give the random numbers of one concern, so that changing one leaves the others alone."""
        return Random(f"{self.seed}/{name}")

    def add(self, iri: Iri, kind: str, file: str, **values: Value) -> Node:
        """Put a node into the graph."""
        node = self.nodes[iri] = Node(iri, kind, file, values)
        return node

    def keys(self, kind: str) -> list[Iri]:
        """Give the IRIs of a class."""
        return [node.iri for node in self.nodes.values() if node.kind == kind]

    def _surroundings(self, rng: Random) -> None:
        for key, batch in IMPORTS.items():
            self.add(
                item("import", key),
                "prov:Activity",
                "imports",
                name=Literal(key.replace("-", " ").capitalize(), "@en"),
                startedAtTime=Literal(f"{batch.first}T08:00:00Z", "^^xsd:dateTime"),
                wasAssociatedWith=item("staff", rng.choice(("brook", "heron", "finch"))),
            )
        for place in PLACES.split():
            name, region = place.split(":")
            self.add(
                item("place", name.lower()),
                "Place",
                "places",
                name=Literal(name.replace("-", " ")),
                region=Literal(region),
            )
        rooms = ("Store",) * STORES + ("Depot",) * DEPOTS + ("Gallery",) * GALLERIES
        for number, kind in zip(rng.sample(range(100, 500), len(rooms)), rooms, strict=True):
            shelves = rng.randrange(8, 40)
            iri = item("room", f"r{number}")
            self.add(iri, kind, "rooms", floor=number // 100, shelves=shelves)
        for number in rng.sample(range(1000, 10000), MAKERS):
            self.add(
                item("maker", f"m{number}"),
                "Dealer" if number % 29 == 0 else "Maker",
                "makers",
                name=Literal(f"{rng.choice(FORENAMES)} {rng.choice(SURNAMES)}"),
                activeFrom=rng.randrange(1760, 1930),
                workedIn=rng.choice(self.keys("Place")),
            )

    def _objects(self, rng: Random) -> list[Node]:
        made = []
        makers, places, stores = (self.keys(kind) for kind in ("Maker", "Place", "Store"))
        numbers = iter(rng.sample(range(10000, 100000), OBJECTS))
        slots = [
            (key, house)
            for key, batch in IMPORTS.items()
            for house, count in batch.shares.items()
            for _ in range(count)
        ]
        for number, (key, house) in zip(numbers, slots, strict=True):
            batch = IMPORTS[key]
            catalogued = batch.first + timedelta(rng.randrange(batch.days))
            thing = rng.choice(THINGS[HOUSES[house]])
            material = rng.choice(MATERIALS)
            values: dict[str, Value] = {
                "title": _title(thing, material, rng),
                "description": Literal(_description(rng)),
                "acquiredOn": day(catalogued - timedelta(rng.randrange(20, 9000))),
                "cataloguedOn": day(catalogued),
                "foundIn": rng.choice(places),
                "maker": rng.choice(makers),
                "keptIn": rng.choice(stores),
                "height": rng.randrange(30, 900),
                "material": Literal(material),
                "creditLine": Literal(
                    f"{rng.choice(('Given', 'Bequeathed', 'Sold'))} by the family "
                    f"{rng.choice(SURNAMES)}"
                ),
                "photo": item("photo", f"p{number}"),
                "wasGeneratedBy": item("import", key),
            }
            node = Node(item("object", f"o{number}"), HOUSES[house], f"objects-{house}", values)
            self.nodes[node.iri] = node
            made.append(node)
        return made

    def _loans(self, rng: Random) -> list[Node]:
        made = []
        for number in rng.sample(range(1000, 10000), LOANS):
            first = date(2009, 1, 5) + timedelta(rng.randrange(6000))
            iri = item("loan", f"l{number}")
            loan = self.add(
                iri,
                "Loan",
                "loans",
                lent=rng.choice(self.objects).iri,
                borrower=Literal(rng.choice(BORROWERS)),
                **{"from": day(first), "until": day(first + timedelta(rng.randrange(14, 300)))},
                insuredFor=rng.randrange(2, 120) * 50,
            )
            made.append(loan)
        return made


def _title(thing: str, material: str, rng: Random) -> Literal:
    if thing in FRENCH and rng.random() < 1 / 3:
        return Literal(FRENCH[thing].capitalize(), "@fr")
    return Literal(f"{thing.capitalize()}, {material}", "@en")


def _description(rng: Random) -> str:
    parts = [f"{rng.choice(STATES)}; {rng.choice(USES)}."]
    if rng.random() < WITH_REMARK:
        parts.append(f"{rng.choice(REMARKS)}.")
    return " ".join(parts)
