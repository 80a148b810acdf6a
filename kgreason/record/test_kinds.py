"""Kinds of test: what the headers in `queries/test/` declare of each, its role above all.

A role says what a test is for. Gates, the report and the audit ask for roles, so that a new kind
of test takes part in what exists by its header alone.
"""

from collections.abc import Mapping
from functools import cache
from typing import Final

import pyoxigraph as ox

from kgreason.base.errors import TemplateError
from kgreason.base.resources import folder
from kgreason.base.store import Store
from kgreason.base.templates import role, template
from kgreason.record.modalities import GRAPH_QUERY, modalities

ROLE: Final = "test"
"""The folder of `queries/` that holds the kinds."""
RESTATEMENT: Final = "restatement"
"""The role of tests to which every hypothesis that claims a region is put."""
CLEARS: Final = 0.05
"""Share of what should not be cleared, up to which a placebo is specific."""


@cache
def test_roles() -> Mapping[str, ox.NamedNode]:
    """Return the roles that a test can have, by name, as the ontology declares them."""
    inner = ox.Store()
    inner.load(path=str(folder("ontology") / "trails.ttl"), format=ox.RdfFormat.TURTLE)
    rows = Store(inner, "the ontology").select(template("record", "test-roles").render())
    return {row["name"].value: ox.NamedNode(row["role"].value) for row in rows}


def role_of(kind: str) -> ox.NamedNode:
    """Return the role of a kind of test; raises TemplateError if its header names none."""
    made = template(ROLE, kind)
    named = made.header.get("role", "")
    known = test_roles()
    if named not in known:
        told = f"names the role {named!r}" if named else "names no role"
        raise TemplateError(
            f"queries/{ROLE}/{made.path.name}: the header {told}; add a line '#+ role: …' with "
            f"one of: {', '.join(sorted(known))}."
        )
    return known[named]


def modality_of(kind: str) -> ox.NamedNode:
    """Return the modality of a kind of test, by its header."""
    return modalities()[template(ROLE, kind).header.get("modality", GRAPH_QUERY)]


def kinds_of(name: str) -> list[str]:
    """Return the kinds of test that have a role, by its name, sorted."""
    return [kind for kind, made in role(ROLE).items() if made.header.get("role") == name]


def kinds() -> list[str]:
    """Return the names of all kinds of test, sorted."""
    return list(role(ROLE))


def outcomes_of(kind: str) -> list[str]:
    """Return the outcome classes that a kind of test declares."""
    return template(ROLE, kind).header.get("outcomes", "").split()
