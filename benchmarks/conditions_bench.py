"""What the search in conditions finds in natural faults, beside what their history says.

`python benchmarks/conditions_bench.py ../shared/data/natural` reads each case folder (data, shapes
or an outcome query, truth.json) and prints, for each symptom, the first regions with their bits,
those left where clusters are dealt as wholes, and the rates inside and outside.
"""

import argparse
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path

from kgreason.graph import load
from kgreason.graph.marks import Population
from kgreason.graph.names import Names
from kgreason.hypothesize.conditions import Atlas, Explored, Found, atlas_of, explore
from kgreason.hypothesize.conditions.views import view_of
from kgreason.observe.look import look
from kgreason.observe.request import request_of

LEAST = 5
DATA = Path(os.environ.get("KGREASON_DATA", Path(__file__).parents[2] / "shared" / "data"))
READY = DATA / "natural"


def main() -> None:
    """Print what is found in each case."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", default=READY, help="of folders of cases")
    parser.add_argument("--only", default="", help="cases whose name holds this text")
    parser.add_argument("--first", type=int, default=3, help="how many regions are shown")
    options = parser.parse_args()
    if not options.folder.is_dir():
        print(f"{options.folder}: there are no cases here; name a folder, or set KGREASON_DATA.")
        return
    for case in sorted(p for p in options.folder.iterdir() if p.is_dir()):
        if options.only in case.name:
            for line in told(case, options.first):
                print(line, flush=True)


def told(case: Path, first: int) -> Iterator[str]:
    """Tell of one case."""
    truth = case / "truth.json"
    said = json.loads(truth.read_text(encoding="utf-8")) if truth.is_file() else {}
    yield f"## {case.name}: {said.get('cause', '?')} {said.get('kinds', '')}"
    data = [str(p) for p in sorted(case.glob("data*"))]
    outcome = case / "outcome.rq"
    asked = {"outcome": str(outcome)} if outcome.is_file() else {"shapes": str(case / "shapes.ttl")}
    background = sorted(case.glob("ontology*"))
    request = request_of(data, lenient=True, ontology=background, **asked)
    graph = load([Path(p) for p in request.data], ontology=background, lenient=True)
    names, populations = Names(graph), dict[str, Population]()
    atlases: dict[str, Atlas] = {}
    for seen in look(graph, request).failing:
        if len(seen.observation.failing) < LEAST:
            continue
        view = view_of(graph, seen.constraint, seen.observation.failing, populations)
        key = view.marks.population.key
        started = time.process_time()
        if key not in atlases or not atlases[key].shared:
            atlases[key] = atlas_of(view)
        found = explore(view, atlas=atlases[key])
        spent = time.process_time() - started
        yield (
            f"# {seen.constraint.label}: {view.marks.failing_count} of "
            f"{view.marks.population.count} fail; {found.paths} paths, {found.conditions} "
            f"conditions, {len(found.unreached)} paths not reached, {spent:.1f} s"
        )
        yield from _shown(found, names, first)


def _shown(found: Explored, names: Names, first: int) -> Iterator[str]:
    for one in found.found[:first]:
        yield f"  {_line(one, names)}"
        if one.rival is not None:
            yield f"      or: {_line(one.rival, names)}"
    for one in found.restated[:1]:
        yield f"  restates ({one.restates}): {_line(one, names)}"


def _line(one: Found, names: Names) -> str:
    counts = one.table
    inside, outside = counts.inside_failing, counts.outside_failing
    sure = f"{one.sure:.0f} by {one.siblings}+ clusters" if one.weakest else "no clusters"
    return (
        f"{one.bits:.0f} bits ({sure}; {one.more:.0f} more; says {one.cost:.0f}) [{one.kind}] "
        f"{one.words(names)}: {inside} of {counts.inside} fail, of others {outside} of "
        f"{counts.outside}"
    )


if __name__ == "__main__":
    main()
