"""An outcome that looks at the ends of one link: what it looks at, and what is told of it."""

from pathlib import Path

import kgreason
from kgreason.shacl import bound_to, looked_at

_P = "<https://example.org/v#theme>"
_Q = "<https://example.org/v#other>"


def _asked(body: str) -> str:
    bound = f"BIND (EXISTS {{ {body} }} AS ?outcome)"
    return f"SELECT ?focus ?outcome WHERE {{ ?focus {_P} ?any {bound} }}"


def test_the_ends_of_one_link_that_pass_a_filter_are_what_an_outcome_looks_at() -> None:
    found = looked_at(_asked(f'?focus {_P} ?x . FILTER (!REGEX(STR(?x), "[.!?)>]$"))'))
    assert found is not None
    assert (found.predicate.value, found.described, found.text) == (_P[1:-1], False, True)
    assert found.offending.text == f'?focus {_P} ?value . FILTER (!REGEX(STR(?value), "[.!?)>]$"))'
    nested = f"?focus {_P} ?x . FILTER (isIRI(?x)) FILTER NOT EXISTS {{ ?x a ?kind }}"
    found = looked_at(_asked(nested))
    assert found is not None
    assert (found.described, found.text) == (True, False)
    assert "?value a ?asked_kind" in found.offending.text


def test_values_that_a_query_lists_as_right_are_known() -> None:
    found = looked_at(_asked(f"?focus {_P} ?x FILTER (?x NOT IN (<urn:one>, <urn:two>))"))
    assert found is not None
    assert [one.value for one in found.allowed] == ["urn:one", "urn:two"]


def test_what_compares_two_ends_or_the_node_itself_looks_at_none_alone() -> None:
    assert looked_at(_asked(f"?focus {_P} ?x . ?focus {_P} ?y FILTER (?x != ?y)")) is None
    assert looked_at(_asked(f"?focus {_P} ?x . ?focus {_Q} ?y FILTER (?x < ?y)")) is None
    assert looked_at(_asked(f"?focus {_P} ?x FILTER (?x = ?focus)")) is None
    assert (
        looked_at(_asked(f"{{ ?focus {_P} ?x }} UNION {{ ?focus {_Q} ?x }} FILTER (?x > 1)"))
        is None
    )
    assert (
        looked_at(f"SELECT ?focus ?outcome {{ ?focus {_P} ?x BIND (?x > 1 AS ?outcome) }}") is None
    )


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
