"""The short answer: what is wrong, why, how sure, what to do next; and that its commands work."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from pyoxigraph import Literal, NamedNode

import kgreason
from kgreason.audit import audit
from kgreason.base.templates import role
from kgreason.graph import load
from kgreason.graph.names import Names
from kgreason.report import pictures, summary
from kgreason.report.causes import causes
from kgreason.report.html import leads
from tests.cli_support import run
from tests.report_support import Page, case

DATA = """@prefix e: <https://example.org/e/> .
"""
SHAPES = """@prefix e: <https://example.org/e/> . @prefix sh: <http://www.w3.org/ns/shacl#> .
e:Masses sh:targetClass e:StoneSample ; sh:property e:Mass , e:Site .
e:Mass sh:path e:mass ; sh:minCount 1 ; sh:name "a sample has a mass" .
e:Site sh:path e:site ; sh:minCount 1 ; sh:name "a sample has a site" .
"""
INSIDE = re.compile(r"\b(holds?|regions?|leaders?|frames?|e-process|nodes?)\b", re.IGNORECASE)
"""Words of the engine, which a summary of shapes with a target class does without."""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two feeds of which one lacks masses, and writes sites under another name."""
    folder = tmp_path_factory.mktemp("summary")
    (folder / "data").mkdir()
    for feed in ("north", "south"):
        rows = []
        for n in range(40):
            mass = "" if feed == "south" and n % 10 else " ; e:mass 1.5"
            site = "place" if n % 4 == 0 and feed == "north" else "site"
            rows.append(f'e:{feed}{n} a e:StoneSample{mass} ; e:{site} "s{n}" .')
        (folder / "data" / f"{feed}.ttl").write_text(DATA + "\n".join(rows), encoding="utf-8")
    (folder / "shapes.ttl").write_text(SHAPES, encoding="utf-8")
    arguments = ("investigate", folder / "data", "--shapes", folder / "shapes.ttl")
    done = run(*arguments, "--ledger", folder / "led ger", "--format", "summary")
    assert done.code == 0, done.err
    (folder / "told").write_text(done.out, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def told(place: Path) -> str:
    return (place / "told").read_text(encoding="utf-8")


def test_the_summary_says_what_why_how_sure_and_what_next(told: str) -> None:
    lines = told.splitlines()
    assert lines[0] == (
        "2 rules are broken, by 46 failing nodes in all. 2 causes explain all 46, "
        "1 of the causes with low certainty."
    )
    assert lines[1] == "C1  A sample has a mass: 36 of 80 stone samples fail."
    assert "Stone samples described in the source south.ttl fail: 90 % of these 40" in lines[2]
    assert (
        "and none of the other 40 (at most 7.5 %). This accounts for all 36. How sure: " in lines[2]
    )
    assert lines[3].startswith("    Next: Ask whoever makes the stone samples described in")
    assert lines[4] == "C2  A sample has a site: 10 of 80 stone samples fail."
    assert len(lines) == 1 + 2 * 3 + 1


def test_nodes_go_by_the_class_that_all_have_without_a_target_class() -> None:
    few = kgreason.Text(
        DATA
        + "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"
        + 'e:X17 rdfs:label "stone sample"@en .\n'
        + "".join(f"e:s{n} a e:X17 , e:Thing ; e:site {n} .\n" for n in range(6))
        + "".join(f"e:t{n} a e:Thing , e:Drill ; e:depth {n} .\n" for n in range(3))
    )
    outcome = """SELECT ?focus ?outcome {
      ?focus <https://example.org/e/site> ?n . BIND (?n > 4 AS ?outcome) }"""
    with kgreason.investigate(few, outcome=outcome) as result:
        assert result.summary().startswith("1 of 6 stone samples have the outcome")
        assert "Why do these stone samples have the outcome?" in result.markdown()
    shapes = kgreason.Text(
        """@prefix e: <https://example.org/e/> . @prefix sh: <http://www.w3.org/ns/shacl#> .
        e:A sh:targetSubjectsOf e:depth ; sh:property [ sh:path e:depth ; sh:maxInclusive 1 ] .
        e:B sh:targetSubjectsOf e:depth , e:site ; sh:property [ sh:path e:site ; sh:minCount 1 ] .
        e:C sh:targetNode e:nobody ; sh:class e:Drill .
        """
    )
    with kgreason.investigate(few, shapes=shapes) as result:
        told = result.summary(everything=True)
        assert "1 of 3 drills" in told
        assert "3 of 9 things" in told
        assert "1 of 1 nodes" in told


def test_the_summary_has_no_words_of_the_engine(told: str) -> None:
    told = told.replace("46 failing nodes in all", "").replace("kgreason nodes", "")
    assert INSIDE.findall(told) == []


def test_each_command_of_the_summary_works(place: Path, told: str) -> None:
    commands = [line.partition("kgreason ")[2] for line in told.splitlines() if "kgreason " in line]
    assert len(commands) == 3
    for command in commands:
        words = shlex.split(command)
        assert str(place / "led ger") in words
        if "--out" in words:
            words[words.index("--out") + 1] = str(place / words[words.index("--out") + 1])
        done = run(*words)
        assert done.code == 0, (command, done.err)
        assert done.out.strip() or "Written: " in done.err


def test_causes_have_the_same_names_in_every_face(place: Path) -> None:
    with kgreason.open(place / "led ger").result() as result:
        told = [(one.id, one.statement) for one in result.causes]
        (first, _), (second, _) = told
        assert (first, second) == ("C1", "C2")
        short, long, page = result.summary(), result.markdown(), result.html()
    for id_, statement in told:
        assert re.search(rf"^{id_}  ", short, re.MULTILINE)
        assert f"{id_}: {statement.removesuffix('.')}" in long
        assert f"{id_}</" in page or f"{id_}: {statement.removesuffix('.')}" in page


def test_a_terminal_gets_the_summary(place: Path) -> None:
    pty = pytest.importorskip("pty")
    master, slave = pty.openpty()
    command = [sys.executable, "-m", "kgreason", "report", "--ledger", str(place / "led ger")]
    subprocess.run(command, stdout=slave, check=True, env=os.environ | {"COLUMNS": "60"})
    os.close(slave)
    shown = os.read(master, 100_000).decode()
    os.close(master)
    assert shown.startswith("2 rules are broken")
    long = [line for line in shown.splitlines() if len(line) > 60]
    assert all("kgreason " in line for line in long), "only commands are left whole"


def test_a_pipe_gets_the_report_and_all_is_for_the_summary(place: Path) -> None:
    ledger = place / "led ger"
    assert run("report", "--ledger", ledger).out.startswith("# ")
    assert run("report", "--ledger", ledger, "--all").out.startswith("2 rules are broken")
    done = run("report", "--ledger", ledger, "--all", "--format", "json")
    assert (done.code, done.out) == (2, "")
    assert "--all is about the summary" in done.err


def test_an_ending_that_is_not_known_is_refused(place: Path) -> None:
    out = place / "report.pdf"
    done = run("report", "--ledger", place / "led ger", "--out", out)
    assert (done.code, out.exists()) == (2, False)
    assert "the ending .pdf is not known" in done.err


def test_out_says_what_was_written(place: Path) -> None:
    out = place / "short.txt"
    done = run("report", "--ledger", place / "led ger", "--format", "summary", "--out", out)
    assert (done.code, done.out) == (0, "")
    assert f"Written: {out}" in done.err


def test_three_causes_are_told_and_the_rest_counted() -> None:
    answer = summary.answer(case())
    one = answer.causes[0]
    many = summary.Answer("I1", answer.headline, (one,) * 5, answer.open)
    short = summary.text(many)
    assert short.count(one.rule) == summary.SHOWN
    assert len(short.splitlines()) == 1 + 3 * summary.SHOWN + 1, "about ten lines"
    assert f"And 2 more causes and {len(answer.open)} rules without a cause (" in short
    assert short.endswith("kgreason report I1 --all\n")
    room = summary.text(summary.Answer("I1", answer.headline, (one,), answer.open))
    assert all(each.name in room for each in answer.open[:2])
    assert summary.text(many, everything=True).count(one.rule) == len(many.causes)


def test_one_cause_of_two_rules_is_told_once_with_both() -> None:
    record = case()
    first = causes(record)[0]
    told = summary.answer(record).causes[0]
    assert len(first.reach) == 1 + len(told.also)
    assert "Part-maker" in told.rule + " ".join(told.also)


def test_what_is_open_says_what_would_decide() -> None:
    answer = summary.answer(case())
    assert {one.verdict for one in answer.open} == {"inconclusive", "no systematic cause"}
    for one in answer.open:
        assert (one.step is not None) == (one.verdict == "inconclusive")


def test_text_from_the_graph_stays_on_its_line() -> None:
    assert "\x1b" not in summary._text("a\x1b[31m\nb")
    assert "\n" not in summary._text("a\nb")


def test_every_kind_of_next_step_is_about_a_cause_or_a_symptom() -> None:
    for kind in role("next").values():
        assert ("hypothesis" in kind.parameters) != ("symptom" in kind.parameters), kind.name
    orders = [kind.header["order"] for kind in role("next").values()]
    assert len(orders) == len(set(orders))


# The page


@pytest.fixture(scope="module")
def page(place: Path) -> str:
    done = run("report", "--ledger", place / "led ger", "--format", "html")
    assert done.code == 0, done.err
    return done.out


def test_the_page_answers_first_and_folds_how_it_was_tested(page: str) -> None:
    body = page[page.index("<body") :]
    order = ['<section class="first"', 'id="causes"', 'id="C1"', 'id="C2"', '<details id="tested"']
    places = [body.index(mark) for mark in order]
    assert places == sorted(places)
    assert 'id="tested" class="tested" open' not in body
    assert body.count("<article") == 2
    assert "<h2" not in body[body.index("</main>") :]


def test_the_open_part_of_the_page_has_no_words_of_the_engine(page: str) -> None:
    body = re.sub(r"<style>.*?</style>", "", page, flags=re.DOTALL)
    unfolded = body[: body.index('<details id="tested"')]
    words = " ".join(Page(re.sub(r"<pre.*?</pre>", "", unfolded, flags=re.DOTALL)).words)
    assert INSIDE.findall(words.replace("46 failing nodes in all", "")) == []


def test_a_card_shows_the_data_in_pictures_that_say_what_they_show(page: str) -> None:
    card = page[page.index('id="C1"') : page.index('id="C2"')]
    labels = [attrs["aria-label"] for tag, attrs in Page(card).tags if tag == "svg"]
    assert labels == [
        "The way from a node to the condition: stone sample, source leads to south.ttl",
        "Share of stone samples that fail: in this cause 90 % of 40; all others 0 % of 40",
        "Share that fails, by source: south.ttl 90 % of 40; north.ttl 0 % of 40",
    ]
    assert card.count('class="marked"') == 2
    mapped = page[page.index('id="C2"') : page.index("</main>")]
    assert "What the cause looks at" not in mapped


def test_the_commands_of_the_page_name_the_ledger(place: Path, page: str) -> None:
    found = re.findall(r'<pre class="command"><code>(.*?)</code>', page)
    commands = [re.sub(r"</?span>", "", command) for command in found]
    assert commands
    assert all(f"--ledger &#39;{place / 'led ger'}&#39;" in command for command in commands)


def test_links_of_the_page_lead_to_what_is_there(page: str) -> None:
    tags = Page(page).tags
    ids = [attrs["id"] for _, attrs in tags if "id" in attrs]
    assert len(ids) == len(set(ids))
    inner = [attrs["href"] for tag, attrs in tags if tag == "a" and attrs["href"][:1] == "#"]
    assert {"#C1", "#C2", "#tested"} <= set(inner)
    assert {link[1:] for link in inner} <= set(ids)
    # The folded part names nodes of the graph, whose host is one of examples.
    assert DATA.partition("<")[2].partition(">")[0] in page
    outer = [attrs["href"] for _, attrs in tags if attrs.get("href", "#")[:1] != "#"]
    assert all(leads(link) for link in outer), outer


@pytest.mark.parametrize(
    ("address", "led"),
    [
        ("https://www.wikidata.org/entity/Q5", True),
        ("http://nomisma.org/id/x", True),
        ("https://example.org/e/1", False),
        ("https://data.EXAMPLE.com/e", False),
        ("http://graph.test/x", False),
        ("http://intranet/x", False),
        ("http://localhost:3030/ds", False),
        ("http://[::1", False),
        (None, False),
    ],
)
def test_an_address_that_leads_nowhere_is_no_link(address: str | None, *, led: bool) -> None:
    assert leads(address) is led


def test_what_is_told_of_a_source_month_and_value_is_drawn() -> None:
    of = "source month month value"
    rows = [
        {"of": Literal(of_), "level": Literal(level), "failing": Literal(1), "nodes": Literal(4)}
        for of_, level in zip(of.split(), ("urn:src:a", "2026-04", "2026-05", "<b>"), strict=True)
    ]
    months, sources, values = pictures.slices(rows, "Parts made “2026-05-04” or later fail: …")
    assert [bar.marked for bar in months.bars] == [False, True]
    assert months.cut is not None
    assert months.bars[0].x < months.cut < months.bars[1].x
    assert sources.bars[0].says == "25 % of 4"
    assert values.bars[0].name == "<b>"
    assert all(0 <= bar.x + bar.width <= pictures.WIDTH for bar in (*months.bars, *sources.bars))


def test_slices_count_each_symptom_with_a_cause(place: Path) -> None:
    with kgreason.open(place / "led ger").result() as result:
        record = result.record
        keys = [NamedNode(one.id) for one in result.symptoms]
        for symptom, failing in zip(keys, (36, 10), strict=True):
            rows = record.select("slices", role="summary", symptom=symptom)
            sources = [row for row in rows if row["of"].value == "source"]
            assert sum(int(row["failing"].value) for row in sources) == failing
            assert sum(int(row["nodes"].value) for row in sources) == 80
        assert audit(record).ok


def colours() -> dict[str, dict[str, str]]:
    """Give the colours of the page by name, light and dark."""
    css = (Path(summary.__file__).parent / "templates" / "report.css").read_text(encoding="utf-8")
    light, dark = css.split("* { box-sizing")[0].split("@media (prefers-color-scheme: dark)")
    found = [dict(re.findall(r"--([a-z0-9-]+): (#[0-9a-f]{6})", text)) for text in (light, dark)]
    return {"light": found[0], "dark": found[0] | found[1]}


def contrast(one: str, other: str) -> float:
    """Give the contrast ratio of two colours (WCAG 2.2, section 1.4.3)."""
    shades = []
    for colour in (one, other):
        parts = [int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5)]
        r, g, b = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
        shades.append(0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05)
    return max(shades) / min(shades)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_and_bars_stand_out_from_what_is_behind_them(scheme: str) -> None:
    found = colours()[scheme]
    washes = [(name, f"{name}-wash") for name in ("good", "part", "calm", "open", "bad", "accent")]
    grounds = [(ink, back) for ink in ("ink", "soft", "accent") for back in ("paper", "card")]
    for ink, back in [*washes, *grounds, ("ink", "wash"), ("soft", "wash"), ("ink", "accent-wash")]:
        assert contrast(found[ink], found[back]) >= 4.5, (ink, back)
    for bar in ("s1", "s5"):
        assert contrast(found[bar], found["card"]) >= 3, bar


@pytest.mark.parametrize(("width", "height"), [(1280, 900), (390, 844)])
def test_a_browser_draws_the_page(place: Path, page: str, width: int, height: int) -> None:
    names = ("chromium", "chromium-browser", "google-chrome")
    browser = next(filter(None, map(shutil.which, names)), None)
    if browser is None:
        pytest.skip("there is no headless Chromium here")
    (place / "page.html").write_text(page, encoding="utf-8")
    shot = place / f"shot-{width}.png"
    command = [browser, "--headless", "--no-sandbox", f"--window-size={width},{height}"]
    command += [f"--screenshot={shot}", (place / "page.html").as_uri()]
    subprocess.run(command, check=True, capture_output=True)
    header = shot.read_bytes()[:24]
    assert (int.from_bytes(header[16:20]), int.from_bytes(header[20:24])) == (width, height)


def test_pictures_of_an_outcome_speak_of_the_outcome() -> None:
    rows = [
        {"of": Literal(of), "level": Literal("2026-04"), "failing": Literal(1), "nodes": Literal(4)}
        for of in ("source", "month", "value")
    ]
    drawn = pictures.slices(rows, "", "have the outcome")
    assert [one.title for one in drawn] == [
        "Share that has the outcome, by month",
        "Share that has the outcome, by source",
    ]


def test_codes_are_told_by_their_labels(tmp_path: Path) -> None:
    (tmp_path / "data.ttl").write_text(
        """@prefix e: <https://example.org/e/> .
        @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
        e:P50 rdfs:label "gemeldet von"@de , "recorded by"@en .
        e:RO_0002202 rdfs:label "has input" .
        e:Q5 a e:C1 . e:weight rdfs:label "the weight" . e:sample12 rdfs:label "twelfth" .
        """,
        encoding="utf-8",
    )
    names = Names(load([tmp_path / "data.ttl"]))
    told = {one: names(NamedNode(f"https://example.org/e/{one}")) for one in (
        "P50", "RO_0002202", "Q5", "weight", "sample12",
    )}  # fmt: skip
    assert told == {
        "P50": "“recorded by” (P50)",
        "RO_0002202": "“has input” (RO_0002202)",
        "Q5": "Q5",
        "weight": "weight",
        "sample12": "sample12",
    }


def test_a_digest_is_called_what_its_own_properties_call_it(tmp_path: Path) -> None:
    (tmp_path / "data.ttl").write_text(
        """@prefix e: <https://example.org/e/> .
        e:10d47fe9517d e:Surname "Alvarez" ; e:Full_Name "Eva Alvarez" ; e:note "a name" .
        e:308b027b6b8f e:note "no name" . e:4711 e:label "pump" . e:pump e:name "Pump 4711" .
        """,
        encoding="utf-8",
    )
    names = Names(load([tmp_path / "data.ttl"]))
    told = {one: names(NamedNode(f"https://example.org/e/{one}")) for one in (
        "10d47fe9517d", "308b027b6b8f", "4711", "pump",
    )}  # fmt: skip
    assert told == {
        "10d47fe9517d": "“Eva Alvarez” (10d47fe9517d)",
        "308b027b6b8f": "308b027b6b8f",
        "4711": "“pump” (4711)",
        "pump": "pump",
    }
