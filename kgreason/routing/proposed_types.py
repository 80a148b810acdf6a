"""Types of task proposed from past sessions: clusters of questions that no type fits, for a person.

A question fits no type where another is near, where a choice was refused, or where nothing spoke
for the type that was taken; one like those that got no answer joins them. Questions are alike by
the words they share. What is proposed is Turtle with its evidence; nothing uses it before a
person puts it into an extension.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import pairwise
from typing import Final

from kgreason.base.figures import figure, integer
from kgreason.base.store import Row, Store
from kgreason.base.templates import template
from kgreason.base.words import content
from kgreason.routing.phrases import words_of
from kgreason.routing.task_types import task_types

_LEAST: Final = integer("typeSessions")
_ALIKE: Final = figure("typeAlike")
_LATEST: Final = 500
"""So many of the latest unfitting questions are looked at; each is held against all others."""
_MISSED: Final = "which seemed to fit"
_SHOWN: Final = 40
"""Unfitting questions that are listed, the latest."""
_MOST_CUES: Final = 6
_PLAIN: Final = re.compile(r"[a-z]+")
_HEAD: Final = """@prefix trails: <https://w3id.org/trails#> .
@prefix prov: <http://www.w3.org/ns/prov#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .

# Types of task proposed from past sessions. Nothing uses this file by itself. Read the evidence,
# put names, texts and cues into better words, drop what is no type of its own, and save what is
# left as ontology/patterns/NAME.ttl in a folder that you give with --extend.
"""


@dataclass(frozen=True)
class PastQuestion:
    """A question that was routed: how, what shows that no type fits, and whether it was answered.

    `why` is empty where its type fits.
    """

    investigation: str
    number: int
    question: str
    task_type: str
    pattern: str
    why: str
    answered: bool

    @property
    def words(self) -> frozenset[str]:
        """The words by which it is held against others."""
        return content(self.question)

    def told(self) -> list[str]:
        """Return it as comments of Turtle."""
        said = "answered" if self.answered else "not answered"
        return [
            f"# I{self.number} {_line(self.question)}",
            f"#   was taken for {self.task_type}, {self.why}; by {self.pattern}, {said}.",
        ]


@dataclass(frozen=True)
class ProposedType:
    """A type of task that past questions suggest, with the cues that they share."""

    name: str
    questions: tuple[PastQuestion, ...]
    cues: tuple[str, ...]
    patterns: tuple[tuple[str, Decimal], ...]

    def turtle(self) -> str:
        """Return it as Turtle, its evidence as comments and as what it is derived from."""
        known = task_types().patterns
        lines = [f"# {len(self.questions)} questions:"]
        lines += [line for one in self.questions for line in one.told()]
        example = _line(self.questions[0].question).replace("\\", "\\\\").replace('"', '\\"')
        cues = " , ".join(f'"{cue}"' for cue in self.cues)
        weights = " ,\n        ".join(
            f"[ a trails:PatternWeight ; trails:pattern <{known[name].iri}> ; "
            f"trails:weight {weight} ]"
            for name, weight in self.patterns
        )
        derived = " , ".join(f"<{one.investigation}>" for one in self.questions)
        lines += [
            f"<urn:kgreason:task-type:{self.name}> a trails:TaskType ;",
            f'    skos:notation "{self.name}" ;',
            f'    rdfs:label "{self.name.replace("-", " ")}"@en ;',
            f'    rdfs:comment "Questions such as: {example}"@en ;',
            f'    trails:whenToUse "The question is like: {example}"@en ;',
            '    trails:framing "Answer what is asked, and say what the answer rests on."@en ;',
            f"    trails:cue [ a trails:Cue ; trails:weight {figure('typeCueWeight')} ;",
            f"        trails:phrase {cues} ] ;",
            f"    trails:validPattern {weights} ;",
            f"    prov:wasDerivedFrom {derived} .",
        ]
        return "\n".join(lines) + "\n"


def _line(text: str) -> str:
    """Return a text in one line, without control characters."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


@dataclass(frozen=True)
class Proposals:
    """What past sessions suggest: types, and clusters whose questions share no words of their own.

    `routed` counts the questions that were routed, `unfitting` those that no type fits; of these
    `alone` are in no type that is proposed.
    """

    types: tuple[ProposedType, ...]
    without_cue: tuple[tuple[PastQuestion, ...], ...]
    routed: int
    unfitting: int
    alone: tuple[PastQuestion, ...] = ()

    def turtle(self) -> str:
        """Return all types as one Turtle file; without a type it holds comments alone."""
        made = [_HEAD.rstrip("\n") + "\n"]
        badly = f"no type fits {self.unfitting} of them" if self.unfitting else "a type fits each"
        routed = "1 question was" if self.routed == 1 else f"{self.routed} questions were"
        made.append(f"# {routed} routed; {badly}.\n")
        for several in self.without_cue:
            numbers = ", ".join(f"I{one.number}" for one in several)
            made.append(f"# {numbers} are alike, but share no words that the others do not have.\n")
        if not self.types:
            made.append(
                f"# No type is proposed. That takes {_LEAST} different questions that share "
                "words.\n"
            )
        if self.alone:
            lines = ["# Questions that no type fits, and that are in no type proposed here:"]
            lines += [line for one in self.alone[-_SHOWN:] for line in one.told()]
            made.append("\n".join(lines) + "\n")
        return "\n".join([*made, *(one.turtle() for one in self.types)])


def proposed_types(store: Store) -> Proposals:
    """Return the types of task that the sessions of a ledger suggest."""
    past = [_past(row) for row in store.select(template("record", "unfitting").render())]
    unfitting = [one for one in past if one.why]
    types: list[ProposedType] = []
    without: list[tuple[PastQuestion, ...]] = []
    taken = set(task_types().types)
    missed = [replace(one, why=_MISSED) for one in past if not one.why and not one.answered]
    for cluster in _clusters(unfitting[-_LATEST:]):
        several = _with_missed(cluster, missed[-_LATEST:])
        if len({_line(one.question).casefold() for one in several}) < _LEAST:
            continue
        inside = {one.investigation for one in several}
        others = [one for one in past if one.investigation not in inside]
        cues = _cues(several, others)
        if not cues:
            without.append(tuple(several))
            continue
        name = _name(cues, taken)
        taken.add(name)
        types.append(ProposedType(name, tuple(several), cues, _patterns(several)))
    found = {one.investigation for type_ in types for one in type_.questions}
    alone = tuple(one for one in unfitting if one.investigation not in found)
    return Proposals(tuple(types), tuple(without), len(past), len(unfitting), alone)


def _past(row: Row) -> PastQuestion:
    why = []
    if "near" in row:
        why.append(f"to which {row['near'].value} is near")
    if "refused" in row:
        why.append(f"after the choice {_line(row['refused'].value)!r} was refused")
    if Decimal(row["score"].value) <= 0:
        why.append("for which nothing spoke")
    return PastQuestion(
        row["investigation"].value,
        int(row["number"].value),
        row["question"].value,
        row["type"].value,
        row["pattern"].value,
        ", ".join(why),
        row["answered"].value in {"true", "1"},
    )


def _with_missed(
    cluster: Sequence[PastQuestion], missed: Sequence[PastQuestion]
) -> list[PastQuestion]:
    """Return a cluster with questions like it that a type seemed to fit, and that got no answer.

    They never outnumber those that no type fits.
    """
    like = [one for one in missed if _average([one], cluster) >= _ALIKE]
    return sorted([*cluster, *like[-len(cluster) :]], key=lambda one: one.number)


def _alike(one: PastQuestion, other: PastQuestion) -> float:
    """Return the share of the words of two questions that both have."""
    both = one.words | other.words
    return len(one.words & other.words) / len(both) if both else 0.0


def _clusters(several: Sequence[PastQuestion]) -> list[list[PastQuestion]]:
    """Return groups of alike questions; each joins the group to which it is most alike on average.

    Two groups of the outcome are joined as long as their questions are alike on average.
    """
    groups: list[list[PastQuestion]] = []
    for one in several:
        best = max(groups, key=lambda group: _average([one], group), default=None)
        if best is not None and _average([one], best) >= _ALIKE:
            best.append(one)
        else:
            groups.append([one])
    merged: list[list[PastQuestion]] = []
    for group in groups:
        near = next((other for other in merged if _average(group, other) >= _ALIKE), None)
        if near is None:
            merged.append(group)
        else:
            near.extend(group)
    return [sorted(group, key=lambda one: one.number) for group in merged]


def _average(some: Sequence[PastQuestion], others: Sequence[PastQuestion]) -> float:
    return sum(_alike(a, b) for a in some for b in others) / (len(some) * len(others))


def _phrases(question: str) -> set[str]:
    """Return the words of a question that name something, and pairs of words with one of them."""
    words = [word if _PLAIN.fullmatch(word) else "" for word in words_of(question).split()]
    naming = {word for word in words if word and content(word)}
    pairs = {
        f"{one} {other}"
        for one, other in pairwise(words)
        if one and other and (one in naming or other in naming)
    }
    return naming | pairs


def _cues(several: Sequence[PastQuestion], others: Sequence[PastQuestion]) -> tuple[str, ...]:
    """Return what most questions of a cluster say and hardly any other: the commonest first."""
    inside = [_phrases(one.question) for one in several]
    outside = [_phrases(one.question) for one in others]
    share, elsewhere = float(figure("typeCueShare")), float(figure("typeCueElsewhere"))
    counts = {phrase: sum(phrase in one for one in inside) for phrase in set().union(*inside)}
    found = [
        phrase
        for phrase, count in counts.items()
        if count >= share * len(inside)
        and sum(phrase in one for one in outside) <= elsewhere * len(outside)
    ]
    found.sort(key=lambda phrase: (-counts[phrase], " " in phrase, phrase))
    return tuple(found[:_MOST_CUES])


def _name(cues: Sequence[str], taken: set[str]) -> str:
    words = [cue for cue in cues if " " not in cue][:2] or cues[0].split()
    name = "-".join(["proposed", *words])
    number = 2
    while name in taken:
        name, number = "-".join(["proposed", *words, str(number)]), number + 1
    return name


def _patterns(several: Sequence[PastQuestion]) -> tuple[tuple[str, Decimal], ...]:
    """Return the patterns by which the questions were worked on, those that answered before."""
    known, out = task_types().patterns, []
    for name in sorted({one.pattern for one in several} & set(known)):
        by = [one for one in several if one.pattern == name]
        share = Decimal(sum(one.answered for one in by)) / len(by)
        out.append((name, (1 + share).quantize(Decimal("0.1"))))
    return tuple(sorted(out, key=lambda each: (-each[1], each[0])))
