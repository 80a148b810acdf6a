"""What the router learned: the file and the command in step, the frames, the shapes of both."""

import re
import sys
from collections import Counter
from pathlib import Path

import pyoxigraph as ox
import pyshacl
import pytest
import rdflib

from kgreason.base.terms import SKOS, TRAILS
from kgreason.record.whole_shapes import whole_shapes
from kgreason.routing.features import ALWAYS, stem
from kgreason.routing.learned import learned
from kgreason.routing.phrases import Phrases, words_of
from kgreason.routing.task_types import task_types

ROOT = Path(__file__).resolve().parents[1]
ONTOLOGY = ROOT / "ontology"
learn_router = pytest.importorskip("benchmarks.learn_router", reason="benchmarks/ is not here")


def phrases_of(name: str) -> dict[str, list[str]]:
    """Return the phrases of the frames or groups of a file by their name."""
    store = ox.Store()
    store.load(path=str(ONTOLOGY / name), format=ox.RdfFormat.TURTLE)
    rows = store.query(f"SELECT ?n ?p {{ ?f {SKOS.notation} ?n ; {TRAILS.phrase} ?p }}")
    assert isinstance(rows, ox.QuerySolutions)
    found: dict[str, list[str]] = {}
    for row in rows:
        found.setdefault(row["n"].value, []).append(row["p"].value)
    return found


def test_the_weights_were_learned_from_these_questions_and_frames() -> None:
    text = learn_router.OUT.read_text(encoding="utf-8")
    assert f'trails:learnedDigest "{learn_router.digest()}"' in text, (
        "run `python benchmarks/learn_router.py`"
    )


@pytest.mark.slow
def test_the_command_gives_the_same_file_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["learn_router.py", "--check"])
    assert learn_router.main() == 0


def test_learning_finds_what_tells_questions_apart() -> None:
    several = [["always", "word a"], ["always", "word b"], ["always", "word a", "word c"]] * 4
    fit = learn_router.Fit([*several, ["word once"]], ["x", "y", "x"] * 4 + ["y"])
    weights = fit.weights()
    assert weights["x"]["word a"] > 0 > weights["y"]["word a"]
    assert "word once" not in weights["y"]
    assert learn_router.told(["word a"], weights) == ["x", "y"]
    assert (
        learn_router.Fit(several, ["x", "y", "x"] * 4).weights()
        == learn_router.Fit(several, ["x", "y", "x"] * 4).weights()
    )


def test_questions_that_are_alike_stand_in_one_fold() -> None:
    asked = [f"how many {one} are there in the graph" for one in ("parts", "ships", "labels")]
    asked += ["why is the mass of the part wrong", "a summary of the session please"]
    fold = learn_router.folds([{"question": one} for one in asked])
    assert len({*fold[:3]}) == 1
    assert len({*fold}) == 3


def test_what_was_learned_names_types_that_are_there() -> None:
    weights = learned().weights
    assert set(weights) == {one.iri for one in task_types().types.values()}
    assert all(ALWAYS in of or len(of) > 100 for of in weights.values())


@pytest.mark.parametrize("name", ["frames.ttl", "routing.ttl"])
def test_the_files_keep_to_their_shapes(name: str) -> None:
    data = rdflib.Graph().parse(ONTOLOGY / name)
    conforms, _, text = pyshacl.validate(data, shacl_graph=whole_shapes("prefixes", "patterns"))
    assert conforms, text


@pytest.mark.parametrize("name", ["frames.ttl", "patterns.ttl"])
def test_no_phrase_is_there_twice_and_each_is_in_normal_form(name: str) -> None:
    for frame, phrases in phrases_of(name).items():
        plain = Counter(" ".join(one.split()) for one in phrases)
        assert [one for one, many in plain.items() if many > 1] == [], frame
        for one in phrases:
            assert one == " ".join(one.split()).casefold(), (frame, one)
            assert re.fullmatch(r"[\w|*#^${}. ?:]+", one), (frame, one)
            # Apart from what is written specially, words are as a question has them when read.
            for word in re.split(r"[ |_]", re.sub(r"\{\w+\}|[*#^$.?]", "", one)):
                read = words_of(word).strip(" .?")
                assert read in {word, ""} or word == "sh:", (frame, one)


def test_a_phrase_of_one_word_is_not_covered_by_another_of_its_frame() -> None:
    for frame, phrases in phrases_of("frames.ttl").items():
        stems = [one[:-1] for one in phrases if re.fullmatch(r"\w+\*", one)]
        for one in phrases:
            if re.fullmatch(r"\w+\*?", one):
                covered = [s for s in stems if one.rstrip("*").startswith(s) and one != f"{s}*"]
                assert not covered, (frame, one)


def test_a_phrase_that_occurs_in_no_question_stands_in_a_frame_that_says_so() -> None:
    words = [words_of(row["question"]) for row in learn_router.rows()]
    groups = Phrases(phrases_of("patterns.ttl"))
    store = ox.Store()
    store.load(path=str(ONTOLOGY / "frames.ttl"), format=ox.RdfFormat.TURTLE)
    rows = store.query(f"SELECT ?n {{ ?f {SKOS.notation} ?n ; {TRAILS.broad} true }}")
    assert isinstance(rows, ox.QuerySolutions)
    broad = {row["n"].value for row in rows}
    for frame, phrases in phrases_of("frames.ttl").items():
        if frame not in broad:
            for one in phrases:
                found = groups.compiled(one)
                assert any(found.search(text) for text in words), (frame, one)


@pytest.mark.parametrize(
    ("question", "feature", "said"),
    [
        ("Why do they fail?", "frame why", "why"),
        ("Why do they fail?", "opens with why", "why at the beginning"),
        ("Please, why do they fail?", "opens with why do", "why do at the beginning"),
        ("Why do they fail?", "frames observed + why", "fail with why"),
        ("Why do they fail?", "shape a question mark", "a question mark"),
        ("which labels", "shape up to 4 words", "up to 4 words"),
        ("Who is in Paris?", "shape a name", "a name"),
        ("the labels of parts", "word label", "labels"),
        ("the labels of parts", "words label of", "labels of"),
    ],
)
def test_features(question: str, feature: str, said: str) -> None:
    assert task_types().reading.features(question)[feature] == said


def test_stems() -> None:
    assert [stem(one) for one in ("labels", "failing", "gas")] == ["label", "fail", "gas"]
