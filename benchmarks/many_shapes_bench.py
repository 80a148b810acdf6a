"""What many shapes cost beside few: CPU time of an investigation with 7 and with 200 of them.

The graph is about ten thousand triples: nodes of four classes in five feeds, of which one lacks
values or has them in another form. Each shape is one constraint of one property of one class; about
every second is broken, many by the very same nodes, as it is with generated shapes. Prints the CPU
seconds for each number of shapes, with the ratio to the first row and what was found; in the last
row the constraints of the first are repeated, each in many shapes.

    python benchmarks/many_shapes_bench.py --shapes 7 200
"""

import argparse
import itertools
import random
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import kgreason

HEAD = """@prefix ex: <https://example.org/> . @prefix sh: <http://www.w3.org/ns/shacl#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""
CLASSES, PROPERTIES, FEEDS = 4, 10, 5
CONSTRAINTS = (
    "sh:minCount 1",
    "sh:datatype xsd:integer",
    "sh:maxInclusive 900",
    "sh:minInclusive 0",
    "sh:maxCount 1",
)


def main() -> None:
    """Measure each number of shapes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shapes", type=int, nargs="+", default=[7, 200])
    parser.add_argument("--nodes", type=int, default=900)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    print("| shapes | CPU s | ratio | broken | explained |")
    print("|---:|---:|---:|---:|---:|")
    first = 0.0
    few = given.shapes[0]
    for number, distinct in (*((n, n) for n in given.shapes), (given.shapes[-1], few)):
        with tempfile.TemporaryDirectory(prefix="kgreason-shapes-") as folder:
            seconds, told = measured(Path(folder), given.nodes, number, given.seed, distinct)
        first = first or seconds
        name = str(number) if distinct == number else f"{number} of {distinct}"
        print(f"| {name} | {seconds:.1f} | {seconds / first:.1f} | {told} |", flush=True)


def measured(
    place: Path, nodes: int, number: int, seed: int, distinct: int = 200
) -> tuple[float, str]:
    """Investigate; gives the CPU seconds and what was found."""
    (place / "data").mkdir()
    for feed in range(FEEDS):
        text = HEAD + "\n".join(data(nodes, feed, seed))
        (place / "data" / f"feed{feed}.ttl").write_text(text, encoding="utf-8")
    (place / "shapes.ttl").write_text(HEAD + "\n".join(shapes(number, distinct)), encoding="utf-8")
    begun = time.process_time()
    with kgreason.investigate(place / "data", shapes=place / "shapes.ttl") as result:
        found = result.as_dict()
    seconds = time.process_time() - begun
    verdicts = [symptom["verdict"] for symptom in found["symptoms"]]
    return seconds, f"{len(verdicts)} | {verdicts.count('explained')}"


def data(nodes: int, feed: int, seed: int) -> Iterator[str]:
    """Return the nodes of a feed; in the last one a third of the properties is not right."""
    rng = random.Random(f"{seed} {feed}")
    for n in range(feed, nodes, FEEDS):
        said = [f"ex:n{n} a ex:K{n % CLASSES} ; ex:made ex:team{n % 7}"]
        for number in range(PROPERTIES):
            bad = feed == FEEDS - 1 and number % 3 == 0 and rng.random() < 0.9
            slip = rng.random() < 0.02
            if bad and n % 2:
                continue
            value = f"'{rng.randrange(900)}'" if bad or slip else str(rng.randrange(900))
            said.append(f"ex:p{number} {value}")
        yield " ; ".join(said) + " ."


def shapes(number: int, distinct: int) -> Iterator[str]:
    """Return so many shapes, in an order by lot: constraints of all properties of all classes.

    After so many `distinct` ones they come again.
    """
    every = list(itertools.product(CONSTRAINTS, range(PROPERTIES), range(CLASSES)))
    random.Random("shapes").shuffle(every)
    for n, (constraint, prop, kind) in enumerate(
        itertools.islice(itertools.cycle(every[:distinct]), number)
    ):
        yield f"ex:S{n} sh:targetClass ex:K{kind} ; sh:path ex:p{prop} ; {constraint} ."


if __name__ == "__main__":
    main()
