"""What a notebook needs: frames, an outcome from a frame, the first screen, the pictures."""

import html
import re
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree as ET

import pytest

import kgreason
from kgreason.api.outcome_frame import outcome_of
from kgreason.base.errors import OptionError
from kgreason.report import frames
from tests.example_support import EXAMPLES

MUSEUM = EXAMPLES / "museum"
KINDS = {"to_pandas": "pandas", "to_polars": "polars", "to_arrow": "pyarrow"}


@pytest.fixture(scope="module")
def result() -> Iterator[kgreason.Result]:
    with kgreason.investigate(MUSEUM / "data", shapes=MUSEUM / "shapes.ttl") as made:
        yield made


@pytest.mark.parametrize("of", ["symptoms", "causes", "nodes", "evidence"])
def test_there_are_rows_of_everything(result: kgreason.Result, of: str) -> None:
    rows = result.rows(of)
    assert rows
    assert all(row.keys() == rows[0].keys() for row in rows)
    plain = (str, int, float, bool, type(None))
    assert all(isinstance(value, plain) for row in rows for value in row.values())


def test_rows_of_causes_and_nodes_say_what_the_result_says(result: kgreason.Result) -> None:
    first = result.causes[0]
    row = result.rows("causes")[0]
    assert (row["cause"], row["statement"], row["explains"]) == (
        first.id,
        first.statement,
        first.explains,
    )
    nodes = [one for one in result.rows("nodes") if one["cause"] == first.id]
    assert len({one["node"] for one in nodes if one["fails"]}) == first.explains
    with pytest.raises(OptionError, match="symptoms, causes, nodes and evidence"):
        result.rows("reasons")


@pytest.mark.parametrize("kind", KINDS)
def test_rows_are_frames_where_the_library_is_there(result: kgreason.Result, kind: str) -> None:
    pytest.importorskip(KINDS[kind])
    for of in ("symptoms", "causes", "nodes", "evidence"):
        frame = getattr(result, kind)(of)
        assert len(frame) == len(result.rows(of))
        names = getattr(frame, "column_names", None) or list(frame.columns)
        assert list(names) == list(result.rows(of)[0])
    nodes = result.nodes(result.causes[0])
    assert len(getattr(nodes, kind)()) == len(nodes.rows())


def test_a_library_that_is_not_there_is_named(
    result: kgreason.Result, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(name: str) -> Any:
        raise ImportError(name)

    monkeypatch.setattr(frames, "import_module", missing)
    with pytest.raises(OptionError, match=r"pandas is not installed; .*pip install pandas"):
        result.to_pandas("causes")


class Column(list[Any]):
    """A column as Arrow has it."""

    def to_pylist(self) -> list[Any]:
        return list(self)


class Table(dict[str, Column]):
    """A table as Arrow has it."""

    @property
    def column_names(self) -> list[str]:
        return list(self)


NODES = ["urn:a", "<urn:b>", SimpleNamespace(value="urn:c")]
VALUES = [True, None, 2.5]
SAID = '(<urn:a> "true"^^<http://www.w3.org/2001/XMLSchema#boolean>)'


@pytest.mark.parametrize(
    "given",
    [
        list(zip(NODES, VALUES, strict=True)),
        {"node": NODES, "value": VALUES},
        Table(node=Column(NODES), value=Column(VALUES)),
        {"urn:a": True, "urn:b": float("nan"), "urn:c": 2.5},
    ],
)
def test_an_outcome_is_a_frame_or_pairs(given: Any) -> None:
    query = outcome_of(given)
    assert SAID in query
    assert "urn:b" not in query
    assert '(<urn:c> "2.5"^^<http://www.w3.org/2001/XMLSchema#double>)' in query


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([("no iri", True)], "no absolute IRI"),
        ([("urn:a> } #", True)], "no absolute IRI"),
        ([("urn:a", "yes")], "neither a boolean nor a number"),
        ([("urn:a",)], "no pair"),
        (Table(node=Column(["urn:a"])), "no column 'value'"),
        ([], "no node with a value"),
        (7, "give a query, a file, a frame"),
    ],
)
def test_a_bad_outcome_is_told_in_one_sentence(given: Any, said: str) -> None:
    with pytest.raises(OptionError, match=said) as found:
        kgreason.investigate(MUSEUM / "data", outcome=given)
    assert str(found.value).count("\n") == 0


def test_an_outcome_from_a_frame_is_that_of_a_query(result: kgreason.Result) -> None:
    nodes = result.nodes(result.causes[0])
    pairs = [(one.node, bool(one.fails)) for one in nodes]
    seen = kgreason.symptoms(MUSEUM / "data", outcome=outcome_of(pairs))
    assert [one.failing for one in seen] == [sum(value for _, value in pairs)]


def test_a_notebook_shows_the_first_screen_in_a_frame(result: kgreason.Result) -> None:
    shown = result._repr_html_()
    begin = r'<iframe sandbox title="[^"]+" style="[^"]+" '
    found = re.fullmatch(begin + r'srcdoc="([^"]*)"></iframe>', shown)
    assert found is not None
    page = html.unescape(found[1])
    assert "default-src 'none'" in page
    for cause in result.causes:
        assert f'<span class="id">{cause.id}</span>' in page
    assert "How sure:" in page
    assert "Next:" in page
    assert "href=" not in page
    assert "<script" not in page


def test_the_pictures_of_a_cause_are_those_of_the_page(result: kgreason.Result) -> None:
    page = result.html()
    for cause in result.causes:
        made = result.plot(cause)
        assert made.svgs == result.plot(cause.id).svgs
        assert len(made.titles) == len(made.svgs) > 0
        for title, svg in zip(made.titles, made.svgs, strict=True):
            root = ET.fromstring(svg)  # noqa: S314 - our own text
            assert root.tag == "{http://www.w3.org/2000/svg}svg"
            assert f"<figcaption>{title}</figcaption>" in page
            assert svg.partition(">")[2] in page
        assert made._repr_html_().startswith("<iframe sandbox ")
    with pytest.raises(OptionError, match="no pictures of C99; there are those of: C1"):
        result.plot("C99")
