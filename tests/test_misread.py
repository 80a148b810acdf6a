"""Letters that were read in the wrong encoding are found, and read again."""

from pathlib import Path

import pyoxigraph as ox
import pytest

from kgreason.graph import Graph, load
from kgreason.repair.misread import misread, reading

STREET = ox.NamedNode("https://example.org/street")
FORM = ox.Literal("[\u00c2-\u00f4][\u0080-\u2122]")


def graph_of(folder: Path, texts: list[str]) -> Graph:
    lines = [f"<https://example.org/{i}> {STREET} {ox.Literal(t)} ." for i, t in enumerate(texts)]
    (folder / "data.nt").write_text("\n".join(lines), encoding="utf-8")
    return load([folder / "data.nt"])


@pytest.mark.parametrize("encoding", ["cp1252", "latin-1"])
@pytest.mark.parametrize(
    "right", ["Gärtnerweg", "Żółw i łoś", "Улица Ленина", "Ågade \u2013 “Ø”", "東京"]
)
def test_what_was_misread_is_read_again(tmp_path: Path, right: str, encoding: str) -> None:
    wrong = "".join(bytes([b]).decode(encoding, "ignore") or chr(b) for b in right.encode("utf-8"))
    graph = graph_of(tmp_path, [wrong, "Am Bach"])
    made = reading(graph, STREET, FORM)
    assert made is not None
    query = (
        f"SELECT ?read WHERE {{ ?node {STREET} ?value . BIND (STR(?value) AS ?text) {made.text} }}"
    )
    assert {row["read"].value for row in graph.store.select(query)} == {right, "Am Bach"}


def test_texts_in_which_nothing_was_misread_have_no_reading(tmp_path: Path) -> None:
    graph = graph_of(tmp_path, ["Gärtnerweg", "Às vezes", "naïve €", "Â"])
    assert reading(graph, STREET, FORM) is None


def test_a_letter_of_which_a_byte_was_lost_is_left_out() -> None:
    assert dict(misread("GÃ¤rten in MÃ? und ð§")) == {"Ã¤": "ä"}
