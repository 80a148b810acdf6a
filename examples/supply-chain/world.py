"""A sound supply chain: seven regional ERP systems and the master data, before any fault."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, timedelta
from decimal import Decimal
from random import Random
from typing import NamedTuple

VOCABULARY = "https://example.org/supply/vocab#"
REGISTRY = "https://registry.example.net/certificate/"
MASTER = "master-data"
FIRST_ORDER, LAST_ORDER = date(2025, 1, 6), date(2026, 8, 31)
SUPPLIERS, PARTS, ORDER_LINES, SHIPMENTS = 140, 620, 1120, 2200


class Iri(str):
    """An absolute IRI, to tell it from a plain string."""

    __slots__ = ()


class Label(str):
    """A text in English."""

    __slots__ = ()


Value = Iri | Label | str | bool | int | Decimal | date


@dataclass
class Node:
    """One thing of the graph: its class (local name), the feed that tells of it, its properties."""

    iri: Iri
    kind: str
    feed: str
    values: dict[str, list[Value]] = field(default_factory=dict)

    def one(self, name: str) -> Value:
        """Give the first value of a property that is known to be there."""
        return self.values[name][0]

    def day(self, name: str) -> date:
        """Give the first value of a property whose values are dates."""
        value = self.one(name)
        if not isinstance(value, date):
            raise TypeError(f"{self.iri}: {name} is not a date")
        return value


class Feed(NamedTuple):
    """An ERP system: its share of the trade, its habits, and its exporter."""

    suffix: str
    share: float
    currency: str
    countries: tuple[str, ...]
    plants: dict[str, str]
    """Its plant and its warehouse: city and country."""
    registry: float
    """Share of parts certified by the external registry and not by the house."""
    release_4: float
    """Share of order lines written by release 4 of the exporter."""


FEEDS = {
    "erp-nordic": Feed(
        ".ttl.gz",
        0.20,
        "SEK",
        ("SE", "SE", "FI", "DK"),
        {"Malmö": "SE", "Tampere": "FI"},
        0.25,
        0.45,
    ),
    "erp-baltic": Feed(
        ".ttl.gz",
        0.09,
        "EUR",
        ("LT", "LV", "EE", "PL"),
        {"Kaunas": "LT", "Tartu": "EE"},
        0.45,
        0.06,
    ),
    "erp-rhine": Feed(
        ".ttl.gz", 0.22, "EUR", ("DE", "DE", "NL", "FR"), {"Mainz": "DE", "Venlo": "NL"}, 0.30, 0.35
    ),
    "erp-danube": Feed(
        ".nt.gz", 0.14, "PLN", ("AT", "HU", "SK", "PL"), {"Linz": "AT", "Győr": "HU"}, 0.35, 0.50
    ),
    "erp-iberia": Feed(
        ".ttl.gz",
        0.13,
        "EUR",
        ("ES", "ES", "PT", "FR"),
        {"Zaragoza": "ES", "Porto": "PT"},
        0.40,
        0.0,
    ),
    "erp-isles": Feed(
        ".nt.gz", 0.12, "GBP", ("GB", "GB", "IE", "NL"), {"Telford": "GB", "Cork": "IE"}, 0.20, 0.30
    ),
    "erp-adria": Feed(
        ".ttl.gz", 0.10, "EUR", ("IT", "IT", "SI", "HR"), {"Udine": "IT", "Koper": "SI"}, 0.35, 0.25
    ),
}


class Carrier(NamedTuple):
    """A carrier: its share, the modes it moves by, where it is strong, since when."""

    label: str
    share: float
    modes: tuple[str, ...]
    strong: tuple[str, ...] = ()
    since: date = date(2000, 1, 1)


CARRIERS = {
    "alder": Carrier("Alder Road Transport", 0.20, ("road",), ("erp-rhine",)),
    "voss": Carrier("Voss Haulage", 0.13, ("road",), ("erp-nordic",)),
    "transalpina": Carrier("Transalpina Cargo", 0.13, ("rail", "rail", "road"), ("erp-danube",)),
    "corvus": Carrier("Corvus Logistics", 0.12, ("road", "rail"), ("erp-baltic",)),
    "pelagos": Carrier(
        "Pelagos Line", 0.10, ("sea", "sea", "sea", "road"), ("erp-iberia", "erp-adria")
    ),
    "northway": Carrier("Northway Shipping", 0.10, ("sea",), ("erp-nordic", "erp-isles")),
    "harbour": Carrier("Harbour and Hill", 0.08, ("sea", "road"), ("erp-isles",)),
    "merlin": Carrier("Merlin Air Freight", 0.07, ("air",)),
    # It began in 2026: most of its shipments are recent, which makes it look like any drift.
    "kestrel": Carrier("Kestrel Freight", 0.16, ("road", "air"), (), date(2026, 2, 2)),
}
TRANSIT_DAYS = {"road": (1, 6), "rail": (3, 10), "sea": (12, 35), "air": (1, 4)}
FAMILIES = {
    "bearings": ("Component", ("Ball bearing", "Roller bearing", "Thrust washer")),
    "cables": ("Component", ("Cable harness", "Sensor lead", "Power cable")),
    "castings": ("RawMaterial", ("Grey iron casting", "Aluminium billet", "Bronze blank")),
    "electronics": ("Assembly", ("Control unit", "Inverter board", "Display module")),
    "fasteners": ("Component", ("Hex bolt", "Flange nut", "Rivet")),
    "hydraulics": ("Assembly", ("Gear pump", "Valve block", "Lift cylinder")),
    "packaging": ("RawMaterial", ("Carton sheet", "Pallet wrap", "Foam insert")),
    "polymers": ("RawMaterial", ("PA66 granulate", "Seal compound", "PTFE rod")),
}
STEMS = ("Aurel", "Brann", "Cavel", "Dorn", "Eskil", "Falk", "Garda", "Hollin", "Istra", "Jarl")
TRADES = ("Metal", "Precision", "Components", "Plastics", "Electric", "Castings", "Supply")
INCOTERMS, INCOTERM_SHARES = ("FCA", "DAP", "DDP", "EXW", "CPT", "FOB"), (30, 26, 16, 12, 10, 6)
SCHEMES = ("conformity", "origin", "material", "food-contact")


class World:
    """The whole graph in memory, its nodes by IRI; the same seed gives the same world."""

    def __init__(self, seed: int) -> None:
        """Make suppliers, certificates, parts, order lines and shipments, none of them faulty."""
        self.seed = seed
        self.nodes: dict[Iri, Node] = {}
        self._master_data(self.random("master-data"))
        suppliers = self._suppliers(self.random("suppliers"))
        certificates = self._certificates(suppliers, self.random("certificates"))
        parts = self._parts(suppliers, certificates, self.random("parts"))
        lines = self._order_lines(parts, self.random("orders"))
        self._shipments(lines, self.random("shipments"))

    def random(self, name: str) -> Random:
        """Give the random numbers of one concern, so that changing one leaves the others alone."""
        return Random(f"{self.seed}/{name}")

    def of(self, *kinds: str) -> list[Node]:
        """Give the nodes of the named classes, in the order in which they were made."""
        return [node for node in self.nodes.values() if node.kind in kinds]

    def add(self, iri: Iri, kind: str, feed: str, values: dict[str, Value | list[Value]]) -> Node:
        """Put a node into the graph."""
        listed = {
            key: value if isinstance(value, list) else [value] for key, value in values.items()
        }
        node = Node(iri, kind, feed, listed)
        self.nodes[node.iri] = node
        return node

    def _master_data(self, rng: Random) -> None:
        for feed in FEEDS.values():
            for kind, (city, country) in zip(
                ("Plant", "Warehouse"), feed.plants.items(), strict=True
            ):
                self.add(
                    site(city),
                    kind,
                    MASTER,
                    {
                        "label": Label(f"{kind} {city}"),
                        "country": country,
                        "openedOn": date(1992, 4, 1) + timedelta(rng.randrange(9000)),
                        "dockDoors": rng.randrange(4, 24),
                        "bonded": _chance(rng, 0.3),
                    },
                )
        for key, carrier in CARRIERS.items():
            self.add(
                item("carrier", key),
                "Carrier",
                MASTER,
                {
                    "label": Label(carrier.label),
                    "scac": key[:4].upper(),
                    "contractSince": max(carrier.since, date(2019, 1, len(key))),
                },
            )

    def _suppliers(self, rng: Random) -> list[Node]:
        made = []
        for number, feed in zip(numbers(rng, SUPPLIERS, 4), _feeds(rng, SUPPLIERS), strict=True):
            country = rng.choice(FEEDS[feed].countries)
            name = f"{rng.choice(STEMS)}{rng.choice(('', 'a', 'sen', 'berg'))} {rng.choice(TRADES)}"
            made.append(
                self.add(
                    item("supplier", f"V{number}"),
                    rng.choice(("Manufacturer", "Distributor")),
                    feed,
                    {
                        "label": Label(name),
                        "country": country,
                        "vatNumber": f"{country}{rng.randrange(10**8, 10**9)}",
                        "rating": rng.choices(("A", "B", "C"), (5, 4, 1))[0],
                        "paymentDays": rng.choice((14, 30, 30, 45, 60)),
                        "onboardedOn": date(2008, 1, 1) + timedelta(rng.randrange(5800)),
                    },
                )
            )
        return made

    def _certificates(self, suppliers: list[Node], rng: Random) -> dict[Iri, list[Node]]:
        made: dict[Iri, list[Node]] = {}
        holders = [holder for holder in suppliers for _ in range(rng.choice((2, 3)))]
        for number, holder in zip(numbers(rng, len(holders), 5), holders, strict=True):
            made.setdefault(holder.iri, []).append(
                self._certificate(item("certificate", f"C{number}"), holder, holder.feed, rng)
            )
        return made

    def _certificate(self, iri: Iri, holder: Node, feed: str, rng: Random) -> Node:
        scheme = rng.choice(SCHEMES)
        issued = date(2023, 6, 1) + timedelta(rng.randrange(700))
        kind = "OriginCertificate" if scheme == "origin" else "ConformityCertificate"
        return self.add(
            iri,
            kind,
            feed,
            {
                "certificateNumber": iri.rsplit("/", 1)[1],
                "scheme": scheme,
                "holder": holder.iri,
                "issuer": rng.choice(("TestHaus", "Norlab", "Certa")),
                "issuedOn": issued,
                "expiresOn": issued + timedelta(365 * rng.choice((3, 5))),
            },
        )

    def _parts(
        self, suppliers: list[Node], certificates: dict[Iri, list[Node]], rng: Random
    ) -> list[Node]:
        made = []
        for number in numbers(rng, PARTS, 5):
            supplier, family = rng.choice(suppliers), rng.choice(sorted(FAMILIES))
            kind, names = FAMILIES[family]
            proofs: list[Value] = [rng.choice(certificates[supplier.iri]).iri]
            if _chance(rng, FEEDS[supplier.feed].registry):
                own = self._certificate(
                    Iri(f"{REGISTRY}{rng.randrange(16**10):010X}"), supplier, MASTER, rng
                )
                proofs = [own.iri, *proofs] if _chance(rng, 0.2) else [own.iri]
            made.append(
                self.add(
                    item("part", f"P{number}"),
                    kind,
                    supplier.feed,
                    {
                        "label": Label(f"{rng.choice(names)} {rng.randrange(100, 999)}"),
                        "partNumber": f"{family[:2].upper()}-{number}",
                        "productFamily": family,
                        "suppliedBy": supplier.iri,
                        "certificate": proofs,
                        "unitCost": _money(2 * rng.uniform(1, 6) * rng.uniform(1, 6)),
                        "netWeight": _money(0.05 * rng.uniform(1, 9) * rng.uniform(1, 9)),
                        "hazardous": _chance(rng, 0.08),
                        "releasedOn": date(2016, 1, 1) + timedelta(rng.randrange(3200)),
                    },
                )
            )
        return made

    def _order_lines(self, parts: list[Node], rng: Random) -> list[Node]:
        made = []
        span = (LAST_ORDER - FIRST_ORDER).days
        for number in numbers(rng, ORDER_LINES, 6):
            part = rng.choice(parts)
            feed = FEEDS[part.feed]
            # Trade grows: a third of the lines take the later of two draws.
            when = max(rng.random(), rng.random()) if _chance(rng, 1 / 3) else rng.random()
            ordered = FIRST_ORDER + timedelta(int(span * when))
            cost = part.one("unitCost")
            price = _money(float(str(cost)) * rng.uniform(1.02, 1.5))
            values: dict[str, Value | list[Value]] = {
                "part": part.iri,
                "supplier": part.one("suppliedBy"),
                "quantity": rng.choice((20, 50, 100, 120, 250, 400, 1000)),
                "unitPrice": price,
                "currency": feed.currency if _chance(rng, 0.7) else "EUR",
                "orderedOn": ordered,
                "requestedOn": ordered + timedelta(rng.randrange(14, 90)),
                "buyer": f"B{rng.randrange(1, 25):02d}",
            }
            if _chance(rng, feed.release_4):
                values["unitCost"] = price
            made.append(self.add(item("order-line", f"L{number}"), "OrderLine", part.feed, values))
        return made

    def _shipments(self, lines: list[Node], rng: Random) -> None:
        sites = {feed: [site(city) for city in FEEDS[feed].plants] for feed in FEEDS}
        everywhere = [place for pair in sites.values() for place in pair]
        # Each line ships at least once; the rest of the shipments are part deliveries.
        shipped = lines + [rng.choice(lines) for _ in range(SHIPMENTS - len(lines))]
        for number, line in zip(numbers(rng, SHIPMENTS, 6), shipped, strict=True):
            departed = line.day("orderedOn") + timedelta(rng.randrange(3, 46))
            key = _carrier(line.feed, departed, rng)
            mode = rng.choice(CARRIERS[key].modes)
            transit = rng.randint(*TRANSIT_DAYS[mode])
            quantity = rng.choice((10, 20, 25, 40, 50, 60, 100))
            own = _chance(rng, 0.72)
            self.add(
                item("shipment", f"S{number}"),
                "TransferShipment" if _chance(rng, 0.15) else "InboundShipment",
                line.feed,
                {
                    "orderLine": line.iri,
                    "carrier": item("carrier", key),
                    "transportMode": mode,
                    "destination": rng.choices(sites[line.feed], (3, 2))[0]
                    if own
                    else rng.choice(everywhere),
                    "incoterm": rng.choices(INCOTERMS, INCOTERM_SHARES)[0],
                    "quantity": quantity,
                    "shippedOn": departed,
                    "promisedOn": departed + timedelta(transit + rng.randint(0, 5)),
                    "arrivedOn": departed + timedelta(transit),
                    "grossWeight": _money(quantity * rng.uniform(0.4, 6.0)),
                    "freightCost": _money(quantity * rng.uniform(0.3, 2.0) + 18),
                },
            )


def item(kind: str, key: str) -> Iri:
    """Give the IRI of a thing: one namespace a class, the same for all feeds."""
    return Iri(f"https://example.org/supply/{kind}/{key}")


def site(city: str) -> Iri:
    """Give the IRI of the site in a city, in plain letters."""
    return item("site", city.lower().translate(str.maketrans("öő", "oo")))


def numbers(rng: Random, count: int, digits: int) -> list[int]:
    """Give different numbers in no order, so that an identifier tells nothing of feed or date."""
    return rng.sample(range(10 ** (digits - 1), 10**digits), count)


def _feeds(rng: Random, count: int) -> list[str]:
    return rng.choices(list(FEEDS), [feed.share for feed in FEEDS.values()], k=count)


def _chance(rng: Random, share: float) -> bool:
    return rng.random() < share


def _money(amount: float) -> Decimal:
    return Decimal(max(round(amount * 100), 1)).scaleb(-2)


def _carrier(feed: str, day: date, rng: Random) -> str:
    """Draw a carrier that is under contract on the day; feeds favour their regional carriers."""
    shares = [
        carrier.share * (2.2 if feed in carrier.strong else 1) * (carrier.since <= day)
        for carrier in CARRIERS.values()
    ]
    return rng.choices(list(CARRIERS), shares)[0]
