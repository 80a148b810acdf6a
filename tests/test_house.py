"""The house keeps its order: who may import whom, how long things are, which terms there are."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pyoxigraph as ox
import pytest

from kgreason.base.terms import OWL, PREFIXES, RDFS, SKOS, TRAILS, TYPE

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "kgreason"
MODULES = sorted(PACKAGE.rglob("*.py"))
SPARQL = sorted([*ROOT.glob("queries/*/*.rq"), *ROOT.glob("queries/*/*.ru")])
TURTLE = sorted([*ROOT.glob("ontology/**/*.ttl"), *ROOT.glob("shapes/**/*.ttl")])

LAYERS = (
    ("base",),
    ("graph",),
    ("shacl", "record"),
    ("context",),
    ("endpoint",),
    ("observe",),
    ("hypothesize",),
    ("test",),
    ("decide",),
    ("audit", "report"),
    ("repair", "model", "sources", "computation"),
    ("loop",),
    ("run",),
    ("queue",),
    ("review",),
    ("routing",),
    ("planner",),
    ("api",),
    ("mcp",),
    ("inject",),
    ("serve",),
    ("cli",),
    ("__init__", "__main__"),
)
"""The rooms of the package from the ground up; a room knows those below it, none beside it."""
UPWARD: dict[tuple[str, str], str] = {}
"""Imports that go up or sideways all the same, each with its reason."""

LONG = 600
LONG_MODULES: dict[str, str] = {}
"""Modules over 600 lines, each with the reason why it is not two."""
LONG_FUNCTION = 55  # about 50
LONG_FUNCTIONS: dict[str, str] = {}
"""Functions over 50 lines below their signature, each with the reason why it is not two."""

LAYER = {room: height for height, rooms in enumerate(LAYERS) for room in rooms}
OWN = {prefix: PREFIXES[prefix] for prefix in ("trails", "policy")}
NAMESPACES = {prefix.upper(): iri for prefix, iri in OWN.items()}
FULL = re.compile(r"https://w3id\.org/trails(?:/policy)?#[A-Za-z][\w-]*")
SHORT = re.compile(r"(?<![\w:?$<-])(trails|policy):([A-Za-z][\w-]*)")
STRINGS = re.compile(r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'')


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def dotted(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts)


def rooms_imported(module: Path) -> Iterator[tuple[str, int]]:
    """Give each room of the package that a module imports, wherever it does so, with the line."""
    for node in ast.walk(tree(module)):
        names, line = [], 0
        if isinstance(node, ast.Import):
            names, line = [alias.name for alias in node.names], node.lineno
        elif isinstance(node, ast.ImportFrom):
            line = node.lineno
            assert node.level == 0, f"{module}, line {line}: imports are absolute"
            assert node.module is not None
            names = [node.module]
            if node.module == "kgreason":
                names = [f"kgreason.{alias.name}" for alias in node.names]
        for name in names:
            if name.split(".")[0] == "kgreason":
                yield [*name.split("."), "__init__"][1], line


@pytest.mark.parametrize("module", MODULES, ids=dotted)
def test_imports_run_downward(module: Path) -> None:
    room = module.relative_to(PACKAGE).with_suffix("").parts[0]
    assert room in LAYER, f"give the room {room!r} its place in LAYERS"
    wrong = [
        f"line {line}: {room} may not know {other}"
        for other, line in rooms_imported(module)
        if other != room and LAYER[other] >= LAYER[room] and (room, other) not in UPWARD
    ]
    assert wrong == []


def test_exceptions_are_needed() -> None:
    made = {(p.relative_to(PACKAGE).parts[0], o) for p in MODULES for o, _ in rooms_imported(p)}
    assert set(UPWARD) <= made
    long = {dotted(p) for p in MODULES if lines_of(p) > LONG}
    assert set(LONG_MODULES) <= long
    assert set(LONG_FUNCTIONS) <= {name for name, n in functions() if n > LONG_FUNCTION}


def lines_of(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


@cache
def functions() -> tuple[tuple[str, int], ...]:
    """Give each function with its number of lines, docstring included, signature not."""
    return tuple(_functions())


def _functions() -> Iterator[tuple[str, int]]:
    for path in MODULES:
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                assert node.end_lineno is not None
                yield f"{dotted(path)}.{node.name}", node.end_lineno - node.body[0].lineno + 1


def test_a_long_module_is_two_modules() -> None:
    long = {dotted(p): lines_of(p) for p in MODULES if lines_of(p) > LONG}
    assert {name: n for name, n in long.items() if name not in LONG_MODULES} == {}


def test_a_long_function_is_two_functions() -> None:
    long = {name: n for name, n in functions() if n > LONG_FUNCTION}
    assert {name: n for name, n in long.items() if name not in LONG_FUNCTIONS} == {}


# Terms


def ontology() -> ox.Store:
    store = ox.Store()
    for path in sorted(ROOT.glob("ontology/**/*.ttl")):
        store.load(path=str(path), format=ox.RdfFormat.TURTLE)
    return store


ONTOLOGY = ontology()
DECLARED = {
    quad.subject.value
    for quad in ONTOLOGY.quads_for_pattern(None, TYPE, None, None)
    if isinstance(quad.subject, ox.NamedNode)
}
POLICIES = {str(q.subject) for q in ONTOLOGY.quads_for_pattern(None, TYPE, TRAILS.Policy, None)}
TERMS = sorted(
    iri for iri in DECLARED if iri.startswith(tuple(OWN.values())) and f"<{iri}>" not in POLICIES
)


def terms_of_sparql(text: str) -> set[str]:
    header = re.compile(r"(?m)^#.*$|^\s*PREFIX .*$")
    bare = STRINGS.sub(" ", header.sub(" ", text))
    return {OWN[prefix] + name for prefix, name in SHORT.findall(bare)} | set(FULL.findall(bare))


@pytest.mark.parametrize("path", SPARQL, ids=lambda p: f"{p.parent.name}/{p.stem}")
def test_terms_of_a_query_are_in_the_ontology(path: Path) -> None:
    found = terms_of_sparql(path.read_text(encoding="utf-8"))
    assert sorted(found - DECLARED) == []


@pytest.mark.parametrize("path", TURTLE, ids=lambda p: str(p.relative_to(ROOT)))
def test_terms_of_shapes_and_ontology_are_in_the_ontology(path: Path) -> None:
    found = set()
    own = set()
    for quad in ox.parse(path=str(path), format=ox.RdfFormat.TURTLE):
        if quad.predicate == TYPE and isinstance(quad.subject, ox.NamedNode):
            own.add(quad.subject.value)
        for term in quad.triple:
            if isinstance(term, ox.NamedNode) and FULL.fullmatch(term.value):
                found.add(term.value)
            elif isinstance(term, ox.Literal) and quad.predicate.value.startswith(PREFIXES["sh"]):
                found |= terms_of_sparql(term.value)
    assert sorted(found - DECLARED - own) == []


def passes_on(module: ast.Module) -> dict[str, set[str]]:
    """Give the functions that hand their keywords on to `make` or `describe`: name, own names."""
    found = {}
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef) and node.args.kwarg is not None:
            handed = [
                keyword.value.id
                for call in ast.walk(node)
                if isinstance(call, ast.Call)
                for keyword in call.keywords
                if keyword.arg is None and isinstance(keyword.value, ast.Name)
            ]
            if node.args.kwarg.arg in handed:
                known = [*node.args.args, *node.args.kwonlyargs, *node.args.posonlyargs]
                found[node.name] = {argument.arg for argument in known}
    return found


def terms_of_code(path: Path) -> Iterator[str]:
    """Give the terms that a module names: TRAILS.x, and the keywords of `describe` and `make`."""
    module = tree(path)
    handing = passes_on(module)
    for node in ast.walk(module):
        match node:
            case ast.Attribute(value=ast.Name(id=name), attr=local) if name in NAMESPACES:
                if local != "iri":
                    yield NAMESPACES[name] + local
            case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=str(local))) if (
                name in NAMESPACES
            ):
                yield NAMESPACES[name] + local
            case ast.Constant(value=str(text)):
                yield from FULL.findall(text)
            case ast.Call(func=ast.Attribute(attr="make" | "describe" | "step" as what)):
                first = node.args[0] if node.args else None
                if what != "describe" and isinstance(first, ast.Constant):
                    yield OWN["trails"] + str(first.value)
                if what != "step":
                    yield from (OWN["trails"] + k.arg for k in node.keywords if k.arg)
            case ast.Call(func=ast.Name(id=name)) if name in handing:
                yield from (
                    OWN["trails"] + k.arg
                    for k in node.keywords
                    if k.arg and k.arg not in handing[name]
                )


@pytest.mark.parametrize("path", MODULES, ids=dotted)
def test_terms_of_the_code_are_in_the_ontology(path: Path) -> None:
    assert sorted(set(terms_of_code(path)) - DECLARED) == []


def test_terms_of_the_code_are_found() -> None:
    """The test above is worth something only if it sees the terms."""
    found = {term for path in MODULES for term in terms_of_code(path)}
    for name in ("Hypothesis", "confidence", "catchAll", "Execute", "closed", "Supports"):
        assert OWN["trails"] + name in found


@pytest.mark.parametrize("iri", TERMS)
def test_every_term_says_what_it_is(iri: str) -> None:
    node = ox.NamedNode(iri)

    def values(*properties: ox.NamedNode) -> list[str]:
        quads = [q for p in properties for q in ONTOLOGY.quads_for_pattern(node, p, None, None)]
        return [q.object.value for q in quads if not isinstance(q.object, ox.Triple)]

    labels = values(RDFS.label)
    meanings = values(RDFS.comment, SKOS.definition)
    assert len(labels) == 1
    assert len(meanings) == 1
    assert meanings[0].endswith(".")
    (home,) = values(RDFS.isDefinedBy)
    assert home in {"https://w3id.org/trails", "https://w3id.org/trails/policy"}
    assert iri.startswith(f"{home}#")
    assert home in DECLARED


def test_properties_and_classes_are_of_one_kind() -> None:
    kinds = {
        OWL.Class: "upper",
        OWL.ObjectProperty: "lower",
        OWL.DatatypeProperty: "lower",
    }
    for kind, case in kinds.items():
        for quad in ONTOLOGY.quads_for_pattern(None, TYPE, kind, None):
            assert isinstance(quad.subject, ox.NamedNode)
            local = quad.subject.value.rpartition("#")[2]
            assert local[0].isupper() == (case == "upper"), quad.subject.value
