"""The root cause of late shipments: how often a known one is named in a made supply-chain graph.

`python benchmarks/anomalies_bench.py --seeds 0:3` makes, for each seed, one graph of shipments for
each kind of cause, and graphs in which nothing makes shipments late, or in which carriers have
rates of their own. A shipment is late where it was delivered after the day that was promised, which
an outcome query compares. A cause is named where its region holds the shipments that are struck by
it, and no others (Jaccard 0.8). Printed is what was told, by kind.
"""

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from benchmarks.factors_bench import ran, table, told_of

SHIPMENTS: Final = 1000
STRUCK: Final = 0.85
"""The share of the shipments struck by the cause that are late."""
USUAL: Final = 0.03
START: Final = datetime(2025, 1, 1)  # noqa: DTZ001 - times are local, as many systems write them
PREFIXES: Final = (
    "@prefix v: <https://chain.example.org/vocab#> .\n@prefix i: <https://chain.example.org/> .\n"
    "@prefix prov: <http://www.w3.org/ns/prov#> .\n"
    "@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .\n"
)
OUTCOME: Final = """PREFIX v: <https://chain.example.org/vocab#>
SELECT ?focus ?outcome WHERE {
  ?focus a v:Shipment ; v:promised ?promised ; v:delivered ?delivered .
  BIND (?delivered > ?promised AS ?outcome)
}
"""
PORTS: Final = {
    "HaiPhong": "vn", "DaNang": "vn", "Rotterdam": "nl", "Antwerp": "be", "Genoa": "it",
    "Trieste": "it", "Santos": "br", "Durban": "za", "Gdansk": "pl", "Bremen": "de",
}  # fmt: skip
REGIONS: Final = ("north", "east", "south", "west")
MODES: Final = ("sea", "air", "rail")


@dataclass(frozen=True)
class Shipment:
    """What is known of one shipment before it is delivered."""

    number: int
    carrier: int
    mode: str
    origin: str
    target: str
    supplier: int
    weight: float
    picked: datetime
    contract: int
    ended: datetime
    version: str
    hub: int

    @property
    def countries(self) -> tuple[str, str]:
        """The countries of both ports."""
        return PORTS[self.origin], PORTS[self.target]

    def turtle(self, days: int) -> str:
        """Return the statements about the shipment, delivered so many days after the promise."""
        promised = self.picked.date() + timedelta(9)
        return (
            f"i:s{self.number} a v:Shipment ; v:carrier i:carrier{self.carrier} ; v:mode "
            f"i:{self.mode} ; v:from i:{self.origin} ; v:to i:{self.target} ; v:supplier "
            f"i:supplier{self.supplier} ; v:weight [ v:value {self.weight:.1f} ; v:unit i:kg ] ; "
            f'v:picked "{self.picked.isoformat()}"^^xsd:dateTime ; v:contract i:contract'
            f"{self.contract} ; v:leg i:leg{self.number} ; prov:wasGeneratedBy "
            f'i:run{self.number // 20} ; v:promised "{promised}"^^xsd:date ; '
            f'v:delivered "{promised + timedelta(days)}"^^xsd:date .\n'
            f"i:leg{self.number} v:via i:hub{self.hub} .\n"
        )


CAUSES: Final[Mapping[str, Callable[[Shipment], bool]]] = {
    "one of 9 carriers": lambda s: s.carrier == 4,
    "a lane: country and mode": lambda s: s.countries[0] == "vn" and s.mode == "sea",
    "a carrier since a day": lambda s: s.carrier == 4 and s.picked >= START + timedelta(90),
    "heavy, with a carrier": lambda s: s.weight > 300 and s.carrier < 3,
    "the night shift": lambda s: s.picked.hour >= 22 or s.picked.hour < 5,
    "picked on weekends": lambda s: s.picked.weekday() > 4,
    "region of the supplier's plant": lambda s: REGIONS[s.supplier % 24 % 4] == "east",
    "version of an interface": lambda s: s.version == "4.2.0",
    "contract that had ended": lambda s: s.picked.date() > s.ended.date(),
    "within one country": lambda s: s.countries[0] == s.countries[1],
    "one of 12 hubs": lambda s: s.hub == 5,
    "a window of two weeks": lambda s: 100 <= (s.picked - START).days < 114,
}
NULLS: Final = ("nothing", "carriers differ")


@dataclass(frozen=True)
class Case:
    """One graph: its seed, and the cause or null that it is made with."""

    seed: int
    kind: str


def main() -> None:
    """Run the cases and print what came of them."""
    told = ran(__doc__, _cases, outcome_of)
    table("kind", [(case.kind, got) for case, got in told])
    table("all", [("causes" if case.kind in CAUSES else "nulls", got) for case, got in told])


def _cases(seeds: range) -> Iterator[Case]:
    for kind in (*CAUSES, *NULLS):
        for seed in seeds:
            yield Case(seed, kind)


def outcome_of(case: Case) -> str:
    """Return what was told of a case: named, nearest, else or none."""
    data, struck = made(case)
    return told_of(data, OUTCOME, struck, case.seed)


def made(case: Case) -> tuple[str, set[str]]:
    """Return a graph in Turtle, and the IRIs of the shipments that are struck by the cause."""
    draw = random.Random(f"{case.seed} {case.kind}")
    contracts = [START + timedelta(draw.randrange(20, 260)) for _ in range(60)]
    versions = [draw.choice(("4.1.3", "4.1.9", "4.2.0", "4.2.1")) for _ in range(8)]
    lines = [PREFIXES]
    lines += [f"i:{port} a v:Port ; v:country i:{country} ." for port, country in PORTS.items()]
    lines += [f'i:carrier{n} a v:Carrier ; v:name "Carrier {n}" .' for n in range(9)]
    lines += [f"i:supplier{n} a v:Supplier ; v:plant i:plant{n % 24} ." for n in range(70)]
    lines += [f"i:plant{n} a v:Plant ; v:region i:{REGIONS[n % 4]} ." for n in range(24)]
    lines += [
        f'i:contract{n} a v:Contract ; v:validity [ v:begins "{START.date()}"^^xsd:date ; '
        f'v:ends "{end.date()}"^^xsd:date ] .'
        for n, end in enumerate(contracts)
    ]
    lines += [f'i:gate{n} a v:Interface ; v:version "{v}" .' for n, v in enumerate(versions)]
    gates = [draw.randrange(8) for _ in range(SHIPMENTS // 20 + 1)]
    lines += [
        f"i:run{n} a prov:Activity ; prov:wasAssociatedWith i:gate{gate} ."
        for n, gate in enumerate(gates)
    ]
    own = [draw.betavariate(1, 8) for _ in range(9)]
    struck = set()
    for number in range(SHIPMENTS):
        version = versions[gates[number // 20]]
        shipment = _shipment(number, draw, contracts, version)
        rate = own[shipment.carrier] if case.kind == "carriers differ" else USUAL
        if case.kind in CAUSES and CAUSES[case.kind](shipment):
            struck.add(f"https://chain.example.org/s{number}")
            rate = STRUCK
        late = draw.random() < rate
        lines.append(shipment.turtle(draw.randint(1, 12) if late else -draw.randint(0, 4)))
    return "\n".join(lines), struck


def _shipment(
    number: int, draw: random.Random, contracts: list[datetime], version: str
) -> Shipment:
    contract = draw.randrange(len(contracts))
    return Shipment(
        number=number,
        carrier=draw.randrange(9),
        mode=draw.choices(MODES, (0.6, 0.15, 0.25))[0],
        origin=draw.choice(tuple(PORTS)),
        target=draw.choice(tuple(PORTS)),
        supplier=draw.randrange(70),
        weight=draw.lognormvariate(5, 0.8),
        picked=START + timedelta(minutes=draw.randrange(180 * 24 * 60)),
        contract=contract,
        ended=contracts[contract],
        version=version,
        hub=draw.randrange(12),
    )


if __name__ == "__main__":
    main()
