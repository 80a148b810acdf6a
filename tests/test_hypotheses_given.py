"""Hypotheses that somebody suggests: read from a file, tested like all others, and attributed."""

import json
import random
import re
from pathlib import Path
from typing import Any, Final

import jsonschema
import pyoxigraph as ox
import pytest

import kgreason
from kgreason.audit import audit
from kgreason.base.errors import KgreasonError
from kgreason.base.terms import TRAILS
from kgreason.hypothesize import suggestions
from kgreason.hypothesize.proposer import ConditionSearch, Families
from kgreason.record import Record
from kgreason.record.agents import ENGINE
from kgreason.report import markdown
from kgreason.report.document import build
from kgreason.review.replay import replay
from tests.cli_support import run
from tests.lifetime_support import Node, asked, of, sample, written

PATTERN: Final = "?focus e:weighed_at ?place ; e:packed_at ?place ."
ROOT: Final = Path(__file__).resolve().parents[1]
PREFIX: Final = {"e": "https://example.org/lab/"}
IDEA: Final[dict[str, Any]] = {
    "statement": "Samples that were weighed where they were packed have no mass.",
    "mechanism": "The scales of the packers do not report what they weigh.",
    "region": {"pattern": PATTERN, "prefixes": PREFIX},
}


def places(folder: Path) -> dict[str, Any]:
    """Write samples that mostly fail where two properties agree; no family compares two.

    Under the default policy each of the pairs that agree would be told by itself.
    """
    draw, rows = random.Random(7), []
    for n in range(480):
        one, other = draw.randrange(6), draw.randrange(6)
        fails = draw.random() < (0.9 if one == other else 0.03)
        said = f"e:packed_at e:place{one} ; e:weighed_at e:place{other} ; e:box {n % 9}"
        rows.append(sample(n, said, fails=fails))
    return {"calibration": "none", "policy": "frame"} | written(folder, rows)


def given(folder: Path, *ideas: Any, **more: Any) -> Path:
    file = folder / "ideas.json"
    file.write_text(json.dumps({"hypotheses": ideas} | more, ensure_ascii=False), encoding="utf-8")
    return file


def derived(record: Record, kind: str) -> list[Node]:
    return [said for said in of(record, kind).values() if "wasDerivedFrom" in said]


def test_a_region_that_no_family_finds_is_tested_and_told(tmp_path: Path) -> None:
    options = places(tmp_path)
    without = asked(options)
    fates = [said["status"][0] for said in of(without, "Hypothesis").values()]
    assert not any(fate.endswith("Supported") for fate in fates)
    result = kgreason.investigate(
        options.pop("data"), **options, hypotheses=given(tmp_path, IDEA, proposer="Ada")
    )
    record = result.record
    assert audit(record).ok, str(audit(record))
    (one,) = derived(record, "Hypothesis")
    assert one["statement"] == [IDEA["statement"]]
    assert one["mechanism"] == [IDEA["mechanism"]]
    # Whoever gave it may have seen all data, and a pattern has no code length that it could pay.
    assert one["paid"] == ["false"]
    assert one["status"][0].endswith("Inconclusive")
    assert float(one["confidence"][0]) > 0.8
    assert one["wasAttributedTo"] == ["urn:kgreason:agent:named:Ada"]
    (suggestion,) = of(record, "Suggestion").values()
    assert suggestion["wasAttributedTo"] == ["urn:kgreason:agent:named:Ada"]
    assert suggestion["blinded"] == ["false"]
    others = [h for h in of(record, "Hypothesis").values() if "wasDerivedFrom" not in h]
    assert {who for h in others for who in h["wasAttributedTo"]} <= {
        ENGINE.iri.value,
        "urn:kgreason:agent:families",
    }
    assert IDEA["statement"] in result.markdown()


def test_the_region_told_gives_its_nodes_on_the_data(tmp_path: Path) -> None:
    options = places(tmp_path)
    record = asked(options, hypotheses=given(tmp_path, IDEA))
    (one,) = derived(record, "Hypothesis")
    store = ox.Store()
    for file in sorted((tmp_path / "data").iterdir()):
        store.bulk_load(
            path=str(file), format=ox.RdfFormat.TURTLE, to_graph=ox.NamedNode("urn:" + file.name)
        )
    found = store.query(one["region"][0])
    assert isinstance(found, ox.QuerySolutions)
    assert len(list(found)) == int(one["inside"][0])


@pytest.mark.slow
def test_a_run_goes_on_and_is_repeated_without_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = places(tmp_path) | {"ledger": tmp_path / "ledger"}
    file = given(tmp_path, IDEA)
    steps: list[ox.NamedNode] = []

    def stop(_: Record, step: ox.NamedNode) -> None:
        steps.append(step)
        if len(steps) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        kgreason.investigate(options.pop("data"), **options, hypotheses=file, told=stop)
    file.unlink()

    def asked_again(*_: Any) -> None:
        raise AssertionError("the file was asked for again")

    monkeypatch.setattr(suggestions, "read_suggestions", asked_again)
    result = kgreason.resume(tmp_path / "ledger")
    assert derived(result.record, "Hypothesis")[0]["status"][0].endswith("Inconclusive")
    assert audit(result.record).ok
    result.close()
    monkeypatch.setattr(suggestions.Scripted, "propose", asked_again)
    monkeypatch.setattr(suggestions, "evaluated", asked_again)
    again = replay(tmp_path / "ledger")
    assert again.same, (again.recorded[:3], again.replayed[:3])


@pytest.mark.parametrize("pattern", ["?focus a <urn:none>", "?focus a ?class"])
def test_nobody_and_everybody_are_dropped_by_a_filter(tmp_path: Path, pattern: str) -> None:
    idea = {"statement": "Some fail.", "region": pattern}
    record = asked(places(tmp_path), hypotheses=given(tmp_path, idea))
    assert not derived(record, "Hypothesis")
    first = next(c for c in derived(record, "Candidate") if c["round"] == ["1"])
    assert first["statement"] == ["Some fail."]
    assert of(record, "Filtering")[first["filtering"][0]]["filter"] == ["support"]
    assert audit(record).ok


@pytest.mark.parametrize(
    ("idea", "statement", "family"),
    [
        (
            {"family": "cohort-value", "values": {
                "dimension": "<https://example.org/lab/box>",
                "level": '"4"^^<http://www.w3.org/2001/XMLSchema#integer>'}},
            "Nodes whose box is “4” fail more often than others.", "cohort-value",
        ),
        (
            {"condition": {"path": [{"step": "forward", "along": "<https://example.org/lab/box>"}],
                           "test": "equals",
                           "terms": {"term": '"4"^^<http://www.w3.org/2001/XMLSchema#integer>'}},
             "statement": "Box 4 leaks."},
            "Box 4 leaks.", "condition-cohort",
        ),
    ],
)  # fmt: skip
def test_families_and_conditions_can_be_suggested_too(
    tmp_path: Path, idea: dict[str, Any], statement: str, family: str
) -> None:
    record = asked(places(tmp_path), hypotheses=[idea], principal="Ada")
    (found,) = [c for c in derived(record, "Candidate") if c["round"] == ["1"]]
    assert (found["statement"], found["family"]) == ([statement], [family])
    assert found["wasAttributedTo"] == ["urn:kgreason:agent:named:Ada"]


def suspected(record: Record) -> list[str]:
    """Return what the report says of what was suspected, a sentence for each suggestion."""
    (found,) = (one for one in build(record).sections() if one.name == "suspected")
    return re.findall(r"^- (.*)$", "\n".join(markdown._section(found, 1)), re.MULTILINE)


def test_of_a_factor_the_best_condition_is_tested(tmp_path: Path) -> None:
    nowhere = [{"step": "forward", "along": "<https://example.org/lab/nowhere>"}]
    ideas: list[Any] = [{"factor": "<https://example.org/lab/box>"}, {"factor": nowhere}]
    record = asked(places(tmp_path), hypotheses=ideas, principal="Ada")
    (found,) = [c for c in derived(record, "Candidate") if c["round"] == ["1"]]
    assert "box" in found["statement"][0]
    assert found["wasAttributedTo"] == ["urn:kgreason:agent:named:Ada"]
    told = suspected(record)
    assert told[0].startswith("Of “box” this tells most: Nodes whose box")
    assert "not tested: too few failing nodes" in told[0]
    assert "% of these samples fail, of the others" in told[0]
    assert told[1].endswith("No condition on it goes with the failures.")
    assert audit(record).ok


def test_a_factor_that_goes_with_the_failures_is_borne_out(tmp_path: Path) -> None:
    rows = [sample(n, f"e:box {n % 9}", fails=n % 9 == 4 and n % 50 > 0) for n in range(480)]
    options = {"calibration": "none", "policy": "frame"} | written(tmp_path, rows)
    record = asked(options, hypotheses=[{"factor": "<https://example.org/lab/box>"}])
    (told,) = suspected(record)
    assert "Of “box” this tells most: Nodes whose box is “4”" in told
    assert "the tests bear it out" in told.lower()


HOSTILE: Final = [
    ("?focus a e:Sample } ; INSERT { ?a ?b ?c", "does not parse"),
    ("INSERT DATA { <urn:a> <urn:b> <urn:c> }", "does not parse"),
    ("?focus a e:Sample } VALUES ?focus { e:s1", "brackets of the pattern do not match"),
    ("?focus a e:Sample . SERVICE <http://127.0.0.1:9/> { ?focus ?p ?o }", "SERVICE is off"),
    ("?node a e:Sample", "does not use ?focus"),
    ("{ SELECT ?other WHERE { ?focus a ?other } }", "solutions without ?focus"),
    ("{ ?focus a e:Sample } UNION { ?x a e:Sample }", "solutions without ?focus"),
    ("?focus nope:p 1", "Prefix not found"),
    ("GRAPH <urn:x-kgreason:work:marks> { ?focus ?p ?o }", "holds who fails"),
    ("?focus a e:Sample . ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l FILTER (?c < ?l && ?f > ?i)",
     "stopped after 1 s"),
    ("?focus a e:Sample . " + "{" * 3000, "cannot be read"),
    ("", "does not use ?focus"),
]  # fmt: skip


@pytest.mark.parametrize(("pattern", "said"), HOSTILE, ids=[said for _, said in HOSTILE])
def test_a_pattern_that_cannot_be_used_is_refused_and_nothing_written(
    tmp_path: Path, pattern: str, said: str
) -> None:
    options = places(tmp_path)
    idea = {"statement": "They fail.", "region": {"pattern": pattern, "prefixes": PREFIX}}
    ran = run(
        "investigate", options["data"], "--shapes", options["shapes"],
        "--hypothesis", given(tmp_path, IDEA, idea), "--ledger", tmp_path / "ledger",
        "--query-seconds", "1",
    )  # fmt: skip
    assert ran.code == 2, ran.err
    assert said in ran.err
    assert "ideas.json, hypothesis 2" in ran.err
    assert not (tmp_path / "ledger").exists()


@pytest.mark.parametrize(
    ("pattern", "nodes"),
    [
        # An inner ?focus of its own is another variable.
        ("?focus e:box 4 . { SELECT ?x WHERE { ?focus e:box ?x } LIMIT 1 }", 53),
        ("{ SELECT (?größe AS ?focus) WHERE { ?größe e:box 4 } }", 53),
        ("?focus a [ ] ; e:box _:b . FILTER EXISTS { ?focus e:box 4 }", 53),
        ("GRAPH ?g { ?focus ?p ?o FILTER (CONTAINS(STR(?p), 'fails')) } # not seen", 0),
        ("GRAPH ?g { ?focus e:box 4 } FILTER (STRENDS(STR(?g), 'feed-1.ttl'))", 53),
    ],
)
def test_a_pattern_means_what_it_says(tmp_path: Path, pattern: str, nodes: int) -> None:
    idea = {"statement": "Größe „x“ | <b>.", "region": {"pattern": pattern, "prefixes": PREFIX}}
    record = asked(places(tmp_path), hypotheses=[idea])
    first = next(c for c in derived(record, "Candidate") if c["round"] == ["1"])
    found = int(first["discoveryInside"][0])
    assert (found > 0) == (nodes > 0)
    assert found <= nodes
    assert audit(record).ok


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "line 1, column 2"),
        ("[]", "at least one hypothesis"),
        ("[1]", "hypothesis 1: it is no object"),
        ('{"ideas": []}', "`hypotheses`"),
        ('[{"statement": "x"}]', "hypothesis 1: give one of `region`"),
        ('[{"statement": "x", "regoin": "?focus a ?b"}]', "no key 'regoin'"),
        ('[{"region": "?focus a ?b"}]', "needs a `statement`"),
        ('[{"statement": " ", "region": "?focus a ?b"}]', "`statement` is a text"),
        ('[{"statement": "x", "family": "nope"}]', "no family 'nope'"),
        ('[{"family": "cohort-value", "values": {"level": "4"}}]', "level is no term: '4'"),
        ('[{"family": "cohort-value", "values": {"level": "\\"4\\""}}]', "lack 'dimension'"),
        ('[{"condition": {"test": "nope", "path": []}}]', "There is no test 'nope'"),
        ('[{"factor": []}]', "`factor` is a property"),
        ('[{"factor": "box"}]', "'box' is no term"),
        ('[{"factor": "<urn:p>", "region": "?focus a ?b"}]', "give one of `region`"),
        ('[{"statement": "x", "symptom": "nope", "region": "?focus a ?b"}]', "called 'nope'"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_with_the_place(
    tmp_path: Path, text: str, said: str
) -> None:
    options = places(tmp_path)
    file = tmp_path / "ideas.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(KgreasonError, match=r"ideas\.json") as raised:
        asked(options, hypotheses=file, ledger=tmp_path / "ledger")
    assert said in str(raised.value)
    assert not (tmp_path / "ledger").exists()


def test_a_suggestion_is_put_to_its_symptom_alone(tmp_path: Path) -> None:
    record = asked(
        places(tmp_path), hypotheses=[IDEA | {"symptom": "https://example.org/lab/mass"}]
    )
    assert len(derived(record, "Hypothesis")) == 1
    assert record.store.values(
        ox.NamedNode(f"{record.iri.value}:suggestion:1"), TRAILS.symptomName, record.iri
    )


def test_the_report_says_who_suggested_what_and_what_became_of_it(tmp_path: Path) -> None:
    nobody = {"statement": "Nobody | fails.", "region": "?focus a <urn:none>"}
    options = places(tmp_path)
    ideas = given(tmp_path, IDEA, nobody, proposer="Ada")
    told = kgreason.investigate(options.pop("data"), **options, hypotheses=ideas).markdown()
    table = told.partition("# Hypotheses that were suggested")[2]
    assert f"| {IDEA['statement']} | Ada | MinCount of mass in Shape | H1, inconclusive |" in table
    assert "| Nobody \\| fails. | Ada | MinCount of mass in Shape | not tested: " in table
    assert "Ada, who may have seen the held-out half as well" in told
    assert "try it on data that were not there when it was made" in told


def boxes(folder: Path) -> dict[str, Any]:
    """Write samples that mostly fail in one of nine boxes."""
    draw, rows = random.Random(7), []
    names = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight")
    for n in range(480):
        fails = draw.random() < (0.9 if n % 9 == 4 else 0.03)
        rows.append(sample(n, f'e:box "box{names[n % 9]}"', fails=fails))
    return {"calibration": "none", "policy": "code"} | written(folder, rows)


@pytest.mark.parametrize(
    ("test", "terms", "paid"),
    [("equals", {"term": '"boxfour"'}, "true"), ("contains", {"text": '"oxfou"'}, "false")],
)
def test_a_condition_from_outside_pays_its_code_length(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, test: str, terms: dict[str, str], paid: str
) -> None:
    """Both hold the same nodes; five letters that are no word are nothing that could be said."""
    path = [{"step": "forward", "along": "<https://example.org/lab/box>"}]
    condition = {"path": path, "test": test, "terms": terms}
    # Neither a family nor the search finds it too, so that it is judged by itself.
    monkeypatch.setattr(Families, "propose", lambda *_: iter(()))
    monkeypatch.setattr(ConditionSearch, "propose", lambda *_: iter(()))
    ideas = [{"condition": condition, "statement": "Box 4."}]
    record = asked(boxes(tmp_path), hypotheses=ideas)
    one = derived(record, "Hypothesis")[0]
    assert one["paid"] == [paid]
    assert one["status"][0].endswith("Supported") == (paid == "true")
    assert audit(record).ok, str(audit(record))


BOX: Final = "Nodes whose box is “boxfour” fail."


def test_what_a_person_suggests_is_told_beside_what_the_engine_finds(tmp_path: Path) -> None:
    """A pattern has no code length to pay: at equal nodes another stands, and names her."""
    idea = {"statement": "Box 4 leaks.", "region": '?focus <https://example.org/lab/box> "boxfour"'}
    given_ = boxes(tmp_path)
    result = kgreason.investigate(given_.pop("data"), **given_, hypotheses=[idea], principal="Ada")
    (symptom,) = result.symptoms
    leading = symptom.hypotheses[0]
    assert (leading.statement, leading.status) == (BOX, "supported")
    assert leading.proposers == ("Ada", "families of kgreason")
    told = result.markdown()
    assert (
        "| Box 4 leaks. | Ada | MinCount of mass in Shape | the same nodes as H1, supported |"
        in told
    )
    assert "- **The same nodes were suggested by:** Ada: “Box 4 leaks.”" in told
    assert audit(result.record).ok, str(audit(result.record))


def test_a_condition_of_a_person_is_kept_in_her_words(tmp_path: Path) -> None:
    path = [{"step": "forward", "along": "<https://example.org/lab/box>"}]
    condition = {"path": path, "test": "equals", "terms": {"term": '"boxfour"'}}
    ideas = [{"condition": condition, "statement": "Box 4 leaks."}]
    record = asked(boxes(tmp_path), hypotheses=ideas, principal="Ada")
    (one,) = derived(record, "Hypothesis")
    assert one["statement"] == ["Box 4 leaks."]
    assert one["status"][0].endswith("Supported")
    assert BOX not in {h["statement"][0] for h in of(record, "Hypothesis").values()}
    assert audit(record).ok, str(audit(record))


def test_the_page_on_hypotheses_and_the_schema_say_what_is_read(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "hypotheses.md").read_text(encoding="utf-8")
    block = page.partition("```json\n")[2].partition("```")[0]
    schema = json.loads((ROOT / "docs" / "hypotheses.schema.json").read_text(encoding="utf-8"))
    checker = jsonschema.Draft202012Validator(schema)
    ideas = json.loads(block)
    assert checker.is_valid(ideas)
    (tmp_path / "ideas.json").write_text(block, encoding="utf-8")
    record = asked(places(tmp_path), hypotheses=tmp_path / "ideas.json")
    assert derived(record, "Hypothesis")[0]["status"][0].endswith("Inconclusive")
    keys = set(schema["$defs"]["hypothesis"]["properties"])
    assert keys == set(suggestions.KEYS)
    wrong: list[Any] = [[], [{"statement": "x"}], [{"region": "?focus a ?b"}], {"hypotheses": []}]
    assert not any(checker.is_valid(bad) for bad in wrong)
