"""Tools: what strategies call. Each reads the graph or finished records, and says what it found."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pyoxigraph as ox

from kgreason.base.errors import KgreasonError, OptionError
from kgreason.base.store import Row, Term, check_query
from kgreason.base.templates import role, template
from kgreason.base.terms import PREFIXES
from kgreason.graph.names import Names
from kgreason.graph.query_result import query_result
from kgreason.observe.question_words import common
from kgreason.planner.contrasts import CITED, contrast, named_rules
from kgreason.planner.earlier_findings import finding
from kgreason.planner.question_understood import term_of
from kgreason.planner.tool_catalogue import tools
from kgreason.planner.tool_desk import Desk
from kgreason.planner.tool_observation import Observation
from kgreason.record.plan_steps import FAILED, REFUSED
from kgreason.report.as_json import as_dict
from kgreason.shacl import names as rule_names

_LONGEST: Final = 2000
"""Characters of an observation that are told; how many rows there were is said anyway."""
_FIRST: Final = 50
"""Rows of an order that are told, at most."""
_NODE: Final = "node"
_CITING: Final = ("property", _NODE)
_BESIDE: Final = "beside"
"""What narrows the nodes of a stored query down; it may be left out."""
_PROSE: Final = "how"
"""The variable of a query that tells something in words, and not a value of the graph."""
_UNTOLD: Final = ("first", "second", "third")
"""Variables that are for whoever calls a query, and stand in its words already."""


def call(desk: Desk, tool: str, arguments: Mapping[str, Any]) -> Observation:
    """Call a tool by its name; what goes wrong is an observation that failed, and says why.

    A tool that the desk does not give out, or whose scope is none of its scopes, is not called.
    """
    why = refusal(desk, tool)
    if why:
        return Observation(why, status=REFUSED)
    try:
        return _TOOLS[tool](desk, arguments)
    except KeyError as error:
        missing = str(error).strip("'\"")
        return Observation(f"The tool {tool} needs {missing}.", status=FAILED)
    except (KgreasonError, ValueError, TypeError, SyntaxError) as error:
        return Observation(f"The tool failed: {error}", status=FAILED)


def refusal(desk: Desk, name: str) -> str:
    """Return why a tool is not called, "" where it may be."""
    declared, given = tools().get(name), desk.offered.get(name)
    if declared is None:
        return f"There is no tool {name!r}; there are {', '.join(sorted(desk.offered))}."
    if given is None or declared.scope not in desk.scopes:
        allowed = ", ".join(sorted(one.rpartition("#")[2] for one in desk.scopes)) or "none"
        return (
            f"The tool {name} is of the scope {declared.scope.rpartition('#')[2]}, and this "
            f"strategy may use {allowed}."
        )
    return ""


def known(tool: str) -> bool:
    """Check whether there is code for a tool of that name."""
    return tool in _TOOLS


def _query(desk: Desk, arguments: Mapping[str, Any]) -> Observation:
    if "select" in arguments:
        text = str(arguments["select"])
        prefixes = {p: iri for p, iri in PREFIXES.items() if p != "work"}
        check_query(text, "the query", prefixes=prefixes)
        head = "".join(f"PREFIX {p}: <{iri}>\n" for p, iri in sorted(prefixes.items()))
        return _rows(desk, head + text, None)
    name = str(arguments["query"])
    if name not in role("look"):
        raise OptionError(
            f"there is no stored query {name!r}; there are {', '.join(role('look'))}."
        )
    made = template("look", name)
    held = {_BESIDE: (), **arguments}
    given = {one: _given(p.type, held[one]) for one, p in made.parameters.items()}
    field_, about = (g if isinstance(g, ox.NamedNode) else None for g in map(given.get, _CITING))
    return _rows(desk, made.render(**given), field_, about, int(arguments.get("most", CITED)))


def _given(kind: str, value: Any) -> Any:
    """Return an argument as a query takes it."""
    if kind == "terms":
        several = [value] if isinstance(value, str) else list(value)
        return [
            term_of(one) if one[:1] in {'"', "<"} else ox.NamedNode(one)
            for one in map(str, several)
        ]
    if kind == "iri":
        return ox.NamedNode(str(value))
    text = str(value)
    return term_of(text) if text[:1] in {'"', "<"} else ox.Literal(text)


def _rows(
    desk: Desk,
    text: str,
    field_: ox.NamedNode | None,
    about: ox.NamedNode | None = None,
    most: int = CITED,
) -> Observation:
    """Ask a query; a row with ?node is cited, or else the one node that it is `about`.

    `most` rows are told, and those that tie with the last of them.
    """
    found = query_result(desk.graph, text, desk.seconds, "the query")
    rows = list(found.rows)
    if most != CITED:
        most = _tied(rows, found.rows.variables[-1], most)
    nodes = [row[_NODE] for row in rows if _NODE in row]
    if rows and about is not None and _NODE not in found.rows.variables:
        nodes = [about]
    told = _told(desk.names, rows, found.rows.variables, most)
    cited = tuple(dict.fromkeys((node, field_) for node in nodes[:most]))[:CITED]
    return Observation(told, len(rows), cited, text, found.digest)


def _tied(rows: Sequence[Row], by: str, most: int) -> int:
    """Return how many of some rows in order are among the first, with those that tie."""
    while 0 < most < len(rows) and rows[most][by] == rows[most - 1][by]:
        most += 1
    return min(most, _FIRST)


def _told(names: Names, rows: Sequence[Row], variables: Sequence[str], most: int) -> str:
    """Describe rows: nodes alone as a list, others with the names of what they hold."""
    if not rows:
        return "nothing"
    variables = [name for name in variables if name not in _UNTOLD]
    alone = len(variables) == 1
    parts = []
    for row in rows[:most]:
        cells = [
            (name, row[name].value if name == _PROSE else _cell(names, row[name]))
            for name in variables
            if name in row
        ]
        if alone:
            parts.append(cells[0][1] if cells else "")
        elif len(cells) == 2:  # noqa: PLR2004 - a name and its figure
            parts.append(f"{cells[0][1]} ({cells[1][1]})")
        elif len(rows) == 1:
            parts.append(", ".join(f"{name} {told}" for name, told in cells))
        else:
            parts.append(" ".join(told for _, told in cells if told))
    rest = len(rows) - most
    told = ("; " if not alone and len(variables) > 2 else ", ").join(parts)  # noqa: PLR2004
    if len(told) > _LONGEST:
        told = told[:_LONGEST].rpartition(", ")[0] + ", …"
    return f"{told} and {rest} more" if rest > 0 else told


def _cell(names: Names, term: Term) -> str:
    if isinstance(term, ox.Literal):
        return term.value if len(term.value) <= 60 else term.value[:60] + "…"  # noqa: PLR2004
    return names(term)


def _describe(desk: Desk, arguments: Mapping[str, Any]) -> Observation:
    text = template("look", "statements-of").render(node=ox.NamedNode(str(arguments["node"])))
    found = query_result(desk.graph, text, desk.seconds, "the query")
    rows = [row for row in found.rows if "property" in row]
    most = CITED
    parts = [f"{desk.names(r['property'])} {_cell(desk.names, r['value'])}" for r in rows[:most]]
    rest = f"; and {len(rows) - most} more" if len(rows) > most else ""
    cited = ((ox.NamedNode(str(arguments["node"])), None),) if rows else ()
    return Observation("; ".join(parts) + rest or "nothing", len(rows), cited, text, found.digest)


def _neighbourhood(desk: Desk, arguments: Mapping[str, Any]) -> Observation:
    text = template("look", "around").render(node=ox.NamedNode(str(arguments["node"])))
    found = query_result(desk.graph, text, desk.seconds, "the query")
    most, rows = CITED, list(found.rows)
    parts = []
    for row in rows[:most]:
        by = desk.names(row["property"])
        way = f"by {by} to" if row["way"].value == "to" else f"by {by} from"
        parts.append(f"{way} {desk.names(row[_NODE])}")
    rest = f"; and {len(rows) - most} more" if len(rows) > most else ""
    cited = tuple(dict.fromkeys((row[_NODE], None) for row in rows))[:most]
    return Observation("; ".join(parts) + rest or "nothing", len(rows), cited, text, found.digest)


def _validate(desk: Desk, arguments: Mapping[str, Any]) -> Observation:
    if desk.observed is None:
        return Observation("No shapes were given to validate with.", status=FAILED)
    failing = desk.observed.failing
    called = rule_names([one.constraint for one in failing])
    meant = named_rules(str(arguments.get("about", "")), failing)
    told = [
        f"{name}: {len(one.failing)} of {one.population} nodes fail."
        for one, name in zip(failing, called, strict=True)
        if one in meant
    ]
    others = len(failing) - len(meant)
    if others:
        told.append(
            f"{'One other' if others == 1 else f'{others} others'} the question does not name."
        )
    most = CITED
    cited = tuple(
        dict.fromkeys(
            (node, None)
            for one in meant
            for node in sorted(one.failing, key=str)[: max(1, most // len(meant))]
        )
    )[:most]
    said = " ".join(told) or "No rule is broken."
    if not failing and desk.observed.doubts:
        said = " ".join(desk.observed.doubts)
    return Observation(said[:_LONGEST], len(failing), cited)


# Finished investigations of the same graph


def _earlier(desk: Desk) -> list[tuple[int, dict[str, Any]]]:
    """Return the results of finished investigations of the same graph, the latest first."""
    if desk.ledger is None:
        return []
    found = []
    for entry in desk.ledger.entries():
        if not entry.finished or entry.iri == desk.record.iri:
            continue
        told = as_dict(desk.ledger.record(entry))
        if told["graph"]["fingerprint"] == desk.graph.fingerprint:
            found.append((entry.number, told))
    return sorted(found, key=lambda each: -each[0])


@dataclass(frozen=True)
class _Cause:
    """A cause of an earlier investigation: its number, its result, and the rules it is about."""

    number: int
    told: Mapping[str, Any]
    cause: Mapping[str, Any]

    @property
    def rules(self) -> list[str]:
        """The names of the rules that it is a cause of."""
        about = self.cause["symptoms"]
        return [one["name"] for one in self.told["symptoms"] if one["id"] in about]


def _causes(desk: Desk, about: str) -> list[_Cause]:
    """Return the causes of earlier investigations that a question is about, each once.

    Where it has words in common with a rule, now or then, causes of those with most of them are
    meant; else all are.
    """
    found: dict[str, _Cause] = {}
    for number, told in _earlier(desk):
        for cause in told["causes"]:
            found.setdefault(str(cause["fingerprint"]), _Cause(number, told, cause))
    known = rule_names([one.constraint for one in desk.observed.failing] if desk.observed else [])
    named = [*known, *(name for one in found.values() for name in one.rules)]
    best = max((len(common(about, name)) for name in named), default=0)
    return [
        one for one in found.values()
        if not best or any(len(common(about, name)) == best for name in one.rules)
    ]  # fmt: skip


def _symptoms(desk: Desk, _: Mapping[str, Any]) -> Observation:
    parts = [
        f"I{number}: {one['name']}: {one['failing']} of {one['population'] or one['failing']} "
        f"nodes fail, {one['verdict']}."
        for number, told in _earlier(desk)
        for one in told["symptoms"]
    ]
    return Observation(" ".join(parts)[:_LONGEST] or "nothing", len(parts))


def _hypotheses(desk: Desk, arguments: Mapping[str, Any]) -> Observation:
    parts = []
    for one in _causes(desk, str(arguments.get("about", ""))):
        known = {h["id"]: h for s in one.told["symptoms"] for h in s["hypotheses"]}
        sure = max(known[each]["confidence"] for each in one.cause["hypotheses"])
        rules = " and ".join(f"“{name}”" for name in one.rules)
        said = str(one.cause["statement"]).rstrip(".")
        parts.append(
            f"{rules}: {said} ({one.cause['id']} of I{one.number}, confidence {sure:.2f})."
        )
    return Observation(" ".join(parts)[:_LONGEST] or "nothing", len(parts))


def _nodes(desk: Desk, arguments: Mapping[str, Any]) -> Observation:
    most = CITED
    found: dict[Term, None] = {}
    for one in _causes(desk, str(arguments.get("about", ""))):
        for h in (h for s in one.told["symptoms"] for h in s["hypotheses"]):
            if h["id"] in one.cause["hypotheses"]:
                cited = (c["node"] for e in h["evidence"] for c in e["citations"])
                found |= {ox.NamedNode(n): None for n in cited if not n.startswith("_:")}
    shown = list(found)[:most]
    told_nodes = ", ".join(map(desk.names, shown))
    rest = f" and {len(found) - most} more" if len(found) > most else ""
    cites = tuple((one, None) for one in shown)
    return Observation(told_nodes + rest or "nothing", len(found), cites)


def _repair(desk: Desk, _: Mapping[str, Any]) -> Observation:
    parts = []
    for number, told in _earlier(desk):
        for one in told["causes"]:
            tried = one.get("repair")
            if tried:
                said = tried.get("instruction") or tried.get("repair")
                parts.append(f"{said} ({one['id']} of I{number}, tried on a copy).")
    return Observation(" ".join(parts)[:_LONGEST] or "nothing", len(parts))


_TOOLS: Final[Mapping[str, Callable[[Desk, Mapping[str, Any]], Observation]]] = {
    "query": _query,
    "describe": _describe,
    "neighbourhood": _neighbourhood,
    "validate": _validate,
    "contrast": contrast,
    "symptoms": _symptoms,
    "hypotheses": _hypotheses,
    "nodes": _nodes,
    "finding": finding,
    "repair": _repair,
}
