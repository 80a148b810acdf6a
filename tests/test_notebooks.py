"""The notebooks among the examples: stored without outputs, and they run."""

import json
from pathlib import Path

import pytest

from tests.example_support import EXAMPLES

NOTEBOOKS = sorted(EXAMPLES.glob("*.ipynb"))


def test_there_is_one_for_each_use() -> None:
    assert [one.stem for one in NOTEBOOKS] == ["academic", "supply-chain", "violations"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_are_stored_without_outputs(path: Path) -> None:
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert len(code) > 3
    assert all((cell["outputs"], cell["execution_count"]) == ([], None) for cell in code)


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_run(path: Path) -> None:
    client = pytest.importorskip("nbclient", reason="the extra `notebook` is not installed")
    nbformat = pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    pytest.importorskip("pandas")
    book = nbformat.read(path, as_version=4)
    client.NotebookClient(book, timeout=300, resources={"metadata": {"path": EXAMPLES}}).execute()
    shown = [out for cell in book.cells if cell.cell_type == "code" for out in cell.outputs]
    pages = [out["data"]["text/html"] for out in shown if "text/html" in out.get("data", {})]
    assert sum("<iframe sandbox" in page for page in pages) >= 2
    assert sum("<table" in page for page in pages) >= 1
