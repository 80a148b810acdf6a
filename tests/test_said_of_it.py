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
