"""Which factors go with an outcome: how often a known one is named in a made graph of papers.

`python benchmarks/factors_bench.py --seeds 0:4` makes, for each seed, one graph for each kind of
factor and each odds ratio, and graphs in which nothing goes with the outcome, or in which journals,
universities or fields have rates of their own. Each is investigated with an outcome query. A factor
is named where the region of a cause holds the papers that have it, and no others (Jaccard 0.8).
Printed is what was told, by odds ratio and by kind.
"""

import argparse
import math
import random
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol, TypeVar, cast

import pyoxigraph as ox

import kgreason

PAPERS: Final = 800
ALIKE: Final = 0.8
ODDS: Final = (3.0, 6.0, 15.0)
BASES: Final = (0.1, 0.35)
PREFIXES: Final = (
    "@prefix v: <https://papers.example.org/vocab#> .\n@prefix i: <https://papers.example.org/> .\n"
)
OUTCOME: Final = """PREFIX v: <https://papers.example.org/vocab#>
SELECT ?focus ?outcome WHERE { ?focus v:openAccess ?outcome }
"""
FIELDS: Final = ("biology", "chemistry", "physics", "history", "economics", "geology")
FUNDERS: Final = ("national", "union", "foundation", "industry")
PUBLISHERS: Final = ("arbor", "brook", "cairn", "delta", "ember")
COUNTRIES: Final = ("at", "be", "ch", "dk")


@dataclass(frozen=True)
class Paper:
    """What is known of one paper."""

    iri: str
    year: int
    field: str
    funder: str | None
    journal: int
    publisher: str
    language: str
    registered: bool
    authors: Sequence[int]
    universities: frozenset[int]

    @property
    def countries(self) -> set[str]:
        """The countries of the universities of its authors."""
        return {COUNTRIES[one % len(COUNTRIES)] for one in self.universities}

    def turtle(self, *, outcome: bool) -> str:
        """Return the statements about the paper."""
        authors = " , ".join(f"i:author{one}" for one in self.authors)
        funder = "" if self.funder is None else f" ; v:funder i:{self.funder}"
        return (
            f"i:{self.iri} a v:Paper ; v:year {self.year} ; v:field i:{self.field} ; "
            f"v:journal i:journal{self.journal} ; v:language {self.language!r} ; "
            f"v:registered {str(self.registered).lower()} ; v:author {authors}{funder} ; "
            f"v:openAccess {str(outcome).lower()} .".replace("'", '"')
        )


FACTORS: Final[Mapping[str, Callable[[Paper], bool]]] = {
    "one of six fields": lambda paper: paper.field == "biology",
    "two of six fields": lambda paper: paper.field in {"biology", "physics"},
    "has a funder": lambda paper: paper.funder is not None,
    "one of four funders": lambda paper: paper.funder == "union",
    "a flag": lambda paper: paper.registered,
    "one of three languages": lambda paper: paper.language == "de",
    "from a year on": lambda paper: paper.year >= 2018,
    "one of 25 journals": lambda paper: paper.journal == 3,
    "publisher of the journal": lambda paper: paper.publisher == "arbor",
    "number of authors": lambda paper: len(paper.authors) >= 4,
    "country of an author": lambda paper: "at" in paper.countries,
    "one of 12 universities": lambda paper: 5 in paper.universities,
    "field and funder": lambda paper: paper.field == "biology" and paper.funder is not None,
}
NULLS: Final = ("nothing", "journals differ", "universities differ", "fields differ")


@dataclass(frozen=True)
class Case:
    """One graph: its seed, the factor or null that it is made with, and the effect."""

    seed: int
    kind: str
    odds: float
    base: float


class Kinded(Protocol):
    """A case of some kind."""

    @property
    def kind(self) -> str:
        """What its graph is made with."""


Made = TypeVar("Made", bound=Kinded)


def main() -> None:
    """Run the cases and print what came of them."""
    told = ran(__doc__, _cases, outcome_of)
    for title, key in (("odds ratio", _odds), ("kind", _kind)):
        table(title, [(key(case), got) for case, got in told])


def ran(
    about: str, cases_of: Callable[[range], Iterator[Made]], told_by: Callable[[Made], str]
) -> list[tuple[Made, str]]:
    """Run the cases that the command line asks for; gives each with what was told of it."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--seeds", default="0:1", help="first and last but one, as 0:4")
    parser.add_argument("--only", default="", help="kinds whose name holds this text")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    first, last = map(int, options.seeds.split(":"))
    cases = [case for case in cases_of(range(first, last)) if options.only in case.kind]
    with ProcessPoolExecutor(options.jobs) as pool:
        return list(zip(cases, pool.map(told_by, cases), strict=True))


def table(title: str, told: Sequence[tuple[str, str]]) -> None:
    """Print how often each was told in each group; `told` are pairs of group and what was told."""
    print(f"\n| {title} | cases | named | open, named first | else told | nothing told |")
    print("|---|---:|---:|---:|---:|---:|")
    for group in dict.fromkeys(each for each, _ in told):
        counts = Counter(got for each, got in told if each == group)
        cells = (counts[name] for name in ("named", "nearest", "else", "none"))
        print(f"| {group} | {counts.total()} | {' | '.join(map(str, cells))} |")


def _odds(case: Case) -> str:
    return "null" if case.kind in NULLS else f"{case.odds:g}, from {case.base:g}"


def _kind(case: Case) -> str:
    return case.kind


def _cases(seeds: range) -> Iterator[Case]:
    for seed in seeds:
        for kind in FACTORS:
            for place, odds in enumerate(ODDS):
                yield Case(seed, kind, odds, BASES[(seed + place) % len(BASES)])
        for kind in NULLS:
            for base in BASES:
                yield Case(seed, kind, 1.0, base)


def outcome_of(case: Case) -> str:
    """Return what was told of a case: named, nearest, else or none."""
    data, having = made(case)
    return told_of(data, OUTCOME, having, case.seed)


def told_of(data: str, asked: str, having: set[str], seed: int) -> str:
    """Return what is told of a graph in Turtle for an outcome query: named, nearest, else or none.

    `having` are the IRIs of the nodes that have the true factor; empty where there is none.
    """
    with tempfile.TemporaryDirectory() as folder:
        graph, query = Path(folder, "data.ttl"), Path(folder, "outcome.rq")
        graph.write_text(data, encoding="utf-8")
        query.write_text(asked, encoding="utf-8")
        with kgreason.investigate(str(graph), outcome=str(query), seed=seed) as result:
            (symptom,) = result.symptoms
            causes = {one for cause in result.causes for one in cause.hypotheses}
            regions = [
                (each.id in causes, each.region_plain)
                for each in symptom.hypotheses
                if each.region_plain
            ]
    store = ox.Store()
    store.load(data.encode(), ox.RdfFormat.TURTLE)
    told = [region for cause, region in regions if cause]
    if any(_alike(store, region, having) for region in told):
        return "named"
    if told:
        return "else"
    nearest = [region for _, region in regions][:1]
    return "nearest" if any(_alike(store, region, having) for region in nearest) else "none"


def made(case: Case) -> tuple[str, set[str]]:
    """Return a graph in Turtle, and the IRIs of the papers that have the factor."""
    draw = random.Random(f"{case.seed} {case.kind} {case.odds}")
    universities = range(12)
    authors = [draw.choice(universities) for _ in range(200)]
    journals = [draw.choice(PUBLISHERS) for _ in range(25)]
    lines = [PREFIXES]
    lines += [f'i:{each} a v:Field ; v:name "{each}" .' for each in FIELDS]
    lines += [f'i:{each} a v:Funder ; v:name "{each}" .' for each in FUNDERS]
    lines += [
        f"i:university{n} a v:University ; v:country i:{COUNTRIES[n % len(COUNTRIES)]} ; "
        f"v:founded {1800 + 13 * n} ."
        for n in universities
    ]
    lines += [
        f"i:author{n} a v:Author ; v:affiliation i:university{at} ; "
        f"v:hIndex {draw.randint(1, 60)} ."
        for n, at in enumerate(authors)
    ]
    lines += [
        f"i:journal{n} a v:Journal ; v:publisher i:{by} ; v:impact {draw.uniform(0.5, 9):.2f} ."
        for n, by in enumerate(journals)
    ]
    own = {n: draw.gauss(0, 1) for n in range(40)}
    having = set()
    for number in range(PAPERS):
        paper = _paper(number, draw, authors, journals)
        has = case.kind in FACTORS and FACTORS[case.kind](paper)
        if has:
            having.add(f"https://papers.example.org/{paper.iri}")
        raised = math.log(case.odds) if has else _own(case.kind, paper, own)
        logit = math.log(case.base / (1 - case.base)) + raised
        lines.append(paper.turtle(outcome=draw.random() < 1 / (1 + math.exp(-logit))))
    return "\n".join(lines) + "\n", having


def _paper(number: int, draw: random.Random, authors: Sequence[int], by: Sequence[str]) -> Paper:
    journal = draw.randrange(len(by))
    some = tuple(draw.sample(range(len(authors)), draw.randint(1, 5)))
    return Paper(
        iri=f"paper{number}",
        year=draw.randint(2008, 2024),
        field=draw.choice(FIELDS),
        funder=draw.choices((*FUNDERS, None), (0.2, 0.2, 0.15, 0.1, 0.35))[0],
        journal=journal,
        publisher=by[journal],
        language=draw.choices(("en", "de", "fr"), (0.6, 0.25, 0.15))[0],
        registered=draw.random() < 0.4,
        authors=some,
        universities=frozenset(authors[one] for one in some),
    )


def _own(kind: str, paper: Paper, own: Mapping[int, float]) -> float:
    """Return by how much the log-odds of a paper differ, where groups have rates of their own."""
    if kind == "journals differ":
        return own[paper.journal]
    if kind == "universities differ":
        return max(own[one] for one in paper.universities) / 2
    return own[FIELDS.index(paper.field)] / 2 if kind == "fields differ" else 0.0


def _alike(store: ox.Store, region: str, having: set[str]) -> bool:
    rows = cast("ox.QuerySolutions", store.query(region))
    nodes = {row["focus"].value for row in rows}
    both = len(nodes & having)
    return both > 0 and both >= ALIKE * len(nodes | having)


if __name__ == "__main__":
    main()
