"""What can be injected: designs made of operations and regions, and every operation by itself."""

from dataclasses import dataclass
from typing import Final

from kgreason.base.errors import OptionError
from kgreason.base.templates import Template, role

ORIGINAL: Final = "region"
"""What an operation says of its cause where that is the kind of the region it is applied to."""
REGIONS: Final = ("source", "batch", "cohort", "class", "drift")


@dataclass(frozen=True)
class Design:
    """How a fault is injected.

    `forms` are the forms of its regions, one for each cause (a form may be `conjunction`); without
    any, the nodes are corrupted at random and the operation itself is the cause. `null` is how
    nodes are drawn where there is no cause: `independent` or `clustered`.
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
            return "null"
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
    """Return the designs of a list of names with commas, or all for `all`; raises OptionError."""
    known = designs()
    if names == "all":
        return list(known.values())
    out = []
    for name in filter(None, (part.strip() for part in names.split(","))):
        if name not in known:
            raise OptionError(f"There is no fault {name!r}; there are: {', '.join(known)}.")
        out.append(known[name])
    if not out:
        raise OptionError(f"No fault was named; there are: {', '.join(known)}.")
    return out
