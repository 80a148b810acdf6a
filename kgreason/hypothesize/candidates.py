"""Candidates: the regions that families propose from the discovery half."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from pyoxigraph import Literal, NamedNode

from kgreason.base.budget import ask
from kgreason.base.resources import folder
from kgreason.base.statistics import Table, best_cut, deviance, excess
from kgreason.base.store import Row, Term
from kgreason.base.templates import Fragment, Template, Value, role
from kgreason.base.terms import SH
from kgreason.context.named_wrong import says_again
from kgreason.context.view import LEAST, View, forbids, members, number, reads, table
from kgreason.graph.marks import Split
from kgreason.hypothesize.several import entries, sorted_terms
from kgreason.shacl import Constraint, Reading

Key = tuple[str, ...]
_STANDARD: Final = {"failing", "population"}
_SHARED: Final = {"half", "least"}


@dataclass(frozen=True)
class Candidate:
    """A region with its counts on the discovery half.

    `region` is the pattern that anyone can run on the data. `pattern` gives the same nodes on the
    scratch copy, where marks and literals as they were written make it quicker. `values` are the
    terms that the family bound, `parts` the candidates of a conjunction. `members` has a bit for
    each node of the population inside the region, `claimed` for those of them that fail in the
    discovery half; both are empty before `filled`. A narrower or wider version of a hypothesis
    `revises` that one, in a `way` of the refinement scheme. `by` are the agents that proposed the
    candidate, none for a family. `said` holds words that replace those of the family, and the
    number of the suggestion they came from. `paid` says of what was proposed with a look at all
    data whether its code length is paid for; it is None for what saw the discovery half alone.
    """

    family: Template
    values: Mapping[str, Term]
    table: Table
    region: Fragment
    pattern: Fragment
    members: int = field(default=0, repr=False)
    claimed: int = field(default=0, repr=False)
    parts: "tuple[Candidate, ...]" = field(default=())
    revises: str = ""
    way: str = ""
    by: tuple[str, ...] = ()
    said: Mapping[str, str] = field(default_factory=dict)
    paid: bool | None = None

    @property
    def seen(self) -> bool | None:
        """Whether its code length is paid for, its own or that of each part made with a look."""
        told = [made.paid for made in (self, *self.parts) if made.paid is not None]
        return all(told) if told else None

    @property
    def score(self) -> float:
        """The G statistic of the table on the discovery half; candidates are ranked by it.

        Of one that was looked for among all nodes it is that of half as many: G grows with the
        nodes that are counted, and others have but half of them.
        """
        whole = self.family.header.get("split") == "whole"
        return deviance(self.table) / (2 if whole else 1)

    @property
    def share(self) -> float:
        """Excess failing nodes as a share of all failing nodes."""
        return excess_share(self.table)

    @property
    def aspect(self) -> str:
        """`origin` or `mechanism`, as the header of the family says."""
        return self.family.header["aspect"]

    @property
    def is_mechanism(self) -> bool:
        """Whether it tells how nodes fail, not where failing nodes come from."""
        return self.aspect == "mechanism"

    @property
    def comes_along(self) -> bool:
        """Whether its family comes along with the engine, and not with an extension."""
        return self.family.path.is_relative_to(folder("queries"))

    @property
    def key(self) -> Key:
        """The family and the region, which identify a candidate."""
        return (self.family.name, self.region.text)


def families() -> Iterator[Template]:
    """Return the families in the order of their header."""
    found = role("hypothesize").values()
    return iter(sorted(found, key=lambda f: (int(f.header.get("order", "50")), f.name)))


def applies(
    family: Template,
    constraint: Constraint,
    offered: Iterable[str],
    reading: Reading | None = None,
) -> bool:
    """Check whether a family applies to the constraint of a symptom, or to a reading of a query."""
    needs = family.header.get("needs", "").split()
    offered = set(offered)
    there = all(name in offered for name in needs)
    about = suits(family, constraint) if reading is None else reads(family, reading)
    # What only cuts the numbers of an outcome in two says of none that it is wrong.
    about = about and not (constraint.at is not None and "of-rules" in family.header)
    return "propose" in family.sections and there and about


def suits(family: Template, constraint: Constraint) -> bool:
    """Check whether a family is about constraints of this kind."""
    wanted = family.header.get("components", "").split()
    local = constraint.component.value.rpartition("#")[2].removesuffix("ConstraintComponent")
    beside = "beside-value" in family.header
    one_way = breaks_one_way(constraint) or forbids(constraint)
    return not wanted or (local in wanted and (beside or not one_way))


def breaks_one_way(constraint: Constraint) -> bool:
    """Check whether but one value breaks a rule, so that to name that value says the rule again.

    A text has at least one letter, or it is empty.
    """
    least = constraint.parameters.get(SH.minLength, ())
    alone = constraint.component == SH.MinLengthConstraintComponent
    return alone and any(isinstance(term, Literal) and term.value == "1" for term in least)


def mine(view: View, family: Template) -> list[Candidate]:
    """Run a family and return its candidates; their `claimed` is not filled in yet."""
    found = tuple(one for one in view.constraint.readings if reads(family, one))
    path = view.constraint.path
    # A rule that is read of each of several properties asks something of all of them, too.
    whole = (None,) if not found or (path is not None and path.kind == "|") else ()
    return [made for one in (*found, *whole) for made in _mined(view, family, one)]


def _mined(view: View, family: Template, reading: Reading | None) -> list[Candidate]:
    """Run a family on what a rule asks, or on one reading of a query."""
    if view.marks.failing_count < LEAST and "single" not in family.header:
        return []
    split = view.split(family)
    offered = view.values(split, reading)
    if says_again(view, family, reading) or not applies(family, view.constraint, offered, reading):
        return []
    asked = {k: v for k, v in offered.items() if k in family.parameters}
    if "single" in family.header:
        # Of a few nodes half are enough: what is wrong shows in the values of each.
        asked["least"] = number(min(LEAST, (view.marks.failing_count + 1) // 2))
    if "when" in family.sections and not _holds(view, family.render("when", **asked)):
        return []
    rows = _rows(view, family, split, asked)
    totals = (
        (view.marks.failing_mask & split.mining_mask).bit_count(),
        split.mining_mask.bit_count(),
    )
    order = family.header.get("levels", "")
    out = []
    # Where data have a text in place of a thing, a family can bind one: no such thing is meant.
    rows = [
        row
        for row in rows
        if all(name in _STANDARD or family.takes(name, term) for name, term in row.items())
    ]
    for row in _cuts(rows, down=order == "ordered-down") if order.startswith("ordered") else rows:
        failing, population = (int(row[name].value) for name in ("failing", "population"))
        inside_failing = min(failing, totals[0])
        left = totals[0] - inside_failing
        inside = min(max(population, inside_failing), totals[1] - left)
        rough = Table(inside_failing, inside, left, totals[1] - inside, view.weight)
        values = {n: sorted_terms(term) for n, term in row.items() if n not in _STANDARD}
        out.append(Candidate(family, values, rough, *regions(family, values, view)))
    return out


def _rows(view: View, family: Template, split: Split, asked: Mapping[str, Value]) -> Sequence[Row]:
    """Return the rows of a family; a population that it counts apart is counted only once."""
    failing = _answer(view, family.render("propose", **asked))
    if "population" not in family.sections or not failing:
        return failing
    shared: dict[str, Value] = {k: v for k, v in asked.items() if k in _SHARED}
    text = family.render("population", **shared | {"half": split.common or split.discovery})
    wanted = {_dimension(row) for row in failing}
    counted = {(_dimension(r), r["level"]): int(r["failing"].value) for r in failing}
    rows = []
    for row in _answer(view, text):
        if _dimension(row) in wanted:
            bad = counted.get((_dimension(row), row["level"]), 0)
            # The sample holds few failing nodes, so the counted ones are added.
            everyone = int(row["population"].value) + (bad if split.sample_mask else 0)
            rows.append({**row, "failing": number(bad), "population": number(everyone)})
    ordered = family.header["levels"].startswith("ordered")
    return [row for row in rows if ordered or (_dimension(row), row["level"]) in counted]


def _dimension(row: Row) -> tuple[Term | None, Term]:
    """Return the dimension of a row: a property, and the property that leads to its subject."""
    return row.get("via"), row["dimension"]


def _answer(view: View, text: str) -> Sequence[Row]:
    """Return the rows of a query, from the cache if it was run on the same nodes before."""
    key = view.marks.anonymous(text)
    if key not in view.answers:
        view.answers[key] = list(view.graph.store.select(text))
    return view.answers[key]


def _holds(view: View, text: str) -> bool:
    """Return the answer of an ASK query; it is cached as one empty row, or none."""
    if text not in view.answers:
        view.answers[text] = [{}] if view.graph.store.ask(text) else []
    return bool(view.answers[text])


def regions(family: Template, values: Mapping[str, Term], view: View) -> tuple[Fragment, Fragment]:
    """Return the region of a family for its terms: for any engine, and for the scratch copy."""
    public = section(family, "region", values, view)
    if "inside" not in family.sections:
        return public, public
    return public, section(family, "inside", values, view)


def section(
    family: Template, name: str, values: Mapping[str, Term], view: View, **more: Value
) -> Fragment:
    """Return a section of a family with its terms filled in."""
    reading = view.read_as(family, values)
    offered: dict[str, Value] = dict(view.values(view.split(family), reading))
    offered.update(bound_by(family, values))
    offered.update(more)
    asked = {k: v for k, v in offered.items() if k in family.parameters}
    return family.fragment(name, **asked)


def bound_by(family: Template, values: Mapping[str, Term]) -> dict[str, Value]:
    """Return the terms that a family bound as its parameters take them: several as a list."""
    out: dict[str, Value] = {}
    for name, term in values.items():
        if name in family.parameters and family.parameters[name].type == "terms":
            out[name] = [each for each, _ in entries(term)]
        elif isinstance(term, NamedNode | Literal):
            out[name] = term
    return out


def _cuts(rows: Iterable[Row], *, down: bool) -> Iterator[Row]:
    """Return the best cut of each ordered dimension: from a level on, or up to a level.

    Levels are ordered by ?rank, a number, if the query binds it, else as text.
    """
    dimensions: dict[tuple[Term | None, Term], list[Row]] = {}
    for row in rows:
        dimensions.setdefault(_dimension(row), []).append(row)
    for (via, dimension), found in dimensions.items():
        # A value that is no number or date of this kind has no rank.
        levels = [r for r in found if "rank" in r] or found
        levels.sort(key=_place, reverse=down)
        counts = [(int(r["failing"].value), int(r["population"].value)) for r in levels]
        if len(counts) < 2:  # noqa: PLR2004 - one level cannot be cut
            continue
        index, gain = best_cut(counts)
        if gain <= 0 or index == 0:
            continue
        after = counts[index:]
        ranked = {"rank": levels[index]["rank"]} if "rank" in levels[index] else {}
        if via is not None:
            ranked["via"] = via
        yield {
            **ranked,
            "dimension": dimension,
            "level": Literal(levels[index]["level"].value),
            "failing": number(sum(f for f, _ in after)),
            "population": number(sum(p for _, p in after)),
        }


def _place(row: Row) -> tuple[int, str]:
    rank = row.get("rank")
    return (int(rank.value) if rank is not None else 0, row["level"].value)


def filled(view: View, candidate: Candidate) -> Candidate:
    """Return a candidate with its members and its exact counts on the discovery half.

    Raises Spent where the budget of the view is spent.
    """
    ask(view.budget, "candidate")
    inside = members(view, candidate.pattern) & view.marks.population.everyone
    return counted(view, replace(candidate, members=inside))


def counted(view: View, candidate: Candidate) -> Candidate:
    """Return a candidate with counts and claims that follow from its members."""
    half = view.split(candidate.family).discovery_mask
    # Families differ in their split; claims are compared on one half for all of them.
    shared = view.marks.node.discovery_mask
    return replace(
        candidate,
        table=table(view, candidate.members, half),
        claimed=candidate.members & shared & view.marks.failing_mask,
    )


def excess_share(table: Table) -> float:
    """Return the share of all failing nodes that lie inside beyond the rate outside.

    If no node lies outside, there is no such rate, and all failing nodes count.
    """
    gain = excess(table) if table.outside and table.inside else float(table.inside_failing)
    return gain / max(1, table.failing)


def both(one: Fragment, other: Fragment) -> Fragment:
    """Return a pattern for the nodes inside both regions; each keeps a scope of its own."""
    return Fragment(
        f"{{ SELECT DISTINCT ?focus WHERE {{ {one.text} }} }}\n"
        f"{{ SELECT DISTINCT ?focus WHERE {{ {other.text} }} }}",
        {**one.prefixes, **other.prefixes},
    )
