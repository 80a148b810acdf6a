"""The live view: what moves, as a table on a terminal and as plain lines elsewhere."""

import io

import pytest
from rich.console import Console

from kgreason.cli.live_view import LiveView, both
from kgreason.cli.progress import Shown

H1 = "urn:kgreason:0:hypothesis:1"


def seen() -> LiveView:
    view = LiveView(on_terminal=True)
    for event in (
        {"event": "created", "about": H1, "note": "The \x1b[31mfeed fails.", "after": 0.25},
        {"event": "tested", "about": H1, "note": "40 of 50 fail."},
        {"event": "strengthened", "about": H1, "before": 0.25, "after": 0.91},
        {"event": "supported", "about": H1, "note": "passes every gate"},
    ):
        view._take(event)
    return view


def test_a_change_is_one_plain_line_without_control_characters() -> None:
    view = LiveView()
    assert view._take(
        {"event": "created", "about": H1, "note": "The \x1b[31mfeed.", "after": 0.25}
    ).startswith("H1 created: The ")
    moved = view._take({"event": "weakened", "about": H1, "before": 0.25, "after": 0.1})
    assert moved == "H1: 0.25 to 0.10"
    assert view._take({"event": "granted", "about": H1, "note": "x"}) == ""
    assert "\x1b" not in view._take({"event": "tested", "about": H1, "note": "\x1b[2J"})


def test_the_table_has_status_confidence_the_last_test_and_the_cost() -> None:
    view = seen()
    view._cost = "120 tokens, 0.0100 USD"
    file = io.StringIO()
    Console(file=file, width=120).print(view.table())
    said = file.getvalue()
    assert "H1" in said
    assert "0.91" in said
    assert "supported" in said
    assert "120 tokens" in said
    assert "\x1b[31m" not in said


def test_on_a_terminal_the_table_is_drawn_and_taken_away(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    file = Terminal()
    monkeypatch.setattr("sys.stderr", file)
    monkeypatch.setenv("TERM", "xterm")
    view = seen()
    with Shown(view) as shown:
        shown("round 1", 0, 2)
        assert view.changed is not None
        view.changed()
    assert "supported" in file.getvalue()


def test_both_are_called() -> None:
    called: list[int] = []
    two = both(lambda *_: called.append(1), lambda *_: called.append(2))
    two(None, None)
    assert called == [1, 2]
    assert both(None, None) is None
    one = both(None, seen)
    assert one is seen
