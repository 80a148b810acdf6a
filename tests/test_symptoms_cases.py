"""Every template of queries/observe has cases: small data, shapes, and what is expected."""

from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyoxigraph as ox
import pytest

from kgreason.base.store import Term
from kgreason.base.templates import Fragment, Template, role, template
from kgreason.graph import Graph, load
from kgreason.graph.regions import region_nodes
from kgreason.shacl import (
    Constraint,
    Observation,
    compile_axioms,
    compile_shapes,
    conforms_with_path,
    located,
    observe,
    of_predicate,
    outcome_symptom,
    read_axioms,
    read_report,
    read_shapes,
)
from tests.region_support import answers, sources, ways
from tests.symptoms_support import DIFFERENCES, observed, ours, short, theirs

CASES = Path(__file__).parent / "cases" / "observe"
ALL = sorted(path for path in CASES.glob("*/*") if path.is_dir())
Row = tuple[str, str, str]
ALL_OF_THEM = Fragment("FILTER (BOUND(?focus))")


def written(term: Term | None) -> str:
    """Give a term as the expectations have it; blank nodes are all alike."""
    if term is None:
        return ""
    if isinstance(term, ox.BlankNode):
        return "_:"
    text = str(term).replace("<http://www.w3.org/2001/XMLSchema#", "xsd:<")
    if isinstance(term, ox.NamedNode):
        return f"ex:{term.value.removeprefix('http://example.org/')}"
    if "^^xsd:<" in text:
        return text.replace("^^xsd:<", "^^xsd:").removesuffix(">")
    return text


def expected(case: Path) -> list[Row]:
    lines = (case / "expected.tsv").read_text(encoding="utf-8").splitlines()[1:]
    rows = []
    for line in lines:
        component, focus, value = [*line.split("\t"), "", ""][:3]
        value = '"true"^^xsd:boolean' if value == "true" else value
        rows.append((component, focus, value.lower() if "@" in value else value))
    return sorted(rows)


def look(case: Path, graph: Graph) -> Iterator[tuple[Constraint, Observation]]:
    if (case / "outcome.rq").exists():
        at = case / "at.txt"
        symptom = outcome_symptom(
            (case / "outcome.rq").read_text(encoding="utf-8"),
            graph,
            Decimal(at.read_text(encoding="utf-8")) if at.exists() else None,
        )
        yield symptom, observe(graph, symptom)
        return
    if (case / "axioms.ttl").exists():
        read = read_axioms([case / "axioms.ttl"])
        of_axioms = compile_axioms(read, graph)
        assert "\n".join(of_axioms.notices) == _notice(case)
        for seen, observation in observed(graph, of_axioms):
            yield replace(seen, component=seen.axiom or seen.component), observation
        return
    shapes = case / "shapes.ttl"
    compiled = compile_shapes(read_shapes([shapes]), graph) if shapes.exists() else None
    if (case / "report.ttl").exists():
        population = case / "population.rq"
        yield from read_report(
            case / "report.ttl",
            graph,
            compiled=compiled,
            population=population.read_text(encoding="utf-8") if population.exists() else None,
        ).seen
    elif compiled is not None:
        yield from observed(graph, compiled)


def _notice(case: Path) -> str:
    """Give what is to be said of the axioms of a case, which stands in notice.txt."""
    told = case / "notice.txt"
    text = told.read_text(encoding="utf-8").strip() if told.exists() else ""
    return text.replace("CASE", str(case))


def under(case: Path, graph: Graph, seen: list[tuple[Constraint, Observation]]) -> list[Row]:
    """Give the nodes that would conform if their values stood under the property of under.txt."""
    if not (case / "under.txt").exists():
        return []
    iri = ox.NamedNode((case / "under.txt").read_text(encoding="utf-8").strip())
    found = set()
    for constraint, _ in seen:
        query = conforms_with_path(
            constraint, graph, of_predicate(iri), Fragment("?focus ?any ?thing .")
        )
        prefixes = "".join(f"PREFIX {p}: <{i}>\n" for p, i in query.prefixes.items())
        found |= {
            ("under", written(r["focus"]), "") for r in graph.store.select(prefixes + query.text)
        }
    return sorted(found)


def assert_found_anywhere(graph: Graph, constraint: Constraint) -> None:
    """Hold the population, as it is told, to that of the scratch copy, however data are loaded."""
    text = template("context", "region").render(
        target=constraint.target,
        regions=[ALL_OF_THEM],
        literals=True,
        sources=False,
        merged=False,
        forms=False,
    )
    wanted = region_nodes(graph.store.inner, text)
    for way, found in answers(located(constraint, graph, [ALL_OF_THEM]), ways(sources(graph))):
        assert found == wanted, way


@pytest.mark.parametrize("case", ALL, ids=lambda p: f"{p.parent.name}-{p.name}")
def test_case(case: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    used: set[str] = set()
    plain = Template.fragment

    def fragment(self: Template, *args: Any, **values: Any) -> Fragment:
        used.add(self.name)
        return plain(self, *args, **values)

    monkeypatch.setattr(Template, "fragment", fragment)
    graph = load([case / "data.ttl"])
    seen = list(look(case, graph))
    rows = [
        (short(constraint.component.value), written(result.focus), written(result.value))
        for constraint, observation in seen
        for result in observation.results
    ]
    assert sorted(rows + under(case, graph, seen)) == expected(case)
    # The texts for the record run too, and the case shows the template that it is for.
    for constraint, observation in seen:
        if not (case / "report.ttl").exists():
            outcomes = graph.store.select(constraint.outcome_query)
            assert len(outcomes) == observation.population
            assert_found_anywhere(graph, constraint)
    assert case.parent.name in used


@pytest.mark.parametrize(
    "case",
    [c for c in ALL if (c / "shapes.ttl").exists()],
    ids=lambda p: f"{p.parent.name}-{p.name}",
)
def test_case_agrees_with_pyshacl(case: Path) -> None:
    name = f"{case.parent.name}/{case.name}"
    if name in DIFFERENCES["cases"]:
        pytest.skip(DIFFERENCES["cases"][name])
    graph, shapes = load([case / "data.ttl"]), read_shapes([case / "shapes.ttl"])
    compiled = compile_shapes(shapes, graph)
    assert ours(observed(graph, compiled)) == theirs(graph, shapes)


def test_every_template_has_a_case() -> None:
    assert {path.parent.name for path in ALL} == set(role("observe"))
