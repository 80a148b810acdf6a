"""A result as text that CI reads: JUnit XML, GitHub annotations and job summary, CSV."""

import csv
import io
import re
from collections.abc import Iterator
from typing import Final
from xml.sax.saxutils import escape, quoteattr

from kgreason.report.export.findings import Findings, Rule

_SHOWN: Final = 20
_LONGEST: Final = 2_000
_NOT_XML: Final = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
HEADS: Final = (
    "cause",
    "statement",
    "rule",
    "level",
    "failing",
    "population",
    "explains",
    "confidence",
    "narrows",
    "fingerprint",
)


def junit(found: Findings) -> str:
    """Return a test suite of which each broken rule is a test case that fails, with its causes."""
    number = max(1, len(found.rules))
    said = "".join(_case(found, rule) for rule in found.rules)
    if not found.rules:
        said = '    <testcase classname="kgreason" name="No rule is broken"/>\n'
    counts = f'tests="{number}" failures="{len(found.rules)}"'
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f"<testsuites {counts}>\n"
        f'  <testsuite name="kgreason" {counts} errors="0" skipped="0">\n{said}'
        "  </testsuite>\n</testsuites>\n"
    )


def _case(found: Findings, rule: Rule) -> str:
    said = list(_causes(found, rule)) or ["No cause was found."]
    nodes = [one for one in found.failures if one.symptom == rule.symptom]
    lines = [f"{rule.counts}.", *said]
    lines += [
        f"- {one.node}{'' if one.value is None else f': {one.value}'}" for one in nodes[:_SHOWN]
    ]
    if len(nodes) > _SHOWN:
        lines.append(f"- and {len(nodes) - _SHOWN} more")
    where = quoteattr(_xml(rule.shape or "kgreason"))
    message = quoteattr(_xml(f"{rule.counts}. {said[0]}"))
    return (
        f"    <testcase classname={where} name={quoteattr(_xml(rule.name))}>\n"
        f"      <failure type={quoteattr(rule.level)} message={message}>"
        f"{escape(_xml(chr(10).join(lines)))}</failure>\n"
        "    </testcase>\n"
    )


def _xml(text: str) -> str:
    """Return a text without what XML 1.0 cannot hold."""
    return _NOT_XML.sub("\ufffd", text)


def _causes(found: Findings, rule: Rule) -> Iterator[str]:
    for cause in found.causes:
        if rule in cause.rules:
            yield f"{cause.id}: {cause.statement}"


def annotations(found: Findings) -> str:
    """Return workflow commands of GitHub Actions: one for each cause, and each rule without one."""
    lines = [
        _command(cause.level, cause.place, f"{cause.id}: {cause.rules[0].name}", cause.statement)
        for cause in found.causes
    ]
    lines += [
        _command(rule.level, None, rule.name, f"{rule.counts}, and no cause was found.")
        for rule in found.open
    ]
    return "".join(f"{line}\n" for line in lines)


def _command(level: str, place: tuple[str, int | None] | None, title: str, message: str) -> str:
    kind = "notice" if level == "note" else level
    given = {"title": title}
    if place is not None:
        file, line = place
        given |= {"file": file} if line is None else {"file": file, "line": str(line)}
    told = ",".join(f"{name}={_property(text)}" for name, text in sorted(given.items()))
    return f"::{kind} {told}::{_data(message)}"


def _data(text: str) -> str:
    """Escape a message as workflow commands want it; it stays on one line."""
    return text[:_LONGEST].replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def job_summary(found: Findings, headline: str) -> str:
    """Return a job summary in Markdown: the headline, and a table of causes."""
    lines = ["## kgreason", "", _inline(headline), ""]
    if found.causes:
        lines += ["| Cause | What it says | Rule | Failing nodes |", "|---|---|---|---:|"]
        for one in found.causes:
            cells = (one.id, _inline(one.statement), _inline(one.rules[0].name), one.explains)
            lines.append("| {} | {} | {} | {} |".format(*cells))
        lines.append("")
    lines += [f"- No cause was found: {_inline(one.name)} ({one.counts})." for one in found.open]
    return "\n".join(lines) + "\n"


def _inline(text: str) -> str:
    """Return data as words of a Markdown table, never as markup."""
    one = " ".join(text.split())
    return re.sub(r"([\\`*_{}\[\]<>#|!@])", r"\\\1", one)


def as_csv(found: Findings) -> str:
    """Return a row for each cause and rule it is behind, then the rules without a cause."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\r\n")
    writer.writerow(HEADS)
    for cause in found.causes:
        for rule in cause.rules:
            writer.writerow(
                (
                    cause.id,
                    cause.statement,
                    rule.name,
                    rule.level,
                    rule.failing,
                    "" if rule.population is None else rule.population,
                    cause.explains,
                    cause.confidence,
                    str(cause.narrows).lower(),
                    cause.fingerprint,
                )
            )
    for rule in found.open:
        population = "" if rule.population is None else rule.population
        row = ("", "", rule.name, rule.level, rule.failing, population, "", "", "", "")
        writer.writerow(row)
    return file.getvalue()
