"""A small graph with much to find out, and runs over it that were cut off after a step."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import pyoxigraph as ox
import pytest

import kgreason
from kgreason.base.terms import TRAILS
from kgreason.context.view import View
from kgreason.hypothesize import propose as proposing
from kgreason.hypothesize.frames import Proposal
from kgreason.record import Ledger, Record
from tests.lifetime_support import Node, asked, copied, nodes, of

_HEAD: Final = """@prefix e: <https://example.org/lab/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
"""
_SHAPES: Final = """@prefix e: <https://example.org/lab/> .
@prefix sh: <http://www.w3.org/ns/shacl#> .
e:Mass a sh:NodeShape ; sh:targetClass e:Sample ; sh:property [ sh:path e:mass ; sh:minCount 1 ] .
e:Weight a sh:NodeShape ; sh:targetClass e:Sample ;
    sh:property [ sh:path e:weight ; sh:minCount 1 ] .
e:Price a sh:NodeShape ; sh:targetClass e:Sample ; sh:property [ sh:path e:price ; sh:minCount 1 ] .
e:Note a sh:NodeShape ; sh:targetClass e:Sample ; sh:property [ sh:path e:note ; sh:minCount 1 ] .
"""


def several(folder: Path, **more: Any) -> dict[str, Any]:
    """Write four broken rules and give what to ask with.

    Goods lack their mass, by half, and one sort of them more often: only the class of all can be
    told. One feed lacks most weights and another half of what is left; prices stand under another
    property; notes are missing by chance.
    """
    (folder / "data").mkdir(parents=True, exist_ok=True)
    feeds: list[list[str]] = [[_HEAD] for _ in range(6)]
    for n in range(10):
        feeds[0].append(f"e:Sort{n} rdfs:subClassOf e:{'Goods' if n < 4 else 'Papers'} .")
    for number in range(300):
        sort, n, feed = number // 30, number % 30, number % 6
        bound = (n * 7 + sort * 3) % 11 < (9 if sort == 0 else 6)
        said = [f"e:s{number} a e:Sample , e:Sort{sort} ; e:mode {(number * 13) % 5}"]
        if not (bound if sort < 4 else (n + 5 * sort) % 11 == 0):
            said.append("e:mass 3")
        if not (
            number % 10 < 8 if feed == 1 else number % 4 == 0 if feed == 4 else number % 29 == 0
        ):
            said.append("e:weight 4")
        said.append("e:cost 5" if number % 7 in {2, 3} else "e:price 5")
        if (number * 37) % 101 > 11:
            said.append('e:note "n"')
        feeds[feed].append(" ; ".join(said) + " .")
    for feed, rows in enumerate(feeds):
        text = "\n".join(rows) + "\n"
        (folder / "data" / f"feed-{feed}.ttl").write_text(text, encoding="utf-8")
    shapes = folder / "shapes.ttl"
    shapes.write_text(_SHAPES, encoding="utf-8")
    asked = {"data": folder / "data", "shapes": shapes, "max_hypotheses": 3, "interventions": 4}
    return {"calibration": "none"} | asked | more


@dataclass
class Run:
    """An undisturbed run: its record, its steps in words, and what the ledger held after each."""

    record: Record
    steps: list[str]
    ledgers: list[list[ox.Quad]]

    def cut(self, steps: int, folder: Path) -> Path:
        """Write the ledger of a run that was killed once so many steps were written."""
        folder.mkdir(parents=True)
        store = ox.Store(str(folder))
        store.extend(self.ledgers[steps - 1])
        store.flush()
        return folder

    def last(self, phase: str) -> int:
        """Give the place of the last step of a phase, from 1."""
        return len(self.steps) - [s.split()[0] for s in reversed(self.steps)].index(phase)


def undisturbed(options: dict[str, Any], folder: Path) -> Run:
    """Investigate, and keep what the ledger held after each step."""
    commit, kept = Record.commit, []

    def committed(self: Record, *args: Any, **more: Any) -> None:
        commit(self, *args, **more)
        kept.append(list(self.store.inner))

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Record, "commit", committed)
        record = asked(options, ledger=folder)
    steps = steps_of(record)
    assert len(steps) == len(kept)
    return Run(record, steps, kept)


def steps_of(record: Record) -> list[str]:
    """Give the steps of a record in words."""
    found = sorted(of(record, "Step").values(), key=lambda said: int(said["index"][0]))
    return [_told(said) for said in found]


def told_in(record: Record, hypothesis: Node) -> str:
    """Give the round in which a hypothesis was proposed."""
    return nodes(record)[hypothesis["frame"][0]]["round"][0]


def _told(said: Node) -> str:
    """Say what a step was: its phase, with the symptom, round and stage that it was about."""
    what = [said["phase"][0].rpartition("#")[2]]
    what += [
        said[name][0].rpartition(":")[2] for name in ("symptom", "round", "stage") if name in said
    ]
    return " ".join(what)


@dataclass
class Proposer:
    """Answers in another way where it is asked for what is recorded, and notes it."""

    answers: str
    again: list[str] = field(default_factory=list)
    asked: set[tuple[str, int]] = field(default_factory=set)

    def __call__(
        self, view: View, most: int, rejected: Any, *wanting: Any, **more: Any
    ) -> Proposal:
        """Stand in for `kgreason.hypothesize.frames.propose`.

        Once so many rounds are recorded of a symptom, it may be asked once for the next; what was
        found wanting before is told in a later round than the first.
        """
        found: Proposal = _PROPOSE(view, most, rejected, *wanting, **more)
        symptom = rejected.__self__.symptom.node
        plans = rejected.__self__.context.record.select("steps-of", phase=TRAILS.Hypothesize)
        known = len([row for row in plans if row.get("symptom") == symptom])
        if (symptom.value, known) not in self.asked and bool(known) == bool(wanting):
            self.asked.add((symptom.value, known))
            return found
        self.again.append(f"{symptom.value}, of which {known} rounds are recorded")
        return ANSWERS[self.answers](found)


_PROPOSE: Final = vars(proposing)["propose"]


def _turned(found: Proposal) -> Proposal:
    frames = tuple(replace(f, members=f.members[::-1]) for f in found.frames[::-1])
    runs = tuple(replace(run, dropped=run.dropped[::-1]) for run in found.filterings)
    return replace(found, frames=frames, filterings=runs)


def _fewer(found: Proposal) -> Proposal:
    """Leave out the family that comes first."""
    gone = {f.members[0].family.name for f in found.frames[:1]}
    kept = (
        replace(f, members=tuple(c for c in f.members if c.family.name not in gone))
        for f in found.frames
    )
    return replace(found, frames=tuple(f for f in kept if f.members))


ANSWERS: Final[dict[str, Callable[[Proposal], Proposal]]] = {
    "in another order": _turned,
    "with a family fewer": _fewer,
    "not at all": lambda _: Proposal(),
}


@contextmanager
def proposer(answers: str) -> Iterator[Proposer]:
    """Have another proposer for as long as the context lasts."""
    made = Proposer(answers)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(proposing, "propose", made)
        yield made


def resumed(ledger: Path) -> Record:
    """Go on with the investigation of a ledger, and give its record."""
    with kgreason.resume(ledger) as result:
        return copied(result.record)


def entries(ledger: Path) -> int:
    """Give the number of statements in a ledger."""
    with Ledger.read(ledger) as store:
        return len(store.store.inner)
