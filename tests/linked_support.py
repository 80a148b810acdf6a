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
    """Investigate parts with hypotheses of a file, of which one holds only if another does."""
    return _investigated(folder, policy, hypotheses=SUGGESTIONS)


def kin_record(folder: Path, policy: str) -> Record:
    """Investigate parts with two families, of which one holds only if the other does."""
    queries = folder / "mine" / "queries" / "hypothesize"
    queries.mkdir(parents=True)
    for name, about, value, links in (
        ("told-red", "colour", '"red"', ""),
        ("told-maker", "madeBy", f"<{EX}m0>", "#+ only-if: told-red\n"),
    ):
        text = _FAMILY.format(name=name, about=f"<{EX}{about}>", value=value, links=links)
        (queries / f"{name}.rq").write_text(text, encoding="utf-8")
    return _investigated(folder, policy, extend=folder / "mine")


_FAMILY: Final = """#+ summary: Failures go with {name}.
#+ kind: cohort
#+ aspect: origin
#+ split: node
#+ levels: none
#+ order: 5
#+ tests: association counterexamples
{links}#+ statement: Nodes that are {name} {{fail}}.
#+ mechanism: Somebody knows why.
#+ prediction: Nodes that are {name} {{fail}} more often than others.
#+ explanation: Compares the nodes with this value with the others.
#+ example: Parts that are {name}.
#+ reads: graph
#+ param symptom: iri, the mark of the failing nodes
#+ param half: iri, the mark of the half of the population that is looked at
#+ param least: literal, the least number of failing nodes that makes a candidate
PREFIX work: <urn:x-kgreason:work:>
#= propose
SELECT ({about} AS ?dimension) ?failing ?population WHERE {{
  {{ SELECT (COUNT(DISTINCT ?failed) AS ?failing) WHERE {{
    GRAPH work:marks {{ ?failed work:fails {{{{ symptom }}}} ; work:member {{{{ half }}}} . }}
    FILTER EXISTS {{ GRAPH ?one {{ ?failed {about} {value} . }} }}
  }} }}
  {{ SELECT (COUNT(DISTINCT ?focus) AS ?population) WHERE {{
    GRAPH work:marks {{ ?focus work:member {{{{ half }}}} . }}
    FILTER EXISTS {{ GRAPH ?other {{ ?focus {about} {value} . }} }}
  }} }}
  FILTER (?failing >= {{{{ least }}}})
}}
#= region
GRAPH ?graph1 {{ ?focus {about} {value} . }}
"""


def _investigated(folder: Path, policy: str, **more: Any) -> Record:
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
        policy=policy,
        calibration="none",
        try_repairs=False,
        **more,
    ).record
