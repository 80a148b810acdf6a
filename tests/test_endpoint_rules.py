"""What says who fails at an endpoint, other than shapes: axioms, a report, an outcome query."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

import kgreason
from kgreason.audit import audit
from kgreason.base.errors import OptionError, QueryError
from kgreason.report.result import Result
from kgreason.review.replay import replay
from tests.endpoint_server import Proxy, Served, oxigraph_server, proxy_before
from tests.lifetime_support import of

pytest.importorskip("httpx")
HEAD: Final = """@prefix e: <https://example.org/lab/> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix sh: <http://www.w3.org/ns/shacl#> .
"""
LAB: Final = "https://example.org/lab/"
RUN: dict[str, Any] = {"try_repairs": False, "seed": 3}
FEEDS, SAMPLES, WRONG = 6, 40, 3
SHAPES: Final = f"""{HEAD}
e:SampleShape a sh:NodeShape ; sh:targetClass e:Sample ;
  sh:property [ sh:path e:mass ; sh:minCount 1 ] .
"""
AXIOMS: Final = f"""{HEAD}
e:code a owl:FunctionalProperty . e:serial rdfs:subPropertyOf e:code .
e:Sample owl:disjointWith e:Box .
"""
LACKS: Final = f"""PREFIX e: <{LAB}>
SELECT ?focus ?outcome WHERE {{
  ?focus a e:Sample . BIND (NOT EXISTS {{ ?focus e:mass ?mass }} AS ?outcome)
}}
"""
HEIGHTS: Final = f"""PREFIX e: <{LAB}>
SELECT ?focus (?height AS ?outcome) WHERE {{ ?focus a e:Sample ; e:height ?height . }}
"""


def lacks(feed: int, number: int) -> bool:
    return number % 8 != 0 if feed == WRONG else number == 5 + feed


def feeds() -> dict[str, bytes]:
    """Return feeds of samples; those that lack a mass are high and have two codes, too."""
    made = {}
    for feed in range(FEEDS):
        rows = [HEAD]
        for n in range(SAMPLES):
            bad = lacks(feed, n)
            more = f"e:height {90 + n} ; e:serial 'x'" if bad else f"e:mass {n}.5 ; e:height {n}"
            rows.append(f"e:s{feed}-{n} a e:Sample ; e:code 'c{n}' ; e:room e:r{n % 3} ; {more} .")
        made[f"https://example.org/feeds/{feed}"] = "\n".join(rows).encode()
    return made


def report(*more: str) -> str:
    """Return a report of those that lack a mass, and of others."""
    names = [f"s{f}-{n}" for f in range(FEEDS) for n in range(SAMPLES) if lacks(f, n)]
    results = "\n".join(
        f"[] a sh:ValidationResult ; sh:focusNode e:{name} ; sh:resultSeverity sh:Violation ; "
        "sh:sourceConstraintComponent sh:MinCountConstraintComponent ; sh:resultPath e:mass ."
        for name in [*names, *more]
    )
    return f"{HEAD}[] a sh:ValidationReport ; sh:conforms false .\n{results}\n"


GIVEN: Final = {
    "axioms": ("axioms", AXIOMS, "ttl"),
    "outcome": ("outcome", LACKS, "rq"),
    "number": ("outcome", HEIGHTS, "rq"),
    "violations": ("violations", report(), "ttl"),
}


@pytest.fixture(scope="module")
def server() -> Iterator[Served]:
    with oxigraph_server(feeds()) as served:
        yield served


@pytest.fixture
def proxy(server: Served) -> Iterator[Proxy]:
    with proxy_before(server.base) as made:
        yield made


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("rules")
    for name, (_, text, ending) in GIVEN.items():
        (folder / f"{name}.{ending}").write_text(text, encoding="utf-8")
    (folder / "shapes.ttl").write_text(SHAPES, encoding="utf-8")
    (folder / "data").mkdir()
    for name, content in feeds().items():
        (folder / "data" / f"{name.rpartition('/')[2]}.ttl").write_bytes(content)
    return folder


def options(name: str, place: Path) -> dict[str, Any]:
    option, _, ending = GIVEN[name]
    more: dict[str, Any] = {"number": {"at": 90}, "violations": {"shapes": place / "shapes.ttl"}}
    return {option: place / f"{name}.{ending}", **more.get(name, {}), **RUN}


def told(result: Result) -> list[Any]:
    said = result.as_dict()
    causes = [one["statement"].replace("source 3.ttl ", "source 3 ") for one in said["causes"]]
    symptoms = [(s["name"], s["failing"], s["population"], s["verdict"]) for s in said["symptoms"]]
    return [symptoms, causes]


@pytest.mark.parametrize("name", GIVEN)
@pytest.mark.slow
def test_an_endpoint_gives_the_same_answer_as_files(
    name: str, server: Served, place: Path, tmp_path: Path
) -> None:
    asked = options(name, place)
    with kgreason.investigate(place / "data", **asked) as by_files:
        files = told(by_files)
    with kgreason.investigate(server.address, ledger=tmp_path / "l", **asked) as found:
        assert told(found) == files
        assert files[1], "a cause is told"
        assert audit(found.record).ok, str(audit(found.record))
        (confirmed, *_) = of(found.record, "Confirmation").values()
        assert confirmed["agrees"] == ["true"]
        assert int(confirmed["insideFailingThere"][0]) >= 35
        notices = found.as_dict()["notices"]
        assert any("the means of its numbers" in one for one in notices) is (name == "number")
    assert replay(tmp_path / "l").same


@pytest.mark.parametrize("name", GIVEN)
def test_data_above_the_memory_that_is_allowed_give_the_same_answer(name: str, place: Path) -> None:
    asked = {option: given for option, given in options(name, place).items() if option not in RUN}
    small = kgreason.symptoms(place / "data", **asked)
    large = kgreason.symptoms(place / "data", memory=1, **asked)
    assert [(s.name, s.failing, s.population) for s in large] == [
        (s.name, s.failing, s.population) for s in small
    ]
    assert len(small) > 0


def test_of_a_report_nothing_is_validated_and_nodes_that_are_gone_are_passed_over(
    proxy: Proxy, place: Path
) -> None:
    stale = place / "stale.ttl"
    stale.write_text(report("gone"), encoding="utf-8")
    asked = {**options("violations", place), "violations": stale}
    with kgreason.investigate(proxy.address, **asked) as found:
        (sample,) = of(found.record, "Sample").values()
        assert (sample["failingThere"], sample["passingThere"]) == (["40"], ["200"])
        assert "1 of 41 nodes that fail by the report are not among those" in found.markdown()
    asked_of_mass = [one for one in proxy.asked if f"{LAB}mass>" in one and "?focus" in one]
    assert asked_of_mass == []


def test_a_sample_of_what_a_report_says_is_weighted(server: Served, place: Path) -> None:
    asked = {**options("violations", place), "cap": 20}
    with kgreason.investigate(server.address, **asked) as found:
        (sample,) = of(found.record, "Sample").values()
        assert (sample["failingThere"], sample["failingTaken"]) == (["40"], ["20"])
        (symptom,) = of(found.record, "Symptom").values()
        assert symptom["passingWeight"] == ["0.5"]
        strata = list(of(found.record, "SampledSource").values())
        spread = [(one["stratumFailing"], one["stratumPassing"]) for one in strata]
        assert sorted(spread) == [(["1"], ["39"])] * 5 + [(["35"], ["5"])]
        assert sum(int(one["stratumFailingTaken"][0]) for one in strata) == 20
        assert audit(found.record).ok, str(audit(found.record))


def test_a_report_without_its_shapes_needs_a_population(server: Served, place: Path) -> None:
    report_, population = place / "violations.ttl", place / "population.rq"
    with pytest.raises(OptionError, match="--shapes or --population FILE is needed"):
        kgreason.investigate(server.address, violations=report_, **RUN)
    population.write_text(f"SELECT ?focus WHERE {{ ?focus a <{LAB}Sample> }}", encoding="utf-8")
    both: dict[str, Any] = {"violations": report_, "population": population}
    (symptom,) = kgreason.symptoms(server.address, **both)
    assert (symptom.population, symptom.failing) == (240, 40)


@pytest.mark.parametrize(
    ("text", "at", "error", "said"),
    [
        (HEIGHTS, None, OptionError, "say with --at from which number"),
        (LACKS, 3, QueryError, "of 240 rows 240 have true or false"),
        ("SELECT ?focus ?outcome { ?focus a ?outcome }", None, QueryError, "true or false for all"),
        ("SELECT ?focus { ?focus a ?c }", None, QueryError, r"\?outcome is missing"),
        ("SELECT ?focus ?outcome { ?focus <e:no> ?outcome }", None, QueryError, "gives no rows"),
        ("SELECT ?focus ?outcome FROM <e:g> { ?focus a ?outcome }", None, QueryError, "FROM"),
    ],
)
def test_an_outcome_query_of_no_use_is_refused(
    text: str, at: float | None, error: type[Exception], said: str, server: Served, tmp_path: Path
) -> None:
    query = tmp_path / "outcome.rq"
    query.write_text(text, encoding="utf-8")
    with pytest.raises(error, match=said):
        kgreason.symptoms(server.address, outcome=query, at=at)


def test_subclasses_that_only_the_axioms_state_are_told(server: Served, tmp_path: Path) -> None:
    axioms = tmp_path / "axioms.ttl"
    axioms.write_text(f"{AXIOMS} e:Specimen rdfs:subClassOf e:Sample .", encoding="utf-8")
    seen = kgreason.symptoms(server.address, axioms=axioms)
    assert "1 subclasses that the axioms state are not there" in " ".join(seen.notices)


@pytest.mark.parametrize(("kind", "found"), [("token", 1), ("int", 0)])
def test_kinds_of_text_are_judged_though_numbers_are_rewritten(
    kind: str, found: int, tmp_path: Path
) -> None:
    shapes = tmp_path / "shapes.ttl"
    given = "<http://www.w3.org/2001/XMLSchema#{}>"
    shapes.write_text(
        f"{HEAD} e:S a sh:NodeShape ; sh:targetSubjectsOf e:code ; "
        f"sh:property [ sh:path e:code ; sh:datatype {given.format('string')} ] .",
        encoding="utf-8",
    )
    rows = [f"e:s{n} e:code '{n}'^^{given.format(kind)} ." for n in range(9)]
    with oxigraph_server({"": "\n".join([HEAD, *rows]).encode()}) as own:
        seen = kgreason.symptoms(own.address, shapes=shapes)
    assert len(seen) == found
    assert any("has rewritten the literals" in one for one in seen.notices) is not bool(found)


SMALL, RARE = 30, "https://example.org/feeds/rare"


@pytest.fixture(scope="module")
def uneven() -> Iterator[Served]:
    """Three thousand samples: one source in a hundred lacks nearly all masses, others a tenth."""
    made = {}
    for feed in range(10):
        rows = [HEAD]
        for n in range(297):
            mass = "" if n % 10 == feed else f" ; e:mass {n}.5"
            rows.append(f"e:s{feed}-{n} a e:Sample ; e:room e:r{n % 7}{mass} .")
        made[f"https://example.org/feeds/{feed}"] = "\n".join(rows).encode()
    rows = [f"e:t{n} a e:Sample ; e:room e:r{n % 7} ." for n in range(SMALL)]
    made[RARE] = "\n".join([HEAD, *rows, "e:t0 e:mass 1.5 ."]).encode()
    with oxigraph_server(made) as served:
        yield served


def test_a_source_of_one_node_in_a_hundred_is_found(uneven: Served, place: Path) -> None:
    asked: dict[str, Any] = {"shapes": place / "shapes.ttl", "cap": 250, **RUN}
    with kgreason.investigate(uneven.address, **asked) as found:
        (cause, *_) = found.as_dict()["causes"]
        assert "rare" in cause["statement"]
        strata = {one["stratumGraph"][0]: one for one in of(found.record, "SampledSource").values()}
        assert len(strata) == 11
        rare = [int(strata[RARE][f"stratum{name}"][0]) for name in ("Failing", "Passing")]
        assert rare == [SMALL - 1, 1]
        (sample,) = of(found.record, "Sample").values()
        for name, of_sample in (("Failing", "failing"), ("Passing", "passing")):
            for end, of_end in (("", "There"), ("Taken", "Taken")):
                parts = (int(one[f"stratum{name}{end}"][0]) for one in strata.values())
                assert sum(parts) == int(sample[f"{of_sample}{of_end}"][0])
        assert audit(found.record).ok, str(audit(found.record))


def test_a_source_that_a_sample_hardly_shows_is_told(uneven: Served, place: Path) -> None:
    asked: dict[str, Any] = {"shapes": place / "shapes.ttl", "cap": 20, **RUN}
    with kgreason.investigate(uneven.address, **asked) as found:
        page = found.markdown()
    assert f"{RARE}: 29 of 30 nodes that it describes fail" in page
    assert "look at it alone with --graph" in page
    assert "feeds/3: " not in page


def test_what_points_at_nodes_that_were_reached_comes_along(tmp_path: Path) -> None:
    """Samples fail whose run a log calls broken; of a run with many notes none comes along."""
    rows = [HEAD]
    for run in range(60):
        level = "broken" if run % 8 == 3 else "fine"
        rows += [f'e:log{run} e:about e:run{run} ; e:level "{level}" .', f"e:run{run} a e:Run ."]
        rows += [
            f"e:s{run}-{n} a e:Sample ; e:run e:run{run}"
            + (" ." if (run % 8 == 3 and n % 5) or (run + n) % 29 == 0 else " ; e:mass 3 .")
            for n in range(10)
        ]
    rows += [f"e:note{n} e:about e:run1 ." for n in range(21)]
    (tmp_path / "shapes.ttl").write_text(SHAPES, encoding="utf-8")
    with (
        oxigraph_server({"": "\n".join(rows).encode()}) as served,
        kgreason.investigate(served.address, shapes=tmp_path / "shapes.ttl", **RUN) as found,
    ):
        (cause,) = found.causes
        assert "run/^about/level is “broken”" in cause.statement
        (extract,) = of(found.record, "Extract").values()
        assert extract["cutNodes"] == ["1"]
