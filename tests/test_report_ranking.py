"""Which hypothesis comes first, which are told in full, and which are one cause."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgreason.base.statistics import Table
from kgreason.record.ranking import Hypothesis, hypotheses, joint, rank, told
from tests.report_support import case

SYMPTOM = "urn:s:1"


def one(
    id_: str, status: str = "supported", confidence: float = 0.9, *,
    is_mechanism: bool = False, inside: int = 50, frame: str = "f1",
) -> Hypothesis:  # fmt: skip
    """A hypothesis that holds `inside` of 100 failing nodes and no passing one."""
    return Hypothesis(
        id=id_, order=int("".join(c for c in id_ if c.isdigit()) or 0), symptom=SYMPTOM,
        frame=frame, kind="source", gate="statistics", family="source-graph",
        is_mechanism=is_mechanism, catch_all=False, statement="s", status=status,
        confidence=confidence, posterior=confidence, e=1.0,
        region="r", plain="p", needs=None, pattern=f"p {id_}", dimension="<urn:d>",
        level=f"<urn:{id_}>",
        counts=Table(inside, inside, 100 - inside, 1000 - inside),
    )  # fmt: skip


def none(id_: str = "n9", status: str = "inconclusive", confidence: float = 0.1,
         frame: str = "f1") -> Hypothesis:  # fmt: skip
    return replace(
        one(id_, status, confidence, frame=frame), kind="none", catch_all=True, counts=None,
        region=None, pattern=None, dimension=None, level=None,
    )  # fmt: skip


def order(*members: Hypothesis, verdict: str = "explained") -> list[str]:
    return [h.id for h in rank(members, verdict)]


def test_supported_by_share_then_open_by_confidence_then_refuted() -> None:
    members = [
        one("r1", "refuted", 0.04), one("o2", "inconclusive", 0.3), one("s3", inside=40),
        one("s4", inside=70), one("o5", "testing", 0.6), none("n6", confidence=0.001),
        one("r7", "refuted", 0.01),
    ]  # fmt: skip
    assert order(*members) == ["s4", "s3", "o5", "o2", "n6", "r1", "r7"]


@pytest.mark.parametrize(("share", "first"), [(55, "m2"), (41, "s1")])
def test_mechanism_comes_before_an_origin_of_about_the_same_share(share: int, first: str) -> None:
    assert order(one("s1", inside=60), one("m2", is_mechanism=True, inside=share))[0] == first


def test_pieces_of_one_mechanism_count_together_before_a_sign_of_them() -> None:
    """Notes tagged “it”, “fr” and “de” by mistake: a sign that most of these nodes bear is none."""
    pieces = [
        replace(one(f"m{n}", is_mechanism=True, inside=n), family="datatype") for n in (52, 26, 11)
    ]
    sign = one("s1", inside=79)
    assert order(sign, *pieces) == ["m52", "m26", "m11", "s1"]
    # Mechanisms that have nothing to do with each other do not add up.
    apart = [replace(piece, dimension=f"<urn:{piece.id}>") for piece in pieces]
    assert order(sign, *apart)[0] == "s1"


@pytest.mark.parametrize(("share", "first"), [(30, "m2"), (20, "s1")])
def test_a_value_that_stands_elsewhere_comes_before_what_else_is_lacking(
    share: int, first: str
) -> None:
    without = "MINUS { SELECT DISTINCT ?focus WHERE { ?focus <urn:note> ?end . } }"
    about = f"{{ SELECT DISTINCT ?focus WHERE {{ GRAPH ?g {{ ?focus ?p ?o . }} {without} }} }}"
    sign = replace(one("s1", inside=80), pattern=f"{about} {about}")
    moved = replace(one("m2", is_mechanism=True, inside=share), kind="mapping")
    assert order(sign, moved)[0] == first
    # What has something is a place, and so is what lacks one thing beside it.
    place = replace(sign, pattern=f"{about} ?focus <urn:kind> <urn:a> .")
    assert order(place, moved)[0] == "s1"


@pytest.mark.parametrize("proof", ["bits", "halves"])
@pytest.mark.parametrize(("share", "first"), [(65, "m2"), (50, "s1")])
def test_what_was_checked_comes_before_what_is_only_associated(
    share: int, first: str, proof: str
) -> None:
    """A scheme that is named with a slash at its end, in five of the six nodes of one file."""
    checked = replace(one("m2", is_mechanism=True, inside=share), proof="direct")
    assert order(replace(one("s1", inside=80), proof=proof), checked)[0] == first
    assert order(replace(one("s1", inside=80), proof="direct"), checked)[0] == "s1"


def test_what_was_checked_is_not_discounted_by_failures_of_other_reasons() -> None:
    """Nearly all fail: 35 by one wrong value, nine by others, and all 44 are of one import."""
    sign = replace(one("s1"), proof="halves", counts=Table(44, 44, 0, 5))
    value = replace(one("m2", is_mechanism=True), gate="direct", proof="direct")
    value = replace(value, counts=Table(35, 35, 9, 14))
    assert order(sign, value)[0] == "m2"
    assert order(sign, replace(value, gate="statistics", proof="halves"))[0] == "s1"


def test_a_region_whose_others_fail_half_as_often_only_narrows_down() -> None:
    weak = replace(one("s1"), counts=Table(54, 100, 34, 100))
    assert weak.narrows
    assert not replace(weak, gate="direct").narrows
    assert not replace(weak, counts=Table(54, 100, 27, 100)).narrows
    assert not replace(weak, counts=Table(54, 100, 0, 0)).narrows
    # A passing node that stands for ten: 54 of 514 inside fail, and of the others 27 of 757.
    assert replace(weak, counts=Table(54, 100, 27, 100, 10.0)).narrows


def test_equal_shares_go_by_confidence() -> None:
    assert order(one("s1", confidence=0.85), one("s2", confidence=0.95)) == ["s2", "s1"]


def test_share_counts_what_is_beyond_the_rate_outside() -> None:
    everywhere = replace(one("h1"), counts=Table(50, 500, 50, 500))
    assert everywhere.share == 0.0
    assert replace(one("h1"), counts=Table(10, 10, 0, 0)).share == 1.0
    assert replace(one("h1"), counts=Table(60, 100, 40, 900)).share == pytest.approx(
        (60 - 100 * 40 / 900) / 100
    )


def test_none_is_first_where_the_verdict_says_so() -> None:
    members = [one("o1", "inconclusive", 0.9), none(confidence=0.05)]
    assert order(*members, verdict="no systematic cause") == ["n9", "o1"]
    assert order(*members, verdict="inconclusive") == ["o1", "n9"]


def test_a_cause_of_few_failures_does_not_lead_where_the_others_are_said_to_have_none() -> None:
    few, borne_out = one("s1", inside=7), none(status="supported", confidence=0.86, frame="f2")
    verdict = "no systematic cause"
    assert order(few, none("n8"), borne_out, verdict=verdict) == ["n9", "s1"]
    assert order(few, none("n8"), verdict=verdict) == ["s1", "n8"]
    assert order(few, none("n8"), borne_out, verdict="partly explained")[0] == "s1"


def test_none_is_first_where_it_is_the_most_confident_and_nothing_is_supported() -> None:
    open_ = [one("o1", "inconclusive", 0.3), none(confidence=0.6)]
    assert order(*open_, verdict="inconclusive") == ["n9", "o1"]
    assert order(one("s2", confidence=0.85), *open_) == ["s2", "n9", "o1"]


def test_a_supported_catch_all_is_no_cause() -> None:
    left_over = none("n9", "supported", 1.0, frame="f2")
    assert order(one("s1"), none("n2"), left_over) == ["s1", "n2"]
    assert told(rank([left_over], "no systematic cause")) == []


def test_catch_all_of_the_frame_of_the_best_one() -> None:
    members = [
        one("s1", inside=30, frame="f1"), none("n2", frame="f1"),
        one("s3", inside=60, frame="f2"), none("n4", frame="f2"),
    ]  # fmt: skip
    assert order(*members) == ["s3", "s1", "n4"]
    assert order(none("n2", frame="f1"), none("n4", frame="f3")) == ["n4"]


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["supported", "inconclusive", "testing", "refuted"]),
            st.floats(0, 1), st.booleans(), st.integers(0, 100),
        ),
        max_size=8,
    ),
    st.sampled_from(["explained", "partly explained", "no systematic cause", "inconclusive"]),
)  # fmt: skip
def test_every_hypothesis_is_ranked_once_and_one_catch_all(
    given_: list[tuple[str, float, bool, int]], verdict: str
) -> None:
    members = [
        one(f"h{n}", status, confidence, is_mechanism=is_mechanism, inside=inside)
        for n, (status, confidence, is_mechanism, inside) in enumerate(given_)
    ]
    ranked = rank([*members, none("n98"), none("n99", frame="f2")], verdict)
    assert sorted(h.id for h in ranked if not h.catch_all) == sorted(h.id for h in members)
    assert sum(h.catch_all for h in ranked) == 1
    statuses = [h.status for h in ranked if not h.catch_all]
    assert statuses == sorted(
        statuses, key=["supported", "inconclusive", "testing", "refuted"].index
    ) or {"inconclusive", "testing"} <= set(statuses)
    assert [s for s in statuses if s == "supported"] == statuses[: statuses.count("supported")]


def test_told_in_full_are_the_causes_or_the_closest() -> None:
    cause, open_, refuted = one("s1"), one("o2", "inconclusive"), one("r3", "refuted")
    assert told([cause, open_, refuted, none()]) == [cause]
    assert told([none(), open_, refuted]) == [open_]
    assert told([none(), refuted]) == []


def test_causes_of_several_symptoms_are_joined_by_what_they_name() -> None:
    here, there = one("h1"), replace(one("h2"), symptom="urn:s:2", level="<urn:h1>")
    other_level = one("h3")
    other_family = replace(there, id="h4", family="source-prefix")
    literal = replace(there, id="h5", level='"urn:h1"')
    groups = joint([here, other_level, there, other_family, literal])
    assert [[h.id for h in g] for g in groups] == [["h1", "h2"], ["h3"], ["h4"], ["h5"]]


def test_conjunctions_are_joined_by_their_region_and_rules_that_do_not_fit_the_same_nodes() -> None:
    origin = replace(one("h1"), dimension=None, level=None, pattern="both")
    assert len(joint([origin, replace(origin, id="h2", symptom="urn:s:2")])) == 1
    shape = replace(origin, is_mechanism=True, dimension="<urn:population>")
    assert len(joint([shape, replace(shape, id="h2", symptom="urn:s:2")])) == 2
    assert len(joint([shape, replace(shape, id="h2", symptom="urn:s:2", alike="urn:s:1")])) == 1


def test_hypotheses_are_read_from_the_record() -> None:
    known = hypotheses(case())
    first = known["urn:kgreason:case:1:symptom:1"]
    assert [h.status for h in first] == ["supported", "refuted", "inconclusive"]
    assert [h.kind for h in first] == ["source", "cohort", "none"]
    assert first[0].counts == Table(18, 20, 2, 20)
    assert first[0].share == pytest.approx((18 - 20 * 2 / 20) / 20)
    assert first[2].counts is None
    assert known["urn:kgreason:case:1:symptom:4"][0].is_mechanism


def test_a_region_looked_at_again_stands_once() -> None:
    first, again = one("o1", "inconclusive", 0.5), one("o2", "inconclusive", 0.3, frame="f2")
    cause = replace(one("s3", frame="f2"), pattern="same")
    later = replace(one("o4", "inconclusive", 0.4, frame="f3"), pattern="same")
    same = replace(again, pattern=first.pattern)
    assert order(first, same, none(), verdict="inconclusive") == ["o2", "n9"]
    assert order(cause, later, none()) == ["s3", "n9"]
