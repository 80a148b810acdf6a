"""Write the supply-chain example: one file a feed, and the truth about the faults planted in it.

The same seed gives the same bytes. Only the standard library is needed:

    python generate.py                      write data/, truth.json and the table of README.md
    python generate.py --seed 7 --out DIR   another graph with the same faults
    python generate.py --truth              only print what was planted, as JSON
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import sys
from datetime import date
from decimal import Decimal
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from faults import measure, plant
from world import FEEDS, MASTER, REGISTRY, VOCABULARY, Iri, Label, Node, Value, World, item

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE = Path(__file__).resolve().parent
SEED = 4711
XSD = "http://www.w3.org/2001/XMLSchema#"
RDF_TYPE = Iri("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")
RDFS_LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
PREFIXES = {
    "ex": VOCABULARY,
    "rdfs": RDFS_LABEL.removesuffix("label"),
    "xsd": XSD,
    "registry": REGISTRY,
} | {
    name: item(name, "")
    for name in ("carrier", "certificate", "order-line", "part", "shipment", "site", "supplier")
}
FILES = {MASTER: f"{MASTER}.ttl.gz"} | {name: name + feed.suffix for name, feed in FEEDS.items()}
TABLE = re.compile(r"(?<=<!-- faults -->\n).*?(?=<!-- /faults -->)", re.DOTALL)


def statements(node: Node) -> Iterator[tuple[Iri, Value]]:
    """Give the predicates and objects of a node, its class first."""
    yield RDF_TYPE, Iri(VOCABULARY + node.kind)
    for name, values in node.values.items():
        for value in values:
            yield Iri(RDFS_LABEL if name == "label" else VOCABULARY + name), value


def literal(value: Value) -> tuple[str, str | None]:
    """Give the lexical form of a literal, and the local name of its XSD datatype if it has one."""
    match value:
        case bool():
            return str(value).lower(), "boolean"
        case int():
            return str(value), "integer"
        case Decimal():
            return str(value), "decimal"
        case date():
            return value.isoformat(), "date"
        case _:
            return value, None


def n_triples(nodes: list[Node]) -> str:
    """Write nodes as N-Triples."""
    return "".join(
        f"<{node.iri}> <{predicate}> {_full(value)} .\n"
        for node in nodes
        for predicate, value in statements(node)
    )


def turtle(nodes: list[Node]) -> str:
    """Write nodes as Turtle, one predicate a line."""
    head = "".join(f"@prefix {name}: <{iri}> .\n" for name, iri in PREFIXES.items())
    bodies = (
        " ;\n    ".join(
            "a " + _short(value)
            if predicate == RDF_TYPE
            else f"{_short(predicate)} {_short(value)}"
            for predicate, value in statements(node)
        )
        for node in nodes
    )
    return head + "".join(
        f"\n{_short(node.iri)} {body} .\n" for node, body in zip(nodes, bodies, strict=True)
    )


def _full(value: Value) -> str:
    if isinstance(value, Iri):
        return f"<{value}>"
    form, datatype = literal(value)
    if datatype:
        return f'"{form}"^^<{XSD}{datatype}>'
    # No text of this graph has a quote, a backslash or a line break, so none needs an escape.
    return f'"{form}"@en' if isinstance(value, Label) else f'"{form}"'


def _short(value: Value) -> str:
    if isinstance(value, Iri):
        return next(
            (
                f"{name}:{value.removeprefix(iri)}"
                for name, iri in PREFIXES.items()
                if value.startswith(iri)
            ),
            f"<{value}>",
        )
    form, datatype = literal(value)
    if datatype == "date":
        return f'"{form}"^^xsd:date'
    return form if datatype else _full(value)


def compressed(text: str) -> bytes:
    """Compress with neither time nor file name in the header, so that equal text is equal bytes.

    This holds for one zlib: zlib-ng, which some builds of Python use, makes other bytes.
    """
    buffer = BytesIO()
    with gzip.GzipFile("", "wb", 9, buffer, mtime=0) as stream:
        stream.write(text.encode())
    return buffer.getvalue()


def truth(world: World) -> dict[str, Any]:
    """Tell what is in the graph and what is wrong with it, all of it counted."""
    sizes = dict.fromkeys(FILES, 0)
    for node in world.nodes.values():
        sizes[node.feed] += sum(1 for _ in statements(node))
    return {
        "seed": world.seed,
        "triples": sum(sizes.values()),
        "graphs": {FILES[feed]: size for feed, size in sizes.items()},
        "faults": measure(world),
    }


def table(faults: list[dict[str, Any]]) -> str:
    """Write the faults as a Markdown table."""
    rows = [
        "| fault | constraint | kind of cause | failing | of | region | failing in it | of |",
        "|---|---|---|---:|---:|---|---:|---:|",
    ]
    for fault in faults:
        component = fault["component"].rsplit("#", 1)[1].removesuffix("ConstraintComponent")
        shape = fault["shape"].rsplit("#", 1)[1]
        region = fault["region"]
        inside = region["inside"] if region else {"failing": "-", "population": "-"}
        rows.append(
            f"| {fault['name']} | `{shape}`, {component} | **{fault['kind']}** "
            f"| {fault['failing']} | {fault['population']} "
            f"| {region['description'] if region else 'none'} "
            f"| {inside['failing']} | {inside['population']} |"
        )
    return "\n".join(rows) + "\n"


def write(world: World, out: Path) -> None:
    """Write the data files and truth.json, and renew the table of README.md if there is one."""
    (out / "data").mkdir(parents=True, exist_ok=True)
    for feed, name in FILES.items():
        nodes = [node for node in world.nodes.values() if node.feed == feed]
        text = n_triples(nodes) if name.endswith(".nt.gz") else turtle(nodes)
        (out / "data" / name).write_bytes(compressed(text))
    found = truth(world)
    text = json.dumps(found, indent=2, ensure_ascii=False) + "\n"
    (out / "truth.json").write_text(text, encoding="utf-8", newline="\n")
    readme = out / "README.md"
    if readme.exists():
        renewed = TABLE.sub(lambda _: table(found["faults"]), readme.read_text(encoding="utf-8"))
        readme.write_text(renewed, encoding="utf-8", newline="\n")


def main() -> None:
    """Read the arguments, make the graph, write it or tell the truth about it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--seed", type=int, default=SEED, help="default: %(default)s")
    parser.add_argument(
        "--out", type=Path, default=HERE, metavar="DIR", help="default: the folder of this script"
    )
    parser.add_argument(
        "--truth", action="store_true", help="print what was planted as JSON and write nothing"
    )
    arguments = parser.parse_args()
    world = World(arguments.seed)
    plant(world)
    if arguments.truth:
        # Written as bytes, since a console need not be UTF-8.
        sys.stdout.buffer.write(
            (json.dumps(truth(world), indent=2, ensure_ascii=False) + "\n").encode()
        )
    else:
        write(world, arguments.out)


if __name__ == "__main__":
    main()
