"""Plans: the tests of each member of a frame, as queries, with what each member expects."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Final

from pyoxigraph import NamedNode

from kgreason.base.templates import Fragment, Value, template
from kgreason.context.broken import breaks
from kgreason.context.view import View, exposure, inside, members
from kgreason.hypothesize.outlines import Outline
from kgreason.hypothesize.overlaps import overlap
from kgreason.record.test_kinds import kinds_of
from kgreason.test.finding import decimal

_TOLD_APART: Final = "confounder"


@dataclass(frozen=True)
class SourceAtHand:
    """A source that a look-up could be sent to: how much speaks for it, and whether it was taken.

    `kind` is a notation of the ontology, `matched` how many of its domain cues the hypothesis has.
    """

    name: str
    kind: str
    priority: int
    universal: bool
    matched: int
    taken: bool = False


@dataclass(frozen=True)
class Sent:
    """To which sources a hypothesis was sent, of those at hand, and what they are asked for.

    `fallback` is empty, "hypothesis" where the chosen sources gave nothing on it, or "question"
    where no hypothesis held.
    """

    sources: tuple[SourceAtHand, ...]
    terms: tuple[str, ...]
    fallback: str = ""


@dataclass(frozen=True)
class PlannedTest:
    """A test to be registered: its kind, the very query, and how each member stands to it.

    `members` gives the role (self, named, rival, none) and the overlap for each position in the
    frame; `tested` and `named` are positions. A rival of another frame is an `outsider`. A look-up
    says by which choice of sources it was `sent`.
    """

    kind: str
    query: str
    half: str
    tested: int
    named: int | None = None
    members: Sequence[tuple[str, Decimal]] = field(default=())
    outsider: NamedNode | None = None
    sent: Sent | None = None


def first_tests(view: View, frame: Sequence[Outline]) -> list[PlannedTest]:
    """Design the tests of every member of a frame but the catch-all, which has none of its own."""
    nodes = [members(view, each.pattern) & view.marks.population.everyone for each in frame]
    out = []
    for position, outline in enumerate(frame):
        roles = _roles(nodes, position)
        split = view.marks.scheme(outline.scheme)
        for kind in outline.kinds:
            query = _query(view, outline, kind)
            out.append(PlannedTest(kind, query, split.scheme, position, None, roles))
    return out


def roles_in(view: View, frame: Sequence[Outline], tested: int) -> list[tuple[str, Decimal]]:
    """Return role and overlap of each member of a frame where one is tested, the catch-all last."""
    everyone = view.marks.population.everyone
    return _roles([members(view, each.pattern) & everyone for each in frame], tested)


def _roles(nodes: Sequence[int], tested: int) -> list[tuple[str, Decimal]]:
    own = nodes[tested]
    roles = [
        ("self", Decimal(1)) if place == tested else ("rival", decimal(overlap(own, other)))
        for place, other in enumerate(nodes)
    ]
    return [*roles, ("none", Decimal(0))]


def _query(view: View, outline: Outline, kind: str) -> str:
    """Render the query of a test."""
    kind_template = template("test", kind)
    split, patterns = view.marks.scheme(outline.scheme), outline.patterns
    offered: dict[str, Value] = {
        "symptom": view.marks.failing,
        "half": split.heldout,
        "other": split.common or split.discovery,
        "region": inside(view, outline.pattern),
        "passing": False,
        "known": Fragment(""),
        "complete": outline.silent,
        "exposed": exposure(view),
    }
    if "first" in kind_template.parameters:
        halves = view.marks.cluster
        offered |= {"first": halves.discovery, "second": halves.heldout}
    offered |= {"body" if name == "placebo" else name: each for name, each in patterns.items()}
    if "passing" in kind_template.parameters and "exception" in patterns:
        offered |= {"passing": True, "region": patterns["exception"]}
    if "arms" in kind_template.parameters:
        offered["arms"] = list(breaks(view))
    return kind_template.render(**{k: offered[k] for k in kind_template.parameters})


def telling_apart(
    view: View, regions: Sequence[Fragment], pairs: Sequence[tuple[int, int]]
) -> list[tuple[str, int, int, str, str]]:
    """Design tests with the role of a confounder: (kind, tested, rival, query, scheme)."""
    split = view.marks.node
    return [
        (
            kind,
            tested,
            rival,
            template("test", kind).render(
                symptom=view.marks.failing,
                half=split.heldout,
                region=inside(view, regions[tested]),
                rival=inside(view, regions[rival]),
            ),
            split.scheme,
        )
        for tested, rival in pairs
        for kind in kinds_of(_TOLD_APART)
    ]
