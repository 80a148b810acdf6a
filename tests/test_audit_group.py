"""What e-values of one hypothesis may share, and still be multiplied."""

from typing import Final

import pyoxigraph as ox
import pytest

from kgreason.audit.record_shapes import shapes
from kgreason.base.store import Store

(RULE,) = (rule for rule in shapes().rules if rule.name == "evidence-group")
HEAD: Final = """PREFIX : <urn:example:>
PREFIX prov: <http://www.w3.org/ns/prov#>
PREFIX trails: <https://w3id.org/trails#>
"""
TWO: Final = """
:one a trails:Evidence ; trails:hypothesis :h ; trails:eValue 20.0 ; trails:group "1" .
:two a trails:Evidence ; trails:hypothesis :h ; trails:eValue 30.0 ; trails:group "2" .
"""
APART: Final = """
:one prov:wasDerivedFrom :symptom1 ; prov:wasGeneratedBy :run1 ; trails:cites :a .
:two prov:wasDerivedFrom :symptom2 ; prov:wasGeneratedBy :run2 ; trails:cites :b .
:a trails:relevance "fails" ; trails:graph :g1 . :b trails:relevance "fails" ; trails:graph :g2 .
"""


def spoken(*said: str) -> set[str]:
    store = ox.Store()
    store.update(f"{HEAD}INSERT DATA {{ {' '.join(said)} }}")
    rows = Store(store, "two pieces of evidence").select(RULE.query)
    return {row["this"].value.removeprefix("urn:example:") for row in rows}


@pytest.mark.parametrize(
    "shared",
    [
        ":two prov:wasDerivedFrom :symptom1 .",
        ":two prov:wasGeneratedBy :run1 .",
        ":b trails:graph :g1 .",
        ":a trails:node :n . :b trails:node :n .",
        ":a trails:node :n ; trails:field :p . :b trails:node :n ; trails:field :p .",
        """:a trails:node :n ; trails:field :p ; trails:value "v" .
           :b trails:node :n ; trails:field :p ; trails:value "v" .""",
    ],
    ids=["held-out half", "execution", "source graph", "node", "absent value", "triple"],
)
def test_what_is_shared_makes_one_group(shared: str) -> None:
    assert spoken(TWO, APART, shared) == {"one", "two"}
    one_group = TWO.replace('"2"', '"1"')
    assert not spoken(one_group, APART, shared)
    no_e_value = TWO.replace("trails:eValue 30.0 ;", "")
    assert not spoken(no_e_value, APART, shared)
    of_others = TWO.replace(
        "trails:hypothesis :h ; trails:eValue 30.0", "trails:hypothesis :i ; trails:eValue 30.0"
    )
    assert not spoken(of_others, APART, shared)


@pytest.mark.parametrize(
    "apart",
    [
        "",
        ":a trails:node :n . :b trails:node :m .",
        ":a trails:node :n ; trails:field :p . :b trails:node :n ; trails:field :q .",
        """:a trails:node :n ; trails:field :p ; trails:value "v" .
           :b trails:node :n ; trails:field :p ; trails:value "w" .""",
    ],
    ids=["nothing", "other node", "other field", "other value"],
)
def test_what_is_apart_is_multiplied(apart: str) -> None:
    assert not spoken(TWO, APART, apart)
