"""Write the museum example: the catalogue, broken on purpose, and the truth about it.

The same seed gives the same bytes. Only the standard library is needed:

    python generate.py                      write data/, truth.json and the table of README.md
    python generate.py --seed 7 --out DIR   another catalogue with the same faults
    python generate.py --truth              only print what was planted, as JSON

The validation report of the folder is written by validate.py, which needs pySHACL.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import sys
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # a type checker starts at the top of the project, the script in this folder
    from examples.violations.faults import FAULTS, Fault, plant
    from examples.violations.world import ITEMS, VOCABULARY, Iri, Literal, Node, Value, World
else:
    from faults import FAULTS, Fault, plant
    from world import ITEMS, VOCABULARY, Iri, Literal, Node, Value, World

HERE = Path(__file__).resolve().parent
SEED = 1871
SHAPES = "https://example.org/museum/shapes#"
KINDS = ("import", "loan", "maker", "object", "photo", "place", "room", "staff")
PREFIXES = {
    "ex": VOCABULARY,
    "prov": "http://www.w3.org/ns/prov#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
} | {kind: f"{ITEMS}{kind}/" for kind in KINDS}
OF_PROV = {"wasGeneratedBy", "startedAtTime", "wasAssociatedWith"}
TABLE = re.compile(r"(?<=<!-- planted -->\n).*?(?=<!-- /planted -->)", re.DOTALL)


def turtle(nodes: list[Node]) -> str:
    """Write nodes as Turtle, one statement a line."""
    head = "".join(f"@prefix {name}: <{iri}> .\n" for name, iri in PREFIXES.items())
    return head + "".join(
        f"\n{_term(node.iri)} a {node.kind if ':' in node.kind else f'ex:{node.kind}'}"
        + "".join(
            f" ;\n    {'prov' if name in OF_PROV else 'ex'}:{name} {_term(value)}"
            for name, value in node.values.items()
        )
        + " .\n"
        for node in nodes
    )


def _term(value: Value) -> str:
    # No text of this graph has a quote, a backslash or a line break, so none needs an escape.
    match value:
        case Iri():
            kind, _, key = value.removeprefix(ITEMS).partition("/")
            return f"{kind}:{key}" if value.startswith(ITEMS) else f"<{value}>"
        case Literal():
            return f'"{value.text}"{value.mark}'
        case int():
            return str(value)


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
    sizes: dict[str, int] = {}
    for node in world.nodes.values():
        name = f"{node.file}.ttl.gz"
        sizes[name] = sizes.get(name, 0) + 1 + len(node.values)
    return {
        "seed": world.seed,
        "triples": sum(sizes.values()),
        "graphs": dict(sorted(sizes.items())),
        "faults": [_told(world, fault) for fault in FAULTS],
    }


def _told(world: World, fault: Fault) -> dict[str, Any]:
    population = world.loans if fault.shape == "Loan" else world.objects
    failing = {node.iri for node in population if fault.fails(world, node)}
    inside = {node.iri for node in population if fault.inside(world, node)}
    region = {
        "description": fault.region,
        "query": _select(fault.query),
        "inside": {"failing": len(failing & inside), "population": len(inside)},
        "outside": {
            "failing": len(failing - inside),
            "population": len(population) - len(inside),
        },
    }
    return {
        "name": fault.name,
        "kind": fault.kind,
        "cause": fault.cause,
        "shape": SHAPES + fault.shape,
        "component": f"http://www.w3.org/ns/shacl#{fault.component}ConstraintComponent",
        "failing": len(failing),
        "population": len(population),
        "region": region if fault.region else None,
        "proxy": _select(fault.proxy) if fault.proxy else None,
    }


def _select(pattern: str) -> str:
    heads = "".join(f"PREFIX {name}: <{PREFIXES[name]}> " for name in ("ex", "prov", "xsd"))
    return f"{heads}SELECT DISTINCT ?focus WHERE {{ {pattern} }}"


def table(faults: list[dict[str, Any]]) -> str:
    """Write what was planted as a Markdown table."""
    rows = [
        "| fault | constraint | kind | failing | of | region | failing in it | of |",
        "|---|---|---|---:|---:|---|---:|---:|",
    ]
    for fault in faults:
        shape = fault["shape"].removeprefix(SHAPES)
        component = fault["component"].rsplit("#")[1].removesuffix("ConstraintComponent")
        start = f"| {fault['name']} | `{shape}`, {component} | {fault['kind']} "
        start += f"| {fault['failing']} | {fault['population']} "
        if fault["region"]:
            counted = fault["region"]["inside"]
            region = f"{fault['region']['description']} "
            rows.append(f"{start}| {region}| {counted['failing']} | {counted['population']} |")
        else:
            rows.append(f"{start}| none | - | - |")
    return "\n".join(rows) + "\n"


def write(world: World, out: Path) -> None:
    """Write the data files and truth.json, and renew the table of README.md if there is one."""
    (out / "data").mkdir(parents=True, exist_ok=True)
    found = truth(world)
    for name in found["graphs"]:
        nodes = [node for node in world.nodes.values() if f"{node.file}.ttl.gz" == name]
        (out / "data" / name).write_bytes(compressed(turtle(nodes)))
    text = json.dumps(found, indent=2, ensure_ascii=False) + "\n"
    (out / "truth.json").write_text(text, encoding="utf-8", newline="\n")
    readme = out / "README.md"
    if readme.exists():
        made = table(found["faults"])
        renewed = TABLE.sub(lambda _: made, readme.read_text(encoding="utf-8"))
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
        told = json.dumps(truth(world), indent=2, ensure_ascii=False) + "\n"
        sys.stdout.buffer.write(told.encode())
    else:
        write(world, arguments.out)


if __name__ == "__main__":
    main()
