"""Write report.ttl: what pySHACL says of data/ against shapes.ttl, one result a line.

    python validate.py              write report.ttl
    python validate.py --out FILE   write it elsewhere

It needs pySHACL, which comes with kgreason. The results are sorted and written short, so that the
same data give the same bytes; nothing is left out but what a report need not hold.
"""

from __future__ import annotations

import argparse
import gzip
from pathlib import Path

import pyshacl
from rdflib import RDF, SH, BNode, Graph
from rdflib.term import Node

HERE = Path(__file__).resolve().parent
PREFIXES = {
    "ex": "https://example.org/museum/vocab#",
    "loan": "https://example.org/museum/loan/",
    "object": "https://example.org/museum/object/",
    "place": "https://example.org/museum/place/",
    "room": "https://example.org/museum/room/",
    "maker": "https://example.org/museum/maker/",
    "s": "https://example.org/museum/shapes#",
    "sh": str(SH),
    "xsd": "http://www.w3.org/2001/XMLSchema#",
}
TOLD = (
    SH.focusNode,
    SH.resultPath,
    SH.value,
    SH.sourceShape,
    SH.sourceConstraintComponent,
    SH.resultSeverity,
    SH.resultMessage,
)


def validated() -> Graph:
    """Give the validation report of the folder; the ontology tells the classes of objects."""
    data = Graph()
    for path in sorted((HERE / "data").glob("*.ttl.gz")):
        data.parse(data=gzip.decompress(path.read_bytes()), format="turtle")
    _, report, _ = pyshacl.validate(
        data,
        shacl_graph=Graph().parse(HERE / "shapes.ttl"),
        ont_graph=Graph().parse(HERE / "ontology.ttl"),
        inference="none",
    )
    if not isinstance(report, Graph):
        raise SystemExit(f"pySHACL gave no report: {report!r}")
    return report


def written(report: Graph) -> str:
    """Write a report as Turtle, the results in the order of their lines."""
    names = Graph(bind_namespaces="none")
    for prefix, iri in PREFIXES.items():
        names.bind(prefix, iri)

    def term(node: Node) -> str:
        if isinstance(node, BNode):
            raise SystemExit("A result holds a blank node, which this script does not write.")
        return str(node.n3(names.namespace_manager))

    lines = sorted(
        "[ a sh:ValidationResult"
        + "".join(
            f" ; {term(name)} {term(value)}"
            for name in TOLD
            for value in sorted(report.objects(result, name), key=str)
        )
        + " ]"
        for result in report.subjects(RDF.type, SH.ValidationResult)
    )
    head = "".join(f"@prefix {prefix}: <{iri}> .\n" for prefix, iri in PREFIXES.items())
    start = "[] a sh:ValidationReport ;\n    sh:conforms false ;\n    sh:result\n"
    return f"{head}\n{start}" + " ,\n".join(lines) + " .\n"


def main() -> None:
    """Validate, and write the report."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--out", type=Path, default=HERE / "report.ttl", metavar="FILE")
    out: Path = parser.parse_args().out
    out.write_text(written(validated()), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
