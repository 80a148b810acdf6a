"""A reading of a question that names a broken rule and a class of some of its nodes.

"Why do transfer shipments lack a promised date?" is about these, where the rule is about all
shipments. What fails is asked by the rule, of the nodes of the class alone.
"""

from collections.abc import Sequence
from dataclasses import replace

from kgreason.base.templates import Value, template
from kgreason.context.symptom import Observed, Symptom
from kgreason.observe.question import NamedClass, Offered
from kgreason.observe.question_words import Vocabulary
from kgreason.shacl import names as symptom_names


def narrowed_to(
    found: Sequence[Offered],
    named: Sequence[NamedClass],
    observed: Observed,
    vocabulary: Vocabulary,
) -> list[Offered]:
    """Return readings of broken rules, the best of them narrowed to the class that is named.

    That is the one that most words name. A rule stays as it is where the class has all of its nodes
    or none, and where its author's own query would have to be asked.
    """
    called = symptom_names([one.constraint for one in observed.failing])
    symptoms = dict(zip(called, observed.failing, strict=True))
    inner = min(named, key=lambda one: (-len(one.words), one.nodes), default=None)
    if inner is None:
        return list(found)
    out, best = [], max((one.score for one in found), default=0)
    for one in found:
        made = None
        if one.only and one.score == best:
            made = _within(one, inner, symptoms.get(one.words), vocabulary)
        out += [one] if made is None else [made, one]
    return sorted(out, key=lambda one: -one.score)


def _within(
    one: Offered, inner: NamedClass, symptom: Symptom | None, vocabulary: Vocabulary
) -> Offered | None:
    """Return a reading of the nodes of a class alone; None where these are all nodes or none."""
    if symptom is None or symptom.constraint.guarded or inner.nodes >= one.nodes:
        return None
    texts = symptom.constraint.portable
    given: dict[str, Value] = {"class": [*inner.classes]}
    query = template("context", "within-class").render(
        **given, target=texts.target, violation=texts.violation
    )
    outcomes = [row["outcome"].value for row in vocabulary.graph.store.select(query)]
    if not 0 < len(outcomes) < one.nodes:
        return None
    return replace(
        one,
        words=f"{one.words}, of {inner.called} alone",
        score=one.score + len(inner.words - one.used) + 1,
        failing=outcomes.count("true"),
        nodes=len(outcomes),
        query=query,
        only="",
        classes=inner.classes,
        used=one.used | inner.words,
        within=True,
    )
