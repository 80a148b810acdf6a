"""What can be injected: designs made of operations and regions, and every operation by itself."""

from dataclasses import dataclass
from typing import Final

from kgreason.base.errors import OptionError
from kgreason.base.templates import Template, role

ORIGINAL: Final = "region"
"""What an operation says of its cause where that is the kind of the region it is applied to."""
NONE: Final = "none"
"""What an operation says of its cause where to name no cause is right too."""
REGIONS: Final = ("source", "batch", "cohort", "class", "drift")

_RESTATED: Final = "restated-"
_HARD: Final = {
    "two-steps": "What a node points at points at one thing.",
    "three-steps": "One thing three steps away.",
    "activity": "One thing that the activity behind a node, or its agent, points at.",
    "bound": "A number, a node's own or one step away, from a bound on or up to it.",
    "interval": "A number between two bounds.",
    "window": "A date, a node's own or one step away, between two days.",
    "three-conditions": "Nodes that meet three conditions at once, up to two steps away.",
    "text-in-value": "A word in a text, a node's own or one step away.",
    "text-in-iri": "A word in the IRI of a node.",
    "source-lacks": "Nodes of those named graphs that have no node of a class.",
    "mis-decoded": "Nodes with another text whose letters were decoded wrongly.",
    "run-twice": "Nodes of one run that was imported twice and so states two origins.",
}
_OLD_NULLS: Final = ("null-independent", "null-clustered")
_CLUSTERED: Final = {
    "by-document": "No cause: each named graph has a rate of its own.",
    "by-run": "No cause: each stated origin, such as an activity, has a rate of its own.",
    "by-thing": "No cause: the nodes that point at one thing have a rate of their own.",
    "by-value": "No cause: the nodes with one value of a property have a rate of their own.",
    "by-day": "No cause: each day, week or month has a rate of its own.",
    "by-far": "No cause: what lies two or three steps away has a rate of its own.",
    "by-few": "No cause: five to nine levels of a path, each with a rate of its own.",
    "crossed": "No cause: named graphs and things pointed at have rates of their own at once.",
}


@dataclass(frozen=True)
class Design:
    """How a fault is injected.

    `forms` are the forms of its regions, one for each cause (a form may be `conjunction`); without
    any, the nodes are corrupted at random and the operation itself is the cause. `null` is how
    nodes are drawn where there is no cause: `independent`, or clustered in one of several ways.
    The forms of a `hard` design are those of `hard.FORMS`.
    """

    name: str
    summary: str
    forms: tuple[str, ...] = ()
    operation: str | None = None
    weak: bool = False
    proxy: bool = False
    null: str | None = None
    hard: bool = False

    @property
    def group(self) -> str:
        """What its figures are added up under."""
        if self.name.startswith(_RESTATED):
            return "restatement"
        if self.hard:
            return "hard"
        if self.null:
            return "null" if self.name in _OLD_NULLS else "clustered null"
        if self.weak:
            return "weak"
        if self.proxy:
            return "confounded"
        return "several causes" if len(self.forms) > 1 else "one strong cause"


def _made() -> dict[str, Design]:
    one = {
        "source": "One bad feed: nodes of one named graph (or of graphs that begin alike).",
        "batch": "One bad batch: nodes with one stated origin, such as an activity.",
        "cohort": "Nodes with one value of another property.",
        "class": "Nodes of one further class.",
        "drift": "Nodes dated from a day on.",
        "conjunction": "Nodes that meet two conditions at once.",
    }
    out = [Design(name, text, (name,)) for name, text in one.items()]
    out += [
        Design("two-causes", "Two causes of one symptom.", ("any", "any")),
        Design("three-causes", "Three causes of one symptom.", ("any", "any", "any")),
    ]
    for form in ("source", "batch", "cohort", "drift"):
        text = f"A weak cause of the form {form}: 30 to 100 nodes, severity 0.15 to 0.4."
        out.append(Design(f"weak-{form}", text, (form,), weak=True))
    for form in ("source", "cohort"):
        text = f"A {form}, and an innocent property that agrees with it in 97 % of nodes."
        out.append(Design(f"proxy-{form}", text, (form,), proxy=True))
    out += [
        Design("null-independent", "No cause: nodes corrupted independently.", null="independent"),
        Design(
            "null-clustered",
            "No cause: hidden batches, nested in feeds and values, each with a rate of its own.",
            null="clustered",
        ),
    ]
    out += [Design(f"null-{name}", text, null=name) for name, text in _CLUSTERED.items()]
    out += [Design(name, text, (name,), hard=True) for name, text in _HARD.items()]
    out += [
        Design(
            "unit-of-model",
            "One thing two steps away delivers numbers in another unit.",
            ("two-steps",),
            operation="wrong-scale",
            hard=True,
        ),
        Design(
            "restated-count",
            "No cause: second values at random, so that only the rule itself tells failures apart.",
            operation="restated-count",
            null="independent",
        ),
    ]
    return {design.name: design for design in out}


def operations() -> dict[str, Template]:
    """Return every operation of queries/inject by name."""
    return dict(role("inject"))


def designs() -> dict[str, Design]:
    """Return everything that can be injected, by name."""
    out = _made()
    for name, operation in operations().items():
        if operation.header["cause"] != ORIGINAL and name not in out:
            out[name] = Design(name, operation.summary, operation=name)
    return out


def chosen(names: str) -> list[Design]:
    """Return the designs of a list of names and SETS with commas; raises OptionError."""
    known = designs()
    choice = f"{', '.join(known)}, and the sets {', '.join(SETS)}"
    out: dict[str, Design] = {}
    for name in filter(None, (part.strip() for part in names.split(","))):
        if name not in known and name not in SETS:
            raise OptionError(f"There is no fault {name!r}; there are: {choice}.")
        out |= {d.name: d for d in known.values() if name == d.name or _in(d, name)}
    if not out:
        raise OptionError(f"No fault was named; there are: {choice}.")
    return list(out.values())


SETS: Final = ("all", "usual", "hard", "nulls")
"""Names for several designs at once: everything; neither hard nor clustered; hard; all nulls."""


def _in(design: Design, name: str) -> bool:
    """Check whether a set has a design."""
    hard = design.group in {"hard", "restatement"}
    clustered = design.group == "clustered null"
    return {
        "all": True,
        "usual": not hard and not clustered,
        "hard": hard,
        "nulls": clustered or design.group == "null",
    }.get(name, False)
