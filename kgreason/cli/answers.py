"""Answers of queries as text: tables, CSV and JSON of SPARQL, Turtle."""

import shutil
from typing import Any, Final

from kgreason.cli import options as o
from kgreason.cli.output import csv_text, json_text, table

_XSD_STRING: Final = "http://www.w3.org/2001/XMLSchema#string"


def written(answer: Any, format_: o.TableFormat) -> str:
    """Return an answer as text: rows as asked, the truth of an ASK as a word, triples as Turtle."""
    if isinstance(answer, bool):
        truth = "true" if answer else "false"
        return json_text({"head": {}, "boolean": answer}) if format_ == "json" else truth
    if isinstance(answer, list):
        return _turtle(answer)
    if format_ is o.TableFormat.JSON:
        return json_text(
            {
                "head": {"vars": list(answer.variables)},
                "results": {"bindings": [{n: _json(t) for n, t in r.items()} for r in answer]},
            }
        )
    as_text = _lexical if format_ is o.TableFormat.CSV else _short
    rows = [[as_text(row.get(name)) for name in answer.variables] for row in answer]
    if format_ is o.TableFormat.CSV:
        return csv_text(answer.variables, rows)
    if not rows:
        return "No rows."
    return table(answer.variables, rows)


def stored(rows: Any, record: Any = None) -> str:
    """Return the answer of a stored question as a table that fits the terminal."""
    from kgreason.report import questions  # noqa: PLC0415 - keeps --help quick

    width = shutil.get_terminal_size((160, 24)).columns
    return questions.table(rows, record, width=width)


def _turtle(triples: list[Any]) -> str:
    import pyoxigraph as ox  # noqa: PLC0415 - keeps --help quick

    from kgreason.base.terms import PREFIXES  # noqa: PLC0415

    used = {
        prefix: iri
        for prefix, iri in PREFIXES.items()
        if any(iri in str(term) for triple in triples for term in triple)
    }
    made = ox.serialize(triples, format=ox.RdfFormat.TURTLE, prefixes=used)
    return made.decode() if made else ""


def _lexical(term: Any) -> str:
    """Return a term as in CSV results of SPARQL."""
    import pyoxigraph as ox  # noqa: PLC0415 - keeps --help quick

    if term is None:
        return ""
    value = term.value if hasattr(term, "value") else str(term)
    return f"_:{value}" if isinstance(term, ox.BlankNode) else str(value)


def _short(term: Any) -> str:
    """Return a term for people: well-known IRIs with a prefix, literals by their text."""
    import pyoxigraph as ox  # noqa: PLC0415 - keeps --help quick

    from kgreason.base.terms import PREFIXES  # noqa: PLC0415

    if isinstance(term, ox.NamedNode):
        for prefix, iri in PREFIXES.items():
            local = term.value.removeprefix(iri)
            if local != term.value and local.replace("-", "_").isidentifier():
                return f"{prefix}:{local}"
    return _lexical(term)


def _json(term: Any) -> dict[str, Any]:
    """Return a term as in JSON results of SPARQL."""
    import pyoxigraph as ox  # noqa: PLC0415 - keeps --help quick

    if isinstance(term, ox.NamedNode):
        return {"type": "uri", "value": term.value}
    if isinstance(term, ox.BlankNode):
        return {"type": "bnode", "value": term.value}
    if not isinstance(term, ox.Literal):
        parts = {"subject": term.subject, "predicate": term.predicate, "object": term.object}
        return {"type": "triple", "value": {name: _json(part) for name, part in parts.items()}}
    made = {"type": "literal", "value": term.value}
    if term.language:
        made["xml:lang"] = term.language
    elif term.datatype.value != _XSD_STRING:
        made["datatype"] = term.datatype.value
    return made
