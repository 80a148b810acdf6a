"""Of a large population a search looks at a sample by outcome, and tells what it finds of all."""

from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

import kgreason
from kgreason.context.view import View
from kgreason.graph.marks import places
from kgreason.hypothesize.conditions import Extent, atlas_of, explore, hunt, seam
from kgreason.hypothesize.conditions.sampling import Lots, Sample, alone, shared
from kgreason.hypothesize.conditions.search import looked_at, recounted
from tests.conditions_world import Reading, World, strike, view, world

SMALL = Extent(nodes=400, passing=250, failing=60)
HEAD = "@prefix ex: <https://example.org/> . @prefix sh: <http://www.w3.org/ns/shacl#> .\n"


def fault(made: World, reading: Reading) -> bool:
    return made.site_of[reading.sensor] == 7


@pytest.fixture(scope="module")
def looked(tmp_path_factory: pytest.TempPathFactory) -> View:
    made = world(1, size=900)
    strike(made, fault, 1)
    return view(made, tmp_path_factory.mktemp("sampled"))


def test_a_sample_numbers_its_nodes_from_0_on(looked: View) -> None:
    population = looked.marks.population
    rng = Random(3)
    chosen = sum(1 << place for place in rng.sample(range(len(population.nodes)), 50))
    sample = Sample(population, chosen, chosen, 0)
    for mask in (chosen, 0, population.everyone, looked.marks.failing_mask, rng.getrandbits(900)):
        own = sample.own(mask)
        assert [sample.nodes[place] for place in places(own)] == [
            population.nodes[place] for place in places(mask & chosen)
        ]


def test_who_is_drawn_depends_on_the_seed_and_on_nothing_else(looked: View) -> None:
    population, bad = looked.marks.population, looked.marks.failing_mask
    lots = Lots(population, 0)
    few = lots.drawn(population.everyone, 100)
    assert few.bit_count() == 100
    assert few == Lots(population, 0).drawn(population.everyone, 100)
    assert few != Lots(population, 1).drawn(population.everyone, 100)
    # Of a part those are drawn that are drawn of all, and then others.
    assert not few & bad & ~lots.drawn(bad, 100)
    assert lots.drawn(bad, bad.bit_count()) == bad


def test_symptoms_share_a_sample_and_each_looks_at_its_own_failing_nodes(looked: View) -> None:
    population, bad = looked.marks.population, looked.marks.failing_mask
    lots = Lots(population, 0)
    other = population.everyone & ~bad & ~lots.drawn(population.everyone, 250)
    sample = shared(population, (bad, other), lots, 250, 30)
    assert sample.mask == sample.drawn | lots.drawn(bad, 30) | lots.drawn(other, 30)
    both = replace(looked, kept={}, failed=(bad, bad, other))
    wide = replace(SMALL, failing=30)
    atlas = atlas_of(both, wide)
    assert atlas.shared
    assert atlas is atlas_of(both, wide)
    assert atlas.sample is not None
    assert atlas.sample.mask == sample.mask
    # Who is there for the other symptom alone is not looked at: it was not drawn from all.
    assert looked_at(both, atlas) == sample.own(sample.drawn | lots.drawn(bad, 30))
    assert looked_at(both, atlas) != atlas.nodes


def test_where_the_shared_sample_holds_too_few_a_symptom_has_its_own(looked: View) -> None:
    bad = looked.marks.failing_mask
    none = replace(looked, kept={}, failed=(0, 0))  # as where a round took out all that was drawn
    atlas = atlas_of(none, SMALL)
    assert not atlas.shared
    assert atlas.sample is not None
    population, lots = looked.marks.population, Lots(looked.marks.population, 0)
    own = alone(population, population.everyone & ~bad, bad, lots, 250, 60)
    assert atlas.sample.mask == own.mask
    assert looked_at(none, atlas) == atlas.nodes


def test_a_sample_tells_what_all_nodes_tell_with_the_figures_of_all(looked: View) -> None:
    whole = explore(looked, atlas=atlas_of(replace(looked, kept={}))).found[0]
    small = replace(looked, kept={})
    atlas = atlas_of(small, SMALL)
    assert atlas.nodes.bit_count() < len(looked.marks.population.nodes)
    found = explore(small, SMALL, atlas).found[0]
    assert found.region.text == whole.region.text
    told = recounted(small, found)
    assert told.table == whole.table != found.table
    assert told.bits == pytest.approx(whole.bits + whole.cost - found.cost)


def test_a_round_tells_of_whom_it_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two rules of one population share a sample; record, report and JSON say how large it is."""
    monkeypatch.setattr(hunt.Extent, "__init__", _small(hunt.Extent.__init__))
    rng = Random(5)
    nodes = [
        f"ex:n{n} a ex:K ; ex:team ex:t{n % 12} "
        + "".join(
            f"; ex:{name} 1 "
            for name, team in (("code", 3), ("mass", 8))
            if n % 12 != team and rng.random() > 0.01
        )
        + "."
        for n in range(720)
    ]
    shapes = [
        f"ex:S{name} sh:targetClass ex:K ; sh:path ex:{name} ; sh:minCount 1 ."
        for name in ("code", "mass")
    ]
    (tmp_path / "data.ttl").write_text(HEAD + "\n".join(nodes), encoding="utf-8")
    (tmp_path / "shapes.ttl").write_text(HEAD + "\n".join(shapes), encoding="utf-8")
    samples: set[int] = set()
    search = seam._search

    def watched(view: View, atlas: Any, most: int) -> Any:
        samples.add(id(atlas) if atlas.shared else 0)
        return search(view, atlas, most)

    monkeypatch.setattr(seam, "_search", watched)
    with kgreason.investigate(tmp_path / "data.ttl", shapes=tmp_path / "shapes.ttl") as result:
        told = result.as_dict()
        page = result.markdown()
    assert len(samples) == 1
    assert 0 not in samples
    for symptom in told["symptoms"]:
        assert symptom["verdict"] == "explained"
        assert "team" in symptom["hypotheses"][0]["statement"]
        assert 200 < symptom["search"]["nodes"] < 720
    assert "looked at a sample of" in page
    assert "drawn by whether they fail" in page


def _small(made: Any) -> Any:
    def init(self: Any, **given: Any) -> None:
        made(self, **({"nodes": 400, "passing": 200, "failing": 80} | given))

    return init
