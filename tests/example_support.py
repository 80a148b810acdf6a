"""What the tests of the shipped examples share: their files, and what is made again of them."""

from __future__ import annotations

import gzip
import re
import subprocess
import sys
from pathlib import Path

import pyoxigraph as ox

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
ENOUGH = 0.8
"""The Jaccard index from which two regions are the same, as in docs/bench.md."""


def generate(example: Path, *arguments: str | Path) -> bytes:
    """Run the script that makes an example; gives what it prints."""
    command = [sys.executable, "-B", example / "generate.py", *arguments]
    return subprocess.run(command, check=True, capture_output=True).stdout


def readme(example: Path) -> str:
    return (example / "README.md").read_text(encoding="utf-8")


def section(name: str, text: str) -> str:
    """Give what stands in a README between two marks."""
    found = re.search(rf"<!-- {name} -->\n(.*?)<!-- /{name} -->", text, re.DOTALL)
    assert found is not None, name
    return found.group(1)


def rows_of(table: str) -> list[list[str]]:
    """Give the cells of a table of a README, without their emphasis and its head."""
    return [
        [cell.strip(" *`") for cell in line.strip("|").split("|")]
        for line in table.splitlines()[2:]
    ]


def make_again(example: Path, out: Path, table: str) -> Path:
    """Make an example in another folder, with its README from one in which a table is missing."""
    bare = readme(example).replace(section(table, readme(example)), "")
    (out / "README.md").write_text(bare, encoding="utf-8", newline="\n")
    generate(example, "--out", out)
    return out


def data(example: Path) -> list[Path]:
    """Give the files of the graph, sorted."""
    return sorted((example / "data").glob("*.gz"))


def rdf_format(path: Path) -> ox.RdfFormat:
    return ox.RdfFormat.TURTLE if path.name.endswith(".ttl.gz") else ox.RdfFormat.N_TRIPLES


def sizes(files: list[Path]) -> dict[str, int]:
    """Give the number of triples by file."""
    return {
        path.name: sum(1 for _ in ox.parse(gzip.decompress(path.read_bytes()), rdf_format(path)))
        for path in files
    }


def filled(files: list[Path], ontology: Path | None = None) -> ox.Store:
    """Load each file into a graph of its own."""
    store = ox.Store()
    for path in files:
        store.bulk_load(
            gzip.decompress(path.read_bytes()),
            rdf_format(path),
            to_graph=ox.NamedNode(f"https://example.org/file/{path.name}"),
        )
    if ontology is not None:
        store.bulk_load(path=ontology)
    return store


def focus_nodes(store: ox.Store, query: str) -> set[str]:
    rows = store.query(query, use_default_graph_as_union=True)
    assert isinstance(rows, ox.QuerySolutions)
    return {row["focus"].value for row in rows}


def assert_same_content(files: list[Path], made: Path) -> None:
    """Hold a folder to the files that are shipped, before their compression."""
    assert [path.name for path in sorted(made.iterdir())] == [path.name for path in files]
    for path in files:
        content = gzip.decompress((made / path.name).read_bytes())
        assert content == gzip.decompress(path.read_bytes()), path.name


def assert_same_bytes(files: list[Path], made: Path) -> None:
    for path in files:
        assert (made / path.name).read_bytes() == path.read_bytes(), path.name
