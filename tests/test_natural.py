"""The cases of natural faults are well-formed and fair; their scorer tells right from wrong."""

import re
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any, Final

import pyoxigraph as ox
import pytest

ROOT = Path(__file__).resolve().parents[1]
if not (ROOT / "benchmarks").is_dir():
    pytest.skip("benchmarks/ is not here", allow_module_level=True)
sys.path.insert(0, str(ROOT / "benchmarks"))

import natural_bench  # type: ignore[import-not-found]  # noqa: E402
import natural_cases  # type: ignore[import-not-found]  # noqa: E402

CASES = natural_cases.cases()
OF_OTHERS = {
    "culturecreates/artsdata-data-model", "edmcouncil/fibo", "qudt/qudt-public-repo",
    "dini-ag-kim/hochschulfaechersystematik", "dini-ag-kim/schulfaecher", "periodo/periodo-data",
    "ica-egad/ric-o",
}  # fmt: skip


def test_no_repository_has_more_than_two_cases_or_is_one_of_the_shared() -> None:
    """Else one maintainer's habits would be half of the benchmark."""
    for split, most in (
        ((*natural_cases.HALVES, *natural_cases.UNSEEN), 2),
        (natural_cases.FEW, 3),
    ):
        counts = Counter(one.repository.lower() for one in CASES if one.split in split)
        assert max(counts.values()) <= most
        assert not OF_OTHERS & set(counts)


KINDS: Final = frozenset(
    re.findall(r"^#\+ kind: (\S+)$", one.read_text("utf-8"), re.MULTILINE)[0]
    for one in (ROOT / "queries" / "hypothesize").glob("*.rq")
)


@pytest.mark.parametrize("split", natural_cases.UNSEEN)
def test_an_unseen_set_has_repositories_of_its_own(split: str) -> None:
    """Else what was learned from a repository would be tried on it."""
    unseen = [one for one in CASES if one.split == split]
    theirs = {one.repository.lower() for one in unseen}
    assert len(unseen) >= 20
    assert len(theirs) >= 12
    # The set of few nodes is of any repositories: what is asked there is another question.
    apart = {split, *natural_cases.FEW}
    assert not theirs & {one.repository.lower() for one in CASES if one.split not in apart}


@pytest.mark.parametrize("case", CASES, ids=lambda one: one.name)
def test_a_case_is_well_formed(case: Any) -> None:
    """Its commits are whole, its set follows from its name, its kinds exist, its rule parses."""
    assert set(case.kinds) | set(case.vague) <= KINDS | {natural_cases.NONE}
    assert case.kinds
    assert not set(case.kinds) & set(case.vague)
    later = (*natural_cases.UNSEEN, *natural_cases.FEW)
    assert case.split in (natural_cases.split_of(case.repository), *later)
    assert re.fullmatch("[0-9a-f]{40}", case.before)
    assert re.fullmatch("[0-9a-f]{40}", case.after)
    few = case.split in natural_cases.FEW
    assert case.failing in range(1, 5) if few else case.failing >= 5
    assert natural_cases.chosen(ox.Store(), case, case.broken) == set()


TTL = """@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
<urn:a> a skos:Concept ; skos:inScheme <urn:s> .
<urn:b> a skos:Concept {mended}.
<urn:c> a skos:Concept .
[] a skos:Concept ; skos:inScheme <urn:s> .
"""


def a_case(**other: Any) -> Any:
    """Give a case of which two nodes of four fail."""
    told = {
        "name": "scheme", "repository": "some/where", "before": "HEAD~1", "after": "HEAD",
        "paths": ("data/**/*.ttl",), "message": "", "domain": "", "licence": "", "split": "learn",
        "population": "?focus a skos:Concept", "failing": 2, "cause": "", "kinds": ("source",),
        "fails": "FILTER NOT EXISTS { ?focus skos:inScheme ?x }",
    } | other  # fmt: skip
    return natural_cases.Case(**told)


@pytest.fixture
def mirror(tmp_path: Path) -> Path:
    """Give a folder with a repository of two commits, the second of which mends one node."""
    work = tmp_path / "mirror" / "some+where"
    (work / "data" / "deep").mkdir(parents=True)

    def git(*words: str) -> None:
        who = ("-c", "user.name=a", "-c", "user.email=a@b")
        subprocess.run(["git", *who, *words], cwd=work, check=True, capture_output=True)

    git("init", "-q")
    for mended in ("", "; skos:inScheme <urn:s> "):
        text = TTL.replace("{mended}", mended)
        (work / "data" / "deep" / "a.ttl").write_text(text, encoding="utf-8")
        (work / "other.ttl").write_text(text, encoding="utf-8")
        git("add", ".")
        git("commit", "-qm", "x")
    return tmp_path / "mirror"


def test_the_nodes_are_those_that_the_mending_lets_pass(mirror: Path, tmp_path: Path) -> None:
    """They are computed; one named graph a file, of the files that match alone."""
    laid = natural_cases.lay_out(a_case(), mirror, tmp_path / "work")
    assert laid.nodes == {"<urn:b>"}
    store = ox.Store()
    natural_cases.read_quads(laid.data, store)
    assert [str(one) for one in store.named_graphs()] == ["<urn:src:data/deep/a.ttl>"]
    found = store.query(laid.rule[1].read_text("utf-8"), use_default_graph_as_union=True)
    outcomes = Counter(str(row["outcome"].value) for row in found)  # type: ignore[union-attr]
    assert outcomes == {"true": 2, "false": 2}
    whole = natural_cases.lay_out(a_case(whole=True), mirror, tmp_path / "work")
    assert whole.nodes == {"<urn:b>", "<urn:c>"}


def test_another_count_than_the_truth_tells_stops_the_layout(mirror: Path, tmp_path: Path) -> None:
    """A rule that counts otherwise is another rule."""
    with pytest.raises(ValueError, match="2 fail, not 3"):
        natural_cases.lay_out(a_case(failing=3), mirror, tmp_path / "work")


def test_a_case_words_its_outcome_query_otherwise(mirror: Path, tmp_path: Path) -> None:
    """It is laid out as it stands, and refused where it finds other nodes than the patterns."""
    body = "?focus a skos:Concept OPTIONAL { ?focus skos:inScheme ?x }"
    asked = f"SELECT DISTINCT ?focus (!BOUND(?x) AS ?outcome) WHERE {{ {body} }}"
    laid = natural_cases.lay_out(a_case(outcome=asked), mirror, tmp_path / "work")
    assert laid.rule[1].read_text("utf-8").endswith(asked)
    with pytest.raises(ValueError, match="finds other nodes"):
        natural_cases.lay_out(
            a_case(outcome=asked.replace("!BOUND", "BOUND")), mirror, tmp_path / "work"
        )


def laid(kinds: tuple[str, ...], tmp_path: Path) -> Any:
    """Give a case with ten nodes mended, of which the restatement is known."""
    nodes = frozenset(f"<urn:{n}>" for n in range(10))
    data = tmp_path / "data.nq"
    return natural_cases.Laid(
        "x", tmp_path, data, ("--shapes", data), "", kinds, ("cohort",), ("without a s",), nodes, ""
    )


def symptom(**leader: Any) -> dict[str, Any]:
    """Give a symptom of ten failing nodes with a supported leader."""
    told = {
        "rank": 1, "status": "supported", "kind": "source", "statement": "One file.", "region": "",
        "inside": {"failing": 9, "population": 10}, "outside": {}, "confidence": 0.9,
    } | leader  # fmt: skip
    return {"name": "s", "failing": 10, "population": 99, "verdict": "explained",
            "hypotheses": [told]}  # fmt: skip


@pytest.mark.parametrize(
    ("kinds", "leader", "verdict"),
    [
        (("source",), {}, "right"),
        (("source",), {"inside": {"failing": 4, "population": 4}}, "vague"),
        (("source",), {"inside": {"failing": 9, "population": 90}}, "vague"),
        (("source",), {"statement": "Nodes without a scheme."}, "restated"),
        (("drift",), {}, "vague"),
        (("drift",), {"inside": {"failing": 4, "population": 4}}, "false"),
        (("drift",), {"kind": "cohort", "inside": {"failing": 4, "population": 4}}, "vague"),
        (("source",), {"status": "rejected"}, "missed"),
        (("none",), {}, "false"),
        (("none",), {"status": "rejected"}, "honest none"),
        (("none", "source"), {}, "right"),
    ],
)
def test_a_leader_is_judged_by_kind_and_nodes(
    kinds: tuple[str, ...], leader: dict[str, Any], verdict: str, tmp_path: Path
) -> None:
    """The right kind with other nodes is vague, and silence is right where there is no cause."""
    told = natural_bench.judged(laid(kinds, tmp_path), symptom(**leader), ox.Store())
    assert told["judged"] == verdict


@pytest.mark.parametrize("verdict", ["narrowed down", "no systematic cause"])
def test_a_place_that_the_verdict_does_not_tell_as_a_cause_is_no_false_one(
    verdict: str, tmp_path: Path
) -> None:
    found = symptom(inside={"failing": 9, "population": 30}) | {"verdict": verdict}
    for kinds, judged in [(("none",), "honest none"), (("source",), "vague")]:
        told = natural_bench.judged(laid(kinds, tmp_path), found, ox.Store())
        assert told["judged"] == judged


def test_a_region_is_compared_with_the_nodes_mended(tmp_path: Path) -> None:
    """Nine failing nodes that are other ones than those mended are not the cause."""
    store = ox.Store()
    for number in range(5, 14):
        node = ox.NamedNode(f"urn:{number}")
        store.add(ox.Quad(node, ox.NamedNode("urn:p"), node, ox.NamedNode("urn:g")))
    region = {"region": "SELECT ?focus WHERE { ?focus <urn:p> ?x }"}
    told = natural_bench.judged(laid(("source",), tmp_path), symptom(**region), store)
    assert (told["judged"], told["recall"]) == ("right", 0.5)
    region["region"] += " ORDER BY ?focus LIMIT 4"
    told = natural_bench.judged(laid(("source",), tmp_path), symptom(**region), store)
    assert told["judged"] == "vague"


def test_a_person_judges_otherwise_with_a_reason(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """What is judged by hand counts; each judgement has a verdict that exists, and says why."""
    file = ROOT / "benchmarks" / "natural" / natural_cases.BY_HAND
    for one in tomllib.loads(file.read_text("utf-8"))["judged"]:
        assert one["verdict"] in natural_bench.VERDICTS
        assert one["why"]
    monkeypatch.setattr(natural_cases, "by_hand", lambda: {("x", "One file."): "false"})
    told = natural_bench.judged(laid(("source",), tmp_path), symptom(), ox.Store())
    assert told["judged"] == "false"


def test_the_table_counts_by_kind_with_intervals() -> None:
    """A case counts under the first of its kinds; what was told surely is counted by itself."""
    sure = {"kinds": ["drift"], "judged": "right", "confidence": 0.95, "verdict": "explained"}
    sure |= {"proof": "direct", "calibrated": 0.93}
    unsure = {
        "kinds": ["drift", "source"],
        "judged": "false",
        "confidence": 0.85,
        "verdict": "explained",
    }
    silent = {"kinds": ["none"], "judged": "honest none", "confidence": None}
    sign = {"kinds": ["value"], "judged": "vague", "confidence": 0.99, "verdict": "explained"}
    sign |= {"proof": "bits", "calibrated": 0.55, "posterior": 0.99}
    told = [sure, unsure, sign, silent | {"verdict": "no systematic cause"}]
    lines = natural_bench.summary(told).splitlines()
    assert "| drift | 1 |  |  | 1 |  |  |  | 1 of 2 (0.09 to 0.91) |" in lines
    assert "| all | 1 | 1 |  | 1 |  | 1 |  | 2 of 4 (0.15 to 0.85) |" in lines
    assert lines[-5].endswith("Supported at 0.9 or more, right: 1 of 2 (0.09 to 0.91)")
    bits = "bits 0 of 1 (0.00 to 0.79)"
    assert lines[-4] == f"By what it was told: {bits}; direct 1 of 1 (0.21 to 1.00)"
    assert lines[-3].endswith("counted, at 0.9 or more: 0 of 1 (0.00 to 0.79)")
    assert lines[-2] == "Calibrated at 0.9 or more, right: 1 of 1 (0.21 to 1.00)"
    assert lines[-1].endswith("and true: 1 of 1 (0.21 to 1.00)")
