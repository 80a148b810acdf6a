"""How often the router gives a question the type of task that a person gave it.

`python benchmarks/router.py learn` or `unseen-4` (or a CSV file) prints the accuracy over all
questions, by type and by kind of question, each with its 95 % interval by Wilson (1927), and the
confusions. `--wrong` lists the questions that came out otherwise; it is not for `unseen-4`, for
what decides is run once and not looked into. benchmarks/questions/README.md tells of the questions.
"""

import argparse
import csv
import json
import math
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from kgreason.routing.router import route

FOLDER = Path(__file__).resolve().parent / "questions"
DECIDES = "unseen-4"
Z = 1.959964  # 97.5 % of the normal distribution


def wilson(right: int, of: int) -> tuple[float, float]:
    """Return the 95 % interval of a share by Wilson's score, JASA 22 (1927) 209-212."""
    if not of:
        return 0.0, 1.0
    share, z2 = right / of, Z * Z
    middle = (share + z2 / (2 * of)) / (1 + z2 / of)
    half = Z / (1 + z2 / of) * math.sqrt(share * (1 - share) / of + z2 / (4 * of * of))
    return max(0.0, middle - half), min(1.0, middle + half)


def scored(rows: list[dict[str, str]]) -> dict[str, Any]:
    """Return the accuracy over all rows, by type and by kind, and the confusions."""
    right: Counter[str] = Counter()
    of: Counter[str] = Counter()
    confused: Counter[str] = Counter()
    wrong, also = [], 0
    for row in rows:
        given = route(row["question"]).task_type
        keys = ("all", row["task_type"], f"kind: {row['note']}")
        fits = given == row["task_type"]
        also += fits or given in row["also_right"].split(";")
        for key in keys:
            of[key] += 1
            right[key] += fits
        if not fits:
            confused[f"{row['task_type']} taken for {given}"] += 1
            wrong.append({"id": row["id"], "question": row["question"], "given": given})
    return {
        "accuracy": {
            key: {
                "right": right[key],
                "of": of[key],
                "share": round(right[key] / of[key], 4),
                "interval": [round(end, 4) for end in wilson(right[key], of[key])],
            }
            for key in sorted(of, key=lambda k: (k != "all", k))
        },
        "withAlsoRight": round(also / max(1, len(rows)), 4),
        "confused": dict(confused.most_common()),
        "wrong": wrong,
    }


def main() -> None:
    """Score one file and print the table, or JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("which", help="learn, unseen, learn-2 and so on, or a CSV file")
    parser.add_argument("--wrong", action="store_true", help="list what came out otherwise")
    parser.add_argument("--json", action="store_true", help="print JSON")
    asked = parser.parse_args()
    path = Path(asked.which)
    if path.suffix != ".csv":
        path = FOLDER / f"{asked.which}.csv"
    if asked.wrong and path.stem == DECIDES:
        parser.error("what decides is not looked into; leave --wrong out.")
    with path.open(encoding="utf-8", newline="") as file:
        found = scored(list(csv.DictReader(file, strict=True)))
    if not asked.wrong:
        del found["wrong"]
    if asked.json:
        sys.stdout.write(json.dumps(found, indent=2) + "\n")
        return
    for key, one in found["accuracy"].items():
        low, high = one["interval"]
        share = f"{one['right']:>4} of {one['of']:<4} {one['share']:.3f}"
        sys.stdout.write(f"{key:<20} {share}  [{low:.3f}, {high:.3f}]\n")
    sys.stdout.write(f"{'with also_right':<20} {found['withAlsoRight']:.3f}\n")
    for what, many in found["confused"].items():
        sys.stdout.write(f"{many:>4} {what}\n")
    for one in found.get("wrong", ()):
        sys.stdout.write(f"{one['id']} {one['given']}: {one['question']}\n")


if __name__ == "__main__":
    main()
