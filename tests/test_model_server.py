"""A model over HTTP: modes, mishaps, keys, and a whole run from the command line."""

import asyncio
import json
import os
import shutil
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("pydantic_ai", reason="the extra llm is not installed")

from kgreason.base.errors import KgreasonError
from kgreason.model.client import ModelError, Question
from kgreason.model.connection import Connection
from tests.chat_server import Script, serving
from tests.cli_support import run
from tests.model_support import CAUSE, acting, good, recalls

KEY = "canary-0123456789-key"
SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
ASKED = Question("Say a.", "say", SCHEMA)


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Iterator[Script]:
    made = Script(lambda _: '{"a": "b"}')
    with serving(made) as url:
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        yield made


@pytest.mark.parametrize(("modes", "asked"), [(("native",), 1), (("tool",), 2), (("prompted",), 3)])
def test_a_server_is_asked_in_the_way_that_it_takes(
    script: Script, modes: tuple[str, ...], asked: int
) -> None:
    script.modes = modes
    client = Connection("openai:local")
    reply = client.complete(ASKED)
    assert json.loads(reply.text) == {"a": "b"}
    assert reply.input_tokens > 0
    assert len(script.asked) == asked
    client.complete(ASKED)
    assert len(script.asked) == asked + 1  # it remembers


def test_where_a_loop_runs_already_it_is_asked_all_the_same(script: Script) -> None:
    assert script

    async def cell() -> str:
        return Connection("openai:local").complete(ASKED).text

    assert json.loads(asyncio.run(cell())) == {"a": "b"}


def test_a_server_that_takes_no_way_is_told_of(script: Script) -> None:
    script.modes = ()
    with pytest.raises(ModelError, match="local refused the request") as told:
        Connection("openai:local").complete(ASKED)
    assert not told.value.again


@pytest.mark.parametrize(
    ("mishap", "again"), [(429, True), (500, True), (503, True), (401, False), ("slow", False)]
)
def test_a_mishap_is_one_sentence_without_the_key(
    script: Script, mishap: int | str, *, again: bool
) -> None:
    script.mishaps = [mishap]
    with pytest.raises(ModelError) as told:
        Connection("openai:local", seconds=0.5).complete(ASKED)
    assert told.value.again is again
    assert KEY not in str(told.value)
    assert "gave no answer" in str(told.value)


@pytest.mark.parametrize("mishap", ["cut", "malformed", "refusal", "schema"])
def test_an_answer_of_no_use_is_given_as_it_is(script: Script, mishap: str) -> None:
    script.mishaps = [mishap]
    assert Connection("openai:local").complete(ASKED).text != '{"a": "b"}'


@pytest.mark.parametrize(
    ("name", "told"),
    [("gpt", "name the provider"), ("other:x", "name the provider"), ("openai:", "name the")],
)
def test_a_model_that_is_none_is_refused(name: str, told: str) -> None:
    with pytest.raises(KgreasonError, match=told):
        Connection(name)


def test_a_model_without_a_key_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with pytest.raises(KgreasonError, match="set OPENAI_API_KEY or OPENAI_BASE_URL"):
        Connection("openai:local")


@pytest.mark.parametrize("mode", ["native", "tool", "prompted"])
def test_anthropic_is_asked_in_its_messages(
    script: Script, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("anthropic", reason="the extra anthropic is not installed")
    base = os.environ["OPENAI_BASE_URL"].removesuffix("/v1")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", base)
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.delenv("OPENAI_API_KEY")
    script.modes = (mode,)
    client = Connection("anthropic:claude-opus-4-5")
    reply = client.complete(ASKED)
    assert json.loads(reply.text) == {"a": "b"}
    assert reply.output_tokens > 0
    assert all(KEY in one for one in script.keys)
    assert script.asked[-1]["max_tokens"] == ASKED.most_tokens
    script.mishaps = [429, 529]
    for _ in range(2):
        with pytest.raises(ModelError) as told:
            client.complete(ASKED)
        assert told.value.again
        assert KEY not in str(told.value)


@pytest.mark.parametrize(("model", "extra"), [("openai:x", "llm"), ("anthropic:x", "anthropic")])
def test_a_missing_extra_is_named(
    script: Script, model: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert script
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.setitem(sys.modules, model.partition(":")[0], None)
    with pytest.raises(KgreasonError, match=rf"pip install 'kgreason\[{extra}\]'"):
        Connection(model)


def test_a_whole_run_from_the_command_line_leaves_no_key_behind(
    script: Script, tmp_path: Path
) -> None:
    options = recalls(tmp_path)
    script.answer = acting(good, lambda _: "{}", lambda _: "{}")
    script.mishaps = [429, "cut", "malformed"]
    ledger = tmp_path / "ledger"
    ran = run(
        "investigate",
        str(options["data"]),
        *("--shapes", str(options["shapes"]), "--calibration", "none"),
        *("--model", "openai:local", "--ledger", str(ledger), "--format", "json"),
        "--live",
    )
    assert ran.code == 0, ran.err
    lines = ran.err.splitlines()
    assert any(" called: propose causes, answered (" in line for line in lines), ran.err
    assert any(line.startswith("kgreason: H1: 0.") and " to 0." in line for line in lines)
    assert any(line.startswith("kgreason: H1 tested: ") for line in lines)
    found = json.loads(ran.out)
    told = [h for s in found["symptoms"] for h in s["hypotheses"]]
    assert CAUSE in {h["statement"] for h in told if h["status"] == "supported"}
    assert all(one == f"Bearer {KEY}" for one in script.keys)
    assert KEY not in ran.out + ran.err
    for file in ledger.rglob("*"):
        assert not file.is_file() or KEY.encode() not in file.read_bytes(), file
    refused = run("investigate", str(options["data"]), "--max-usd", "1", "--model", "openai:local",
                  "--shapes", str(options["shapes"]), "--ledger", str(ledger))  # fmt: skip
    assert refused.code == 2
    assert "the price of openai:local is not known" in refused.err


def test_a_question_is_read_by_the_model_and_its_choice_recorded(
    script: Script, tmp_path: Path
) -> None:
    options = recalls(tmp_path)
    propose = acting(good, lambda _: "{}", lambda _: "{}")
    script.answer = lambda prompt: '{"choice": 1}' if "# Readings" in prompt else propose(prompt)
    ledger = tmp_path / "ledger"
    ran = run(
        "ask",
        "why do samples lack a mass?",
        str(options["data"]),
        *("--model", "openai:local", "--yes", "--ledger", str(ledger), "--format", "json"),
    )
    assert ran.code == 0, ran.err
    assert "causes" in json.loads(ran.out)
    asked = (
        "SELECT ?p ?c { ?m a trails:ModelCall ; trails:purpose ?p . "
        "OPTIONAL { ?m trails:chosen ?c } }"
    )
    rows = run("query", asked, "--ledger", str(ledger), "--format", "csv").out
    assert "choose a reading,reading 1: Sample without mass" in rows
    assert "propose causes" in rows
    assert run("audit", "--ledger", str(ledger)).code == 0
    assert run("replay", "--ledger", str(ledger)).code == 0
    _put_to_another_model(script, ledger)
    _taken_elsewhere(ledger, tmp_path)


def _put_to_another_model(script: Script, ledger: Path) -> None:
    """The same question, put to a model that knows nothing, prints both outcomes."""
    script.answer = lambda _: "{}"
    before = {file: file.read_bytes() for file in (ledger / "blobs").iterdir()}
    ran = run("replay", "--model", "openai:other", "--ledger", str(ledger))
    assert ran.code == 0, ran.err
    recorded, now = ran.out.split("Now, with ")
    assert recorded.startswith("Recorded, with openai:local (")
    assert now.startswith("openai:other (")
    assert CAUSE in recorded
    assert CAUSE not in now
    assert before == {file: file.read_bytes() for file in (ledger / "blobs").iterdir()}
    assert run("replay", "--max-tokens", "5", "--ledger", str(ledger)).code == 2


def _taken_elsewhere(ledger: Path, folder: Path) -> None:
    """Prompts and answers go with a record: into another ledger, into a crate, and back."""
    texts = {file.name for file in (ledger / "blobs").iterdir()}
    other, third = folder / "other", folder / "third"
    for copy in (other, third):
        shutil.copytree(ledger, copy)
        shutil.rmtree(copy / "blobs")
    assert run("ledger", "add", str(ledger), "--ledger", str(other)).code == 0
    assert {file.name for file in (other / "blobs").iterdir()} == texts
    crate = folder / "crate.zip"
    made = run("export", "--as", "ro-crate", "--out", str(crate), "--ledger", str(ledger))
    assert made.code == 0, made.err
    with zipfile.ZipFile(crate) as packed:
        assert {f"blobs/{name}" for name in texts} <= set(packed.namelist())
        packed.extractall(folder / "unpacked")
    record = folder / "unpacked" / "record.nq"
    assert run("ledger", "add", str(record), "--ledger", str(third)).code == 0
    assert {file.name for file in (third / "blobs").iterdir()} == texts
