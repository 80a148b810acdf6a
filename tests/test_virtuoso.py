"""Virtuoso as the graph: an engine that gets some queries wrong, and cuts answers."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import kgreason
from kgreason.audit import audit
from tests.lifetime_support import of
from tests.test_endpoint import SHAPES, feeds
from tests.virtuoso_server import Virtuoso, virtuoso_server

pytest.importorskip("httpx")
pytestmark = pytest.mark.slow
RUN: dict[str, Any] = {"try_repairs": False, "seed": 3}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("data")
    out = {}
    for name, content in feeds().items():
        out[name] = folder / f"{name.rpartition('/')[2]}.ttl"
        out[name].write_bytes(content)
    return out


@pytest.fixture(scope="module")
def server(data: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Virtuoso]:
    with virtuoso_server(data, tmp_path_factory.mktemp("virtuoso")) as served:
        yield served


def test_the_cause_is_that_of_files_and_nothing_is_changed(
    server: Virtuoso, data: dict[str, Path], tmp_path: Path
) -> None:
    shapes = tmp_path / "shapes.ttl"
    shapes.write_text(SHAPES, encoding="utf-8")
    # The server has graphs of its own; those of the data are named.
    only: dict[str, Any] = {"graphs": tuple(data)}
    before = server.holds()
    with (
        kgreason.investigate(server.address, shapes=shapes, **only, **RUN) as found,
        kgreason.investigate(next(iter(data.values())).parent, shapes=shapes, **RUN) as by_files,
    ):
        assert server.holds() == before
        (extract,) = of(found.record, "Extract").values()
        assert extract["dialect"] == ["virtuoso"]
        probes = {one["probeName"][0]: one for one in of(found.record, "Probe").values()}
        assert probes["same-term"]["passed"] == ["false"]
        (one,), (other,) = (run.as_dict()["symptoms"] for run in (found, by_files))
        for key in ("name", "verdict", "failing"):
            assert one[key] == other[key]
        (said,), (by,) = (run.as_dict()["causes"] for run in (found, by_files))
        assert said["statement"].replace("source 3 ", "source 3.ttl ") == by["statement"]
        assert said["explains"] == by["explains"]
        (confirmed,) = of(found.record, "Confirmation").values()
        assert confirmed["agrees"] == ["true"]
        assert audit(found.record).ok
