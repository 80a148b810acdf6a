"""An extract of an endpoint in place of data: taken once, then read like files.

Who is looked at and who fails are the lists that the endpoint gave. They are marked on the scratch
copy, and the texts of each constraint look at these marks.
"""

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pyoxigraph as ox

from kgreason.base.errors import KgreasonError, LedgerError, OptionError
from kgreason.base.figures import figure
from kgreason.base.store import Term
from kgreason.base.templates import template
from kgreason.base.terms import MARKS_GRAPH, WORK, XSD
from kgreason.base.weights import Drawn
from kgreason.context.symptom import Symptom
from kgreason.endpoint.asking_endpoint import BATCH
from kgreason.endpoint.extract import Asked, Extract
from kgreason.endpoint.kept_answers import SUFFIX, KeptAnswers
from kgreason.endpoint.known import Rules
from kgreason.endpoint.named_endpoint import NamedEndpoint, address_of, is_address
from kgreason.endpoint.paging import ROLE
from kgreason.endpoint.pull import Estimate, estimate, pull
from kgreason.graph import Graph
from kgreason.graph.given import PREFIX, Given
from kgreason.observe.request import Request
from kgreason.observe.too_large import Origin, beside
from kgreason.record import Record
from kgreason.record.blobs import Blobs
from kgreason.shacl import (
    Compiled,
    Constraint,
    Observation,
    observe,
    read_axioms,
    read_shapes,
)
from kgreason.shacl.constraint import Texts
from kgreason.shacl.inner_rules import Inside, inner_rules
from kgreason.shacl.lost_forms import rests_on_forms, unproven
from kgreason.shacl.population import Counts

_BORNE_OUT: Final = figure("borneOut")
_INNER: Final = 2
LISTS: Final = f"{PREFIX}extract.json"
Progress = Callable[[str, int, int], None]
Compile = Callable[[Graph, Counts], Compiled]


def names_endpoint(request: Request) -> bool:
    """Check whether a request is about an endpoint of which nothing was taken yet."""
    return any(map(is_address, request.data))


def endpoint_of(request: Request) -> NamedEndpoint:
    """Return the endpoint that a request names; raises OptionError where it can do no more."""
    if len(request.data) > 1:
        raise OptionError("An endpoint is the only data of an investigation; give one address.")
    if request.violations and not (request.shapes or request.population):
        raise OptionError(
            f"{request.data[0]}: with --violations an endpoint is asked who does not fail, and for "
            "that --shapes or --population FILE is needed."
        )
    if request.redact:
        raise OptionError("--redact is for files: an extract of an endpoint is kept as it came.")
    named = NamedEndpoint(
        address_of(request.data[0]),
        request.graphs,
        request.dialect,
        request.cap,
        request.ratio,
        request.hops,
        request.pause,
        request.query_seconds,
        request.headers,
    )
    named.check()
    return named


def pulled(
    request: Request, compile_: Compile, progress: Progress | None, ledger: Path | None = None
) -> Request:
    """Take an extract of the endpoint of a request; gives the request on that extract.

    With a ledger its answers are kept beside it until the extract is whole. Raises SourceError
    where the endpoint does not answer as it should.
    """
    answers = None if ledger is None else KeptAnswers(beside(ledger, SUFFIX))
    return pulled_from(request, endpoint_of(request), compile_, progress, answers=answers)


def pulled_from(
    request: Request,
    named: NamedEndpoint,
    compile_: Compile,
    progress: Progress | None,
    origin: Origin | None = None,
    answers: KeptAnswers | None = None,
) -> Request:
    """Take an extract of an endpoint, which may be a store with the data of the request.

    Gives the request on that extract; raises SourceError where the endpoint does not answer as it
    should.
    """
    extract = pull(named, _rules(request), compile_, request.seed, progress, answers)
    if origin is not None:
        said = (origin.notice, *extract.notices)
        extract = replace(extract, origin=origin.paths, origin_digest=origin.digest, notices=said)
    quads, lists = extract.quads.encode(), extract.text().encode()
    made = replace(
        request,
        data=(f"{PREFIX}{named.label if origin is None else named.host}.nq",),
        endpoint=named.address,
        extract=hashlib.sha256(quads).hexdigest(),
        lists=hashlib.sha256(lists).hexdigest(),
    )
    return replace(made, objects={**request.objects, **_objects(made, quads, lists, extract.lost)})


def estimated(request: Request, compile_: Compile, progress: Progress | None) -> Estimate:
    """Estimate what an extract of the endpoint of a request would take; raises SourceError."""
    named = endpoint_of(request)
    return estimate(named, _rules(request), compile_, request.seed, progress)


def _rules(request: Request) -> Rules:
    shapes, axioms = ([Path(one) for one in some] for some in (request.shapes, request.axioms))
    most, objects = request.max_bytes, request.objects
    return Rules(
        read_shapes(shapes, most=most, objects=objects) if shapes else None,
        read_axioms(axioms, most=most, objects=objects) if axioms else None,
    )


def _objects(request: Request, quads: bytes, lists: bytes, lost: bool) -> dict[str, Given]:  # noqa: FBT001
    (name,) = request.data
    return {name: Given(name, quads, lost=lost), LISTS: Given(LISTS, lists)}


def keep(request: Request, blobs: Blobs) -> None:
    """Keep the extract of a request beside the record; raises LedgerError."""
    if request.extract is not None:
        for name in (*request.data, LISTS):
            blobs.put(request.objects[name].content.decode())


def kept_again(request: Request, record: Record) -> Request:
    """Return a recorded request with its extract, as it lies beside the record."""
    if request.extract is None or request.lists is None or not record.blobs.has(request.extract):
        return request
    quads, lists = (record.blobs.get(one) for one in (request.extract, request.lists))
    own = _objects(request, quads.encode(), lists.encode(), Extract.of(lists).lost)
    return replace(request, objects={**request.objects, **own})


def extract_of(request: Request) -> Extract:
    """Return the extract of a request, without its quads; raises LedgerError where it is gone."""
    found: Mapping[str, Any] = request.objects
    if LISTS not in found:
        raise LedgerError(
            f"{request.endpoint}: the extract of this endpoint is not beside the record; take the "
            "folder blobs/ along with the ledger."
        )
    return Extract.of(found[LISTS].content.decode())


def symptoms_of(
    graph: Graph, extract: Extract, compiled: Compiled, notices: list[str], seconds: float
) -> Iterator[Symptom]:
    """Return each constraint with who fails, as the endpoint said; what is passed over is told."""
    notices += extract.refused
    for name, nodes in extract.lists.items():
        _mark(graph, _list(name), nodes)
    for constraint in compiled.constraints:
        asked = extract.asked(constraint.key)
        if asked is None:
            continue
        if not asked.failing:
            made = replace(constraint, population=asked.population)
            yield Symptom(made, Observation(asked.population, {}))
            continue
        members = len(extract.lists[asked.members])
        said = compiled.reported.get(constraint.key)
        symptom, again = _failing(graph, constraint, asked, members, said, seconds)
        if again is not None and again < _BORNE_OUT * len(asked.failed):
            notices.append(_not_borne_out(constraint, asked, again, said))
        elif (lost := _lost(graph, extract, symptom.observation, constraint)) is not None:
            notices.append(lost)
        else:
            if members < asked.population:
                notices.append(_of_a_sample(constraint, asked, members))
            inside = _inside(graph, constraint, symptom, extract, seconds) if said is None else None
            if inside is not None:
                notices.append(inside.told)
                inner = replace(symptom.constraint, inner=inside.broken)
                symptom = replace(symptom, constraint=inner)
            yield symptom


def _inside(
    graph: Graph, constraint: Constraint, symptom: Symptom, extract: Extract, seconds: float
) -> Inside | None:
    """Find which rules of an inner shape values break; None where too little was taken along.

    Such a rule may look at the class of a value of the value, which is two steps from a node.
    """
    path = constraint.path
    if extract.hops < _INNER - (path is None) or not (path is None or path.predicate):
        return None
    return inner_rules(
        graph,
        constraint,
        symptom.observation,
        seconds,
        sampled=symptom.drawn is not None,
        unknown={one.node for one in extract.cut if one.node is not None},
    )


def _lost(graph: Graph, extract: Extract, found: Observation, constraint: Constraint) -> str | None:
    """Explain why a finding may be no fault of the data but of how an endpoint keeps literals."""
    looks = f"{constraint.label}: it looks at how literals are written, and"
    if graph.lost and rests_on_forms(graph, constraint, found):
        return (
            f"{looks} the endpoint has rewritten the literals of nodes that fail it, so that may "
            "be no fault of the data. It is passed over; give the files that were loaded there."
        )
    kinds = unproven(graph, constraint, found, extract.seen) if extract.seen is not None else ()
    if kinds:
        kinds = tuple(f"xsd:{one.removeprefix(XSD.iri)}" for one in kinds)
        return (
            f"{looks} nothing shows that the endpoint gives those of {' and '.join(kinds)} as they "
            "were written: of those that were taken none stands in a form that an engine would "
            "not give it. What fails may be no fault of the data. It is passed over; give the "
            "files that were loaded there."
        )
    return None


def _not_borne_out(
    constraint: Constraint, asked: Asked, again: int, said: Observation | None
) -> str:
    who, why = "endpoint", "It answers such a rule otherwise than SPARQL 1.1 says"
    if said is not None:
        who, why = "report", "The data have changed since, or were others"
    return (
        f"{constraint.label}: the {who} says that {asked.failing:,} nodes fail; of "
        f"{len(asked.failed):,} that were taken, {again:,} break the rule by what the endpoint "
        f"says of them. {why}, or too little was taken along (--hops); the rule is passed over."
    )


def _of_a_sample(constraint: Constraint, asked: Asked, members: int) -> str:
    bad = len(asked.failed)
    return (
        f"{constraint.label}: {asked.failing:,} of {asked.population:,} nodes fail at the "
        f"endpoint; {bad:,} of these and {members - bad:,} that pass were taken; rates are "
        "weighted for that."
    )


def _failing(
    graph: Graph,
    constraint: Constraint,
    asked: Asked,
    members: int,
    said: Observation | None,
    seconds: float,
) -> tuple[Symptom, int | None]:
    """Return the symptom, and how many failing nodes break the rule by what the extract holds.

    The extract is a part of the graph, so a node that lacks something lacks it here too; and what a
    rule looks at came along. None where the rule cannot be looked at so. Of what a report says
    (`said`) come the values at fault, and nothing is known of the rule where no shape fits it.
    """
    fails = _list(f"{asked.members}:{constraint.key}")
    _mark(graph, fails, asked.failed)
    target, failing = (
        template(ROLE, "listed-members").fragment(list=one) for one in (_list(asked.members), fails)
    )
    texts = Texts(target, failing)
    own = constraint.rule or constraint.exact
    rule = Texts(target, own.violation, gives_path=own.gives_path)
    made = replace(
        constraint,
        exact=texts,
        portable=texts,
        asked=_texts_asked(constraint, asked),
        rule=rule,
        population=members,
        guarded=False,
    )
    values = _values(graph, constraint, replace(rule, target=failing), seconds)
    nodes: list[Term] = [ox.NamedNode(one) for one in asked.failed]
    at_fault = (values or {}) if said is None else said.failing
    found = {node: at_fault.get(node, ()) for node in nodes}
    again = None if values is None else sum(node in values for node in nodes)
    drawn = Drawn(asked.failing, len(nodes), asked.population - asked.failing, members - len(nodes))
    only = None if drawn.whole else drawn
    return Symptom(made, Observation(members, found), drawn=only), again


def _texts_asked(constraint: Constraint, asked: Asked) -> Texts | None:
    """Return how an endpoint can be asked who fails; None where a report names too many."""
    if asked.texts is not None:
        return asked.texts
    return constraint.portable if asked.failing <= BATCH else None


def _values(
    graph: Graph, constraint: Constraint, rule: Texts, seconds: float
) -> Mapping[Term, tuple[Term, ...]] | None:
    """Return the values at fault as far as the extract shows them; None where it shows nothing."""
    try:
        asked = replace(constraint, exact=rule, rule=None, population=0)
        return observe(graph, asked, seconds=seconds).failing
    except KgreasonError:
        return None


def _list(name: str) -> ox.NamedNode:
    return ox.NamedNode(f"{WORK.iri}list:{name}")


def _mark(graph: Graph, mark: ox.NamedNode, nodes: tuple[str, ...]) -> None:
    graph.store.inner.extend(
        ox.Quad(ox.NamedNode(node), WORK.listed, mark, MARKS_GRAPH) for node in nodes
    )
