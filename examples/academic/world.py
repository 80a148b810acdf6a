"""An academic graph before anything comes of its papers: fields, places, people, papers."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, timedelta
from random import Random

VOCABULARY, ITEMS = "https://example.org/scholar/vocab#", "https://example.org/scholar/"
PAPERS, PEOPLE = 1700, 640
MANDATE_FUNDER, PROXY_INSTITUTION = "halden", "brevik"
FIRST, LAST = date(2014, 1, 6), date(2025, 12, 19)
# Broad fields, what is narrower, and the topics below that: papers have a topic.
FIELDS = {
    "astronomy": {
        "deep-sky": "galaxies nebulae clusters cosmology",
        "planets": "exoplanets comets moons dust-rings",
        "stars": "pulsars dwarfs variables stellar-wind",
        "instruments": "radio-sky mirrors spectra surveys",
    },
    "biology": {
        "plants": "mosses grasses pollen roots",
        "animals": "insects birds molluscs",
        "cells": "membranes signalling division ageing",
    },
    "chemistry": {
        "materials": "polymers crystals glasses",
        "reactions": "catalysis photochemistry corrosion",
        "analysis": "chromatography trace-metals",
    },
    "economics": {
        "work": "labour wages pensions",
        "markets": "trade auctions banking",
        "state": "public-finance inequality",
    },
    "linguistics": {
        "sound": "phonetics tone prosody",
        "form": "syntax morphology",
        "use": "dialects sign-language dialogue",
    },
    "mathematics": {
        "space": "topology geometry knots",
        "number": "primes lattices",
        "chance": "random-walks percolation queues",
    },
}
FIELD_SHARES = {"astronomy": 11, "biology": 26, "chemistry": 19, "economics": 16}
COUNTRIES = {"NO": "north", "SE": "north", "ES": "south", "IT": "south", "CZ": "east"}
COUNTRIES |= {"PL": "east", "IE": "west", "NL": "west"}
CITIES = (
    "Brevik:NO Molde:NO Narvik:NO Lund:SE Kalmar:SE Visby:SE Falun:SE Soria:ES Huesca:ES Lugo:ES "
    "Cuenca:ES Lecce:IT Asti:IT Matera:IT Siena:IT Brno:CZ Zlin:CZ Opava:CZ Torun:PL Opole:PL "
    "Lublin:PL Kielce:PL Sligo:IE Tralee:IE Athlone:IE Delft:NL Zwolle:NL Breda:NL"
)
FUNDERS = {"halden": 16, "north-sea": 15, "aster": 14, "public-grid": 22, "veld": 9, "corvo": 12}
PUBLISHERS = ("lantern", "quill", "harbour", "meridian", "ferrum")
VENUES = (
    "open-letters annals-of-form sky-notes chronicle-of-matter letters-on-life new-ledger "
    "review-of-signs quarterly-proofs field-reports bench-notes market-studies northern-journal "
    "transactions-a transactions-b common-ground orbit tongues living-systems bonds axioms"
)
FORMS = {"Article": 68, "ConferencePaper": 20, "Review": 12}
SUBJECTS = ("growth", "stability", "limits", "origins", "structure", "measurement", "decline")
INITIALS = "ABCDEFGHIJKLMNOPRSTV"
STEMS = ("Ande", "Beri", "Colo", "Doma", "Eska", "Fala", "Gori", "Hute", "Ivo", "Juro", "Kale")
TAILS = ("r", "lund", "nez", "ski", "tti", "van", "wright", "mann", "rova")


class Iri(str):
    """An absolute IRI, to tell it from a plain string."""

    __slots__ = ()


class Label(str):
    """A text in English."""

    __slots__ = ()


Value = Iri | Label | str | bool | int | date


@dataclass
class Node:
    """One thing of the graph: its class, the file that tells of it, its properties."""

    iri: Iri
    kind: str
    file: str
    values: dict[str, list[Value]] = field(default_factory=dict)

    def has(self, name: str, value: Value) -> bool:
        """Say whether a property has a value."""
        return value in self.values.get(name, ())

    def one(self, name: str) -> Value:
        """Give the first value of a property that is known to be there."""
        return self.values[name][0]

    def day(self) -> date:
        """Give the day of publication of a paper."""
        value = self.one("publishedOn")
        if not isinstance(value, date):
            raise TypeError(f"{self.iri}: publishedOn is not a date")
        return value


def item(kind: str, key: str) -> Iri:
    """Give the IRI of a thing: one namespace a class."""
    return Iri(f"{ITEMS}{kind}/{key}")


class World:
    """The whole graph in memory, its nodes by IRI; the same seed gives the same world."""

    def __init__(self, seed: int) -> None:
        """Make the surroundings and the papers, of which nothing has come yet."""
        self.seed = seed
        self.nodes: dict[Iri, Node] = {}
        self._organisations(self.random("organisations"))
        self.staff = self._people(self.random("people"))
        self.papers = self._papers(self.random("papers"))

    def random(self, name: str) -> Random:
        """Give the random numbers of one concern, so that changing one leaves the others alone."""
        return Random(f"{self.seed}/{name}")

    def add(self, iri: Iri, kind: str, file: str, **values: Value | list[Value]) -> Node:
        """Put a node into the graph."""
        listed = {k: v if isinstance(v, list) else [v] for k, v in values.items()}
        node = self.nodes[iri] = Node(iri, kind, file, listed)
        return node

    def _organisations(self, rng: Random) -> None:
        for broad, subfields in FIELDS.items():
            self._field(broad, None)
            for subfield, topics in subfields.items():
                self._field(subfield, broad)
                for topic in topics.split():
                    self._field(topic, subfield)
        for place in CITIES.split():
            city, country = place.split(":")
            name = Label(f"University of {city}")
            founded = rng.randrange(1480, 1990)
            iri = item("institution", city.lower())
            self.add(
                iri, "Institution", "organisations", name=name, founded=founded, country=country
            )
        for kind, keys in (("Funder", tuple(FUNDERS)), ("Publisher", PUBLISHERS)):
            for key in keys:
                country = rng.choice(sorted(COUNTRIES))
                iri = item(kind.lower(), key)
                self.add(iri, kind, "organisations", name=_label(key), country=country)
        for number, key in enumerate(VENUES.split()):
            self.add(
                item("venue", key),
                "Venue",
                "venues",
                name=_label(key),
                publisher=item("publisher", PUBLISHERS[number % len(PUBLISHERS)]),
                homeField=item("field", sorted(FIELDS)[number % len(FIELDS)]),
                issuesPerYear=rng.choice((4, 6, 12)),
            )

    def _field(self, key: str, above: str | None) -> None:
        broader: list[Value] = [item("field", above)] if above else []
        iri = item("field", key)
        self.add(iri, "skos:Concept", "fields", prefLabel=_label(key), broader=broader)

    def _people(self, rng: Random) -> dict[str, list[Iri]]:
        staff: dict[str, list[Iri]] = {}
        cities = [place.split(":")[0].lower() for place in CITIES.split()]
        for number in range(PEOPLE):
            # Two at each place at least, so that any of them can write a paper.
            city = cities[number % len(cities)] if number < 2 * len(cities) else rng.choice(cities)
            person = self.add(
                item("person", f"{rng.randrange(16**8):08X}"),
                "Person",
                "people",
                name=f"{rng.choice(INITIALS)}. {rng.choice(STEMS)}{rng.choice(TAILS)}",
                affiliation=item("institution", city),
                activeSince=rng.randrange(1985, 2014),
            )
            staff.setdefault(city, []).append(person.iri)
        return staff

    def _papers(self, rng: Random) -> list[Node]:
        made = []
        broad_shares = [FIELD_SHARES.get(key, 14) for key in FIELDS]
        for number in rng.sample(range(100000, 1000000), PAPERS):
            broad = rng.choices(list(FIELDS), broad_shares)[0]
            topic = rng.choice(" ".join(FIELDS[broad].values()).split())
            # Output grows: every third paper takes the later of two draws.
            when = max(rng.random(), rng.random()) if _chance(rng, 1 / 3) else rng.random()
            day = FIRST + timedelta(int((LAST - FIRST).days * when))
            funders = _drawn(rng, FUNDERS, rng.choice((0, 1, 1, 1, 2)))
            city = rng.choice(sorted(self.staff))
            # The funder and the university are of one region: this is what makes a proxy of it.
            if MANDATE_FUNDER in funders and _chance(rng, 0.5):
                city = PROXY_INSTITUTION
            institution = item("institution", city)
            file = f"papers-{COUNTRIES[str(self.nodes[institution].one('country'))]}"
            values: dict[str, Value | list[Value]] = {
                "title": Label(f"On the {rng.choice(SUBJECTS)} of {topic.replace('-', ' ')}"),
                "publishedOn": day,
                "submittedOn": day - timedelta(rng.randrange(60, 420)),
                "venue": self._venue(broad, rng),
                "field": item("field", topic),
                "author": self._authors(city, rng),
                "institution": institution,
                "fundedBy": [item("funder", key) for key in funders],
                "pages": rng.randrange(4, 40),
                "language": rng.choices(("en", "es", "it", "pl"), (84, 6, 5, 5))[0],
            }
            kind = rng.choices(list(FORMS), list(FORMS.values()))[0]
            made.append(self.add(item("paper", f"p{number}"), kind, file, **values))
        return made

    def _venue(self, broad: str, rng: Random) -> Iri:
        """Draw a venue: each has a home field, from which it takes more than from the others."""
        iris = [item("venue", key) for key in VENUES.split()]
        home = item("field", broad)
        shares = [3 if self.nodes[iri].has("homeField", home) else 1 for iri in iris]
        return rng.choices(iris, shares)[0]

    def _authors(self, city: str, rng: Random) -> list[Value]:
        first = rng.choice(self.staff[city])
        others = [
            rng.choice(self.staff[city if _chance(rng, 0.4) else rng.choice(sorted(self.staff))])
            for _ in range(rng.choice((0, 1, 1, 2, 3)))
        ]
        return list(dict.fromkeys([first, *others]))


def _label(key: str) -> Label:
    return Label(key.replace("-", " ").capitalize())


def _chance(rng: Random, share: float) -> bool:
    return rng.random() < share


def _drawn(rng: Random, shares: dict[str, int], count: int) -> list[str]:
    return list(dict.fromkeys(rng.choices(list(shares), list(shares.values()), k=count)))
