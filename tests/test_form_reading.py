"""Which queries look at how literals are written, and which at the names of nodes alone."""

import pytest

from kgreason.shacl.form_reading import reads_forms

WITHIN = "$this ?p ?o . FILTER EXISTS {{ $this ?q ?r . FILTER ({}) }}"


@pytest.mark.parametrize(
    ("where", "reads"),
    [
        ("$this ?p ?o . FILTER (STRSTARTS(STR(?p), 'http://e/'))", False),
        ("$this ?p ?o . FILTER (STRSTARTS(STR(?o), 'http://e/'))", True),
        ("$this ?p ?o . FILTER (?p IN (<urn:a>, <urn:b>))", False),
        ("$this ?p ?o . FILTER (?o NOT IN (<urn:a>, 5))", True),
        ("$this <urn:p> ?o . FILTER (STRLEN(STR($this)) > 3)", False),
        (WITHIN.format("REGEX(STR(?q), 'x') && STR(?p) != 'y'"), False),
        (WITHIN.format("REGEX(STR(?r), 'x')"), True),
        # An OPTIONAL does not make a node of what may be a literal, a pattern beside it does.
        ("$this <urn:p> ?o . OPTIONAL { ?o ?q ?r } FILTER (STR(?o) = 'x')", True),
        ("$this <urn:p> ?o . ?o ?q ?r . FILTER (STR(?o) = 'x')", False),
        # A filter within a group of its own sees nothing of the group around it.
        ("$this ?p ?o . { ?x <urn:q> ?p . FILTER (STR(?p) = 'x') }", True),
        ("{ $this ?p ?o . FILTER (STR(?p) = 'x') } UNION { $this <urn:p> ?o }", False),
        ("GRAPH ?g { $this ?p ?o . FILTER (DATATYPE(?o) = <urn:d>) }", True),
        ("$this ?p ?o . { SELECT $this { $this ?r ?x . FILTER (STRLEN(?x) > 2) } }", True),
        ("$this ?p ?o . BIND (STR(?o) AS ?text) FILTER (?text = 'x')", True),
        ("$this ?p ?o . FILTER (<http://www.w3.org/2001/XMLSchema#string> (?o) = 'x')", True),
        ("$this ?p '5'^^<urn:d>", True),
        ("$this ?p ?o . FILTER (?o > 5)", False),
        ("$this ?p ?o . FILTER (STR(?p", True),
    ],
)
def test_what_a_query_looks_at(where: str, reads: bool) -> None:  # noqa: FBT001
    assert reads_forms(f"SELECT $this {{ {where} }}") is reads


@pytest.mark.parametrize(("variable", "reads"), [("?p", False), ("?o", True)])
def test_what_its_head_and_having_look_at(variable: str, reads: bool) -> None:  # noqa: FBT001
    having = f"SELECT $this {{ $this ?p ?o }} GROUP BY $this HAVING (COUNT(STR({variable})) > 1)"
    head = f"SELECT $this (STR({variable}) AS ?value) {{ $this ?p ?o }}"
    assert [reads_forms(one) for one in (having, head)] == [reads, reads]
