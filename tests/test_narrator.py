"""Narrators: passages that somebody adds to a report are marked, and never change a figure."""

from dataclasses import dataclass, field

import pytest

from kgreason.record import Record
from kgreason.record.agents import Agent, agent
from kgreason.report import html, markdown
from kgreason.report.document import Block
from kgreason.report.narrator import Narrator
from tests.report_support import case


@dataclass
class Scripted:
    """Says of each symptom what a script says, and notes what it was shown."""

    script: dict[str, str]
    agent: Agent = field(default_factory=lambda: agent("Ada <b>"))
    shown: list[tuple[str, ...]] = field(default_factory=list)

    def narrate(self, block: Block, facts: tuple[str, ...], /) -> str:
        self.shown.append(facts)
        heading = block.heading
        return self.script.get(heading.text, "") if block.level == "symptom" and heading else ""


@pytest.fixture(scope="module")
def record() -> Record:
    return case()


def test_a_passage_is_marked_and_all_else_stands(record: Record) -> None:
    ada: Narrator = Scripted({"Part-weight": "The | feed\nis `old`."})
    plain, told = markdown.render(record), markdown.render(record, ada)
    lines = told.splitlines()
    mark = r"> **Ada \<b\>:** The \| feed is \`old\`."
    assert lines.count(mark) == 1
    assert lines.index(mark) > lines.index(
        next(li for li in lines if li.startswith("## Part-weight"))
    )
    rest = [line for line in lines if line != mark and line]
    own = [line for line in plain.splitlines() if line]
    assert rest[:-1] == own[:-1]
    assert own[-1] == (
        "*All sentences and figures of this report are made from the record by kgreason.*"
    )
    assert rest[-1].startswith(r"*Passages with a name before them are the words of Ada \<b\>")
    page = html.render(record, ada)
    assert "<b>Ada &lt;b&gt;:</b> The | feed is `old`.</blockquote>" in page
    assert "<b>Ada <b>" not in page


def test_a_number_that_the_record_does_not_give_is_left_out(record: Record) -> None:
    bad = Scripted({"Part-weight": "It explains 77 % of all.", "Part-maker": "It is one of 2."})
    told = markdown.render(record, bad)
    assert "77 % of all" not in told
    assert "the number 77, which the record does not give there" in told


def test_a_narrator_is_shown_what_the_block_says(record: Record) -> None:
    ada = Scripted({})
    markdown.render(record, ada)
    whole = " ".join(" ".join(facts) for facts in ada.shown)
    assert "Part-weight" in whole
    assert "Nodes described in the source" in whole


def test_a_passage_without_end_is_left_out(record: Record) -> None:
    told = markdown.render(record, Scripted({"Part-weight": "so " * 1000}))
    assert "so so" not in told
    assert "over 2000 characters" in told
