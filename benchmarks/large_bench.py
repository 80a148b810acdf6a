"""Graphs larger than memory: what a whole investigation costs, and whether it finds the cause.

Orders are written as N-Triples or N-Quads, one after the other, so that the generator needs no
memory. One in a hundred lacks its weight by chance; of those of one carrier nine in ten do. Each
kind is hard in one way more: named graphs, predicates, a class of many nodes, a hub of many edges.
Of the last two little is said of each node, so that 3 million statements are a class of a million
nodes, and 4 million a hub of a million edges.

    python -m benchmarks.large_bench --sizes 1e6 1e7 --folder DIR [--kinds plain graphs hub]

Each investigation is a process of its own; its CPU seconds (with the children's) and its greatest
memory are those that the kernel counted.
"""

import argparse
import json
import math
import random
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import kgreason
from kgreason.cli.options import size as bytes_of

KINDS: Final = ("plain", "graphs", "predicates", "class", "hub")
"""2,000 named graphs; 50,000 predicates; many orders; a country that every order points at."""
_EACH: Final = {"plain": 8, "graphs": 8, "predicates": 8, "class": 3, "hub": 4}
"""Statements of an order, in the mean."""
_GRAPHS: Final = 2_000
_PREDICATES: Final = 50_000
_CARRIERS: Final = 40
_LATE: Final = 7
_LACKS, _CHANCE = 0.9, 0.01
_COUNTRIES: Final = 200
_LABEL: Final = "<http://www.w3.org/2000/01/rdf-schema#label>"
_E: Final = "https://example.org/"
_A: Final = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
_NUMBER: Final = "<http://www.w3.org/2001/XMLSchema#decimal>"
_SHAPES: Final = f"""@prefix e: <{_E}> . @prefix sh: <http://www.w3.org/ns/shacl#> .
e:OrderShape a sh:NodeShape ; sh:targetClass e:Order ;
  sh:property [ sh:path e:weight ; sh:minCount 1 ] .
"""
_MORE: Final = {
    "class": "",
    "hub": """e:CountryShape a sh:NodeShape ; sh:targetClass e:Country ;
  sh:property [ sh:path e:code ; sh:minCount 1 ] .
""",
}
_CUSTOMERS: Final = """e:OrderShape
  sh:property [ sh:path e:customer ; sh:minCount 1 ; sh:class e:Customer ] .
"""


def shapes(kind: str) -> str:
    """Return the shapes of one kind of graph."""
    return _SHAPES + _MORE.get(kind, _CUSTOMERS)


def lines(kind: str, triples: int, seed: int = 0) -> Iterator[str]:
    """Return a graph of one kind with about so many statements, as lines."""
    dice = random.Random(seed)
    orders = triples // _EACH[kind]
    if kind not in _MORE:
        for number in range(orders // 100 + 1):
            yield f"<{_E}customer/{number}> {_A} <{_E}Customer> .\n"
    for number in range(_CARRIERS):
        yield f'<{_E}carrier/{number}> {_LABEL} "Carrier {number}" .\n'
    for number in range(_COUNTRIES if kind == "hub" else 0):
        yield f"<{_E}country/{number}> {_A} <{_E}Country> .\n"
        if number % 3:
            yield f'<{_E}country/{number}> <{_E}code> "{number}" .\n'
    said = _slim if kind in _MORE else _order
    for number in range(orders):
        end = f" <{_E}graph/{number % _GRAPHS}> .\n" if kind == "graphs" else " .\n"
        yield from (f"<{_E}order/{number}> {one}{end}" for one in said(kind, number, dice))


def _slim(kind: str, _: int, dice: random.Random) -> Iterator[str]:
    carrier = dice.randrange(_CARRIERS)
    yield f"{_A} <{_E}Order>"
    yield f"<{_E}carried> <{_E}carrier/{carrier}>"
    yield from _weight(carrier, dice)
    if kind == "hub":
        yield f"<{_E}country> <{_E}country/0>"


def _order(kind: str, number: int, dice: random.Random) -> Iterator[str]:
    carrier = dice.randrange(_CARRIERS)
    yield f"{_A} <{_E}Order>"
    yield f"<{_E}carried> <{_E}carrier/{carrier}>"
    yield f"<{_E}customer> <{_E}customer/{dice.randrange(number // 100 + 1)}>"
    yield f'<{_E}note> "order number {number}"'
    yield f'<{_E}status> "{dice.choice(("open", "sent", "paid", "lost"))}"'
    yield f'<{_E}price> "{dice.randrange(1, 90000) / 100}"^^{_NUMBER}'
    yield from _weight(carrier, dice)
    if kind == "predicates":
        yield f'<{_E}extra/{number % _PREDICATES}> "{number % 7}"'
    else:
        yield f'<{_E}line> "{number % 1000}"'


def _weight(carrier: int, dice: random.Random) -> Iterator[str]:
    if dice.random() >= (_LACKS if carrier == _LATE else _CHANCE):
        yield f'<{_E}weight> "{dice.randrange(1, 900)}.5"^^{_NUMBER}'


def write(kind: str, triples: int, folder: Path) -> Path:
    """Write a graph into a folder, and the shapes beside it; gives the file."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "shapes.ttl").write_text(shapes(kind), encoding="utf-8")
    path = folder / f"data.{'nq' if kind == 'graphs' else 'nt'}"
    with path.open("w", encoding="utf-8") as file:
        file.writelines(lines(kind, triples))
    return path


def run(path: Path, memory: str) -> dict[str, Any]:
    """Investigate a file; gives CPU seconds, memory in MiB, and what was found."""
    ledger = path.parent / "ledger"
    shapes = path.parent / "shapes.ttl"
    begun: list[tuple[str, float]] = []

    def progress(what: str, _: int, __: int) -> None:
        if not begun or begun[-1][0] != what:
            begun.append((what, time.process_time()))

    found = kgreason.investigate(
        path, shapes=shapes, ledger=ledger, memory=bytes_of(memory), progress=progress
    )
    with found:
        causes = [cause.statement for cause in found.causes]
        told = found.as_dict()
    asking = next((at for what, at in begun if what.startswith("asking")), 0.0)
    looking = next((at for what, at in begun if what.startswith("reading the data")), 0.0)
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    stores = path.parent / "ledger.stores"
    return {
        "cpu": round(sum(one.ru_utime + one.ru_stime for one in used), 1),
        "loading": round(asking, 1),
        "asking": round(looking - asking, 1),
        "memory": max(one.ru_maxrss for one in used) // 1024,
        "disk": sum(p.stat().st_size for p in stores.rglob("*") if p.is_file()) >> 20,
        "failing": [one["failing"] for one in told["symptoms"]],
        "population": [one["population"] for one in told["symptoms"]],
        "found": any(f"Carrier {_LATE}" in one for one in causes),
        "causes": causes,
    }


def exponent(small: tuple[float, float], large: tuple[float, float]) -> float:
    """Return the exponent of growth between two pairs of size and cost."""
    return math.log(large[1] / small[1]) / math.log(large[0] / small[0])


def main() -> None:
    """Run each kind at each size, and print a line of JSON for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=float, nargs="+", default=[1e6, 1e7])
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--memory", default="1", help="as the command's: 1 asks all on disk")
    parser.add_argument("--one", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.one is not None:
        print(json.dumps(run(asked.one, asked.memory)))
        return
    for kind in asked.kinds:
        before: tuple[float, float] | None = None
        for size in map(int, asked.sizes):
            folder = asked.folder / f"{kind}-{size}"
            path = write(kind, size, folder)
            own = [sys.executable, "-m", "benchmarks.large_bench", "--folder", str(folder)]
            own += ["--memory", asked.memory, "--one", str(path)]
            said = subprocess.run(own, check=True, capture_output=True, text=True).stdout
            told = {"kind": kind, "size": size, "text": path.stat().st_size >> 20}
            told |= json.loads(said.splitlines()[-1])
            if before is not None:
                told["exponent"] = round(exponent(before, (size, told["cpu"])), 2)
            before = size, told["cpu"]
            print(json.dumps(told), flush=True)
            shutil.rmtree(folder)


if __name__ == "__main__":
    main()
