"""What is said of the very statement that is lacking is lacking too, and no cause of the lack."""

from pathlib import Path

import kgreason

HEAD = """
@prefix ex: <https://example.org/> . @prefix sh: <http://www.w3.org/ns/shacl#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
"""


def test_an_axiom_about_a_definition_is_no_cause_of_its_lack(tmp_path: Path) -> None:
    rows = []
    for n in range(120):
        rows.append(f"ex:c{n} a owl:Class ; ex:size {n % 7} .")
        if n % 12:
            rows.append(f'ex:c{n} ex:definition "{n}" .')
            rows.append(
                f"[] owl:annotatedSource ex:c{n} ; owl:annotatedProperty ex:definition ;"
                f' owl:annotatedTarget "{n}" .'
            )
    shape = (
        "ex:S a sh:NodeShape ; sh:targetClass owl:Class ;"
        " sh:property [ sh:path ex:definition ; sh:minCount 1 ] ."
    )
    (tmp_path / "data.ttl").write_text(HEAD + "\n".join(rows), encoding="utf-8")
    (tmp_path / "shapes.ttl").write_text(HEAD + shape, encoding="utf-8")
    result = kgreason.investigate(tmp_path / "data.ttl", shapes=tmp_path / "shapes.ttl")
    symptom = result.as_dict()["symptoms"][0]
    assert symptom["failing"] == 10
    causes = [h for h in symptom["hypotheses"] if h["kind"] != "none"]
    assert not [h["statement"] for h in causes if "annotatedSource" in h["statement"]]
    assert not [h for h in causes if h["status"] == "supported"]


def test_what_shapes_ask_of_the_same_thing_is_no_cause_where_it_is_lacking_too(
    tmp_path: Path,
) -> None:
    """Reviews that were imported lack both places of their trip; nearly all others have both."""
    rows = []
    for n in range(60):
        imported = n % 2 == 0
        source = f" ; ex:from {'ex:survey' if imported else f'ex:form{n}'}"
        rows.append(f"ex:r{n} a ex:Review ; ex:trip ex:t{n} ; ex:stars {n % 5}{source} .")
        rows.append(f'ex:t{n} a ex:Trip ; ex:on "2026-01-{n % 28 + 1:02}" .')
        if (n % 17 == 16) if imported else n != 3:
            rows.append(f"ex:t{n} ex:start ex:a{n % 9} ; ex:end ex:b{n % 8} .")
    places = ", ".join(
        f"[ sh:path ( ex:trip ex:{end} ) ; sh:minCount 1 ]" for end in ("start", "end")
    )
    shape = f"ex:S a sh:NodeShape ; sh:targetClass ex:Review ; sh:property {places} ."
    (tmp_path / "data.ttl").write_text(HEAD + "\n".join(rows), encoding="utf-8")
    (tmp_path / "shapes.ttl").write_text(HEAD + shape, encoding="utf-8")
    result = kgreason.investigate(tmp_path / "data.ttl", shapes=tmp_path / "shapes.ttl")
    found = result.as_dict()
    assert len(found["symptoms"]) == 2
    assert [c["statement"] for c in found["causes"]] == ["Nodes whose from is survey fail."]


def test_that_nodes_lack_the_class_which_a_rule_asks_of_them_is_no_cause(tmp_path: Path) -> None:
    """Who is pointed at should be of a class; the others have another one, which says more."""
    rows = []
    for n in range(200):
        wrong = n % 12 == 5
        rows.append(f"ex:t{n} a {'ex:Task' if wrong else 'ex:Item'} ; ex:rank {n * n % 7} .")
        rows.append(f"ex:u{n} ex:uses ex:t{n} .")
    shape = "ex:S a sh:NodeShape ; sh:targetObjectsOf ex:uses ; sh:class ex:Item ."
    (tmp_path / "data.ttl").write_text(HEAD + "\n".join(rows), encoding="utf-8")
    (tmp_path / "shapes.ttl").write_text(HEAD + shape, encoding="utf-8")
    result = kgreason.investigate(tmp_path / "data.ttl", shapes=tmp_path / "shapes.ttl")
    (cause,) = result.as_dict()["causes"]
    assert cause["statement"].startswith("In place of what the rule asks for, type is ")
    assert cause["statement"].endswith("/Task”.")
