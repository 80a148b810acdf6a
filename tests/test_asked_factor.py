"""Questions that link an outcome with something else, and what they suspect."""

import json
from pathlib import Path

import pytest

from kgreason import api
from kgreason.base.errors import OptionError
from kgreason.planner.asked_factor import linked
from tests.cli_support import run

DATA = """@prefix e: <https://example.org/lab/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
e:Paper a owl:Class ; rdfs:label "paper"@en .
e:Preprint rdfs:subClassOf e:Paper . e:Article rdfs:subClassOf e:Paper .
e:abstract a owl:DatatypeProperty ; rdfs:label "abstract of the paper"@en .
e:title a owl:DatatypeProperty ; rdfs:label "title"@en .
e:north e:country "NO" . e:south e:country "IT" . e:east e:country "EE" .
"""
VENUES = ("north", "south", "east")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give 90 papers, most of those of one venue without an abstract; each third is late."""
    rows = [DATA]
    for n in range(90):
        kind, venue = ("Article", "Preprint")[n % 2], VENUES[n % 3]
        abstract = "" if venue == "north" and n % 10 else f' ; e:abstract "a{n}"'
        day = f"2026-02-{10 + (9 if n % 5 == 0 else -3):02d}"
        rows.append(
            f'e:p{n} a e:{kind} ; e:venue e:{venue} ; e:pages {n % 7} ; e:title "t{n}" ; '
            f'e:promised "2026-02-10"^^xsd:date ; e:printed "{day}"^^xsd:date{abstract} .'
        )
    file = tmp_path_factory.mktemp("factor") / "papers-2026.ttl"
    file.write_text("\n".join(rows), encoding="utf-8")
    return file


@pytest.mark.parametrize(
    ("question", "outcome", "factor"),
    [
        ("Is a missing weight related to the carrier?", "Is a missing weight", "the carrier"),
        ("Does the carrier cause missing weights?", "missing weights", "Does the carrier"),
        ("What causes late arrivals?", "late arrivals", "What"),
        ("Which factors go with retraction?", "retraction", "Which factors"),
        ("Are late arrivals due to customs?", "Are late arrivals", "customs"),
        ("Is there a link between the carrier and late arrivals?", "the carrier", "late arrivals"),
        ("What is behind the missing e:unitPrice?", "the missing e:unitPrice", "What is"),
    ],
)
def test_a_link_has_two_sides(question: str, outcome: str, factor: str) -> None:
    found = linked(question)
    assert found is not None
    assert (found.outcome, found.factor) == (outcome, factor)


@pytest.mark.parametrize("question", ["Why do shipments lack a weight?", "What causes it?", "?"])
def test_a_question_without_a_link_or_an_outcome_has_no_sides(question: str) -> None:
    assert linked(question) is None


PATH = "https://example.org/lab/"


@pytest.mark.parametrize(
    ("question", "suspected"),
    [
        ("Is a missing abstract related to the venue?", {"factor": f"<{PATH}venue>"}),
        ("Is the venue related to a missing abstract?", {"factor": f"<{PATH}venue>"}),
        ("Is a missing abstract due to the country of the venue?",
         {"factor": [{"step": "forward", "along": f"<{PATH}venue>"},
                     {"step": "forward", "along": f"<{PATH}country>"}]}),
        ("Does the file cause the missing abstracts?", {"factor": [{"step": "source"}]}),
        ("What causes the missing abstracts?", None),
    ],
)  # fmt: skip
def test_the_factor_is_found_among_what_is_said_of_the_nodes(
    data: Path, question: str, suspected: object
) -> None:
    first = api.readings(question, data)[0]
    assert first.words == "Paper without abstract"
    assert first.suspected == (() if suspected is None else (suspected,))
    assert not first.unread


@pytest.mark.parametrize(
    ("question", "test", "term"),
    [
        ("Do preprints cause missing abstracts?", "type", f"<{PATH}Preprint>"),
        ("Is a missing abstract related to the venue north?", "venue", f"<{PATH}north>"),
        ("Does papers 2026 cause missing abstracts?", "source", "<urn:src:papers-2026.ttl>"),
    ],
)
def test_a_value_a_class_or_a_source_can_be_suspected(
    data: Path, question: str, test: str, term: str
) -> None:
    (found,) = api.readings(question, data)[0].suspected
    (condition,) = found["condition"]
    assert test in json.dumps(condition["path"])
    assert condition["terms"] == {"term": term}


def test_what_the_factor_names_is_tested_and_told_first(data: Path, tmp_path: Path) -> None:
    asked = ("ask", "Is a missing abstract related to the venue?", str(data), "--yes")
    ran = run(*asked, "--ledger", str(tmp_path / "l"))
    assert ran.code == 0, ran.err
    told = ran.out.partition("## What was suspected")[2].partition("##")[0]
    assert "Of “venue” this tells most: " in told
    assert "north" in told
    assert "the tests bear it out" in told.lower()
    summary = run("report", "--all", "--ledger", str(tmp_path / "l")).out.splitlines()
    assert summary[1].startswith("Of “venue” this tells most: ")


def test_a_factor_that_names_nothing_is_told_so(data: Path, tmp_path: Path) -> None:
    asked = ("ask", "Are missing abstracts due to the weather?", str(data), "--yes")
    ran = run(*asked, "--ledger", str(tmp_path / "l"))
    assert "Not looked into: “weather”" in ran.err


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("Why do so many papers lack an abstract?", "Paper without abstract"),
        ("Why do so many preprints lack an abstract?", "Preprint without abstract"),
        ("Why is the abstract missing so often?", "Paper without abstract"),
        ("What makes papers late?", "Paper whose printed is after promised"),
        ("Why do papers have many pages?", "Paper whose pages is in the upper quarter"),
    ],
)
def test_an_outcome_is_read_of_a_class_and_those_below_it(
    data: Path, question: str, first: str
) -> None:
    assert api.readings(question, data)[0].words == first


def test_a_property_that_the_named_class_never_has_is_told_so(data: Path) -> None:
    with pytest.raises(OptionError, match=r"names the class Paper.*said of them: .*venue"):
        api.readings("Why do papers lack a country?", data)


def test_words_that_name_nothing_are_told(data: Path) -> None:
    found = api.readings("Why do papers of the moon lack an abstract?", data)[0]
    assert (found.words, found.unread) == ("Paper without abstract", "moon")


def test_what_nothing_lacks_is_told_so(data: Path) -> None:
    with pytest.raises(OptionError, match="all 90 nodes of the class Paper have title"):
        api.readings("Why do papers lack a title?", data)


SHAPE = """@prefix e: <https://example.org/lab/> .
@prefix sh: <http://www.w3.org/ns/shacl#> .
e:PaperShape a sh:NodeShape ; sh:targetClass e:Article , e:Preprint ;
    sh:property [ sh:path e:abstract ; sh:minCount 1 ] , [ sh:path e:pages ; sh:maxInclusive 5 ] .
"""


def test_a_symptom_of_shapes_is_suspected_by_a_strategy_too(data: Path, tmp_path: Path) -> None:
    shapes = tmp_path / "shapes.ttl"
    shapes.write_text(SHAPE, encoding="utf-8")
    question = "Is a missing abstract related to the venue?"
    made = api.plan(question, data, shapes=shapes, strategy="hypothesis")
    with made.result as result:
        told = result.markdown()
    assert "Of “venue” this tells most: " in told
    assert "pages" not in told.partition("## Symptoms")[2].partition("##")[0]
