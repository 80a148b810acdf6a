"""What tests share: where real graphs are, and how many examples a property gets."""

import os
import sys
from pathlib import Path
from typing import Final

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parents[1]

# No deadline: a busy machine is no bug. The fast suite draws the same examples at every run, so
# that it fails for a change and never by chance; `make test-slow` draws new and more ones.
settings.register_profile("steady", deadline=None, derandomize=True)
settings.register_profile("thorough", deadline=None, max_examples=1_000)
settings.load_profile("steady")

# A wheel that a test builds asks npm for nothing; the one test that is about that says so.
os.environ.setdefault("KGREASON_SCRIPTS", "no")

# Some hundred tests start a process. Where no bytecode is written each compiles the package anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


LONGEST: Final = (
    *("audit", "cases", "supervisor", "templates", "resume", "contributing", "calibration"),
    *("investigation", "time_limits", "lifetime", "earned", "conditions_proposed"),
    *("conditions", "symptoms_real", "confidence_rules", "axioms", "hostile_input"),
    *("review", "correlation", "cli", "fuzz", "repair", "repair_loop", "bad_input"),
)
"""The files that take longest, the longest first: whoever takes one last has the others wait."""


def pytest_configure(config: pytest.Config) -> None:
    """Let pytest-xdist take files in the order below, not those first that have most tests."""
    if hasattr(config.option, "loadscopereorder"):
        config.option.loadscopereorder = False


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the files that take longest first."""
    place = {f"test_{name}.py": place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: place.get(item.path.name, len(place)))


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
