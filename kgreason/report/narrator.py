"""Narrators: whoever adds words of its own to a report, behind one protocol.

The sentences and figures of a report are made by the queries of `queries/report/`; they stand,
whoever narrates. A narrator is shown a block of the report and may add a passage to it, which is
marked as its own. It cannot take anything away, and a passage with a number that the block does not
have is left out, with a notice.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final, Protocol

from kgreason.record.agents import ENGINE, Agent
from kgreason.report.document import Block, Document, Narration

_LONGEST: Final = 2_000
_OWN: Final = "All sentences and figures of this report are made from the record by kgreason."
_TOLD_BY: Final = (
    "Passages with a name before them are the words of {}, added to this report. All other "
    "sentences, and all figures, are made from the record by kgreason."
)
_NUMBER: Final = re.compile(r"\d+(?:[.,]\d+)*")


class Narrator(Protocol):
    """Adds words to a report; `agent` is named beside them."""

    @property
    def agent(self) -> Agent:
        """Who it is."""
        ...

    def narrate(self, block: Block, facts: tuple[str, ...], /) -> str:
        """Return a passage about a block, in plain text, or nothing.

        `facts` are what the block says, sentence by sentence and row by row.
        """
        ...


@dataclass(frozen=True)
class Templates:
    """The words of the templates alone: what every report has."""

    agent: Agent = ENGINE

    def narrate(self, _block: Block, _facts: tuple[str, ...], /) -> str:
        """Return nothing: the sections have said it."""
        return ""


TEMPLATES: Final = Templates()


def narrated(document: Document, narrator: Narrator) -> Document:
    """Return a document with the passages of a narrator, and a sentence that says who that is."""
    notices = list(document.notices)
    who = _OWN if narrator.agent == ENGINE else _TOLD_BY.format(narrator.agent.label)
    blocks = [_told(block, narrator, notices) for block in document.blocks]
    return replace(document, blocks=blocks, notices=notices, narrator=who)


def _told(block: Block, narrator: Narrator, notices: list[str]) -> Block:
    facts = tuple(said(block))
    inner = tuple(_told(each, narrator, notices) for each in block.blocks)
    text = " ".join(narrator.narrate(block, facts).split())
    name = narrator.agent.label
    strange = sorted(set(_NUMBER.findall(text)) - set(_NUMBER.findall(" ".join(facts))))
    heading = f"“{block.heading.text}”" if block.heading else "the report"
    if strange:
        notices.append(
            f"A passage of {name} on {heading}: it has the number {strange[0]}, which the record "
            "does not give there."
        )
    elif len(text) > _LONGEST:
        notices.append(f"A passage of {name} on {heading}: it has over {_LONGEST} characters.")
    elif text:
        return replace(block, blocks=inner, narration=Narration(name, text))
    return replace(block, blocks=inner)


def said(block: Block) -> Iterator[str]:
    """Return what a block says of itself, sentence by sentence and row by row, as plain text."""
    if block.heading is not None:
        yield block.heading.text
        yield block.heading.sentence
    for section in block.sections:
        yield from (item.sentence for item in section.content.items)
        for row in section.content.rows:
            yield " ".join(cell.text for cell in row)
