"""Synthetic tasks of DiscoveryBench: whether the right variables are told, on the right side.

`--repo DIR` is a clone of github.com/allenai/discoverybench (or its git folder); nothing of it is
kept here. A row of a table becomes a node, a column a property. The target of a task becomes an
outcome: true, at or above the median, or the most frequent word. A task is right where a supported
cause names a relevant variable and no other one, and its side is right where the rows inside have
the outcome more often than all rows. No model judges. The formulas of these tasks are mostly of
several variables, and a region of one or two can only say a part of them.
"""

import argparse
import csv
import io
import json
import re
import shutil
import statistics
import subprocess
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import kgreason
from kgreason import run
from kgreason.model.client import Client, Question, Reply
from kgreason.model.connection import Connection
from kgreason.model.opening import of_client
from kgreason.model.spending import Spending, estimate
from kgreason.observe.request import request_of
from kgreason.record import policy

BASE: Final = "https://example.org/table/"
ROWS: Final = 400
_ROW: Final = "SELECT ?focus ?outcome {{ ?focus a <{0}Row> ; <{0}has-outcome> ?outcome }}"
_PATH: Final = re.compile(r'^(P\d+) "([^"]*)" \(\d+ nodes\)(.*)$', re.MULTILINE)
_STANDS: Final = re.compile(r"^  (P\d+) (equals|contains) (\"[^\"]*\"|<[^>]*>) ", re.MULTILINE)
_BOUNDS: Final = re.compile(r"bounds (.*)$")


@dataclass(frozen=True)
class Task:
    """A question on a table: its target column, those that are relevant, and the rows."""

    name: str
    question: str
    target: str
    relevant: frozenset[str]
    rows: tuple[dict[str, str], ...]


def tasks(repo: Path, split: str) -> Iterator[Task]:
    """Return the tasks of a split, by name."""
    listed = _git(repo, "ls-tree", "-r", "HEAD", "--name-only").split("\n")
    folder = f"discoverybench/synth/{split}/"
    for name in sorted(n for n in listed if n.startswith(folder) and n.endswith(".json")):
        told = json.loads(_git(repo, "show", f"HEAD:{name}"))
        query = told["queries"][0]
        table = name.rpartition("/")[0] + "/" + told["datasets"][0]["name"]
        rows = tuple(csv.DictReader(io.StringIO(_git(repo, "show", f"HEAD:{table}"))))
        target = query["target_col"]
        relevant = frozenset(query["relevant_cols"]) - {target}
        if rows and target in rows[0] and relevant:
            yield Task(name.removeprefix(folder), query["question"], target, relevant, rows[:ROWS])


def _git(repo: Path, *words: str) -> str:
    made = subprocess.run(
        [shutil.which("git") or "git", "-C", str(repo), *words],
        capture_output=True,
        check=True,
        text=True,
        encoding="utf-8",
        errors="replace",
    )
    return made.stdout


def outcomes(task: Task) -> list[bool]:
    """Return for each row whether it has the outcome."""
    values = [row[task.target].strip() for row in task.rows]
    if {value.lower() for value in values} <= {"true", "false", ""}:
        return [value.lower() == "true" for value in values]
    try:
        numbers = [float(value) for value in values]
    except ValueError:
        (most, _), *_ = Counter(values).most_common(1)
        return [value == most for value in values]
    middle = statistics.median(numbers)
    found = [number >= middle for number in numbers]
    return found if not all(found) else [number > middle for number in numbers]


def graph(task: Task) -> str:
    """Return the table as Turtle, with the outcome and without the target."""
    out = []
    for number, (row, has) in enumerate(zip(task.rows, outcomes(task), strict=True)):
        said = [f"a <{BASE}Row>", f"<{BASE}has-outcome> {str(has).lower()}"]
        said += [
            f"<{BASE}{_plain(column)}> {_literal(value)}"
            for column, value in row.items()
            if column and column != task.target and value and value.strip()
        ]
        out.append(f"<{BASE}row/{number}> {' ; '.join(said)} .")
    return "\n".join(out)


def _plain(column: str) -> str:
    return re.sub(r"\W", "-", column)


def _literal(value: str) -> str:
    text = value.strip()
    if text.lower() in {"true", "false"}:
        return text.lower()
    try:
        return f'"{float(text):f}"^^<http://www.w3.org/2001/XMLSchema#decimal>'
    except (ValueError, OverflowError):
        return json.dumps(text)


def reader(prompt: str) -> str:
    """Propose, as one who reads the question, what stands out of the columns that it names."""
    question = prompt.partition("# What is asked")[2].partition("# What is known")[0].lower()
    asked = set(re.findall(r"[a-z]{4,}", question))
    found = []
    for name, called, rest in _PATH.findall(prompt):
        words = set(re.findall(r"[a-z]{4,}", called.lower())) - {"outcome"}
        shared = len(words & asked) / max(1, len(words))
        bounds = _BOUNDS.search(rest)
        if shared >= 0.5 and bounds:
            several = [one.strip().strip('"') for one in bounds[1].split(",")]
            middle = several[len(several) // 2]
            found += [(shared, name, called, side, [middle]) for side in ("from", "until")]
        elif shared >= 0.5 and "values" in rest:
            told = re.search(r'values ("[^"]*"|<[^>]*>)', rest)
            if told:
                found.append((shared, name, called, "equals", [told[1].strip('"<>')]))
    found.sort(key=lambda one: (-one[0], one[1]))
    kinds = ("cohort", "source")
    return json.dumps(
        {
            "hypotheses": [
                {
                    "statement": f"The outcome of a row goes with {called} ({side}).",
                    "mechanism": "It is part of the formula.",
                    "prediction": "Rows like it have the outcome too.",
                    "expected_effect": "more of them",
                    "diagnosis": "a relation between columns",
                    "rationale": "the question names it",
                    "kind": kinds[n % 2],
                    "region": [{"path": name, "test": side, "values": values}],
                    "select": "",
                }
                for n, (_, name, called, side, values) in enumerate(found[:5])
            ]
        }
    )


@dataclass
class Scripted:
    """A client that reads the question by words; it is no model."""

    answer: Callable[[str], str]
    provider: str = "script"
    model: str = "reader"

    def complete(self, question: Question, /) -> Reply:
        """Return the answer of the script."""
        text = self.answer(question.prompt)
        return Reply(text, estimate(question.prompt), estimate(text))


def told(task: Task, client: Client | None, rules: str) -> tuple[set[str], list[bool]]:
    """Return the columns that supported causes name, and for each cause whether its side holds."""
    with tempfile.TemporaryDirectory() as folder:
        data, query = Path(folder) / "rows.ttl", Path(folder) / "outcome.rq"
        data.write_text(graph(task), encoding="utf-8")
        query.write_text(_ROW.format(BASE), encoding="utf-8")
        asked: dict[str, Any] = {"outcome": str(query), "question": task.question, "policy": rules}
        asked |= {"calibration": "none", "try_repairs": False}
        request = request_of(str(data), **asked)
        model = client and of_client(client, Spending(), policy.load(rules))
        result = run.begin(request, None, model=model or None)
    columns = {_plain(c): c for c in task.rows[0] if c}
    rate = sum(outcomes(task)) / len(task.rows)
    named: set[str] = set()
    sides = []
    for symptom in result.symptoms:
        for one in symptom.hypotheses:
            if one.status in {"supported", "converged"} and one.kind != "none":
                parts = re.findall(re.escape(BASE) + r"([\w-]+)", one.region or "")
                named |= {columns[part] for part in parts if part in columns}
                sides.append(one.inside.failing > rate * one.inside.population)
    return named, sides


def main() -> None:
    """Print a row for each task, and what they come to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repo", required=True, type=Path)
    parser.add_argument("--split", default="dev", choices=("train", "dev", "test"))
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--limit", type=int, default=10)
    parser.add_argument("--policy", default="code")
    parser.add_argument("--investigator", default="nobody", help="nobody, reader or openai:NAME")
    asked = parser.parse_args()
    client: Client | None = None
    if asked.investigator == "reader":
        client = Scripted(reader)
    elif asked.investigator != "nobody":
        client = Connection(asked.investigator)
    print(f"kgreason {kgreason.__version__}, {asked.split}, investigator {asked.investigator}")
    counts, ran = Counter[str](), 0
    every = list(tasks(asked.repo, asked.split))
    for task in every[asked.first : asked.first + asked.limit]:
        ran += 1
        named, sides = told(task, client, asked.policy)
        right = bool(named & task.relevant)
        counts["told"] += bool(named)
        counts["some right"] += right
        counts["none wrong"] += right and named <= task.relevant
        counts["side"] += right and all(sides)
        print(
            f"{task.name}: {', '.join(sorted(named)) or '-'} of {', '.join(sorted(task.relevant))}"
        )
    print(f"{ran} of {len(every)} tasks: " + ", ".join(f"{n} {counts[n]}" for n in counts))


if __name__ == "__main__":
    main()
