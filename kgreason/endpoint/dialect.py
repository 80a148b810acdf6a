"""What is known of the engines behind endpoints: one file of `ontology/dialects/` for each."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final

import pyoxigraph as ox

from kgreason.base.errors import OptionError
from kgreason.base.resources import folder
from kgreason.base.terms import RDFS, TRAILS, TYPE

PLAIN: Final = "plain"


@dataclass(frozen=True)
class Dialect:
    """An engine: its name, how its servers call themselves, and how a merge is asked for.

    `server` is a regular expression on what `calls_itself` gives; `sign` is a header that none but
    its servers send, in lower case; `union` is the parameter of a request
    that makes the merge of all graphs the default graph, None where there is none. Where it
    `lists_classes`, paths through subclasses are asked as lists of classes. Where it
    `holds_joins`, it keeps one side of a join in memory, however large it is.
    """

    name: str
    server: str | None = None
    union: str | None = None
    lists_classes: bool = False
    holds_joins: bool = False
    sign: str | None = None


@cache
def dialects() -> Mapping[str, Dialect]:
    """Return the dialects by their names."""
    found = {}
    for path in sorted((folder("ontology") / "dialects").glob("*.ttl")):
        store = ox.Store()
        store.load(path=str(path), format=ox.RdfFormat.TURTLE)
        for quad in store.quads_for_pattern(None, TYPE, TRAILS.Dialect, None):
            said = {
                one.predicate: one.object.value
                for one in store.quads_for_pattern(quad.subject, None, None, None)
                if isinstance(one.object, ox.Literal)
            }
            name = said[RDFS.label]
            found[name] = Dialect(
                name,
                said.get(TRAILS.serverName),
                said.get(TRAILS.unionParameter),
                said.get(TRAILS.listsClasses) == "true",
                said.get(TRAILS.holdsJoins) == "true",
                said.get(TRAILS.signHeader),
            )
    return found


def named(name: str) -> Dialect:
    """Return a dialect by its name; raises OptionError where there is none."""
    try:
        return dialects()[name]
    except KeyError as error:
        raise OptionError(
            f"--dialect {name}: there is no such dialect; there are {', '.join(dialects())}."
        ) from error


def calls_itself(headers: Mapping[str, str]) -> str:
    """Return what a server calls itself, by the headers of an answer with names in lower case.

    That is the header Server, which may be that of a proxy or not there at all, and the names of
    headers that only servers of one engine send.
    """
    signs = (one.sign for one in dialects().values() if one.sign in headers)
    return ", ".join(one for one in (headers.get("server"), *signs) if one)


def of_server(server: str) -> Dialect:
    """Return the dialect of a server by what it calls itself; the plain one where none fits."""
    for one in dialects().values():
        if one.server and re.search(one.server, server, re.IGNORECASE):
            return one
    return dialects()[PLAIN]
