"""Whether a question divided by symptom ends with the causes of one investigation, and no more.

`python benchmarks/supervisor.py [N]` makes N graphs with planted causes and N without any (50 by
default), investigates each as a whole and divided, and prints what was the same, how many causes
were false, and what the division cost.

`python benchmarks/supervisor.py overhead [NODES]` takes one graph (of 1,000 nodes by default) with
sixteen broken rules, as `benchmarks/workers_bench.py` writes it, and prints CPU and wall-clock
seconds, steps and causes of the whole and of the divided investigation, in turn three times.
"""

import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from workers_bench import written  # type: ignore[import-not-found]  # beside this script

import kgreason
from kgreason.base.terms import TRAILS, TYPE

HEAD = "@prefix ex: <https://example.org/> .\n@prefix sh: <http://www.w3.org/ns/shacl#> .\n"
RULES = ("mass", "code", "date", "length")
TRAITS = {"madeBy": 6, "colour": 5, "line": 4, "shift": 3}
NODES = 240


def made(folder: Path, seed: int, *, planted: bool) -> set[tuple[str, str]]:
    """Write a graph and its shapes; give which trait was planted as a cause for which rule."""
    dice = random.Random(seed)
    causes = {
        rule: dice.choice(sorted(TRAITS)) for rule in RULES if planted and dice.random() < 0.7
    }
    levels = {rule: dice.randrange(TRAITS[trait]) for rule, trait in causes.items()}
    rows = []
    for n in range(NODES):
        traits = {trait: dice.randrange(size) for trait, size in TRAITS.items()}
        said = [f'ex:{trait} "{trait}{level}"' for trait, level in traits.items()]
        for rule in RULES:
            hit = rule in causes and traits[causes[rule]] == levels[rule]
            if dice.random() >= (0.85 if hit else 0.06):
                said.append(f"ex:{rule} {n}")
        rows.append(f"ex:p{n} a ex:Part ; {' ; '.join(said)} .")
    (folder / "data.ttl").write_text(HEAD + "\n".join(rows) + "\n", encoding="utf-8")
    paths = " , ".join(f"[ sh:path ex:{rule} ; sh:minCount 1 ]" for rule in RULES)
    shape = f"ex:Shape a sh:NodeShape ; sh:targetClass ex:Part ; sh:property {paths} .\n"
    (folder / "shapes.ttl").write_text(HEAD + shape, encoding="utf-8")
    return {(rule, f"{trait}{levels[rule]}") for rule, trait in causes.items()}


def trial(seed: int, *, planted: bool) -> Counter[str]:
    """Investigate one graph as a whole and divided, and count what came out."""
    out: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        truth = {level for _, level in made(folder, seed, planted=planted)}
        data, shapes = folder / "data.ttl", folder / "shapes.ttl"
        begun = time.process_time()
        whole = kgreason.investigate(data, shapes=shapes, calibration="none")
        once = time.process_time()
        parts = kgreason.plan("Why?", data, shapes=shapes, strategy="supervisor")
        out["whole ms"] = int(1000 * (once - begun))
        out["divided ms"] = int(1000 * (time.process_time() - once))
        alone = [cause["statement"] for cause in whole.as_dict()["causes"]]
        told = [row["said"].value for row in parts.result.ask("how-was-it-divided")
                if row["what"].value == "cause"]  # fmt: skip
        out["same"] = alone == told
        for where, causes in (("whole", alone), ("divided", told)):
            out[f"{where} causes"] = len(causes)
            out[f"{where} false"] = sum(not any(t in c for t in truth) for c in causes)
            out[f"{where} with a false one"] = bool(out[f"{where} false"])
    return out


def overhead(nodes: int) -> None:
    """Print what sixteen symptoms cost as a whole and divided, the best of three runs of each."""
    with tempfile.TemporaryDirectory() as name:
        asked = written(Path(name), nodes)
        asked.pop("try_repairs")  # plan() tries none
        figures: dict[str, list[tuple[float, float, int, int]]] = {}
        for _ in range(3):
            for how in ("whole", "symptom", "class"):
                begun, cpu = time.perf_counter(), time.process_time()
                result = (
                    kgreason.investigate(**asked)
                    if how == "whole"
                    else kgreason.plan("Why?", strategy="supervisor", split=how, **asked).result
                )
                cost = (time.process_time() - cpu, time.perf_counter() - begun)
                told = result.as_dict()
                quads = result.record.store.inner.quads_for_pattern(None, TYPE, TRAILS.Step)
                figures.setdefault(how, []).append((*cost, len(list(quads)), len(told["causes"])))
                result.close()
    print("| divided by | CPU s | wall s | steps | causes |\n|---|---:|---:|---:|---:|")
    for how, runs in figures.items():
        cpu, wall, steps, causes = min(runs)
        print(f"| {how} | {cpu:.1f} | {wall:.1f} | {steps} | {causes} |")


def main() -> None:
    """Run the trials of both kinds in turn, and print the sums every ten graphs."""
    if sys.argv[1:2] == ["overhead"]:
        overhead(int(sys.argv[2]) if len(sys.argv) > 2 else 1000)
        return
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 50
    totals: dict[bool, Counter[str]] = {True: Counter(), False: Counter()}
    for seed in range(number):
        for planted, total in totals.items():
            total.update(trial(seed + (0 if planted else 10_000), planted=planted))
        if (seed + 1) % 10 == 0 or seed + 1 == number:
            for planted, total in totals.items():
                told = ", ".join(f"{name} {count}" for name, count in sorted(total.items()))
                print(
                    f"{seed + 1} graphs {'with' if planted else 'without'} causes: {told}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
