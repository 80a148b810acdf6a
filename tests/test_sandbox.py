"""Code of unknown authors gets at values that were handed in, and at nothing else."""

import json
from pathlib import Path

import pytest

from kgreason.base.figures import integer
from kgreason.computation.sandbox import SandboxError, run_code

pytest.importorskip("pydantic_monty")


def test_code_computes_over_the_values_it_is_given() -> None:
    code = "print('rows', len(rows))\nsum(row['n'] for row in rows) / len(rows)"
    done = run_code(code, {"rows": [{"n": 1}, {"n": 4}]})
    assert json.loads(done.value) == 2.5
    assert done.printed == "rows 2\n"


ESCAPES = {
    "a file": "open('{file}').read()",
    "a file by pathlib": "from pathlib import Path\nPath('{file}').read_text()",
    "a file is written": "open('{new}', 'w').write('x')",
    "a folder": "import os\nos.listdir('/')",
    "the environment": "import os\nos.environ['KGREASON_SECRET']",
    "the environment by getenv": "import os\nassert os.getenv('KGREASON_SECRET') is not None",
    "a socket": "import socket\nsocket.create_connection(('127.0.0.1', 9))",
    "a request": "import urllib.request\nurllib.request.urlopen('http://127.0.0.1:9')",
    "another process": "import subprocess\nsubprocess.run(['true'])",
    "a shell": "import os\nos.system('true')",
    "a fork": "import os\nos.fork()",
    "a module of the host": "import kgreason",
    "a module by name": "__import__('os').system('true')",
    "the interpreter": "import ctypes\nctypes.string_at(0)",
    "subclasses": "().__class__.__base__.__subclasses__()",
    "frames": "(lambda: 0).__globals__['__builtins__']",
    "compiled code": "exec(compile('import os; os.fork()', 'x', 'exec'))",
    "eval": "eval('__import__(\"socket\").socket()')",
    "an endless loop": "while True:\n    pass",
    "sleep": "import time\ntime.sleep(60)",
    "memory": "x = 'a' * 1_000_000_000",
    "memory by and by": "x = []\nwhile True:\n    x.append('a' * 1_000_000)",
    "a large number": "x = 10 ** (10 ** 9)",
    "deep recursion": "def f(n):\n    return f(n + 1)\nf(0)",
    "an output flood": "while True:\n    print('x' * 1000)",
    "a flood of results": "'x' * 1_000_000",
    "no plain value": "{{1, 2}}",
    "not a number": "float('nan')",
    "an exception": "1 / 0",
    "no Python": "def",
}


@pytest.mark.parametrize("name", ESCAPES)
def test_an_escape_is_stopped(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("hunter2", encoding="utf-8")
    monkeypatch.setenv("KGREASON_SECRET", "hunter2")
    code = ESCAPES[name].format(file=secret, new=tmp_path / "new")
    with pytest.raises(SandboxError) as caught:
        run_code(code, {})
    assert "hunter2" not in str(caught.value)
    assert [path.name for path in tmp_path.iterdir()] == ["secret.txt"]


def test_what_one_code_leaves_behind_another_does_not_find() -> None:
    run_code("left = 1", {})
    with pytest.raises(SandboxError, match="left"):
        run_code("left", {})


def test_printing_is_kept_up_to_the_limit() -> None:
    most = integer("codeCharacters")
    assert len(run_code(f"print('x' * {most - 1})", {}).printed) == most
    with pytest.raises(SandboxError, match=f"printed more than {most} characters"):
        run_code(f"print('x' * {most})", {})
