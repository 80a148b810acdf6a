"""What makes the search in conditions quick changes nothing of what it finds."""

import re
from collections.abc import Callable
from dataclasses import replace
from itertools import product

import pytest

from kgreason.context.view import View
from kgreason.hypothesize.conditions import Condition, Extent, Step, atlas_of
from kgreason.hypothesize.conditions.atlas import LEAST
from kgreason.hypothesize.conditions.code import saved
from kgreason.hypothesize.conditions.cuts import Cut, pieces_of
from kgreason.hypothesize.conditions.hunt import Hunt
from kgreason.hypothesize.conditions.links import Links
from kgreason.hypothesize.conditions.scale import Scale
from tests.conditions_world import strike, view, world

TEXTS = (
    *("", "a", "ab", "-", "a-", "é", "plain words", "https://example.org/a/b-1", "SchÃ¶n [x]\ty"),
    *("12-34 56", "under_score", "x" * 200 + "!", "!" * 3, "a\nb-c"),
)


@pytest.mark.parametrize(("nodes", "failing"), [(30, 6), (30, 24), (12, 11)])
def test_no_region_saves_more_than_its_bound(nodes: int, failing: int) -> None:
    scale = Scale((1 << nodes) - 1, (1 << failing) - 1)
    tried = 0
    for bad, inside in product(range(LEAST, failing + 1), range(1, nodes + 1)):
        if bad <= inside <= nodes - failing + bad and bad * nodes > failing * inside:
            tried += 1
            value = scale.bits(bad, inside)
            assert value == saved(bad, inside, failing, nodes)
            for more in range(bad, failing + 1):
                assert value <= scale.most(more)
    assert tried or failing <= LEAST


def test_a_region_that_fails_no_more_than_the_others_saves_nothing() -> None:
    scale = Scale((1 << 40) - 1, (1 << 20) - 1)
    assert scale.bits(10, 20) is None
    assert scale.bits(LEAST - 1, LEAST - 1) is None
    assert scale.most(LEAST - 1) == 0


@pytest.mark.parametrize("text", TEXTS)
def test_pieces_are_words_and_runs_with_a_mark(text: str) -> None:
    short = text[:80]
    runs = {short[at : at + 3] for at in range(len(short) - 2)}
    marked = {run for run in runs if not re.fullmatch(r"[A-Za-z0-9\s]*", run)}
    assert pieces_of(text) == marked | set(re.findall(r"[^\W_]{2,30}", short))


def _told(_: Condition) -> str:
    return ""


@pytest.fixture(scope="module")
def looked(tmp_path_factory: pytest.TempPathFactory) -> View:
    made = world(1, size=600)
    strike(made, lambda w, r: w.site_of[r.sensor] == 7, 1)
    return view(made, tmp_path_factory.mktemp("world"))


def hunted(looked: View, barred: Callable[[Condition], str] = _told) -> Hunt:
    atlas = atlas_of(replace(looked, kept={}))
    everyone, failing = atlas.nodes, looked.marks.failing_mask
    hunt = Hunt(atlas, failing, barred, Extent(), everyone, lambda _: False)
    hunt.explore()
    return hunt


@pytest.fixture(scope="module")
def hunt(looked: View) -> Hunt:
    return hunted(looked)


def test_links_lead_where_the_query_of_a_step_leads(
    looked: View, hunt: Hunt, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = {table.path: table.ends for table in hunt.atlas.known()}
    assert any(path.steps and "triple" in path.steps[-1].template.header for path in read)
    asked: list[Step] = []
    monkeypatch.setattr(Links, "pairs", lambda _, step, __: asked.append(step))
    assert {table.path: table.ends for table in hunted(looked).atlas.known()} == read
    assert asked


def test_levels_are_counted_alike_by_node_and_by_level(hunt: Hunt) -> None:
    checked = 0
    for cut in (cut for cut in hunt.cuts if cut.heights and cut.apart):
        level = cut.heights[len(cut.heights) // 2] | cut.heights[0]
        few = [
            (place, (mask & hunt.failing & level).bit_count(), (mask & level).bit_count())
            for place, mask in enumerate(cut.heights)
            if mask & level
        ]
        assert cut.counts(level, hunt.failing & level) == few
        checked += level.bit_count() <= len(cut.heights)
    assert checked


def test_a_piece_is_found_where_it_stands(hunt: Hunt) -> None:
    found = 0
    for cut in hunt.cuts:
        for piece in sorted(cut.pieces)[:20]:
            held = 0
            for term, mask in cut.table.ends.items():
                held |= mask if piece in term.value else 0
            assert cut.holding(piece).mask == held
            found += 1
    assert found


def test_what_is_barred_is_never_told_and_the_next_takes_its_place(
    looked: View, hunt: Hunt
) -> None:
    first = next(hunt.story())[0].parts[0]

    def barred(condition: Condition) -> str:
        return "so" if (condition.path, condition.test) == (first.path, first.test) else ""

    other = hunted(looked, barred)
    told = [region for region, rivals in other.story() for region in (region, *rivals)]
    nearest = other.nearest()
    assert told
    assert nearest is not None
    assert not any(barred(part) for region in (*told, nearest) for part in region.parts)
    assert "so" in {why for _, why in other.pool.restated}


def test_what_a_text_cannot_hold_does_not_part_texts(hunt: Hunt) -> None:
    cut = next(cut for cut in hunt.cuts if len(cut.pieces) > 1)
    odd = Cut(cut.atlas, cut.table)
    odd.__dict__["_texts"] = [("a\x00b", 1), ("b", 2), ("c", 4)]
    assert list(odd._with("b")) == [0, 1]
    assert list(odd._with("\x00")) == [0]
