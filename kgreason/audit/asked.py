"""What a record says it was asked, and the queries it says were run.

The question, the correlation, the conversation, the seed and the graph's fingerprint stand in two
places each, which have to agree.
A query that does not parse, or gives no ?focus, can be run again by nobody.
"""

import json
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final

import pyoxigraph as ox

from kgreason.audit.findings import Finding
from kgreason.audit.merged import Properties
from kgreason.base.errors import KgreasonError
from kgreason.base.store import Term, check_query
from kgreason.base.terms import POLICY, TRAILS, TYPE
from kgreason.record.modalities import ENGINE_MODALITIES, modalities
from kgreason.record.policy import is_file

ASKED: Final = "asked"
QUERY: Final = "query"
_FOCUS: Final = "?focus"
_QUERIES: Final = (
    (TRAILS.Symptom, TRAILS.outcomeQuery, ("?focus", "?outcome")),
    (TRAILS.Symptom, TRAILS.failingQuery, (_FOCUS,)),
    (TRAILS.Hypothesis, TRAILS.region, (_FOCUS,)),
    (TRAILS.Test, TRAILS.query, ()),
)
"""The queries of a record, by class and property, with what they have to give."""
_SELECT: Final = re.compile(r"\bSELECT\b(?P<names>.*?)\bWHERE\b", re.IGNORECASE | re.DOTALL)


def check(node: Term, given: Properties) -> Iterator[Finding]:
    """Check what an investigation says it was asked, or the queries of a node."""
    types = given.get(TYPE, ())
    if TRAILS.Investigation in types:
        yield from _investigation(node, given)
    for kind, name, needed in _QUERIES:
        if kind in types and not (kind == TRAILS.Test and _outside(given)):
            for value in given.get(name, ()):
                fault = _fault(value.value, needed)
                if fault is not None:
                    message = f"{name.value.rpartition('#')[2]}: {fault}"
                    yield Finding(QUERY, node.value, message)


def _outside(given: Properties) -> bool:
    """Check whether a test puts a question to a tester outside the graph, which is no query."""
    modality = given.get(TRAILS.modality, ())
    return any(term in modalities().values() and term not in ENGINE_MODALITIES for term in modality)


def _investigation(node: Term, given: Properties) -> Iterator[Finding]:
    try:
        options = json.loads(_text(given, "options") or "")
    except ValueError:
        options = None
    if not isinstance(options, dict):
        yield Finding(ASKED, node.value, "Its options cannot be read.")
        return
    for name in ("question", "correlation", "conversation", "seed"):
        said, asked = _text(given, name), _plain(options.get(name))
        if said != asked:
            message = f"Its {name} is {said!r}, but {asked!r} in its options."
            yield Finding(ASKED, node.value, message)
    prints, noted = _text(given, "fingerprint"), _plain(options.get("graph"))
    if prints != noted:
        message = f"Its graph has the fingerprint {prints!r}, but {noted!r} in its options."
        yield Finding(ASKED, node.value, message)
    used, named = _text(given, "policy") or "", _plain(options.get("policy"))
    # The file of a policy of one's own does not say which IRI it gives itself.
    shipped = used.startswith(POLICY.iri) and not is_file(named or "")
    if shipped and named != used.removeprefix(POLICY.iri):
        message = f"It was judged by the policy {used}, but {named!r} stands in its options."
        yield Finding(ASKED, node.value, message)


def _plain(value: Any) -> str | None:
    return None if value is None else str(value)


def _text(given: Properties, name: str) -> str | None:
    values = given.get(TRAILS[name])
    return values[0].value if values else None


@lru_cache(maxsize=4096)
def _fault(text: str, needed: tuple[str, ...]) -> str | None:
    """Explain why nobody could run a query, or get what is needed of it."""
    try:
        check_query(text, "it")
    except KgreasonError as error:
        return str(error).partition("\n")[0]
    lacking = sorted(set(needed) - variables(text)) if needed else ()
    return f"it gives no {lacking[0]}." if lacking else None


def variables(text: str) -> frozenset[str]:
    """Return the variables that a SELECT gives, of a text that parses; raises no error."""
    calls = re.search("service", text, re.IGNORECASE) is not None
    if calls:  # parsing alone would call
        found = _SELECT.search(text)
        return frozenset(re.findall(r"\?\w+", found["names"])) if found else frozenset()
    rows = ox.Store().query(text)
    if not isinstance(rows, ox.QuerySolutions):
        return frozenset()
    return frozenset(f"?{variable.value}" for variable in rows.variables)
