"""What a query asks of its nodes, read as constraints say it, and what is told of it."""

import sys
from pathlib import Path
from typing import Any

import pytest
from pyoxigraph import Literal

import kgreason
from kgreason.base.terms import SH
from kgreason.graph import load
from kgreason.shacl import Reading, bound_to, compile_shapes, read_shapes, readings
from kgreason.shacl.asked_terms import asked_terms

_P = "<https://example.org/v#theme>"
_Q = "<https://example.org/v#other>"
_C = "<https://example.org/v#Theme>"


def _asked(body: str) -> str:
    bound = f"BIND (EXISTS {{ {body} }} AS ?outcome)"
    return f"SELECT ?focus ?outcome WHERE {{ ?focus {_P} ?any {bound} }}"


def _alone(query: str) -> Reading:
    found = readings(query)
    assert len(found) == 1
    return found[0]


_HEAD = f"SELECT ?focus ?outcome {{ ?focus a {_C}"
_OPTION = f"OPTIONAL {{ ?focus {_P} ?v }}"
_COUNTED = f"SELECT ?focus (COUNT(?v) AS ?n) {{ ?focus a {_C} {_OPTION} }} GROUP BY ?focus"
_OKAY = f"OPTIONAL {{ ?focus {_P} ?v BIND (true AS ?ok) }}"
_LESS = f"?focus a {_C} MINUS {{ ?focus {_P} ?v }} BIND (true AS ?outcome)"
_MINUS = f"SELECT ?focus ?outcome {{ {{ {_LESS} }}"
_TOLD = f"{{ ?focus a {_C} {_OPTION} BIND (IF(BOUND(?v), 1, 0) AS ?is) }}"
_ARMS = f"{{ ?focus {_P} ?v BIND (1 AS ?right) }} UNION {{ ?focus {_Q} ?v BIND (0 AS ?right) }}"
_RIGHT = f"BIND (<http://www.w3.org/2001/XMLSchema#integer>(?by = {_P}) AS ?right)"
_EITHER = f"?focus ?by ?v FILTER (?by IN ({_P}, {_Q})) {_RIGHT}"
_ENDS = 'FILTER (STRENDS(STR(?by), "theme"))'
_ENDING = f"?focus ?by ?v {_ENDS} BIND (IF(?by = {_P}, 0, 1) AS ?odd)"
_LACKS = (
    f"SELECT ?focus (!BOUND(?v) AS ?outcome) {{ ?focus a {_C} {_OPTION} }}",
    f"SELECT ?focus (COUNT(?v) = 0 AS ?outcome) {{ ?focus a {_C} {_OPTION} }} GROUP BY ?focus",
    f"{_MINUS} UNION {{ ?focus {_P} ?v BIND (false AS ?outcome) }} }}",
    f"{_HEAD} {_OKAY} BIND (!COALESCE(?ok, false) AS ?outcome) }}",
    f"{_HEAD} BIND (IF(EXISTS {{ ?focus {_P} ?v }}, false, true) AS ?outcome) }}",
    f"{_HEAD} {{ {_COUNTED} }} BIND (?n < 1 AS ?outcome) }}",
    f"SELECT ?focus (MAX(?is) = 0 AS ?outcome) {_TOLD} GROUP BY ?focus",
    f"SELECT ?focus (!(SUM(?is) > 0) AS ?outcome) {_TOLD} GROUP BY ?focus",
    f"SELECT ?focus (IF(MAX(?is) < 1, true, false) AS ?outcome) {_TOLD} GROUP BY ?focus",
    f"SELECT ?focus (SUM(?right) = 0 AS ?outcome) {{ {_ARMS} }} GROUP BY ?focus",
    f"SELECT ?focus (MAX(?right) = 0 AS ?outcome) {{ {_EITHER} }} GROUP BY ?focus",
    f"SELECT ?focus (MIN(?odd) = 1 AS ?outcome) {{ {_ENDING} }} GROUP BY ?focus",
)


@pytest.mark.parametrize("query", _LACKS)
def test_a_lack_is_read_from_whatever_form_it_has(query: str) -> None:
    found = _alone(query)
    assert (found.lacking, found.path.text, set(found.components)) == (True, _P, {"MinCount"})


_FAULTS = {
    "DATATYPE(?v) != <http://www.w3.org/2001/XMLSchema#date>": "Datatype",
    'LANG(?v) = ""': "LanguageIn",
    '!LANGMATCHES(LANG(?v), "en")': "LanguageIn",
    "isLiteral(?v)": "NodeKind",
    'REGEX(STR(?v), "^x")': "Pattern",
    'CONTAINS(LCASE(?v), "x")': "Pattern",
    "STRLEN(?v) > 3": "MinLength",
    "?v > 3": "MinInclusive",
    "?v NOT IN (<urn:a>, <urn:b>)": "In",
    "?v != <urn:a> && ?v != <urn:b>": "In",
    f"NOT EXISTS {{ ?v a {_C} }}": "Class",
    "NOT EXISTS { ?v ?any ?thing }": "Node",
}


@pytest.mark.parametrize("test", sorted(_FAULTS))
def test_what_a_value_must_not_be_is_read_inside_an_exists_or_beside_it(test: str) -> None:
    inside = f"BIND (EXISTS {{ ?focus {_P} ?v FILTER ({test}) }} AS ?outcome)"
    beside = f"?focus {_P} ?v BIND ({test} AS ?outcome)"
    for body in (inside, beside):
        found = _alone(f"SELECT ?focus ?outcome {{ ?focus a {_C} . {body} }}")
        assert not found.lacking
        assert found.path.text == _P
        assert _FAULTS[test] in found.components
        assert found.offending is not None
        assert f"?focus {_P} ?value ." in found.offending.text


_EXTREMES = {
    "MIN(STRLEN(LANG(?v))) = 0": ("LanguageIn", '(STRLEN(LANG(?value)) = "0"'),
    "0 = MIN(STRLEN(LANG(?v)))": ("LanguageIn", '(STRLEN(LANG(?value)) = "0"'),
    "MAX(STRLEN(?v)) > 80": ("MinLength", '(STRLEN(?value) > "80"'),
    "MIN(?v) < 3": ("MinInclusive", '(?value < "3"'),
}


@pytest.mark.parametrize("test", sorted(_EXTREMES))
def test_where_the_least_or_greatest_value_is_at_fault_one_is(test: str) -> None:
    found = _alone(f"SELECT ?focus ({test} AS ?outcome) {{ ?focus {_P} ?v }} GROUP BY ?focus")
    component, written = _EXTREMES[test]
    assert component in found.components
    assert found.offending is not None
    assert written in found.offending.text


def test_that_all_values_are_beyond_a_bound_is_asked_of_no_value_alone() -> None:
    query = f"SELECT ?focus (MIN(?v) > 3 AS ?outcome) {{ ?focus {_P} ?v }} GROUP BY ?focus"
    assert all(one.offending is None for one in readings(query))


@pytest.mark.parametrize("test", ["COUNT(?v) > COUNT(DISTINCT LANG(?v))",
                                  "COUNT(DISTINCT LANG(?v)) < COUNT(?v)",
                                  "COUNT(DISTINCT LANG(?v)) != COUNT(?v)"])  # fmt: skip
def test_more_values_than_languages_are_several_in_one_language(test: str) -> None:
    found = _alone(f"SELECT ?focus ({test} AS ?outcome) {{ ?focus {_P} ?v }} GROUP BY ?focus")
    assert (found.lacking, found.most, set(found.components)) == (False, 1, {"UniqueLang"})


def test_a_code_that_a_regular_expression_writes_is_no_escape_of_the_query() -> None:
    found = _alone(_asked(f'?focus {_P} ?v FILTER (REGEX(?v, "[^\\\\u0000-\\\\u007f]"))'))
    assert found.offending is not None
    assert '"[^\\\\u0000-\\\\u007f]"' in found.offending.text
    plain = _alone(_asked(f'?focus {_P} ?v FILTER (CONTAINS(?v, "\\u00D5"))'))
    assert plain.offending is not None
    assert "Õ" in plain.offending.text


def test_paths_choices_and_counts_are_read() -> None:
    def asked(body: str) -> list[tuple[str, bool, set[str]]]:
        found = readings(f"SELECT ?focus ?outcome {{ ?focus a {_C} BIND ({body} AS ?outcome) }}")
        return [(one.path.text, one.lacking, set(one.components)) for one in found]

    lack = {"MinCount"}
    assert asked(f"NOT EXISTS {{ ?focus {_P} [ {_Q} ?z ] }}") == [(f"{_P}/{_Q}", True, lack)]
    either = asked(f"NOT EXISTS {{ ?focus {_P} ?x ; {_Q} ?y }}")
    assert either == [(_P, True, lack), (_Q, True, lack)]
    assert asked(f"NOT EXISTS {{ ?focus {_P}|^{_Q} ?x }}") == [
        (_P, True, lack),
        (f"^{_Q}", True, lack),
    ]
    typed = {"MinCount", "QualifiedMinCount", "Class"}
    assert asked(f"NOT EXISTS {{ ?focus {_P} ?x . ?x a {_C} }}") == [(_P, True, typed)]
    many = f"SELECT ?focus (COUNT(?v) AS ?outcome) {{ ?focus {_P} ?v }} GROUP BY ?focus"
    found = readings(many, at="3")
    assert [(one.path.text, one.most) for one in found] == [(_P, 2)]
    for test, least in (("< 2", ["2"]), ("<= 2", ["3"]), ("< 1", []), ("= 0", [])):
        inner = f"SELECT ?focus (COUNT(?v) AS ?n) {{ ?focus {_P} ?v }} GROUP BY ?focus"
        few = f"SELECT ?focus ?outcome {{ {{ {inner} }} BIND (?n {test} AS ?outcome) }}"
        (read,) = readings(few)
        assert (read.path.text, read.lacking, set(read.components)) == (_P, True, lack)
        wanted = read.parameters.get(SH.minCount, ())
        assert [term.value for term in wanted if isinstance(term, Literal)] == least
        assert read.asks == (not least)
    given = readings(f"SELECT $this {{ $this {_P} ?x FILTER (isLiteral(?x)) }}", focus="this")
    assert given[0].offending is not None
    assert given[0].offending.text == f"?focus {_P} ?value . FILTER (isLITERAL(?value))"


def test_what_only_says_who_is_looked_at_is_no_fault() -> None:
    chosen = f"?focus a ?kind FILTER (?kind IN ({_C}, <urn:other>))"
    query = (
        f"SELECT ?focus ?outcome {{ {{ SELECT DISTINCT ?focus {{ {chosen} }} }}"
        f" BIND (EXISTS {{ {chosen} . ?focus {_P} ?x FILTER (isLiteral(?x)) }} AS ?outcome) }}"
    )
    assert _alone(query).path.text == _P


def test_values_that_a_query_lists_as_right_are_known() -> None:
    found = _alone(_asked(f"?focus {_P} ?x FILTER (?x NOT IN (<urn:one>, <urn:two>))"))
    assert [one.value for one in found.allowed] == ["urn:one", "urn:two"]


def test_what_compares_two_ends_or_the_node_itself_says_nothing_of_one_alone() -> None:
    later = readings(_asked(f"?focus {_P} ?x . ?focus {_Q} ?y FILTER (?x < ?y)"))
    assert {(one.path.text, *one.components) for one in later} == {
        (_P, "LessThan"),
        (_Q, "LessThan"),
    }
    # They fail where x comes first, so y has to.
    assert [f"<{one.compared.value}>" for one in later if one.compared] == [_P]
    assert next(one for one in later if one.compared).path.text == _Q
    several = _alone(_asked(f'?focus {_P} ?x, ?y FILTER (?x != ?y && LANG(?x) = "en")'))
    assert set(several.components) == {"MaxCount"}
    assert several.most == 1
    assert several.offending is None
    assert readings(_asked(f"?focus {_P} ?x FILTER (?x = ?focus)")) == ()
    assert readings(_asked(f"?focus {_P} ?x")) == ()
    assert readings("SELECT ?focus ?outcome { GRAPH ?g { ?focus <urn:p> ?outcome } }") == ()


@pytest.mark.parametrize(
    ("made", "asked"),
    [
        ("IF (BOUND(?p), 0, 1)", "MAX(?is) = 1"),
        ("IF (!BOUND(?p), 1, 0)", "SUM(?is) > 0"),
        ("IF (BOUND(?p), 1, 0)", "MIN(?is) = 0"),
    ],
)
def test_whether_any_value_has_nothing_behind_it_is_read_from_ones_and_noughts(
    made: str, asked: str
) -> None:
    found = _alone(
        f"SELECT ?focus ({asked} AS ?outcome) {{ ?focus {_P} ?v OPTIONAL {{ ?v ?p ?o }}"
        f" BIND ({made} AS ?is) }} GROUP BY ?focus"
    )
    assert (found.path.text, found.lacking, found.described) == (_P, False, True)
    assert found.offending is not None


@pytest.mark.parametrize(
    "counted",
    ['IF(LANG(?v) = "jp", 1, 0)', '<http://www.w3.org/2001/XMLSchema#integer>(LANG(?v) = "jp")'],
)
def test_a_sum_of_ones_asks_whether_there_is_any(counted: str) -> None:
    bound = f"BIND ({counted} AS ?one)"
    query = (
        f"SELECT ?focus (SUM(?one) > 0 AS ?outcome) {{ ?focus {_P} ?v {bound} }} GROUP BY ?focus"
    )
    found = _alone(query)
    assert found.components == {"LanguageIn"}
    assert found.offending is not None
    assert '(LANG(?value) = "jp")' in found.offending.text
    twos = query.replace("1, 0", "2, 0").replace("integer", "string")
    assert all(one.offending is None for one in readings(twos))


def test_a_lack_of_any_value_of_a_kind_is_read_from_a_coalesce_and_from_a_sum() -> None:
    told = "BIND (COALESCE(isIRI(?v), false) AS ?told) BIND (!?told AS ?outcome)"
    kind = _alone(f"{_HEAD} {_OPTION} {told} }}")
    assert kind.lacking
    assert kind.components == {"MinCount", "NodeKind", "QualifiedMinCount"}
    fits = "BIND (IF(BOUND(?v) && ?v IN (<urn:one>, <urn:two>), 1, 0) AS ?fits)"
    listed = _alone(
        f"SELECT ?focus (SUM(?fits) = 0 AS ?outcome) {{ ?focus a {_C} {_OPTION} {fits} }}"
        " GROUP BY ?focus"
    )
    assert listed.lacking
    assert "In" in listed.components


def test_predicates_that_a_query_lists_are_read_one_by_one() -> None:
    body = f'VALUES ?by {{ {_P} {_Q} }} ?focus ?by ?v BIND (LANG(?v) = "de" AS ?outcome)'
    found = readings(f"SELECT ?focus ?outcome {{ {body} }}")
    assert [(one.path.text, set(one.components)) for one in found] == [
        (_P, {"LanguageIn"}),
        (_Q, {"LanguageIn"}),
    ]
    assert readings(f"SELECT ?focus ?outcome {{ {body.replace(f'{_P} {_Q}', 'UNDEF')} }}") == ()


@pytest.mark.parametrize("test", [f"?by = {_P}", f"?by != {_Q}", f"!(?by IN ({_Q}))"])
def test_what_is_asked_of_one_of_the_listed_properties_is_read_of_it_alone(test: str) -> None:
    head = f'SELECT ?focus (SUM(IF({test} && LANG(?v) = "", 1, 0)) > 0 AS ?outcome)'
    found = _alone(f"{head} {{ VALUES ?by {{ {_P} {_Q} }} ?focus ?by ?v }} GROUP BY ?focus")
    assert found.path.text == _P
    assert found.components == {"LanguageIn", "Datatype"}
    assert found.offending is not None
    assert "by" not in found.offending.text


@pytest.mark.parametrize(
    "body",
    [
        f"?focus {_P} ?x VALUES ?x {{ <urn:a> UNDEF }} BIND (isIRI(?x) AS ?outcome)",
        f"?focus !(<urn:p>|^<urn:q>) ?x . ?x {_P} ?y BIND (isIRI(?y) AS ?outcome)",
        f"?focus {_P} ?x BIND (EXISTS {{ GRAPH ?g {{ ?x {_Q} 1 }} }} AS ?outcome)",
        f"?focus {_P} ?x BIND (COALESCE(?x, 1, 2) AS ?outcome)",
        f"?focus {_P} ?x BIND (?x IN () AS ?outcome)",
        "VALUES (?focus ?outcome) { (<urn:a> true) (UNDEF false) }",
        "SELECT * { ?focus ?p ?outcome }",
        "BIND (<urn:f>(?focus) AS ?outcome)",
    ],
)
def test_a_form_that_is_not_read_is_no_error_of_the_reader(body: str) -> None:
    for query in (f"SELECT ?focus ?outcome {{ {body} }}", f"SELECT * {{ {body} }}", body):
        assert isinstance(readings(query), tuple)


def test_an_error_of_the_reader_itself_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise KeyError("a fault of the reader")

    monkeypatch.setattr(sys.modules["kgreason.shacl.readings"], "rows_of", broken)
    with pytest.raises(KeyError, match="a fault of the reader"):
        readings("SELECT ?focus ?outcome { ?focus <urn:unhidden> ?outcome }")


def test_a_value_is_at_fault_for_what_is_said_of_it() -> None:
    found = _alone(_asked(f"?focus {_P} ?x . ?x <urn:ended> true"))
    assert (found.path.text, found.lacking, found.described) == (_P, False, True)
    assert found.offending is not None
    assert "?value <urn:ended>" in found.offending.text


_SHAPES = """
@prefix sh: <http://www.w3.org/ns/shacl#> . @prefix e: <urn:e:> .
e:DishShape a sh:NodeShape ; sh:targetClass e:Dish ;
  sh:sparql [ sh:select \"\"\"SELECT $this WHERE { %s }\"\"\" ] .
"""


def test_what_wrong_texts_of_an_outcome_have_in_common_is_their_form(tmp_path: Path) -> None:
    rows = [
        f'e:n{n} a e:Dish ; e:code "{f"old~{n}x{n * 7 % 11}" if n % 5 == 0 else f"c:{n}"}" .'
        for n in range(100)
    ]
    asks = "EXISTS { ?focus <urn:e:code> ?code FILTER (!REGEX(?code, '^[^:]+:.+')) }"
    leader = _leader(tmp_path, rows, _UNTIMED % asks)
    assert leader is not None
    assert (leader["kind"], leader["inside"]["failing"]) == ("value", 20)
    assert "old" in leader["statement"]


def test_a_piece_of_the_text_that_a_query_looks_for_says_the_query_again(tmp_path: Path) -> None:
    rows = [
        f'e:n{n} a e:Dish ; e:code "{f"old {n}x{n * 7 % 11}." if n % 5 == 0 else f"c {n}"}" .'
        for n in range(100)
    ]
    asks = "EXISTS { ?focus <urn:e:code> ?code FILTER (REGEX(?code, '[.]$')) }"
    leader = _leader(tmp_path, rows, _UNTIMED % asks)
    assert leader is None or leader["kind"] != "value"


def test_a_query_of_a_shape_is_read_as_an_outcome_is(tmp_path: Path) -> None:
    shapes = _SHAPES % "$this a <urn:e:Dish> FILTER NOT EXISTS { $this <urn:e:cookTime> ?time }"
    (tmp_path / "shapes.ttl").write_text(shapes, encoding="utf-8")
    (tmp_path / "data.ttl").write_text(
        "@prefix e: <urn:e:> .\n" + "\n".join(_recipes(both=False)), encoding="utf-8"
    )
    result = kgreason.investigate(tmp_path / "data.ttl", shapes=tmp_path / "shapes.ttl")
    told = result.as_dict()["symptoms"][0]["hypotheses"]
    leader = next(one for one in told if one["status"] == "supported")
    assert (leader["kind"], leader["inside"]["failing"]) == ("mapping", 20)
    assert "cookTime may stand under cookingTime" in leader["statement"]


def test_a_query_of_a_shape_has_its_path_in_place(tmp_path: Path) -> None:
    text = _SHAPES % "$this $PATH ?value . FILTER (isLiteral(?value))"
    text = text.replace("sh:sparql [", "sh:property [ sh:path e:theme ; sh:sparql [")
    (tmp_path / "shapes.ttl").write_text(text.replace("] .", "] ] ."), encoding="utf-8")
    (tmp_path / "data.ttl").write_text("<urn:e:a> a <urn:e:Dish> .", encoding="utf-8")
    shapes, graph = read_shapes([tmp_path / "shapes.ttl"]), load([tmp_path / "data.ttl"])
    made = compile_shapes(shapes, graph).constraints[0]
    assert [one.path.text for one in made.readings] == ["<urn:e:theme>"]


def test_a_count_of_values_that_are_one_term_asks_for_that_term() -> None:
    option = f"OPTIONAL {{ ?focus {_P} ?v FILTER (?v = <urn:right>) }}"
    found = _alone(
        f"SELECT ?focus (COUNT(?v) = 0 AS ?outcome) {{ ?focus a {_C} {option} }} GROUP BY ?focus"
    )
    assert (found.lacking, set(found.components)) == (True, {"HasValue", "In"})
    assert [term.value for term in found.allowed] == ["urn:right"]


def test_brackets_in_texts_do_not_end_an_expression() -> None:
    assert bound_to('BIND (STR("(") AS ?outcome)', "?outcome") == ['STR("(") ']


def test_a_link_to_what_is_not_there_is_told_and_no_sign_behind_it(tmp_path: Path) -> None:
    rows = ["@prefix e: <https://example.org/v#> ."]
    for n in range(120):
        theme = "<https://other.org/gone>" if n % 4 == 0 else f"e:theme{n % 3}"
        rows.append(f"e:node{n} a e:Node ; e:theme {theme} ; e:size {n % 7} .")
    rows += [f'e:theme{n} a e:Theme ; e:label "theme {n}" ; e:by e:me .' for n in range(3)]
    (tmp_path / "data.ttl").write_text("\n".join(rows), encoding="utf-8")
    asked = _asked(f"?focus {_P} ?x . FILTER NOT EXISTS {{ ?x a <https://example.org/v#Theme> }}")
    result = kgreason.investigate(tmp_path / "data.ttl", outcome=asked)
    told = result.as_dict()["symptoms"][0]["hypotheses"]
    first = next(one for one in told if one["status"] == "supported")
    assert (first["kind"], first["inside"]["failing"]) == ("reference", 30)
    assert "is not described" in first["statement"]


def _leader(tmp_path: Path, rows: list[str], query: str) -> dict[str, Any] | None:
    (tmp_path / "data.ttl").write_text(
        "@prefix e: <urn:e:> .\n" + "\n".join(rows), encoding="utf-8"
    )
    result = kgreason.investigate(tmp_path / "data.ttl", outcome=query)
    told = result.as_dict()["symptoms"][0]["hypotheses"]
    return next((one for one in told if one["status"] == "supported"), None)


def _recipes(*, both: bool) -> list[str]:
    """Dishes whose time of cooking is e:cookTime; a fifth has it as e:cookingTime."""
    rows = []
    for n in range(100):
        slip = n % 5 == 0
        when = "e:cookingTime" if slip else "e:cookTime"
        rows.append(
            f'e:dish{n} a e:Dish ; {when} {n % 40} ; e:serves {n % 6} ; e:name "dish {n}" .'
        )
        if both and n % 2:
            rows.append(f"e:dish{n} e:cookingTime {n % 40} .")
    return rows


_UNTIMED = "SELECT ?focus ?outcome { ?focus a <urn:e:Dish> BIND (%s AS ?outcome) }"


def test_a_lack_that_a_query_tells_is_a_value_under_another_property(tmp_path: Path) -> None:
    lacks = _UNTIMED % "NOT EXISTS { ?focus <urn:e:cookTime> ?time }"
    leader = _leader(tmp_path, _recipes(both=False), lacks)
    assert leader is not None
    assert (leader["kind"], leader["inside"]["failing"]) == ("mapping", 20)
    assert "cookTime may stand under cookingTime" in leader["statement"]


def test_a_property_that_most_have_beside_the_right_one_is_no_slip(tmp_path: Path) -> None:
    lacks = _UNTIMED % "NOT EXISTS { ?focus <urn:e:cookTime> ?time }"
    leader = _leader(tmp_path, _recipes(both=True), lacks)
    assert leader is None or leader["kind"] != "mapping"


def test_a_wrong_form_that_a_query_tells_is_told_as_such(tmp_path: Path) -> None:
    right = '"2024-1{}-0{}"^^e:day'
    wrong = '"0{}.1{}.2024"'
    rows = [
        f"e:train{n} a e:Train ; e:seats {n} ;"
        f" e:leaves {(right if n % 4 else wrong).format(n % 3, 1 + n % 9)} ."
        for n in range(80)
    ]
    query = (
        "SELECT ?focus ?outcome { ?focus a <urn:e:Train> ; <urn:e:leaves> ?day"
        " BIND (DATATYPE(?day) AS ?kind) BIND (?kind != <urn:e:day> AS ?outcome) }"
    )
    leader = _leader(tmp_path, rows, query)
    assert leader is not None
    assert leader["kind"] in {"datatype", "value"}
    assert leader["inside"]["failing"] == 20


def test_one_wrong_form_of_two_properties_is_told_of_both(tmp_path: Path) -> None:
    rows = []
    for n in range(60):
        tag, more = ("" if n % 3 == 0 else "@en"), ("" if n % 6 == 0 else "@en")
        rows.append(
            f'e:n{n} e:label "label {n}"{tag} , "etiket {n}"@nl ; e:note "note {n}"{more} .'
        )
    query = (
        "SELECT ?focus (SUM(?plain) > 0 AS ?outcome) { ?focus <urn:e:label>|<urn:e:note> ?text"
        ' BIND (IF(LANG(?text) = "", 1, 0) AS ?plain) } GROUP BY ?focus'
    )
    leader = _leader(tmp_path, rows, query)
    assert leader is not None
    told = "The values of label were written as texts without a language."
    assert leader["statement"] == told
    assert leader["inside"] == {"failing": 20, "population": 20}
    assert leader["confidence"] > 0.85


def test_of_which_kind_a_value_is_says_a_rule_about_kinds_again(tmp_path: Path) -> None:
    rows = [
        f'<urn:n:{n}> <urn:e:name> "Name {n}"{"" if n % 4 == 0 else "@en"} ; <urn:e:batch> '
        f'"{"late" if n % 4 == 0 and n % 12 else "early"}" .'
        for n in range(33)
    ]
    (tmp_path / "data.ttl").write_text("\n".join(rows), encoding="utf-8")
    (tmp_path / "outcome.rq").write_text(
        "SELECT ?focus (MIN(?tagged) = 0 AS ?outcome) WHERE { ?focus <urn:e:name> ?name"
        ' BIND (IF(LANG(?name) = "", 0, 1) AS ?tagged) } GROUP BY ?focus',
        encoding="utf-8",
    )
    result = kgreason.investigate(
        tmp_path / "data.ttl", outcome=tmp_path / "outcome.rq", policy="code"
    )
    told = [one["statement"] for one in result.as_dict()["symptoms"][0]["hypotheses"]]
    assert not any("of datatype" in one for one in told)


@pytest.mark.parametrize("asks", ['?code = ""', "STRLEN(?code) = 0", '?code IN ("", "none")'])
def test_a_wrong_value_that_the_query_names_is_no_finding(asks: str, tmp_path: Path) -> None:
    rows = [f'e:n{n} a e:Dish ; e:code "{f"c:{n}" if n % 5 else ""}" .' for n in range(60)]
    leader = _leader(
        tmp_path, rows, _UNTIMED % f"EXISTS {{ ?focus <urn:e:code> ?code FILTER ({asks}) }}"
    )
    assert leader is None or leader["kind"] != "value"


def test_a_wrong_value_that_the_query_does_not_name_is_told(tmp_path: Path) -> None:
    rows = [f'e:n{n} a e:Dish ; e:code "{f"c:{n}" if n % 5 else "none"}" .' for n in range(60)]
    asks = "EXISTS { ?focus <urn:e:code> ?code FILTER (!REGEX(?code, '^c:')) }"
    leader = _leader(tmp_path, rows, _UNTIMED % asks)
    assert leader is not None
    assert (leader["kind"], leader["inside"]["failing"]) == ("value", 12)


_LABEL = "http://www.w3.org/2000/01/rdf-schema#label"


@pytest.mark.parametrize(
    ("outcome", "named"),
    [
        (f"NOT EXISTS {{ ?focus <{_LABEL}> ?label }}", {_LABEL}),
        ('?status = "draft"', {"urn:e:status", "draft"}),
        (f'?status = "draft" && NOT EXISTS {{ ?focus <{_LABEL}> ?l }}',
         {"urn:e:status", "draft", _LABEL}),
    ],
)  # fmt: skip
def test_what_says_who_is_looked_at_is_not_what_the_outcome_asks(
    outcome: str, named: set[str]
) -> None:
    looked = "?focus a ?kind ; <urn:e:status> ?status FILTER (?kind IN (<urn:e:A>, <urn:e:B>))"
    query = f"SELECT ?focus ?outcome {{ {looked} BIND ({outcome} AS ?outcome) }}"
    assert asked_terms(query) == frozenset(named)


@pytest.mark.parametrize(
    "said",
    ["BOUND(?x)", "COALESCE(BOUND(?x), false)", f"EXISTS {{ ?focus {_P} ?there }}"],
)
def test_a_value_that_is_there_is_one_too_many(said: str) -> None:
    option = f"OPTIONAL {{ ?focus {_P} ?x }}"
    found = _alone(f"SELECT ?focus ({said} AS ?outcome) {{ ?focus a {_C} {option} }}")
    assert (found.path.text, set(found.components), found.most) == (_P, {"MaxCount"}, 0)


def test_what_an_option_works_out_may_be_false() -> None:
    option = f"OPTIONAL {{ ?focus {_P} ?x BIND (EXISTS {{ ?x a {_C} }} AS ?known) }}"
    query = f"SELECT ?focus (COALESCE(!?known, false) AS ?outcome) {{ ?focus a {_C} {option} }}"
    found = _alone(query)
    assert (found.path.text, set(found.components), found.lacking) == (_P, {"Class"}, False)


@pytest.mark.parametrize(
    ("asked", "value"),
    [("!?v", "false"), ("?v", "true"), ("?v = false", "false"), ("?v = true", "true")],
)
def test_a_value_that_is_a_test_by_itself_is_true_or_false(asked: str, value: str) -> None:
    query = f"{_HEAD} ; {_P} ?v BIND ({asked} AS ?outcome) }}"
    found = _alone(query)
    assert (found.path.text, found.lacking, set(found.components)) == (_P, False, {"In"})
    named = asked_terms(query)
    assert named is not None
    assert value in named


def test_an_outcome_is_not_told_by_the_value_that_it_asks_for(tmp_path: Path) -> None:
    rows = ["@prefix e: <https://example.org/> ."]
    for n in range(120):
        good = "false" if (n % 4 == 1 and n % 7) or n % 31 == 3 else "true"
        rows.append(f'e:n{n} a e:Seed ; e:viable {good} ; e:vault "{"ABCD"[n % 4]}" .')
    (tmp_path / "data.ttl").write_text("\n".join(rows), encoding="utf-8")
    query = (
        "PREFIX e: <https://example.org/> SELECT ?focus ?outcome "
        "{ ?focus a e:Seed ; e:viable ?v BIND (!?v AS ?outcome) }"
    )
    (tmp_path / "outcome.rq").write_text(query, encoding="utf-8")
    with kgreason.investigate(tmp_path / "data.ttl", outcome=tmp_path / "outcome.rq") as result:
        causes = [cause["statement"] for cause in result.as_dict()["causes"]]
    assert causes == ["Nodes whose vault is “B” have the outcome."]


_AGAIN = f"?focus {_P} ?v"
_SHARED = (
    (
        f"SELECT ?focus (SUM(?n) > 0 AS ?outcome) {{ {_AGAIN} . ?o {_P} ?v "
        "BIND (IF(?o = ?focus, 0, 1) AS ?n) } GROUP BY ?focus"
    ),
    (
        f"SELECT ?focus (COUNT(?o) > 0 AS ?outcome) {{ {_AGAIN} "
        f"OPTIONAL {{ ?o {_P} ?v FILTER (?o != ?focus) }} }} GROUP BY ?focus"
    ),
    (
        f"SELECT ?focus ?outcome {{ {_AGAIN} "
        f"BIND (EXISTS {{ ?o {_P} ?v FILTER (?o != ?focus) }} AS ?outcome) }}"
    ),
    (
        f"SELECT ?focus (?n > 1 AS ?outcome) {{ {_AGAIN} "
        f"{{ SELECT ?v (COUNT(*) AS ?n) {{ ?o {_P} ?v }} GROUP BY ?v }} }}"
    ),
    (
        f"SELECT ?focus (COUNT(DISTINCT ?o) > 1 AS ?outcome) {{ {_AGAIN} ; a {_C} . "
        f"?o a {_C} ; {_P} ?v }} GROUP BY ?focus"
    ),
    (
        f"SELECT ?focus ?outcome {{ ?focus a {_C} OPTIONAL {{ {_AGAIN} . ?o {_P} ?v "
        "FILTER (STR(?o) != STR(?focus)) } BIND (BOUND(?o) AS ?outcome) }"
    ),
)


@pytest.mark.parametrize("query", _SHARED)
def test_a_value_that_another_node_has_too_is_read(query: str) -> None:
    found = _alone(query)
    assert (found.path.text, set(found.components)) == (_P, {"UniqueValue"})


_DATE = "http://www.w3.org/2001/XMLSchema#date"
_CAST = f"?focus {_P} ?v BIND (<{_DATE}>(STR(?v)) AS ?day)"


@pytest.mark.parametrize(
    "query",
    [
        f"SELECT ?focus (!BOUND(?day) AS ?outcome) {{ {_CAST} }}",
        (
            f"SELECT ?focus (SUM(?n) > 0 AS ?outcome) {{ {_CAST} "
            "BIND (IF(BOUND(?day), 0, 1) AS ?n) } GROUP BY ?focus"
        ),
    ],
)
def test_what_a_cast_cannot_make_is_not_of_its_datatype(query: str) -> None:
    found = _alone(query)
    assert (found.path.text, set(found.components)) == (_P, {"Datatype"})
    assert [str(one) for one in found.parameters[SH.datatype]] == [f"<{_DATE}>"]
    assert found.offending is not None


def test_of_a_value_nothing_is_said_where_nothing_is_counted_behind_it() -> None:
    found = _alone(
        f"SELECT ?focus (COUNT(?p) = 0 AS ?outcome) {{ ?focus {_P} ?v OPTIONAL {{ ?v ?p ?o }} }} "
        "GROUP BY ?focus"
    )
    assert (found.path.text, set(found.components)) == (_P, {"Node", "NodeKind"})
    assert found.offending is not None


@pytest.mark.parametrize(
    ("chosen", "lacking"),
    [("IF(BOUND(?v), 0, 1)", True), ("IF(BOUND(?v), IF(?v = 1, 2, 0), 0)", False)],
)
def test_numbers_that_if_chooses_are_truths_from_a_bound_on(chosen: str, *, lacking: bool) -> None:
    query = f"SELECT ?focus ({chosen} AS ?outcome) {{ ?focus a {_C} {_OPTION} }}"
    (found,) = readings(query, at="1")
    assert (found.path.text, found.lacking) == (_P, lacking)


def test_another_class_of_a_value_is_that_of_the_value() -> None:
    query = f"SELECT ?focus (?t != {_C} AS ?outcome) {{ ?focus {_P} ?v . ?v a ?t }}"
    found = _alone(query)
    assert (found.path.text, set(found.components)) == (_P, {"Class"})
    assert [str(one) for one in found.parameters[SH["class"]]] == [_C]


@pytest.mark.parametrize(
    "test", ["?v > ?w", "STR(?w) < STR(?v)", "?w - ?v < 0", "0 > YEAR(?w) - YEAR(?v)"]
)
def test_which_of_two_values_has_to_come_first_is_read(test: str) -> None:
    query = f"SELECT ?focus ({test} AS ?outcome) {{ ?focus {_P} ?v ; {_Q} ?w }}"
    pairs = {one.path.text: one.compared and str(one.compared) for one in readings(query)}
    assert pairs == {_P: _Q, _Q: None}


@pytest.mark.parametrize(
    "test",
    [
        '!STRENDS(STR(?focus), CONCAT("/", STR(?v)))',
        'STR(?v) != REPLACE(STR(?focus), "^.*/", "")',
        "!CONTAINS(STR(?focus), ?v)",
    ],
)
def test_a_text_that_has_to_be_a_piece_of_the_nodes_iri_is_at_fault(test: str) -> None:
    query = f"SELECT ?focus ?outcome {{ ?focus {_P} ?v BIND ({test} AS ?outcome) }}"
    (read,) = readings(query)
    assert (read.path.text, read.components, read.lacking) == (_P, frozenset({"SPARQL"}), False)
    assert read.offending is not None
