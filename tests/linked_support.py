"""A small graph with hypotheses that hang on each other: what the tests of dependencies share."""

import random
from pathlib import Path
from typing import Any, Final

import kgreason
from kgreason.record import Record

EX: Final = "https://example.org/"
_HEAD: Final = f"@prefix ex: <{EX}> .\n@prefix sh: <http://www.w3.org/ns/shacl#> .\n"


def _suggestion(name: str, path: str, about: str, value: str, **more: Any) -> dict[str, Any]:
    way = [{"step": "forward", "along": f"<{EX}{about}>"}]
    condition = {"path": way, "test": "equals", "terms": {"term": value}}
    said = {"name": name, "statement": f"It is {name}.", "symptom": f"{EX}{path}"}
    return said | {"condition": condition} | more


SUGGESTIONS: Final = [
    _suggestion("red", "mass", "colour", '"red"'),
    _suggestion("maker", "mass", "madeBy", f"<{EX}m0>", only_if="red"),
    _suggestion("plain", "length", "madeBy", f"<{EX}m1>"),
]


def linked_record(folder: Path, policy: str) -> Record:
    """Investigate parts whose mass is missing by maker, and red by chance; length by maker."""
    dice = random.Random(1)
    rows = []
    for n in range(240):
        maker = n % 4
        red = dice.random() < (0.6 if maker == 0 else 0.2)
        colour = "red" if red else dice.choice(["blue", "green"])
        mass = dice.random() < (0.9 if maker == 0 else 0.05)
        length = dice.random() < (0.9 if maker == 1 else 0.05)
        said = [f'ex:colour "{colour}"', f"ex:madeBy ex:m{maker}"]
        said += [] if mass else [f"ex:mass {n}"]
        said += [] if length else [f"ex:length {n}"]
        rows.append(f"ex:p{n} a ex:Part ; {' ; '.join(said)} .")
    (folder / "parts.ttl").write_text(_HEAD + "\n".join(rows) + "\n", encoding="utf-8")
    paths = " , ".join(f"[ sh:path ex:{name} ; sh:minCount 1 ]" for name in ("mass", "length"))
    shapes = f"{_HEAD}ex:Shape a sh:NodeShape ; sh:targetClass ex:Part ; sh:property {paths} .\n"
    (folder / "shapes.ttl").write_text(shapes, encoding="utf-8")
    return kgreason.investigate(
        folder / "parts.ttl",
        shapes=folder / "shapes.ttl",
        hypotheses=SUGGESTIONS,
        policy=policy,
        calibration="none",
        try_repairs=False,
    ).record
