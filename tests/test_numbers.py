"""I1 is an investigation and H1 a hypothesis; a number alone counts where it can mean one thing."""

from pathlib import Path

import pytest

from tests.cli_support import run, write_graph


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("numbers")
    data = write_graph(folder)
    for _ in range(2):
        done = run("investigate", data, "--shapes", folder / "shapes.ttl", "--ledger", folder / "l")
        assert done.code == 0
    return folder / "l"


ONE = ["report", "audit", "fragility", "resume", "replay"]


@pytest.mark.parametrize("command", ONE)
@pytest.mark.slow
def test_commands_about_investigations_alone_take_the_number_with_or_without_its_letter(
    ledger: Path, command: str
) -> None:
    told = [run(command, name, "--ledger", ledger) for name in ("1", "I1", "i1")]
    assert {done.code for done in told} == {0}
    assert len({done.out for done in told}) == 1


@pytest.mark.parametrize("command", ONE)
def test_a_hypothesis_is_no_investigation(ledger: Path, command: str) -> None:
    done = run(command, "H1", "--ledger", ledger)
    assert done.code == 2
    assert "H1 is a hypothesis; here an investigation is wanted, such as I1." in done.err


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("repair", "1", "--dry-run"), "say I1 for an investigation (a hypothesis is given"),
        (("explain", "1"), "say H1 for a hypothesis (an investigation is given"),
        (("verdict", "1", "right", "--by", "Ada"), "say H1 for a hypothesis"),
        (("history", "what-supports", "1"), "say I1 for an investigation"),
    ],
)
def test_where_a_number_could_mean_either_its_letter_is_wanted(
    ledger: Path, args: tuple[str, ...], said: str
) -> None:
    done = run(*args, "--ledger", ledger)
    assert done.code == 2
    assert said in done.err


@pytest.mark.parametrize(
    "args",
    [
        ("repair", "I1", "--dry-run"),
        ("explain", "H1"),
        ("explain", "H1", "--investigation", "1"),
        ("explain", "h1", "--investigation", "I2"),
        ("verdict", "H1", "right", "--by", "Ada"),
        ("history", "what-supports", "I1"),
        ("history", "why-this-confidence", "--hypothesis", "1"),
        ("history", "why-this-confidence", "I2", "--hypothesis", "H1"),
        ("repair", "I2", "--hypothesis", "H1", "--dry-run"),
        ("repair", "I2", "--hypothesis", "1", "--dry-run"),
    ],
)
def test_with_its_letter_or_named_by_an_option_it_is_understood(
    ledger: Path, args: tuple[str, ...]
) -> None:
    done = run(*args, "--ledger", ledger)
    assert (done.code, done.err) == (0, "")


def test_the_letters_are_told_back(ledger: Path) -> None:
    report = run("report", "I1", "--ledger", ledger).out
    assert "- **Investigation:** I1" in report
    assert "fail. (H1) — *supported*" in report
    assert "H1" in run("repair", "I1", "--dry-run", "--ledger", ledger).out
    listed = run("history", "which-hypotheses", "I1", "--ledger", ledger).out
    assert "H1" in listed
    assert "hypothesis:1" not in listed
    missing = run("report", "I7", "--ledger", ledger)
    assert missing.code == 2
    assert "it has I1, I2" in missing.err


@pytest.mark.parametrize("option", ["--hypothesis", "--investigation"])
def test_options_refuse_the_other_letter_too(ledger: Path, option: str) -> None:
    args = {
        "--hypothesis": ("history", "what-supports", option, "I1"),
        "--investigation": ("explain", "H1", option, "H1"),
    }[option]
    done = run(*args, "--ledger", ledger)
    assert done.code == 2
    assert "is wanted, such as" in done.err
