"""Servers on loopback that benchmarks put the same quads into: Oxigraph, Virtuoso, Jena, Fuseki."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pyoxigraph as ox

from tests.endpoint_server import oxigraph_server
from tests.fuseki_server import fuseki_server
from tests.jena_server import jena_server
from tests.virtuoso_server import virtuoso_server

SERVERS: Final = ("oxigraph", "virtuoso", "jena", "fuseki")
_UNNAMED: Final = "urn:x-unnamed"
_NAMED: Final = 50


@dataclass(frozen=True)
class Standing:
    """A server that answers: its endpoint, the options of an investigation of it, and its state.

    `holds` gives a text that is another one once anything has been changed there.
    """

    address: str
    options: dict[str, Any]
    holds: Callable[[], str]


@contextmanager
def standing(name: str, quads: Path, folder: Path) -> Iterator[Standing]:
    """Load a file of N-Quads into a server of a name, and run it in a folder of its own.

    Where the graphs are few, those of the file are named: Virtuoso has others of its own, and
    Jena's default graph is empty. Where they are many, Jena's default graph is their union. Fuseki
    keeps them in a TDB2 on disk.
    """
    folder.mkdir()
    if name == "oxigraph":
        with oxigraph_server({}, nquads=[quads]) as served:
            yield Standing(served.address, {}, served.dump)
        return
    graphs = _graphs(quads)
    named = {"graphs": graphs} if len(graphs) <= _NAMED else {}
    if name == "virtuoso":
        with virtuoso_server({_UNNAMED: quads}, folder) as other:
            yield Standing(other.address, named, other.holds)
    elif name == "fuseki":
        with fuseki_server([quads], on_disk=True, union=not named) as served:
            yield Standing(served.address, named, served.dump)
    else:
        with jena_server([quads], union=not named) as served:
            yield Standing(served.address, named, served.dump)


def _graphs(quads: Path) -> Sequence[str]:
    found = {
        one.graph_name.value if isinstance(one.graph_name, ox.NamedNode) else _UNNAMED
        for one in ox.parse(path=str(quads), format=ox.RdfFormat.N_QUADS)
    }
    return tuple(sorted(found))
