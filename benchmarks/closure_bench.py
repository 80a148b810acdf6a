"""CPU time of tests under closure, beside an ontology that is many times what they need.

Parts point at things that are of the class asked for by an axiom alone; the ontology holds besides
a tree of classes, and properties with domains, ranges and properties above them. Prints, for each
size of the ontology, the CPU seconds of the whole investigation and of its closures, and what was
found: the same at every size, for the rest of the ontology has nothing to do with the parts.

    python benchmarks/closure_bench.py --classes 0 1000 4000
"""

import argparse
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import kgreason
from kgreason.test import closure, closure_check, closure_placebo

HEAD = """@prefix ex: <https://example.org/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix sh: <http://www.w3.org/ns/shacl#> .
"""
RULES = 4


def main() -> None:
    """Measure each size of the ontology."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--classes", type=int, nargs="+", default=[0, 1_000, 4_000])
    parser.add_argument("--parts", type=int, default=2_000)
    given = parser.parse_args()
    print("| classes | triples | CPU s | closure tests | of it closures, s | found |")
    print("|---:|---:|---:|---:|---:|---|")
    for classes in given.classes:
        with tempfile.TemporaryDirectory(prefix="kgreason-closure-") as folder:
            print(measured(Path(folder), given.parts, classes), flush=True)


def measured(place: Path, parts: int, classes: int) -> str:
    """Investigate; gives the row of the table."""
    texts = {"data": data(parts), "shapes": shapes(), "ontology": ontology(classes)}
    for name, lines in texts.items():
        (place / f"{name}.ttl").write_text(HEAD + "\n".join(lines), encoding="utf-8")
    spent: list[float] = []
    closure.forget()

    def timed(*args: Any, **named: Any) -> Any:
        begun = time.process_time()
        try:
            return closure.cleared(*args, **named)
        finally:
            spent.append(time.process_time() - begun)

    for reader in (closure_check, closure_placebo):
        vars(reader)["cleared"] = timed
    begun = time.process_time()
    facts, rules, axioms = (place / f"{name}.ttl" for name in texts)
    with kgreason.investigate(facts, shapes=rules, ontology=axioms) as result:
        found = result.as_dict()
    whole = time.process_time() - begun
    leaders = [s["hypotheses"][0] for s in found["symptoms"]]
    told = "; ".join(f"{h['status']} at {h['confidence']:.3f}" for h in leaders)
    triples = found["graph"]["triples"]
    return f"| {classes:,} | {triples:,} | {whole:.1f} | {len(spent)} | {sum(spent):.1f} | {told} |"


def data(parts: int) -> Iterator[str]:
    """Return parts and the things they are from; every third is what an axiom makes it."""
    for n in range(parts):
        rule = n % RULES
        kind = "Vendor" if n // RULES % 3 == 0 else "Supplier"
        more = f"ex:licence{rule} {n} ;" if kind == "Vendor" else ""
        yield (
            f"ex:p{n} a ex:Part{rule} ; ex:from{rule} ex:s{n} ; ex:number {n} . "
            f"ex:s{n} a ex:{kind}{rule} ; {more} ex:name 'thing {n}' ."
        )


def shapes() -> Iterator[str]:
    """Return a shape for each kind of part."""
    for rule in range(RULES):
        yield (
            f"ex:S{rule} a sh:NodeShape ; sh:targetClass ex:Part{rule} ; sh:property ex:P{rule} . "
            f"ex:P{rule} sh:path ex:from{rule} ; sh:class ex:Supplier{rule} ."
        )


def ontology(classes: int) -> Iterator[str]:
    """Give the axioms that matter, and as many classes that do not; a property for every fourth."""
    for rule in range(RULES):
        yield (
            f"ex:Vendor{rule} owl:equivalentClass ex:Supplier{rule} . "
            f"ex:licence{rule} rdfs:domain ex:Supplier{rule} ."
        )
    for n in range(classes):
        up = f"rdfs:subClassOf ex:C{(n - 1) // 5} ; " if n else ""
        yield f"ex:C{n} a owl:Class ; {up}rdfs:label 'class {n}' ; rdfs:comment 'of kind {n}' ."
        if n % 4 == 0:
            above = f"rdfs:subPropertyOf ex:q{n // 8 * 4} ; " if n else ""
            yield (
                f"ex:q{n} a owl:ObjectProperty ; {above}rdfs:domain ex:C{n} ; "
                f"rdfs:range ex:C{n // 2} ; rdfs:label 'property {n}' ."
            )
        if n % 10 == 0:
            yield (
                f"ex:C{n} rdfs:subClassOf [ a owl:Restriction ; owl:onProperty ex:q{n // 4 * 4} ; "
                f"owl:someValuesFrom ex:C{n // 3} ] ."
            )


if __name__ == "__main__":
    main()
