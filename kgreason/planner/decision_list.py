"""Rules of decision: what a strategy does next without a model, as ontology/decisions.ttl says."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import pyoxigraph as ox

from kgreason.base.errors import OptionError
from kgreason.base.extensions import cached
from kgreason.base.store import Term
from kgreason.base.terms import SKOS, TRAILS, TYPE
from kgreason.planner.reasoner import Move, Situation
from kgreason.planner.tool_catalogue import catalogue, text, values
from kgreason.routing.phrases import Phrases, words_of

_FINDING: Final = "finding"
_TAKEN: Final = "The question names no class in full; it was taken to be about {}."
_NAMED: Final = re.compile(r"\{(?P<name>[a-z][a-z -]*)(?:\.(?P<part>found|told))?\}")


@dataclass(frozen=True)
class Rule:
    """A rule: the facts that it needs and those that bar it, and what it does.

    `tool` is the name of a tool, `query` of a stored query; with an `answer` it ends the work.
    """

    iri: str
    order: int
    given: frozenset[str]
    unless: frozenset[str]
    tool: str
    query: str
    thought: str
    answer: str
    cannot: bool

    def applies(self, facts: frozenset[str]) -> bool:
        """Check whether the facts call for it."""
        return self.given <= facts and self.unless.isdisjoint(facts)


@cached
def rules_of(pattern: str) -> tuple[Rule, ...]:
    """Return the rules of a pattern, an IRI, in their order.

    Raises OptionError for a rule of an extension that neither calls a tool nor answers.
    """
    store = catalogue()
    quads = store.quads_for_pattern(None, TRAILS.ofPattern, ox.NamedNode(pattern), None)
    found = [_rule(store, q.subject) for q in quads if isinstance(q.subject, ox.NamedNode)]
    gone = {q.object for q in store.quads_for_pattern(None, TRAILS.insteadOf, None, None)}
    kept = (one for one in found if ox.NamedNode(one.iri) not in gone)
    return tuple(sorted(kept, key=lambda r: (r.order, r.iri)))


def _rule(store: ox.Store, node: ox.NamedNode) -> Rule:
    def one(predicate: ox.NamedNode) -> Term | None:
        return next(iter(values(store, node, predicate)), None)

    tool, answer, order = one(TRAILS.callsTool), text(one(TRAILS.answerText)), one(TRAILS.ruleOrder)
    name = "" if tool is None else text(next(iter(values(store, tool, SKOS.notation)), None))
    if not (name or answer) or not text(one(TRAILS.thoughtText)) or not text(order).isdigit():
        raise OptionError(
            f"{node.value}: a rule of decision needs trails:ruleOrder, trails:thoughtText and "
            "either trails:callsTool with a tool that there is, or trails:answerText."
        )
    return Rule(
        node.value,
        int(text(order)),
        frozenset(text(v) for v in values(store, node, TRAILS.given)),
        frozenset(text(v) for v in values(store, node, TRAILS.unless)),
        name,
        text(one(TRAILS.storedQuery)),
        text(one(TRAILS.thoughtText)),
        answer,
        text(one(TRAILS.cannot)) in {"true", "1"},
    )


@cached
def _intents() -> tuple[tuple[str, tuple[re.Pattern[str], ...]], ...]:
    store, phrases = catalogue(), Phrases({})
    found = []
    for quad in store.quads_for_pattern(None, TYPE, TRAILS.Intent, None):
        if isinstance(quad.subject, ox.Triple):
            continue
        (name,) = (text(v) for v in values(store, quad.subject, SKOS.notation))
        texts = (text(v) for v in values(store, quad.subject, TRAILS.phrase))
        found.append((name, tuple(phrases.compiled(one) for one in texts)))
    return tuple(sorted(found, key=lambda each: each[0]))


def matches_of(intent: str, question: str) -> list[str]:
    """Return what the phrases of one intent find in a question."""
    words, patterns = words_of(question), dict(_intents()).get(intent, ())
    return [hit[0] for pattern in patterns for hit in pattern.finditer(words)]


_CODES: Final = re.compile(r"\b(?:no|non|not|without)-\w[\w-]*", re.IGNORECASE)
"""Codes and compounds that begin with a denial; a question denies nothing by them."""


def intents_of(question: str) -> Mapping[str, frozenset[str]]:
    """Return what a question asks for, each intent with the words that say so."""
    words = words_of(_CODES.sub("code", question))
    out: dict[str, frozenset[str]] = {}
    for name, patterns in _intents():
        hits = [hit[0] for pattern in patterns for hit in pattern.finditer(words)]
        if hits:
            out[name] = frozenset(word for hit in hits for word in hit.split())
    return out


class BySymbols:
    """A reasoner that goes by the rules of decision alone."""

    def next(self, situation: Situation, /) -> Move:
        """Return what the first rule that applies does."""
        for rule in rules_of(situation.pattern):
            if not rule.applies(situation.facts) or (
                rule.tool and rule.tool not in situation.tools
            ):
                continue
            thought = told(rule.thought, situation)
            if rule.tool:
                arguments = situation.understood.arguments(rule.query) if rule.query else {}
                if not rule.query:
                    arguments = _arguments(rule.tool, situation)
                return Move(thought, rule.tool, arguments, rule=rule.iri)
            said = told(rule.answer, situation)
            if situation.understood.named.get("taken") and not rule.cannot:
                said += f" {_TAKEN.format(situation.understood.named['taken'])}"
            return Move(thought, answer=said, answered=not rule.cannot, rule=rule.iri)
        return Move(
            "No rule of decision applies.",
            answer="No rule of decision applies to this question.",
            answered=False,
        )


def _arguments(tool: str, situation: Situation) -> dict[str, Any]:
    """Return what a tool that asks no stored query is called with."""
    read, takes = situation.understood, situation.tools[tool].takes
    if tool == _FINDING:
        return dict(read.finding)
    if any(one.startswith("about:") for one in takes):
        return {"about": situation.question}
    return {} if read.node is None else {"node": read.node.value}


def told(said: str, situation: Situation) -> str:
    """Return a text of a rule with the names of facts put in."""
    names = situation.understood.named
    seen = {one.query or one.tool: one.observation for one in situation.seen}

    def put(found: re.Match[str]) -> str:
        name, part = found["name"], found["part"]
        if name == "failure":
            return next((o.told for o in seen.values() if o.failed), "Nothing failed").rstrip(".")
        if part is None and name == _FINDING:
            return situation.understood.finding.get("name", "nothing")
        if part is None:
            return names.get(name, "") or "nothing"
        if name not in seen:
            return "nothing"
        return str(seen[name].found) if part == "found" else seen[name].told.rstrip(".")

    made = _NAMED.sub(put, said).strip().removesuffix(": nothing.").removesuffix(": nothing")
    return made if made.endswith((".", "?", "!")) else f"{made}."
