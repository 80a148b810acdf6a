"""The report, section by section, on a small record written by hand (cases/report/ledger.ttl).

Each section has a folder in cases/report with what it writes: `expected.md`.
"""

import re
from html.parser import HTMLParser
from pathlib import Path

import pyoxigraph as ox
import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from kgreason.base.errors import TemplateError
from kgreason.base.store import check_query
from kgreason.base.templates import Template, parse, role, template
from kgreason.record import Record
from kgreason.report import cells, chart, html, markdown, turtle
from kgreason.report.document import Document, Section, build
from kgreason.report.layouts import LAYOUTS, Point, Series
from kgreason.report.summary import answer
from tests.report_support import ATTACK, CASE, CASES, TRAILS, Page, case

SECTIONS = list(role("report"))


@pytest.fixture(scope="module")
def record() -> Record:
    return case()


@pytest.fixture(scope="module")
def document(record: Record) -> Document:
    return build(record)


@pytest.fixture(scope="module")
def page(document: Document, record: Record) -> str:
    return html.write(document, answer(record))


@pytest.fixture(scope="module")
def text(document: Document) -> str:
    return markdown.write(document)


def written(sections: list[Section]) -> str:
    parts = []
    for section in sections:
        if section.content.heading is not None:
            heading = section.content.heading
            parts.append(f"{heading.text} / {heading.badge} / {heading.sentence}")
        else:
            parts += markdown._section(section, 1)
    return re.sub(r"\n*<!-- .* -->", "", "\n\n".join(parts)) + "\n"


@pytest.mark.parametrize("name", SECTIONS)
def test_section_writes_what_its_case_expects(document: Document, name: str) -> None:
    own = [section for section in document.sections() if section.name == name]
    expected = CASES / name / "expected.md"
    assert expected.is_file(), f"{expected} is missing; a section comes with a case"
    assert written(own) == expected.read_text(encoding="utf-8")


def test_every_case_has_a_section() -> None:
    assert sorted(p.parent.name for p in CASES.glob("*/expected.md")) == sorted(SECTIONS)


@pytest.mark.parametrize("name", SECTIONS)
def test_section_header_fits_its_query(name: str) -> None:
    section = template("report", name)
    assert {"title", "order", "layout", "reads"} <= set(section.header)
    assert section.header["layout"] in LAYOUTS
    assert set(section.parameters) <= {
        "investigation",
        "symptom",
        "hypothesis",
        "naming",
        "looking",
        "nearest",
        "leading",
        "numbered",
        "told",
        "ranked",
    }
    body = section.sections["main"]
    for look in ("bars", "shares", "badges"):
        for column in section.header.get(look, "").split():
            assert re.search(rf"\?{column}\b", body), f"{look} names ?{column}"


def test_orders_are_unique() -> None:
    orders = [template("report", name).header["order"] for name in SECTIONS]
    assert len(orders) == len(set(orders))


def test_sections_are_in_order_and_told_once(document: Document) -> None:
    first, *symptoms, last = document.blocks
    assert [s.name for s in first.sections] == [
        "question", "provisional", "suspected", "figures", "joint-explanation", "plan-steps",
        "division", "parts", "key-findings", "judged-together", "dependencies", "symptoms",
        "same-nodes",
    ]  # fmt: skip
    assert [b.heading.text for b in symptoms if b.heading] == [
        "Part-weight", "Part-maker", "Pattern of code", "Part-label", "Part-price",
    ]  # fmt: skip
    assert [s.name for s in last.sections] == [
        "at-the-endpoint", "not-tried", "memory", "suggestions", "judgements", "disagreements",
        "methodology", "tests", "notices",
    ]  # fmt: skip
    told = [b.heading.text for s in symptoms for b in s.blocks if b.level == "hypothesis"
            and b.heading]  # fmt: skip
    assert [t.split(" ")[0] for t in told] == ["C1:", "C1:", "Closest,"]


def test_one_cause_of_two_symptoms_is_told_once(document: Document) -> None:
    findings = next(s for s in document.sections() if s.name == "key-findings")
    causes = [i.sentence for i in findings.content.items if "one cause of 2 symptoms" in i.sentence]
    assert len(causes) == 1
    assert "This accounts for 30 of the 32 failures of “Part-weight”, “Part-maker”" in causes[0]


def test_every_claim_cites_nodes(document: Document) -> None:
    claims = [s for s in document.sections() if s.template.header.get("cited") == "yes"]
    assert {s.name for s in claims} == {"key-findings", "leading-cause", "no-cause"}
    assert all(item.citations for s in claims for item in s.content.items)


def test_a_claim_without_a_citation_is_refused() -> None:
    bare = case()
    bare.store.update(
        f"DELETE WHERE {{ GRAPH {CASE} {{ <{CASE.value}:evidence:1> <{TRAILS}cites> ?any }} }}"
    )
    document = build(bare)
    sentence = "18 of the 20 failing nodes lie in this region"
    assert not any(
        sentence in item.sentence for s in document.sections() for item in s.content.items
    )
    assert any("refused" in n and sentence in n for n in document.notices)
    assert sentence in markdown.write(document).partition("Left out of this report")[2]
    assert sentence in html.write(document, answer(bare)).partition("Left out of this report")[2]


def test_a_query_that_does_not_parse_is_left_out_with_a_notice(document: Document) -> None:
    offered = [c for s in document.sections() for c in s.content.checks]
    for check in offered:
        check_query(check.query, check.question)
    assert len(offered) == 4 + 3 + 3 + 3
    assert sum("could not be offered" in notice for notice in document.notices) == 3


def test_sections_can_be_made_again(record: Record, document: Document) -> None:
    assert all(section.still_holds(record) for section in document.sections())


def test_digest_tells_a_record_that_has_changed(document: Document) -> None:
    other = case()
    other.store.update(
        f"DELETE DATA {{ GRAPH {CASE} {{ <{CASE.value}:evidence:3> <{TRAILS}strength> 0.8 }} }} ;"
        f"INSERT DATA {{ GRAPH {CASE} {{ <{CASE.value}:evidence:3> <{TRAILS}strength> 0.7 }} }}"
    )
    changed = {s.name for s in document.sections() if not s.still_holds(other)}
    assert changed == set()  # a refuted rival's strength is not told ...
    other.store.update(
        f"DELETE DATA {{ GRAPH {CASE} {{ <{CASE.value}:evidence:1> <{TRAILS}strength> 0.9 }} }} ;"
        f"INSERT DATA {{ GRAPH {CASE} {{ <{CASE.value}:evidence:1> <{TRAILS}strength> 0.7 }} }}"
    )
    changed = {s.name for s in document.sections() if not s.still_holds(other)}
    assert changed == {"evidence-for"}  # ... that of a cause is


def test_a_new_section_is_one_file(
    record: Record, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    added = with_section(tmp_path, "table", "SELECT ?symptom ?failing")
    monkeypatch.setattr("kgreason.report.document.role", lambda _: added)
    assert "## Worst first\n\n| Symptom | Failing |" in markdown.render(record)
    page = Page(html.render(record))
    assert "Worst first" in page.words


@pytest.mark.parametrize(
    ("layout", "param", "message"),
    [("pie", "", "takes one of heading, sentence"), ("table", "weather", "no 'weather'")],
)
def test_a_section_that_asks_for_the_impossible_is_named(
    record: Record, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    layout: str, param: str, message: str,
) -> None:  # fmt: skip
    def section(_: str) -> dict[str, Template]:
        return with_section(tmp_path, layout, "SELECT ?symptom ?failing", param)

    monkeypatch.setattr("kgreason.report.document.role", section)
    with pytest.raises(TemplateError, match=message) as error:
        build(record)
    assert "added.rq" in str(error.value)


def with_section(folder: Path, layout: str, head: str, param: str = "") -> dict[str, Template]:
    path = folder / "added.rq"
    extra = f"#+ param {param}: iri, whatever\n" if param else ""
    path.write_text(
        f"#+ summary: s\n#+ title: Worst first\n#+ order: 26\n#+ layout: {layout}\n"
        f"#+ param investigation: iri, the investigation\n{extra}"
        f"PREFIX trails: <{TRAILS}>\n{head} WHERE {{\n  GRAPH {{{{ investigation }}}} "
        f"{{ ?symptom trails:failing ?failing . }}\n}} ORDER BY DESC(?failing)\n",
        encoding="utf-8",
    )
    return {**role("report"), "added": parse(path, "report")}


# What the page and the text look like to a machine that reads them.


def test_page_has_no_scripts_and_needs_nothing_else(page: str) -> None:
    seen = Page(page)
    assert not {tag for tag, _ in seen.tags} & {"script", "img", "link", "iframe", "object"}
    for tag, attributes in seen.tags:
        assert not [name for name in attributes if name.startswith("on") or name == "src"], tag
        if "href" in attributes:
            assert re.match(r"https?://|#", attributes["href"]), attributes["href"]
    assert not re.search(r"@import|url\(|javascript:alert\(1\)\"", page)
    policy = [a["content"] for t, a in seen.tags if t == "meta" and "http-equiv" in a]
    assert policy == ["default-src 'none'; style-src 'unsafe-inline'"]


def test_page_shows_hostile_text_as_text(page: str) -> None:
    words = " ".join(Page(page).words)
    assert words.count(ATTACK) >= 4
    assert "onerror=alert(1)" in words
    assert "<img" in words
    assert ATTACK not in page
    assert "javascript:alert(1)" in words


def test_page_links_to_its_own_anchors(page: str) -> None:
    seen = Page(page)
    wanted = {a["href"][1:] for _, a in seen.tags if a.get("href", "").startswith("#")}
    known = [a["id"] for _, a in seen.tags if "id" in a]
    assert wanted
    assert wanted <= set(known)
    assert len(known) == len(set(known))


def test_page_is_well_formed(page: str) -> None:
    void = {"meta", "br", "hr"}
    opened: list[str] = []

    class Balance(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            del attrs
            if tag not in void:
                opened.append(tag)

        def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            del tag, attrs

        def handle_endtag(self, tag: str) -> None:
            assert opened
            assert opened.pop() == tag

    Balance().feed(page)
    assert opened == []


def test_chart_draws_a_line_for_each_rival(page: str) -> None:
    seen = Page(page)
    lines = [a["points"] for tag, a in seen.tags if tag == "polyline"]
    assert len(lines) == 3 + 2  # the frame of the first symptom, that of the second
    for line in lines:
        for point in line.split():
            x, y = (float(part) for part in point.split(","))
            assert 0 <= x <= chart.WIDTH
            assert 0 <= y <= chart.HEIGHT


def test_text_is_read_as_it_is_meant(text: str) -> None:
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    raw = [t for t in tokens if t.type == "html_block"]
    raw += [c for t in tokens for c in t.children or [] if c.type == "html_inline"]
    assert raw
    assert all(re.fullmatch(r"<!-- report/[a-z-]+ sha256=[0-9a-f]{64} -->\n?", t.content)
               for t in raw)  # fmt: skip
    shown = "".join(c.content for t in tokens for c in t.children or [] if c.type == "text")
    assert shown.count(ATTACK) >= 4
    assert "# not a heading" in shown
    links = [c.attrs["href"] for t in tokens for c in t.children or [] if c.type == "link_open"]
    assert links
    assert all(str(link).startswith("http") for link in links)


def test_tables_of_the_text_are_whole(text: str) -> None:
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    width = rows = cells_seen = 0
    for token in tokens:
        if token.type == "table_open":
            width = 0
        elif token.type == "tr_open":
            cells_seen = 0
        elif token.type in {"td_open", "th_open"}:
            cells_seen += 1
        elif token.type == "thead_close":
            width = cells_seen
        elif token.type == "tr_close" and width:
            rows += 1
            assert cells_seen == width
    assert rows > 20


@given(st.text(max_size=60))
def test_escaped_text_means_itself(text: str) -> None:
    cleaned = cells.clean(text)
    tokens = (
        MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(markdown.escape(cleaned))
    )
    kinds = {c.type for t in tokens for c in t.children or []} | {t.type for t in tokens}
    assert kinds <= {"paragraph_open", "inline", "paragraph_close", "text", "text_special"}
    assert "".join(t.content for t in tokens if t.children for t in t.children) == cleaned


def test_a_fence_is_longer_than_any_in_the_query() -> None:
    content = next(s.content for s in build(case()).sections() if s.name == "open-checks")
    hostile = type(content)(checks=(type(content.checks[0])("q", "SELECT ?x # ```` \n{ }"),))
    made = markdown._checks(hostile)
    assert made.count("`````") == 2
    assert MarkdownIt().parse(made)[-1].type == "fence"


# Records that are not as usual.


def test_report_without_failing_symptoms() -> None:
    sound = case()
    sound.store.update(
        f"DELETE {{ GRAPH {CASE} {{ ?s ?p ?o }} }} WHERE {{ GRAPH {CASE} {{ ?s ?p ?o . "
        'FILTER (REGEX(STR(?s), ":(symptom:[1-5]|hypothesis|verdict|joint|frame|test|evidence)"))'
        " } }"
    )
    text = markdown.render(sound)
    assert "No focus node fails: there is nothing to explain." in text
    assert "## What is broken" not in text
    assert "At a glance" not in text
    assert "nothing to explain" in " ".join(Page(html.render(sound)).words)


def test_report_of_an_unfinished_investigation() -> None:
    running = case()
    running.store.update(
        f"PREFIX t: <{TRAILS}> DELETE {{ GRAPH {CASE} {{ ?s ?p ?o }} }} WHERE {{ GRAPH {CASE} {{ "
        "?s ?p ?o . FILTER EXISTS { { ?s a t:Verdict } UNION { ?s t:phase t:Finish } UNION "
        "{ ?s t:phase t:Conclude } UNION { ?s a t:JointExplanation } } } } ; "
        f"DELETE DATA {{ GRAPH {CASE} {{ {CASE} <{TRAILS}state> <{TRAILS}Finished> }} }} ; "
        f"INSERT DATA {{ GRAPH {CASE} {{ {CASE} <{TRAILS}state> <{TRAILS}Running> }} }}"
    )
    text = markdown.render(running)
    assert "The investigation is not finished; it can be resumed." in text
    assert "5 are left inconclusive" in text
    assert "inconclusive" in html.render(running)


def test_turtle_gives_the_record_back(record: Record) -> None:
    made = turtle.render(record)
    parsed = {str(q.triple) for q in ox.parse(made, format=ox.RdfFormat.TURTLE)}
    assert parsed == {str(q.triple) for q in record.store.quads(CASE)}
    assert made == turtle.render(record)
    assert "this:hypothesis:1 a " in made
    assert "@prefix schema:" not in made


# Cells.


@pytest.mark.parametrize(
    ("given_", "shown"),
    [
        ("1234567", "1,234,567"), ("0.5", "0.5"), ("0.97619", "0.976"), ("0.99999", "> 0.999"),
        ("0.0001", "< 0.001"), ("0", "0"), ("1.0", "1"), ("0.100", "0.1"), ("-3.5", "-3.5"),
        ("120.55", "120.5"), ("10000000000", "10,000,000,000"), ("abc", "abc"),
    ],
)  # fmt: skip
def test_numbers_are_written_as_people_read_them(given_: str, shown: str) -> None:
    assert cells.number(given_) == shown


@pytest.mark.parametrize(
    ("share", "shown"),
    [(0.0, "0 %"), (1.0, "100 %"), (0.9999, "> 99.9 %"), (0.0004, "< 0.1 %"), (0.123, "12.3 %")],
)
def test_shares_are_not_rounded_to_all_or_nothing(share: float, shown: str) -> None:
    assert cells.percent(share) == shown


@pytest.mark.parametrize(
    ("iri", "shown", "link"),
    [
        ("http://www.w3.org/ns/shacl#Violation", "sh:Violation", True),
        ("https://example.org/a/b", "b", True),
        ("https://example.org/a/", "a", True),
        ("urn:src:feed.ttl", "urn:src:feed.ttl", False),
        ("javascript:alert(1)", "javascript:alert(1)", False),
        ("urn:kgreason:blank:b0", "_:b0", False),
        ("data:text/html,x", "html,x", False),
    ],
)
def test_only_web_addresses_are_linked(iri: str, shown: str, *, link: bool) -> None:
    made = cells.cell(ox.NamedNode(iri))
    assert made.text == shown
    assert (made.link == iri) is link
    assert (made.link is None) is not link


@pytest.mark.parametrize("iri", ['a"b', "a b", "<script>", "{|}", "x'y", "x\\y"])
def test_addresses_that_lenient_reading_lets_in_are_not_linked(iri: str) -> None:
    coded = "".join(c if c.isalnum() else f"\\u{ord(c):04X}" for c in iri)
    line = f"<https://example.org/{coded}> <urn:p> <urn:o> ."
    quad = next(iter(ox.parse(line, format=ox.RdfFormat.N_TRIPLES, lenient=True)))
    assert isinstance(quad.subject, ox.NamedNode)
    assert quad.subject.value == f"https://example.org/{iri}"
    assert cells.cell(quad.subject).link is None


def test_text_is_cut_and_cleaned() -> None:
    long = cells.clean("x" * 1_000_000)
    assert len(long) < 400
    assert "1,000,000 characters" in long
    assert cells.clean("a\n\tb\x00c\u202ed") == "a b\ufffdc\ufffdd"


def test_sparks_and_course_follow_the_values() -> None:
    line = Series("n", "leading", (Point(0, 0.0, ""), Point(1, 0.5, ""), Point(2, 1.0, "")))
    assert chart.sparks(line) == "▁▅█"
    assert chart.course(line) == "0 → 1"
    drawn = chart.draw([line], 0.8)
    heights = [mark.y for mark in drawn.lines[0].marks]
    assert heights == sorted(heights, reverse=True)
    assert drawn.threshold is not None
    assert heights[2] < drawn.threshold[0] < heights[1]
