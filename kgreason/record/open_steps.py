"""Open steps of work: what the parent sent to workers, as its record says it.

A step of the phase Send names each step of work that is given out. It is open until a segment of
its name is joined, or the parent did the work itself; nothing else closes it. So whoever has the
ledger knows what a queue holds, whatever carries the messages.
"""

from collections.abc import Mapping

from kgreason.base.terms import PROV
from kgreason.record.record import Node, Record


def send(record: Record, work: Mapping[str, Node], round_: int) -> None:
    """Record steps of work as sent, by their names and symptoms; what was sent before is there."""
    known = {row["name"].value for row in record.select("sent-work")}
    new = {name: symptom for name, symptom in work.items() if name not in known}
    if not new:
        return
    step = record.step("Send")
    for name, symptom in new.items():
        node = step.make("OpenStep", PROV.Entity, workName=name, symptom=symptom, round=round_)
        step.describe(node, index=int(node.value.rpartition(":")[2]))
    record.commit(step)


def open_work(record: Record) -> list[str]:
    """Return the names of the steps of work that were sent and are not done, in their order."""
    rows = record.select("sent-work")
    return [row["name"].value for row in rows if row["open"].value in {"true", "1"}]
