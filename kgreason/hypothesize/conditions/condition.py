"""A condition: a path from a node, and a test on what lies at its end."""

from calendar import month_name
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from pyoxigraph import Literal, NamedNode

from kgreason.base.store import Term
from kgreason.base.templates import Fragment, Template, Value, template
from kgreason.hypothesize.conditions.letters import forms
from kgreason.hypothesize.conditions.paths import AGAINST, END, Path

Terms = tuple[tuple[str, Value], ...]
"""What a test names, by the name of the parameter."""


@dataclass(frozen=True, slots=True)
class Condition:
    """A path and a test on its end: the nodes it holds, and the bits it costs to say.

    `terms` are what the test names, by the name of the parameter; `beside` is the path with the end
    of which it compares that of its own.
    """

    path: Path
    test: str
    terms: Terms
    mask: int = field(repr=False)
    bits: float = 0.0
    beside: Path | None = None

    @property
    def paths(self) -> tuple[Path, ...]:
        """Its path, and the one beside it."""
        return (self.path,) if self.beside is None else (self.path, self.beside)

    @property
    def along(self) -> NamedNode | None:
        """The property of its last step."""
        return self.path.steps[-1].along if self.path.steps else None

    @property
    def template(self) -> Template:
        """The file that says what the test is."""
        return template("condition", self.test)

    @property
    def region(self) -> Fragment:
        """The public pattern of the ?focus that are meant."""
        return self._said("region", self.path.route, END, public=True)

    @property
    def pattern(self) -> Fragment:
        """The pattern for the scratch copy."""
        if "binds" not in self.template.header:
            return self.on(self.path.inner)
        return self.on(self.path.known(self.on(Fragment(""))))

    @property
    def outside(self) -> Fragment | None:
        """The pattern for the scratch copy of the ?focus that are not meant, where it is shorter.

        None where the test is no negation.
        """
        negates = "outside" in self.template.sections
        return self._said("outside", self.path.inner, END) if negates else None

    def on(self, route: Fragment, end: Fragment = END) -> Fragment:
        """Return the test on whatever a pattern binds to the variable of an end."""
        return self._said("region", route, end)

    def _said(
        self, section: str, route: Fragment, end: Fragment, *, public: bool = False
    ) -> Fragment:
        wanted = self.template.parameters
        offered: dict[str, Value] = {"route": route, "value": end, **dict(self.terms)}
        if "sharing" in wanted:
            offered["sharing"] = self.path.sharing(end, public=public)
        if self.beside is not None:
            offered |= {"beside": self.beside.beside(public=public), "against": AGAINST}
        return self.template.fragment(section, **{k: v for k, v in offered.items() if k in wanted})

    @property
    def dated(self) -> bool:
        """Whether the test compares dates."""
        return dict(self.terms).get("dated") is True

    @property
    def several(self) -> bool:
        """Whether it names a set of values."""
        return any(isinstance(value, list) for _, value in self.terms)

    @property
    def named(self) -> tuple[Term, ...]:
        """What the test names."""
        found: list[Term] = []
        for _, value in self.terms:
            several = value if isinstance(value, list) else [value]
            found += [term for term in several if isinstance(term, NamedNode | Literal)]
        return tuple(found)

    def words(self, names: Callable[[Term | None], str]) -> str:
        """Describe the condition, to follow “Nodes …”."""
        header = self.template.header
        text = header["dated"] if self.dated else header["words"]
        given = dict(self.terms)
        if "alike" in header and given.get("first") == given.get("last"):
            text = header["alike"]
        said = {name: _told(self, name, value, names) for name, value in self.terms}
        if self.beside is not None:
            said["beside"] = self.beside.words(names)
        steps = self.path.steps
        last = steps[-1].template.header if steps else {}
        own = last.get(self.test)
        if len(steps) > 1:
            own = last.get(f"{self.test}-behind", own)
        if own is not None and (len(steps) == 1 or "{place}" in own):
            place = Path(steps[:-1]).words(names)
            return own.format(place=place, property=names(steps[-1].along), **said)
        return text.format(path=self.path.words(names), **said)


_SAID_BARE: Final = frozenset({"count", "day", "first", "language", "last"})


def _told(
    condition: Condition, name: str, value: Value, names: Callable[[Term | None], str]
) -> str:
    if isinstance(value, list):
        return ", ".join(names(v) for v in value if isinstance(v, NamedNode | Literal))
    if condition.test == "form" and isinstance(value, Literal):
        return forms()[value.value]
    if condition.test == "months" and isinstance(value, Literal):
        return month_name[int(value.value)]
    if name in _SAID_BARE and isinstance(value, Literal):
        return value.value
    return names(value) if isinstance(value, NamedNode | Literal) else ""
