"""Find out what an endpoint can be asked: small queries whose answers are known."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

from kgreason.base.errors import GraphError
from kgreason.base.fetching import SourceError
from kgreason.base.templates import Fragment, Template, role
from kgreason.endpoint.asking_endpoint import AskingEndpoint, about_one_query
from kgreason.endpoint.dialect import Dialect, named, of_server
from kgreason.endpoint.extract import ProbeResult
from kgreason.shacl.constraint import Texts
from kgreason.shacl.seen_forms import seen_of

ROLE: Final = "probe"
STORED: Final = "stored-form"
"""The name of what stored literals show, with their datatype behind it."""
_ANOTHER: Final = "a form that no engine would give it"
_ROWS: Final = " rows"
_SAME: Final = re.compile(r'sameTerm\((\?\w+), (<[^<>\s]+>|"(?:[^"\\\n]|\\.)*")\)')
_SAME_VALUES: Final = re.compile(r"sameTerm\((\?\w+), (\?\w+)\)")
_ALIKE: Final = (
    r"IF(isLiteral(\1) && isLiteral(\2), COALESCE(STR(\1) = STR(\2) && LANG(\1) = LANG(\2) "
    r'&& (LANG(\1) != "" || DATATYPE(\1) = DATATYPE(\2)), false), COALESCE(\1 = \2, false))'
)
_LONE: Final = re.compile(r"(NOT )?EXISTS \{\s+FILTER NOT EXISTS (\{ [^{}]+ \})\s+\}")
_ANY: Final = "?value"
"""What stands for any variable in what a header drops and puts."""
_AT_LEAST: Final = re.compile(
    r"FILTER NOT EXISTS \{ SELECT \?focus WHERE \{ ([^{}]+) \}\s+"
    r"GROUP BY \?focus HAVING \(COUNT\(DISTINCT (\?\w+)\) >= (\S+)\) \}"
)
_FEWER: Final = (
    r"OPTIONAL { SELECT ?focus (COUNT(DISTINCT \2) AS ?several) WHERE { \1 } GROUP BY ?focus }"
    r" FILTER (COALESCE(?several < \3, true))"
)


@dataclass(frozen=True)
class Probed:
    """What an endpoint is, and what its probes gave.

    `failed` are the probes with another answer than expected; `lost` says that literals are not
    kept as they were written.
    """

    dialect: Dialect
    results: tuple[ProbeResult, ...]
    failed: tuple[Template, ...]

    @property
    def lost(self) -> bool:
        """Whether literals are not kept as they were written."""
        return any(one.header.get("follows") == "lost" for one in self.failed)

    def spelled(self, texts: Texts) -> Texts:
        """Return texts as this engine can be asked, without a form that it gets wrong."""
        wrong = {one.name for one in self.failed}
        changes = [
            (one.header["drops"], one.header.get("puts", ""))
            for one in self.failed
            if "drops" in one.header and one.header.get("where") not in wrong
        ]
        return replace(
            texts,
            target=_changed(texts.target, changes, wrong),
            violation=_changed(texts.violation, changes, wrong),
        )

    def refuses(self, texts: Texts) -> str | None:
        """Explain why spelled texts of a constraint cannot be asked here; None where they can."""
        text = f"{texts.target.text}\n{texts.violation.text}".lower()
        for one in self.failed:
            concerns = one.header.get("concerns")
            if concerns and "follows" not in one.header and concerns.lower() in text:
                return one.header["otherwise"]
        return None


def _changed(part: Fragment, changes: Iterable[tuple[str, str]], wrong: set[str]) -> Fragment:
    text = part.text
    for old, new in changes:
        text = _anywhere(old).sub(new.replace(_ANY, r"\g<any>"), text)
    if "same-term" in wrong:
        text = _SAME_VALUES.sub(_ALIKE, _SAME.sub(_equal, text))
    if "lone-filter" in wrong:
        text = _LONE.sub(lambda one: f"{'' if one[1] else 'NOT '}EXISTS {one[2]}", text)
    if "grouped-exists" in wrong:
        text = _AT_LEAST.sub(_FEWER, text)
    return Fragment(text, part.prefixes)


def _anywhere(old: str) -> re.Pattern[str]:
    """Match what a header drops, of whichever variable it is said; all of it of the same one."""
    first, *others = (re.escape(part) for part in old.split(_ANY))
    if not others:
        return re.compile(first)
    return re.compile(rf"{first}(?P<any>\?\w+)" + r"(?P=any)".join(others))


def _equal(found: re.Match[str]) -> str:
    """Ask for an IRI, or a text without a language, by what holds of no other term."""
    value, term = found.groups()
    plain = f' && LANG({value}) = ""' if term.startswith('"') else ""
    return f"COALESCE({value} = {term}{plain}, false)"


def probe(asking: AskingEndpoint, dialect: Dialect) -> Probed:
    """Ask every probe; raises GraphError where one fails without which nothing can be asked.

    Where answers are cut without a word, `asking` knows from then on how long they may be.
    """
    results: list[ProbeResult] = []
    failed: list[Template] = []
    for one in role(ROLE).values():
        found = _answer(asking, one)
        passed = found == one.header["expects"]
        results.append(ProbeResult(one.name, one.header["expects"], found, passed))
        if not passed:
            failed.append(one)
            _follow(asking, one, found)
    return Probed(dialect, tuple(results), tuple(failed))


def dialect_of(asking: AskingEndpoint) -> Dialect:
    """Return the dialect that the user named, else that of the server, which was asked before."""
    chosen = asking.named.dialect
    return of_server(asking.server) if chosen is None else named(chosen)


def notices(probed: Probed, host: str) -> Iterable[str]:
    """Return what there is to say of the probes that failed, beside what becomes of constraints."""
    for one in probed.failed:
        if one.header.get("follows") == "told":
            yield f"{host}: {one.header['otherwise']}"


def stored(literals: Iterable[object]) -> tuple[tuple[ProbeResult, ...], dict[str, bool]]:
    """Probe literals that were taken for whether the endpoint gives them as they were written.

    An engine that keeps those of a query may rewrite those that it stores. Gives the results, and
    by datatypes whether a literal shows that it does not.
    """
    found = seen_of(literals)
    results = [
        ProbeResult(f"{STORED} {one.datatype.value}", _ANOTHER, one.value, shown)
        for one, shown in found.items()
    ]
    results.sort(key=lambda one: one.name)
    return tuple(results), {one.datatype.value: shown for one, shown in found.items()}


def _answer(asking: AskingEndpoint, one: Template) -> str:
    """Return the answer of a probe as text; what went wrong, where there was none."""
    counted = one.header["expects"].endswith(_ROWS)
    try:
        rows = asking.select(one.render())
    except SourceError as error:
        if not about_one_query(error):
            raise
        return f"refused: {error}"
    if counted:
        return f"{len(rows)}{_ROWS}"
    return rows[0]["answer"].value if rows and "answer" in rows[0] else ""


def _follow(asking: AskingEndpoint, one: Template, found: str) -> None:
    follows, host = one.header.get("follows"), asking.named.host
    if follows == "unusable":
        raise GraphError(
            f"{asking.named.address}: {one.header['otherwise']} ({one.name} gave "
            f"{found or 'nothing'}, not {one.header['expects']}). Export the data, and give files."
        )
    if follows == "cap":
        rows = found.removesuffix(_ROWS)
        if not rows.isdigit() or int(rows) < 1:
            raise GraphError(f"{host}: a query with a long answer gave none ({found}).")
        asking.cap = int(rows)
