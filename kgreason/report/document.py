"""A report before it is written: blocks of sections, each made by one query over the record.

A section is a file of `queries/report/`. Its header says how it is shown:

- `order`: where it stands; `title`, `intro`: what stands above it (no title: it goes on from the
  one before); `empty`: what is said when there are no rows (without it the section is left out);
- `layout`: heading, sentence, list, table, facts, figures, query or chart (see `layouts`);
- `most`: how many rows are shown; `bars`, `shares`, `badges`: columns shown as such (a bar of a
  number from 0 to 1, the same in per cent, a coloured word); `folded: yes`: closed at first;
- `cited: yes`: every row is a claim, which is refused unless it cites a node.

What it is about follows from its parameters: one with `hypothesis` is made for every hypothesis
that is told in full, one with `symptom` for every symptom, any other once.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Final

from pyoxigraph import NamedNode

from kgreason.base.errors import TemplateError
from kgreason.base.store import Results
from kgreason.base.templates import Template, Value, role, template
from kgreason.record import Record
from kgreason.record.divided import told_whole
from kgreason.record.ranking import hypotheses, rank, symptoms, told
from kgreason.report.causes import causes, named
from kgreason.report.layouts import LAYOUTS, Content, Heading, refused

_ROLE: Final = "report"
_EXPLORER: Final = "explore"
_OPEN: Final = "inconclusive"


@dataclass(frozen=True)
class Section:
    """A section with its rows, and what it takes to make it again: text, rows, digest of the rows.

    `digest` is the SHA-256 over the variables and the rows, one a line, as `digest` gives it.
    """

    template: Template
    content: Content
    query: str
    digest: str

    @property
    def title(self) -> str:
        """What stands above the section; it may be nothing."""
        return self.template.header.get("title", "")

    @property
    def layout(self) -> str:
        """How it is shown."""
        return self.template.header["layout"]

    @property
    def name(self) -> str:
        """The name of its file, without the ending."""
        return self.template.name

    def still_holds(self, record: Record) -> bool:
        """Run the query again; say whether it gives the very same rows."""
        return digest(record.store.select(self.query)) == self.digest


@dataclass(frozen=True)
class Narration:
    """A passage of a narrator, with the name of who tells it; it is no part of the record."""

    by: str
    text: str


@dataclass(frozen=True)
class Block:
    """Sections about one thing, under one heading; `level` is report, symptom or hypothesis."""

    level: str
    heading: Heading | None
    sections: tuple[Section, ...]
    blocks: tuple["Block", ...] = ()
    anchor: str = ""
    narration: Narration | None = None


@dataclass
class Document:
    """A whole report; `notices` say what was left out of it and why.

    `narrator` is the sentence that says whose words it holds, once somebody narrated.
    """

    investigation: str
    blocks: list[Block] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    narrator: str = ""

    def sections(self) -> Iterator[Section]:
        """Return every section, in order."""
        yield from _all(self.blocks)


def _all(blocks: Sequence[Block]) -> Iterator[Section]:
    for block in blocks:
        yield from block.sections
        yield from _all(block.blocks)


def build(record: Record) -> Document:
    """Make the report of an investigation, finished or not, by queries over its record alone."""
    document = Document(record.iri.value)
    maker = _Maker(record, document)
    plan = sorted(role(_ROLE).values(), key=lambda t: (_order(t), t.name))
    single = [t for t in plan if _scope(t) == "report"]
    several = [t for t in plan if _scope(t) != "report"]
    turn = _order(several[0]) if several else 0
    document.blocks.append(maker.block("report", [t for t in single if _order(t) < turn], {}))
    for number, symptom in enumerate(maker.ranked, start=1):
        document.blocks.append(maker.symptom(symptom, number, several))
    document.blocks.append(maker.block("report", [t for t in single if _order(t) >= turn], {}))
    return document


def part(record: Record, symptom: str, hypothesis: str | None = None) -> Block:
    """Make what a report says of a symptom, or would say of one of its hypotheses, told or not."""
    maker = _Maker(record, Document(record.iri.value))
    plan = sorted(role(_ROLE).values(), key=lambda t: (_order(t), t.name))
    if hypothesis is None:
        return maker.symptom(symptom, 1, [t for t in plan if _scope(t) == "symptom"])
    about: dict[str, Value] = {
        "symptom": NamedNode(symptom),
        "hypothesis": NamedNode(hypothesis),
        "told": [NamedNode(h.id) for h in maker.told[symptom]],
        "ranked": [NamedNode(h.id) for h in maker.ranked[symptom]],
    }
    return maker.block("hypothesis", [t for t in plan if _scope(t) == "hypothesis"], about)


def explored(record: Record, page: str, about: Mapping[str, Value]) -> Block:
    """Make a page of the explorer: the sections of `queries/explore/` that name it."""
    maker = _Maker(record, Document(record.iri.value))
    plan = [t for t in role(_EXPLORER).values() if t.header["page"] == page]
    return maker.block("report", sorted(plan, key=lambda t: (_order(t), t.name)), about)


def section(record: Record, name: str) -> Block:
    """Make one section of a report that is about the investigation, alone in a block."""
    maker = _Maker(record, Document(record.iri.value))
    return maker.block("report", [role(_ROLE)[name]], {})


def _order(section: Template) -> int:
    return int(section.header.get("order", "50"))


def _scope(section: Template) -> str:
    named = [name for name in ("hypothesis", "symptom") if name in section.parameters]
    return named[0] if named else "report"


class _Maker:
    """Makes sections of one record, and notes what had to be left out."""

    def __init__(self, record: Record, document: Document) -> None:
        record = told_whole(record)
        self.record = record
        self.document = document
        known = hypotheses(record)
        self.ranked = {
            row["symptom"].value: rank(
                known.get(row["symptom"].value, []),
                row["verdict"].value if "verdict" in row else _OPEN,
            )
            for row in symptoms(record)
        }
        self.told = {symptom: told(ranked) for symptom, ranked in self.ranked.items()}
        self.common: dict[str, Value] = {
            "investigation": record.iri,
            "naming": template("record", "symptom-name").fragment(),
            "nearest": template("record", "nearest").fragment(),
            "looking": template("record", "unexamined").fragment(),
            "numbered": named(causes(record)),
            "leading": [NamedNode(ranked[0].id) for ranked in self.ranked.values() if ranked],
        }

    def symptom(self, symptom: str, number: int, plan: Sequence[Template]) -> Block:
        """Make the block of one symptom, with a block for each hypothesis that is told in full."""
        about = NamedNode(symptom)
        full = [NamedNode(h.id) for h in self.told[symptom]]
        ranked = [NamedNode(h.id) for h in self.ranked[symptom]]
        values: dict[str, Value] = {"symptom": about, "told": list(full), "ranked": list(ranked)}
        first = self.block("symptom", [], {})
        inner: list[Block] = []
        for scope, group in groupby(plan, key=_scope):
            templates = list(group)
            if scope == "hypothesis":
                inner += [
                    self.block(scope, templates, {**values, "hypothesis": node}) for node in full
                ]
            else:
                made = self.block(scope, templates, values)
                if first.heading is None and made.heading is not None:
                    first = made
                else:
                    inner.append(made)
        return Block("symptom", first.heading, first.sections, tuple(inner), f"symptom-{number}")

    def block(
        self, level: str, templates: Sequence[Template], values: Mapping[str, Value]
    ) -> Block:
        """Make a block; its heading is the first section laid out as one."""
        heading: Heading | None = None
        sections = []
        for each in templates:
            section = self.section(each, values)
            if section is None:
                continue
            sections.append(section)
            if heading is None and section.layout == "heading":
                heading = section.content.heading
        return Block(level, heading, tuple(sections))

    def section(self, each: Template, values: Mapping[str, Value]) -> Section | None:
        """Make one section, or nothing where it has no rows and nothing to say about that."""
        layout = LAYOUTS.get(each.header.get("layout", ""))
        if layout is None:
            raise TemplateError(
                f"report/{each.path.name}: '#+ layout:' must be one of {', '.join(LAYOUTS)}."
            )
        query = request(each, {**self.common, **values})
        rows = self.record.store.select(query)
        content = layout(each, rows)
        self.document.notices += refused(each, rows)
        self.document.notices += content.notices
        if content.is_empty and not content.empty:
            return None
        return Section(each, content, query, digest(rows))


def request(section: Template, values: Mapping[str, Value]) -> str:
    """Return the query of a section; raises TemplateError for a parameter that is not offered."""
    unknown = sorted(set(section.parameters) - set(values))
    if unknown:
        raise TemplateError(
            f"report/{section.path.name}: there is no {unknown[0]!r} to be had; a section may take "
            f"{', '.join(sorted(values))}."
        )
    return section.render(**{name: values[name] for name in section.parameters})


def digest(rows: Results) -> str:
    """Return SHA-256 of a result: its variables, then each row as N-Triples terms, one a line."""
    seal = hashlib.sha256(" ".join(rows.variables).encode())
    for row in rows:
        line = "\t".join(str(row[name]) if name in row else "" for name in rows.variables)
        seal.update(b"\n" + line.encode())
    return seal.hexdigest()
