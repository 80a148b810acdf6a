"""The page of the shipped example in a browser: both sizes, light and dark, and printed."""

import re
import shutil
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import kgreason
from kgreason.report.html import leads
from tests.example_support import EXAMPLES

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "chrome"))), None)
api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed"),
]
SIZES = [(1280, 900), (390, 844)]
LOOKS = ["light", "dark"]
SCREENS = 6
CONTRAST = """() => {
  const rgb = text => (text.match(/[0-9.]+/g) || []).map(Number);
  const part = v => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; };
  const light = c => 0.2126 * part(c[0]) + 0.7152 * part(c[1]) + 0.0722 * part(c[2]);
  const behind = node => {
    for (let at = node; at; at = at.parentElement) {
      const c = rgb(getComputedStyle(at).backgroundColor);
      if (c.length && (c.length < 4 || c[3] > 0.5)) return c;
    }
    return [255, 255, 255];
  };
  const out = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const node = walk.currentNode.parentElement;
    if (!walk.currentNode.data.trim() || !node.checkVisibility()) continue;
    if (node.closest("title, style")) continue;
    const style = getComputedStyle(node);
    const ink = rgb(node.closest("svg") ? style.fill : style.color), paper = behind(node);
    const [high, low] = [light(ink), light(paper)].sort((a, b) => b - a);
    const ratio = (high + 0.05) / (low + 0.05);
    if (ratio < 4.5 && !node.closest("svg rect"))
      out.push(`${ratio.toFixed(2)} ${node.outerHTML.slice(0, 80)}`);
  }
  return out;
}"""


@pytest.fixture(scope="module")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("page")
    example = EXAMPLES / "supply-chain"
    with kgreason.investigate(
        example / "data",
        shapes=example / "shapes.ttl",
        ontology=example / "ontology.ttl",
        ledger=folder / "ledger",
    ) as result:
        path = folder / "demo.html"
        path.write_text(result.html(), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with api.sync_playwright() as play:
        made = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield made
        made.close()


@pytest.fixture(scope="module")
def shown(browser: Any, page_file: Path) -> Iterator[dict[tuple[int, str], tuple[Any, list[str]]]]:
    """Give the page by width and look, each with the requests that it made."""
    out, contexts = {}, []
    for width, height in SIZES:
        for look in LOOKS:
            context = browser.new_context(
                viewport={"width": width, "height": height}, color_scheme=look
            )
            contexts.append(context)
            page, asked = context.new_page(), list[str]()
            page.on("request", lambda request, asked=asked: asked.append(request.url))
            page.goto(page_file.as_uri())
            out[width, look] = page, asked
    yield out
    for context in contexts:
        context.close()


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize(("width", "height"), SIZES)
def test_the_first_screen_answers_and_fits(
    shown: Any, page_file: Path, tmp_path: Path, width: int, height: int, look: str
) -> None:
    page, asked = shown[width, look]
    picture = page.screenshot(path=tmp_path / f"{look}-{width}.png")
    assert picture.startswith(b"\x89PNG")
    assert asked == [page_file.as_uri()]
    ends = {
        part: page.locator(where).first.bounding_box()
        for part, where in {
            "wrong": "main h1 + p, header p, .lead",
            "why": ".first li h2 + p",
            "sure": ".first .sure",
            "next": ".first .next",
            "command": ".first .command",
        }.items()
    }
    tops = [box["y"] for box in ends.values()]
    assert tops == sorted(tops)
    assert all(box["y"] + box["height"] <= height for box in ends.values()), ends
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(CONTRAST) == []


def test_the_page_is_short_on_screen_and_on_paper(shown: Any) -> None:
    page, _ = shown[1280, "light"]
    assert page.evaluate("document.documentElement.scrollHeight") <= SCREENS * 900
    printed = page.pdf(format="A4")
    assert 1 <= len(re.findall(rb"/Type\s*/Page\b", printed)) <= SCREENS


def test_every_link_leads_somewhere_and_the_order_is_that_of_a_reader(shown: Any) -> None:
    page, _ = shown[390, "light"]
    links = page.eval_on_selector_all(
        "a[href]", "all => all.map(a => [a.getAttribute('href'), !!a.closest('details')])"
    )
    assert len(links) > 5
    assert any(folded for _, folded in links)
    for link, folded in links:
        if folded and leads(link):  # a term of the graph, of a host that there may be
            continue
        assert link.startswith("#"), link
        assert page.locator(f"[id='{link[1:]}']").count() == 1, link
    levels = page.eval_on_selector_all(
        "h1, h2, h3, h4", "all => all.filter(h => h.checkVisibility()).map(h => +h.tagName[1])"
    )
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    names = page.locator(".card h3 .id").all_text_contents()
    assert names == [f"C{n}" for n in range(1, len(names) + 1)]
    tops = page.eval_on_selector_all(
        "main h1, main h2, main h3",
        "all => all.filter(h => h.checkVisibility()).map(h => h.getBoundingClientRect().top)",
    )
    assert tops == sorted(tops)
