"""The short answer: what is wrong, and for each cause why, how sure, and what to do next."""

import shlex
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from pyoxigraph import Literal, NamedNode

from kgreason.base.certainty import FAIR, HIGH
from kgreason.base.store import Row
from kgreason.base.templates import Value, role, template
from kgreason.record import Ledger, Record
from kgreason.record.divided import part_of, told_whole
from kgreason.record.ranking import hypotheses, symptoms
from kgreason.record.record import literal
from kgreason.report.causes import Cause, causes
from kgreason.report.cells import clean
from kgreason.report.pictures import Bars, Ways, rates, slices, way, weight_of

SHOWN: Final = 3
"""How many causes are told unless all are asked for."""
_HIGH: Final = literal(Decimal(str(HIGH)))
_FAIR: Final = literal(Decimal(str(FAIR)))
_LONGEST: Final = 600
_INDENT: Final = "    "
_LABEL: Final = 6
_OPEN: Final = "inconclusive"


@dataclass(frozen=True)
class NextStep:
    """What to do next, in a sentence, with the command that does it (what follows `kgreason`)."""

    words: str
    command: str | None = None


@dataclass(frozen=True)
class ToldCause:
    """What is said of a cause: the rule, the cause with both rates, how sure, and what to do.

    `others` are the names of the other rules that it is behind, and `also` says how far; `pictures`
    and the `way` show the data. The `statement` is the cause alone, of nodes that are called by
    their class.
    """

    cause: Cause
    rule: str
    why: str
    sure: str
    name: str
    others: tuple[str, ...]
    also: tuple[str, ...]
    step: NextStep
    pictures: tuple[Bars, ...] = ()
    way: Ways | None = None
    statement: str = ""


@dataclass(frozen=True)
class OpenSymptom:
    """A rule without a cause: its verdict, and what would decide where it is inconclusive."""

    id: str
    name: str
    counts: str
    verdict: str
    step: NextStep | None


@dataclass(frozen=True)
class Answer:
    """The short answer; `which` is what the investigation is called, such as I1.

    `suspected` says of each thing that was suspected what became of it.
    """

    which: str
    headline: str
    causes: tuple[ToldCause, ...]
    open: tuple[OpenSymptom, ...]
    suspected: tuple[str, ...] = ()


def answer(record: Record) -> Answer:
    """Return the short answer of an investigation, finished or not, from its record alone."""
    record = told_whole(record)
    which = called(record)
    found = [c for c in causes(record) if not c.told_with]
    naming = template("record", "symptom-name").fragment()
    asked = template("summary", "headline").render(investigation=record.iri, naming=naming)
    (said,) = record.store.select(asked)
    doubts = template("report", "suspected").render(investigation=record.iri, naming=naming)
    return Answer(
        which,
        _text(said["sentence"].value),
        tuple(_cause(record, one, which) for one in found),
        tuple(_without_cause(record, found)),
        tuple(_text(row["sentence"].value) for row in record.store.select(doubts)),
    )


def called(record: Record) -> str:
    """Return what an investigation is called in its ledger, such as I1."""
    return f"I{Ledger(record.store).number_of(record.iri)}"


def said(record: Record, hypotheses: Sequence[str]) -> str:
    """Return the sentence of a cause, of nodes that are called by their class.

    `hypotheses` are the IRIs of those that state it, first the one that it is told by.
    """
    first, _ = _rows(record, hypotheses)
    return _text(first["said"].value)


def _rows(record: Record, hypotheses: Sequence[str]) -> tuple[Row, list[Row]]:
    """Return what is said of the first hypothesis of a cause, and of all of them."""
    asked = template("summary", "cause").render(
        investigation=record.iri,
        hypotheses=[NamedNode(one) for one in hypotheses],
        naming=template("record", "symptom-name").fragment(),
    )
    rows = list(record.store.select(asked))
    return next((r for r in rows if r["hypothesis"].value == hypotheses[0]), rows[0]), rows


def _cause(record: Record, cause: Cause, which: str) -> ToldCause:
    first, rows = _rows(record, [h.id for h in cause.hypotheses])
    others = {r["symptom"].value: r for r in rows if r["symptom"] != first["symptom"]}
    told = NamedNode(first["hypothesis"].value)
    (how,) = record.select("sure", role="summary", hypothesis=told, high=_HIGH, fair=_FAIR)
    return ToldCause(
        cause,
        _text(first["broken"].value),
        _text(f"{first['cause'].value} {first['accounts'].value}"),
        _text(how["sure"].value),
        _text(first["titled"].value),
        tuple(_text(r["titled"].value) for r in others.values()),
        tuple(_text(f"{r['broken'].value} {r['accounts'].value}") for r in others.values()),
        next_step(record, told, which, cause.name),
        _pictures(record, first),
        _way(record, cause, first),
        _text(first["said"].value),
    )


def _way(record: Record, cause: Cause, row: Row) -> Ways | None:
    """Return the way to the condition; a slip of one property for another is no such way."""
    if cause.hypotheses[0].kind == "mapping":
        return None
    told = NamedNode(row["hypothesis"].value)
    return way(record, told, row["thing"].value, row["cause"].value)


def _pictures(record: Record, row: Row) -> tuple[Bars, ...]:
    """Return pictures of the data for the symptom that a cause reaches most of."""
    symptom = NamedNode(row["symptom"].value)
    spread = record.select("slices", role="summary", symptom=symptom)
    said = row["cause"].value, row["fail"].value
    return (rates(row), *slices(spread, *said, weight_of(row)))


def next_step(record: Record, hypothesis: NamedNode, which: str, cause: str) -> NextStep:
    """Return the first kind of next step that has something to say about a cause.

    `which` is what the investigation is called, such as I1, and `cause` what the cause is.
    """
    part = part_of(record, hypothesis.value)
    if part is not record:  # a command is about the investigation that has the nodes and the region
        which, cause = called(part), _name_in(part, hypothesis.value, cause)
    record = part
    values: dict[str, Value] = {
        "investigation": record.iri,
        "hypothesis": hypothesis,
        "which": Literal(which),
        "cause": Literal(cause),
        "naming": template("record", "symptom-name").fragment(),
        "mended": [Literal(family) for family in _mended()],
    }
    steps = _steps(record, "hypothesis", values)
    return next(steps, NextStep("Look at the evidence in the report.", f"report {which}"))


def _name_in(record: Record, hypothesis: str, cause: str) -> str:
    """Return what a hypothesis is called in the investigation that proposed it."""
    for one in causes(record):
        if any(h.id == hypothesis for h in one.hypotheses):
            return one.name
    known = [h for several in hypotheses(record).values() for h in several]
    return next((f"H{h.order}" for h in known if h.id == hypothesis), cause)


def _steps(record: Record, about: str, values: dict[str, Value]) -> Iterator[NextStep]:
    kinds = sorted(role("next").values(), key=lambda t: (int(t.header["order"]), t.name))
    for kind in kinds:
        if about not in kind.parameters:
            continue
        asked = kind.render(**{name: values[name] for name in kind.parameters})
        for row in record.store.select(asked):
            command = row["command"].value if "command" in row else None
            yield NextStep(_text(row["step"].value), command)


def _mended() -> Sequence[str]:
    """Return the families whose causes some repair mends; that a whole source can go is rare."""
    usual = (t for t in role("repair").values() if t.header["region"] != "named-graph")
    return sorted({family for t in usual for family in t.header["families"].split()})


def _without_cause(record: Record, found: Sequence[Cause]) -> Iterator[OpenSymptom]:
    """Return the symptoms that no cause was found for, or for most of whose nodes none was."""
    reached = {iri for cause in found for iri, nodes in cause.reach.items() if nodes}
    for row in symptoms(record):
        verdict = row["verdict"].value if "verdict" in row else _OPEN
        if verdict not in {_OPEN, "no systematic cause"}:
            continue
        values: dict[str, Value] = {
            "investigation": record.iri,
            "symptom": NamedNode(row["symptom"].value),
            "which": Literal(called(record)),
            "naming": template("record", "symptom-name").fragment(),
        }
        step = next(_steps(record, "symptom", values), None) if verdict == _OPEN else None
        whole = f" of {row['population'].value}" if "population" in row else ""
        name = _text(row["name"].value)
        rest = "the rest of the " if row["symptom"].value in reached else ""
        counts = f"{rest}{row['failing'].value}{whole} {_text(row['things'].value)}"
        yield OpenSymptom(row["symptom"].value, name, counts, verdict, step)


def text(
    told: Answer, *, ledger: str | None = None, everything: bool = False, width: int | None = None
) -> str:
    """Write a short answer as plain text, in about ten lines unless `everything` is asked for.

    Three lines a cause, of three causes at most; rules without a cause where there is room left.
    Lines are wrapped to `width` where one is given. `ledger` is the folder that the commands name;
    without one they name none. Commands are never broken.
    """
    first = told.causes if everything else told.causes[:SHOWN]
    room = len(told.open) if everything else max(SHOWN - len(first), 0)
    lines = _wrapped(told.headline, width, "", "")
    for doubt in told.suspected if everything else told.suspected[:SHOWN]:
        lines += _wrapped(doubt, width, "", "")
    for one in first:
        lines += _told(one, ledger, width, everything=everything)
    for symptom in told.open[:room]:
        lines += _open(symptom, ledger, width)
    more, rest = len(told.causes) - len(first), max(0, len(told.open) - room)
    lines += _where(told, more, rest, ledger, width)
    return "\n".join(lines).rstrip() + "\n"


def _told(
    one: ToldCause, ledger: str | None, width: int | None, *, everything: bool
) -> Iterator[str]:
    mark = f"{one.cause.name}  "
    rule = one.rule
    if one.others and not everything:
        rule += f" It is also behind {_named(one.others)}."
    yield from _wrapped(rule, width, mark, _INDENT)
    yield from _labelled("Why", f"{one.why} How sure: {one.sure}", width)
    for also in one.also if everything else ():
        yield from _labelled("Also", also, width)
    yield from _step(one.step, ledger, width)


def _named(others: Sequence[str]) -> str:
    """Return the names of other rules that a cause is behind, two of them at most."""
    named = [f"“{one}”" for one in others[:2]]
    rest = len(others) - len(named)
    more = [f"{rest} more rule{'' if rest == 1 else 's'}"] if rest else []
    head, last = [*named, *more][:-1], [*named, *more][-1]
    return f"{', '.join(head)} and {last}" if head else last


def _step(step: NextStep, ledger: str | None, width: int | None) -> list[str]:
    """Return what to do next; the command ends the line, or has one of its own where it is long."""
    if step.command is None:
        return _labelled("Next", step.words, width)
    lines = _labelled("Next", f"{step.words.removesuffix('.')}:", width)
    return _ended(lines, command(step.command, ledger), width, _INDENT + " " * _LABEL)


def _ended(lines: list[str], asked: str, width: int | None, indent: str) -> list[str]:
    """Return lines with a command at their end, on a line of its own where it is too long."""
    if width is None or len(lines[-1]) + 1 + len(asked) <= width:
        return [*lines[:-1], f"{lines[-1]} {asked}"]
    return [*lines, f"{indent}{asked}"]


def _open(one: OpenSymptom, ledger: str | None, width: int | None) -> Iterator[str]:
    name = f"{one.name[:1].upper()}{one.name[1:]}".removesuffix(".")
    yield from _wrapped(f"{name}: {one.counts}, {one.verdict}.", width, "-   ", _INDENT)
    if one.step is not None:
        yield from _step(one.step, ledger, width)


def _where(told: Answer, more: int, rest: int, ledger: str | None, width: int | None) -> list[str]:
    """Return where the rest is."""
    left = []
    if more:
        left.append(f"{more} more cause{'' if more == 1 else 's'}")
    if rest:
        left.append(f"{rest} rule{'' if rest == 1 else 's'} without a cause")
    said = "All of it, with the evidence, as a page:"
    asked = command(f"report {told.which} --out report.html", ledger)
    if left:
        page = "with the evidence as a page: --out report.html in place of --all"
        said = f"And {' and '.join(left)} ({page}):"
        asked = command(f"report {told.which} --all", ledger)
    return _ended(_wrapped(said, width, "", ""), asked, width, _INDENT)


def command(words: str, ledger: str | None) -> str:
    """Return a command that works when it is pasted into a shell."""
    return f"kgreason {words}" + ("" if ledger is None else f" --ledger {shlex.quote(ledger)}")


def _labelled(label: str, said: str, width: int | None) -> list[str]:
    head = f"{_INDENT}{label + ':':<{_LABEL}}"
    return _wrapped(said, width, head, " " * len(head))


def _wrapped(said: str, width: int | None, first: str, then: str) -> list[str]:
    if width is None:
        return [f"{first}{said}"]
    return textwrap.wrap(
        said,
        max(width, len(then) + 20),
        initial_indent=first,
        subsequent_indent=then,
        break_long_words=False,
        break_on_hyphens=False,
    ) or [first]


def _text(said: str) -> str:
    return clean(said, _LONGEST)
