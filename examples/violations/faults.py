"""The faults that were planted: what breaks the sound graph, and who fails for it."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:  # a type checker starts at the top of the project, the script in this folder
    from examples.violations.world import CARDS, COURIERS, HARBOUR, Iri, Literal, Node, World, item
else:
    from world import CARDS, COURIERS, HARBOUR, Iri, Literal, Node, World, item

OUTSIDE = "https://makers.example.net/id/"
ROOM_FOR, NEVER_MEASURED = 60, -1
# How large a share of the records each fault strikes.
TYPED, BY_NAME, OF_REGISTER, IN_DEPOT, UNMEASURED = 0.085, 0.076, 0.09, 0.095, 0.055
THREE_LETTERS, COURIER, NO_CREDIT, NO_PHOTO = 0.5, 0.78, 0.85, 0.05  # the first: of French titles
# How large a share fails the same rule for another reason.
STRAY, STRAY_TEXT, STRAY_CREDIT, STRAY_NOTE = 0.004, 0.006, 0.01, 0.08

Test = Callable[[World, Node], bool]


class Fault(NamedTuple):
    """One cause of failures: which constraint, who fails, and the region of the cause."""

    name: str
    shape: str
    component: str
    kind: str
    """The kind of cause, as in the results of kgreason; `none` for chance."""
    cause: str
    fails: Test
    region: str = ""
    """The region in words; empty for chance."""
    query: str = ""
    """The region as a SPARQL pattern of ?focus."""
    inside: Test = lambda _world, _node: False
    proxy: str = ""
    """A region as a SPARQL pattern that looks guilty, and is not."""


def _lacks(name: str) -> Test:
    return lambda _world, node: name not in node.values


def _has_mark(name: str, *marks: str) -> Test:
    def has(_world: World, node: Node) -> bool:
        value = node.values[name]
        return isinstance(value, Literal) and value.mark in marks

    return has


def _not(test: Test) -> Test:
    return lambda world, node: not test(world, node)


def _ill_dated(_world: World, node: Node) -> bool:
    value = node.values["acquiredOn"]
    return not isinstance(value, Literal) or not value.mark or "-00" in value.text


def _points_at(name: str, *kinds: str) -> Test:
    def points(world: World, node: Node) -> bool:
        value = node.values[name]
        other = world.nodes.get(value) if isinstance(value, Iri) else None
        return other is not None and other.kind in kinds

    return points


def _outside(_world: World, node: Node) -> bool:
    return str(node.values["maker"]).startswith(OUTSIDE)


def _of_import(key: str) -> Test:
    return lambda _world, node: node.values["wasGeneratedBy"] == item("import", key)


def _cut(_world: World, node: Node) -> bool:
    return len(node.text("description")) == ROOM_FOR


def _number(name: str, node: Node) -> int:
    value = node.values[name]
    if not isinstance(value, int):
        raise TypeError(f"{node.iri}: {name} is not a number")
    return value


DESCRIPTION = ("Object-description", "Pattern")
FAULTS = (
    Fault(
        "typed-date",
        "Object-acquiredOn",
        "Datatype",
        "datatype",
        "Who types a day instead of picking it gets a plain text.",
        _ill_dated,
        "objects whose ex:acquiredOn is a plain text",
        "?focus ex:acquiredOn ?value FILTER(DATATYPE(?value) = xsd:string)",
        _has_mark("acquiredOn", ""),
    ),
    Fault(
        "place-by-name",
        "Object-foundIn",
        "NodeKind",
        "datatype",
        "The name of a place was written in place of its IRI.",
        _has_mark("foundIn", "", "@en"),
        "objects whose ex:foundIn is a plain text",
        "?focus ex:foundIn ?value FILTER(DATATYPE(?value) = xsd:string)",
        _has_mark("foundIn", ""),
    ),
    Fault(
        "three-letters",
        "Object-title",
        "LanguageIn",
        "datatype",
        "French titles were tagged with three letters.",
        _has_mark("title", "", "@fra"),
        "objects with a title in @fra",
        '?focus ex:title ?value FILTER(LANG(?value) = "fra")',
        _has_mark("title", "@fra"),
    ),
    Fault(
        "register-not-loaded",
        "Object-maker",
        "Class",
        "reference",
        "The makers of an outside register were never loaded.",
        _not(_points_at("maker", "Maker")),
        f"objects whose maker is under {OUTSIDE}",
        f'?focus ex:maker ?value FILTER(STRSTARTS(STR(?value), "{OUTSIDE}"))',
        _outside,
    ),
    Fault(
        "depot-is-a-store",
        "Object-keptIn",
        "Class",
        "inference",
        "A depot is a store by an axiom of the ontology, which the validator did not follow.",
        _not(_points_at("keptIn", "Store")),
        "objects kept in a depot",
        "?focus ex:keptIn/a ex:Depot",
        _points_at("keptIn", "Depot"),
    ),
    Fault(
        "closed-too-early",
        "Loan",
        "Closed",
        "shape",
        "The shape of loans was closed before couriers were noted.",
        lambda _world, loan: "courier" in loan.values or "note" in loan.values,
        "loans with a courier",
        "?focus ex:courier ?value",
        _not(_lacks("courier")),
    ),
    Fault(
        "cut-off",
        *DESCRIPTION,
        "value",
        f"The table that the card index went through had room for {ROOM_FOR} characters.",
        lambda _world, node: not node.text("description").endswith("."),
        f"objects whose description has {ROOM_FOR} characters",
        f"?focus ex:description ?value FILTER(STRLEN(?value) = {ROOM_FOR})",
        _cut,
    ),
    Fault(
        "card-index",
        *DESCRIPTION,
        "source",
        "It was the import of the card index that cut the descriptions.",
        lambda _world, node: not node.text("description").endswith("."),
        f"objects of the import {CARDS}",
        f"?focus prov:wasGeneratedBy <{item('import', CARDS)}>",
        _of_import(CARDS),
    ),
    Fault(
        "never-measured",
        "Object-height",
        "MinExclusive",
        "value",
        f"What was never measured was given the height {NEVER_MEASURED}.",
        lambda _world, node: _number("height", node) <= 0,
        f"objects whose height is {NEVER_MEASURED}",
        f"?focus ex:height {NEVER_MEASURED}",
        lambda _world, node: _number("height", node) == NEVER_MEASURED,
    ),
    Fault(
        "harbour-bequest",
        "Object-creditLine",
        "MinCount",
        "source",
        "One import left the credit line out.",
        _lacks("creditLine"),
        f"objects of the import {HARBOUR}",
        f"?focus prov:wasGeneratedBy <{item('import', HARBOUR)}>",
        _of_import(HARBOUR),
        "?focus a ex:Instrument",
    ),
    Fault(
        "no-photo",
        "Object-photo",
        "MinCount",
        "none",
        "Nothing: about one object in twenty was never photographed.",
        _lacks("photo"),
    ),
)


def plant(world: World) -> None:
    """Break the graph; every fault draws from random numbers of its own."""
    _dates(world, world.random("dates"))
    _references(world, world.random("references"))
    _texts(world, world.random("texts"))
    _figures(world, world.random("figures"))
    _lacking(world, world.random("lacking"))
    _couriers(world, world.random("couriers"))


def _falls(rng: Random, share: float) -> str:
    """Draw whether a record is struck by a fault, strays for another reason, or is sound."""
    drawn = rng.random()
    if drawn < STRAY:
        return "astray"
    return "struck" if drawn < STRAY + share else "sound"


def _dates(world: World, rng: Random) -> None:
    for node in world.objects:
        text = node.text("acquiredOn")
        match _falls(rng, TYPED):
            case "struck":
                node.values["acquiredOn"] = Literal(text)
            case "astray":  # only the month is known
                node.values["acquiredOn"] = Literal(text[:-2] + "00", "^^xsd:date")


def _references(world: World, rng: Random) -> None:
    depots, galleries, dealers = (world.keys(kind) for kind in ("Depot", "Gallery", "Dealer"))
    register = [f"{number:05}" for number in rng.sample(range(100000), 48)]
    for node in world.objects:
        place = world.nodes[Iri(str(node.values["foundIn"]))].text("name")
        match _falls(rng, BY_NAME):
            case "struck":
                node.values["foundIn"] = Literal(place)
            case "astray":
                node.values["foundIn"] = Literal(place, "@en")
        match _falls(rng, OF_REGISTER):
            case "struck":
                node.values["maker"] = Iri(OUTSIDE + rng.choice(register))
            case "astray":
                node.values["maker"] = rng.choice(dealers)
        match _falls(rng, IN_DEPOT):
            case "struck":
                node.values["keptIn"] = rng.choice(depots)
            case "astray":
                node.values["keptIn"] = rng.choice(galleries)


def _texts(world: World, rng: Random) -> None:
    for node in world.objects:
        description, title = node.text("description"), node.text("title")
        drawn = rng.random()
        if drawn < THREE_LETTERS and _has_mark("title", "@fr")(world, node):
            node.values["title"] = Literal(title, "@fra")
        elif drawn > 1 - STRAY:
            node.values["title"] = Literal(title)
        if _of_import(CARDS)(world, node):
            node.values["description"] = Literal(description[:ROOM_FOR])
        elif drawn > 1 - STRAY_TEXT:
            node.values["description"] = Literal(description.rstrip("."))


def _figures(world: World, rng: Random) -> None:
    for node in world.objects:
        match _falls(rng, UNMEASURED):
            case "struck":
                node.values["height"] = NEVER_MEASURED
            case "astray":
                node.values["height"] = -_number("height", node)


def _lacking(world: World, rng: Random) -> None:
    for node in world.objects:
        share = NO_CREDIT if _of_import(HARBOUR)(world, node) else STRAY_CREDIT
        if rng.random() < share:
            del node.values["creditLine"]
        if rng.random() < NO_PHOTO:
            del node.values["photo"]


def _couriers(world: World, rng: Random) -> None:
    for loan in world.loans:
        if rng.random() < COURIER:
            loan.values["courier"] = Literal(rng.choice(COURIERS))
        if rng.random() < STRAY_NOTE:
            loan.values["note"] = Literal("Handle with gloves")
