"""CPU time and peak memory of validation: kgreason, pySHACL on rdflib, pyrudof.

A seeded graph of orders, customers and products; ten typical constraints, with and without three
sh:sparql. Prints a table with ratios and writes benchmarks/results/shacl.json; what was measured
before and is not measured now stays in that file, with its day.

    python benchmarks/shacl_bench.py --sizes 10000 100000 1000000

At a million triples pySHACL takes most of an hour for the sh:sparql; `--kinds core` leaves it out.
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results" / "shacl.json"
ENGINES = ("kgreason", "pyshacl", "pyrudof")
EX = "http://example.org/shop#"
XSD = "http://www.w3.org/2001/XMLSchema#"
RDF_TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
TRIPLES_EACH = 11.5  # an order with its share of a customer and a product
FAULTS = 0.01

SHAPES = """PREFIX : <http://example.org/shop#>
PREFIX sh: <http://www.w3.org/ns/shacl#>
PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>

:OrderShape a sh:NodeShape ; sh:targetClass :Order ;
  sh:property [ sh:path :number ; sh:pattern "^N[0-9]+$" ] ,
    [ sh:path :customer ; sh:class :Customer ] ,
    [ sh:path :placed ; sh:datatype xsd:date ] ,
    [ sh:path :amount ; sh:minInclusive 0 ] ,
    [ sh:path :status ; sh:in ( "open" "paid" "sent" ) ] ,
    [ sh:path :product ; sh:minCount 1 ] ,
    [ sh:path :number ; sh:maxCount 1 ] ,
    [ sh:path ( :customer :name ) ; sh:nodeKind sh:Literal ] ,
    [ sh:path :placed ; sh:lessThanOrEquals :sent ] .
:ProductShape a sh:NodeShape ; sh:targetClass :Product ;
  sh:or ( [ sh:path :label ; sh:minCount 1 ] [ sh:path :code ; sh:minCount 1 ] ) .
"""
SPARQL = """
: sh:declare [ sh:prefix "s" ; sh:namespace "http://example.org/shop#"^^xsd:anyURI ] .
:OrderShape sh:sparql
  [ sh:prefixes : ; sh:select '''
      SELECT $this ?value WHERE { $this s:amount ?value . FILTER (?value < 0) }''' ] ,
  [ sh:prefixes : ; sh:select '''
      SELECT $this WHERE { $this s:status "sent" . FILTER NOT EXISTS { $this s:sent ?day } }''' ] ,
  [ sh:prefixes : ; sh:select '''
      SELECT $this ?value WHERE {
        $this s:customer ?value . ?value s:order ?other . FILTER (?other = $this) }''' ] .
"""
KINDS = {"core": SHAPES, "with sparql": SHAPES + SPARQL}


def graph(triples: int, seed: int) -> list[str]:
    """Return about as many lines of N-Triples; one statement in a hundred is at fault."""
    dice = random.Random(seed)
    lines: list[str] = []
    orders = int(triples / TRIPLES_EACH)

    def say(subject: str, name: str, value: str) -> None:
        lines.append(f"<{EX}{subject}> <{EX}{name}> {value} .")

    def bad() -> bool:
        return dice.random() < FAULTS

    for i in range(orders):
        node = f"order{i}"
        lines.append(f"<{EX}{node}> {RDF_TYPE} <{EX}Order> .")
        say(node, "number", f'"{"X" if bad() else "N"}{i}"')
        if bad():
            say(node, "number", f'"N{i}b"')
        say(node, "customer", f"<{EX}customer{dice.randrange(orders // 5 + 1)}>")
        placed = f"2024-{dice.randint(1, 12):02}-{dice.randint(1, 28):02}"
        say(node, "placed", f'"{placed}"' + ("" if bad() else f"^^<{XSD}date>"))
        amount = -5 if bad() else dice.randint(1, 999)
        say(node, "amount", f'"{amount}"^^<{XSD}integer>')
        status = "lost" if bad() else dice.choice(["open", "paid", "sent"])
        say(node, "status", f'"{status}"')
        if not bad():
            say(node, "product", f"<{EX}product{dice.randrange(orders // 5 + 1)}>")
        if status == "sent" and not bad():
            year = 2023 if bad() else 2025
            say(node, "sent", f'"{year}-01-01"^^<{XSD}date>')
    lines += partners(orders, dice)
    return lines


def partners(orders: int, dice: random.Random) -> list[str]:
    """Return the lines of customers and products."""
    lines: list[str] = []

    def say(subject: str, name: str, value: str) -> None:
        lines.append(f"<{EX}{subject}> <{EX}{name}> {value} .")

    def bad() -> bool:
        return dice.random() < FAULTS

    for i in range(orders // 5 + 1):
        if not bad():
            lines.append(f"<{EX}customer{i}> {RDF_TYPE} <{EX}Customer> .")
        say(f"customer{i}", "name", f"<{EX}name{i}>" if bad() else f'"Customer {i}"@en')
        say(f"customer{i}", "order", f"<{EX}order{dice.randrange(orders)}>")
        lines.append(f"<{EX}product{i}> {RDF_TYPE} <{EX}Product> .")
        if not bad():
            say(f"product{i}", "label" if i % 2 else "code", f'"P{i}"')
        for j in range(12):
            say(f"product{i}", f"fact{j % 4}", f'"{dice.randrange(10**6)}"')
    return lines


def measure(engine: str, data: Path, shapes: Path) -> dict[str, Any]:
    """Run one engine in a process of its own."""
    command = [sys.executable, str(HERE / "shacl_engine.py"), engine, str(data), str(shapes)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return {"error": done.stderr.strip().splitlines()[-1:]}
    found: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return found


def row(size: int, kind: str, engine: str, found: dict[str, Any], base: dict[str, Any]) -> str:
    """Return a line of the table; ratios are to kgreason, both steps together."""
    if "error" in found:
        return f"{size:>9} {kind:<11} {engine:<9} {found['error']}"
    whole = found["load_seconds"] + found["validate_seconds"]
    ours = base["load_seconds"] + base["validate_seconds"]
    return (
        f"{size:>9} {kind:<11} {engine:<9} {found['load_seconds']:>8.2f} "
        f"{found['validate_seconds']:>10.2f} {found['peak_mib']:>8.0f} {found['results']:>8} "
        f"{found['validate_seconds'] / base['validate_seconds']:>9.1f} {whole / ours:>7.1f} "
        f"{found['peak_mib'] / base['peak_mib']:>7.2f}"
    )


def keep(path: Path, records: list[dict[str, Any]], keys: tuple[str, ...]) -> None:
    """Write records to a file, in place of those in it that have the same keys."""
    path.parent.mkdir(exist_ok=True)
    before = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    today = datetime.now(UTC).date().isoformat()
    made = {tuple(str(r[key]) for key in keys): r for r in before}
    made |= {tuple(str(r[key]) for key in keys): {**r, "day": today} for r in records}
    path.write_text(json.dumps(list(made.values()), indent=2) + "\n", encoding="utf-8")


def main() -> None:
    """Measure all and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--engines", nargs="+", default=list(ENGINES), choices=ENGINES)
    parser.add_argument("--kinds", nargs="+", default=list(KINDS), choices=KINDS)
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args()
    print(
        "  triples constraints engine      load   validate peak MiB  results "
        "×validate  ×whole   ×peak"
    )
    with tempfile.TemporaryDirectory() as folder:
        for size in options.sizes:
            data = Path(folder) / f"{size}.nt"
            data.write_text("\n".join(graph(size, options.seed)) + "\n", encoding="utf-8")
            for kind in options.kinds:
                text = KINDS[kind]
                shapes = Path(folder) / "shapes.ttl"
                shapes.write_text(text, encoding="utf-8")
                base = measure("kgreason", data, shapes)
                for engine in options.engines:
                    found = base if engine == "kgreason" else measure(engine, data, shapes)
                    record = {"triples": size, "shapes": kind, "engine": engine, **found}
                    keep(RESULTS, [record], ("triples", "shapes", "engine"))
                    print(row(size, kind, engine, found, base), flush=True)


if __name__ == "__main__":
    main()
