"""What the tests of strategies share: a small graph of parts and makers, and its shapes."""

from pathlib import Path
from typing import Any, Final

PREFIXES: Final = """@prefix ex: <https://example.org/> .
@prefix sh: <http://www.w3.org/ns/shacl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
"""


def workshop(folder: Path, parts: int = 40) -> dict[str, Any]:
    """Write parts of two makers, of which those of one lack a mass; give what to ask with."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = [
        PREFIXES,
        'ex:north a ex:Maker ; rdfs:label "Northern Works" ; ex:city "Riga" .',
        'ex:south a ex:Maker ; rdfs:label "Southern Works" ; ex:city "Faro" .',
    ]
    for n in range(parts):
        north = n % 4 == 0
        maker, state = ("north", "retired") if north else ("south", "current")
        mass = "" if north else f" ; ex:unitMass {n}"
        rows.append(f'ex:p{n} a ex:Part ; ex:madeBy ex:{maker} ; ex:lifeState "{state}"{mass} .')
    (folder / "parts.ttl").write_text("\n".join(rows) + "\n", encoding="utf-8")
    shapes = f"""{PREFIXES}
ex:PartShape a sh:NodeShape ; sh:targetClass ex:Part ;
  sh:property [ sh:path ex:unitMass ; sh:minCount 1 ] ."""
    (folder / "shapes.ttl").write_text(shapes, encoding="utf-8")
    return {"data": folder / "parts.ttl", "shapes": folder / "shapes.ttl"}
