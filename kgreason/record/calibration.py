"""Calibrations: maps from confidence to how often a leader of that confidence is right.

A calibration is the one that comes along, or a Turtle file that `kgreason calibrate` wrote. A file
is held to `shapes/calibration.ttl`, and to the digest in its version, before it is used. Where one
is applied, its statements are copied into the record; a replay uses that copy.
"""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

import pyoxigraph as ox

from kgreason.base.errors import OptionError
from kgreason.base.resources import folder
from kgreason.base.store import AnyTerm, triple
from kgreason.base.terms import OWL, PREFIXES, TRAILS, TYPE
from kgreason.graph.bounds import check_depth
from kgreason.record import Record
from kgreason.record.whole_shapes import whole_shapes

DEFAULT: Final = "default"
NONE: Final = "none"
_FILE: Final = ".ttl"
_BASE: Final = "urn:kgreason:calibration:"
_DIGITS: Final = 16


@dataclass(frozen=True)
class Calibration:
    """A calibration: its IRI, the policy that it was learned under, and all its statements."""

    iri: ox.NamedNode
    policy: ox.NamedNode
    triples: tuple[ox.Triple, ...]

    @property
    def proofs(self) -> frozenset[str]:
        """The kinds of proof that it was learned for; none where one map holds for all kinds."""
        return frozenset(
            triple.object.value
            for triple in self.triples
            if triple.predicate == TRAILS.proof and isinstance(triple.object, ox.Literal)
        )

    @property
    def nodes(self) -> list[ox.NamedNode]:
        """The nodes that the statements are about."""
        found = dict.fromkeys(triple.subject for triple in self.triples)
        return [node for node in found if isinstance(node, ox.NamedNode)]

    def turtle(self) -> str:
        """Return the calibration as Turtle."""
        prefixes = {p: PREFIXES[p] for p in ("owl", "policy", "prov", "trails", "xsd")}
        told = sorted(self.triples, key=self._place)
        made = ox.serialize(told, format=ox.RdfFormat.TURTLE, prefixes=prefixes)
        return (made or b"").decode()

    def _place(self, triple: ox.Triple) -> tuple[bool, str, int, str]:
        """Return where a statement is written: what is said of whole first, then part by part."""
        part = str(triple.subject).strip("<>").removeprefix(self.iri.value).lstrip(":")
        name, _, number = part.partition(":")
        return (bool(part), name, int(number or 0), str(triple))


def is_file(name: str) -> bool:
    """Check whether a calibration is meant as a file: its name ends with .ttl."""
    return name.endswith(_FILE)


def load(name: str) -> Calibration | None:
    """Return the calibration `default` or that of a file; None for `none`.

    Raises OptionError for another name, and for a file that is no calibration that can be used,
    which says what is wrong.
    """
    if name == NONE:
        return None
    if name == DEFAULT:
        path = folder("ontology") / "calibration.ttl"
        return _made(path, path.read_bytes())
    if not is_file(name):
        raise OptionError(f"--calibration {name}: give a FILE{_FILE} or {NONE}.")
    try:
        text = Path(name).read_bytes()
    except OSError as error:
        why = error.strerror or error
        raise OptionError(f"--calibration {name}: the file cannot be read ({why}).") from error
    return _checked(Path(name), text)


def under(name: str, policy: ox.NamedNode) -> Calibration | None:
    """Return the calibration for an investigation under a policy.

    Of those that come along it is the one that was learned under that policy, or none. Raises
    OptionError as `load`, and where a file was learned under another one.
    """
    if name == DEFAULT:
        return next((one for one in _shipped() if one.policy == policy), None)
    found = load(name)
    if found is None or found.policy == policy:
        return found
    raise OptionError(
        f"--calibration {name}: it was learned under the policy {found.policy.value}, and "
        f"this investigation is ruled by {policy.value}."
    )


@cache
def _shipped() -> tuple[Calibration, ...]:
    """Return the calibrations that come along, each learned under another policy."""
    files = sorted(folder("ontology").glob("calibration*.ttl"))
    return tuple(_made(file, file.read_bytes()) for file in files)


def recorded(record: Record) -> Calibration | None:
    """Return the calibration that a record holds a copy of, if it does."""
    rows = record.select("calibration")
    if not rows:
        return None
    return _of({triple(r["node"], r["property"], r["value"]) for r in rows})


def versioned(triples: Iterable[ox.Triple], placeholder: ox.NamedNode) -> Calibration:
    """Make a calibration of statements about a placeholder and its parts (`placeholder:part`).

    Its version is a digest of the statements, and names it.
    """
    said = _stored(triples)
    version = _digest(said, placeholder.value)
    iri = _BASE + version
    found = {_renamed(one, placeholder.value, iri) for one in said}
    found.add(ox.Triple(ox.NamedNode(iri), OWL.versionInfo, ox.Literal(version)))
    return _of(found)


def _stored(triples: Iterable[ox.Triple]) -> set[ox.Triple]:
    """Return statements as a store has them, which writes numbers in one way."""
    store = ox.Store()
    store.extend(ox.Quad(t.subject, t.predicate, t.object) for t in triples)
    return {quad.triple for quad in store}


def _of(triples: Iterable[ox.Triple]) -> Calibration:
    kept = tuple(sorted(triples, key=str))
    nodes = (t.subject for t in kept if (t.predicate, t.object) == (TYPE, TRAILS.Calibration))
    policies = (t.object for t in kept if t.predicate == TRAILS.learnedUnder)
    (iri,), (policy,) = (
        [node for node in found if isinstance(node, ox.NamedNode)] for found in (nodes, policies)
    )
    return Calibration(iri, policy, kept)


def _renamed(said: ox.Triple, old: str, new: str) -> ox.Triple:
    def named(term: AnyTerm) -> AnyTerm:
        if isinstance(term, ox.NamedNode) and (term.value + ":").startswith(old + ":"):
            return ox.NamedNode(new + term.value.removeprefix(old))
        return term

    return triple(named(said.subject), said.predicate, named(said.object))


def _digest(triples: Iterable[ox.Triple], base: str) -> str:
    """Return the version of a calibration: SHA-256 over its statements, name and version apart."""
    said = (t for t in triples if t.predicate != OWL.versionInfo)
    lines = sorted(str(_renamed(t, base, _BASE)) for t in said)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:_DIGITS]


@cache
def _checked(path: Path, text: bytes) -> Calibration:
    """Read a file of a user, and refuse what cannot be used."""
    store = ox.Store()
    check_depth(path, text, ox.RdfFormat.TURTLE)
    try:
        store.load(text, ox.RdfFormat.TURTLE)
    except (SyntaxError, ValueError) as error:
        raise OptionError(f"--calibration {path}: this is not Turtle ({error}).") from error
    found = list(store.quads_for_pattern(None, TYPE, TRAILS.Calibration, None))
    if len(found) != 1:
        raise OptionError(
            f"--calibration {path}: the file has to describe one trails:Calibration; "
            f"it describes {len(found) or 'none'}."
        )
    for fault in _faults(store, found[0].subject):
        raise OptionError(f"--calibration {path}: {fault}")
    return _made(path, text)


@cache
def _made(path: Path, text: bytes) -> Calibration:
    store = ox.Store()
    store.load(text, ox.RdfFormat.TURTLE, base_iri=path.absolute().as_uri())
    return _of(quad.triple for quad in store)


def _faults(store: ox.Store, node: object) -> Iterator[str]:
    """Describe what is wrong with a file that is to be a calibration, the gravest first."""
    yield from _broken_shapes(store)
    triples = {quad.triple for quad in store}
    versions = [t.object for t in triples if t.predicate == OWL.versionInfo]
    iri = node.value if isinstance(node, ox.NamedNode) else ""
    if versions != [ox.Literal(_digest(triples, iri))] or iri != _BASE + versions[0].value:
        yield "its content is not the one that its version is the digest of; learn it anew."


def _broken_shapes(store: ox.Store) -> Iterator[str]:
    import pyshacl  # noqa: PLC0415 - takes half a second to load, and few need it
    import rdflib  # noqa: PLC0415

    data = rdflib.Graph()
    text = ox.serialize((quad.triple for quad in store), format=ox.RdfFormat.N_TRIPLES)
    data.parse(data=text, format="nt")
    shapes = whole_shapes("prefixes", "calibration")
    _, results, _ = pyshacl.validate(data, shacl_graph=shapes)
    sh = rdflib.Namespace("http://www.w3.org/ns/shacl#")
    if isinstance(results, rdflib.Graph):
        for result in sorted(results.objects(None, sh.result), key=str):
            path, said = (results.value(result, sh[n]) for n in ("resultPath", "resultMessage"))
            where = f"{path}: ".rpartition("#")[2] if path is not None else ""
            yield f"{where}{said}"
