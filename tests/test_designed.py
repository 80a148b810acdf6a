"""A designed test bears out what was expected before it ran, or it does not."""

from typing import Any

import pytest

from kgreason.base.errors import OptionError
from kgreason.computation.designed import (
    CODE_KIND,
    QUERY_KIND,
    as_expected,
    designed_testers,
    designs_of,
)


@pytest.mark.parametrize(
    ("expect", "found", "count", "fits"),
    [
        (True, True, True, True),
        (True, 1, 1, False),
        (3, 3, 3, True),
        (3, 3.0, 3.0, True),
        ([{"a": "1"}, {"a": "2"}], [{"a": "2"}, {"a": "1"}], 2, True),
        ([{"a": "1"}], [{"a": "1"}, {"a": "1"}], 2, False),
        ({"least": 2}, [1, 2], 2, True),
        ({"least": 3}, [1, 2], 2, False),
        ({"most": 2.5}, 2.6, 2.6, False),
        ({"least": 1, "most": 2}, True, True, False),
        ({"least": 1}, "many", "many", False),
        (None, None, None, True),
    ],
)
def test_an_answer_fits_what_was_expected_or_not(
    expect: Any,
    found: Any,
    count: Any,
    fits: bool,  # noqa: FBT001
) -> None:
    assert as_expected(expect, found, count) is fits


def test_queries_and_code_are_two_kinds_of_test() -> None:
    designs = designs_of(
        [
            {"query": "ASK { ?s ?p ?o }", "expect": True},
            {"query": "SELECT ?s { ?s ?p ?o }", "code": "len(rows)", "expect": 1},
        ],
        "here",
    )
    found = {tester.kinds[0].name: tester for tester in designed_testers(designs)}
    assert set(found) == {QUERY_KIND, CODE_KIND}
    assert found[CODE_KIND].modality == "computation"
    assert list(designed_testers(())) == []


@pytest.mark.parametrize("given", ["text", {"query": "ASK {}"}, [1], [{"query": 1, "expect": 1}]])
def test_what_is_no_list_of_tests_is_refused(given: Any) -> None:
    with pytest.raises(OptionError, match="here"):
        designs_of(given, "here")
