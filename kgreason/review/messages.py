"""What a session says as it works, for readers who follow it: chunks of messages.

A message is what one property of one node of the record holds, so it is stored whole before its
first chunk is given out, and a reader who goes away loses nothing.
"""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import Any, Final, TextIO

import pyoxigraph as ox

from kgreason.base.templates import Fragment, template
from kgreason.base.terms import TRAILS
from kgreason.record import Record

_LONGEST: Final = 400
"""Characters of a chunk; it is cut after a blank where there is one."""
_PIECE: Final = re.compile(
    rf".{{1,{_LONGEST}}}\Z|.{{1,{_LONGEST}}}(?<=\s)|.{{1,{_LONGEST}}}", re.DOTALL
)


@dataclass(frozen=True)
class Chunk:
    """A piece of a message.

    `session_id` is the IRI of the investigation that says it, so that sessions that work side by
    side can be told apart. The contents of the chunks of one `message_id`, joined in their order,
    are what `property` of `node` holds (several values in lines). `kind` says what it is: question,
    thought, action, observation, answer, and the like. `about` is the IRI of the hypothesis, the
    symptom or the tool that it is about; `conversation` is the name that several sessions share.
    After `end_of_dialog` the session says no more.
    """

    message_id: str
    session_id: str
    kind: str
    content: str
    end_of_message: bool
    end_of_dialog: bool
    step: int
    time: str
    node: str
    property: str
    about: str | None = None
    conversation: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return it for JSON, as in docs/chunks.schema.json."""
        return {name: value for name, value in asdict(self).items() if value is not None}


def chunks(record: Record, step: ox.NamedNode | None = None) -> Iterator[Chunk]:
    """Return the messages of one step, or of all, in order and in chunks."""
    only = Fragment("" if step is None else f"BIND ({step} AS ?made)")
    text = template("record", "messages").render(investigation=record.iri, step=only)

    said = next(iter(record.store.values(record.iri, TRAILS.conversation, record.iri)), None)

    def message(row: Any) -> tuple[str, str, str]:
        return row["node"].value, row["property"].value, row["kind"].value

    for (node, property_, kind), several in groupby(record.store.select(text), message):
        rows = list(several)
        content = "\n".join(row["content"].value for row in rows)
        pieces = _PIECE.findall(content) or [""]
        name = property_.rpartition("#")[2]
        for place, piece in enumerate(pieces, start=1):
            yield Chunk(
                f"{node}#{name}",
                record.iri.value,
                kind,
                piece,
                end_of_message=place == len(pieces),
                end_of_dialog="last" in rows[0],
                step=int(rows[0]["step"].value),
                time=rows[0]["time"].value,
                node=node,
                property=property_,
                about=rows[0]["about"].value if "about" in rows[0] else None,
                conversation=None if said is None else said.value,
            )


@dataclass
class ChunkWriter:
    """Writes the chunks of each step that is recorded, one JSON object a line.

    Where they cannot be written, `gone` is told why, once, and the work goes on.
    """

    file: TextIO
    gone: Callable[[OSError], None]
    broken: bool = False

    def __call__(self, record: Record, step: ox.NamedNode) -> None:
        """Write what a step says."""
        if self.broken:
            return
        try:
            for one in chunks(record, step):
                self.file.write(json.dumps(one.as_dict(), ensure_ascii=False) + "\n")
            self.file.flush()
        except OSError as error:
            self.broken = True
            self.gone(error)
