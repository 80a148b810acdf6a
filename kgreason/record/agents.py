"""Agents: who asked, who proposed, who judged; each has one IRI in every record."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import version
from typing import Final
from urllib.parse import quote

import pyoxigraph as ox

from kgreason.base.errors import OptionError
from kgreason.base.terms import PROV, RDFS, TRAILS, TYPE
from kgreason.record.record import Node, Record, Step

UNNAMED: Final = "unnamed"
"""What a principal is called where nobody gave a name."""
_ABSOLUTE: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\x00-\x20<>\"{}|^`\\]+")
_LONGEST: Final = 200


@dataclass(frozen=True)
class Agent:
    """An agent of PROV: its IRI, what people call it, and whether it is a program."""

    iri: Node
    label: str
    software: bool = False


ENGINE: Final = Agent(
    ox.NamedNode(f"urn:kgreason:agent:{version('kgreason')}"), "kgreason", software=True
)
FAMILIES: Final = Agent(
    ox.NamedNode("urn:kgreason:agent:families"), "families of kgreason", software=True
)
CONDITIONS: Final = Agent(
    ox.NamedNode("urn:kgreason:agent:conditions"), "condition search of kgreason", software=True
)


_MODEL: Final = "urn:kgreason:agent:model:"


def model_agent(name: str) -> Agent:
    """Return the agent that a language model is, by its provider and name."""
    return Agent(ox.NamedNode(f"{_MODEL}{quote(name, safe='')}"), name, software=True)


def is_model(agent: str) -> bool:
    """Check whether the IRI of an agent is that of a language model."""
    return agent.startswith(_MODEL)


def agent(name: str | None, option: str = "--as") -> Agent:
    """Return the agent of a name, or of an absolute IRI; without one that of `UNNAMED`.

    The same name is the same agent in every record. Raises OptionError for a name that is empty,
    longer than 200 characters, more than one line, or an IRI of kgreason's own.
    """
    text = UNNAMED if name is None else name.strip()
    own = text.lstrip("<").startswith("urn:kgreason:")
    if not text or len(text) > _LONGEST or not text.isprintable() or own:
        raise OptionError(
            f"{option} needs a name, or an IRI that is no urn:kgreason:, in one line of at most "
            f"{_LONGEST} characters."
        )
    bare = text[1:-1] if text.startswith("<") and text.endswith(">") else text
    if _ABSOLUTE.fullmatch(bare):
        return Agent(ox.NamedNode(bare), bare)
    return Agent(ox.NamedNode(f"urn:kgreason:agent:named:{quote(text, safe='')}"), text)


def introduce(record: Record, step: Step, agents: Iterable[Agent], *types: Node) -> None:
    """Write down agents that the record does not know yet, as made known by a step."""
    known = {row["agent"].value for row in record.select("agents")}
    known |= {t.subject.value for t in step.triples if isinstance(t.subject, ox.NamedNode)}
    for each in agents:
        if each.iri.value in known:
            continue
        known.add(each.iri.value)
        step.add(each.iri, TYPE, PROV.Agent, *types)
        step.add(each.iri, RDFS.label, each.label)
        step.add(each.iri, TRAILS.step, step.node)
        if each.software:
            step.add(each.iri, TYPE, PROV.SoftwareAgent)
        if each.software and each != ENGINE:
            step.add(each.iri, PROV.actedOnBehalfOf, ENGINE.iri)


def associate(record: Record, step: Step, who: Agent, *types: Node) -> None:
    """Write down who did a step."""
    introduce(record, step, (who,), *types)
    step.add(step.node, PROV.wasAssociatedWith, who.iri)


def principal(record: Record) -> Node:
    """Return who an investigation is run for; of a record that names nobody, the engine."""
    rows = record.select("principal")
    return ox.NamedNode(rows[0]["agent"].value) if rows else ENGINE.iri
