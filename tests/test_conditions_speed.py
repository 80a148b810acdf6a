"""What makes the search in conditions quick changes nothing of what it finds."""

import gc
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import reduce
from itertools import product
from operator import or_
from pathlib import Path as File
from random import Random
from weakref import ref

import pyoxigraph as ox
import pytest
from pyoxigraph import Literal

import kgreason
from kgreason.base.errors import QueryError
from kgreason.base.store import Store
from kgreason.base.templates import role, template
from kgreason.context.view import View, members
from kgreason.graph.marks import places
from kgreason.hypothesize.conditions import Condition, Extent, Step, atlas_of, seam
from kgreason.hypothesize.conditions.atlas import LEAST, Atlas
from kgreason.hypothesize.conditions.code import saved
from kgreason.hypothesize.conditions.cuts import Cut
from kgreason.hypothesize.conditions.drawn import _best_cut, _windows
from kgreason.hypothesize.conditions.hunt import Hunt
from kgreason.hypothesize.conditions.language import path_written, written
from kgreason.hypothesize.conditions.letters import pieces_of
from kgreason.hypothesize.conditions.links import Links
from kgreason.hypothesize.conditions.ordered import Ordered
from kgreason.hypothesize.conditions.paths import Path
from kgreason.hypothesize.conditions.scale import Scale
from kgreason.hypothesize.conditions.seam import WRITTEN, clusters
from kgreason.hypothesize.conditions.search import held, search
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
    assert len(pieces_of(text)) == len(set(pieces_of(text)))
    assert set(pieces_of(text)) == marked | set(re.findall(r"[^\W_]{2,30}", short))


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


def test_what_is_read_by_node_is_what_the_queries_of_a_step_give(hunt: Hunt) -> None:
    """For each kind of step that is one triple: which there are, how often, and where they lead."""
    atlas, seen = hunt.atlas, set[str]()
    for path in [table.path for table in atlas.known() if len(table.path) < 2][:8]:
        nodes, here = path.nodes(atlas.mark), set(atlas.table(path).ends)
        here = {each for each in here if not isinstance(each, Literal)}
        for kind in (each for each in role("path").values() if "triple" in each.header):
            rows = atlas.graph.store.select(kind.render("steps", nodes=nodes))
            asked = {(r["step"], int(r["pairs"].value), int(r["reached"].value)) for r in rows}
            found = atlas.links.ways(kind, here)
            assert set(found) == asked
            assert len(found) == len(asked)
            for along, *_ in found[:2]:
                assert isinstance(along, ox.NamedNode)
                text = kind.render("ends", nodes=nodes, property=along)
                ends = [(r["here"], r["there"]) for r in atlas.graph.store.select(text)]
                assert Counter(atlas.links.each(Step(kind.name, along), here)) == Counter(ends)
                assert Counter(atlas.graph.store.pairs(text)) == Counter(ends)
                seen.add(kind.name)
    assert seen == {"forward", "backward", "made-by"}


def test_a_region_holds_the_nodes_of_its_pattern(looked: View, hunt: Hunt) -> None:
    """A negation is asked for by the nodes that it leaves out, a conjunction part by part."""
    plain = [each for cut in hunt.cuts for each in cut.plain]
    first = {each.test: each for each in reversed(plain)}
    assert {"lacks", "missing"} <= {test for test, each in first.items() if each.outside}
    told = next(iter(search(looked)))
    for parts in [(each,) for each in first.values()] + [(first["lacks"], first["missing"])]:
        found = replace(told, parts=parts)
        fresh = replace(looked, known={})
        assert held(replace(looked, known={}), found) == members(fresh, found.pattern)
        assert held(fresh, found) == members(fresh, found.pattern)


def test_levels_are_counted_alike_by_node_and_by_level(hunt: Hunt) -> None:
    ways = {True: 0, False: 0}
    for cut in (cut for cut in hunt.cuts if cut.heights):
        fails = [mask for mask in cut.heights if mask & hunt.failing]
        few = reduce(or_, fails[:2], cut.heights[0])
        for among in (few, hunt.among, hunt.among & ~few):
            scale = Scale(among, hunt.failing)
            plain = [((m & scale.bad).bit_count(), (m & among).bit_count()) for m in cut.heights]
            counted = cut.ordered.counts(scale)
            assert [at for at, *_ in counted.levels] == [n for n, p in enumerate(plain) if p[0]]
            held = last = 0
            for (place, bad, inside, before), up in zip(
                counted.levels, counted.upwards(), strict=True
            ):
                assert (bad, inside) == plain[place]
                assert before == sum(n for _, n in plain[last:place])
                assert up == (place, bad, before + inside)
                held, last = held + up[2], place + 1
            assert held + counted.after == sum(n for _, n in plain)
            down = list(counted.downwards())
            assert [place for place, *_ in down] == [at for at, *_ in reversed(counted.levels)]
            if down:
                held = sum(n for *_, n in down) + counted.levels[0][3]
                assert held == sum(n for _, n in plain)
            ways[among == few] += len(counted.levels)
    assert all(ways.values())


def test_where_nodes_have_several_levels_each_is_counted_at_all_of_them() -> None:
    ordered = Ordered([0b0011, 0b0110, 0b1000])
    assert not ordered.apart
    counted = ordered.counts(Scale(0b1111, 0b0010))
    assert counted.levels == [(0, 1, 2, 0), (1, 1, 2, 0)]
    assert counted.after == 1


@pytest.mark.parametrize("seed", range(40))
def test_the_best_bounds_are_those_of_all_levels(seed: int) -> None:
    """A bound or window that ends where nobody fails is never better, so it is not tried."""
    rng = Random(seed)
    heights, node = [], 0
    for _ in range(rng.randrange(5, 40)):
        size = rng.randrange(1, 9)
        heights.append(((1 << size) - 1) << node)
        node += size
    usual, fault = rng.choice((0.02, 0.1, 0.5)), rng.randrange(len(heights))
    failing = sum(
        1 << place
        for level, mask in enumerate(heights)
        for place in places(mask)
        if rng.random() < (0.9 if fault <= level <= fault + 3 else usual)
    )
    scale = Scale((1 << node) - 1, failing)
    counts = Ordered(heights).counts(scale)

    def best(runs: Iterable[tuple[int, int]]) -> float:
        masks = [reduce(or_, heights[first:end], 0) for first, end in runs]
        found = [((mask & failing).bit_count(), mask.bit_count()) for mask in masks]
        more = [(bad, n) for bad, n in found if bad * scale.nodes > scale.failing * n]
        return max(0.0, *(scale.saved(bad, n) for bad, n in more), 0.0)

    size = len(heights)
    for given, runs in (
        (counts.upwards(), [(0, end) for end in range(1, size + 1)]),
        (counts.downwards(), [(first, size) for first in range(size)]),
    ):
        place = _best_cut(given, scale)
        whole = runs[0][0] == runs[-1][0]
        got = [] if place is None else [(0, place + 1) if whole else (place, size)]
        assert best(got) == best(runs)
    fails = {level for level, mask in enumerate(heights) if mask & failing}
    assert all({first, last} <= fails for first, last in _windows(counts.levels, scale.rate))


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


def test_no_condition_asks_anew_for_each_node(hunt: Hunt) -> None:
    """What stands within EXISTS is planned without the node, and worked out for each anew."""
    tests = set()
    for condition in (each for cut in hunt.cuts for each in cut.plain):
        tests.add(condition.test)
        for made in (condition.region, condition.pattern):
            assert "EXISTS" not in made.text, condition
    assert tests >= {"lacks", "missing"}


def test_what_other_conditions_hold_is_looked_for_in_the_population_alone(
    looked: View, hunt: Hunt
) -> None:
    plain = [each for cut in hunt.cuts if len(cut.path) == 1 for each in cut.plain]
    lacks = [each for each in plain if each.test == "lacks"][:2]
    unit = {"part": 0, "bits": "1.0", "path": path_written(lacks[0].path), "ways": 0}
    made = clusters(
        looked,
        {
            WRITTEN: Literal(json.dumps(written(lacks))),
            "clusters": Literal(json.dumps(unit)),
        },
    )
    assert made is not None
    mark = looked.marks.population.mark
    flags = re.findall(r"\(true AS \?(\w+)\) WHERE \{ ([^}]*)\}", made.text)
    assert flags == [
        (name, f"GRAPH work:marks {{ ?focus work:member {mark} . ") for name in ("held", "own")
    ]


def test_a_kind_of_step_that_occurs_nowhere_is_not_asked_for(looked: View) -> None:
    text = template("path", "made-by").render("when")
    assert looked.graph.store.ask(text)
    assert not Store(ox.Store(), "nothing").ask(text)
    atlas, without = (atlas_of(replace(looked, kept={})) for _ in range(2))
    without.links.occurs["made-by"] = False
    kinds = [{way.step.kind for way in each.ways(Path())} for each in (atlas, without)]
    assert kinds[0] - kinds[1] == {"made-by"}
    assert atlas.links.occurs["made-by"]


def test_rules_that_ask_the_same_are_searched_for_once(
    tmp_path: File, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The two first shapes ask the same of the same nodes; the third one asks something else."""
    head = "@prefix ex: <https://example.org/> . @prefix sh: <http://www.w3.org/ns/shacl#> .\n"
    nodes = [
        f"ex:n{n} a ex:K ; ex:team ex:t{n % 4} " + ("." if n % 4 == 1 else "; ex:code 1 .")
        for n in range(80)
    ]
    asked = ("sh:minCount 1", "sh:minCount 1", "sh:hasValue 1")
    shapes = [
        f"ex:S{n} sh:targetClass ex:K ; sh:path ex:code ; {what} ." for n, what in enumerate(asked)
    ]
    (tmp_path / "data.ttl").write_text(head + "\n".join(nodes), encoding="utf-8")
    (tmp_path / "shapes.ttl").write_text(head + "\n".join(shapes), encoding="utf-8")
    searched: list[str] = []
    search = seam._search

    def counted(view: View, *rest: object) -> object:
        searched.append(view.constraint.key)
        return search(view, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(seam, "_search", counted)
    with kgreason.investigate(tmp_path / "data.ttl", shapes=tmp_path / "shapes.ttl") as result:
        found = [symptom["hypotheses"] for symptom in result.as_dict()["symptoms"]]
    assert len(found) == 3
    assert len(searched) == 2
    told = [[each["statement"] for each in hypotheses] for hypotheses in found]
    assert told[0] == told[1]
    assert "team" in " ".join(told[0])


def test_a_column_is_what_the_first_variable_is_bound_to() -> None:
    store = Store(ox.Store(), "a store")
    store.update('INSERT DATA { <urn:a> <urn:p> "1" . <urn:b> <urn:q> "2" . }')
    query = "SELECT ?v ?s WHERE { ?s ?p ?o . OPTIONAL { ?s <urn:p> ?v . } }"
    assert store.column(query) == [row["v"] for row in store.select(query) if "v" in row]
    assert store.column(query) == [Literal("1")]
    with pytest.raises(QueryError, match="must be a SELECT"):
        store.column("ASK { ?s ?p ?o }")


@pytest.mark.parametrize("width", [1, 64, 20_000])
def test_places_of_few_and_of_many_nodes_are_those_of_the_set(width: int) -> None:
    rng = Random(width)
    for count in {min(width, some) for some in (0, 1, 2, 7, 8, 9, 10, 40, 900)}:
        chosen = sorted(rng.sample(range(width), count))
        assert list(places(sum(1 << place for place in chosen))) == chosen


def test_the_atlas_of_a_sample_is_let_go(looked: View, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a large population each symptom has a sample, of gigabytes; cycles wait for long."""
    made = []

    def sampled(view: View) -> Atlas:
        atlas = atlas_of(view, Extent(nodes=300))
        made.append(ref(atlas))
        return atlas

    monkeypatch.setattr(seam, "atlas_of", sampled)
    gc.collect()
    gc.disable()
    try:
        seam.candidates(replace(looked, kept={}), 3)
    finally:
        gc.enable()
    assert [atlas() for atlas in made] == [None]
