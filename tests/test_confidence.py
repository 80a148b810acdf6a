"""The confidence rules against plain decimal arithmetic, on any sequence of evidence."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal, localcontext
from itertools import count
from math import prod
from typing import Any, Final

import pyoxigraph as ox
import pytest
import rdflib
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from kgreason.base.templates import template
from kgreason.base.terms import POLICY, TRAILS
from kgreason.record.record import literal

NINE, SIX, ONE = Decimal("1e-9"), Decimal("1e-6"), Decimal(1)
EX = "urn:example:"
INVESTIGATION, POLICY_USED, HYPOTHESIS = (
    ox.NamedNode(EX + n) for n in ("investigation", "policy", "hypothesis")
)
STEP = ox.NamedNode(EX + "step")
TIME = ox.Literal(
    "2026-01-05T10:00:00Z", datatype=ox.NamedNode("http://www.w3.org/2001/XMLSchema#dateTime")
)
NAMES = {"investigation": INVESTIGATION, "step": STEP}
GENERATE: Final = [Phase.explicit, Phase.generate]
"""Without shrinking, where an update takes long."""


def rounded(value: Decimal, unit: Decimal) -> Decimal:
    """Round to a unit, halves up, as ROUND of SPARQL does."""
    with localcontext(prec=60):
        return ((value / unit + Decimal("0.5")).to_integral_value(ROUND_FLOOR)) * unit


def down(value: Decimal) -> Decimal:
    """Round down to a millionth, as an e-value has to be."""
    return value.quantize(SIX, rounding=ROUND_FLOOR)


class Book:
    """A record in memory, for one of the two engines."""

    def __init__(self, *, rdflib_: bool = False) -> None:
        self.dataset = rdflib.Dataset() if rdflib_ else None
        self.store = ox.Store()
        prov = "http://www.w3.org/ns/prov#"
        for name in ("startedAtTime", "endedAtTime"):
            self.write(STEP, ox.NamedNode(prov + name), TIME)

    def write(self, node: ox.NamedNode, name: ox.NamedNode, value: Any) -> None:
        quad = ox.Quad(node, name, literal(value), INVESTIGATION)
        if self.dataset is None:
            self.store.add(quad)
        else:
            text = ox.serialize([quad], format=ox.RdfFormat.N_QUADS)
            self.dataset.parse(data=text, format="nquads")

    def describe(self, node: ox.NamedNode, **properties: Any) -> None:
        for name, value in properties.items():
            for one in value if isinstance(value, list) else [value]:
                self.write(node, TRAILS[name], one)

    def update(self, text: str) -> None:
        (self.store if self.dataset is None else self.dataset).update(text)

    def values(self, node: ox.NamedNode, name: str) -> list[str]:
        if self.dataset is None:
            quads = self.store.quads_for_pattern(node, TRAILS[name], None, INVESTIGATION)
            return [q.object.value for q in quads if not isinstance(q.object, ox.Triple)]
        graph = self.dataset.graph(rdflib.URIRef(INVESTIGATION.value))
        found = graph.objects(rdflib.URIRef(node.value), rdflib.URIRef(TRAILS[name].value))
        return [str(o) for o in found]

    def decimal(self, node: ox.NamedNode, name: str) -> Decimal:
        (value,) = self.values(node, name)
        return Decimal(value)


# Frames


@dataclass(frozen=True)
class Trial:
    """One test of a frame: who is tested against whom, and how probable its outcome was."""

    tested: int
    named: int | None
    likelihoods: tuple[Decimal, Decimal, Decimal, Decimal]
    overlaps: tuple[Decimal, ...]


def places(digits: int, least: str = "0", most: str = "1") -> st.SearchStrategy[Decimal]:
    return st.decimals(Decimal(least), Decimal(most), places=digits, allow_nan=False)


def often(usual: st.SearchStrategy[Decimal], *some: str) -> st.SearchStrategy[Decimal]:
    """Draw some values more often than chance would, so that there are extremes and ties."""
    return usual | st.sampled_from([Decimal(text) for text in some])


@st.composite
def frames(draw: st.DrawFn, *, longest: int, digits: int) -> tuple[list[Decimal], list[Trial]]:
    """Draw priors (the catch-all last) and trials, with overlaps of so many digits."""
    size = draw(st.integers(1, 5))
    shared = rounded(Decimal("0.5") / size, SIX)
    probability = often(places(2, "0.01", "0.99"), "0.01", "0.5", "0.99")
    overlap = often(places(digits), "0", "1")
    trials = []
    for _ in range(draw(st.integers(0, longest))):
        tested = draw(st.integers(0, size - 1))
        others = [None, *(i for i in range(size) if i != tested)]
        trials.append(
            Trial(
                tested,
                draw(st.sampled_from(others)),
                draw(st.tuples(*[probability] * 4)),
                tuple(draw(st.lists(overlap, min_size=size, max_size=size))),
            )
        )
    return [shared] * size + [Decimal("0.5")], trials


def likelihood(trial: Trial, member: int, last: int) -> Decimal:
    self_, rival, named, none = trial.likelihoods
    if member == last:
        return none
    if member == trial.tested:
        return self_
    if member == trial.named:
        return named
    return rival + rounded((self_ - rival) * trial.overlaps[member], SIX)


def posterior(before: Sequence[Decimal], trial: Trial) -> list[Decimal]:
    """Bayes over a frame in decimals, nine digits after each operation."""
    joint = [rounded(b * likelihood(trial, i, len(before) - 1), NINE) for i, b in enumerate(before)]
    with localcontext(prec=60):
        shares = [rounded(j / sum(joint), NINE) for j in joint]
    return [min(max(share, SIX), ONE - SIX) for share in shares]


def member(number: int) -> ox.NamedNode:
    return ox.NamedNode(f"{EX}hypothesis:{number}")


def try_out(book: Book, number: int, trial: Trial, size: int) -> ox.NamedNode:
    """Write a test with its evidence, apply the rule, and give the evidence."""
    row, test, evidence = (ox.NamedNode(f"{EX}{n}:{number}") for n in ("row", "test", "evidence"))
    outcome = f"outcome {number}"
    book.write(POLICY_USED, POLICY.likelihood, row)
    names = ("underSelf", "underRival", "underNamed", "underNone")
    told = {"testKind": "trial", "outcomeClass": outcome}
    for name, value in {**told, **dict(zip(names, trial.likelihoods, strict=True))}.items():
        book.write(row, POLICY[name], value)
    for place in range(size):
        role = "self" if place == trial.tested else "named" if place == trial.named else "rival"
        expectation = ox.NamedNode(f"{EX}expectation:{number}:{place}")
        book.describe(test, expects=expectation)
        book.describe(
            expectation,
            hypothesis=member(place),
            role="none" if place == size - 1 else role,
            overlap=(*trial.overlaps, Decimal(0))[place],
        )
    book.describe(test, kind="trial")
    book.describe(evidence, test=test, outcomeClass=outcome, hypothesis=member(trial.tested))
    book.update(template("confidence", "frame").render(**NAMES, evidence=evidence))
    return evidence


def check_frame(book: Book, priors: list[Decimal], trials: list[Trial]) -> None:
    book.describe(INVESTIGATION, policy=POLICY_USED)
    for place, prior in enumerate(priors):
        book.describe(member(place), confidence=prior, index=place)
    now, last = priors, [""] * len(priors)
    for number, trial in enumerate(trials):
        evidence = try_out(book, number, trial, len(priors))
        before, now = now, posterior(now, trial)
        assert [book.decimal(member(i), "confidence") for i in range(len(now))] == now
        for place in range(len(now)):
            update = ox.NamedNode(f"{evidence.value}:update:{place}")
            assert book.decimal(update, "before") == before[place]
            assert book.decimal(update, "after") == now[place]
            assert book.values(member(place), "lastUpdate") == [update.value]
            assert book.values(update, "previous") == ([last[place]] if last[place] else [])
            last[place] = update.value
        # Each member may be cut at a millionth, and rounded.
        assert abs(sum(now) - ONE) <= (SIX + NINE) * len(now)


@given(frames(longest=6, digits=6))
@settings(max_examples=200)
def test_frame_gives_what_bayes_gives(drawn: tuple[list[Decimal], list[Trial]]) -> None:
    check_frame(Book(), *drawn)


@pytest.mark.slow
@given(frames(longest=6, digits=6))
@settings(max_examples=10_000)
def test_frame_gives_what_bayes_gives_at_length(
    drawn: tuple[list[Decimal], list[Trial]],
) -> None:
    check_frame(Book(), *drawn)


@given(frames(longest=2, digits=2))
@settings(max_examples=10, phases=GENERATE)
@pytest.mark.slow
def test_frame_gives_the_same_on_rdflib(drawn: tuple[list[Decimal], list[Trial]]) -> None:
    check_frame(Book(rdflib_=True), *drawn)


@pytest.mark.slow
@given(frames(longest=3, digits=2))
@settings(max_examples=200, phases=GENERATE)
def test_frame_gives_the_same_on_rdflib_at_length(
    drawn: tuple[list[Decimal], list[Trial]],
) -> None:
    check_frame(Book(rdflib_=True), *drawn)


@pytest.mark.slow
def test_a_frame_bears_a_thousand_trials() -> None:
    """Confidences that go up and down, and are cut at both ends on the way."""
    half, third = Decimal("0.5"), Decimal("0.166667")
    trials = [
        Trial(
            number % 3,
            None if number % 5 else (number + 1) % 3,
            tuple(Decimal(number * k % 99 + 1) / 100 for k in (37, 53, 71, 89)),  # type: ignore[arg-type]
            tuple(Decimal(number * k % 101) / 100 for k in (7, 11, 13)),
        )
        for number in range(1000)
    ]
    check_frame(Book(), [third, third, third, half], trials)


def test_frame_stays_a_millionth_from_certainty() -> None:
    half, likely, unlikely = (Decimal(text) for text in ("0.5", "0.99", "0.01"))
    trial = Trial(0, None, (likely, unlikely, unlikely, unlikely), (ONE,))
    check_frame(Book(), [half, half], [trial] * 5)


# E-processes

CAP = Decimal(10_000_000_000)
Items = list[tuple[str, Decimal]]


def items(longest: int, least: str) -> st.SearchStrategy[Items]:
    e = often(places(6, least, "1000000"), least, "1", "1000000")
    small = often(places(6, least, "2"), least, "0.999999", "1")
    return st.lists(st.tuples(st.sampled_from("abc"), e | small), max_size=longest)


def mean(values: Sequence[Decimal]) -> Decimal:
    with localcontext(prec=60):
        return sum(values, Decimal(0)) / len(values)


class Process:
    """E in decimals: the mean of a group is replaced by the new one, rounded down each time."""

    def __init__(self) -> None:
        self.groups: dict[str, list[Decimal]] = {}
        self.value = ONE

    def take(self, group: str, e: Decimal) -> None:
        known = self.groups.setdefault(group, [])
        with localcontext(prec=60):
            old = down(mean(known)) if known else ONE
            known.append(e)
            factor = down(down(mean(known)) / max(old, SIX))
            self.value = min(down(self.value * factor), CAP)

    @property
    def ideal(self) -> Decimal:
        """The product of the means, without rounding or cap."""
        with localcontext(prec=60):
            return prod((mean(group) for group in self.groups.values()), start=ONE)


def check_process(book: Book, drawn: Items) -> Process:
    book.describe(INVESTIGATION, policy=POLICY_USED)
    book.describe(HYPOTHESIS, eProcess=ONE)
    process, number = Process(), count()
    for group, e in drawn:
        evidence = ox.NamedNode(f"{EX}evidence:{next(number)}")
        book.describe(evidence, hypothesis=HYPOTHESIS, eValue=e, group=group)
        book.update(template("confidence", "e-process").render(**NAMES, evidence=evidence))
        process.take(group, e)
        assert book.decimal(HYPOTHESIS, "eProcess") == process.value
        assert book.decimal(ox.NamedNode(f"{evidence.value}:update:e"), "after") == process.value
    return process


@given(items(8, "0"))
@settings(max_examples=200)
def test_e_process_gives_what_decimals_give(drawn: Items) -> None:
    check_process(Book(), drawn)


@pytest.mark.slow
@given(items(8, "0") | items(8, "0.000001"))
@settings(max_examples=10_000)
def test_e_process_gives_what_decimals_give_at_length(drawn: Items) -> None:
    check_process(Book(), drawn)


@given(items(6, "0.1"))
@settings(max_examples=200)
def test_e_process_is_the_product_of_the_means_of_groups(drawn: Items) -> None:
    process = check_process(Book(), drawn)
    assert process.value <= min(CAP, process.ideal)
    if process.ideal <= CAP / 1_000_000:  # so that no cap was met on the way
        assert abs(process.value - process.ideal) <= Decimal("0.001") * max(process.ideal, ONE)


@given(items(3, "0.1"))
@settings(max_examples=10, phases=GENERATE)
@pytest.mark.slow
def test_e_process_gives_the_same_on_rdflib(drawn: Items) -> None:
    check_process(Book(rdflib_=True), drawn)


@pytest.mark.slow
@given(items(4, "0"))
@settings(max_examples=200, phases=GENERATE)
def test_e_process_gives_the_same_on_rdflib_at_length(drawn: Items) -> None:
    check_process(Book(rdflib_=True), drawn)


def test_an_e_process_bears_thousands_of_items() -> None:
    """Written first, as they would stand in a long record; the rule is applied to the last."""
    book, process = Book(), Process()
    book.describe(INVESTIGATION, policy=POLICY_USED)
    for number in range(3000):
        before = process.value
        group, e = "abcde"[number % 5], Decimal(number * 37 % 100 + 50) / 100
        evidence = ox.NamedNode(f"{EX}evidence:{number}")
        book.describe(evidence, hypothesis=HYPOTHESIS, eValue=e, group=group)
        process.take(group, e)
    book.describe(HYPOTHESIS, eProcess=before)
    book.update(template("confidence", "e-process").render(**NAMES, evidence=evidence))
    assert book.decimal(HYPOTHESIS, "eProcess") == process.value
    assert Decimal("0.5") < process.value < Decimal(2)


def test_e_process_is_capped_before_it_is_too_large_to_multiply() -> None:
    """Groups that multiply to 1e24, from which no decimal of the store could come."""
    most = Decimal(1_000_000)
    drawn = [(group, most) for group in "abcd"]
    assert check_process(Book(), drawn).value == CAP
    # A mean that rises from next to nothing is a factor of 1e12 at once.
    slow = [("a", most), ("b", Decimal("0.000001")), ("b", most), ("b", most), ("c", most)]
    assert check_process(Book(), slow).value == CAP


def test_e_process_is_rounded_down() -> None:
    """A mean of 2/3 is 0.666666, where rounding to the nearest gives more than there is."""
    drawn = [("a", ONE), ("a", ONE), ("a", Decimal(0))]
    assert check_process(Book(), drawn).value == Decimal("0.666666")


@pytest.mark.parametrize("value", ["0", "0.000001", "1", "1000000"])
def test_one_e_value_is_the_e_process(value: str) -> None:
    assert check_process(Book(), [("a", Decimal(value))]).value == Decimal(value)
