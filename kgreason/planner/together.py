"""Several goals worked on together: their tools run side by side, one process writes.

What is next for each goal is decided in this process, in the order of the goals. Tools whose scope
says so (`trails:besideOthers`) only read the graph that is loaded, so they are called in forked
processes; the others are called here, in turn. All calls are recorded here, in the order of the
goals. So the record is the same for any number of processes.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial

from kgreason.base.budget import ask
from kgreason.base.workers import Workers, side_by_side
from kgreason.planner.reasoner import Move, Seen
from kgreason.planner.session import Session, resting
from kgreason.planner.tool_observation import Observation
from kgreason.record.record import Node


@dataclass
class Task:
    """The work on one goal: its question and node, the calls that were made, and how it ended.

    `end` is the move that answers it, or says why there is no answer; None until then. `left` are
    the words of the question that the answer takes no account of.
    """

    question: str
    goal: Node
    done: list[tuple[Seen, Node]] = field(default_factory=list)
    end: Move | None = None
    left: tuple[str, ...] = ()

    def rests_on(self) -> list[Node]:
        """Return the calls that the answer rests on."""
        return [] if self.end is None else resting(self.end, self.done)


def work_on(session: Session, tasks: Sequence[Task], jobs: int) -> None:
    """Make the next call of each task, in at most so many processes, and record them in order.

    A task that calls for no tool any more has its end. Raises Spent where the budget ends the work;
    what was recorded until then stays.
    """
    calls: list[tuple[Task, Move]] = []
    for task in tasks:
        move, left = session.decided(task.question, [seen for seen, _ in task.done])
        if move.tool:
            calls.append((task, move))
        else:
            task.end, task.left = move, left
    with _called(session, [move for _, move in calls], jobs) as found:
        for place, (task, move) in enumerate(calls):
            ask(session.context.budget, f"tool {move.tool}")
            task.done.append(session.recorded(move, found(place), task.goal))


@contextmanager
def _called(
    session: Session, moves: Sequence[Move], jobs: int
) -> Iterator[Callable[[int], Observation]]:
    """Call the tools of some moves; gives what that of a place found, within."""
    works = [partial(session.looked, move) for move in moves]
    reading = [place for place, move in enumerate(moves) if _beside_others(session, move)]
    if not side_by_side(len(reading), jobs):
        yield lambda place: works[place]()
        return
    with Workers([works[place] for place in reading], jobs) as workers:
        places = {place: number for number, place in enumerate(reading)}
        yield lambda place: workers.result(places[place]) if place in places else works[place]()


def _beside_others(session: Session, move: Move) -> bool:
    tool = session.offered.get(move.tool)
    return tool is not None and tool.beside_others
