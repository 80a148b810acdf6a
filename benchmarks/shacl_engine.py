"""Load and validate with one engine, and print what it took as JSON: for shacl_bench.py.

Arguments: kgreason|pyshacl|pyrudof, the data file, the shapes file. Runs in a process of its own,
so that its CPU time and peak memory are those of the engine alone.
"""

import json
import os
import resource
import sys
from collections.abc import Callable
from pathlib import Path

Step = Callable[[], int]


def cpu() -> float:
    """Return the CPU seconds of this process and its children."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def peak() -> float:
    """Give the greatest resident size of this process or a child, in MiB (Linux counts in KiB)."""
    who = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return max(resource.getrusage(w).ru_maxrss for w in who) / 1024


def kgreason(data: Path, shapes: Path) -> tuple[Step, Step]:
    """Return the steps of kgreason."""
    from kgreason.base.errors import KgreasonError  # noqa: PLC0415 - each engine imports its own
    from kgreason.graph import load  # noqa: PLC0415
    from kgreason.shacl import compile_shapes, observe_all, read_shapes  # noqa: PLC0415

    kept = {}

    def read() -> int:
        kept["graph"] = load([data])
        return kept["graph"].triples

    def validate() -> int:
        compiled = compile_shapes(read_shapes([shapes]), kept["graph"])
        if compiled.fallback:
            raise RuntimeError("a constraint of the benchmark did not compile")
        found = 0
        for _, outcome in observe_all(kept["graph"], compiled.constraints, seconds=3600):
            if isinstance(outcome, KgreasonError):
                raise outcome
            found += len(outcome.results)
        return found

    return read, validate


def pyshacl(data: Path, shapes: Path) -> tuple[Step, Step]:
    """Return the steps of pySHACL on an rdflib graph."""
    import pyshacl as engine  # noqa: PLC0415
    import rdflib  # noqa: PLC0415

    graph = rdflib.Graph()

    def read() -> int:
        graph.parse(data, format="nt")
        return len(graph)

    def validate() -> int:
        _, report, _ = engine.validate(
            graph, shacl_graph=rdflib.Graph().parse(shapes), advanced=True, inference="none"
        )
        if not isinstance(report, rdflib.Graph):
            raise TypeError(report)
        result = rdflib.URIRef("http://www.w3.org/ns/shacl#result")
        return sum(1 for _ in report.objects(None, result))

    return read, validate


def pyrudof(data: Path, shapes: Path) -> tuple[Step, Step]:
    """Return the steps of pyrudof with its native engine."""
    import pyrudof as engine  # noqa: PLC0415

    rudof = engine.Rudof(engine.RudofConfig())

    def read() -> int:
        rudof.read_data(str(data), engine.RDFFormat.NTriples)
        return 0

    def validate() -> int:
        rudof.read_shacl(str(shapes))
        return len(rudof.validate_shacl())

    return read, validate


ENGINES = {"kgreason": kgreason, "pyshacl": pyshacl, "pyrudof": pyrudof}


def main(engine: str, data: str, shapes: str) -> None:
    """Run both steps and print what they took."""
    read, validate = ENGINES[engine](Path(data), Path(shapes))
    start = cpu()
    read()
    loaded = cpu()
    results = validate()
    print(
        json.dumps(
            {
                "load_seconds": loaded - start,
                "validate_seconds": cpu() - loaded,
                "peak_mib": peak(),
                "results": results,
            }
        )
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
