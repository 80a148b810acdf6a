"""Run the queries behind a report again: those of a report given out before, and its claims."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from kgreason.audit import Sample, told
from kgreason.audit.merged import History
from kgreason.base.errors import OptionError
from kgreason.base.terms import PROV, TRAILS
from kgreason.record import Record
from kgreason.report import html, markdown
from kgreason.report.document import build
from kgreason.review.held import Given, compared

_MARK: Final = re.compile(
    r"<!-- report/(?P<md>[\w-]+) sha256=(?P<mddigest>[0-9a-f]{64}) -->"
    r'|<p class="made" title="(?P<htmldigest>[0-9a-f]{64})">report/(?P<html>[\w-]+) '
)


@dataclass(frozen=True)
class Other:
    """A section or claim that comes out otherwise now: which, and what differs."""

    what: str
    why: str


@dataclass(frozen=True)
class Resaid:
    """How many sections and claims were run again, what differs, and what to read first."""

    sections: int
    claims: int
    others: Sequence[Other]
    said: Sequence[str] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return it for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        counted = [
            f"{number} {what}" for number, what in
            ((self.sections, "sections"), (self.claims, "claims")) if number
        ]  # fmt: skip
        whole = f"Run again: {' and '.join(counted)}; {len(self.others)} come out otherwise."
        return "\n".join([whole, *self.said, *(f"{one.what}: {one.why}" for one in self.others)])


@dataclass(frozen=True)
class _Part:
    name: str
    digest: str
    text: str


def rerun(record: Record, report: Path | None, given: Given | None) -> Resaid:
    """Run the query of every section again, and of every claim on the data.

    Those are named whose digest differs from that in `report`, a report given out before, and those
    that say something else though the digest is the same; of the claims those for which the data
    give other counts, outcomes or citations. Raises OptionError where neither is given, or the file
    is no report, and the errors of reading data.
    """
    if report is None and given is None:
        raise OptionError("--rerun: give --given REPORT, --data PATH, or both.")
    sections = claims = 0
    others: list[Other] = []
    said: tuple[str, ...] = ()
    if report is not None:
        parts = _parts(_read(report))
        if not parts:
            raise OptionError(
                f"--given {report}: there is no digest in it; give a report of kgreason in "
                "Markdown or HTML."
            )
        as_page = "<html" in _read(report)[:1000].lower()
        again = html.render(record) if as_page else markdown.write(build(record))
        others += _sections(parts, _parts(again))
        sections = len(parts)
    if given is not None:
        claims = len(History(record).instances(TRAILS.Claim))
        said, differing = _claims(record, given)
        others += differing
    return Resaid(sections, claims, others, said)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or error
        raise OptionError(f"--given {path}: the file cannot be read ({why}).") from error


_LEDGER: Final = re.compile(
    r'(<pre class="command"><code>(?:(?!</code>).)*?) (?:<span>)?--ledger(?:(?!</code>).)*'
)


def _parts(text: str) -> list[_Part]:
    """Cut a report into its sections, each with what stands before its mark.

    Commands are compared without the folder of the ledger, which is not the record's.
    """
    text = _LEDGER.sub(r"\g<1>", text)
    parts, begun = [], 0
    for mark in _MARK.finditer(text):
        name, digest = mark["md"] or mark["html"], mark["mddigest"] or mark["htmldigest"]
        parts.append(_Part(name, digest, text[begun : mark.start()].strip()))
        begun = mark.end()
    return parts


def _sections(before: Sequence[_Part], now: Sequence[_Part]) -> Iterator[Other]:
    """Compare sections of the same name, in their order."""
    left: dict[str, list[_Part]] = {}
    for part in now:
        left.setdefault(part.name, []).append(part)
    seen: dict[str, int] = {}
    for part in before:
        seen[part.name] = number = seen.get(part.name, 0) + 1
        what = f"report/{part.name}, number {number}"
        same = left.get(part.name)
        if not same:
            yield Other(what, "the record gives no such section.")
            continue
        found = same.pop(0)
        if found.digest != part.digest:
            why = f"its query gives {found.digest[:12]}…, not {part.digest[:12]}…."
            yield Other(what, why)
        elif found.text != part.text:
            yield Other(what, "its query gives the same, but the report says something else.")
    for name, parts in left.items():
        for _ in parts:
            yield Other(f"report/{name}", "the record has a section that the report lacks.")


def _claims(record: Record, given: Given) -> tuple[tuple[str, ...], list[Other]]:
    """Return what to read first, and the claims that the data do not bear out, with the reason."""
    found = compared(record, given, Sample())
    nodes: dict[str, list[str]] = {}
    for one in found.differences:
        nodes.setdefault(one.node, []).append(told(one))
    history = History(record)
    out = []
    for claim in history.instances(TRAILS.Claim):
        said = history.properties(claim)
        grounds = [
            term.value
            for name in (TRAILS.symptom, TRAILS.hypothesis, TRAILS.cites, PROV.wasDerivedFrom)
            for term in said.get(name, ())
        ]
        why = [
            f"{node}: {' '.join(nodes[node])}" for node in dict.fromkeys(grounds) if node in nodes
        ]
        if why:
            statement = said[TRAILS.statement][0].value
            out.append(Other(f"{claim.value} “{statement}”", "; ".join(why)))
    return found.said, sorted(out, key=lambda other: other.what)
