"""Write the small files of data/ and makers/: `python make.py`. They are the same every time."""

import random
from pathlib import Path

HEAD = """@prefix ex: <https://example.org/museum/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .

"""
FORMS = ("painting", "print", "drawing", "sculpture", "photograph")
TWICE = 0.7
PEOPLE = ("aylin", "bogdan", "chiara", "dilan")


def main() -> None:
    """Write the objects and their makers."""
    write_objects()
    write_makers()


def write_makers() -> None:
    """Write who made the objects: the annex took people for workshops, loans wrote years twice."""
    dice = random.Random(11)
    number = 0
    for name, makers in (("north", 60), ("annex", 50), ("loans", 40)):
        lines = [HEAD]
        for _ in range(makers):
            number += 1
            said = [f"ex:maker{number} a ex:Painter"]
            if dice.random() < (0.8 if name == "annex" else 0.02):
                said[0] += ", ex:Workshop"
            year = dice.randint(1560, 1950)
            years = [year, year + 1] if name == "loans" and dice.random() < TWICE else [year]
            said += [f'ex:born "{one}"^^xsd:gYear' for one in years]
            lines.append(" ;\n    ".join(said) + " .\n")
        (Path(__file__).parent / "makers" / f"{name}.ttl").write_text(
            "".join(lines), encoding="utf-8"
        )


def write_objects() -> None:
    """Write north.ttl, annex.ttl and loans.ttl: what a museum and two partners deliver."""
    dice = random.Random(7)
    number = 0
    for name, objects in (("north", 90), ("annex", 70), ("loans", 60)):
        lines = [HEAD]
        for _ in range(objects):
            number += 1
            form = dice.choice(FORMS)
            said = [f"ex:object{number} a ex:Object", f'rdfs:label "object {number}"']
            said.append(f"ex:form ex:{form}")
            if dice.random() > (0.8 if name == "annex" else 0.03):
                said.append(f'ex:made "{dice.randint(1600, 1990)}"^^xsd:gYear')
            keeper = "curator" if form == "print" else "keeper"
            said.append(f"ex:{keeper} ex:{dice.choice(PEOPLE)}")
            lines.append(" ;\n    ".join(said) + " .\n")
        (Path(__file__).parent / "data" / f"{name}.ttl").write_text(
            "".join(lines), encoding="utf-8"
        )


if __name__ == "__main__":
    main()
