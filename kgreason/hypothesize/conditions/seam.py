"""From what the search finds to candidates, framed, tested and challenged like all others."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, reduce
from itertools import islice
from math import inf
from operator import and_
from typing import Any, Final

from pyoxigraph import Literal, RdfFormat, parse

from kgreason.base.statistics import Table
from kgreason.base.store import Term
from kgreason.base.templates import Fragment, Template, role, template
from kgreason.base.terms import RDF, SH, TRAILS, XSD
from kgreason.context.named_wrong import says_again
from kgreason.context.view import COUNTED, View, digest, exposed, exposure, inside, members, reads
from kgreason.graph.marks import region_name
from kgreason.graph.names import Names
from kgreason.hypothesize.candidates import Candidate, both, breaks_one_way, suits
from kgreason.hypothesize.conditions.atlas import Atlas
from kgreason.hypothesize.conditions.bars import Bars
from kgreason.hypothesize.conditions.condition import Condition
from kgreason.hypothesize.conditions.language import path_read, path_written, read, written
from kgreason.hypothesize.conditions.paths import Path
from kgreason.hypothesize.conditions.sampling import Sample
from kgreason.hypothesize.conditions.scale import Scale
from kgreason.hypothesize.conditions.search import (
    Found,
    atlas_of,
    drawn_of,
    explore,
    of_origin,
    recounted,
)
from kgreason.hypothesize.conditions.units import clustered

WRITTEN: Final = "conditions"
"""The name under which a candidate keeps its conditions, as JSON."""
LENGTH: Final = "codeLength"
BITS: Final = "bitsSaved"
"""Under these names a candidate keeps the bits that it costs to say, and that it saves beyond."""
_CLUSTERS: Final = "clusters"
_MOST_BITS: Final = 1_000_000.0
"""What cannot be said in the code costs more than it could ever save."""
_FAMILY: Final = "condition-"
_SURPLUS: Final = "surplus"
"""The family that tells what the values are like where there are too many: none is at fault."""
_NOTHING: Final = Table(0, 0, 0, 0)
_WRITTEN: Final = frozenset({TRAILS.OutcomeQuery, SH.SPARQLConstraintComponent})
"""Rules that somebody wrote as a query, which is read in more ways than by its text."""


def candidates(view: View, most: int) -> list[Candidate]:
    """Return the best that the search finds; counts are not filled in.

    It looks at all nodes: what it finds pays for the search by its length. Where the first region
    only says how nodes fail, it is searched again for where they come from. Of rules that ask the
    same of the same nodes, and that the same nodes break, one is searched for.
    """
    atlas = atlas_of(view)
    alike = _alike(view, most)
    searched: dict[object, _Searched] = view.kept.setdefault("searched", {})
    made = searched.get(alike) if alike is not None else None
    if made is None:
        made = _search(view, atlas, most)
        if alike is not None:
            searched[alike] = made
    view.kept[_nearest(view)] = made.nearest
    view.kept[_saved(view)] = made.saved
    view.kept[_reached(view)] = made.reached
    return list(made.told)


@dataclass(frozen=True)
class _Searched:
    """What a search found: what is told, else the nearest, what it looked at, how far it went."""

    told: tuple[Candidate, ...]
    nearest: Candidate | None
    saved: "_Saved"
    reached: "Reached"


@dataclass(frozen=True)
class _Saved:
    """What single conditions cost, by the hash of the nodes that they hold of those looked at.

    These are in the numbers of a sample, where there is one.
    """

    costs: Mapping[int, float]
    looked: int
    sample: int | None


def _search(view: View, atlas: Atlas, most: int) -> _Searched:
    drawn = drawn_of(view, atlas)
    explored = explore(view, atlas=atlas, drawn=drawn)
    again = of_origin(view, explored, atlas, drawn)
    stories = (*explored.found, *(again.found if again else ()))
    # The search that leaves a mechanism aside may find what the first one found.
    ranked: dict[str, Found] = {}
    for each in (each for found in stories for each in (found, found.rival) if each):
        ranked.setdefault(each.pattern.text, each)
    best, sample = explored.nearest, atlas.sample
    told = list(islice(_told(view, [*ranked.values()], sampled=sample is not None), most))
    if not told and view.constraint.component in COUNTED and _is_first(view):
        bars = Bars(view)
        values = (f for f in ranked.values() if any(map(bars.on_value, f.parts)))
        surplus = [replace(found, kind=_SURPLUS) for found in values]
        told = list(islice(_told(view, surplus, sampled=sample is not None), most))
    if best is not None and not _speaks(view, best):
        # What only says how the rule is broken is checked directly, and would hold.
        best = None
    if sample is not None and best is not None and not told:
        best = recounted(view, best)
    if atlas.whole:
        for found in (*told, *((best,) if best else ())):
            _known(view, found)
    if not atlas.shared:
        atlas.let_go()
    return _Searched(
        tuple(candidate(found) for found in told),
        None if told or best is None else candidate(best),
        _Saved(explored.costs, explored.looked, None if sample is None else sample.mask),
        Reached(
            explored.paths,
            explored.conditions,
            explored.unreached,
            None if sample is None else explored.looked.bit_count(),
        ),
    )


def _says_two(view: View, found: Found) -> bool:
    """Check whether it only says that there are several values, where the rule counts them.

    So do two conditions on the values, or on what lies behind them.
    """
    if view.constraint.component not in COUNTED:
        return False
    bars = Bars(view)
    return sum(1 for part in found.parts if bars.through_value(part)) > 1


def _is_first(view: View) -> bool:
    """Check whether no earlier round found a cause, of which the nodes are left out."""
    population = view.marks.population
    return population.everyone.bit_count() + population.unexposed == len(population.nodes)


def _told(view: View, ranked: Sequence[Found], *, sampled: bool) -> Iterator[Found]:
    """Return what is told of what was found; of a sample it has to hold in the whole population."""
    for found in ranked:
        if sampled and found.bits > 0 and replace(found, bits=inf).told and _speaks(view, found):
            found = recounted(view, found)  # noqa: PLW2901
        if found.told and _speaks(view, found):
            yield found


def _alike(view: View, most: int) -> object:
    """Return what is the same for symptoms of which a search finds the same; None for a query.

    Shapes that were generated often state one constraint several times.
    """
    rule = view.constraint
    if rule.component in _WRITTEN or rule.aim is None:
        return None
    asked = {str(name): tuple(map(str, terms)) for name, terms in rule.parameters.items()}
    said = (rule.component, rule.path, rule.target.text, rule.violation.text)
    who = (view.marks.population.key, view.marks.failing_mask, exposed(view))
    return (*said, *who, tuple(sorted(asked.items())), view.complete, most)


def nearest(view: View) -> Candidate | None:
    """Return the best single condition of a search that told none; None where none was made."""
    found = view.kept.get(_nearest(view))
    return found if isinstance(found, Candidate) else None


def saves(view: View, nodes: int) -> float | None:
    """Return the most bits that one condition with just these nodes saves among all nodes.

    None where no condition that the search on a view looked at holds them, or none was made.
    """
    found = view.kept.get(_saved(view))
    if not isinstance(found, _Saved):
        return None
    could = exposed(view)
    scale, among = Scale(could, view.marks.failing_mask), nodes & could
    if found.sample is None:
        looked = among & found.looked
    else:
        looked = Sample(view.marks.population, found.sample, 0, 0).own(among) & found.looked
    cost = found.costs.get(hash(looked))
    bits = scale.bits((among & scale.bad).bit_count(), among.bit_count())
    return None if cost is None or bits is None else bits - cost


@dataclass(frozen=True)
class Reached:
    """How far a search went: paths and conditions looked at, and paths that lay beyond its extent.

    The first of these could have told most. `nodes` counts those of a sample, where one was drawn.
    """

    paths: int
    conditions: int
    beyond: tuple[Path, ...]
    nodes: int | None = None


def reached(view: View) -> Reached | None:
    """Return how far the search on a view went; None where none was made."""
    found = view.kept.get(_reached(view))
    return found if isinstance(found, Reached) else None


def kept(view: View) -> dict[str, Any]:
    """Return what the search on a view keeps, under the names that `View.kept` has it by."""
    names = (_nearest(view), _reached(view), _saved(view))
    return {name: view.kept[name] for name in names if name in view.kept}


def _reached(view: View) -> str:
    return f"reached:{view.marks.failing.value}"


def _saved(view: View) -> str:
    return f"saved:{view.marks.failing.value}"


def _nearest(view: View) -> str:
    return f"nearest:{view.marks.failing.value}"


def _known(view: View, found: Found) -> None:
    """Remember who lies in a region: to ask the graph again may take far longer than the search."""
    nodes = reduce(and_, (part.mask for part in found.parts))
    name = region_name(view.marks.population, digest(found.pattern)).value
    view.known.setdefault(name, nodes)


def _speaks(view: View, found: Found) -> bool:
    """Check whether there is a family that can test what was found of a symptom."""
    family = _family(found)
    read = view.looks_at
    suited = family is not None and (
        suits(family, view.constraint)
        or ("wrong" in family.parameters and read is not None and reads(family, read))
    )
    if family is None or not suited or _says_two(view, found):
        return False
    if "wrong" not in family.parameters:
        return True
    if says_again(view, family, read) or breaks_one_way(view.constraint):
        return False
    bars = Bars(view)
    common = all("common" in part.template.header for part in found.parts if bars.on_value(part))
    known = view.names_values or (read is not None and read.offending is not None)
    return known and common


def wrong(view: View, values: Mapping[str, Term]) -> Fragment:
    """Return what binds ?value of ?focus to a value that breaks the rule and is as conditions say.

    Those on other paths than the constrained one say nothing of it.
    """
    bars = Bars(view)
    read = view.looks_at
    pattern = (read and read.offending) or view.constraint.violation
    for part in _parts(values):
        if bars.on_value(part):
            pattern = part.on(pattern, Fragment("?value"))
    return pattern


def _family(found: Found) -> Template | None:
    return role("hypothesize").get(_FAMILY + found.kind)


def kinds_told() -> frozenset[str]:
    """Return the kinds of cause that can be told of a region in the language of conditions."""
    families = role("hypothesize").items()
    return frozenset(f.header["kind"] for name, f in families if name.startswith(_FAMILY))


def candidate(found: Found) -> Candidate:
    """Return what was found as a candidate; its counts are not filled in."""
    family = _family(found) or template("hypothesize", f"{_FAMILY}cohort")
    text = json.dumps(written(found.parts), ensure_ascii=False, sort_keys=True)
    values: dict[str, Term] = {
        WRITTEN: Literal(text, datatype=RDF.JSON),
        LENGTH: Literal(f"{min(found.cost, _MOST_BITS):.6f}", datatype=XSD.decimal),
        BITS: Literal(f"{max(found.bits, -_MOST_BITS):.6f}", datatype=XSD.decimal),
    }
    if found.weakest is not None:
        unit = {
            "part": found.weakest.part,
            "bits": f"{min(found.weakest.cost, _MOST_BITS):.6f}",
            "path": path_written(found.weakest.dealt.unit.path),
            "ways": found.weakest.ways,
        }
        values[_CLUSTERS] = Literal(json.dumps(unit, sort_keys=True), datatype=RDF.JSON)
    return replace(remade(family, values), paid=found.told)


def recorded(bindings: str) -> tuple[Condition, ...]:
    """Return the conditions that a hypothesis was recorded with; none for one of a family."""
    said = json.loads(bindings).get("values", {}).get(WRITTEN)
    return () if said is None else read(json.loads(_lexical(said)))


def dated(bindings: str) -> Fragment | None:
    """Return what binds ?day of ?focus where a recorded hypothesis has a condition on a date."""
    for part in recorded(bindings):
        if part.dated:
            inner = part.path.inner
            return Fragment(f"{inner.text} BIND (?end AS ?day)", inner.prefixes)
    values = json.loads(bindings)
    if values.get("family") != "drift" or "dimension" not in values.get("values", {}):
        return None
    return Fragment(f"?focus {values['values']['dimension']} ?day .")


def _lexical(term: str) -> str:
    (triple,) = parse(f"<urn:s> <urn:p> {term} .", format=RdfFormat.N_TRIPLES)
    return triple.object.value if isinstance(triple.object, Literal) else "[]"


def length(values: Mapping[str, Term]) -> float:
    """Return the bits that a candidate costs to say, 0 for what was not said in the language."""
    return float(values[LENGTH].value) if LENGTH in values else 0.0


def costing(values: Mapping[str, Term]) -> Fragment:
    """Return what binds ?codeLength to the bits that a candidate costs to say.

    For the part that does worst with clusters dealt as wholes, ?partLength is what it adds to
    these, and ?ways the number of coarse ways in which its nodes are clustered. What was not looked
    for in the language costs nothing, and has no such pattern.
    """
    if LENGTH not in values:
        return Fragment("")
    said = f"BIND ({values[LENGTH].value} AS ?codeLength)"
    if _CLUSTERS in values:
        unit = json.loads(values[_CLUSTERS].value)
        said += f" BIND ({unit['bits']} AS ?partLength) BIND ({unit['ways']} AS ?ways)"
    return Fragment(said)


def clusters(view: View, values: Mapping[str, Term]) -> Fragment | None:
    """Return what gives each ?focus its ?level, ?held and ?own where the conditions hold it.

    These are the clusters by which the region does worst; ?own is of the part in question, ?held of
    all the others together. None where the region is made of no clusters.
    """
    if _CLUSTERS not in values:
        return None
    unit, parts = json.loads(values[_CLUSTERS].value), _parts(values)
    made = clustered(path_read(unit["path"]))
    others = [part.pattern for place, part in enumerate(parts) if place != unit["part"]]
    exposed = exposure(view)
    lines, prefixes = [made.text], dict(made.prefixes)
    if exposed.text:
        lines.append(f"{{ SELECT DISTINCT ?focus WHERE {{ {exposed.text} }} }}")
        prefixes |= exposed.prefixes
    own = parts[unit["part"]].pattern
    if others:
        held = reduce(both, others)
        lines.append(flagged(view, "held", held).text)
        prefixes |= held.prefixes
    else:
        own = inside(view, own)  # the mark of the region, which the tests of a hypothesis need too
        lines.append("BIND (true AS ?held)")
    lines.append(flagged(view, "own", own).text)
    return Fragment("\n".join(lines), prefixes | own.prefixes)


def flagged(view: View, name: str, pattern: Fragment) -> Fragment:
    """Return what flags the nodes of the population that fit a pattern.

    The pattern stands in a scope of its own, so that scope has to name the population too: else it
    is worked out for every node of the graph.
    """
    flag = f"SELECT DISTINCT ?focus (true AS ?{name})"
    looked = f"GRAPH work:marks {{ ?focus work:member {view.marks.population.mark} . }}"
    text = f"OPTIONAL {{ {{ {flag} WHERE {{ {looked} {pattern.text} }} }} }}"
    return Fragment(text, pattern.prefixes)


def remade(family: Template, values: Mapping[str, Term]) -> Candidate:
    """Make a candidate of its conditions as JSON; its counts are not filled in."""
    parts = _parts(values)
    region = _joined(part.region for part in parts)
    return Candidate(family, values, _NOTHING, region, _joined(part.pattern for part in parts))


def told(values: Mapping[str, Term], names: Names) -> dict[str, str]:
    """Return the words for the conditions of a candidate, for the sentences of its family."""
    if WRITTEN not in values:
        return {}
    return {"condition": "Nodes " + " and ".join(part.words(names) for part in _parts(values))}


def through_value(view: View, values: Mapping[str, Term]) -> bool:
    """Check whether a candidate has a condition about the constrained value, or behind it."""
    bars = Bars(view)
    return WRITTEN in values and any(bars.through_value(part) for part in _parts(values))


def led_to(view: View, values: Mapping[str, Term]) -> int | None:
    """Return the nodes from which the path of a single condition on one value leads anywhere.

    None for any other candidate.
    """
    part, *others = _parts(values) if WRITTEN in values else (None, None)
    if part is None or others or part.test != "equals" or not part.path.steps:
        return None
    return members(view, part.path.inner)


def bound_of(candidate: Candidate) -> tuple[str, Term] | None:
    """Return which bound of which property a candidate is; None of what is no such bound alone."""
    if WRITTEN in candidate.values:
        part, *others = _parts(candidate.values)
        header, steps = part.template.header, part.path.steps
        if others or len(steps) != 1 or steps[0].kind != "forward" or "bounds" not in header:
            return None
        return header["bounds"], steps[0].along
    header, along = candidate.family.header, candidate.values.get("dimension")
    return (header["bounds"], along) if "bounds" in header and along is not None else None


def outreached(one: Candidate, other: Candidate) -> bool:
    """Check whether a candidate says of more distant things what another one says of nearer ones.

    Things nearly always have as many parts as their parts have names.
    """
    if WRITTEN not in one.values or WRITTEN not in other.values:
        return False
    far, near = _parts(one.values), _parts(other.values)
    if len(far) != 1 or len(near) != 1:
        return False
    (a,), (b,) = far, near
    same = (a.test, a.terms, a.beside) == (b.test, b.terms, b.beside)
    steps = len(b.path.steps)
    return same and 0 < steps < len(a.path.steps) and a.path.steps[:steps] == b.path.steps


def spoken_of(values: Mapping[str, Term]) -> set[Term]:
    """Return the properties and classes along which the conditions of a candidate go."""
    if WRITTEN not in values:
        return set()
    return {step.along for part in _parts(values) for path in part.paths for step in path.steps}


def _parts(values: Mapping[str, Term]) -> tuple[Condition, ...]:
    return _parsed(values[WRITTEN].value)


@lru_cache(maxsize=1024)
def _parsed(text: str) -> tuple[Condition, ...]:
    return read(json.loads(text))


def _joined(regions: Iterator[Fragment]) -> Fragment:
    made = next(regions)
    for region in regions:
        made = both(made, region)
    return made
