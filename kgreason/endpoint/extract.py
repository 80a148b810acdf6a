"""What was taken from an endpoint: quads, and lists of who is looked at and who fails.

It is kept as two texts beside the record, so that nothing that is read again needs the endpoint.
Who is looked at and who fails is what the endpoint said; it is never observed again on the quads,
which end at a rim where much is missing.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Self

from kgreason.base.errors import LedgerError
from kgreason.base.templates import Fragment
from kgreason.endpoint.neighbourhood import Cut
from kgreason.endpoint.strata import Stratum
from kgreason.shacl.constraint import Texts


@dataclass(frozen=True)
class ProbeResult:
    """What a probe gave: what was expected, what came, and what follows where that differs."""

    name: str
    expected: str
    found: str
    passed: bool


@dataclass(frozen=True)
class Asked:
    """One constraint as the endpoint knows it.

    `population` and `failing` are its counts of nodes with an IRI; `members` names the list of the
    nodes that were taken, `failed` are those of them that fail. `rule` says how they were drawn.
    `target` and `violation` are the patterns that the endpoint was asked, with their `prefixes`;
    nothing where a report said who fails. `strata` are the sources of a sample.
    """

    key: str
    population: int
    failing: int
    members: str = ""
    failed: tuple[str, ...] = ()
    rule: str = "all"
    target: str = ""
    violation: str = ""
    violation_is_whole: bool = False
    prefixes: Mapping[str, str] = field(default_factory=dict)
    strata: tuple[Stratum, ...] = ()

    def by(self, texts: Texts) -> Self:
        """Return this with the texts that the endpoint was asked."""
        return replace(
            self,
            target=texts.target.text,
            violation=texts.violation.text,
            violation_is_whole=texts.whole,
            prefixes={**texts.target.prefixes, **texts.violation.prefixes},
        )

    @property
    def texts(self) -> Texts | None:
        """The texts that the endpoint was asked; None where it was not asked who fails."""
        if not self.violation:
            return None
        target, violation = (Fragment(t, self.prefixes) for t in (self.target, self.violation))
        return Texts(target, violation, whole=self.violation_is_whole)


@dataclass(frozen=True)
class Extract:
    """What was taken, how, and from where.

    `graphs` are those that the user named; `merged` are those that the endpoint was told to merge,
    and `union` is the parameter that had it merge all, None where it needed none. `lists` are nodes
    by the name of their list; `constraints` what was asked of each constraint;
    `kept` of the answers to its queries were kept from a run that was interrupted.
    `refused` tells which could not be asked, and why; `cut` is what was too much to be taken.
    `seen` are the datatypes of literals that were taken, as far as engines may rewrite them, and
    whether a literal shows that the endpoint does not; None where it does, or is not asked.
    Where the endpoint is a store on disk with data of a user, `origin` are their paths, and
    `origin_digest` is a SHA-256 over them.
    """

    address: str
    graphs: tuple[str, ...]
    dialect: str
    server: str
    merged: tuple[str, ...]
    union: str | None
    seed: int
    cap: int
    ratio: int
    hops: int
    queries: int
    bytes: int
    lost: bool
    constraints: tuple[Asked, ...]
    lists: Mapping[str, tuple[str, ...]]
    probes: tuple[ProbeResult, ...] = ()
    refused: tuple[str, ...] = ()
    cut: tuple[Cut, ...] = ()
    notices: tuple[str, ...] = ()
    origin: tuple[str, ...] = ()
    origin_digest: str = ""
    kept: int = 0
    seen: Mapping[str, bool] | None = None
    quads: str = field(default="", repr=False, compare=False)

    def text(self) -> str:
        """Return all but the quads as JSON; `of` reads it."""
        said = asdict(self)
        del said["quads"]
        return json.dumps(said, sort_keys=True, indent=0)

    @classmethod
    def of(cls, text: str, quads: str = "") -> Self:
        """Read an extract again; raises LedgerError for what is none."""
        try:
            said: dict[str, Any] = json.loads(text)
            said["constraints"] = tuple(
                Asked(
                    **one
                    | {"failed": tuple(one["failed"])}
                    | {"strata": tuple(Stratum(**each) for each in one.get("strata", ()))}
                )
                for one in said["constraints"]
            )
            said["probes"] = tuple(ProbeResult(**one) for one in said["probes"])
            said["cut"] = tuple(Cut(*one) for one in said["cut"])
            said["lists"] = {name: tuple(nodes) for name, nodes in said["lists"].items()}
            for name in ("graphs", "merged", "refused", "notices", "origin"):
                said[name] = tuple(said.get(name, ()))
            return cls(**said, quads=quads)
        except (ValueError, KeyError, TypeError) as error:
            raise LedgerError(f"The lists of an extract cannot be read ({error}).") from error

    def asked(self, key: str) -> Asked | None:
        """Return what was asked of a constraint, None where nothing was."""
        return next((one for one in self.constraints if one.key == key), None)


def sampled(constraints: Sequence[Asked], lists: Mapping[str, Sequence[str]]) -> list[Asked]:
    """Return the constraints of which not all nodes were taken."""
    return [one for one in constraints if one.failing and len(lists[one.members]) < one.population]
