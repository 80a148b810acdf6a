"""Shapes with ten thousand of something: no crash, and an end.

Each runs in a process of its own, for what goes wrong there ends the process.
"""

import subprocess
import sys
from pathlib import Path

import pytest

MANY = 10_000
DEEP = 400
PREFIXES = """PREFIX ex: <http://example.org/>
PREFIX sh: <http://www.w3.org/ns/shacl#>
"""
DATA = "\n".join(f"ex:s{i} a ex:T ; ex:p ex:v{i * (MANY // 3)} , {i} ." for i in range(5))
LOOK = """
import sys
from pathlib import Path
from kgreason.graph import load
from kgreason.shacl import compile_shapes, observe_all, observe_fallback, read_shapes
graph = load([Path(sys.argv[1])])
compiled = compile_shapes(read_shapes([Path(sys.argv[2])]), graph)
seen = [*observe_all(graph, compiled.constraints), *observe_fallback(graph, compiled, seconds=5)]
for constraint, outcome in seen:
    print("failing", len(outcome.failing) if hasattr(outcome, "failing") else outcome)
print(*compiled.notices, sep="\\n")
"""
TERMS = [f"ex:v{i}" for i in range(MANY)]
LIST = " ".join(TERMS)
TAGS = [f'"x-{i}"' for i in range(MANY)]
ONE = "sh:targetClass ex:T ; sh:property ["
AT_P = "sh:targetClass ex:T ; sh:property [ sh:path ex:p ; %s ]"
SHAPES = {
    "in": (AT_P % f"sh:in ( {' '.join(TERMS)} )", 5),
    "in, numbers": (AT_P % f"sh:in ( {' '.join(map(str, range(MANY)))} )", 5),
    "or": (AT_P % f"sh:or ( {' '.join(f'[ sh:hasValue {t} ]' for t in TERMS)} )", 5),
    "xone": (AT_P % f"sh:xone ( {' '.join(f'[ sh:hasValue {t} ]' for t in TERMS)} )", 5),
    "and": (AT_P % f"sh:and ( {' '.join(f'[ sh:disjoint {t} ]' for t in TERMS)} )", 0),
    "one shape of many": (AT_P % f"sh:node [ sh:disjoint {', '.join(TERMS)} ]", 0),
    "languages": (AT_P % f"sh:languageIn ( {' '.join(TAGS)} )", 5),
    "nodes": (f"sh:targetNode {', '.join(TERMS)} ; sh:nodeKind sh:Literal", MANY),
    "targets": (f"sh:targetSubjectsOf ex:p, {', '.join(TERMS)} ; sh:nodeKind sh:Literal", 5),
    "alternatives": (
        f"{ONE} sh:path [ sh:alternativePath ( ex:p {LIST} ) ] ; sh:maxCount 1 ]",
        5,
    ),
    "steps": (
        f"sh:targetClass ex:T ; sh:property [ sh:path ( ex:p {' '.join(TERMS)} ) ; sh:minCount 1 ]",
        5,
    ),
    "closed": (
        f"sh:targetClass ex:T ; sh:closed true ; sh:ignoredProperties ( {' '.join(TERMS)} )",
        5,
    ),
}
NESTED = {
    "shapes": "sh:node [ " * DEEP + "sh:nodeKind sh:Literal" + " ]" * DEEP,
    "properties": "sh:property [ sh:path ex:p ; " * DEEP + "sh:minCount 1" + " ]" * DEEP,
    "paths": (
        "sh:property [ sh:minCount 1 ; sh:path "
        + "[ sh:inversePath " * DEEP
        + "ex:p"
        + " ]" * (DEEP + 1)
    ),
}


def look(shapes: str, folder: Path) -> str:
    (folder / "data.ttl").write_text(PREFIXES + DATA, encoding="utf-8")
    (folder / "shapes.ttl").write_text(f"{PREFIXES}ex:S {shapes} .", encoding="utf-8")
    command = [sys.executable, "-c", LOOK, "data.ttl", "shapes.ttl"]
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, (done.returncode, done.stderr[-2000:])
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("name", SHAPES)
def test_ten_thousand(name: str, tmp_path: Path) -> None:
    shapes, failing = SHAPES[name]
    assert look(shapes, tmp_path).split("\n")[0] == f"failing {failing}"


def test_ten_thousand_terms_of_a_list(tmp_path: Path) -> None:
    shapes, failing = SHAPES["in"]
    assert look(shapes, tmp_path).split("\n")[0] == f"failing {failing}"


@pytest.mark.parametrize("name", NESTED)
def test_nested_deep_is_told(name: str, tmp_path: Path) -> None:
    told = look(f"sh:targetClass ex:T ; sh:nodeKind sh:Literal ; {NESTED[name]}", tmp_path)
    assert "nested too deeply, more than 50 times; passed over" in told


@pytest.mark.slow
def test_an_investigation_of_a_long_list_ends(tmp_path: Path) -> None:
    shapes, _ = SHAPES["in"]
    (tmp_path / "data.ttl").write_text(PREFIXES + DATA, encoding="utf-8")
    (tmp_path / "shapes.ttl").write_text(f"{PREFIXES}ex:S {shapes} .", encoding="utf-8")
    command = [sys.executable, "-m", "kgreason", "investigate", "data.ttl"]
    done = subprocess.run(
        [*command, "--shapes", "shapes.ttl", "--ledger", "ledger"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
