"""What can be injected: designs made of operations and regions, and every operation by itself."""

from dataclasses import dataclass
from typing import Final

from kgreason.base.errors import OptionError
from kgreason.base.templates import Template, role

ORIGINAL: Final = "region"
"""What an operation says of its cause where that is the kind of the region it is applied to."""
REGIONS: Final = ("source", "batch", "cohort", "class", "drift")

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
    """

    name: str
    summary: str
    forms: tuple[str, ...] = ()
    operation: str | None = None
    weak: bool = False
    proxy: bool = False
    null: str | None = None

    @property
    def group(self) -> str:
        """What its figures are added up under."""
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
    return {design.name: design for design in out}


def operations() -> dict[str, Template]:
    """Return every operation of queries/inject by name."""
    return dict(role("inject"))


def designs() -> dict[str, Design]:
    """Return everything that can be injected, by name."""
    out = _made()
    for name, operation in operations().items():
        if operation.header["cause"] != ORIGINAL:
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


SETS: Final = ("all", "usual", "nulls")
"""Names for several designs at once: everything; all but the clustered nulls; all nulls."""


def _in(design: Design, name: str) -> bool:
    """Check whether a set has a design."""
    if name == "usual":
        return design.group != "clustered null"
    return name == "all" or (name == "nulls" and design.null is not None)
