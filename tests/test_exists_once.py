"""An EXISTS with a join is worked out once for all nodes, and the answer stays the same."""

import pyoxigraph as ox
import pytest

from kgreason.base.store import Store
from kgreason.shacl.exists_joins import once

EX = "https://example.org/"
DATA = """
PREFIX ex: <https://example.org/>
ex:a ex:title "a" ; ex:file ex:f1 , ex:f2 ; ex:from 3 ; ex:until 2 . ex:f1 ex:open "true" .
ex:b ex:title "b" ; ex:file ex:f2 ; ex:from 1 ; ex:until 2 . ex:f2 ex:open "false" .
ex:c ex:title "c" ; ex:file ex:f3 .
ex:d ex:title "d" , "dd" .
"""
SET_APART = [
    "?focus ex:title ?t . BIND (EXISTS { ?focus ex:file/ex:open ?o } AS ?outcome)",
    '?focus ex:title ?t BIND (NOT EXISTS { ?focus ex:file ?f . ?f ex:open "true" } AS ?outcome)',
    "?focus ex:title ?t . FILTER EXISTS { ?focus ex:file/ex:open ?o } BIND (true AS ?outcome)",
    "?focus ex:title ?t . FILTER NOT EXISTS { ?focus ex:file/ex:open ?o } BIND (1 AS ?outcome)",
    (
        "?focus ex:title ?t BIND (IF(EXISTS { ?focus ex:from ?x ; ex:until ?y FILTER (?x > ?y) } "
        "|| EXISTS { ?focus ex:file/ex:open ?o }, true, false) AS ?outcome)"
    ),
]
LEFT = [
    # Without a join there is nothing to gain.
    "?focus ex:title ?t . BIND (EXISTS { ?focus ex:file ?o } AS ?outcome)",
    # What it shares is bound by no triple of its own, or only behind it.
    (
        "?focus ex:title ?t ; ex:from ?x . "
        "BIND (EXISTS { ?focus ex:file/ex:open ?o . FILTER (?x > 2) } AS ?outcome)"
    ),
    "FILTER EXISTS { ?focus ex:file/ex:open ?o } ?focus ex:title ?t . BIND (true AS ?outcome)",
    (
        "?focus ex:title ?t BIND (EXISTS { { ?focus ex:file/ex:open 1 }UNION { ?focus ex:from 1 } }"
        " AS ?outcome)"
    ),
    "?focus ex:title ?t . BIND (true AS ?outcome)",
]


def store() -> Store:
    inner = ox.Store()
    inner.load(DATA.encode(), format=ox.RdfFormat.TURTLE)
    return Store(inner, "the data")


def query(body: str) -> str:
    return f"PREFIX ex: <{EX}> SELECT ?focus ?outcome WHERE {{ {body} }}"


def answers(text: str) -> list[tuple[str, str]]:
    return sorted((str(row["focus"]), str(row["outcome"])) for row in store().select(text))


@pytest.mark.parametrize("body", SET_APART)
def test_a_join_is_set_apart_and_the_answer_is_the_same(body: str) -> None:
    made = once(query(body))
    assert "SELECT DISTINCT ?focus (true AS ?held0)" in made
    assert answers(made) == answers(query(body)) != []


@pytest.mark.parametrize("body", LEFT)
def test_what_might_answer_otherwise_is_left(body: str) -> None:
    assert once(query(body)) == query(body)


def test_names_that_the_query_has_are_not_taken() -> None:
    body = "?focus ex:title ?held0 . BIND (EXISTS { ?focus ex:file/ex:open ?o } AS ?outcome)"
    assert "(true AS ?held1)" in once(query(body))
    assert answers(once(query(body))) == answers(query(body))


def test_each_select_is_a_scope_of_its_own() -> None:
    inner = query(SET_APART[0]).partition("> ")[2]
    whole = f"PREFIX ex: <{EX}> SELECT ?focus ?outcome WHERE {{ {{ {inner} }} {{ {inner} }} }}"
    made = once(whole)
    assert made.count("(true AS ?held") == 2
    assert answers(made) == answers(whole)
    assert set(answers(whole)) == set(answers(query(SET_APART[0])))


def test_a_store_runs_the_faster_spelling_in_place_of_a_part() -> None:
    asked = store()
    asked.spell("?focus ex:title ?t", "?focus ex:from ?t")
    found = asked.select(query("?focus ex:title ?t . BIND (true AS ?outcome)"))
    assert {str(row["focus"]) for row in found} == {f"<{EX}a>", f"<{EX}b>"}
