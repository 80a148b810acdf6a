"""Answers: from the text of a model to suggestions whose every choice is among what was offered."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from pyoxigraph import Literal, NamedNode

from kgreason.base.errors import KgreasonError, OptionError, QueryError
from kgreason.base.figures import integer
from kgreason.context.view import View
from kgreason.hypothesize.conditions.bars import Bars
from kgreason.hypothesize.conditions.condition import Condition
from kgreason.hypothesize.conditions.language import read as read_conditions
from kgreason.hypothesize.free_region import FreeRegion, evaluated, free_region
from kgreason.hypothesize.proposal_rules import Fault
from kgreason.hypothesize.proposer import Suggestion, Unusable
from kgreason.model.options import (
    SELECT,
    TESTS,
    Options,
    compiled,
    near_values,
    value_of,
)

READ: Final = integer("proposalRead")
SECONDS = 10.0
"""Seconds that a SELECT of a model may run."""
_MOST_PARTS: Final = 3
_LONGEST: Final = 1000
_TEXTS: Final = ("statement", "mechanism", "prediction")
_MORE: Final = {"expected_effect": "expectedEffect", "diagnosis": "diagnosis",
                "rationale": "rationale"}  # fmt: skip
_SELECT: Final = re.compile(
    r"\s*(?P<head>(?:PREFIX\s+[\w-]*:\s*<[^<>\s]*>\s*)*)SELECT\s+(?:DISTINCT\s+|REDUCED\s+)?"
    r"\?focus\s+(?:WHERE\s*)?\{(?P<body>.*)\}\s*(?:LIMIT\s+\d+\s*)?",
    re.IGNORECASE | re.DOTALL,
)
_PREFIX: Final = re.compile(r"PREFIX\s+(?P<name>[\w-]*):\s*<(?P<iri>[^<>\s]*)>", re.IGNORECASE)
_IRI: Final = re.compile(r"<([^<>\s]+)>")
_LONG_QUERY: Final = 4000


def schema(options: Options) -> dict[str, Any]:
    """Return the JSON schema of an answer, with the names of the options in it."""
    text = {"type": "string"}
    condition = _object(
        {
            "path": {"type": "string", "enum": [offer.name for offer in options.offers] or ["-"]},
            "test": {"type": "string", "enum": list(TESTS)},
            "values": {"type": "array", "items": text},
        }
    )
    one = _object(
        dict.fromkeys((*_TEXTS, *_MORE), text)
        | {
            "kind": {"type": "string", "enum": list(options.kinds)},
            "region": {"type": "array", "items": condition},
            "select": text,
        }
    )
    return _object({"hypotheses": {"type": "array", "items": one}})


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


@dataclass(frozen=True)
class Answer:
    """What was read of an answer: suggestions, and the options that were taken from it.

    `wrong` says why it is no answer at all, else it is "".
    """

    suggestions: tuple[Suggestion | Unusable, ...] = ()
    chosen: tuple[str, ...] = ()
    wrong: str = ""


class _NotOffered(Exception):  # noqa: N818 - it is told to the model, and ends nothing
    """A choice that is none of the options, or a region that may not be."""

    def __init__(self, rule: str, reason: str) -> None:
        super().__init__(reason)
        self.fault = Fault(rule, reason)


@dataclass
class _Reader:
    """Reads suggestions, and keeps what they chose."""

    view: View
    options: Options
    chosen: list[str] = field(default_factory=list)

    def suggestion(self, given: Any) -> Suggestion | Unusable:
        """Return one suggestion, or why it is of no use."""
        if not isinstance(given, Mapping):
            return Unusable("", Fault("schema", "A hypothesis is an object."), {"said": str(given)})
        statement = _line(given.get("statement"))
        plain = {k: given[k] for k in ("region", "select") if given.get(k)}
        if not statement:
            return Unusable("", Fault("schema", "The statement is missing."), plain)
        chosen: list[str] = []
        try:
            kind = self._kind(given)
            region, written = self._region(given, chosen)
        except _NotOffered as error:
            return Unusable(statement, error.fault, plain)
        self.chosen += [f"kind {kind}", *chosen]
        more = {to: _line(given.get(name)) for name, to in _MORE.items()} | {"causeKind": kind}
        free = isinstance(region, FreeRegion)
        return Suggestion(
            region,
            statement,
            _line(given.get("mechanism")),
            _line(given.get("prediction")),
            own_words=free,
            given=written,
            more={name: text for name, text in more.items() if text},
        )

    def _kind(self, given: Mapping[str, Any]) -> str:
        kind = str(given.get("kind", ""))
        if kind not in self.options.kinds:
            known = ", ".join(self.options.kinds)
            raise _NotOffered("option", f"There is no kind {kind!r}; there are {known}.")
        return kind

    def _region(
        self, given: Mapping[str, Any], chosen: list[str]
    ) -> tuple[tuple[Condition, ...] | FreeRegion, Mapping[str, Any]]:
        parts, select = given.get("region") or [], given.get("select") or ""
        if not parts and isinstance(select, str) and select.strip():
            if not self.options.select:
                raise _NotOffered("option", "A SELECT is not offered; use conditions.")
            chosen.append(SELECT)
            return self._free(select), {"select": select}
        if not isinstance(parts, Sequence) or isinstance(parts, str) or not parts:
            raise _NotOffered("schema", "The region is a list of one to three conditions.")
        if len(parts) > _MOST_PARTS:
            raise _NotOffered("schema", f"A region has at most {_MOST_PARTS} conditions.")
        plain = [self._condition(part, chosen) for part in parts]
        try:
            made = read_conditions(plain)
        except OptionError as error:
            raise _NotOffered("schema", str(error)) from error
        bars = Bars(self.view)
        why = next((why for part in made if (why := bars(part))), "")
        if why:
            raise _NotOffered("rule", f"The region only says the rule again: {why}.")
        return made, {"condition": plain}

    def _condition(self, part: Any, chosen: list[str]) -> dict[str, object]:
        if not isinstance(part, Mapping):
            raise _NotOffered("schema", "A condition is an object with path, test and values.")
        given, test = str(part.get("path", "")), str(part.get("test", ""))
        offer = self.options.path(given)
        if offer is None:
            near = self.options.near_paths(given)
            raise _NotOffered("option", f"There is no path {given!r}; near ones are {near}.")
        if test not in TESTS:
            raise _NotOffered("option", f"There is no test {test!r}; there are {', '.join(TESTS)}.")
        values = part.get("values") or []
        values = [values] if isinstance(values, str | int | float) else values
        least, most = TESTS[test]
        if not isinstance(values, Sequence) or not least <= len(values) <= most:
            raise _NotOffered("schema", f"The test {test} takes {least} to {most} values.")
        terms: list[Literal | NamedNode] = []
        for value in map(str, values):
            term = value_of(offer, test, value)
            if term is None:
                near = near_values(offer, test, value)
                raise _NotOffered(
                    "option",
                    f"{value!r} is no value offered for {offer.name} {test}; near ones: {near}.",
                )
            terms.append(term)
        chosen += [offer.option, f"test {test}", *(f"term {term}" for term in terms)]
        return compiled(offer, test, terms)

    def _free(self, select: str) -> FreeRegion:
        """Return the region of a SELECT, run within its limits; it reads the data alone."""
        found = _SELECT.fullmatch(select) if len(select) <= _LONG_QUERY else None
        if found is None:
            raise _NotOffered(
                "schema", "`select` is one SELECT of ?focus, of at most 4,000 letters, with WHERE."
            )
        prefixes = {m["name"]: m["iri"] for m in _PREFIX.finditer(found["head"])}
        try:
            region = free_region(found["body"], prefixes, "the SELECT")
            self._known(region)
            return evaluated(region, self.view.graph, SECONDS, "the SELECT")
        except (QueryError, OptionError) as error:
            raise _NotOffered("schema", _line(str(error))) from error
        except KgreasonError as error:
            raise _NotOffered("schema", _line(str(error))) from error

    def _known(self, region: FreeRegion) -> None:
        """Refuse an IRI that the graph does not have, with those that are near."""
        inner = self.view.graph.store.inner
        for iri in dict.fromkeys(_IRI.findall(region.text)):
            node = NamedNode(iri)
            there = (
                (node, None, None, None),
                (None, node, None, None),
                (None, None, node, None),
                (None, None, None, node),
            )
            if "://www.w3.org/" in iri or any(
                next(inner.quads_for_pattern(*each), None) for each in there
            ):
                continue
            near = self.options.near_paths(iri)
            raise _NotOffered("option", f"The graph has no <{iri}>; near paths are {near}.")


def read_answer(text: str, view: View, options: Options) -> Answer:
    """Read an answer; what is no JSON or of another schema is told in `wrong`."""
    try:
        found = json.loads(_json(text))
    except (ValueError, RecursionError) as error:
        return Answer(wrong=f"The answer is no JSON ({_line(str(error))}).")
    several = found.get("hypotheses") if isinstance(found, Mapping) else found
    if not isinstance(several, list):
        return Answer(wrong='The answer is no object {"hypotheses": [...]}.')
    reader = _Reader(view, options)
    out = [reader.suggestion(one) for one in several[:READ]]
    if len(several) > READ:
        reason = f"Only the first {READ} of {len(several)} hypotheses are read."
        out.append(Unusable("", Fault("read", reason)))
    return Answer(tuple(out), tuple(reader.chosen))


def _json(text: str) -> str:
    """Return the JSON of an answer that may have words or a fence of Markdown around it."""
    begin, end = text.find("{"), text.rfind("}")
    return text[begin : end + 1] if 0 <= begin < end else text


def _line(text: Any) -> str:
    """Return a text as one line that can be printed, of bounded length."""
    if not isinstance(text, str):
        return ""
    printable = "".join(c if c.isprintable() else " " for c in text[: 2 * _LONGEST])
    return " ".join(printable.split())[:_LONGEST]
