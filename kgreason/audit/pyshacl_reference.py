"""The shapes under pySHACL, the reference that the native engine is held to."""

from collections.abc import Iterator
from functools import cache
from typing import Any, Final

import pyoxigraph as ox
import pyshacl
import rdflib
from rdflib.namespace import SH
from rdflib.plugins.sparql import prepareQuery

from kgreason.audit.findings import Finding, Severity
from kgreason.audit.merged import History
from kgreason.audit.statements import plain
from kgreason.base.errors import RunError
from kgreason.base.extensions import cached
from kgreason.base.store import Term
from kgreason.base.terms import XSD
from kgreason.record.whole_shapes import RULES, whole_shapes

_SEVERITIES: Final[dict[Any, Severity]] = {SH.Info: "notice", SH.Warning: "warning"}


class _Prepared(rdflib.Graph):
    """A graph that parses each query once; pySHACL asks the same ones for every focus node."""

    def query(self, query_object: Any, *args: Any, **named: Any) -> rdflib.query.Result:
        return super().query(_prepared(query_object), *args, **named)


@cache
def _prepared(text: str) -> Any:
    return prepareQuery(text)


def findings(history: History) -> Iterator[Finding]:
    """Validate the record merged with the ontology; raises RunError where pySHACL gives up."""
    shapes = _shapes()
    _, results, text = pyshacl.validate(_data(history), shacl_graph=shapes, allow_infos=True)
    if not isinstance(results, rdflib.Graph):
        raise RunError(f"pySHACL could not run the shapes of the audit: {text}")
    for result in results.objects(None, SH.result):
        node = results.value(result, SH.focusNode)
        message = results.value(result, SH.resultMessage)
        severity = _SEVERITIES.get(results.value(result, SH.resultSeverity), "violation")
        yield Finding(_rule(shapes, results, result), str(node), str(message), severity)


@cached
def _shapes() -> rdflib.Graph:
    return whole_shapes()


def _data(history: History) -> rdflib.Graph:
    data = _Prepared()
    for quad in plain(history.merged.quads()):
        data.add((_node(quad.subject), _node(quad.predicate), _node(quad.object)))
    return data


def _node(term: Term) -> rdflib.URIRef | rdflib.BNode | rdflib.Literal:
    if isinstance(term, ox.NamedNode):
        return rdflib.URIRef(term.value)
    if isinstance(term, ox.BlankNode):
        return rdflib.BNode(term.value)
    if term.language:
        return rdflib.Literal(term.value, lang=term.language)
    if term.datatype == XSD.string:  # rdflib tells "a" from "a"^^xsd:string
        return rdflib.Literal(term.value)
    datatype = rdflib.URIRef(term.datatype.value)
    return rdflib.Literal(term.value, datatype=datatype, normalize=False)


def _rule(shapes: rdflib.Graph, results: rdflib.Graph, result: Any) -> str:
    constraint = results.value(result, SH.sourceConstraint)
    if constraint is not None:
        return str(constraint).removeprefix(RULES)
    shape = shapes.value(None, SH.property, results.value(result, SH.sourceShape))
    path = results.value(result, SH.resultPath)
    component = str(results.value(result, SH.sourceConstraintComponent)).rpartition("#")[2]
    name = component.removesuffix("ConstraintComponent")
    return f"{_local(shape)}.{_local(path)}.{name[:1].lower()}{name[1:]}"


def _local(node: Any) -> str:
    return str(node).replace("#", "/").rpartition("/")[2]
