"""Whether somebody who wants a cause gets one where there is none.

`python benchmarks/adversary_bench.py --nulls 200 --out nulls.jsonl` makes small nulls: results of
an invented measuring network, of which two properties were left out at random (independently, or
in clusters with rates of their own). Each is investigated as it should be, and then by five
adversaries who may choose what they report:

- stopping: reports the moment at which a cause stood as supported, whenever that was;
- seeds: asks again with other seeds, and reports the first cause that any of them gives;
- splitting: asks for each property, in each half of the network, in an investigation of its own;
- conditions: looks at everything, and proposes the conditions that tell best who fails;
- queries: the same with SELECT queries, down to one that lists nodes that fail.

Asking again and splitting are also judged by `kgreason correlation`, as one divided question.
A line is written for each null as it ends; `--continue` goes on with a file.
"""

import argparse
import json
import math
import multiprocessing
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyoxigraph as ox

import kgreason
from kgreason.base.terms import SH, TYPE
from kgreason.inject.base_graph import base_of
from kgreason.inject.conditions import ORIGINS
from kgreason.inject.corrupt import Unfit
from kgreason.inject.designs import operations
from kgreason.inject.fault import Table, Target, draws
from kgreason.inject.nulls import CLUSTERED, chances
from kgreason.inject.reached import reached
from kgreason.inject.scoring import tail
from kgreason.inject.site import Site

NET = "https://example.org/network/vocab#"
DROPPED = ("number", "bottle", "contact", "count")
HALVES = ("shift", "day", "night")
RATE = (0.04, 0.12)
PROPOSED = 4
ENDS = 10
Z = 1.96

Said = Mapping[str, Any]


@dataclass(frozen=True)
class Asked:
    """One null: its number, where its files are, what was dropped, and how nodes were clustered."""

    number: int
    folder: Path
    paths: tuple[ox.NamedNode, ...]
    null: str
    policy: str

    @property
    def data(self) -> Path:
        """The data."""
        return self.folder / "data.nq"


def main() -> None:
    """Run the nulls that are missing, and print the table of all of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nulls", type=int, default=20)
    parser.add_argument("--first", type=int, default=0, help="the number of the first null")
    parser.add_argument("--size", type=int, default=300, help="focus nodes of each null")
    parser.add_argument("--seeds", type=int, default=2, help="how often it is asked again")
    parser.add_argument("--policy", default="code")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("adversaries.jsonl"))
    parser.add_argument("--continue", dest="again", action="store_true")
    options = parser.parse_args()
    if not options.again:
        options.out.unlink(missing_ok=True)
    known = _read(options.out)
    wanted = range(options.first, options.first + options.nulls)
    done = {found["number"] for found in known}
    tasks = [
        (number, options.size, options.seeds, options.policy)
        for number in wanted
        if number not in done
    ]
    with multiprocessing.Pool(options.jobs, maxtasksperchild=1) as pool:
        for found in pool.imap_unordered(_one, tasks):
            known.append(found)
            with options.out.open("a", encoding="utf-8") as file:
                file.write(json.dumps(found) + "\n")
    print("\n".join(table([found for found in known if found["number"] in wanted])))


def _read(file: Path) -> list[dict[str, Any]]:
    if not file.exists():
        return []
    lines = file.read_text(encoding="utf-8").splitlines()
    return list({found["number"]: found for found in map(json.loads, lines)}.values())


def _one(task: tuple[int, int, int, str]) -> dict[str, Any]:
    number, size, seeds, policy = task
    with tempfile.TemporaryDirectory(prefix="kgreason-null-") as folder:
        asked, proposals = made(number, size, policy, Path(folder))
        found: dict[str, Any] = {"number": number, "null": asked.null, "policy": policy}
        for name, adversary in ADVERSARIES.items():
            begun = time.process_time()
            found |= adversary(asked, seeds, proposals)
            found[f"cpu-{name}"] = round(time.process_time() - begun, 2)
    return found


# The null


def made(number: int, size: int, policy: str, folder: Path) -> tuple[Asked, dict[str, list[Said]]]:
    """Write a null to a folder: data, shapes for both properties and for each; with proposals.

    The proposals come from a look at all nodes: `conditions` in the language, `queries` as SELECT.
    """
    base = base_of(f"network:{size}")
    (known,) = base.tables
    rng = draws("adversary", size, number)
    paths = tuple(ox.NamedNode(NET + name) for name in rng.sample(DROPPED, 2))
    null = ("independent", *sorted(CLUSTERED))[number % (len(CLUSTERED) + 1)]
    proposals: dict[str, list[Said]] = {"conditions": [], "queries": []}
    failing = []
    for path in paths:
        target = Target(known.cls, path, "MinCount", None, size, 0)
        site = Site(base, known, target, operations()["drop"], rng)
        rate = rng.uniform(*RATE)
        try:
            each = chances(site, null, rate)
        except Unfit:  # too small for it
            null = "independent"
            each = [rate] * size
        known = site.table
        failing.append(frozenset(p for p in range(size) if rng.random() < each[p]))
    for path, places in zip(paths, failing, strict=True):
        for place in sorted(places):
            quads = base.store.quads_for_pattern(known.nodes[place], path, None, None)
            for quad in list(quads):
                base.store.remove(quad)
    asked = Asked(number, folder, paths, null, policy)
    ox.serialize(base.quads(), str(asked.data), format=ox.RdfFormat.N_QUADS)
    for name, some in (("both", paths), ("0", paths[:1]), ("1", paths[1:])):
        text = "\n".join(_shapes(known.cls, some))
        (folder / f"shapes-{name}.ttl").write_text(text, encoding="utf-8")
    for path, places in zip(paths, failing, strict=True):
        proposals["conditions"] += _best_conditions(base.store, known, path, places)
        proposals["queries"] += _queries(known, path, places)
    return asked, proposals


def _shapes(cls: ox.NamedNode, paths: Iterable[ox.NamedNode]) -> Iterator[str]:
    for path in paths:
        name = path.value.rpartition("#")[2]
        yield f"<urn:shape:{name}> a {SH.NodeShape} ; {SH.targetClass} {cls} ;"
        yield f"  {SH.property} <urn:property:{name}> ."
        yield f"<urn:property:{name}> {SH.path} {path} ; {SH.minCount} 1 ."


def _best_conditions(
    store: ox.Store, known: Table, path: ox.NamedNode, failing: frozenset[int]
) -> list[Said]:
    """Return the conditions whose nodes fail most surprisingly, of all paths of up to two steps."""
    size, found = len(known.nodes), []
    for way in reached(store, known, path, 2):
        if way.steps[0].startswith("^"):
            continue
        for end, places in way.ends.items():
            if len(places) >= ENDS // 2 and not isinstance(end, ox.BlankNode):
                chance = tail(len(places & failing), len(places), len(failing), size)
                found.append((chance, way.steps, str(end)))
    origins = {str(name) for name in ORIGINS}
    return [
        {
            "condition": [
                {
                    "path": [
                        {"step": "made-by" if s in origins else "forward", "along": s}
                        for s in steps
                    ],
                    "test": "equals",
                    "terms": {"term": end},
                }
            ],
            "symptom": path.value,
        }
        for _, steps, end in sorted(found)[:PROPOSED]
    ]


def _queries(known: Table, path: ox.NamedNode, failing: frozenset[int]) -> list[Said]:
    """Return regions as SELECT patterns: IRIs by their last digits, and a list of failing nodes."""
    by: dict[str, set[int]] = {}
    for place, node in enumerate(known.nodes):
        by.setdefault(node.value[-2:], set()).add(place)
    rates = sorted(by, key=lambda end: (-len(by[end] & failing) / len(by[end]), end))
    ends = "|".join(rates[:ENDS])
    listed = " ".join(str(known.nodes[place]) for place in sorted(failing)[: len(failing) * 3 // 4])
    told = path.value.rpartition("#")[2]
    pattern = f"?focus {TYPE} {known.cls} ."
    regions = {
        f"Nodes with certain numbers have no {told}.": (
            f'{pattern} FILTER (REGEX(STR(?focus), "({ends})$"))'
        ),
        f"Certain nodes have no {told}.": f"VALUES ?focus {{ {listed} }} {pattern}",
    }
    return [
        {"statement": statement, "region": {"pattern": text}, "symptom": path.value}
        for statement, text in regions.items()
    ]


# The adversaries


def honest(asked: Asked, _seeds: int, _proposals: Mapping[str, list[Said]]) -> dict[str, Any]:
    """Ask once; and report the best moment of it (stopping)."""
    ledger = asked.folder / "honest"
    causes, tests = investigated(asked, ledger=ledger)
    with kgreason.open(ledger) as opened:
        moments = opened.query(
            "SELECT ?one WHERE { ?one a trails:StatusTransition ; trails:to trails:Supported ; "
            "trails:hypothesis ?told . FILTER NOT EXISTS { ?told trails:kind trails:NoneCause } }"
        )
        ever = len(list(moments)) if isinstance(moments, Iterable) else 0
    return {"honest": causes, "stopping": max(causes, ever), "tests": tests}


def seeds(asked: Asked, many: int, _proposals: Mapping[str, list[Said]]) -> dict[str, Any]:
    """Ask again with other seeds, all under one correlation."""
    ledger = asked.folder / "seeds"
    found = [investigated(asked, ledger=ledger, seed=seed)[0] for seed in range(many + 1)]
    return {"seeds": sum(found), "seeds-correlated": correlated(ledger)}


def splitting(asked: Asked, _seeds: int, _proposals: Mapping[str, list[Said]]) -> dict[str, Any]:
    """Ask for each property in each half of the network, all under one correlation."""
    ledger = asked.folder / "split"
    found = []
    for half in HALVES[1:]:
        data = asked.folder / f"data-{half}.nq"
        _half(asked.data, half, data)
        parts = ("0", "1")
        found += [investigated(asked, ledger=ledger, shapes=p, data=data)[0] for p in parts]
    return {"splitting": sum(found), "splitting-correlated": correlated(ledger)}


def _half(data: Path, half: str, out: Path) -> None:
    """Write the data without those results that are of the other half."""
    store = ox.Store()
    store.bulk_load(path=str(data), format=ox.RdfFormat.N_QUADS)
    name = ox.NamedNode(NET + HALVES[0])
    others = {
        q.subject
        for q in store.quads_for_pattern(None, name, None, None)
        if q.object != ox.Literal(half)
    }
    kept = (q for q in store if q.subject not in others and q.object not in others)
    ox.serialize(kept, str(out), format=ox.RdfFormat.N_QUADS)


def proposing(kind: str) -> Callable[[Asked, int, Mapping[str, list[Said]]], dict[str, Any]]:
    """Return the adversary that proposes, after a look at everything, in one way."""

    def ask(asked: Asked, _seeds: int, proposals: Mapping[str, list[Said]]) -> dict[str, Any]:
        own = proposals[kind]
        return {kind: investigated(asked, hypotheses=own)[0] if own else 0}

    return ask


ADVERSARIES = {
    "honest": honest,
    "seeds": seeds,
    "splitting": splitting,
    "conditions": proposing("conditions"),
    "queries": proposing("queries"),
}


def investigated(
    asked: Asked,
    *,
    ledger: Path | None = None,
    seed: int = 0,
    shapes: str = "both",
    data: Path | None = None,
    hypotheses: Sequence[Said] | None = None,
) -> tuple[int, int]:
    """Investigate a null; gives the number of supported causes, and of tests that were done."""
    with kgreason.investigate(
        data or asked.data,
        shapes=asked.folder / f"shapes-{shapes}.ttl",
        lenient=True,
        policy=asked.policy,
        seed=seed,
        ledger=ledger,
        correlation="one-question" if ledger else None,
        hypotheses=hypotheses,
    ) as result:
        told = [h for s in result.as_dict()["symptoms"] for h in s["hypotheses"]]
    standing = [h for h in told if h["kind"] != "none" and h["status"] == "supported"]
    return len(standing), sum(len(h["evidence"]) for h in told)


def correlated(ledger: Path) -> int:
    """Return how many causes stand when all parts are judged as one question."""
    with kgreason.open(ledger) as opened:
        whole = opened.correlation("one-question")
    return whole.supported - len(whole.outside)


# The table


ROWS = {
    "honest": "asked once",
    "stopping": "stopped at the best moment",
    "seeds": "asked again with other seeds",
    "seeds-correlated": "… judged as one (`correlation`)",
    "splitting": "split in four",
    "splitting-correlated": "… judged as one (`correlation`)",
    "conditions": "proposed after a look: conditions",
    "queries": "proposed after a look: SELECT",
}


def table(found: Sequence[Said]) -> Iterator[str]:
    """Return the shares of nulls with a false cause, with 95 % intervals (Wilson 1927)."""
    yield f"{len(found)} nulls, each with two symptoms; policy {found[0]['policy']}."
    yield ""
    yield "| adversary | with a false cause | share | 95 % | beyond asking once |"
    yield "|---|---:|---:|---:|---:|"
    for name, told in ROWS.items():
        false = sum(one[name] > 0 for one in found)
        more = sum(one[name] > 0 and not one["honest"] for one in found)
        low, high = interval(false, len(found))
        yield (
            f"| {told} | {false} | {100 * false / len(found):.1f} % | "
            f"{100 * low:.1f} to {100 * high:.1f} % | {more} |"
        )
    yield ""
    by: dict[str, list[Said]] = {}
    for one in found:
        by.setdefault(one["null"], []).append(one)
    yield "By null, nulls with a false cause when asked once, and by any adversary:"
    for null, some in sorted(by.items()):
        once = sum(one["honest"] > 0 for one in some)
        ever = sum(any(one[name] > 0 for name in ROWS) for one in some)
        yield f"- {null}: {once} and {ever} of {len(some)}"
    cpu = sum(v for one in found for k, v in one.items() if k.startswith("cpu-"))
    yield f"CPU: {cpu / len(found):.1f} s a null."


def interval(false: int, many: int) -> tuple[float, float]:
    """Return the 95 % score interval of a share (Wilson 1927), 0 to 1."""
    share, square = false / many, Z * Z
    middle = (share + square / (2 * many)) / (1 + square / many)
    half = Z * math.sqrt(share * (1 - share) / many + square / (4 * many * many))
    half /= 1 + square / many
    return max(0.0, middle - half), min(1.0, middle + half)


if __name__ == "__main__":
    main()
