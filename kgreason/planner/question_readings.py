"""What a question may mean for an investigation, and where the outcome query of a reading is."""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from kgreason.base.errors import OptionError, QueryError
from kgreason.base.files import unversioned
from kgreason.context.symptom import Observed
from kgreason.graph import Graph
from kgreason.observe.narrowed_reading import narrowed_to
from kgreason.observe.opening import Notice, Progress, load_graph, seen
from kgreason.observe.question import (
    MOST,
    Complete,
    NamedClass,
    Offered,
    all_at_hand,
    at_hand,
    complete,
    cue_stems,
    named_classes,
    outcomes,
)
from kgreason.observe.question_words import Vocabulary, stems
from kgreason.observe.request import Request
from kgreason.planner.asked_factor import Linked, linked, suggestion, suspects
from kgreason.planner.decision_list import intents_of


class UnreadError(OptionError):
    """Nothing in the graph is called by the words of a question, so that nothing can be tested."""


_SHOWN: Final = 8
_IDLE: Final = ("filler", "any factor", "why", "wrong")
"""Intents whose words name nothing in a graph."""
_WORD: Final = re.compile(r"[^\W_]+(?:[-'][^\W_]+)*")
_OTHERWISE: Final = (
    "Use the words of the graph, or say the outcome by a query, with `kgreason investigate "
    "--outcome FILE`."
)

_NO_RULES: Final = (
    "the question names nothing in the graph, and there are no rules at hand that it could be "
    "about. Give them with --shapes FILE."
)


def asks_for_a_look(question: str) -> bool:
    """Check whether nothing in a question asks for a cause, so that a look may answer it."""
    return "why" not in intents_of(question) and not suspects(question)


def readings_of(
    question: str,
    request: Request,
    progress: Progress | None = None,
    notice: Notice | None = None,
) -> list[Offered]:
    """Return what a question may mean: symptoms of the shapes first, then outcome queries.

    Where the question links an outcome with something else, readings are of the outcome, and each
    has a suggestion about what it is linked with. Raises OptionError where no name in the graph has
    a word with the question in common.
    """
    if request.shapes:
        graph, observed = seen(request, progress, notice)
    else:
        graph, observed = load_graph(request), None
    vocabulary, sides = Vocabulary(graph), linked(question)
    if sides is not None and sides.either:
        sides = _right_way_round(sides, vocabulary, observed)
    if sides is not None and sides.back:
        return [_completed(_all(question, observed, graph), sides, vocabulary)]
    found = [] if sides is None else _offered(sides.outcome, vocabulary, observed)
    if sides is None or not found:
        sides = Linked(question, "")
        found = _offered(question, vocabulary, observed)
    about = sides.outcome
    held = complete(about, vocabulary)
    if held is not None and _lacks(held, found[0] if found else None):
        raise UnreadError(f"{question!r}: nothing is lacking there; {held.words}. {_OTHERWISE}")
    named = named_classes(about, vocabulary)
    if not found and not named and observed is not None and _names_nothing(question):
        found = [one for one in (all_at_hand(graph, observed),) if one is not None]
    if found and found[0].within and not found[0].failing:
        raise UnreadError(f"{question!r}: nothing is wrong there; {_whole(found[0])}. {_OTHERWISE}")
    if not found or _misses(found[0], named):
        if observed is None and not named and _names_nothing(question):
            raise UnreadError(f"{question!r}: {_NO_RULES} {_OTHERWISE}")
        raise UnreadError(_unreadable(question, named))
    return [_completed(one, sides, vocabulary) for one in found[:MOST]]


def _lacks(held: Complete, first: Offered | None) -> bool:
    """Check whether a question asks for what nothing lacks, rather than for the best reading.

    A broken rule that is called by the same words is meant, unless the question says "without".
    """
    if first is None:
        return True
    if first.within:
        return False
    return held.score > first.score and (held.cued or not (first.only and held.used <= first.used))


def _whole(first: Offered) -> str:
    """Describe a rule that no node of a class breaks."""
    return f"none of {first.nodes:,} nodes breaks the rule “{first.words}”"


def _names_nothing(question: str) -> bool:
    """Check whether no word of a question could be a name, as of "what is wrong with the data?"."""
    return not stems(question) - _idle(question)


def _misses(first: Offered, named: Sequence[NamedClass]) -> bool:
    """Check whether the best reading is about none of the classes that a question names."""
    at_hand_ = first.only or first.every or first.within
    return bool(named) and not at_hand_ and not any(one.words <= first.used for one in named)


def _unreadable(question: str, named: Sequence[NamedClass]) -> str:
    """Return why a question is not read: what its class has, or that it names none."""
    if not named:
        return (
            f"{question!r}: no class, property or value in the data is called by a word of this "
            f"question. {_OTHERWISE}"
        )
    called, said = named[0].called, named[0].said
    more = f" and {len(said) - _SHOWN} more" if len(said) > _SHOWN else ""
    return (
        f"{question!r}: the question names the class {called}, and nothing that tells some of its "
        f"nodes from others. What is said of them: {', '.join(said[:_SHOWN])}{more}. {_OTHERWISE}"
    )


def _right_way_round(sides: Linked, vocabulary: Vocabulary, observed: Observed | None) -> Linked:
    """Return the sides of a link that may be read either way, by what sounds like an outcome."""
    one, other = (
        next(iter(_offered(text, vocabulary, observed)), None)
        for text in (sides.outcome, sides.factor)
    )
    if other is not None and (one is None or _odd(other) > _odd(one)):
        return sides.turned()
    return sides


def _odd(one: Offered) -> tuple[bool, int]:
    """Return how much a reading sounds like an outcome: one that says what is odd comes first."""
    return one.cued or bool(one.only), one.score


def _offered(question: str, vocabulary: Vocabulary, observed: Observed | None) -> list[Offered]:
    rules: list[Offered] = []
    if observed is not None:
        rules = at_hand(question, vocabulary.graph, observed)
        rules = narrowed_to(rules, named_classes(question, vocabulary), observed, vocabulary)
    return [*rules, *outcomes(question, vocabulary)]


def _all(question: str, observed: Observed | None, graph: Graph) -> Offered:
    """Return all symptoms of the shapes, as "it" means where nothing was asked before."""
    found = None if observed is None else all_at_hand(graph, observed)
    if found is None:
        why = "no rule is broken" if observed is not None else "nothing was asked before"
        raise OptionError(
            f"{question!r}: {why} that it could be about. Say what is wrong, as in “why do … lack "
            "…?”, give --shapes FILE, or ask in the --conversation of an earlier question."
        )
    return found


def _completed(one: Offered, sides: Linked, vocabulary: Vocabulary) -> Offered:
    """Return a reading with what it suspects, and with the words that name nothing."""
    unread = unread_words(sides.outcome, one.used)
    suspected = []
    for factor in sides.factors:
        found = suggestion(factor, one.classes, vocabulary)
        if found is None:
            unread += unread_words(factor, frozenset())
        else:
            suspected.append(found)
    return replace(one, suspected=tuple(suspected), unread=" ".join(unread))


def unread_words(text: str, used: frozenset[str]) -> list[str]:
    """Return the words of a question that could be names, and of which no stem is among some."""
    spent = used | cue_stems() | _idle(text)
    return [word for word in _WORD.findall(text) if stems(word) - spent]


def _idle(text: str) -> frozenset[str]:
    """Return the stems of the words of a question that are to name nothing."""
    said = intents_of(text)
    return stems(" ".join(word for name in _IDLE for word in said.get(name, ())))


def outcome_file(offered: Offered, folder: Path) -> Path:
    """Write the outcome query of a reading to a file of a folder, named by its digest."""
    name = hashlib.sha256(offered.query.encode()).hexdigest()[:12]
    try:
        new = not folder.exists()
        folder.mkdir(parents=True, exist_ok=True)
        if new:  # what is there already is somebody's
            unversioned(folder)
        file = folder / f"{name}.rq"
        file.write_text(f"# {offered.words}\n{offered.query}", encoding="utf-8")
    except OSError as error:
        raise QueryError(f"{folder}: the query cannot be written ({error.strerror}).") from error
    return file
