"""kgreason beside RiskLoc, AutoRoot, Adtributor and RobustSpot on the data sets of RiskLoc.

`python benchmarks/riskloc_bench.py CHECKOUT --python OTHER --sets RS S L --out results.jsonl` reads
a checkout of github.com/shaido987/riskloc (MIT; nothing of it is kept here). `--python` is one that
has pandas, scipy, kneed, loguru and pyyaml, for the other methods, which run with their own
defaults; one that is stopped after `--seconds` has no answer. RS is in the checkout; S and L are
generated there first:

    python generate_dataset.py --num 22 --dataset-name S --seed 121
    python generate_dataset.py --num 20 --dataset-name L --seed 122 --dims 10 24 10 15 \
        --noise-level 0.0 0.1 --anomaly-severity 0.5 1.0 --anomaly-deviation 0.0 0.0 \
        --num-anomaly 1 5 --num-anomaly-elements 1 1 --only-last-layer

Each row of an instance becomes a node with its attributes; its IRI says nothing of its place, for
rows are sorted by attributes and the other methods do not see their numbers. The others see how far
each row is from what was predicted; kgreason sees a yes or no: whether the row is beyond RiskLoc's
own cut. What it supports is read off its nodes: the attributes that all of them share, or the
values of one attribute with those that each shares. `climbing` is what the same yes or no gives
without tests: the conjunction that saves most bits, grown value by value, then the next on what is
left.
"""

import argparse
import hashlib
import json
import math
import subprocess
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pyoxigraph as ox

import kgreason

ROW: Final = "https://example.org/rows/"
METHODS: Final = ("riskloc", "autoroot", "adtributor", "robustspot")
ALIKE: Final = 0.8
VALUES: Final = 6
DEEP: Final = 5
BEAM: Final = 8
STORY: Final = 5
TOLD: Final = 10.0
OTHERS: Final = r"""
import contextlib, io, json, signal, sys, time
folder, name, file, out = sys.argv[1:5]
def stop(*_):
    raise TimeoutError("stopped")
signal.signal(signal.SIGALRM, stop)
sys.path.insert(0, folder)
import warnings
warnings.filterwarnings("ignore")
from utils import argument_parser, run_utils
from utils.element_scores import add_deviation_score
from utils.evaluation import root_cause_postprocessing, score_root_causes
from algorithms.riskloc import add_partition, get_cutoff
where, rs = f"{folder}/data/{name}", name == "RS"
df, attributes, a, b = run_utils.read_dataframe(where, file, rs, rs)
label = run_utils.get_label(where, file, rs)
found = {}
seconds, methods = int(sys.argv[5]), sys.argv[6:]
for method in methods:
    sys.argv = ["run.py", method]
    options = argument_parser.get_input_arguments()[3]
    begun = time.process_time()
    signal.alarm(seconds)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            causes = run_utils.run_method(df.copy(), [a, b], attributes, method, options, rs, False)
        said = [str(s) for s in root_cause_postprocessing(causes, method)]
        error = None
    except Exception as problem:
        said, error = [], repr(problem)
    signal.alarm(0)
    tp, fp, fn, true = score_root_causes(said, label)
    found[method] = {"said": said, "tp": int(tp), "fp": int(fp), "fn": int(fn), "error": error,
                     "cpu": round(time.process_time() - begun, 2)}
cut = add_deviation_score(df.copy())
cut = cut[(cut["real"] != 0) | (cut["predict"] != 0)]
cut = add_partition(cut, get_cutoff(cut))
rows = [[*map(str, row[:-1]), int(row[-1])]
        for row in cut[[*attributes, "partition"]].itertuples(index=False)]
with open(out, "w", encoding="utf-8") as stream:
    json.dump({"true": [str(t) for t in true], "attributes": attributes, "rows": rows,
               "found": found}, stream)
"""

Bits = int
"""A set of rows: an integer with a bit for each."""


@dataclass(frozen=True)
class Instance:
    """One instance: its attributes, the values of each row, which rows are beyond the cut."""

    name: str
    attributes: Sequence[str]
    rows: Sequence[Sequence[str]]
    beyond: frozenset[int]
    true: frozenset[str]
    items: Mapping[tuple[str, str], Bits]

    def holding(self, label: str) -> Bits:
        """Return the rows of a conjunction such as a=a1&b=b2."""
        out = (1 << len(self.rows)) - 1
        for part in label.split("&"):
            attribute, _, value = part.partition("=")
            out &= self.items.get((attribute, value), 0)
        return out


def main() -> None:
    """Run the instances that are missing, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkout", type=Path, nargs="?")
    parser.add_argument("--python", default="python3", help="the one that the other methods run in")
    parser.add_argument("--sets", nargs="+", default=["RS"])
    parser.add_argument("--most", type=int, default=40, help="instances of a set")
    parser.add_argument(
        "--seconds", type=int, default=120, help="after which another method is stopped"
    )
    parser.add_argument("--policies", nargs="+", default=["code"])
    parser.add_argument("--out", type=Path, default=Path("riskloc.jsonl"))
    options = parser.parse_args()
    if options.checkout is None:
        print("Not run: name a checkout of github.com/shaido987/riskloc; see --help.")
        return
    known = _read(options.out)
    done = {(one["set"], one["file"]) for one in known}
    for name in options.sets:
        for file in files(options.checkout / "data" / name)[: options.most]:
            if (name, file) not in done:
                found = _one(options, name, file)
                known.append(found)
                with options.out.open("a", encoding="utf-8") as stream:
                    stream.write(json.dumps(found, ensure_ascii=False) + "\n")
    print("\n".join(table(known)))


def _read(file: Path) -> list[dict[str, Any]]:
    if not file.exists():
        return []
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def files(folder: Path) -> list[str]:
    """Return the names of the instances in a folder, sorted."""
    return sorted(f.stem for f in folder.glob("*.csv") if f.stem != "injection_info")


def _one(options: argparse.Namespace, name: str, file: str) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="kgreason-rows-") as folder:
        out = Path(folder) / "others.json"
        program = [options.python, "-c", OTHERS, str(options.checkout), name, file, str(out)]
        subprocess.run([*program, str(options.seconds), *METHODS], check=True)
        told = json.loads(out.read_text(encoding="utf-8"))
        instance = made(f"{name} {file}", told)
        found = dict(told["found"])
        begun = time.process_time()
        found["climbing"] = scored(climbed(instance), instance, time.process_time() - begun)
        data = Path(folder) / "rows.nt"
        ox.serialize(triples(instance), str(data), format=ox.RdfFormat.N_TRIPLES)
        for policy in options.policies:
            found[f"kgreason {Path(policy).stem}"] = attempted(instance, data, policy)
    sizes = [instance.holding(label).bit_count() for label in sorted(instance.true)]
    inside = [_count(instance, label) for label in sorted(instance.true)]
    return {
        "set": name,
        "file": file,
        "rows": len(instance.rows),
        "beyond": len(instance.beyond),
        "true": sorted(instance.true),
        "sizes": sizes,
        "true-beyond": inside,
        "found": found,
    }


def _count(instance: Instance, label: str) -> int:
    held = instance.holding(label)
    return sum(held >> row & 1 for row in instance.beyond)


def made(name: str, told: Mapping[str, Any]) -> Instance:
    """Return an instance from what the other program wrote."""
    attributes, rows = told["attributes"], [row[:-1] for row in told["rows"]]
    items: dict[tuple[str, str], Bits] = {}
    for number, row in enumerate(rows):
        for attribute, value in zip(attributes, row, strict=True):
            items[attribute, value] = items.get((attribute, value), 0) | 1 << number
    beyond = frozenset(number for number, row in enumerate(told["rows"]) if row[-1])
    return Instance(name, attributes, rows, beyond, frozenset(told["true"]), items)


# kgreason


def triples(instance: Instance) -> Iterator[ox.Triple]:
    """Return the graph: a node for each row; those beyond the cut lack `usual`."""
    cls = ox.NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")
    for number, row in enumerate(instance.rows):
        node = ox.NamedNode(f"{ROW}row/{_digest(number)}")
        yield ox.Triple(node, cls, ox.NamedNode(f"{ROW}Row"))
        for attribute, value in zip(instance.attributes, row, strict=True):
            yield ox.Triple(node, ox.NamedNode(f"{ROW}{attribute}"), ox.Literal(value))
        if number not in instance.beyond:
            yield ox.Triple(node, ox.NamedNode(f"{ROW}usual"), ox.Literal("yes"))


def _digest(number: int) -> str:
    return hashlib.sha256(str(number).encode()).hexdigest()[:12]


def attempted(instance: Instance, data: Path, policy: str) -> dict[str, Any]:
    """Return what `investigated` does; an investigation that breaks off has no answer."""
    try:
        return investigated(instance, data, policy)
    except Exception as error:  # noqa: BLE001 - one instance must not end the others
        return scored([], instance, 0.0) | {"error": repr(error)}


def investigated(instance: Instance, data: Path, policy: str) -> dict[str, Any]:
    """Return what kgreason supports, as conjunctions of attributes, with its F1 and CPU seconds."""
    begun = time.process_time()
    shapes = kgreason.Text(
        f"""@prefix sh: <http://www.w3.org/ns/shacl#> .
        <{ROW}Shape> a sh:NodeShape ; sh:targetClass <{ROW}Row> ;
          sh:property [ sh:path <{ROW}usual> ; sh:minCount 1 ] ."""
    )
    said: list[str] = []
    with kgreason.investigate(data, shapes=shapes, lenient=True, policy=policy) as result:
        symptoms = result.as_dict()["symptoms"]
        verdicts = [symptom["verdict"] for symptom in symptoms]
        answers = [
            h
            for symptom in symptoms
            for h in symptom["hypotheses"]
            if h["kind"] != "none" and h["status"] == "supported"
        ]
    store, where = stored(data), places(instance)
    for hypothesis in answers:
        held = region(store, hypothesis["region"], where)
        said += labels(held, instance) or [f"no conjunction: {hypothesis['statement']}"]
    found = scored(list(dict.fromkeys(said)), instance, time.process_time() - begun)
    return found | {"verdict": verdicts, "statements": [h["statement"] for h in answers]}


def stored(data: Path) -> ox.Store:
    """Return the rows in a named graph, for a region may ask where a statement stands."""
    store = ox.Store()
    source = ox.NamedNode(f"{ROW}source")
    store.bulk_load(path=str(data), format=ox.RdfFormat.N_TRIPLES, to_graph=source)
    return store


def places(instance: Instance) -> dict[str, int]:
    """Return the place of each row by the name that it has in the graph."""
    return {_digest(n): n for n in range(len(instance.rows))}


def region(store: ox.Store, query: str, places: Mapping[str, int]) -> Bits:
    """Return the rows that a region's query gives, each by its place."""
    out = 0
    rows = store.query(query, use_default_graph_as_union=True)
    for row in rows:  # type: ignore[union-attr]
        out |= 1 << places[row["focus"].value.rpartition("/")[2]]
    return out


def labels(held: Bits, instance: Instance, depth: int = 1) -> list[str]:
    """Return the conjunctions that hold these rows: one, or one for each value of an attribute."""
    if not held:
        return []
    shared = [(a, v) for (a, v), rows in instance.items.items() if held & ~rows == 0]
    if shared:
        label = "&".join(sorted(f"{a}={v}" for a, v in shared))
        rows = instance.holding(label)
        if held.bit_count() >= ALIKE * rows.bit_count():
            return [_short(label, rows, instance)]
    for attribute in instance.attributes if depth else ():
        parts = [held & rows for (a, _), rows in instance.items.items() if a == attribute]
        parts = [part for part in parts if part]
        if 1 < len(parts) <= VALUES:
            found = [labels(part, instance, depth - 1) for part in parts]
            if all(found):
                return sorted({label for some in found for label in some})
    return []


def _short(label: str, rows: Bits, instance: Instance) -> str:
    """Leave out what all rows of the others have anyway, such as an attribute with one value."""
    parts = label.split("&")
    for part in list(parts):
        rest = [p for p in parts if p != part]
        if rest and instance.holding("&".join(rest)) == rows:
            parts = rest
    return "&".join(parts)


# Climbing


def climbed(instance: Instance) -> list[str]:
    """Return conjunctions, each the one that saves most bits of telling what the last ones left."""
    left = sum(1 << row for row in instance.beyond)
    every = (1 << len(instance.rows)) - 1
    said: list[str] = []
    while len(said) < STORY:
        bits, label = _best(instance, every, left)
        if bits < TOLD:
            break
        said.append(label)
        every &= ~instance.holding(label)
        left &= every
    return said


def _best(instance: Instance, every: Bits, left: Bits) -> tuple[float, str]:
    size, failing = every.bit_count(), left.bit_count()
    words = math.log2(max(2, len(instance.items)))

    def worth(rows: Bits, length: int) -> float:
        held, bad = (rows & every).bit_count(), (rows & left).bit_count()
        if not held or bad * size <= failing * held:
            return -math.inf
        chance = _choose(held, bad) + _choose(size - held, failing - bad) - _choose(size, failing)
        cost = length * words - math.log2(math.factorial(length)) + 3
        return -cost - math.log2(min(held, failing) + 1) - chance

    best, beam = (0.0, ""), [(every, frozenset[tuple[str, str]]())]
    for _ in range(DEEP):
        found: dict[frozenset[tuple[str, str]], tuple[float, Bits]] = {}
        for rows, parts in beam:
            taken = {attribute for attribute, _ in parts}
            for item, holding in instance.items.items():
                if item[0] not in taken:
                    both = rows & holding
                    more = parts | {item}
                    if more not in found:
                        found[more] = (worth(both, len(more)), both)
        ranked = sorted(found.items(), key=lambda f: (-f[1][0], sorted(f[0])))[:BEAM]
        for parts, (bits, _) in ranked[:1]:
            if bits > best[0]:
                best = (bits, "&".join(sorted(f"{a}={v}" for a, v in parts)))
        beam = [(rows, parts) for parts, (bits, rows) in ranked if bits > -math.inf]
    return best


def _choose(many: int, some: int) -> float:
    logs = math.lgamma(many + 1) - math.lgamma(some + 1) - math.lgamma(many - some + 1)
    return logs / math.log(2)


# Scores


def scored(said: Sequence[str], instance: Instance, cpu: float) -> dict[str, Any]:
    """Score as the checkout does: a conjunction is right if it is one of the true ones."""
    right = sum(label in said for label in instance.true)
    return {
        "said": list(said),
        "tp": right,
        "fp": max(len(said) - right, 0),
        "fn": len(instance.true) - right,
        "error": None,
        "cpu": round(cpu, 2),
    }


def table(known: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Return F1, precision and recall of each method and set, over all instances at once."""
    for name in dict.fromkeys(one["set"] for one in known):
        some = [one for one in known if one["set"] == name]
        small = sum(beyond <= 2 for one in some for beyond in one["true-beyond"])
        many = sum(len(one["true"]) for one in some)
        yield ""
        yield (
            f"{name}: {len(some)} instances, {many} true causes, of which {small} have at most two "
            "rows beyond the cut."
        )
        yield ""
        yield "| method | F1 | precision | recall | recall, three rows or more | CPU s | failed |"
        yield "|---|---:|---:|---:|---:|---:|---:|"
        for method in dict.fromkeys(m for one in some for m in one["found"]):
            yield _row(method, [one for one in some if method in one["found"]])


def _row(method: str, some: Sequence[Mapping[str, Any]]) -> str:
    found = [one["found"][method] for one in some]
    tp, fp, fn = (sum(f[key] for f in found) for key in ("tp", "fp", "fn"))
    seen = [
        label in f["said"]
        for one, f in zip(some, found, strict=True)
        for label, beyond in zip(one["true"], one["true-beyond"], strict=True)
        if beyond > 2
    ]
    cells = [
        _share(2 * tp, 2 * tp + fp + fn),
        _share(tp, tp + fp),
        _share(tp, tp + fn),
        _share(sum(seen), len(seen)),
        f"{_middle([f['cpu'] for f in found]):.1f}",
        str(sum(f["error"] is not None for f in found)),
    ]
    return f"| {method} | {' | '.join(cells)} |"


def _share(some: int, many: int) -> str:
    return f"{some / many:.2f}" if many else ""


def _middle(numbers: Iterable[float]) -> float:
    order = sorted(numbers)
    return order[len(order) // 2]


if __name__ == "__main__":
    main()
