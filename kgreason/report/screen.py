"""The first screen of a report, and the pictures of a cause, as a notebook shows them."""

from dataclasses import dataclass
from html import escape
from typing import Final

from markupsafe import Markup

from kgreason.report.html import environment
from kgreason.report.summary import SHOWN, Answer, ToldCause, command

_HEIGHT: Final = 760
_PICTURE: Final = 190
_ALONE: Final = '<svg xmlns="http://www.w3.org/2000/svg" font-family="sans-serif" font-size="11"'


@dataclass(frozen=True)
class Pictures:
    """The pictures of a cause: `svgs` are complete SVG documents, `titles` what they show."""

    cause: str
    titles: tuple[str, ...]
    svgs: tuple[str, ...]
    page: str

    def __str__(self) -> str:
        return "\n".join(self.svgs)

    def __repr__(self) -> str:
        return f"<Pictures of {self.cause}: {'; '.join(self.titles)}>"

    def _repr_html_(self) -> str:
        """Return the pictures for a notebook, in a frame of their own."""
        return framed(self.page, f"Pictures of {self.cause}", _PICTURE * max(1, len(self.svgs)))


def first_screen(told: Answer, title: str) -> str:
    """Return the first screen of a report as an HTML page."""
    page = environment().get_template("screen.html")
    return page.render(answer=told, title=title, shown=SHOWN, pasted=lambda w: command(w, None))


def pictures(one: ToldCause) -> Pictures:
    """Return the pictures of a cause as its card on the page has them."""
    macros = environment().get_template("answer.html").module
    drawn = [("What the cause looks at", macros.way(one.way))] if one.way else []  # type: ignore[attr-defined]
    drawn += [(bars.title, macros.picture(bars)) for bars in one.pictures]  # type: ignore[attr-defined]
    page = environment().get_template("pictures.html")
    return Pictures(
        one.cause.name,
        tuple(title for title, _ in drawn),
        tuple(_alone(str(figure)) for _, figure in drawn),
        page.render(title=one.cause.name, figures=[Markup(figure) for _, figure in drawn]),  # noqa: S704 - made by our templates, which escape
    )


def framed(page: str, title: str, height: int = _HEIGHT) -> str:
    """Return a page in a frame that shares neither styles nor scripts with the page around it."""
    style = f"width:100%;height:{height}px;border:0"
    named = f'title="{escape(title)}" style="{style}"'
    return f'<iframe sandbox {named} srcdoc="{escape(page)}"></iframe>'


def _alone(figure: str) -> str:
    """Return the SVG of a figure as a document of its own."""
    begin, end = figure.index("<svg"), figure.rindex("</svg>")
    return _ALONE + figure[begin + len("<svg") : end] + "</svg>"
