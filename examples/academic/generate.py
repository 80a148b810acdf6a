"""Write the academic example: papers and all around them, and the truth about what was planted.

The same seed gives the same bytes. Only the standard library is needed:

    python generate.py                      write data/, truth.json and the table of README.md
    python generate.py --seed 7 --out DIR   another graph with the same factors
    python generate.py --truth              only print what was planted, as JSON
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import sys
from collections.abc import Iterator
from datetime import date
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # a type checker starts at the top of the project, the script in this folder
    from examples.academic.factors import QUESTIONS, Factor, Question, plant
    from examples.academic.world import ITEMS, VOCABULARY, Iri, Label, Node, Value, World
else:
    from factors import QUESTIONS, Factor, Question, plant
    from world import ITEMS, VOCABULARY, Iri, Label, Node, Value, World

HERE = Path(__file__).resolve().parent
SEED = 1905
PREFIXES = {
    "ex": VOCABULARY,
    "skos": "http://www.w3.org/2004/02/skos/core#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
} | {kind: f"{ITEMS}{kind}/" for kind in ("field", "funder", "institution", "paper", "person")}
PREFIXES |= {kind: f"{ITEMS}{kind}/" for kind in ("publisher", "venue")}
TABLE = re.compile(r"(?<=<!-- planted -->\n).*?(?=<!-- /planted -->)", re.DOTALL)


def statements(node: Node) -> Iterator[tuple[str, Value]]:
    """Give the predicates (as written in Turtle) and objects of a node, but for its class."""
    for name, values in node.values.items():
        prefix = "skos" if name in {"prefLabel", "broader"} else "ex"
        for value in values:
            yield f"{prefix}:{name}", value


def turtle(nodes: list[Node]) -> str:
    """Write nodes as Turtle, one statement a line."""
    head = "".join(f"@prefix {name}: <{iri}> .\n" for name, iri in PREFIXES.items())
    return head + "".join(
        f"\n{_term(node.iri)} a {node.kind if ':' in node.kind else f'ex:{node.kind}'}"
        + "".join(f" ;\n    {name} {_term(value)}" for name, value in statements(node))
        + " .\n"
        for node in nodes
    )


def _term(value: Value) -> str:
    # No text of this graph has a quote, a backslash or a line break, so none needs an escape.
    match value:
        case Iri():
            kind, _, key = value.removeprefix(ITEMS).partition("/")
            return f"{kind}:{key}"
        case Label():
            return f'"{value}"@en'
        case bool():
            return str(value).lower()
        case int():
            return str(value)
        case date():
            return f'"{value.isoformat()}"^^xsd:date'
        case _:
            return f'"{value}"'


def compressed(text: str) -> bytes:
    """Compress with neither time nor file name in the header, so that equal text is equal bytes.

    This holds for one zlib: zlib-ng, which some builds of Python use, makes other bytes.
    """
    buffer = BytesIO()
    with gzip.GzipFile("", "wb", 9, buffer, mtime=0) as stream:
        stream.write(text.encode())
    return buffer.getvalue()


def truth(world: World) -> dict[str, Any]:
    """Tell what is in the graph and what goes with what, all of it counted."""
    sizes: dict[str, int] = {}
    for node in world.nodes.values():
        name = f"{node.file}.ttl.gz"
        sizes[name] = sizes.get(name, 0) + 1 + sum(1 for _ in statements(node))
    return {
        "seed": world.seed,
        "triples": sum(sizes.values()),
        "graphs": dict(sorted(sizes.items())),
        "questions": [_asked(world, question) for question in QUESTIONS],
    }


def _asked(world: World, question: Question) -> dict[str, Any]:
    papers = [paper for paper in world.papers if question.population(world, paper)]
    with_it = {paper.iri for paper in papers if question.outcome(world, paper)}

    def told(factor: Factor) -> dict[str, Any]:
        inside = {paper.iri for paper in papers if factor.inside(world, paper)}
        pattern = f"{question.asked} {factor.query}"
        return {
            "name": factor.name,
            "kind": factor.kind,
            "cause": factor.cause,
            "region": factor.region,
            "query": "".join(
                f"PREFIX {name}: <{PREFIXES[name]}> " for name in ("ex", "skos", "xsd")
            )
            + f"SELECT DISTINCT ?focus WHERE {{ {pattern} }}",
            "inside": {"failing": len(with_it & inside), "population": len(inside)},
            "outside": {
                "failing": len(with_it - inside),
                "population": len(papers) - len(inside),
            },
        }

    return {
        "name": question.name,
        "query": f"{question.name}.rq",
        "at": question.at,
        "population": len(papers),
        "failing": len(with_it),
        "factors": [told(factor) for factor in question.factors],
        "proxies": [told(factor) for factor in question.proxies],
    }


def table(questions: list[dict[str, Any]]) -> str:
    """Write what was planted as a Markdown table."""
    rows = [
        "| question | with it | of | what is there | region | with it in there | of |",
        "|---|---:|---:|---|---|---:|---:|",
    ]
    for asked in questions:
        told = [(one, f"factor: {one['name']}") for one in asked["factors"]]
        told += [(one, f"proxy only: {one['name']}") for one in asked["proxies"]]
        start = f"| {asked['name']} | {asked['failing']} | {asked['population']} "
        for one, what in told:
            inside = " | ".join(str(one["inside"][key]) for key in ("failing", "population"))
            rows.append(f"{start}| {what} | {one['region']} | {inside} |")
        if not told:
            rows.append(f"{start}| nothing | none | - | - |")
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
        made = table(found["questions"])
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
