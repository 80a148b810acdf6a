"""A repair is tried on the scratch copy, judged by what it does, and leaves the copy as it was."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pyoxigraph as ox
import pytest

from kgreason.base.store import Term
from kgreason.base.templates import Fragment, template
from kgreason.base.terms import FORMS_GRAPH, RDFS, TRAILS, TYPE, XSD
from kgreason.graph import Graph, load
from kgreason.repair import intervention
from kgreason.repair.catalogue import Cause, Repair, repairs
from kgreason.repair.patch import Change, Patch, as_rdf_patch, as_update, plain_names
from kgreason.repair.scope import Scope, outside
from kgreason.repair.scratch import Journal, changed
from kgreason.repair.touched import concerned, reach
from kgreason.repair.trial import CLAIMED, Trial, feasibility, read_arms, trial
from kgreason.repair.validation import constraints, effect
from kgreason.shacl import Constraint, compile_shapes, observe, observe_all, read_shapes
from kgreason.shacl.values import as_stored

EX = "https://example.org/"
ADDED, GONE = True, False
HEAD = f"@prefix ex: <{EX}> . @prefix sh: <http://www.w3.org/ns/shacl#> .\n"
HEAD += "@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .\n"


def ex(name: str) -> ox.NamedNode:
    return ox.NamedNode(EX + name)


@pytest.fixture
def world(tmp_path: Path) -> Callable[[str, str], tuple[Graph, dict[str, Constraint]]]:
    """Load data and compile shapes; gives the constraints by component and path."""

    def made(data: str, shapes: str) -> tuple[Graph, dict[str, Constraint]]:
        (tmp_path / "data.trig").write_text(HEAD + data, encoding="utf-8")
        (tmp_path / "shapes.ttl").write_text(HEAD + shapes, encoding="utf-8")
        graph = load([tmp_path / "data.trig"])
        compiled = compile_shapes(read_shapes([tmp_path / "shapes.ttl"]), graph)
        return graph, {c.label.partition(" ")[0]: c for c in compiled.constraints}

    return made


def everything(graph: Graph) -> tuple[frozenset[ox.Quad], frozenset[ox.NamedNode]]:
    return frozenset(graph.store.inner), graph.formed


def tried(
    graph: Graph, own: Constraint, repair: Repair, nodes: str, **others: str
) -> tuple[Trial, str]:
    """Try a repair on the nodes of a pattern (and placebos by name); gives what came out."""
    arms = [*repair.rows(CLAIMED, pattern(nodes))]
    for name, text in others.items():
        arms += repair.rows(name, pattern(text))
    query = template("test", "intervention").render("rows", arms=list(arms))
    before = everything(graph)
    found = trial(graph, own, graph.store.select(query), repair.values.get("level"))  # type: ignore[arg-type]
    assert everything(graph) == before
    return found, intervention.found(found).outcome


def pattern(text: str) -> Fragment:
    return Fragment(f"{{ {text} }}", {"ex": EX})


def one(
    family: str, kind: str, own: Constraint, graph: Graph, level: Term, name: str | None = None
) -> Repair:
    found = repairs(Cause(family, TRAILS[kind], None, level), own, graph)
    return next(r for r in found if name in {None, r.name})


# The scratch copy

FORMED = """
ex:north { ex:a ex:size "05"^^xsd:integer , "1.50"^^xsd:decimal , "x" .
  ex:b ex:size 5 ; ex:name "b" . }
ex:south { ex:a ex:size "5"^^xsd:int . ex:c ex:size "007"^^xsd:integer . }
"""


def patches() -> Iterator[tuple[str, list[tuple[bool, str, str, Term, str]]]]:
    five, int5 = ox.Literal("05", datatype=XSD.integer), ox.Literal("5", datatype=XSD.int)
    yield "nothing", []
    yield "rewritten away", [(False, "a", "size", five, "north")]
    yield "one of two forms", [(False, "a", "size", int5, "south")]
    yield (
        "moved",
        [
            (False, "c", "size", ox.Literal("007", datatype=XSD.integer), "south"),
            (True, "c", "width", ox.Literal("007", datatype=XSD.integer), "south"),
        ],
    )
    yield "cast", [(False, "b", "size", ox.Literal(5), "north"), (True, "b", "size", int5, "north")]
    yield "not there", [(False, "z", "size", ox.Literal("z"), "north")]
    yield "there already", [(True, "b", "name", ox.Literal("b"), "north")]
    yield "in another graph", [(True, "b", "name", ox.Literal("b"), "south")]


@pytest.mark.parametrize(("name", "rows"), list(patches()))
def test_a_patch_is_made_and_unmade_exactly(
    name: str,
    rows: list[tuple[bool, str, str, Term, str]],
    world: Callable[[str, str], tuple[Graph, dict[str, Constraint]]],
    tmp_path: Path,
) -> None:
    """Made, the copy is what loading the changed data gives; unmade, it is what it was."""
    graph, _ = world(FORMED, "ex:S a sh:NodeShape ; sh:targetClass ex:T .")
    before = everything(graph)
    changes = [Change(a, ex(g), ex(s), ex(p), v, ex(s)) for a, s, p, v, g in rows]
    with changed(graph, Patch(tuple(changes))):
        store = set(ox.parse((HEAD + FORMED).encode(), format=ox.RdfFormat.TRIG))
        store -= {ox.Quad(c.subject, c.predicate, c.value, c.graph) for c in changes if not c.adds}
        store |= {ox.Quad(c.subject, c.predicate, c.value, c.graph) for c in changes if c.adds}
        (tmp_path / "changed.trig").write_bytes(
            ox.serialize(sorted(store, key=str), format=ox.RdfFormat.TRIG) or b""
        )
        wanted = load([tmp_path / "changed.trig"])
        plain = {q for q in graph.store.inner if q.graph_name != FORMS_GRAPH}
        assert plain == {q for q in wanted.store.inner if q.graph_name != FORMS_GRAPH}, name
        assert set(map(str, graph.exact_triples())) == set(map(str, wanted.exact_triples()))
    assert everything(graph) == before


def test_what_fails_in_the_middle_leaves_the_copy_as_it_was(
    world: Callable[[str, str], tuple[Graph, dict[str, Constraint]]],
) -> None:
    graph, _ = world(FORMED, "ex:S a sh:NodeShape ; sh:targetClass ex:T .")
    before = everything(graph)
    patch = Patch((Change(ADDED, ex("north"), ex("a"), ex("p"), ex("o"), ex("a")),))
    with pytest.raises(ZeroDivisionError), changed(graph, patch):
        _ = 1 / (everything(graph) == before)
    assert everything(graph) == before


def test_the_journal_tells_what_was_in_fact_changed(
    world: Callable[[str, str], tuple[Graph, dict[str, Constraint]]],
) -> None:
    graph, _ = world(FORMED, "ex:S a sh:NodeShape ; sh:targetClass ex:T .")
    journal = Journal(graph)
    there = Change(ADDED, ex("north"), ex("b"), ex("name"), ox.Literal("b"), ex("b"))
    gone = Change(GONE, ex("north"), ex("b"), ex("name"), ox.Literal("no"), ex("b"))
    new = Change(ADDED, ex("north"), ex("b"), ex("name"), ox.Literal("c"), ex("b"))
    journal.make(Patch((there, gone, new)))
    assert list(journal.made()) == [
        (True, ox.Quad(ex("b"), ex("name"), ox.Literal("c"), ex("north")))
    ]


# What a repair does

PRICES = """
ex:feed { ex:a a ex:Line ; ex:cost 3 . ex:b a ex:Line ; ex:cost "04"^^xsd:integer .
  ex:c a ex:Line ; ex:price 5 . ex:d a ex:Line . ex:e a ex:Line ; ex:cost "x" . }
"""
PRICE = """
ex:Line-shape a sh:NodeShape ; sh:targetClass ex:Line ; sh:property ex:P , ex:D , ex:C .
ex:P sh:path ex:price ; sh:minCount 1 .
ex:D sh:path ex:price ; sh:datatype xsd:integer .
ex:C sh:path ex:note ; sh:maxCount 1 .
"""
WORLD = Callable[[str, str], tuple[Graph, dict[str, Constraint]]]
AB = "VALUES ?focus { ex:a ex:b }"


def test_a_renaming_clears_and_keeps_forms(world: WORLD) -> None:
    graph, known = world(PRICES, PRICE)
    own = known["MinCount"]
    repair = one("mapping-predicate", "MappingCause", own, graph, ex("cost"), "rename-predicate")
    found, outcome = tried(graph, own, repair, AB, random="VALUES ?focus { ex:c ex:d }")
    assert outcome == "cleared"
    assert found.figures["claimed"] == found.figures["holds"] == 2
    assert found.figures["changes"] == 4
    assert (found.figures["placeboTried"], found.figures["placeboCleared"]) == (1, 0)
    assert found.before != found.after
    assert any('"04"' in line and line.startswith("A") for line in found.patch.lines)


def test_what_a_repair_breaks_is_seen_in_constraints_that_held_before(world: WORLD) -> None:
    graph, known = world(PRICES, PRICE)
    own = known["MinCount"]
    assert not observe(graph, known["Datatype"]).failing
    repair = one("mapping-predicate", "MappingCause", own, graph, ex("cost"), "rename-predicate")
    found, outcome = tried(graph, own, repair, "VALUES ?focus { ex:a ex:e }")
    assert outcome == "harmful"
    assert {(v.key, v.focus) for v in found.caused} == {(known["Datatype"].key, ex("e"))}


def test_few_nodes_at_which_a_repair_would_do_harm_are_spared(world: WORLD) -> None:
    """Of 40 prices under another predicate one is no integer; it stays where it is."""
    lines = " ".join(
        f"ex:n{n} a ex:Line ; ex:cost {n if n != 7 else chr(34) + 'x' + chr(34)} ."
        for n in range(40)
    )
    graph, known = world(f"ex:feed {{ {lines} }}", PRICE)
    own = known["MinCount"]
    repair = one("mapping-predicate", "MappingCause", own, graph, ex("cost"), "rename-predicate")
    found, outcome = tried(graph, own, repair, "?focus a ex:Line .")
    assert (outcome, found.figures["spared"]) == ("cleared", 1)
    assert {v.focus for v in found.left} == {ex("n7")}
    assert not [c for c in found.patch.changes if c.subject == ex("n7")]
    assert (found.figures["holds"], found.figures["changes"]) == (39, 78)


def test_a_repair_that_mends_part(world: WORLD) -> None:
    graph, known = world(PRICES, PRICE)
    own = known["MinCount"]
    repair = one("mapping-predicate", "MappingCause", own, graph, ex("cost"), "rename-predicate")
    found, outcome = tried(graph, own, repair, "VALUES ?focus { ex:a ex:d }")
    assert outcome == "partly"
    assert {v.focus for v in found.left} == {ex("d")}
    assert {v.focus for v in found.removed} == {ex("a")}


def test_a_repair_that_mends_nothing_leaves_the_fingerprint(world: WORLD) -> None:
    graph, known = world(PRICES, PRICE)
    own = known["MinCount"]
    repair = one("mapping-predicate", "MappingCause", own, graph, ex("note"), "rename-predicate")
    found, outcome = tried(graph, own, repair, AB)
    assert outcome == "unchanged"
    assert found.before == found.after


def test_a_repair_that_works_where_it_should_not(world: WORLD) -> None:
    graph, known = world(PRICES, PRICE)
    own = known["MinCount"]
    repair = one("mapping-predicate", "MappingCause", own, graph, ex("cost"), "rename-predicate")
    _, outcome = tried(graph, own, repair, "VALUES ?focus { ex:a }", rival="VALUES ?focus { ex:b }")
    assert outcome == "unspecific"


def test_a_shape_without_nodes_so_far_is_looked_at_too(world: WORLD) -> None:
    """A class that had no instance gets one, and with it the constraints of its shape."""
    graph, known = world(
        "ex:feed { ex:a a ex:Part ; ex:cert ex:c1 . ex:c1 ex:name 1 . }",
        "ex:P a sh:NodeShape ; sh:targetClass ex:Part ;"
        "  sh:property [ sh:path ex:cert ; sh:class ex:Certificate ] .\n"
        "ex:C a sh:NodeShape ; sh:targetClass ex:Certificate ;"
        "  sh:property [ sh:path ex:issuer ; sh:minCount 1 ] .",
    )
    own = known["Class"]
    assert set(known) == {"Class"}
    repair = one("reference-retyped", "ReferenceCause", own, graph, RDFS.Resource)
    found, outcome = tried(graph, own, repair, "VALUES ?focus { ex:a }")
    assert found.figures["holds"] == 1
    assert outcome == "harmful"
    assert {v.focus for v in found.caused} == {ex("c1")}


def test_a_cast_is_seen_though_the_store_rewrites_it(world: WORLD) -> None:
    """xsd:int is stored as xsd:integer; only the graph of forms knows the difference."""
    graph, known = world(
        'ex:feed { ex:a a ex:T ; ex:n "07" . ex:b a ex:T ; ex:n "8"^^xsd:int . }',
        "ex:S a sh:NodeShape ; sh:targetClass ex:T ;"
        "  sh:property [ sh:path ex:n ; sh:datatype xsd:int ] .",
    )
    own = known["Datatype"]
    repair = one("datatype", "DatatypeCause", own, graph, ox.Literal(XSD.string.value))
    found, outcome = tried(graph, own, repair, "VALUES ?focus { ex:a }")
    assert found.caused == frozenset()
    assert outcome == "cleared"
    assert found.patch.lines[-1].startswith(f'A <{EX}a> <{EX}n> "07"^^<{XSD.int.value}>')


def test_obstacles_make_a_repair_infeasible_and_are_left_alone(world: WORLD) -> None:
    graph, known = world(
        'ex:feed { ex:a a ex:T ; ex:n "7" . ex:b a ex:T ; ex:n "seven" . }',
        "ex:S a sh:NodeShape ; sh:targetClass ex:T ;"
        "  sh:property [ sh:path ex:n ; sh:datatype xsd:integer ] .",
    )
    repair = one(
        "datatype", "DatatypeCause", known["Datatype"], graph, ox.Literal(XSD.string.value)
    )
    rows = graph.store.select(
        template("test", "intervention").render(
            "rows", arms=list(repair.rows(CLAIMED, pattern("?focus a ex:T .")))
        )
    )
    name, arms = read_arms(graph, rows)
    arm = arms[CLAIMED]
    assert name == "cast-datatype"
    assert set(arm.obstacles) == {ex("b")}
    assert {c.subject for c in arm.patch.changes} == {ex("a")}
    verdict = feasibility(arm)
    assert not verdict.feasible
    assert "1 of 2 claimed nodes cannot be mended so" in verdict.why
    assert not feasibility(None).feasible


# Which nodes are looked at again


def test_touched_nodes_are_enough(world: WORLD) -> None:
    """Validation of the touched nodes sees every difference that validation of all nodes sees."""
    graph, known = world(
        """ex:g { ex:a a ex:T ; ex:p ex:b . ex:b a ex:U ; ex:q ex:c . ex:c ex:r 1 .
        ex:d a ex:T ; ex:p ex:e . ex:e a ex:U ; ex:q ex:f . ex:U ex:s 1 . ex:U2 ex:s 2 . }""",
        """ex:T-shape a sh:NodeShape ; sh:targetClass ex:T ; sh:closed true ;
          sh:ignoredProperties ( <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> ) ;
          sh:property [ sh:path ex:p ; sh:class ex:U ; sh:node ex:U-shape ; sh:maxCount 1 ] ;
          sh:property [ sh:path ( ex:p ex:q ex:r ) ; sh:minCount 1 ] ;
          sh:property [ sh:path [ sh:inversePath ex:t ] ; sh:maxCount 0 ] ;
          sh:property [ sh:path ( ex:p [ sh:zeroOrMorePath ex:q ] ) ; sh:maxCount 3 ] .
        ex:U-shape a sh:NodeShape ; sh:property [ sh:path ex:q ; sh:minCount 1 ;
          sh:node [ sh:property [ sh:path ex:r ; sh:minCount 1 ] ] ] .""",
    )
    own = next(iter(known.values()))
    every = constraints(graph, own)
    assert len(every) >= 6
    terms = [ex(n) for n in "abcdefT"]
    singles = [
        Change(adds, ex("g"), s, p, o, s)
        for adds in (True, False)
        for s in terms
        for p in [*(ex(n) for n in "pqrtz"), TYPE]
        for o in (ex("b"), ex("e"), ex("U"), ex("T"), ox.Literal(1))
    ]
    seen = 0
    for change in singles:
        patch = Patch((change,))
        found = effect(graph, own, patch, [])
        before = results(graph, every)
        with changed(graph, patch):
            after = results(graph, constraints(graph, own, frozenset({ex("T"), ex("U")})))
        assert found.after - found.before == after - before, change.line
        assert found.before - found.after == before - after, change.line
        seen += before != after
    assert seen > 20


def results(graph: Graph, every: tuple[Constraint, ...]) -> frozenset[tuple[object, ...]]:
    return frozenset(
        (c.key, r.focus, r.path, r.value)
        for c, seen in observe_all(graph, every)
        for r in seen.results  # type: ignore[union-attr]
    )


def test_a_change_that_no_constraint_reads_concerns_nobody(world: WORLD) -> None:
    graph, known = world(PRICES, PRICE)
    quad = ox.Quad(ex("a"), ex("colour"), ex("red"), ex("feed"))
    assert concerned(graph, reach(known["MinCount"]), [quad]) == frozenset()
    quad = ox.Quad(ex("a"), ex("price"), ox.Literal(3), ex("feed"))
    assert set(concerned(graph, reach(known["MinCount"]), [quad]) or ()) == {ex("a")}


# Scope

STRAYS = {
    "another node": (True, ex("z"), ex("price"), ox.Literal(3)),
    "another property": (True, ex("a"), ex("weight"), ox.Literal(3)),
    "a type": (True, ex("a"), TYPE, ex("Line")),
    "a value out of nothing": (True, ex("a"), ex("price"), ox.Literal(99)),
    "a removal elsewhere": (False, ex("a"), ex("note"), ox.Literal("x")),
}


@pytest.mark.parametrize("name", STRAYS)
def test_what_a_repair_does_not_declare_is_seen(name: str, world: WORLD) -> None:
    graph, _ = world(PRICES, PRICE)
    scope = Scope("property-assertion", "rename", frozenset({ex("a")}), ex("price"), ex("cost"))
    feed = ex("feed")
    fair = [
        (False, ox.Quad(ex("a"), ex("cost"), ox.Literal(3), feed)),
        (True, ox.Quad(ex("a"), ex("price"), ox.Literal(3), feed)),
    ]
    assert outside(graph, scope, fair) == []
    added, *triple = STRAYS[name]
    subject, predicate, value = triple
    stray = ox.Quad(subject, predicate, value, feed)  # type: ignore[arg-type]
    assert outside(graph, scope, [*fair, (added, stray)]) == [stray]


@pytest.mark.parametrize(
    ("region", "operation", "fair", "stray"),
    [
        ("literal-value", "remove", (False, "a", "price", 3), (True, "a", "price", 3)),
        ("literal-value", "remove", (False, "a", "price", 3), (False, "a", "cost", 3)),
        ("type-assertion", "add", (True, "x", None, "T"), (True, "y", None, "T")),
        ("type-assertion", "materialise", (True, "x", None, "T"), (False, "x", None, "U")),
        ("property-assertion", "materialise", (True, "a", "price", 3), (True, "a", "cost", 3)),
        ("node", "add", (True, "missing", None, "T"), (True, "x", None, "T")),
    ],
)
def test_each_operation_has_its_bounds(
    region: str,
    operation: str,
    fair: tuple[bool, str, str | None, object],
    stray: tuple[bool, str, str | None, object],
    world: WORLD,
) -> None:
    graph, _ = world(
        "ex:g { ex:a ex:price ex:x , ex:missing . ex:x ex:k 1 . ex:y ex:k 1 . }", PRICE
    )
    scope = Scope(region, operation, frozenset({ex("a")}), ex("price"))

    def quad(subject: str, predicate: str | None, value: object) -> ox.Quad:
        term = ex(value) if isinstance(value, str) else ox.Literal(3)
        return ox.Quad(ex(subject), TYPE if predicate is None else ex(predicate), term, ex("g"))

    assert outside(graph, scope, [(fair[0], quad(*fair[1:]))]) == []
    assert outside(graph, scope, [(stray[0], quad(*stray[1:]))]) == [quad(*stray[1:])]


def test_what_an_import_says_of_others_is_in_scope_where_it_names_them(world: WORLD) -> None:
    graph, _ = world("ex:g { ex:a ex:price ex:missing . ex:x ex:k 1 . }", PRICE)
    scope = Scope("node", "add", frozenset({ex("a")}), ex("price"))
    named = [
        (True, ox.Quad(ex("missing"), ex("by"), ex("issuer"), ex("g"))),
        (True, ox.Quad(ex("issuer"), ex("in"), ex("x"), ex("g"))),
        (True, ox.Quad(ex("missing"), TYPE, ex("Class"), ex("g"))),
    ]
    assert outside(graph, scope, named) == []
    for subject in ("x", "elsewhere", "Class"):  # described here; not named; named as a class
        stray = ox.Quad(ex(subject), ex("k"), ox.Literal(2), ex("g"))
        assert outside(graph, scope, [*named, (True, stray)]) == [stray]


def test_a_value_moves_between_linked_nodes_alone(world: WORLD) -> None:
    graph, _ = world("ex:g { ex:a ex:pack ex:k . ex:l ex:pack ex:a . ex:m ex:size 1 . }", PRICE)
    region, nodes = "property-assertion", frozenset({ex("a")})
    scope = Scope(region, "move", nodes, ex("price"), ex("pack"))

    def quad(subject: str, predicate: str, value: int) -> ox.Quad:
        return ox.Quad(ex(subject), ex(predicate), ox.Literal(value), ex("g"))

    fair = [(True, quad("a", "price", 3)), (False, quad("k", "price", 3))]
    fair += [(True, quad("a", "price", 4)), (False, quad("l", "price", 4))]
    assert outside(graph, scope, fair) == []
    strays = [
        [(True, quad("a", "price", 5))],  # out of nothing
        [(False, quad("k", "price", 5))],  # into nothing
        [(True, quad("a", "size", 5)), (False, quad("k", "size", 5))],  # another property
        [(True, quad("k", "price", 5)), (False, quad("a", "price", 5))],  # the other way
    ]
    for stray in strays:
        assert outside(graph, scope, [*fair, *stray]) == [q for _, q in stray]
    far = [(True, quad("a", "price", 5)), (False, quad("m", "price", 5))]
    assert outside(graph, scope, far) == [far[1][1]]


def test_a_cast_keeps_the_text(world: WORLD) -> None:
    graph, _ = world(PRICES, PRICE)
    scope = Scope("literal-value", "cast", frozenset({ex("a")}), ex("price"))
    old = (False, ox.Quad(ex("a"), ex("price"), ox.Literal("2026-01-01"), ex("g")))
    day, other = (ox.Literal(t, datatype=XSD.date) for t in ("2026-01-01", "2027-01-01"))
    assert outside(graph, scope, [old, (True, ox.Quad(ex("a"), ex("price"), day, ex("g")))]) == []
    wrong = ox.Quad(ex("a"), ex("price"), other, ex("g"))
    assert outside(graph, scope, [old, (True, wrong)]) == [wrong]


def test_the_property_that_a_query_of_the_shape_asks_about_is_in_scope(world: WORLD) -> None:
    graph, known = world(
        'ex:g { ex:a a ex:P ; ex:name "JÃ¶rg" . ex:b a ex:P ; ex:name "Jörg" . }',
        """ex:S a sh:NodeShape ; sh:targetClass ex:P ; sh:sparql [ sh:select
          'SELECT $this { $this <https://example.org/name> ?n FILTER (CONTAINS(?n, "Ã")) }' ] .""",
    )
    own, level = known["SPARQL"], ox.Literal("Ã[\u0080-\u00bf]")
    cause = Cause("value-form", TRAILS.ValueCause, ex("name"), level)
    made = next(r for r in repairs(cause, own, graph) if r.name == "decode-text")
    found, outcome = tried(graph, own, made, "VALUES ?focus { ex:a }")
    assert (outcome, found.strays) == ("cleared", ())
    assert str(ox.Literal("Jörg")) in {str(c.value) for c in found.patch.changes if c.adds}


def test_a_stray_change_ends_in_out_of_scope(world: WORLD) -> None:
    """A repair whose update does more than its header says is caught by what it did."""
    graph, known = world(PRICES, PRICE)
    own = known["MinCount"]
    repair = one("mapping-predicate", "MappingCause", own, graph, ex("cost"), "rename-predicate")
    query = template("test", "intervention").render(
        "rows", arms=list(repair.rows(CLAIMED, pattern(AB)))
    )
    rows = list(graph.store.select(query))
    more = next(r for r in rows if r["change"].value == "add")
    rows.append({**more, "subject": ex("d"), "object": ox.Literal(1), "source": ex("d")})
    found = trial(graph, own, rows, ex("cost"))
    assert intervention.found(found).outcome == "out-of-scope"
    assert found.figures["touchedOutside"] == 1


# Which repair fits


def test_a_repair_fits_by_family_component_and_region_kind(world: WORLD) -> None:
    graph, known = world(PRICES, PRICE)
    own = known["MinCount"]
    cause = Cause("mapping-predicate", TRAILS.MappingCause, None, ex("cost"))
    assert [r.name for r in repairs(cause, own, graph)] == ["rename-namespace", "rename-predicate"]
    source = Cause("mapping-predicate", TRAILS.SourceCause, None, ex("cost"))
    assert repairs(source, own, graph) == []
    other = Cause("reference-missing", TRAILS.ReferenceCause, None, ox.Literal(EX))
    assert repairs(other, own, graph) == []


# Patches as text


def test_patches_are_written_as_the_data_are(world: WORLD) -> None:
    graph, _ = world(PRICES, PRICE)
    source = next(iter(plain_names(graph)))
    old = Change(GONE, source, ex("a"), ex("n"), ox.Literal("05", datatype=XSD.int), ex("a"))
    new = Change(ADDED, ex("feed"), ex("a"), ex("n"), ox.Literal("x\ny"), ex("a"))
    patch = Patch((new, old))
    lines = as_rdf_patch(patch, plain_names(graph), ["why\nso"]).splitlines()
    assert lines[:2] == ["# why", "# so"]
    assert lines[2].startswith("H id <urn:sha256:")
    assert lines[3:] == [
        "TX .",
        f'D <{EX}a> <{EX}n> "05"^^<{XSD.int.value}> .',
        f'A <{EX}a> <{EX}n> "x\\ny" <{EX}feed> .',
        "TC .",
    ]
    store = ox.Store()
    store.update(as_update(patch, plain_names(graph), ["why"]))
    assert [str(q.object) for q in store] == ['"x\\ny"']
    blank = Patch((Change(ADDED, source, ox.BlankNode("b"), ex("n"), ex("o"), ex("a")),))
    with pytest.raises(ValueError, match="blank node"):
        as_update(blank, frozenset(), [])
    assert as_stored(old.value) != old.value


# Named graphs

TWICE = """
ex:first { ex:a a ex:Line ; ex:price 11 ; ex:at _:x . _:x ex:town "Bonn" .
  ex:b a ex:Line ; ex:price 2 . }
ex:second { ex:a a ex:Line ; ex:price 1 ; ex:at ex:here . ex:b a ex:Line ; ex:price 3 .
  ex:c a ex:Line ; ex:price 4 . }
"""
ONE_PRICE = "ex:S sh:targetClass ex:Line ; sh:property [ sh:path ex:price ; sh:maxCount 1 ] ."


@pytest.mark.parametrize(
    ("name", "kind", "family", "level"),
    [
        ("drop-copy", "DuplicateCause", "duplicate-sources", None),
        ("drop-source", "SourceCause", "source-graph", "first"),
    ],
)
def test_a_graph_that_another_replaces_goes_as_a_whole(
    name: str, kind: str, family: str, level: str | None, world: WORLD
) -> None:
    graph, known = world(TWICE, ONE_PRICE)
    own = known["MaxCount"]
    cause = Cause(family, TRAILS[kind], None, None if level is None else ex(level))
    repair = next(r for r in repairs(cause, own, graph) if r.name == name)
    found, outcome = tried(graph, own, repair, AB)
    assert outcome == "cleared"
    assert (found.figures["changes"], found.figures["nodesChanged"]) == (6, 2)
    assert {c.graph for c in found.patch.changes} == {ex("first")}
    more, known = world(TWICE.replace('"Bonn"', '"Bonn" . ex:z ex:name 5'), ONE_PRICE)
    arms = list(repair.rows(CLAIMED, pattern(AB)))
    query = template("test", "intervention").render("rows", arms=[*arms])
    said = feasibility(read_arms(more, list(more.store.select(query)))[1][CLAIMED])
    assert not said.feasible
    assert "no other source says 1 of the things" in said.why


def test_a_named_graph_is_changed_as_a_whole_or_not_at_all(world: WORLD) -> None:
    graph, _ = world(TWICE, ONE_PRICE)
    nodes, first = frozenset({ex("a"), ex("b")}), ex("first")
    scope = Scope("named-graph", "remove", nodes, ex("price"), first)
    whole = [(GONE, q) for q in graph.store.quads(first)]
    assert outside(graph, scope, whole) == []
    assert set(outside(graph, scope, whole[1:])) == {q for _, q in whole[1:]}
    other = [(GONE, q) for q in graph.store.quads(ex("second"))]
    assert outside(graph, scope, [*whole, *other]) == [q for _, q in other]
    made = (ADDED, ox.Quad(ex("a"), ex("price"), ox.Literal(1), first))
    assert outside(graph, scope, [*whole, made]) == [made[1]]
    far = Scope("named-graph", "remove", frozenset({ex("z")}), ex("price"))
    assert outside(graph, far, whole) == [q for _, q in whole]
