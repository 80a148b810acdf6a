"""What the tests of the audit share: small investigations, tampering, and a careful forger."""

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import pyoxigraph as ox

import kgreason
from kgreason.base.resources import DEFAULT_POLICY
from kgreason.base.store import Store
from kgreason.base.templates import template
from kgreason.base.terms import PREFIXES, PROV, TRAILS, XSD
from kgreason.model.calling import Caller
from kgreason.record import Ledger, Record, policy
from kgreason.record.fanning import expected
from kgreason.record.ledger import Entry

CASES: Final = Path(__file__).parent / "cases" / "audit"
ROOT: Final = Path(__file__).resolve().parents[1]
EXAMPLE: Final = ROOT / "examples" / "supply-chain"
_LAB: Final = "@prefix e: <https://example.org/lab/> .\n"
_ESCAPES: Final = {chr(n): f"\\u{n:04X}" for n in (*range(32), 127)} | {
    "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r", '"': '\\"', "\\": "\\\\",
}  # fmt: skip
"""What canonical N-Triples escapes in a literal."""
_CURRENT: Final = {
    TRAILS[name]
    for name in (
        "status", "confidence", "eProcess", "head", "state", "hash", "lastUpdate",
        "supportingEvidence", "contradictingEvidence",
    )
}  # fmt: skip


def tiny(folder: Path, **options: Any) -> Record:
    """Investigate two feeds of samples, of which one lacks masses."""
    for feed, lacks in (("north", False), ("south", True)):
        rows = []
        for n in range(24):
            weighed = n % 8 == 0 if lacks else n != 5
            mass = f" ; e:mass {n + 1}.5" if weighed else ""
            rows.append(f"e:{feed}{n} a e:Sample{mass} .")
        _write(folder / "data" / f"{feed}.ttl", rows)
    return _investigate(folder, ["e:mass"], **options)


def lab(folder: Path, **options: Any) -> Record:
    """Investigate six feeds: one lacks masses, a colour goes with it; some labels are titles.

    A third colour is that of one sample alone: too few to tell of the spread among colours.
    """
    for feed in range(6):
        rows = []
        for n in range(20):
            k = feed * 20 + n
            at_fault = feed == 3
            green = n % 10 < 6 if at_fault else n % 9 == 4
            weighed = n % 10 == 7 if at_fault else k not in {5, 47}
            colour = "green" if green else "grey" if k else "blue"
            said = [f'e:colour "{colour}"']
            said += [f"e:mass {n + 1}.5"] if weighed else []
            said.append(f'{"e:title" if n % 5 == 2 else "e:label"} "sample {k}"')
            rows.append(f"e:s{k} a e:Sample ; {' ; '.join(said)} .")
        _write(folder / "data" / f"feed-{feed}.ttl", rows)
    return _investigate(folder, ["e:mass", "e:label"], **options)


def doubtful(folder: Path, **options: Any) -> Record:
    """Investigate boxes that all lack some ages, one more than others but not by enough.

    Another lacks more than the rest, so that the spread among them is wide.
    """
    for feed in range(3):
        rows = []
        for n in range(40):
            box, place = n % 5, n // 5 * 3 + feed
            age = "" if place % 12 < {1: 7, 2: 4}.get(box, 1) else " ; e:age 3"
            rows.append(f'e:s{feed * 40 + n} a e:Sample ; e:box "{box}"{age} .')
        _write(folder / "data" / f"feed-{feed}.ttl", rows)
    return _investigate(folder, ["e:age"], **options)


def paired(folder: Path, **options: Any) -> Record:
    """Investigate samples that fail where a box and a shelf come together, which conditions tell.

    Another pair of the two fails by half, and somebody suggests it.
    """
    rows = []
    for n in range(240):
        box, shelf = n % 5, n // 5 % 4
        lacks = n != 0 if (box, shelf) == (0, 0) else n in {7, 33, 104}
        age = "" if lacks or ((box, shelf) == (2, 2) and n // 20 % 2) else " ; e:age 3"
        rows.append(f'e:s{n} a e:Sample ; e:box "{box}" ; e:shelf "{shelf}"{age} .')
    _write(folder / "data" / "feed.ttl", rows)
    pattern = '?focus <https://example.org/lab/box> "2" ; <https://example.org/lab/shelf> "2" .'
    ideas = [{"statement": "What box 2 has on shelf 2 fails.", "region": pattern}]
    return _investigate(folder, ["e:age"], hypotheses=ideas, **options)


def grouped(folder: Path, used: str = DEFAULT_POLICY) -> Record:
    """Group what a validation report says of one feed; nobody knows who did not fail."""
    rows = [f"e:s{n} a e:Sample ." for n in range(12)]
    _write(folder / "data" / "feed.ttl", rows)
    results = ", ".join(
        f"[ a sh:ValidationResult ; sh:focusNode e:s{n} ; sh:resultPath e:mass ; "
        "sh:sourceConstraintComponent sh:MinCountConstraintComponent ; "
        "sh:resultSeverity sh:Violation ]"
        for n in range(9)
    )
    found = folder / "report.ttl"
    found.write_text(
        f"{_LAB}@prefix sh: <http://www.w3.org/ns/shacl#> .\n"
        f"[] a sh:ValidationReport ; sh:conforms false ; sh:result {results} .\n",
        encoding="utf-8",
    )
    return kgreason.investigate(folder / "data", violations=found, policy=used).record


def _write(path: Path, rows: list[str]) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(_LAB + "\n".join(rows) + "\n", encoding="utf-8")


def own_policy(folder: Path, name: str = "frame") -> Path:
    """Write a policy that rules as a shipped one does, under a name of one's own."""
    text = (ROOT / "ontology" / "policies" / f"{name}.ttl").read_text(encoding="utf-8")
    path = folder / "own.ttl"
    path.write_text(text.replace(f"policy:{name} ", "<urn:example:policy> "), encoding="utf-8")
    return path


def history(folder: Path, name: str) -> Record:  # noqa: PLR0911 - a return for each kind
    """Make a history by its name in the lists of mutants.

    It is "laboratory", "doubtful", "paired", "grouped", "advised" (by a scripted model),
    "looked-up" (in documents), "routed", "planned" (by react), "goals of a plan",
    "divided" (by a supervisor),
    "part" (of what was divided), "goals" (of a model, by which it was divided),
    "linked" (hypotheses that hang on each other), "kin" (whose families do),
    "joined" (of segments of workers), or a policy under which the laboratory runs; with "own"
    before it, that policy (by default the
    shipped one) is under a name of one's own.
    """
    kind = name.removeprefix("own").strip(", ")
    used = kind if kind in policy.names() else DEFAULT_POLICY
    if name.startswith("own"):
        used = str(own_policy(folder, used))
    if kind == "grouped":
        return grouped(folder, used)
    if kind == "routed":
        made = kgreason.route("why do so many samples lack a mass?", shapes=True)
        return tiny(folder, policy=used, routing=made.decision.as_dict())
    if kind in {"planned", "goals of a plan", "divided", "part", "goals"}:
        return _planned(folder, kind)
    if kind in {"linked", "kin"}:
        from tests.linked_support import kin_record, linked_record  # noqa: PLC0415 - few need it

        return (linked_record if kind == "linked" else kin_record)(folder, used)
    if kind == "joined":
        from tests.queue_support import workers_here  # noqa: PLC0415 - few need it

        with workers_here():
            return lab(folder, policy=used, queue=folder / "ledger")
    if kind == "advised":
        from tests.model_support import advised_record  # noqa: PLC0415 - which needs this module

        return advised_record(folder, used)
    if kind == "looked-up":
        from tests.source_support import looked_up_record  # noqa: PLC0415 - as above

        return looked_up_record(folder, used)
    return {"doubtful": doubtful, "paired": paired}.get(kind, lab)(folder, policy=used)


def _planned(folder: Path, kind: str) -> Record:
    from tests.planner_support import workshop  # noqa: PLC0415 - few need it

    asked = workshop(folder)
    if kind == "goals":
        from tests.model_support import Stub  # noqa: PLC0415 - few need it

        said = '{"goals": ["What about the unit mass?", "What about tea?"]}'
        caller = Caller(Stub(lambda _: said), pause=0)
        more: dict[str, Any] = {"strategy": "supervisor", "split": "goal", "caller": caller}
        return kgreason.plan("Why?", **more, **asked).result.record
    if kind in {"divided", "part"}:
        record = kgreason.plan("Why?", strategy="supervisor", **asked).result.record
        return record if kind == "divided" else Record(record.store, expected(record)[0].session)
    question, strategy = "How many parts have no unit mass?", "react"
    if kind != "planned":
        question += " How many makers are there? Describe them."
        strategy = "plan-then-execute"
    return kgreason.plan(question, asked["data"], strategy=strategy).result.record


def _investigate(folder: Path, needed: list[str], **options: Any) -> Record:
    properties = ", ".join(f"[ sh:path {path} ; sh:minCount 1 ]" for path in needed)
    shapes = folder / "shapes.ttl"
    shapes.write_text(
        f"{_LAB}@prefix sh: <http://www.w3.org/ns/shacl#> .\n"
        f"e:Shape a sh:NodeShape ; sh:targetClass e:Sample ; sh:property {properties} .\n",
        encoding="utf-8",
    )
    # No calibration: its rules would speak too, of whatever is done to a confidence.
    asked: dict[str, Any] = {"calibration": "none", "max_hypotheses": 3, "try_repairs": False}
    asked |= options
    return kgreason.investigate(folder / "data", shapes=shapes, **asked).record


def statements(record: Record) -> Iterator[Any]:
    """Give the statements of a record."""
    return record.store.inner.quads_for_pattern(None, None, None, record.iri)


def number(store: Store, investigation: ox.NamedNode) -> None:
    """Give an investigation, whose record was put into a store by hand, its number."""
    store.update(template("record", "take-number").render(investigation=investigation))


def tampered(record: Record, *updates: str, strict: bool = True) -> Record:
    """Give a copy of a record to which SPARQL updates were done, as if it were a plain graph.

    If `strict`, each of them has to change something, whatever those before it did.
    """
    plain = _plain(record)
    head = "".join(f"PREFIX {prefix}: <{iri}>\n" for prefix, iri in PREFIXES.items())
    for update in updates:
        before = sorted(_text(plain).splitlines())
        plain.update(head + update)
        changed = sorted(_text(plain).splitlines()) != before
        assert changed or not strict, f"this tampers with nothing:\n{update}"
    return _record(record.iri, plain)


def _text(plain: ox.Store) -> bytes:
    return plain.dump(format=ox.RdfFormat.N_TRIPLES, from_graph=ox.DefaultGraph()) or b""


def _plain(record: Record) -> ox.Store:
    """Give a copy of a record as a graph without a name."""
    plain = ox.Store()
    text = record.store.inner.dump(format=ox.RdfFormat.N_TRIPLES, from_graph=record.iri)
    plain.bulk_load(text, ox.RdfFormat.N_TRIPLES)
    return plain


def _record(iri: ox.NamedNode, plain: ox.Store) -> Record:
    kept = ox.Store()
    kept.bulk_load(_text(plain), ox.RdfFormat.N_TRIPLES, to_graph=iri)
    return Record(Store(kept, "a ledger someone was at"), iri)


def relinked(record: Record) -> Record:
    """Give a copy in which every hash fits again, as a careful forger would leave it."""
    plain = _plain(record)
    lines: dict[Any, list[str]] = {}
    for link in plain.quads_for_pattern(None, TRAILS.step, None):
        for found in plain.quads_for_pattern(link.subject, None, None):
            ends = found.predicate == PROV.endedAtTime and found.subject == record.iri
            if found.predicate not in _CURRENT and not ends:
                lines.setdefault(link.object, []).append(_line(found))
    seals: dict[Any, str] = {}
    for step in lines:
        _seal(plain, step, lines, seals)
    for step, seal in seals.items():
        for old in list(plain.quads_for_pattern(step, TRAILS.hash, None)):
            plain.remove(old)
        plain.add(ox.Quad(step, TRAILS.hash, ox.Literal(seal)))
    return _record(record.iri, plain)


def _seal(graph: ox.Store, step: Any, lines: dict[Any, list[str]], seals: dict[Any, str]) -> str:
    """Give the hash of a step, and note it with those of the steps before it."""
    if step not in lines:
        return ""
    if step not in seals:
        seals[step] = ""  # should the chain be a ring
        before = [q.object for q in graph.quads_for_pattern(step, TRAILS.previous, None)]
        start = "".join(_seal(graph, previous, lines, seals) for previous in before)
        seals[step] = sha256("\n".join([start, *sorted(lines[step])]).encode()).hexdigest()
    return seals[step]


def _line(quad: Any) -> str:
    value = quad.object
    if isinstance(value, ox.NamedNode):
        written = f"<{value.value}>"
    else:
        escaped = "".join(_ESCAPES.get(char, char) for char in value.value)
        written = f'"{escaped}"'
        if value.language:
            written += f"@{value.language}"
        elif value.datatype != XSD.string:
            written += f"^^<{value.datatype.value}>"
    return f"<{quad.subject.value}> <{quad.predicate.value}> {written} ."


def kept_in(folder: Path, record: Record) -> Record:
    """Write a copy of a record to a ledger folder, and open that read-only."""
    with Ledger.write(folder) as ledger:
        ledger.store.inner.extend(statements(record))
        number(ledger.store, record.iri)
    reader = Ledger.read(folder)
    return reader.record(Entry(record.iri, 1, finished=True))
