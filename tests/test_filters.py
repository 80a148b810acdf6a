"""Why a candidate is not proposed: each filter has a name and a reason, and the record has both."""

import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kgreason.audit import audit
from kgreason.base.terms import TRAILS
from kgreason.context.view import View
from kgreason.hypothesize import proposer
from kgreason.hypothesize.filters import FILTERS, Repeat
from kgreason.hypothesize.proposer import ConditionSearch, Families, Proposer, Suggestion
from kgreason.report import questions
from kgreason.review.replay import replay
from tests.lifetime_support import asked, of, sample, written

ROOT = Path(__file__).resolve().parents[1]
_SUPPORTED = TRAILS.Supported.value


def old_and_new(folder: Path) -> dict[str, Any]:
    """Write nodes of which a few, of an old kind, never fail, and of the others three tenths do."""
    draw, rows = random.Random(4), []
    for n in range(600):
        old = n // 3 % 12 == 0
        fails = not old and draw.random() >= 0.7
        rows.append(sample(n, f'e:kind "{"old" if old else "new"}"', fails=fails))
    return written(folder, rows)


def test_every_filter_says_in_a_sentence_why_it_drops_a_candidate() -> None:
    found = {each.name: each for each in (*FILTERS, Repeat())}
    assert all(each.reason[0].isupper() and each.reason.endswith(".") for each in found.values())
    assert len({each.reason for each in found.values()}) == len(found)
    assert [each.name for each in FILTERS] == [
        *("support", "family-limit", "count-limit", "found-wanting", "support", "lift"),
        *("exposure", "testable", "last-resort", "own-right", "shorter-story", "clustering"),
        *("unspecific", "subsumption", "near-duplicate"),
        *("redundancy", "confounding", "fewer-bits", "near-duplicate", "restatement", "memory"),
        "room",
    ]


def test_the_shape_allows_the_names_of_all_filters() -> None:
    text = (ROOT / "shapes" / "hypothesis.ttl").read_text(encoding="utf-8")
    listed = re.search(r"sh:path trails:filter ;[^(]*\(([^)]*)\)", text)
    assert listed is not None
    assert re.findall(r'"([a-z-]+)"', listed[1]) == sorted({f.name for f in (*FILTERS, Repeat())})


def test_a_dropped_candidate_is_recorded_with_the_filter_and_its_figure(tmp_path: Path) -> None:
    record = asked(old_and_new(tmp_path), policy="frame")
    runs = of(record, "Filtering")
    lift = {node for node, said in runs.items() if said["filter"] == ["lift"]}
    told = {
        said["statement"][0]: said
        for said in of(record, "Candidate").values()
        if said["filtering"][0] in lift
    }
    new = told["Nodes whose kind is “new” fail more often than others."]
    assert (new["fate"], new["measure"]) == (["dropped"], ["rate inside over the rate of all"])
    inside, failing, outside, others = (
        int(new[f"discovery{name}"][0])
        for name in ("Inside", "InsideFailing", "Outside", "OutsideFailing")
    )
    ratio = failing / inside / ((failing + others) / (inside + outside))
    assert float(new["figure"][0]) == pytest.approx(ratio, abs=1e-6)
    assert ratio < float(new["bound"][0]) == 1.1
    rows = [row for row in questions.ask(record, "why-not-proposed") if "g" in row]
    row = next(r for r in rows if r["candidate"].value == new["statement"][0])
    assert row["filter"].value == "lift"
    assert row["decided"].value == f"rate inside over the rate of all {round(ratio, 3)}, bound 1.1"
    assert row["failing_inside"].value == f"{failing} of {inside}"


def racks(folder: Path, strays: int) -> dict[str, Any]:
    """Write samples of which one rack lacks the mass, and most of these are blue.

    `strays` samples of the rack are not blue, and as many elsewhere are.
    """
    rows = []
    for n in range(240):
        rack = n // 3 % 10
        place = n // 30 * 3 + n % 3
        blue = place >= strays if rack == 4 else rack == 7 and place < strays
        said = f'e:rack "r{rack}" ; e:hue "{"blue" if blue else f"hue {n % 7}"}"'
        rows.append(sample(n, said, fails=rack == 4))
    return written(folder, rows)


@pytest.mark.parametrize(("strays", "dropped"), [(1, True), (2, True), (12, False)])
def test_of_two_regions_that_no_test_tells_apart_the_shorter_story_is_told(
    strays: int, *, dropped: bool, tmp_path: Path
) -> None:
    record = asked(racks(tmp_path, strays), policy="code")
    runs = of(record, "Filtering")
    by = {node for node, said in runs.items() if said["filter"] == ["shorter-story"]}
    gone = [said for said in of(record, "Candidate").values() if said["filtering"][0] in by]
    assert any("blue" in said["statement"][0] for said in gone) == dropped
    assert [said["outcome"] for said in of(record, "Verdict").values()] == [["explained"]]
    leaders = [
        h for h in of(record, "Hypothesis").values() if h["status"] == [TRAILS.Supported.value]
    ]
    assert ["r4" in said["statement"][0] for said in leaders] == [True]


def measured_twice(folder: Path) -> dict[str, Any]:
    """Write blue samples with two masses each, of which nearly all have the second from a store.

    The language of conditions has no words for two sources; that they are blue saves more bits.
    """
    head = "@prefix e: <https://example.org/lab/> .\n@prefix sh: <http://www.w3.org/ns/shacl#> ."
    feeds: dict[str, list[str]] = {"lab": [head], "store": [head]}
    for n in range(600):
        blue = n % 25 == 0
        feeds["lab"].append(sample(n, f'e:hue "{"blue" if blue else f"hue {n % 7}"}"', fails=False))
        again = "lab" if n % 150 == 0 else "store"
        if blue or n % 3 == 0:
            feeds[again].append(f"e:s{n} e:mass {n + 4 if blue else 3} .")
    (folder / "data").mkdir()
    for name, rows in feeds.items():
        (folder / "data" / f"{name}.ttl").write_text("\n".join(rows), encoding="utf-8")
    rule = "sh:targetClass e:Sample ; sh:property [ sh:path e:mass ; sh:maxCount 1 ]"
    (folder / "shapes.ttl").write_text(f"{head}\ne:Shape a sh:NodeShape ; {rule} .")
    return {"data": folder / "data", "shapes": folder / "shapes.ttl", "max_hypotheses": 3}


def test_what_the_language_has_no_words_for_yields_to_no_shorter_story(tmp_path: Path) -> None:
    record = asked(measured_twice(tmp_path), policy="code")
    runs = of(record, "Filtering")
    said = [s for s in of(record, "Candidate").values() if "two sources" in s["statement"][0]]
    assert said
    assert "shorter-story" not in {runs[s["filtering"][0]]["filter"][0] for s in said}


def test_what_a_person_proposes_is_tested_whatever_is_shorter(tmp_path: Path) -> None:
    idea = {
        "condition": [
            {
                "path": [{"step": "forward", "along": "<https://example.org/lab/hue>"}],
                "test": "equals",
                "terms": {"term": '"blue"'},
            }
        ]
    }
    record = asked(racks(tmp_path, 2), policy="code", hypotheses=[idea])
    told = [said["statement"][0] for said in of(record, "Hypothesis").values()]
    assert any("blue" in one for one in told)


def test_filters_that_ran_on_rough_counts_are_recorded_by_numbers_only(tmp_path: Path) -> None:
    record = asked(old_and_new(tmp_path))
    rough = {n: said for n, said in of(record, "Filtering").items() if said["exact"] == ["false"]}
    assert rough
    assert all(
        0 < int(r["candidatesDropped"][0]) <= int(r["candidatesIn"][0]) for r in rough.values()
    )
    held = {said["filtering"][0] for said in of(record, "Candidate").values()}
    assert not held & set(rough)


def test_candidates_of_every_source_go_through_the_filters(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[int] = []

    def counted(made: type[Families] | type[ConditionSearch]) -> None:
        propose = vars(made)["propose"]

        def counting(self: Proposer, view: View, /) -> Iterator[Suggestion]:
            found = list(propose(self, view))
            given.append(len(found))
            yield from found

        monkeypatch.setattr(made, "propose", counting)

    counted(ConditionSearch)
    counted(Families)
    monkeypatch.setattr(proposer, "ENGINE_PROPOSERS", (Families(), Families()))
    record = asked(old_and_new(tmp_path), policy="code")
    first = next(r for r in of(record, "Filtering").values() if r["round"] == ["1"])
    searched, one, other = given[:3]
    assert one == other > 1
    assert searched > 0
    assert int(first["candidatesIn"][0]) == sum(given[:3])


def test_a_record_with_dropped_candidates_replays(tmp_path: Path) -> None:
    asked(old_and_new(tmp_path), ledger=tmp_path / "ledger")
    again = replay(tmp_path / "ledger")
    assert again.same, (again.recorded[:3], again.replayed[:3])


def shelves(folder: Path, most: int) -> dict[str, Any]:
    """Write samples on twenty shelves with rates of their own; on one of them `most` of 12 fail."""
    counts = [0, 0, 1, 0, 2, 5, 0, 1, 3, 0, 0, 4, 1, 0, 0, 2, 0, 0, 1, 0]
    counts[16] = most
    rows = [
        sample(12 * shelf + n, f'e:shelf "shelf {shelf}"', fails=n < count)
        for shelf, count in enumerate(counts)
        for n in range(12)
    ]
    return written(folder, rows)


def test_what_a_condition_says_and_does_not_pay_for_is_not_found_on_a_half(tmp_path: Path) -> None:
    """Shelves differ anyhow: 7 of 12 stand out on the half that found them, and not among all."""
    given = shelves(tmp_path, 7)
    record = asked(given, policy="code")
    (barred,) = [h for h in of(record, "Hypothesis").values() if "paid" in h]
    assert barred["statement"] == ["Nodes whose shelf is “shelf 16” fail."]
    assert barred["paid"] == ["false"]
    assert not barred["status"][0].endswith("Supported")
    assert audit(record).ok, str(audit(record))
    # Without the search nothing was asked for bits.
    framed = asked(given, policy="frame")
    assert not any("paid" in h for h in of(framed, "Hypothesis").values())


_OUTCOME = """
PREFIX e: <https://example.org/terms#>
SELECT ?focus ?outcome WHERE {
  ?focus e:definer ?any
  BIND (EXISTS { ?focus e:definer ?by FILTER NOT EXISTS { ?by a e:Scheme } } AS ?outcome)
}
"""


def defined_elsewhere(folder: Path) -> dict[str, Any]:
    """Write terms of which a third is defined by a scheme under an address that is not described.

    These alone are in a scheme that is, by two other properties.
    """
    lines = ["@prefix e: <https://example.org/terms#> .", "e:new a e:Scheme ."]
    lines += [f"e:s{n} a e:Scheme ." for n in range(8)]
    for n in range(120):
        told = "e:old ; e:inScheme e:new ; e:topOf e:new" if n % 3 == 0 else f"e:s{n % 8}"
        lines.append(f"e:t{n} e:definer {told} .")
    (folder / "terms.ttl").write_text("\n".join(lines), encoding="utf-8")
    (folder / "outcome.rq").write_text(_OUTCOME, encoding="utf-8")
    return {"data": folder / "terms.ttl", "outcome": folder / "outcome.rq"}


def test_a_mechanism_that_any_predicate_would_do_for_takes_no_confidence(tmp_path: Path) -> None:
    record = asked(defined_elsewhere(tmp_path), policy="code")
    runs = of(record, "Filtering")
    by = {node for node, said in runs.items() if said["filter"] == ["unspecific"]}
    gone = {
        said["statement"][0]
        for said in of(record, "Candidate").values()
        if said["filtering"][0] in by
    }
    assert gone == {
        f"The value of definer was written under {name} instead." for name in ("inScheme", "topOf")
    }
    told = [h for h in of(record, "Hypothesis").values() if h["status"] == [_SUPPORTED]]
    assert any("not described in the graph" in h["statement"][0] for h in told)
