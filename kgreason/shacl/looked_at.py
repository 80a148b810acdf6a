"""The one value that an outcome query looks at: which link of ?focus, and which ends it means."""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from pyoxigraph import Literal, NamedNode

from kgreason.base.templates import Fragment

_EXISTS: Final = re.compile(r"\s*EXISTS\s*\{(.*)\}\s*", re.IGNORECASE | re.DOTALL)
_LINK: Final = re.compile(r"[?$]focus\s+<([^<>\s]+)>\s+[?$](\w+)")
_OF_FOCUS: Final = re.compile(r"FILTER\s*\(\s*isIRI\s*\(\s*[?$]focus\s*\)\s*\)", re.IGNORECASE)
_VARIABLE: Final = re.compile(r"[?$](\w+)")
_IRI: Final = re.compile(r"<([^<>\s]+)>")
_QUOTED: Final = re.compile(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'')
_NO_CODE: Final = re.compile(rf"{_QUOTED.pattern}|{_IRI.pattern}")
_TOO_MUCH: Final = re.compile(r"\b(?:SELECT|UNION|MINUS|OPTIONAL|BIND|VALUES|GRAPH|SERVICE)\b|;")
_LACK: Final = re.compile(r"\bNOT\s+EXISTS\s*\{", re.IGNORECASE)
_TEXT: Final = re.compile(
    r"\b(?:REGEX|CONTAINS|STRSTARTS|STRENDS|STRLEN|SUBSTR|LCASE|UCASE|REPLACE|STRBEFORE|STRAFTER)\b",
    re.IGNORECASE,
)
_LISTED: Final = r"[?$]{name}\s+NOT\s+IN\s*\(([^()]*)\)"


@dataclass(frozen=True)
class LookedAt:
    """What an outcome looks at: the ends of one link of ?focus, each by itself.

    `offending` binds ?value of ?focus to the ends that bring the outcome about; `allowed` are those
    that the query lists as right (NOT IN). `described` says whether it asks what lies behind them,
    `text` whether it asks what their text is like.
    """

    predicate: NamedNode
    offending: Fragment
    allowed: tuple[NamedNode | Literal, ...]
    described: bool
    text: bool


@lru_cache(maxsize=64)
def looked_at(query: str) -> LookedAt | None:
    """Return what an outcome looks at, None where it is not the ends of one link by themselves.

    The query has full IRIs. It binds ?outcome once, to EXISTS of triples and filters; one link of
    ?focus ends in a variable that has to pass a filter, and no other does.
    """
    bound = bound_to(query, "?outcome")
    whole = _EXISTS.fullmatch(bound[0]) if len(bound) == 1 else None
    if whole is None or not _closed(whole[1]):
        return None
    body = whole[1].strip()
    bare = _QUOTED.sub('""', body)
    if _TOO_MUCH.search(_IRI.sub("<>", bare).upper()):
        return None
    links = {(iri, name) for iri, name in _LINK.findall(bare) if name != "focus"}
    rest = _OF_FOCUS.sub("", _LINK.sub("", bare))
    asked = _VARIABLE.findall(rest)
    ends = sorted((iri, name) for iri, name in links if name in asked)
    if len(ends) != 1 or "focus" in asked or len({name for _, name in links}) < len(links):
        return None
    ((iri, name),) = ends
    return LookedAt(
        NamedNode(iri),
        Fragment(_renamed(body, name)),
        tuple(NamedNode(one) for one in _listed(body, name)),
        bool(_LACK.search(bare)),
        bool(_TEXT.search(bare)),
    )


def bound_to(query: str, variable: str) -> list[str]:
    """Return the expressions that a query binds to a variable, without their brackets."""
    bare = _NO_CODE.sub(lambda found: "_" * len(found[0]), query)
    out = []
    for found in re.finditer(rf"\bAS\s+{re.escape(variable)}\s*\)", bare, re.IGNORECASE):
        depth, at = 1, found.start()
        while at > 0 and depth:
            at -= 1
            depth += {")": 1, "(": -1}.get(bare[at], 0)
        out.append(query[at + 1 : found.start()])
    return out


def _closed(body: str) -> bool:
    """Check whether braces close in their order, so that the first one was closed by the last."""
    depth = 0
    for sign in _QUOTED.sub("", body):
        depth += {"{": 1, "}": -1}.get(sign, 0)
        if depth < 0:
            return False
    return depth == 0


def _listed(body: str, name: str) -> list[str]:
    """Return the IRIs that a value may be, where the query lists them."""
    lists = re.findall(_LISTED.format(name=re.escape(name)), body, re.IGNORECASE)
    return list(dict.fromkeys(iri for each in lists for iri in _IRI.findall(each)))


def _renamed(body: str, name: str) -> str:
    """Return a pattern with ?value for a variable, and names of its own for all but ?focus."""
    texts: list[str] = []

    def put_by(found: re.Match[str]) -> str:
        texts.append(found[0])
        return f"\x00{len(texts) - 1}\x00"

    bare = _NO_CODE.sub(put_by, body)
    kept = {"focus": "focus", name: "value"}
    named = _VARIABLE.sub(lambda found: "?" + kept.get(found[1], f"asked_{found[1]}"), bare)
    return re.sub("\x00(\\d+)\x00", lambda found: texts[int(found[1])], named)
