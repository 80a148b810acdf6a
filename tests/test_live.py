"""`make live MODEL=…` works on any server that speaks chat completions: here the scripted one."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests import chat_server, model_support
from tests.chat_server import Script, serving
from tests.model_support import acting, judging

pytest.importorskip("openai")
pytest.importorskip("pydantic_ai")
ROOT = Path(__file__).resolve().parents[1]


def answer(prompt: str) -> str:
    """Answer as the good investigator where there are recalls, and choose the first reading."""
    if "# Readings" in prompt:
        return '{"choice": 1}'
    propose = model_support.good if '"note"' in prompt else chat_server.lazy
    tell = model_support.tell if model_support.EVIDENCE.search(prompt) else chat_server.lazy
    return acting(propose, lambda _: judging(0.6, 0.4), tell)(prompt)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_make_live_asks_the_server_and_prints_what_came_of_it(tmp_path: Path) -> None:
    copy = tmp_path / "checkout"
    copy.mkdir()
    for name in ("Makefile", "benchmarks", "tests", "examples", "kgreason", "queries", "shapes",
                 "ontology", "prompts"):  # fmt: skip
        (copy / name).symlink_to(ROOT / name)
    script = Script(answer)
    with serving(script) as address:
        ran = subprocess.run(
            # What it installs is here already.
            ["make", "-o", ".venv/live", "live", "MODEL=openai:local", "SEEDS=0:1",
             f"BIN={Path(sys.executable).parent}"],
            cwd=copy,
            env={**os.environ, "OPENAI_BASE_URL": address, "OPENAI_API_KEY": "sk-hidden"},
            capture_output=True,
            text=True,
            timeout=500,
            check=False,
        )  # fmt: skip
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "| openai:local | 1, 1 | 1 |" in ran.stdout
    assert "promisedOn" in ran.stdout
    assert "sk-hidden" not in ran.stdout + ran.stderr
    asked = "\n".join(script.prompts)
    for part in ("# Readings", "`if_true`", "# Hypotheses to test", "# The dossier"):
        assert part in asked


def test_make_live_without_a_model_says_what_to_do() -> None:
    if shutil.which("make") is None:
        pytest.skip("make is not installed")
    ran = subprocess.run(
        ["make", "-o", ".venv/live", "live"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 2
    assert "make live MODEL=openai:NAME" in ran.stdout
