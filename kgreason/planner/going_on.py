"""A question that goes on from the one before it in a conversation, made whole.

"And for transfer shipments?" asks what was asked before, of other nodes; "is it a matter of the
feed?" asks about what was asked before. What goes on, and how, is told by phrases of
ontology/decisions.ttl. What the rest of such a question names in the graph takes the place of what
the question before it names in the same way, a class of a class, a value of a value; what has no
such place is added at the end.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Final

import pyoxigraph as ox

from kgreason.base.templates import template
from kgreason.base.words import content
from kgreason.graph import Graph
from kgreason.graph.names import Names
from kgreason.planner.asked_factor import links_back
from kgreason.planner.decision_list import intents_of, matches_of
from kgreason.planner.measures import number_in, period_in
from kgreason.planner.named_findings import named as findings_named
from kgreason.planner.question_terms import EACH, understood
from kgreason.planner.question_understood import Understood
from kgreason.record import Ledger

_ON: Final = "goes on"
_OWN: Final = frozenset(
    {"count", "list", "describe", "why", "wrong", "repair", "overview", "average", "ready", "found",
     "sure", "nodes"}
)  # fmt: skip
"""Intents with which the rest of a question is one of its own."""
_ORDERS: Final = ("highest", "lowest")
_KINDS: Final = ("class", "second", "value", "property", "node")
_FIRST: Final = re.compile(
    r"^(?:(?:for|of|in|on|at|to|from|with|by|per|the|an?|about|those|these|only|each|every|just)\s+)+"
    r"(?=\S)",
    re.IGNORECASE,
)
"""Small words before a name."""
_WHICH: Final = re.compile(
    r"^(?:which|what)\s+ones?\s+(?:(?:has|have|had|is|are|was|were)\s+)?(?=\S)", re.IGNORECASE
)
"""What stands for the nodes that were asked about."""
_NO: Final = re.compile(r"^(?:no|without|lacking)\s+(?:an?\s+|the\s+)?(?=\S)", re.IGNORECASE)
_WORD: Final = re.compile(r"[^\W_]+(?:[.'-][^\W_]+)*")


def rest_of(question: str) -> str:
    """Return what a question adds that goes on from the one before; "" for any other."""
    hit = next((one for one in matches_of(_ON, question) if one), None)
    if hit is None:
        return ""
    rest = " ".join(question.split()[len(hit.split()) :]).strip(" ?!.,;:")
    rest = _WHICH.sub("", rest)
    own = intents_of(rest).keys() & _OWN and not _only_orders(rest)
    return "" if own else rest


def _only_orders(rest: str) -> bool:
    """Check whether a phrase names an order alone: "the fewest", "which has the most"."""
    said = intents_of(rest)
    idle = content(" ".join(word for words in said.values() for word in words))
    return bool(said.keys() & _ORDERS) and not content(rest) - idle


def _reordered(before: str, rest: str) -> tuple[str, str]:
    """Return a question in the order that a phrase asks for, and what else the phrase says.

    Both stay as they are where one of them asks for no order.
    """
    (was, start, end), (now, first, last) = map(_order, (before, rest))
    if not was or not now:
        return before, rest
    return f"{before[:start]}{now}{before[end:]}", f"{rest[:first]}{rest[last:]}".strip()


def _figure(before: str, rest: str) -> tuple[str, str]:
    """Return the words of a time in two texts, or else of a number; "" where there is none."""
    times = period_in(before), period_in(rest)
    if times[0] and times[1]:
        return times[0].said, times[1].said
    numbers = number_in(before), number_in(rest)
    return (numbers[0][1], numbers[1][1]) if numbers[0] and numbers[1] else ("", "")


def _order(text: str) -> tuple[str, int, int]:
    """Return the longest words by which a text asks for an order, and where they stand."""
    hits = [hit.strip() for one in _ORDERS for hit in matches_of(one, text)]
    for hit in sorted(hits, key=lambda one: (-len(one), one)):
        found = re.search(rf"\b{re.escape(hit)}\b", text, re.IGNORECASE)
        if found is not None:
            return found[0], found.start(), found.end()
    return "", 0, 0


def goes_on(question: str) -> bool:
    """Check whether a question needs the one before it to be understood."""
    return not findings_named(question) and (bool(rest_of(question)) or links_back(question))


def before_in(ledger: Ledger, conversation: str) -> list[str]:
    """Return the questions of a conversation that a question may go on from, the latest first.

    Those are the latest one that asked about the graph, and what came after it about findings.
    """
    asked = template("record", "conversation").render(conversation=ox.Literal(conversation))
    said = [row["question"].value for row in ledger.store.select(asked) if "question" in row]
    last = next((n for n, one in enumerate(said) if not findings_named(one)), len(said))
    return said[: last + 1]


def made_whole(question: str, before: str, graph: Graph) -> str:
    """Return a question with what it takes over from the one before; itself where that is nothing.

    A phrase that names nothing in the graph changes nothing. Of a question about a finding only the
    year can be another one.
    """
    if links_back(question):
        return question if findings_named(before) else f"{before.rstrip(' ?!.')}: {question}"
    rest, names = rest_of(question), Names(graph)
    if _only_orders(rest):
        return _reordered(before, rest)[0] if _order(before)[0] else question
    ordered = bool(_order(before)[0] and _order(rest)[0])
    before, rest = _reordered(before, rest)
    old = understood(before, graph, names, intents_of(before))
    new = understood(rest, graph, names, intents_of(rest), old.classes)
    said = next((one for one in _KINDS if new.words.get(one)), None)
    was, now = _figure(before, rest)
    if said is None and was and now:
        return before.replace(was, now, 1)
    if said is None or findings_named(before):
        return question
    if said == "class" and ordered and old.others:
        said = "second"  # "the fewest parts" are what is counted, and not what is ordered
    place = _place(before, rest, old, new, said)
    if place is None:
        return f"{before.rstrip(' ?!.')} {rest}?"
    first, last = place
    end = "?" if before.rstrip().endswith("?") else ""
    bare = _bare(rest, lacking="missing" in intents_of(before))
    return f"{before[:first]}{bare}{before[last:].rstrip(' ?!.')}{end}"


def _place(
    before: str, rest: str, old: Understood, new: Understood, said: str
) -> tuple[int, int] | None:
    """Return where in a question stands what is replaced, None where nothing is."""
    words = list(_WORD.finditer(before))
    if EACH & {word.casefold() for word in rest.split()[:2]}:
        kind = next((one for one in _KINDS if _after_each(words, old.words.get(one, ()))), None)
    elif said in {"class", "second"}:
        of = set(new.classes)
        second = said == "second" or (bool(of & set(old.others)) and not of & set(old.classes))
        kind = "second" if second else "class"
    else:
        kind = said
    if kind is None:
        return None
    # "Promised date" is a name of "promised on".
    also = intents_of(before).get("filler", frozenset()) if kind == "property" else frozenset()
    return _span(words, old.words.get(kind, frozenset()), also)


def _after_each(words: Sequence[re.Match[str]], named: Iterable[str]) -> bool:
    """Check whether the first of some words stands after "per", "each" or the like."""
    place = next((n for n, one in enumerate(words) if _words(one[0]) & set(named)), 0)
    return any(one[0].casefold() in EACH for one in words[max(0, place - 1) : place])


def _span(
    words: Sequence[re.Match[str]], named: frozenset[str], also: frozenset[str]
) -> tuple[int, int] | None:
    """Return where the first run of some words, and nouns `also`, begins and ends in their text."""
    hits = [n for n, one in enumerate(words) if _words(one[0]) & named]
    if not hits:
        return None
    last = hits[0]
    hits += [n for n, one in enumerate(words) if one[0].casefold() in also and content(one[0])]
    while last + 1 in hits:
        last += 1
    return words[hits[0]].start(), words[last].end()


def _bare(rest: str, *, lacking: bool) -> str:
    """Return a phrase without the small words before its name; without "no" where that is said."""
    bare = _FIRST.sub("", rest)
    return _NO.sub("", bare) if lacking else bare


def _words(word: str) -> frozenset[str]:
    """Return a word as it names something, and as it stands, for it may be a code."""
    return content(word) | {word}
