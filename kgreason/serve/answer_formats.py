"""What a query gives, written in the formats of the SPARQL 1.1 recommendations, or as RDF."""

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final
from xml.sax.saxutils import escape, quoteattr

import pyoxigraph as ox

from kgreason.base.store import Answer, Results, Term
from kgreason.base.terms import XSD

JSON: Final = "application/sparql-results+json"
XML: Final = "application/sparql-results+xml"
CSV: Final = "text/csv"
TSV: Final = "text/tab-separated-values"
RDF_FORMATS: Final[Mapping[str, ox.RdfFormat]] = {
    "text/turtle": ox.RdfFormat.TURTLE,
    "application/n-triples": ox.RdfFormat.N_TRIPLES,
    "application/rdf+xml": ox.RdfFormat.RDF_XML,
    "application/ld+json": ox.RdfFormat.JSON_LD,
}
_OTHER_NAMES: Final = {
    "application/json": JSON,
    "application/xml": XML,
    "text/xml": XML,
}
_RDF_NAMES: Final = {
    "application/x-turtle": "text/turtle",
    "text/plain": "application/n-triples",
    "application/xml": "application/rdf+xml",
    "application/json": "application/ld+json",
}
_NAMESPACE: Final = "http://www.w3.org/2005/sparql-results#"
# XML 1.0 has no place for these, not even as a reference.
_NOT_IN_XML: Final = dict.fromkeys(
    [*range(9), 11, 12, *range(14, 32), *range(0xD800, 0xE000), 0xFFFE, 0xFFFF],
    "\N{REPLACEMENT CHARACTER}",
)


def offered(answer: Answer) -> tuple[str, ...]:
    """Return the media types that an answer can be written in, the usual one first."""
    if isinstance(answer, Results):
        return (JSON, XML, CSV, TSV, *_OTHER_NAMES)
    if isinstance(answer, bool):
        return (JSON, XML, *_OTHER_NAMES)
    return (*RDF_FORMATS, *_RDF_NAMES)


def written(answer: Answer, media_type: str) -> tuple[bytes, str]:
    """Return an answer as bytes with its media type, which is one of those `offered`."""
    if isinstance(answer, list):
        kind = _RDF_NAMES.get(media_type, media_type)
        return ox.serialize(answer, format=RDF_FORMATS[kind]) or b"", media_type
    kind = _OTHER_NAMES.get(media_type, media_type)
    text = _boolean(answer, kind) if isinstance(answer, bool) else _WRITERS[kind](answer)
    return text.encode("utf-8", "replace"), media_type


def _boolean(answer: bool, kind: str) -> str:  # noqa: FBT001 - it is what an ASK gives
    said = "true" if answer else "false"
    if kind == JSON:
        return f'{{"head":{{}},"boolean":{said}}}'
    return _document(f"<head/><boolean>{said}</boolean>")


def _document(inner: str) -> str:
    return f'<?xml version="1.0"?>\n<sparql xmlns="{_NAMESPACE}">{inner}</sparql>\n'


def _json(answer: Results) -> str:
    bindings = [
        {name: _json_term(row[name]) for name in answer.variables if name in row} for row in answer
    ]
    head = {"vars": list(answer.variables)}
    return json.dumps({"head": head, "results": {"bindings": bindings}}, ensure_ascii=False)


def _json_term(term: Any) -> dict[str, Any]:
    if isinstance(term, ox.Triple):
        parts = {"subject": term.subject, "predicate": term.predicate, "object": term.object}
        return {"type": "triple", "value": {name: _json_term(one) for name, one in parts.items()}}
    if isinstance(term, ox.NamedNode):
        return {"type": "uri", "value": term.value}
    if isinstance(term, ox.BlankNode):
        return {"type": "bnode", "value": term.value}
    made = {"type": "literal", "value": term.value}
    if term.language:
        made["xml:lang"] = term.language
    elif term.datatype != XSD.string:
        made["datatype"] = term.datatype.value
    return made


def _xml(answer: Results) -> str:
    head = "".join(f"<variable name={quoteattr(name)}/>" for name in answer.variables)
    rows = []
    for row in answer:
        cells = (
            f"<binding name={quoteattr(name)}>{_xml_term(row[name])}</binding>"
            for name in answer.variables
            if name in row
        )
        rows.append(f"<result>{''.join(cells)}</result>\n")
    return _document(f"<head>{head}</head>\n<results>\n{''.join(rows)}</results>")


def _xml_term(term: Any) -> str:
    if isinstance(term, ox.Triple):
        parts = (("subject", term.subject), ("predicate", term.predicate), ("object", term.object))
        inner = "".join(f"<{name}>{_xml_term(one)}</{name}>" for name, one in parts)
        return f"<triple>{inner}</triple>"
    text = escape(term.value.translate(_NOT_IN_XML), {"\r": "&#13;"})
    if isinstance(term, ox.NamedNode):
        return f"<uri>{text}</uri>"
    if isinstance(term, ox.BlankNode):
        return f"<bnode>{text}</bnode>"
    if term.language:
        return f"<literal xml:lang={quoteattr(term.language)}>{text}</literal>"
    if term.datatype == XSD.string:
        return f"<literal>{text}</literal>"
    return f"<literal datatype={quoteattr(term.datatype.value)}>{text}</literal>"


def _csv(answer: Results) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(answer.variables)
    writer.writerows([_plain(row.get(name)) for name in answer.variables] for row in answer)
    return out.getvalue()


def _plain(term: Term | None) -> str:
    if term is None:
        return ""
    return str(term) if isinstance(term, ox.BlankNode | ox.Triple) else term.value


def _tsv(answer: Results) -> str:
    lines = ["\t".join(f"?{name}" for name in answer.variables)]
    lines += ["\t".join(_turtle(row.get(name)) for name in answer.variables) for row in answer]
    return "".join(f"{line}\n" for line in lines)


def _turtle(term: Term | None) -> str:
    return "" if term is None else str(term).replace("\t", "\\t")


_WRITERS: Final[Mapping[str, Callable[[Results], str]]] = {
    JSON: _json,
    XML: _xml,
    CSV: _csv,
    TSV: _tsv,
}
RESULT_FORMATS: Final[Sequence[str]] = tuple(_WRITERS)
"""The media types of the four result formats."""
