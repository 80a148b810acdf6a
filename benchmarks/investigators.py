"""Scripted investigators on sown faults and nulls, beside the engine alone: `--seeds 0:100`.

They show that the plumbing holds: how often a true cause is told, and how often a false one, by
each investigator. They show nothing of how well a model reasons, for the good one is scripted.
With `--model` a real one takes part in their place. Rows are added to `--out`, a file of JSON
lines, so that a long run may be made in pieces; `--table FILE` prints what they come to.
"""

import argparse
import json
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import kgreason
from kgreason.audit import audit
from kgreason.computation import asked_designs
from kgreason.model import answers
from kgreason.model.client import Client
from kgreason.model.connection import Connection
from tests import chat_server, model_support
from tests.lifetime_support import of
from tests.model_support import acting, judging, narrated, tell

Answer = Callable[[str], str]
_TOKENS: Final = 60_000
"""What the calls of a run may cost; the record is looked at for calls beyond it."""


def blaming(prompt: str) -> str:
    """Judge for whatever names a feed, and against everything else."""
    asked = prompt.partition("# The question")[2].partition("# What is known")[0]
    return judging(1, 0) if "feed" in asked else judging(0, 1)


def _uncited(_: str) -> str:
    return narrated((1, "It is certain, with probability 1.0.", []), (2, "See E9999.", ["E9999"]))


INVESTIGATORS: Final[dict[str, Answer | None]] = {
    "nobody": None,
    "good": acting(
        model_support.good,
        lambda _: judging(0.8, 0.3),
        tell,
        read=chat_server.good_reader,
        design=chat_server.good_designer,
        choose=chat_server.good_chooser,
    ),
    "lazy": acting(chat_server.lazy, lambda _: judging(0.5, 0.5), _uncited),
    "confident": acting(
        chat_server.confident,
        lambda _: judging(1, 0),
        _uncited,
        read=chat_server.confident_reader,
        design=chat_server.confident_designer,
    ),
    "hostile": acting(
        chat_server.hostile,
        lambda _: "DROP ALL",
        lambda _: "DROP ALL",
        read=chat_server.hostile_reader,
        design=chat_server.hostile_designer,
        choose=chat_server.hostile_chooser,
    ),
    "biased": acting(model_support.biased, blaming, _uncited),
}
"""Who takes part beside the engine: it proposes, judges, designs tests, reads and narrates."""
_MOSTLY: Final = 0.5
_MINUTES: Final = """Notes of samples tell of a recall where the mass is missing, the office found.

Samples of a box lack a mass no more often than those of other boxes.

Samples of a feed lack their mass, say some, although nobody has counted them.
"""
"""What is looked up in a folder of documents, of which a model reads what bears on a hypothesis."""


def ran(seed: int, name: str, client: Client | None, *, null: bool) -> dict[str, Any]:
    """Return what came of one run: the true and false causes told, failures held, calls, faults.

    A cause is true where most of the nodes it holds have a note that tells of a recall. Faults are
    findings of the audit, and calls beyond the budget.
    """
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        options = model_support.recalls(Path(folder), null=null, seed=seed)
        if client is not None:
            (Path(folder) / "documents").mkdir()
            (Path(folder) / "documents" / "minutes.md").write_text(_MINUTES, encoding="utf-8")
            options["sources"] = [str(Path(folder) / "documents")]
        notes = {
            line.split()[0].removeprefix("e:")
            for file in (Path(folder) / "data").iterdir()
            for line in file.read_text(encoding="utf-8").splitlines()
            if any(note in line for note in model_support.RECALLED)
        }
        result = model_support.held(client, options, _TOKENS)
        told = _judged(result, notes, null=null)
        calls = list(of(result.record, "ModelCall").values())
        tokens = sum(int(c["inputTokens"][0]) + int(c["outputTokens"][0]) for c in calls)
        told |= {"calls": len(calls), "tokens": tokens, "beyond": tokens > _TOKENS}
        told["faults"] = len(audit(result.record).findings) if seed % 10 == 0 else None
        told |= {"sentences": len(of(result.record, "NarratedSentence"))}
    seconds = round(time.monotonic() - begun, 1)
    return {"who": name, "seed": seed, "null": null, "seconds": seconds} | told


def _judged(result: kgreason.Result, notes: set[str], *, null: bool) -> dict[str, Any]:
    """Count the true and false causes of a result, and the share of failures the true ones hold."""
    true, false, held = 0, 0, set[str]()
    failing = sum(symptom.failing for symptom in result.symptoms)
    for cause in result.causes:
        found = {one.node.rpartition("/")[2].strip(">"): one.fails for one in result.nodes(cause)}
        right = not null and len(found.keys() & notes) > _MOSTLY * len(found)
        true, false = true + right, false + (not right)
        held |= {node for node, fails in found.items() if right and fails}
    return {"true": true, "false": false, "held": round(len(held) / max(1, failing), 4)}


def table(rows: list[dict[str, Any]]) -> Iterator[str]:
    """Return the lines of a table in Markdown."""
    heads = (
        *("investigator", "faults, nulls", "true cause told", "failures held", "false cause told"),
        *("null with a cause", "calls", "beyond budget", "audit findings"),
    )
    yield f"| {' | '.join(heads)} |"
    yield "|---|---:|---:|---:|---:|---:|---:|---:|---:|"
    for name in dict.fromkeys(row["who"] for row in rows):
        own = [row for row in rows if row["who"] == name]
        sown, nulls = ([row for row in own if row["null"] is which] for which in (False, True))
        held = sum(row["held"] for row in sown) / max(1, len(sown))
        cells = [
            name,
            f"{len(sown)}, {len(nulls)}",
            f"{sum(bool(row['true']) for row in sown)}",
            f"{held:.3f}",
            f"{sum(bool(row['false']) for row in sown)}",
            f"{sum(bool(row['false']) for row in nulls)}",
            f"{sum(row['calls'] for row in own)}",
            f"{sum(row['beyond'] for row in own)}",
            f"{sum(row['faults'] or 0 for row in own)}",
        ]
        yield f"| {' | '.join(cells)} |"


def main() -> None:
    """Run investigators on seeds, or print the table of what was run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", default="0:3", help="from and to, as 0:100")
    parser.add_argument("--only", nargs="*", default=list(INVESTIGATORS))
    parser.add_argument("--model", help="a real one in place of the scripted, as openai:NAME")
    parser.add_argument("--out", type=Path, help="JSON lines that are added to")
    parser.add_argument("--seconds", type=float, default=480, help="begin nothing after these")
    parser.add_argument("--table", type=Path, help="only print the table of such a file")
    asked = parser.parse_args()
    if asked.table:
        lines = asked.table.read_text(encoding="utf-8").splitlines()
        print("\n".join(table([json.loads(line) for line in lines])))
        return
    first, last = map(int, asked.seeds.split(":"))
    answers.SECONDS = asked_designs.SECONDS = 1.0
    begun, rows = time.monotonic(), []
    names = [asked.model] if asked.model else asked.only
    for seed in range(first, last):
        for name in names:
            for null in (False, True):
                if time.monotonic() - begun > asked.seconds:
                    break
                answer = None if asked.model else INVESTIGATORS[name]
                client: Client | None = Connection(name) if asked.model else None
                if answer is not None:
                    client = model_support.Stub(answer)
                rows.append(ran(seed, name, client, null=null))
                if asked.out:
                    with asked.out.open("a", encoding="utf-8") as file:
                        file.write(json.dumps(rows[-1]) + "\n")
    print(f"kgreason {kgreason.__version__}, seeds {asked.seeds}")
    print("\n".join(table(rows)))


if __name__ == "__main__":
    main()
