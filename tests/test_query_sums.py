"""Counts and sums of an outcome query are read as the plain form that asks the same."""

import pytest

from kgreason.shacl import readings

_P = "<urn:e:p>"
_ONE, _ALL = "?focus a <urn:e:C>", f"?focus {_P} ?v"
_MAYBE = f"{_ONE} OPTIONAL {{ ?focus {_P} ?v }}"
_MARKED = f"{_ONE} OPTIONAL {{ ?focus {_P} ?v BIND (1 AS ?h) }}"
_WITHIN = f"{_ONE} OPTIONAL {{ SELECT ?focus (COUNT(?v) AS ?n) {{ {_ALL} }} GROUP BY ?focus }}"
_CLASSED = f"{_ALL} OPTIONAL {{ ?v a ?k }}"
_X = 'STRSTARTS(STR(?v), "x")'


def _told(outcome: str, body: str) -> tuple[str, bool, frozenset[str]]:
    grouped = "" if body == _WITHIN else " GROUP BY ?focus"
    (found,) = readings(f"SELECT ?focus ({outcome} AS ?outcome) {{ {body} }}{grouped}")
    assert found.lacking or found.offending is not None
    return found.path.text, found.lacking, found.components


@pytest.mark.parametrize(
    ("outcome", "body"),
    [
        ("MIN(!BOUND(?v))", _MAYBE),
        ("COALESCE(MAX(?h), 0) = 0", _MARKED),
        ("COALESCE(SUM(?h), 0) = 0", _MARKED),
        ("COALESCE(?n, 0) = 0", _WITHIN),
        ("COALESCE(MAX(?v), 'none') = 'none'", _MAYBE),
        ("GROUP_CONCAT(?v) = ''", _MAYBE),
        ("STRLEN(GROUP_CONCAT(?v)) = 0", _MAYBE),
        (f"COUNT(IF(?by = {_P}, 1, ?none)) = 0", "?focus ?by ?v"),
        ("COUNT(IF(!BOUND(?v), ?none, 1)) < 1", _MAYBE),
        ("AVG(IF(BOUND(?v), 1, 0)) = 0", _MAYBE),
    ],
)
def test_no_value_is_read_from_a_count_of_none(outcome: str, body: str) -> None:
    assert _told(outcome, body) == (_P, True, frozenset({"MinCount"}))


@pytest.mark.parametrize(
    ("outcome", "body"),
    [
        ("COUNT(?b) > 0", f"{_ALL} OPTIONAL {{ ?focus {_P} ?b FILTER (STRSTARTS(STR(?b), 'x')) }}"),
        (f"COUNT(?v) != SUM(IF({_X}, 0, 1))", _ALL),
        (f"SUM(IF({_X}, 0, 1)) < COUNT(?v)", _ALL),
        (f"COUNT(IF({_X}, 1, ?none)) > 0", _ALL),
        ("COUNT(?bare) >= 1", f"{_ALL} BIND (IF({_X}, ?v, ?none) AS ?bare)"),
        (f"AVG(IF({_X}, 1, 0)) > 0", _ALL),
        (f"MIN(!{_X}) = false", _ALL),
        (f"SUM(IF({_X}, 1, 0)) != 0", _ALL),
    ],
)
def test_a_wrong_value_is_read_from_a_count_of_some(outcome: str, body: str) -> None:
    assert _told(outcome, body) == (_P, False, frozenset({"Pattern"}))


@pytest.mark.parametrize(
    "outcome",
    ["COUNT(?v) > COUNT(?k)", "COUNT(?k) < COUNT(*)", "COUNT(?v) - COUNT(?k) > 0",
     "COUNT(?v) != COUNT(?k)", "MIN(BOUND(?k)) = false"],
)  # fmt: skip
def test_fewer_classes_than_values_are_values_without_one(outcome: str) -> None:
    path, lacking, components = _told(outcome, _CLASSED)
    assert (path, lacking) == (_P, False)
    assert "Node" in components


def test_what_is_counted_in_a_language_is_lacking_in_it() -> None:
    for outcome in (
        "COUNT(IF(LANG(?v) = 'en', 1, ?none)) = 0",
        "!CONTAINS(GROUP_CONCAT(LANG(?v)), 'en')",
    ):
        _, lacking, components = _told(outcome, _ALL)
        assert lacking
        assert {"LanguageIn", "MinCount"} <= components


@pytest.mark.parametrize(
    ("outcome", "body"),
    [
        ("COALESCE(MAX(?v), 'none') = 'some'", _MAYBE),
        ("COUNT(IF(?w = 1, ?none, ?never)) = 0", f"{_ALL} ; <urn:e:w> ?w"),
        ("COUNT(?v) > COUNT(?v)", _MAYBE),
    ],
)
def test_what_asks_something_else_is_no_lack(outcome: str, body: str) -> None:
    found = readings(f"SELECT ?focus ({outcome} AS ?outcome) {{ {body} }} GROUP BY ?focus")
    assert all(not one.components & {"QualifiedMinCount"} for one in found)
    assert not any(one.lacking and one.components == {"MinCount"} for one in found)


def test_what_lies_behind_a_value_is_lacking_with_the_way_to_it() -> None:
    behind = f"{_ALL} OPTIONAL {{ ?v a <urn:e:C> ; <urn:e:label> ?k }}"
    (found,) = readings(
        f"SELECT ?focus (SUM(IF(BOUND(?k), 1, 0)) = 0 AS ?outcome) {{ {behind} }} GROUP BY ?focus"
    )
    assert (found.path.text, found.lacking) == (_P, True)
    assert "Class" in found.components


def test_a_class_at_the_end_of_a_path_is_one_of_the_value_before() -> None:
    asked = f"BIND (NOT EXISTS {{ ?focus {_P}/a <urn:e:C> }} AS ?outcome)"
    (found,) = readings(f"SELECT ?focus ?outcome {{ {_ONE} {asked} }}")
    assert (found.path.text, found.lacking) == (_P, True)
    assert "Class" in found.components
