"""The faults planted in the sound graph, each with one known cause, and how they are counted."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING

from world import REGISTRY, VOCABULARY, Iri, Node, World, item

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

SHAPES = "https://example.org/supply/shapes#"
SHACL = "http://www.w3.org/ns/shacl#"
SHIPMENT = ("InboundShipment", "TransferShipment")
PART = ("RawMaterial", "Component", "Assembly")
SIGN_SLIP_FROM = date(2026, 5, 4)
EARLY_CARRIER = item("carrier", "pelagos")
OLD_PART_NUMBER = re.compile(r"^[A-Z]{2}-[0-9]{5}$")


@dataclass(frozen=True)
class Fault:
    """A constraint that fails, and why: nodes inside the region fail at the rate `severity`."""

    name: str
    kind: str
    shape: str
    component: str
    path: str | None
    targets: tuple[str, ...]
    cause: str
    region: str | None
    """The region in words; without one the failures have no systematic cause."""
    query: str | None
    """The graph pattern of the region, about ?focus; None as above."""
    inside: Callable[[Node], bool]
    severity: float
    background: float
    damage: Callable[[World, Node, Random], None]
    fails: Callable[[World, Node], bool]


def plant(world: World) -> None:
    """Do the damage of every fault; each draws from random numbers of its own."""
    for fault in FAULTS:
        rng = world.random(fault.name)
        for node in world.of(*fault.targets):
            if rng.random() < (fault.severity if fault.inside(node) else fault.background):
                fault.damage(world, node, rng)


def measure(world: World) -> list[dict[str, object]]:
    """Count, for every fault, who fails its constraint in the graph as it now is."""
    return [_measured(world, fault) for fault in FAULTS]


def _measured(world: World, fault: Fault) -> dict[str, object]:
    nodes = world.of(*fault.targets)
    sides = {True: [0, 0], False: [0, 0]}
    for node in nodes:
        side = sides[fault.inside(node)]
        side[0] += fault.fails(world, node)
        side[1] += 1
    counted = {
        key: {"failing": side[0], "population": side[1]}
        for key, side in (("inside", sides[True]), ("outside", sides[False]))
    }
    return {
        "name": fault.name,
        "kind": fault.kind,
        "shape": SHAPES + fault.shape,
        "component": f"{SHACL}{fault.component}ConstraintComponent",
        "path": f"<{VOCABULARY}{fault.path}>" if fault.path else None,
        "cause": fault.cause,
        "population": len(nodes),
        "failing": sides[True][0] + sides[False][0],
        "region": fault.region
        and {
            "description": fault.region,
            "query": f"PREFIX ex: <{VOCABULARY}> SELECT DISTINCT ?focus WHERE {{ {fault.query} }}",
            **counted,
        },
    }


def _drop(name: str) -> Callable[[World, Node, Random], None]:
    def damage(_world: World, node: Node, _rng: Random) -> None:
        del node.values[name]

    return damage


def _lacks(name: str) -> Callable[[World, Node], bool]:
    return lambda _world, node: name not in node.values


def _turn_sign(_world: World, node: Node, _rng: Random) -> None:
    node.values["freightCost"] = [-Decimal(str(node.one("freightCost")))]


def _withdraw_certificate(world: World, part: Node, rng: Random) -> None:
    """Leave a registry certificate undescribed; of the house's own ones, mistype the number."""
    if _registered(part):
        del world.nodes[Iri(str(part.one("certificate")))]
        return
    proof = Iri(str(part.one("certificate")))
    while proof in world.nodes:
        proof = item("certificate", f"C{rng.randrange(10000, 100000)}")
    part.values["certificate"] = [proof]


def _registered(part: Node) -> bool:
    return any(str(proof).startswith(REGISTRY) for proof in part.values["certificate"])


def _renumber(_world: World, part: Node, rng: Random) -> None:
    number = str(part.one("partNumber"))[-5:]
    part.values["partNumber"] = [f"PN{rng.randrange(1, 8)}{number}-{rng.choice('ABCDEF')}"]


def _arrive_early(_world: World, node: Node, rng: Random) -> None:
    node.values["arrivedOn"] = [node.day("shippedOn") - timedelta(rng.randint(1, 9))]


def _everywhere(_node: Node) -> bool:
    return True


FAULTS = (
    Fault(
        name="weight-left-out",
        kind="source",
        shape="Shipment-grossWeight",
        component="MinCount",
        path="grossWeight",
        targets=SHIPMENT,
        cause="The export of erp-iberia leaves the gross weight out of most shipments.",
        region="shipments of the feed erp-iberia",
        query='GRAPH ?g { ?focus ex:shippedOn ?day } FILTER(CONTAINS(STR(?g), "erp-iberia"))',
        inside=lambda node: node.feed == "erp-iberia",
        severity=0.82,
        background=0.015,
        damage=_drop("grossWeight"),
        fails=_lacks("grossWeight"),
    ),
    Fault(
        name="price-under-cost",
        kind="mapping",
        shape="OrderLine-unitPrice",
        component="MinCount",
        path="unitPrice",
        targets=("OrderLine",),
        cause="Release 4 of the exporter writes the price as ex:unitCost; on some lines a clerk "
        "has added ex:unitPrice by hand.",
        region="order lines with a value of ex:unitCost",
        query="GRAPH ?g { ?focus a ex:OrderLine ; ex:unitCost ?amount }",
        inside=lambda node: "unitCost" in node.values,
        severity=0.88,
        background=0.012,
        damage=_drop("unitPrice"),
        fails=_lacks("unitPrice"),
    ),
    Fault(
        name="freight-sign",
        kind="drift",
        shape="Shipment-freightCost",
        component="MinInclusive",
        path="freightCost",
        targets=SHIPMENT,
        cause="Since a new release of the rating service, freight bought on account comes with "
        "the sign turned.",
        region=f"shipments that left on {SIGN_SLIP_FROM} or later",
        query=f'GRAPH ?g {{ ?focus ex:shippedOn ?day }} FILTER(?day >= "{SIGN_SLIP_FROM}"'
        "^^<http://www.w3.org/2001/XMLSchema#date>)",
        inside=lambda node: node.day("shippedOn") >= SIGN_SLIP_FROM,
        severity=0.6,
        background=0.012,
        damage=_turn_sign,
        fails=lambda _world, node: Decimal(str(node.one("freightCost"))) < 0,
    ),
    Fault(
        name="registry-not-imported",
        kind="reference",
        shape="Part-certificate",
        component="Class",
        path="certificate",
        targets=PART,
        cause="Certificates of the external registry are referred to, but their descriptions "
        "were never imported, but for a few entered by hand.",
        region="parts that refer to a certificate of registry.example.net",
        query="GRAPH ?g { ?focus ex:certificate ?proof } "
        f'FILTER(STRSTARTS(STR(?proof), "{REGISTRY}"))',
        inside=_registered,
        severity=0.86,
        background=0.015,
        damage=_withdraw_certificate,
        fails=lambda world, node: any(
            Iri(str(proof)) not in world.nodes for proof in node.values["certificate"]
        ),
    ),
    Fault(
        name="old-part-numbers",
        kind="shape",
        shape="Part-partNumber",
        component="Pattern",
        path="partNumber",
        targets=PART,
        cause="The shape asks for the numbering that was given up; all but a few parts of every "
        "feed have new numbers.",
        region="all parts",
        query="GRAPH ?g { ?focus ex:partNumber ?number }",
        inside=_everywhere,
        severity=0.965,
        background=0.965,
        damage=_renumber,
        fails=lambda _world, node: not OLD_PART_NUMBER.match(str(node.one("partNumber"))),
    ),
    Fault(
        name="promise-forgotten",
        kind="none",
        shape="Shipment-promisedOn",
        component="MinCount",
        path="promisedOn",
        targets=SHIPMENT,
        cause="No systematic cause: the promised date is forgotten now and then, by anyone.",
        region=None,
        query=None,
        inside=_everywhere,
        severity=0.03,
        background=0.03,
        damage=_drop("promisedOn"),
        fails=_lacks("promisedOn"),
    ),
    Fault(
        name="early-arrival",
        kind="cohort",
        shape="Shipment-order-of-dates",
        component="SPARQL",
        path=None,
        targets=SHIPMENT,
        cause="Pelagos Line often reports the day of booking as the day of arrival.",
        region="shipments carried by Pelagos Line",
        query=f"GRAPH ?g {{ ?focus ex:carrier <{EARLY_CARRIER}> }}",
        inside=lambda node: node.one("carrier") == EARLY_CARRIER,
        severity=0.55,
        background=0.008,
        damage=_arrive_early,
        fails=lambda _world, node: node.day("arrivedOn") < node.day("shippedOn"),
    ),
)
