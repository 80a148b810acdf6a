"""What a step may write of nodes that earlier steps wrote: read off its statements and updates.

The ontology names these properties (`trails:writtenLater`). An update is a template filled in, so
what it inserts and deletes stands in it as patterns; they are read as TriG with an IRI in the place
of each variable. That is done once for each template.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, lru_cache
from typing import Final

import pyoxigraph as ox

from kgreason.base.resources import folder
from kgreason.base.terms import TRAILS

_VARIABLE: Final = "urn:x-kgreason:variable:"
_BLOCK: Final = re.compile(r"\b(?P<verb>INSERT|DELETE)(?:\s+(?:DATA|WHERE))?\s*\{")
_TOKEN: Final = re.compile(
    r"""<[^<>\s]*>|"{3}.*?"{3}|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|\#[^\n]*|[?$](?P<name>\w+)|[{}]""",
    re.DOTALL,
)
_PREFIX: Final = re.compile(r"^PREFIX (.*)$", re.MULTILINE)
_OWN_NAME: Final = re.compile(r"<urn:kgreason:[^<>]*>")
_STEP: Final = ox.NamedNode("urn:x-kgreason:step")
_OTHER: Final = ox.NamedNode("urn:x-kgreason:node")

Statement = tuple[object, ox.NamedNode]


def stray(
    step: ox.NamedNode, triples: Iterable[ox.Triple], updates: Iterable[str]
) -> Iterator[tuple[object, ox.NamedNode, str]]:
    """Return what a step would write of earlier nodes: node, property, and what is wrong with it.

    What is wrong with a property that may be written once is "" here: whether it has a value
    already is in the record.
    """
    listed = list(triples)
    own = {t.subject for t in listed if t.predicate == TRAILS.step and t.object == step} | {step}
    for triple in listed:
        if triple.subject not in own:
            how = later().get(triple.predicate)
            if how == "replaced":
                yield triple.subject, triple.predicate, "its old value is not taken away"
            elif how is None:
                yield triple.subject, triple.predicate, "an earlier step wrote that node"
            elif how == "once":
                yield triple.subject, triple.predicate, ""
    for text in updates:
        alike = _OWN_NAME.sub(str(_OTHER), text.replace(str(step), str(_STEP)))
        yield from _of_update(alike)


@cache
def later() -> Mapping[ox.NamedNode, str]:
    """Return how each property may be written of nodes of earlier steps: by `trails:writtenLater`.

    "replaced", "added" or "once"; no other property may be.
    """
    path = folder("ontology") / "trails.ttl"
    return {
        quad.subject: quad.object.value
        for quad in ox.parse(path=str(path), format=ox.RdfFormat.TURTLE)
        if quad.predicate == TRAILS.writtenLater
        and isinstance(quad.subject, ox.NamedNode)
        and isinstance(quad.object, ox.Literal)
    }


@lru_cache(maxsize=512)
def _of_update(text: str) -> tuple[tuple[object, ox.NamedNode, str], ...]:
    """Return what an update does to nodes that are not its step's, as far as it may not."""
    blocks = list(_blocks(text))
    step = (TRAILS.step, _STEP)
    made = (q for verb, quads in blocks if verb == "INSERT" for q in quads)
    own = {_STEP, *(q.subject for q in made if (q.predicate, q.object) == step)}
    found: list[tuple[object, ox.NamedNode, str]] = []
    gone: set[Statement] = set()
    for verb, quads in blocks:
        told: set[Statement] = {(q.subject, q.predicate) for q in quads}
        if verb == "DELETE":
            gone = told
        for node, name in sorted(told, key=str):
            how = later().get(name)
            if verb == "DELETE" and how != "replaced":
                found.append((node, name, "it may not be taken away"))
            elif verb == "INSERT" and node not in own and how != "added":
                if how != "replaced":
                    found.append((node, name, "an earlier step wrote that node"))
                elif (node, name) not in gone:
                    found.append((node, name, "its old value is not taken away"))
        if verb == "INSERT":
            gone = set()
    return tuple(found)


def _blocks(text: str) -> Iterator[tuple[str, list[ox.Quad]]]:
    """Return the patterns of an update, in order: what is deleted, what is inserted."""
    head = "".join(f"@prefix {row} .\n" for row in _PREFIX.findall(text))
    for block in _BLOCK.finditer(text):
        body = _body(text, block.end())
        quads = list(ox.parse(f"{head}{body}", format=ox.RdfFormat.TRIG))
        yield block["verb"], quads


def _body(text: str, start: int) -> str:
    """Return a pattern up to its closing brace, with an IRI for each variable."""
    depth, end, out = 1, start, []
    for token in _TOKEN.finditer(text, start):
        out.append(text[end : token.start()])
        end = token.end()
        depth += {"{": 1, "}": -1}.get(token[0], 0)
        if depth == 0:
            break
        out.append(f"<{_VARIABLE}{token['name']}>" if token["name"] else token[0])
    return "".join(out)
