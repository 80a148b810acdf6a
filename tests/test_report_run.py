"""The report of real runs: the engine's own record, hostile data, budgets, and nothing wrong."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from markdown_it import MarkdownIt

import kgreason
from kgreason.audit import audit
from kgreason.graph import Graph
from kgreason.observe import opening
from kgreason.observe.request import request_of
from kgreason.report import questions as history
from kgreason.report.document import Document, build
from kgreason.report.result import Result
from tests.lifetime_support import asked, interrupted, timeless
from tests.report_support import ATTACK, Page
from tests.test_report_result import SCHEMA

ORIGIN = "</script><b>|`x`*y*[z](javascript:w)<!--{{7}}"
"""What breaks out of HTML, Markdown and templates; short, since statements cut long values."""

PREFIXES = """@prefix ex: <https://example.org/> .
@prefix sh: <http://www.w3.org/ns/shacl#> .
"""
SHAPES = f"""{PREFIXES}
ex:PriceShape a sh:PropertyShape ; sh:targetClass ex:Part ; sh:path ex:price ; sh:minCount 1 ;
    sh:message "Every part | has a `price` {ATTACK}." .
ex:NameShape a sh:PropertyShape ; sh:targetClass ex:Part ; sh:path ex:name ; sh:minCount 1 .
"""


def write_data(folder: Path, *, sound: bool = False) -> Path:
    """Write 240 parts in four feeds; those of one origin mostly lack a price."""
    folder.mkdir()
    for feed in range(4):
        lines = [PREFIXES]
        for i in range(60):
            number = feed * 60 + i
            hostile = i % 3 == 0
            origin = ORIGIN if hostile else f"origin {number % 4}"
            priced = sound or (number % 10 == 0 if hostile else number % 41 != 0)
            price = ' ; ex:price "9.50"' if priced else ""
            name = "" if number % 60 == 7 and not sound else ' ; ex:name "n"'
            lines.append(f'ex:p{number} a ex:Part ; ex:origin "{origin}"{price}{name} .\n')
        (folder / f"feed{feed}.ttl").write_text("".join(lines), encoding="utf-8")
    return folder


@dataclass(frozen=True)
class Run:
    """A finished run with the graph it was about."""

    result: Result
    graph: Graph
    document: Document


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    folder = tmp_path_factory.mktemp("hostile")
    shapes = folder / "shapes.ttl"
    shapes.write_text(SHAPES, encoding="utf-8")
    data = write_data(folder / "data")
    graph = opening.load_graph(request_of(str(data), shapes=str(shapes)))
    with kgreason.investigate(data, shapes=shapes, question=f"Why {ATTACK}?") as result:
        yield Run(result, graph, build(result.record))


def test_result_is_valid_and_names_the_cause(run: Run) -> None:
    found = run.result.as_dict()
    Draft202012Validator(SCHEMA).validate(found)
    price, name = found["symptoms"]
    assert price["shape"] == "https://example.org/PriceShape"
    assert price["verdict"] == "explained"
    assert price["hypotheses"][0]["kind"] == "cohort"
    assert ORIGIN in price["hypotheses"][0]["statement"]
    assert name["failing"] == 4
    assert [c["symptoms"] for c in found["causes"]] == [[price["id"]]]
    for symptom in found["symptoms"]:
        ranks = [h["rank"] for h in symptom["hypotheses"]]
        assert ranks == list(range(1, len(ranks) + 1))
        assert [h["kind"] for h in symptom["hypotheses"]].count("none") == 1


def test_regions_and_counts_are_those_of_the_data(run: Run) -> None:
    for symptom in run.result.as_dict()["symptoms"]:
        for hypothesis in symptom["hypotheses"]:
            if hypothesis["region"] is not None and hypothesis["status"] == "supported":
                nodes = run.graph.store.select(hypothesis["region"])
                assert len(nodes) == hypothesis["inside"]["population"]


def test_next_checks_run_and_give_what_they_promise(run: Run) -> None:
    price = run.result.as_dict()["symptoms"][0]
    inside = price["hypotheses"][0]["inside"]
    counts: dict[str, list[int]] = {}
    for section in run.document.sections():
        for check in section.content.checks:
            counts.setdefault(section.name, []).append(len(run.graph.store.select(check.query)))
    claimed, passing, left = counts["next-checks"][:3]
    assert claimed == inside["failing"]
    assert passing == inside["population"] - inside["failing"]
    assert left == price["failing"] - inside["failing"]
    assert counts["open-checks"][0] == 4  # the nodes without a name
    assert 3 <= len(counts["next-checks"]) <= 5


def test_every_claim_of_a_run_cites_nodes(run: Run) -> None:
    assert run.document.notices == []
    claims = [s for s in run.document.sections() if s.template.header.get("cited") == "yes"]
    cited = [item for section in claims for item in section.content.items]
    assert len(cited) >= 4
    assert all(item.citations for item in cited)


def test_run_can_be_told_again(run: Run) -> None:
    assert all(section.still_holds(run.result.record) for section in run.document.sections())
    assert run.result.html() == run.result.html()
    assert run.result.markdown() == run.result.markdown()


def test_page_of_hostile_data(run: Run) -> None:
    page = run.result.html()
    seen = Page(page)
    assert not {tag for tag, _ in seen.tags} & {"script", "img", "iframe", "object", "link"}
    assert not [n for _, a in seen.tags for n in a if n.startswith("on")]
    words = " ".join(seen.words)
    assert f"Why {ATTACK}?" in words
    assert ORIGIN in words
    links = [a["href"] for _, a in seen.tags if "href" in a]
    assert [a for _, a in seen.tags if a.get("title", "").startswith("https://example.org/p")]
    assert not [link for link in links if link.startswith("https://example.org/")]
    assert all(link.startswith(("https:", "http:", "#")) for link in links)
    assert seen.words.count(f"Why {ATTACK}?") >= 2  # the title of the page, and of the report


def test_text_of_hostile_data(run: Run) -> None:
    tokens = MarkdownIt("commonmark").enable("table").parse(run.result.markdown())
    raw = [t.content for t in tokens if t.type == "html_block"]
    raw += [c.content for t in tokens for c in t.children or [] if c.type == "html_inline"]
    assert all(re.fullmatch(r"<!-- report/[a-z-]+ sha256=[0-9a-f]{64} -->\n?", r) for r in raw)
    shown = "".join(c.content for t in tokens for c in t.children or [] if c.type == "text")
    assert f"has a `price` {ATTACK}." in shown
    assert ORIGIN in shown
    fences = [t for t in tokens if t.type == "fence"]
    assert len(fences) == sum(len(s.content.checks) for s in run.document.sections())


def test_history_of_a_run(run: Run) -> None:
    record = run.result.record
    for question in history.questions():
        rows = history.ask(record, question.name)
        assert len(rows) or question.name in {
            "what-contradicts",
            "where-did-it-stall",
            "how-was-it-divided",
        }
    chain = history.ask(record, "why-this-confidence", hypothesis="1")
    moved = [r for r in chain if r["rule"].value != "e-process"]
    statuses = history.ask(record, "which-hypotheses", hypothesis="1")
    assert moved[-1]["rule"].value == "record-of-proof"
    assert moved[-1]["after"].value == statuses[0]["confidence"].value


def test_run_cut_by_its_budget(run: Run, tmp_path: Path) -> None:
    del run
    shapes = tmp_path / "shapes.ttl"
    shapes.write_text(SHAPES, encoding="utf-8")
    data = write_data(tmp_path / "data")
    with kgreason.investigate(data, shapes=shapes, max_steps=4) as result:
        found = result.as_dict()
        Draft202012Validator(SCHEMA).validate(found)
        assert found["budget"]["cut"] is not None
        assert {s["verdict"] for s in found["symptoms"]} == {"inconclusive"}
        text = result.markdown()
        words = " ".join(Page(result.html()).words)
    told = text.partition("What was not tried")[2]
    assert found["budget"]["cut"] in told
    assert "NameShape: no hypothesis was proposed" in told
    assert "no result" in told
    assert found["budget"]["cut"] in words


def test_what_a_budget_left_no_room_for_is_said_not_to_be_looked_into(tmp_path: Path) -> None:
    """Nothing was asked of it, so neither its conditions nor the lack of them can be told."""
    shapes = tmp_path / "shapes.ttl"
    shapes.write_text(SHAPES, encoding="utf-8")
    data = write_data(tmp_path / "data")
    with kgreason.investigate(data, shapes=shapes, max_steps=2) as result:
        found = result.as_dict()
        text, turtle = result.markdown(), result.turtle()
        statuses = history.ask(result.record, "which-hypotheses")
        assert audit(result.record).ok
    Draft202012Validator(SCHEMA).validate(found)
    why = "the run stopped after 2 steps"
    for symptom in found["symptoms"]:
        assert symptom["verdict"] == "inconclusive"
        assert symptom["not_examined"] == why
        (none,) = symptom["hypotheses"]
        assert none["statement"] == f"The failures were not looked into: {why}."
        assert none["status"] == "inconclusive"
    assert "No condition sets them apart" not in text
    assert "no systematic cause" not in text.partition("Method")[0]
    assert "No systematic cause" not in text
    assert "No systematic cause" not in turtle
    assert text.count(f"These failures were not looked into: {why}.") == len(found["symptoms"])
    assert {row["status"].value for row in statuses} == {"inconclusive"}


@pytest.mark.parametrize("after", [3, 4, 5, 6])
def test_what_was_set_aside_stays_so_when_the_run_goes_on(tmp_path: Path, after: int) -> None:
    """The budget of the run that was interrupted was spent, whatever is left of it now."""
    shapes = tmp_path / "shapes.ttl"
    shapes.write_text(SHAPES, encoding="utf-8")
    options = {"data": write_data(tmp_path / "data"), "shapes": shapes, "max_steps": 2}
    whole = timeless(asked(options))
    interrupted(options, tmp_path / "ledger", after)
    with kgreason.resume(tmp_path / "ledger") as result:
        assert timeless(result.record) == whole
        assert {s["verdict"] for s in result.as_dict()["symptoms"]} == {"inconclusive"}


def test_what_was_proposed_but_not_tested_is_said_to_be_so(tmp_path: Path) -> None:
    shapes = tmp_path / "shapes.ttl"
    shapes.write_text(SHAPES, encoding="utf-8")
    data = write_data(tmp_path / "data")
    with kgreason.investigate(data, shapes=shapes, max_steps=4) as result:
        found = result.as_dict()
        text = result.markdown()
    assert [s["not_examined"] is None for s in found["symptoms"]] == [True, False]
    assert "No condition sets them apart" not in text
    assert re.search(r"hypothes[ei]s (was|were) proposed, and none was tested", text)


def test_run_on_sound_data(tmp_path: Path) -> None:
    shapes = tmp_path / "shapes.ttl"
    shapes.write_text(SHAPES, encoding="utf-8")
    data = write_data(tmp_path / "data", sound=True)
    with kgreason.investigate(data, shapes=shapes) as result:
        found = result.as_dict()
        Draft202012Validator(SCHEMA).validate(found)
        assert found["symptoms"] == found["causes"] == []
        assert "nothing to explain" in result.markdown()
        assert "nothing to explain" in " ".join(Page(result.html()).words)
        assert "this:step:1" in result.turtle()
