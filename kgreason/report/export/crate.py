"""An investigation as an RO-Crate: its record, report, policy and other exports, described.

RO-Crate 1.2 (https://w3id.org/ro/crate/1.2), which has a term for SHA-256 in its own context, with
the run described as the profile Process Run Crate asks (https://w3id.org/ro/wfrun/process/0.5).
"""

import json
from collections.abc import Iterator
from hashlib import sha256
from pathlib import PurePath
from typing import Any, Final

from kgreason.base.templates import template
from kgreason.base.terms import PREFIXES
from kgreason.record import Record
from kgreason.record.blobs import FOLDER
from kgreason.report import html, markdown
from kgreason.report.as_json import as_dict
from kgreason.report.export import nanopub, prov_json
from kgreason.report.export.about import About
from kgreason.report.export.rdf import n_quads, turtle

SPECIFICATION: Final = "https://w3id.org/ro/crate/1.2"
METADATA: Final = "ro-crate-metadata.json"
_PROFILE: Final = "https://w3id.org/ro/wfrun/process/0.5"
_PROV_JSON: Final = "https://www.w3.org/Submission/2013/SUBM-prov-json-20130424/"
_NANOPUB: Final = "https://nanopub.net/guidelines/working_draft/"
_TOOL: Final = "#kgreason"
_POLICY: Final = "policy.ttl"
_NANOPUBS: Final = "nanopublications/"
_BLOBS: Final = f"{FOLDER}/"
_NO_LICENSE: Final = "Nobody has said under which license this crate may be used."
_WHAT: Final = {
    "record.nq": ("The record of the investigation", "application/n-quads", None),
    "record.prov.json": ("The record as PROV-JSON", "application/json", _PROV_JSON),
    "report.html": ("The report as a page", "text/html", None),
    "report.md": ("The report as Markdown", "text/markdown", None),
    "result.json": ("The result as JSON", "application/json", None),
    _POLICY: ("The policy by which evidence was judged", "text/turtle", None),
}
"""Name, media type, and what it conforms to, of each file that is always there."""
_OUTSIDE: Final = {
    _PROFILE: "Process Run Crate",
    _PROV_JSON: "PROV-JSON",
    _NANOPUB: "Nanopublication guidelines",
}
_INPUTS: Final = ("data", "shapes", "ontology", "violations", "population", "outcome")
"""The fields of a request that name files."""

Entity = dict[str, Any]


def files(record: Record, about: About) -> dict[str, bytes]:
    """Return the files of the crate by their path in it."""
    published = nanopub.files(record, about)
    result = json.dumps(as_dict(record), indent=2, ensure_ascii=False) + "\n"
    made = {
        "record.nq": n_quads(record.store.quads(record.iri)),
        "record.prov.json": prov_json.render(record, about),
        "report.html": html.render(record).encode(),
        "report.md": markdown.render(record).encode(),
        "result.json": result.encode(),
        _POLICY: _policy(record),
    }
    made |= {_NANOPUBS + name: data for name, data in published.items()}
    digests = [row["digest"].value for row in record.select("blobs")]
    made |= {
        _BLOBS + one: record.blobs.get(one).encode() for one in digests if record.blobs.has(one)
    }
    graph = list(_graph(record, about, made))
    document = {"@context": f"{SPECIFICATION}/context", "@graph": graph}
    made[METADATA] = (json.dumps(document, indent=2, ensure_ascii=False) + "\n").encode()
    return made


def _policy(record: Record) -> bytes:
    query = template("export", "policy").render(investigation=record.iri)
    return turtle(record.store.construct(query), PREFIXES)


def _graph(record: Record, about: About, made: dict[str, bytes]) -> Iterator[Entity]:
    """Describe the crate, its files, and the run that gave them."""
    results = [_ref(name) for name in sorted(made) if name != _POLICY]
    inputs = list(_inputs(about))
    yield {
        "@id": METADATA,
        "@type": "CreativeWork",
        "about": _ref("./"),
        "conformsTo": _ref(SPECIFICATION),
    }
    yield {
        "@id": "./",
        "@type": "Dataset",
        "name": about.text("question") or f"Investigation {record.iri.value} of kgreason",
        "description": _told(record),
        "datePublished": about.text("ended"),
        "license": _ref(about.license) if about.license else _NO_LICENSE,
        "conformsTo": _ref(_PROFILE),
        "mentions": _ref(record.iri.value),
        "hasPart": [_ref(name) for name in sorted(made)],
    }
    for name, data in sorted(made.items()):
        yield _file(name, data)
    yield {
        "@id": record.iri.value,
        "@type": "CreateAction",
        "name": f"Investigation {record.iri.value}",
        "startTime": about.text("begun"),
        "endTime": about.text("ended"),
        "instrument": _ref(_TOOL),
        "object": [_ref("#graph"), _ref("#given"), _ref(_POLICY)],
        "result": results,
    }
    yield {
        "@id": _TOOL,
        "@type": "SoftwareApplication",
        "name": "kgreason",
        "softwareVersion": about.text("software") or "unknown",
    }
    yield from inputs
    if about.license:
        yield {"@id": about.license, "@type": "CreativeWork", "name": about.license}
    for iri, name in _OUTSIDE.items():
        if iri != _NANOPUB or any(path.startswith(_NANOPUBS) for path in made):
            yield {"@id": iri, "@type": "CreativeWork", "name": name}


def _told(record: Record) -> str:
    """Describe what came out in a sentence for each symptom."""
    result = as_dict(record)
    verdicts = [
        f"{s['failing']} of {s['population']} nodes fail: {s['verdict']}."
        for s in result["symptoms"]
    ]
    causes = [cause["statement"] for cause in result["causes"]]
    return " ".join([*verdicts, *causes]) or "Nothing was found to fail."


def _file(name: str, data: bytes) -> Entity:
    claim = name.removeprefix(_NANOPUBS).partition(".")[0]
    about: tuple[str, str, str | None]
    about = (f"Nanopublication of {claim.replace('-', ' ')}", "application/trig", _NANOPUB)
    if name.startswith(_BLOBS):
        about = ("A prompt or an answer of a model", "text/plain", None)
    title, kind, standard = _WHAT.get(name, about)
    made = {
        "@id": name,
        "@type": "File",
        "name": title,
        "encodingFormat": kind,
        "contentSize": str(len(data)),
        "sha256": sha256(data).hexdigest(),
    }
    return made | ({"conformsTo": _ref(standard)} if standard else {})


def _inputs(about: About) -> Iterator[Entity]:
    """Describe what was investigated; the data themselves are not in the crate."""
    size = f"{about.text('triples')} triples in {about.text('graphs')} named graphs."
    yield _work("#graph", "The graph investigated", size) | {
        "identifier": _ref("#graph-fingerprint")
    }
    yield _fingerprint("#graph-fingerprint", about.text("fingerprint"))
    request = about.request
    given: Entity = {"@id": "#given", "@type": "CreativeWork", "name": "The files that were given"}
    parts = []
    for field in _INPUTS:
        values = request.get(field) or []
        for number, path in enumerate([values] if isinstance(values, str) else values, start=1):
            parts.append(_work(f"#{field}-{number}", PurePath(path).name, f"Given as {field}."))
    if parts:
        given["hasPart"] = [_ref(part["@id"]) for part in parts]
    if request.get("fingerprint"):
        given["identifier"] = _ref("#given-fingerprint")
        yield _fingerprint("#given-fingerprint", request["fingerprint"])
    yield given
    yield from parts


def _work(identifier: str, name: str, description: str) -> Entity:
    return {
        "@id": identifier,
        "@type": "CreativeWork",
        "name": name,
        "description": description,
    }


def _fingerprint(identifier: str, value: str | None) -> Entity:
    return {"@id": identifier, "@type": "PropertyValue", "propertyID": "SHA-256", "value": value}


def _ref(identifier: str) -> Entity:
    return {"@id": identifier}
