"""How a question is divided: by symptom, by class, by source, or by goals that were given.

Each part is about whole symptoms, whose nodes are never divided: so what is tested, and on which
nodes, is the same as in one investigation. A part may be divided again, by another kind of split.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import pyoxigraph as ox

from kgreason.base.errors import OptionError
from kgreason.base.figures import integer
from kgreason.base.terms import PREFIXES
from kgreason.base.words import content
from kgreason.context.context import Context
from kgreason.context.symptom import Observed, Symptom
from kgreason.graph import Graph
from kgreason.graph.names import local_name
from kgreason.observe.called import class_label, focus_class
from kgreason.planner.tool_catalogue import scopes_of
from kgreason.record.fanning import CLASS, GOAL, KINDS, SOURCE, SYMPTOM, Part
from kgreason.routing.task_types import task_types
from kgreason.shacl import names

_LOOP: Final = "hypothesis"
DIVIDES: Final = "supervisor"
"""The pattern of a part that is divided again."""
_SEVERAL: Final = 2
_SHOWN: Final = 5
"""Rules that a refusal names."""


def split_kinds(
    wanted: str | None, goals: Sequence[str] = (), *, model: bool = False
) -> tuple[str, ...]:
    """Return by what a question is divided, and by what its parts are, the outermost first.

    `wanted` has commas between several; without it a question is divided by symptom, with `goals`
    by these. A `model`, where there is one, may propose the goals. Raises OptionError.
    """
    kinds = () if wanted is None else tuple(one.strip() for one in wanted.split(","))
    if goals and kinds and kinds[0] != GOAL:
        raise OptionError(f"--goal divides by goals; leave out --split {wanted}.")
    if GOAL in kinds and not goals and not model:
        raise OptionError(
            "--split goal: say each goal by --goal TEXT, or have a model propose them by --model."
        )
    if any(not goal.strip() for goal in goals) or len(set(goals)) < len(goals):
        raise OptionError("--goal: each goal is a text, and stands once.")
    for kind in kinds:
        if kind not in KINDS:
            raise OptionError(f"--split {wanted}: give one of {', '.join(KINDS)}.")
    if len(set(kinds)) < len(kinds) or GOAL in kinds[1:]:
        raise OptionError(f"--split {wanted}: each kind stands once, and goal stands first.")
    most = integer("fanOutDepth")
    if len(kinds) > most:
        raise OptionError(f"--split {wanted}: a question is divided {most} times at most.")
    return kinds or ((GOAL,) if goals else (SYMPTOM,))


def parts_by_symptom(_context: Context, observed: Observed) -> list[Part]:
    """Return a part for each symptom, the most failures first; the last takes what is over."""
    found = observed.failing
    called = names([symptom.constraint for symptom in found])
    most = integer("fanOutParts")
    each = [_of_symptoms([s], n) for s, n in zip(found, called, strict=True)]
    if len(each) <= most:
        return each
    rest = found[most - 1 :]
    return [*each[: most - 1], _of_symptoms(rest, f"{len(rest)} more rules")]


def parts_by_class(context: Context, observed: Observed) -> list[Part]:
    """Return a part for each class that symptoms are of; those of none are one part."""
    by_class: dict[str | None, list[Symptom]] = {}
    for symptom in observed.failing:
        kind = focus_class(context, symptom)
        by_class.setdefault(None if kind is None else kind.value, []).append(symptom)
    out = []
    for name, several in by_class.items():
        called = "nodes of no class" if name is None else context.names(ox.NamedNode(name))
        out.append(_of_symptoms(several, f"the rules for {called}", within_class=name))
    return out


def parts_by_source(context: Context, observed: Observed) -> list[Part]:
    """Return a part for each named graph that describes more than half of what fails a rule."""
    by_source: dict[str | None, list[Symptom]] = {}
    for symptom in observed.failing:
        by_source.setdefault(_home(context.graph, symptom), []).append(symptom)
    return [
        _of_symptoms(
            several,
            "what fails in several sources"
            if name is None
            else f"what fails in {context.names(ox.NamedNode(name))}",
            within_source=name,
        )
        for name, several in by_source.items()
    ]


def _home(graph: Graph, symptom: Symptom) -> str | None:
    """Return the named graph that describes more than half of the failing nodes, None for none."""
    held: Counter[str] = Counter()
    for node in symptom.failing:
        if not isinstance(node, ox.Literal):
            quads = graph.store.inner.quads_for_pattern(node, None, None, None)
            names = {q.graph_name.value for q in quads if isinstance(q.graph_name, ox.NamedNode)}
            held.update(name for name in names if not name.startswith(PREFIXES["work"]))
    name, most = min(held.items(), key=lambda one: (-one[1], one[0]), default=(None, 0))
    return name if 2 * most > len(symptom.failing) else None


class GoalReader:
    """Reads goals against what is broken.

    A goal names a rule by all words of its name, of its shape or of its property; else all rules
    of a class that it names.
    """

    def __init__(self, context: Context, observed: Observed) -> None:
        self._found = observed.failing
        self.called = names([symptom.constraint for symptom in self._found])
        self._about = [
            _names_of(context, one, name)
            for one, name in zip(self._found, self.called, strict=True)
        ]

    def names(self, goal: str) -> tuple[str, ...]:
        """Return the keys of the rules that a goal names."""
        return tuple(one.constraint.key for one in self.meant(goal))

    def meant(self, goal: str) -> list[Symptom]:
        """Return the symptoms that a goal names."""
        return _meant(goal, self._found, self._about)

    def told(self) -> dict[str, str]:
        """Describe what is broken by its key, with the words that name a rule and its class."""
        told = {}
        for one, name, (own, kind) in zip(self._found, self.called, self._about, strict=True):
            said = f"{name}: {len(one.failing)} of {one.population} nodes fail; named by "
            said += (
                f"{' or '.join(_worded(own))}; of the class {' or '.join(_worded(kind)) or 'none'}"
            )
            told[one.constraint.key] = said
        return told


def _worded(several: Sequence[frozenset[str]]) -> list[str]:
    return list(dict.fromkeys("“" + " ".join(sorted(one)) + "”" for one in several if one))


def parts_by_goal(context: Context, observed: Observed, goals: Sequence[str]) -> list[Part]:
    """Return a part for each goal, about the rules that it names, and one for the rest.

    Raises OptionError for a goal that names nothing that is broken.
    """
    reader = GoalReader(context, observed)
    taken: set[str] = set()
    out = []
    for goal in goals:
        several = reader.meant(goal)
        if not several:
            there = "; ".join(reader.called[:_SHOWN]) + ("; …" if reader.called[_SHOWN:] else "")
            raise OptionError(
                f"--goal “{goal}”: this names nothing that is broken. Give the words of a rule, a "
                f"property or a class of these: {there or 'no rule is broken'}."
            )
        taken.update(one.constraint.key for one in several)
        out.append(_of_symptoms(several, called="", goal=goal))
    rest = [one for one in observed.failing if one.constraint.key not in taken]
    return [*out, _of_symptoms(rest, "what no goal names")] if rest else out


def _names_of(
    context: Context, symptom: Symptom, called: str
) -> tuple[list[frozenset[str]], list[frozenset[str]]]:
    """Return the words of the names of a rule, and those of its class."""
    constraint = symptom.constraint
    shape = constraint.named_shape
    path = constraint.path.predicate if constraint.path is not None else None
    own = [called, *(local_name(one.value) for one in (shape, path) if one is not None)]
    kind = focus_class(context, symptom)
    label = class_label(context.graph, kind)
    of_class = [local_name(kind.value)] if kind is not None else []
    of_class += [label] if label is not None else []
    return [content(one) for one in own], [content(one) for one in of_class]


def _meant(
    goal: str,
    found: Sequence[Symptom],
    about: Sequence[tuple[list[frozenset[str]], list[frozenset[str]]]],
) -> list[Symptom]:
    words = content(goal)

    def fits(named: Sequence[frozenset[str]]) -> bool:
        return any(one and one <= words for one in named)

    pairs = list(zip(found, about, strict=True))
    of_class = [one for one, (_, kind) in pairs if fits(kind)]
    by_name = [one for one, (own, _) in pairs if fits(own)]
    both = [one for one in by_name if one in of_class]
    return both or by_name or of_class


def _of_symptoms(
    several: Sequence[Symptom],
    called: str,
    within_class: str | None = None,
    within_source: str | None = None,
    goal: str | None = None,
) -> Part:
    pattern = task_types().patterns[_LOOP].iri
    return Part(
        goal or f"Why is this broken: {called}?",
        pattern,
        scopes_of(pattern),
        tuple(symptom.constraint.key for symptom in several),
        within_class,
        within_source,
    )


def divided_by(
    kinds: Sequence[str], context: Context, observed: Observed, goals: Sequence[str] = ()
) -> list[Part]:
    """Return the parts of a graph with symptoms, by the first kind of split; raises OptionError.

    A part that one of the other kinds divides into several is for a supervisor again.
    """
    if kinds[0] == GOAL:
        parts = parts_by_goal(context, observed, goals)
    else:
        parts = _SPLITS[kinds[0]](context, observed)
    return [_again(one) if further(kinds[1:], context, observed, one) else one for one in parts]


def further(
    kinds: Sequence[str], context: Context, observed: Observed, part: Part
) -> tuple[str, ...]:
    """Return by what a part is divided again: `kinds` from the first one that divides it."""
    inside = within(observed, part)
    left = tuple(kinds)
    while left and len(_SPLITS[left[0]](context, inside)) < _SEVERAL:
        left = left[1:]
    return left


def within(observed: Observed, part: Part) -> Observed:
    """Return what was observed of the symptoms of a part."""
    known = set(part.symptoms)
    return replace(
        observed, symptoms=tuple(s for s in observed.symptoms if s.constraint.key in known)
    )


def _again(part: Part) -> Part:
    pattern = task_types().patterns[DIVIDES].iri
    return replace(part, strategy=pattern, tools=scopes_of(pattern))


_SPLITS: Final = {SYMPTOM: parts_by_symptom, CLASS: parts_by_class, SOURCE: parts_by_source}
