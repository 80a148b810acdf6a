"""Sources whose names end alike are told apart by what stands before the end."""

from pathlib import Path

import pyoxigraph as ox

from kgreason.graph import load
from kgreason.graph.names import Names

FILES = ("tms/2020.ttl", "emu/2020.ttl", "emu/2021.ttl", "b.ttl")


def test_a_source_has_a_name_that_no_other_one_has(tmp_path: Path) -> None:
    for place, name in enumerate(FILES):
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"<urn:n{place}> <urn:p> 1 .", encoding="utf-8")
    graph = load([tmp_path])
    names = Names(graph)
    told = {names(ox.NamedNode(source.value)) for source in graph.named_graphs()}
    assert told == {"tms/2020.ttl", "emu/2020.ttl", "2021.ttl", "b.ttl"}
