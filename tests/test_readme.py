"""What README.md tells a new user to type works: from a fresh clone, after its demo."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli_support import run, write_graph

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
CONSOLE = re.findall(r"^```console\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
PYTHON = re.findall(r"^```python\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
PRINTED = re.search(r"begins with this.*?```text\n(.*?)```", TEXT, re.DOTALL)
COMMANDS = [line.removeprefix("$ ") for block in CONSOLE for line in block.splitlines()]
LEDGER = Path("build") / "demo"


def test_what_is_to_be_typed_is_read_from_the_readme() -> None:
    assert COMMANDS[0] == "make demo"
    assert all(line.startswith("$ ") for block in CONSOLE for line in block.splitlines())
    assert len([c for c in COMMANDS if c.startswith("kgreason ")]) >= 8
    assert len(PYTHON) == 1


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a folder with a small ledger where the demo has its own."""
    place = tmp_path_factory.mktemp("clone")
    data = write_graph(place)
    (place / "build").mkdir()
    shapes = place / "shapes.ttl"
    done = run("investigate", data, "--shapes", shapes, "--ledger", place / LEDGER)
    assert done.code == 0
    return place


@pytest.mark.parametrize("command", [c for c in COMMANDS if c.startswith("kgreason ")])
def test_commands_run_on_the_ledger_of_a_demo(
    demo: Path, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(demo)
    done = run(*shlex.split(command, comments=True)[1:])
    assert done.code == 0, done.err
    assert done.out or "Written: build/" in done.err


@pytest.mark.slow
def test_blocks_run_verbatim_from_a_fresh_clone(tmp_path: Path) -> None:
    """The installation takes packages from where pip is set to take them."""
    if shutil.which("make") is None or not (ROOT / ".git").exists():
        pytest.skip("this takes make, and a checkout")
    clone = tmp_path / "kgreason"
    subprocess.run(["git", "clone", "--quiet", ROOT, clone], check=True)
    environment = {k: v for k, v in os.environ.items() if k not in {"VIRTUAL_ENV", "PYTHONPATH"}}
    environment["PYTHON"] = sys.executable
    script = "set -e\n" + "\n".join(COMMANDS) + f"\npython - <<'END'\n{PYTHON[0]}END\n"
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=clone,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert PRINTED is not None
    printed = [line.strip() for line in done.stdout.splitlines()]
    for said in PRINTED.group(1).splitlines():
        whole, cut = said.strip(), said.endswith("…")
        assert any(p.startswith(whole.removesuffix("…")) if cut else p == whole for p in printed), (
            said
        )
