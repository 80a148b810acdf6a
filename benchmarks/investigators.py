"""Scripted investigators on sown faults and nulls, beside the engine alone: `--seeds 0:100`.

They show that the plumbing holds: how often a true cause is told, and how often a false one, by
each investigator. They show nothing of how well a model reasons, for the good one is scripted.
"""

import argparse
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import kgreason
from kgreason.model import answers
from tests import chat_server, model_support

INVESTIGATORS: dict[str, Callable[[str], str] | None] = {
    "nobody": None,
    "good": model_support.good,
    "lazy": chat_server.lazy,
    "confident": chat_server.confident,
    "hostile": chat_server.hostile,
    "biased": model_support.biased,
}
"""Who is asked beside the engine."""
_MOSTLY = 0.5


def told(seed: int, name: str, *, null: bool) -> tuple[int, int, float]:
    """Return the true and false causes that are told, and the share of failures of the true ones.

    A cause is true where most of the nodes it holds have a note that tells of a recall.
    """
    with tempfile.TemporaryDirectory() as folder:
        options = model_support.recalls(Path(folder), null=null, seed=seed)
        notes = {
            line.split()[0].removeprefix("e:")
            for file in (Path(folder) / "data").iterdir()
            for line in file.read_text(encoding="utf-8").splitlines()
            if any(note in line for note in model_support.RECALLED)
        }
        result, _ = model_support.advised(Path(folder), INVESTIGATORS[name], options=options)
        true, false, held = 0, 0, set[str]()
        failing = sum(symptom.failing for symptom in result.symptoms)
        for cause in result.causes:
            nodes = {one.node.rpartition("/")[2].strip(">") for one in result.nodes(cause)}
            right = not null and len(nodes & notes) > _MOSTLY * len(nodes)
            true, false = true + right, false + (not right)
            if right:
                held |= {
                    one.node.rpartition("/")[2].strip(">")
                    for one in result.nodes(cause)
                    if one.fails
                }
        return true, false, len(held) / max(1, failing)


def main() -> None:
    """Print a row for each investigator."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", default="0:3", help="from and to, as 0:100")
    parser.add_argument("--only", nargs="*", default=list(INVESTIGATORS))
    asked = parser.parse_args()
    first, last = map(int, asked.seeds.split(":"))
    answers.SECONDS = 1.0
    print(f"kgreason {kgreason.__version__}, seeds {asked.seeds}")
    print(
        "| investigator | true cause told | failures held | false cause told | nulls with a cause |"
    )
    print("|---|---:|---:|---:|---:|")
    for name in asked.only:
        found, held = Counter[str](), 0.0
        for seed in range(first, last):
            true, false, share = told(seed, name, null=False)
            found["true"] += bool(true)
            found["false"] += bool(false)
            held += share
            found["null"] += bool(told(seed, name, null=True)[1])
        runs = last - first
        row = [f"{found[one]}/{runs}" for one in ("true", "false", "null")]
        print(f"| {name} | {row[0]} | {held / runs:.2f} | {row[1]} | {row[2]} |", flush=True)


if __name__ == "__main__":
    main()
