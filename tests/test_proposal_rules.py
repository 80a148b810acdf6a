"""Rules for proposals: pure, and the same for people and models."""

import pytest

from kgreason.base.words import content
from kgreason.hypothesize.proposal_rules import (
    MOST,
    WORDS,
    Asked,
    Past,
    Proposed,
    fault,
    wanting,
    words_fault,
)

ASKED = Asked("Why do shipments lack a mass?", "mass of Sample", half=0b1111)
GOOD = Proposed("Samples of feed two were weighed elsewhere.", "source", 0b0011, 0b0001)


def rule(one: Proposed, asked: Asked = ASKED, earlier: tuple[Proposed, ...] = ()) -> str:
    found = fault(one, asked, earlier)
    return "" if found is None else found.rule


def said(statement: str, nodes: int = 0b0011, failing: int = 0b0001) -> Proposed:
    return Proposed(statement, "cohort", nodes, failing)


def test_what_keeps_the_rules_is_taken() -> None:
    assert fault(GOOD, ASKED, ()) is None


@pytest.mark.parametrize(
    ("one", "broken"),
    [
        (said("sample " * WORDS), "length"),
        (said("sample " * (WORDS - 1)), ""),
        (said("Shipments lack a mass because of a cause that makes them fail."), "restatement"),
        (said("The moon was full."), "topic"),
        (said("The shipment came by night."), ""),
        (said("Samples were lost.", 0b1100, 0), "support"),
        (said("Samples are what they are.", 0b1111, 0b0001), "everyone"),
    ],
)
def test_each_rule_refuses_by_its_name(one: Proposed, broken: str) -> None:
    assert rule(one) == broken


def test_without_a_question_only_the_length_of_words_is_held() -> None:
    assert words_fault("The moon was full.", Asked()) is None
    assert words_fault("moon " * WORDS, Asked()) is not None


def test_what_was_tried_is_not_taken_again_by_words_or_by_nodes() -> None:
    words = Asked("Why?", past=(Past("H3", "The samples of box four", "refuted"),), half=0b1111)
    assert rule(said("Samples of box four."), words) == "repeat"
    nodes = Asked("Why?", past=(Past("H3", "Something else", "refuted", 0b0011),), half=0b1111)
    assert rule(said("Samples of the north."), nodes) == "repeat"
    found = fault(said("Samples of box four."), words, ())
    assert found is not None
    assert "H3" in found.reason
    assert "refuted" in found.reason


def test_proposals_exclude_each_other_and_are_capped() -> None:
    assert rule(said("Samples of the north.", 0b0001), earlier=(GOOD,)) == "exclusive"
    assert rule(said("Samples of the north.", 0b0111), earlier=(GOOD,)) == "exclusive"
    assert rule(said("Samples of the north.", 0b0101), earlier=(GOOD,)) == ""
    assert rule(said(GOOD.statement, 0b0101), earlier=(GOOD,)) == "duplicate"
    full = tuple(said(f"Samples of box b{n}.", 1 << n, 1 << n) for n in range(MOST))
    assert rule(said("Samples of the north.", 1 << 9, 1 << 9), earlier=full) == "cap"


def test_proposals_are_three_at_least_and_of_two_kinds() -> None:
    one, two, three = (said(f"Samples {n}.", 1 << n) for n in range(3))
    assert (found := wanting([one, two])) is not None
    assert found.rule == "count"
    assert (found := wanting([one, two, three])) is not None
    assert found.rule == "kinds"
    assert wanting([one, two, GOOD]) is None


def test_words_that_name_something() -> None:
    assert content("Why do the tariffCodes of categories fail?") == {"tariff", "code", "category"}
