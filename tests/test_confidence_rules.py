"""The rules of the policies beside frame, against plain decimal arithmetic."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, localcontext
from typing import Final

import pyoxigraph as ox
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kgreason.base.templates import template
from kgreason.base.terms import POLICY, TRAILS
from tests.test_confidence import (
    EX,
    GENERATE,
    INVESTIGATION,
    NAMES,
    NINE,
    ONE,
    POLICY_USED,
    SIX,
    Book,
    member,
    often,
    places,
    rounded,
)

ZERO: Final = Decimal(0)
FOR, AGAINST, NEITHER = TRAILS.Supports, TRAILS.Contradicts, TRAILS.Neutral
PLAIN: Final = ("delta", "net-weight", "net-weight-damped", "likelihood-ratio", "competing-scores")
NUMBERS: Final = {
    "delta": ("deltaStep",),
    "net-weight": ("opposingWeight",),
    "net-weight-damped": ("opposingWeight", "damping"),
    "likelihood-ratio": (),
    "competing-scores": ("baseScore", "catchAllScore"),
}
NUMBERS_OF_ALL: Final = [name for names in NUMBERS.values() for name in names]
MEMBERS: Final = 3
"""Two hypotheses and a catch-all."""


@dataclass(frozen=True)
class Item:
    """A piece of evidence: about which member, what it says, and how probable that was."""

    about: int
    polarity: ox.NamedNode
    strength: Decimal
    likelihood: Decimal = Decimal("0.5")
    otherwise: Decimal = Decimal("0.5")


@dataclass
class Oracle:
    """The confidence of each member in decimals, nine digits after each operation."""

    rule: str
    numbers: dict[str, Decimal]
    now: list[Decimal]
    seen: list[Item] = field(default_factory=list)

    def take(self, item: Item) -> None:
        self.seen.append(item)
        with localcontext(prec=60):
            if self.rule == "competing-scores":
                self.now = self.shares()
            else:
                self.now[item.about] = RULES[self.rule](self, item)

    def sums(self, about: int) -> tuple[Decimal, Decimal]:
        mine = [i for i in self.seen if i.about == about]
        return (
            sum((i.strength for i in mine if i.polarity == FOR), ZERO),
            sum((i.strength for i in mine if i.polarity == AGAINST), ZERO),
        )

    def delta(self, item: Item) -> Decimal:
        sign = {FOR: 1, AGAINST: -1, NEITHER: 0}[item.polarity]
        moved = sign * rounded(item.strength * self.numbers["deltaStep"], NINE)
        return kept(self.now[item.about] + kept(moved, -ONE))

    def weight(self, item: Item) -> Decimal:
        supporting, opposing = self.sums(item.about)
        damping = self.numbers.get("damping", ZERO)
        total = max(supporting + opposing + damping, Decimal("0.01"))
        net = supporting - rounded(self.numbers["opposingWeight"] * opposing, NINE)
        return kept(rounded(Decimal("0.5") + net / (2 * total), NINE))

    def ratio(self, item: Item) -> Decimal:
        before = self.now[item.about]
        joint = rounded(before * item.likelihood, NINE)
        apart = rounded((1 - before) * item.otherwise, NINE)
        return min(max(rounded(joint / (joint + apart), NINE), SIX), ONE - SIX)

    def shares(self) -> list[Decimal]:
        scores = []
        for about in range(MEMBERS - 1):
            supporting, opposing = self.sums(about)
            scores.append(kept(self.numbers["baseScore"] + supporting - opposing))
        scores.append(self.numbers["catchAllScore"])
        total = sum(scores, ZERO)
        return [rounded(s / total if total else ONE / MEMBERS, NINE) for s in scores]


RULES: Final[dict[str, Callable[[Oracle, Item], Decimal]]] = {
    "delta": Oracle.delta,
    "net-weight": Oracle.weight,
    "net-weight-damped": Oracle.weight,
    "likelihood-ratio": Oracle.ratio,
}


def kept(value: Decimal, least: Decimal = ZERO) -> Decimal:
    return min(max(value, least), ONE)


def open_book(numbers: dict[str, Decimal], now: Sequence[Decimal], *, rdflib_: bool) -> Book:
    book = Book(rdflib_=rdflib_)
    book.describe(INVESTIGATION, policy=POLICY_USED)
    for name, value in numbers.items():
        book.write(POLICY_USED, POLICY[name], value)
    for place, confidence in enumerate(now):
        last = place == MEMBERS - 1
        book.describe(member(place), confidence=confidence, index=place, catchAll=last)
    for place in range(MEMBERS):
        expectation = ox.NamedNode(f"{EX}expectation:{place}")
        book.describe(ox.NamedNode(f"{EX}test"), expects=expectation)
        book.describe(expectation, hypothesis=member(place))
    book.describe(ox.NamedNode(f"{EX}test"), kind="trial")
    return book


def note(book: Book, number: int, item: Item) -> ox.NamedNode:
    """Write evidence, with a row of the policy for its outcome."""
    evidence, row = (ox.NamedNode(f"{EX}{name}:{number}") for name in ("evidence", "row"))
    book.write(POLICY_USED, POLICY.likelihood, row)
    for name, value in (
        ("testKind", "trial"),
        ("outcomeClass", f"outcome {number}"),
        ("underSelf", item.likelihood),
        ("underNone", item.otherwise),
    ):
        book.write(row, POLICY[name], value)
    book.describe(
        evidence,
        test=ox.NamedNode(f"{EX}test"),
        outcomeClass=f"outcome {number}",
        hypothesis=member(item.about),
        polarity=item.polarity,
        strength=item.strength,
    )
    return evidence


def check(
    rule: str, numbers: dict[str, Decimal], items: Sequence[Item], *, rdflib_: bool = False
) -> list[Decimal]:
    """Put evidence to a rule one by one, and compare each confidence; gives the last ones."""
    oracle = Oracle(rule, numbers, [Decimal("0.5")] * MEMBERS)
    book = open_book(numbers, oracle.now, rdflib_=rdflib_)
    update = template("confidence", rule)
    for number, item in enumerate(items):
        before = list(oracle.now)
        evidence = note(book, number, item)
        book.update(update.render(**NAMES, evidence=evidence))
        oracle.take(item)
        assert [book.decimal(member(i), "confidence") for i in range(MEMBERS)] == oracle.now
        written = ox.NamedNode(f"{evidence.value}:update:{item.about}")
        assert book.decimal(written, "before") == before[item.about]
        assert book.decimal(written, "after") == oracle.now[item.about]
        assert book.values(member(item.about), "lastUpdate") == [written.value]
    return oracle.now


STRENGTHS: Final = often(places(6), "0", "0.000001", "0.5", "1")


def sequences(longest: int) -> st.SearchStrategy[list[Item]]:
    probability = often(places(6, "0.01", "0.99"), "0.01", "0.5", "0.99")
    item = st.builds(
        Item,
        st.integers(0, MEMBERS - 2),
        st.sampled_from([FOR, AGAINST, NEITHER]),
        STRENGTHS,
        probability,
        probability,
    )
    return st.lists(item, max_size=longest)


SETTINGS: Final = st.fixed_dictionaries(
    {
        "deltaStep": often(places(6, "0", "10"), "0", "0.5", "10"),
        "opposingWeight": often(places(6, "0", "100"), "0", "1.5", "100"),
        "damping": often(places(6, "0", "1000"), "0", "1", "1000"),
        "baseScore": often(places(6), "0", "0.5", "1"),
        "catchAllScore": often(places(6), "0", "0.2", "1"),
    }
)


def of_rule(rule: str, drawn: dict[str, Decimal]) -> dict[str, Decimal]:
    return {name: drawn[name] for name in NUMBERS[rule]}


@pytest.mark.parametrize("rule", PLAIN)
@given(sequences(6), SETTINGS)
@settings(max_examples=200, deadline=None)
@pytest.mark.slow
def test_a_rule_gives_what_decimals_give(
    rule: str, items: list[Item], drawn: dict[str, Decimal]
) -> None:
    check(rule, of_rule(rule, drawn), items)


@pytest.mark.slow
@pytest.mark.parametrize("rule", PLAIN)
@given(sequences(6), SETTINGS)
@settings(max_examples=10_000, deadline=None)
def test_a_rule_gives_what_decimals_give_at_length(
    rule: str, items: list[Item], drawn: dict[str, Decimal]
) -> None:
    check(rule, of_rule(rule, drawn), items)


@pytest.mark.parametrize("rule", PLAIN)
@given(sequences(2), SETTINGS)
@settings(max_examples=5, deadline=None, phases=GENERATE)
@example([Item(0, AGAINST, ONE), Item(0, FOR, SIX)], dict.fromkeys(NUMBERS_OF_ALL, ZERO))
@pytest.mark.slow
def test_a_rule_gives_the_same_on_rdflib(
    rule: str, items: list[Item], drawn: dict[str, Decimal]
) -> None:
    check(rule, of_rule(rule, drawn), items, rdflib_=True)


@pytest.mark.slow
@pytest.mark.parametrize("rule", PLAIN)
@given(sequences(3), SETTINGS)
@settings(max_examples=200, deadline=None, phases=GENERATE)
def test_a_rule_gives_the_same_on_rdflib_at_length(
    rule: str, items: list[Item], drawn: dict[str, Decimal]
) -> None:
    check(rule, of_rule(rule, drawn), items, rdflib_=True)


SHIPPED: Final = {
    "deltaStep": Decimal("0.5"),
    "opposingWeight": Decimal("1.5"),
    "damping": ONE,
    "baseScore": Decimal("0.5"),
    "catchAllScore": Decimal("0.2"),
}


@pytest.mark.parametrize("rule", PLAIN)
def test_thousands_of_items_are_counted_to_the_last(rule: str) -> None:
    """Written first, as they would stand in a long record; the rule is applied to the last."""
    numbers = of_rule(rule, SHIPPED)
    oracle = Oracle(rule, numbers, [Decimal("0.5")] * MEMBERS)
    book = open_book(numbers, oracle.now, rdflib_=False)
    for number in range(3000):
        polarity = FOR if number % 3 else AGAINST
        item = Item(number % 2, polarity, Decimal(number * 37 % 1000) / 1000)
        evidence = note(book, number, item)
        oracle.seen.append(item)
    oracle.seen.pop()
    book.update(template("confidence", rule).render(**NAMES, evidence=evidence))
    oracle.take(item)
    assert [book.decimal(member(i), "confidence") for i in range(MEMBERS)] == oracle.now


TWO_AGAINST_ONE: Final = [
    Item(0, FOR, Decimal("0.7")),
    Item(0, FOR, Decimal("0.6")),
    Item(0, AGAINST, Decimal("0.4")),
]


def test_net_weight_gives_the_figure_of_its_source() -> None:
    now = check("net-weight", of_rule("net-weight", SHIPPED), TWO_AGAINST_ONE)
    assert now[0] == Decimal("0.705882353")
    assert round(now[0], 3) == Decimal("0.706")
    damped = check("net-weight-damped", of_rule("net-weight-damped", SHIPPED), TWO_AGAINST_ONE)
    assert damped[0] == Decimal("0.629629630")


def test_net_weight_is_scale_free_and_the_damped_one_is_not() -> None:
    weak = [Item(0, FOR, Decimal("0.1"))]
    assert check("net-weight", of_rule("net-weight", SHIPPED), weak)[0] == ONE
    damped = check("net-weight-damped", of_rule("net-weight-damped", SHIPPED), weak)
    assert damped[0] == Decimal("0.545454545")


@pytest.mark.parametrize(("polarity", "end"), [(FOR, ONE), (AGAINST, ZERO)])
def test_delta_clamps_at_both_ends(polarity: ox.NamedNode, end: Decimal) -> None:
    items = [Item(0, polarity, Decimal("0.8"))] * 3
    assert check("delta", {"deltaStep": Decimal("0.5")}, items)[0] == end
    assert check("delta", {"deltaStep": Decimal(10)}, items)[0] == end


def test_likelihood_ratio_stays_a_millionth_from_certainty() -> None:
    sure = [Item(0, FOR, ONE, Decimal("0.99"), Decimal("0.01"))] * 5
    assert check("likelihood-ratio", {}, sure)[0] == ONE - SIX
    never = [Item(0, AGAINST, ONE, Decimal("0.01"), Decimal("0.99"))] * 5
    assert check("likelihood-ratio", {}, never)[0] == SIX


def test_competing_scores_cannot_fall_below_the_bounds_without_a_catch_all() -> None:
    """The dead rules: of n scores that add up to one, one is at least 1 / n."""
    numbers = {"baseScore": Decimal("0.5"), "catchAllScore": ZERO}
    worst = [Item(place, AGAINST, Decimal("0.49")) for place in (0, 1)]
    assert check("competing-scores", numbers, worst) == [Decimal("0.5"), Decimal("0.5"), ZERO]
    with_it = check("competing-scores", {**numbers, "catchAllScore": ONE}, worst)
    assert max(with_it[:2]) < Decimal("0.05")
