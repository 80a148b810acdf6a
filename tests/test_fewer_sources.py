"""Of what lacks a value fewer sources speak: that is a sign of the lack, and no cause of it."""

from pathlib import Path

import kgreason

HEAD = "@prefix ex: <https://example.org/> . @prefix sh: <http://www.w3.org/ns/shacl#> .\n"


def test_how_many_sources_speak_of_a_node_is_no_cause_of_a_lack(tmp_path: Path) -> None:
    """Which source is silent is told, not how many speak."""
    (tmp_path / "data").mkdir()
    things = "".join(f"ex:t{n} a ex:Terminal ; ex:number {n % 7} .\n" for n in range(120))
    also = "".join(f"ex:t{n} ex:phase {n % 3} .\n" for n in range(120))
    state = "".join(f"ex:t{n} a ex:Terminal ; ex:connected true .\n" for n in range(10, 120))
    for name, text in (("things", things), ("phases", also), ("state", state)):
        (tmp_path / "data" / f"{name}.ttl").write_text(HEAD + text, encoding="utf-8")
    shape = (
        "ex:S a sh:NodeShape ; sh:targetClass ex:Terminal ;"
        " sh:property [ sh:path ex:connected ; sh:minCount 1 ] ."
    )
    (tmp_path / "shapes.ttl").write_text(HEAD + shape, encoding="utf-8")
    result = kgreason.investigate(tmp_path / "data", shapes=tmp_path / "shapes.ttl")
    symptom = result.as_dict()["symptoms"][0]
    assert symptom["failing"] == 10
    told = [h["statement"] for h in symptom["hypotheses"]]
    assert not [each for each in told if "of source" in each]
