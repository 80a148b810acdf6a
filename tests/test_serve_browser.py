"""`kgreason serve` in headless Chromium, found by its roles and texts.

It takes playwright (the extra `browser`) and a Chromium of the system, or of playwright itself.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import kgreason
from tests.serve_support import interrupted, investigate, running

api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

from kgreason.serve import scripts  # noqa: E402 - the support module skips where there is no extra

pytestmark = pytest.mark.slow
BASE = "/i/aa11bb22"
CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    ledger = investigate(tmp_path_factory.mktemp("browser"))
    with running(ledger) as found:
        yield found


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with api.sync_playwright() as playwright:
        try:
            made = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        except api.Error as error:
            pytest.skip(f"there is no Chromium ({str(error).splitlines()[0]})")
        yield made
        made.close()


@pytest.fixture
def tab(browser: Any, address: str) -> Iterator[Any]:
    """A tab in which nothing may go wrong, and nothing be asked of other hosts."""
    context = browser.new_context(base_url=address, viewport={"width": 1280, "height": 900})
    made = context.new_page()
    wrong: list[str] = []
    made.on("pageerror", lambda error: wrong.append(str(error)))
    made.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
    made.on(
        "request",
        lambda asked: (
            None if asked.url.startswith((address, "data:", "blob:")) else wrong.append(asked.url)
        ),
    )
    yield made
    context.close()
    assert wrong == []


def test_from_the_list_to_the_node_that_fails(tab: Any) -> None:
    tab.goto("/")
    assert tab.get_by_role("heading", level=1).inner_text() == "Investigations"
    tab.get_by_role("link", name="Read the answer").click()
    tab.get_by_role("navigation", name="I1").get_by_role("link", name="Causes").click()
    tab.get_by_role("link", name="Look at it").first.click()
    tab.get_by_role("link", name="Its evidence").first.click()
    tab.get_by_role("region", name="Evidence").get_by_role("link").first.click()
    cited = tab.get_by_role("region", name="The nodes it rests on").get_by_role("link").first
    name = cited.inner_text()
    cited.click()
    assert name in tab.get_by_role("heading", level=1).inner_text()
    tab.get_by_role("link", name="Why does it fail?").click()
    assert "rules that look at it" in tab.get_by_role("main").inner_text()


def test_a_verdict_is_given(tab: Any) -> None:
    tab.goto(f"{BASE}/hypotheses/1")
    form = tab.get_by_role("form", name="Your verdict on H1")
    form.get_by_role("radio", name="Wrong").check()
    form.get_by_label("Your name").fill("Grace <i>Hopper</i>")
    form.get_by_label("Why, in a sentence").fill("It was a moth.")
    form.get_by_role("button", name="Record the verdict").click()
    said = tab.get_by_role("region", name="What people say").inner_text()
    assert "Grace <i>Hopper</i>" in said
    assert "It was a moth." in said


def test_a_question_is_asked_in_the_plain_editor(tab: Any) -> None:
    tab.route("**/third-party/*", lambda route: route.fulfill(status=200, body=""))
    tab.goto("/query")
    box = tab.get_by_label("SPARQL")
    box.fill("SELECT (COUNT(*) AS ?number) { ?h a trails:Hypothesis }")
    tab.get_by_role("button", name="Run the query").click()
    answer = tab.get_by_role("region", name="Answer")
    answer.get_by_role("columnheader", name="number").wait_for()
    assert answer.get_by_role("status").inner_text() == "1 row"
    tab.get_by_label("Stored question").select_option(label="Why this confidence?")
    assert "ConfidenceUpdate" in box.input_value()
    tab.get_by_role("button", name="Run the query").click()
    answer.get_by_role("columnheader", name="reckoning").or_(
        answer.get_by_role("columnheader", name="inputs")
    ).wait_for()


def test_a_wrong_query_is_told(browser: Any, address: str) -> None:
    page = browser.new_page(base_url=address)
    page.route("**/third-party/*", lambda route: route.fulfill(status=200, body=""))
    page.goto("/query")
    page.get_by_label("SPARQL").fill("SELECT * {")
    page.get_by_role("button", name="Run the query").click()
    alert = page.get_by_role("region", name="Answer").get_by_role("alert")
    alert.wait_for()
    assert "does not parse: line 1" in alert.inner_text()
    page.close()


def test_events_are_listed(tab: Any) -> None:
    tab.goto(f"{BASE}/live")
    assert "finished" in tab.get_by_role("status").inner_text()
    assert tab.get_by_role("row").count() > 5


def test_events_appear_as_they_are_written(browser: Any, tmp_path: Path) -> None:
    file = tmp_path / "events.jsonl"
    ledger = interrupted(tmp_path, file)
    with running(ledger, "--events", file) as found:
        page = browser.new_page(base_url=found)
        page.goto("/")
        page.get_by_role("link", name="Watch it").click()
        state = page.get_by_role("status")
        assert "The investigation is running" in state.inner_text()
        before = page.get_by_role("row").count()
        assert before > 3
        last = json.loads(file.read_text(encoding="utf-8").splitlines()[-1])
        new = last | {"event": "tested", "note": "Seen <i>just</i> now."}
        with file.open("a", encoding="utf-8") as out:
            out.write(json.dumps(new) + "\n")
        page.get_by_role("cell", name="Seen <i>just</i> now.").wait_for()
        assert page.get_by_role("row").count() == before + 1
        kgreason.resume(ledger).close()
        page.get_by_text("The investigation has ended").wait_for()
        page.get_by_role("link", name="Read the answer.").click()
        assert "rule" in page.get_by_role("heading", level=1).inner_text()
        page.close()


def test_the_provenance_is_drawn_without_scripts_of_others(browser: Any, address: str) -> None:
    context = browser.new_context(base_url=address, java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{BASE}/provenance?node=urn:kgreason:aa11bb22:hypothesis:1")
    drawn = page.get_by_role("img", name="H1 with")
    assert drawn.is_visible()
    drawn.locator("a", has_text="evidence").first.click()
    assert page.get_by_role("heading", level=1).inner_text().startswith("Evidence")
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_pages_fit_and_can_be_read(browser: Any, address: str, scheme: str, width: int) -> None:
    context = browser.new_context(
        base_url=address, color_scheme=scheme, viewport={"width": width, "height": 900}
    )
    page = context.new_page()
    for path in ("", "/causes/C1", "/symptoms", "/hypotheses", "/hypotheses/1", "/evidence/1"):
        page.goto(f"{BASE}{path}")
        wider = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        assert page.evaluate(wider) <= 0, path
        assert page.evaluate(CONTRAST) == [], f"{path} in {scheme}"
    context.close()


CONTRAST = """() => {
  const luminance = ([r, g, b]) => {
    const f = (v) => ((v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * f(r) + 0.7152 * f(g) + 0.0722 * f(b);
  };
  const numbers = (text) => text.match(/[\\d.]+/g).map(Number);
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const found = numbers(getComputedStyle(at).backgroundColor);
      if (found.length < 4 || found[3] > 0.99) return found;
    }
    return [255, 255, 255];
  };
  const faint = [];
  for (const one of document.querySelectorAll("main *, header *")) {
    const own = [...one.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
    if (!own || !one.checkVisibility() || one.closest("svg, .made, .skip")) continue;
    const [a, b] = [luminance(numbers(getComputedStyle(one).color)), luminance(behind(one))];
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const what = `${one.tagName} ${contrast.toFixed(2)} ${one.textContent.slice(0, 40)}`;
    if (contrast < 4.5) faint.push(what);
  }
  return faint;
}"""
"""Texts whose contrast is below 4.5 to 1 (WCAG 2.2, 1.4.3)."""


# With the scripts of others

with_editor = pytest.mark.skipif(not scripts.has(scripts.EDITOR), reason="run `make scripts` first")
with_graph = pytest.mark.skipif(not scripts.has(scripts.GRAPH), reason="run `make scripts` first")


@with_editor
def test_yasgui_asks_the_endpoint(tab: Any) -> None:
    tab.goto("/query")
    tab.locator(".yasqe .CodeMirror").wait_for()
    tab.get_by_label("Stored question").select_option(label="What supports this conclusion?")
    tab.locator(".yasqe_queryButton").click()
    tab.locator(".yasr table.dataTable tbody tr").first.wait_for()
    assert "statement" in tab.locator(".yasr thead").first.inner_text()


@with_graph
def test_the_provenance_grows_where_one_clicks(tab: Any) -> None:
    tab.goto(f"{BASE}/provenance?node=urn:kgreason:aa11bb22:hypothesis:1")
    walk = tab.locator("#walk[data-drawn=yes]")
    walk.wait_for()
    count = "document.getElementById('walk').provenance.nodes().length"
    before = tab.evaluate(count)
    assert before > 3
    place = """() => {
      const cy = document.getElementById('walk').provenance;
      return cy.nodes('[kind = "Evidence"]').first().renderedPosition();
    }"""
    where = tab.evaluate(place)
    tab.locator("#canvas").click(position={"x": where["x"], "y": where["y"]})
    tab.wait_for_function(f"{count} > {before}")
    assert tab.get_by_role("link", name="open the page of evidence").is_visible()
