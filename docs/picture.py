"""Draw docs/picture.svg from the page of the demo: `python docs/picture.py build/demo.html`.

The three drawings are the page's own, those of the cause of the negative freight costs; only their
captions are set beside them.
"""

import re
import sys
from html import unescape
from pathlib import Path
from typing import Final
from xml.sax.saxutils import escape

CAUSE: Final = "The freight cost of a shipment is not negative"
WIDTH, MARGIN, LINE = 500, 20, 22
STYLE: Final = (
    "text{font:12px system-ui,sans-serif;fill:#1d252c}.head{font-weight:600;font-size:15px}"
    ".cap{fill:#4a545e}.along{fill:#4a545e;font-size:10.5px}.cut{stroke:#a3261b;stroke-width:2;"
    "stroke-dasharray:5 3}.box{stroke:#c9d1d6}.end{stroke:#0f6e6a}.arrow{fill:#5c6670}"
    ".paper{fill:#fff;stroke:#d5dbdf}"
)


def picture(page: str) -> str:
    """Return the picture of a page; raises ValueError where the cause is not on it."""
    cards = re.findall(r'<article class="card".*?</article>', page, re.DOTALL)
    (card,) = (one for one in cards if CAUSE in one)
    said = re.findall(r"<h3[^>]*>(.*?)</h3>\s*<p>(.*?)</p>", card, re.DOTALL)[0]
    head, why = (unescape(re.sub(r"<[^>]+>", "", one)).strip() for one in said)
    figures = re.findall(
        r'<figcaption>(.*?)</figcaption>\s*<svg[^>]*viewBox="0 0 \d+ (\d+)"[^>]*>(.*?)</svg>',
        card,
        re.DOTALL,
    )[:3]
    parts, at = [], MARGIN + LINE / 2
    told = [("head", one) for one in _lines(head, 54)] + [("cap", one) for one in _lines(why, 68)]
    for name, text in told:
        parts.append(f'<text class="{name}" x="{MARGIN}" y="{at:.0f}">{escape(text)}</text>')
        at += LINE
    for caption, height, body in figures:
        parts.append(f'<text class="cap" x="{MARGIN}" y="{at + LINE / 2:.0f}">{caption}</text>')
        parts.append(f'<g transform="translate({MARGIN} {at + LINE:.0f})">{body.strip()}</g>')
        at += LINE + int(height) + LINE / 2
    high = at + MARGIN / 2
    size = f'width="{WIDTH - 1}" height="{high - 1:.0f}"'
    frame = f'<rect class="paper" x=".5" y=".5" {size} rx="8"/>'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {high:.0f}" width="{WIDTH}" '
        f'role="img" aria-label="{escape(head)} {escape(why)}">\n<style>{STYLE}</style>\n{frame}\n'
        + "\n".join(parts)
        + "\n</svg>\n"
    )


def _lines(text: str, longest: int) -> list[str]:
    """Return a text in lines."""
    lines = [""]
    for word in text.split():
        if len(lines[-1]) + len(word) >= longest:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return lines


if __name__ == "__main__":
    text = picture(Path(sys.argv[1]).read_text(encoding="utf-8"))
    (Path(__file__).parent / "picture.svg").write_text(text, encoding="utf-8")
