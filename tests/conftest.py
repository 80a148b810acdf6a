"""What tests share: where real graphs are, and how many examples a property gets."""

import os
import sys
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parents[1]

# No deadline: a busy machine is no bug. The fast suite draws the same examples at every run, so
# that it fails for a change and never by chance; `make test-slow` draws new and more ones.
settings.register_profile("steady", deadline=None, derandomize=True)
settings.register_profile("thorough", deadline=None, max_examples=1_000)
settings.load_profile("steady")


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder of real graphs and conformance suites, which is no part of the project.

    $KGREASON_DATA, or `../shared/data` beside the checkout; tests that need it are skipped where
    there is none.
    """
    folder = Path(os.environ.get("KGREASON_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"there are no real graphs at {folder}; set KGREASON_DATA to their folder")
    return folder


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Tell what became of the inputs of the fuzz suite, where it ran."""
    fuzz = sys.modules.get("tests.test_fuzz")
    told = dict(fuzz.TALLY) if fuzz else {}
    if told:
        number = told.pop("inputs")
        other = number - sum(told.values())
        each = ", ".join(f"{count:,} {what}" for what, count in sorted(told.items()))
        terminalreporter.write_line(f"Fuzz: {number:,} inputs: {each}; {other:,} anything else.")
