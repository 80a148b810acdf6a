"""What a query asks of IRIs is seen in its tree, however it is written."""

import pytest

from kgreason.base.templates import Fragment
from kgreason.shacl.asked_iris import AskedIris, asked_iris

OWN = AskedIris(own=True, properties=False)
PROPERTIES = AskedIris(own=False, properties=True)
BOTH = AskedIris(own=True, properties=True)
HELD = AskedIris(own=True, properties=False, held=True)
NEITHER = AskedIris(own=False, properties=False)


@pytest.mark.parametrize(
    ("pattern", "asked"),
    [
        ("?focus a ex:Part FILTER (!STRSTARTS(str( ?focus ), 'https://'))", OWN),
        ("$this a ex:Part . BIND (LCASE(STR($this)) AS ?iri) FILTER (CONTAINS(?iri, 'x'))", OWN),
        ("?focus a ex:Part ; ?p ?o FILTER REGEX(STR(?p), 'ex')", PROPERTIES),
        ("?focus a ex:Part FILTER EXISTS { ?focus ?p 7 . FILTER (STR(?p) = 'x') }", PROPERTIES),
        ("{ SELECT ?focus WHERE { ?focus ?p [] FILTER (STRLEN(STR(?p)) > 9) } }", PROPERTIES),
        ("?focus ?p ?o FILTER (STRLEN(STR(?p)) + STRLEN(STR(?focus)) > 9)", BOTH),
        ("?focus a ?c FILTER (!CONTAINS(STR(?focus), STRAFTER(STR(?c), '#')))", HELD),
        ("?focus ex:id ?id FILTER (STR(?focus) != CONCAT('https://', ?id))", HELD),
        # Another thing has that property, the text is of a value, or only a text says STR(?focus).
        ("?focus ex:of ?x . ?x ?p ?o FILTER REGEX(STR(?p), 'ex')", NEITHER),
        ("?focus ex:code ?code FILTER REGEX(STR(?code), '^[0-9]+$')", NEITHER),
        ("?focus ex:code 'STR(?focus)'", NEITHER),
        ("?focus ex:code", NEITHER),  # does not parse
    ],
)
def test_what_is_asked_of_iris(pattern: str, asked: AskedIris) -> None:
    assert asked_iris(Fragment(pattern, {"ex": "https://example.org/"})) == asked
