"""Paths from the focus node: up to three steps, each of a kind that a file of `queries/path/` says.

A path is rendered for anyone to run on the data as loaded in named graphs (`route`), and for the
scratch copy, whose default graph is the merge (`nodes`).
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from pyoxigraph import NamedNode

from kgreason.base.figures import integer
from kgreason.base.store import Term
from kgreason.base.templates import Fragment, Template, Value, role, template
from kgreason.base.terms import TYPE, WORK

LONGEST: Final = integer("longestPath")
MOST: Final = 2 * LONGEST
"""The most steps of a path with those that lead to blank nodes, which do not count."""
FOCUS: Final = Fragment("?focus")
END: Final = Fragment("?end")
AGAINST: Final = Fragment("?against")
_HERE: Final = Fragment("?here")
_ANYTHING: Final = Fragment("")


@dataclass(frozen=True)
class Step:
    """One step: its kind, a name of `queries/path/`, and the property or class where it has one."""

    kind: str
    along: NamedNode

    @property
    def template(self) -> Template:
        """The file that says what this kind of step is."""
        return template("path", self.kind)

    @property
    def named(self) -> bool:
        """Whether the step is along one of several properties, or into one of several classes."""
        return "property" in self.template.parameters

    def render(
        self, section: str, focus: Fragment, other: Fragment, place: int, among: Fragment
    ) -> Fragment:
        """Render a section of the file from one variable to another."""
        offered: dict[str, Value] = {"focus": focus, "other": other, "ends": among}
        offered["holder"] = Fragment(f"?graph{place}")
        if self.named:
            offered["property"] = self.along
        wanted = self.template.parameters
        return self.template.fragment(section, **{k: v for k, v in offered.items() if k in wanted})


OF_CLASS: Final = Step("forward", TYPE)
"""The step to the class of a thing."""


def kinds() -> list[Template]:
    """Return the kinds of steps, by their order."""
    return sorted(role("path").values(), key=lambda t: int(t.header["order"]))


@dataclass(frozen=True)
class Path:
    """A path; without steps it ends at the focus node itself."""

    steps: tuple[Step, ...] = ()

    def __len__(self) -> int:
        return len(self.steps)

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        """The hash, worked out once: paths are looked up far more often than they are made."""
        return hash(self.steps)

    def __reduce__(self) -> tuple[type["Path"], tuple[tuple[Step, ...]]]:
        return Path, (self.steps,)  # a hash holds for one process

    @cached_property
    def sorts(self) -> str:
        """What puts paths in an order."""
        return str(self)

    @cached_property
    def route(self) -> Fragment:
        """The public pattern from ?focus to ?end."""
        if not self.steps:
            said = "{ GRAPH ?graph1 { ?focus ?says ?what . } }"
            named = "{ GRAPH ?graph2 { ?what ?says ?focus . } }"  # of which nothing may be said
            return Fragment(f"{said} UNION {named} BIND (?focus AS ?end)")
        return self._chained("region", "?focus", "?end")

    @cached_property
    def inner(self) -> Fragment:
        """The pattern from ?focus to ?end for the scratch copy: quicker, and blind to marks."""
        if not self.steps:
            return Fragment(
                "{ ?focus ?says ?what } UNION { ?what ?says ?focus } BIND (?focus AS ?end)"
            )
        return self._chained("inside", "?focus", "?end")

    def beside(self, *, public: bool) -> Fragment:
        """Return the pattern from ?focus to ?against, which shares no other name with a path."""
        return self._chained("region" if public else "inside", "?focus", "?against", aside=True)

    def sharing(self, end: Fragment, *, public: bool) -> Fragment:
        """Return the last step alone, from ?sharing to the variable of an end."""
        section = "region" if public else "inside"
        return self.steps[-1].render(section, Fragment("?sharing"), end, 2 * MOST + 2, _ANYTHING)

    def known(self, among: Fragment) -> Fragment:
        """Return the same for a test that says what ?end is `among`, if the last step leads far.

        Each node of a source would have all statements of that source beside it.
        """
        if not self.steps or "known" not in self.steps[-1].template.sections:
            return self.inner
        return self._chained("inside", "?focus", "?end", last="known", among=among)

    def nodes(self, mark: NamedNode) -> Fragment:
        """Return what binds ?here, on scratch copy, to each end once that a step can start from.

        `mark` marks the nodes from which the path starts.
        """
        if not self.steps:
            return Fragment(f"GRAPH work:marks {{ ?here work:member {mark} . }}", _WORK)
        inner = self._chained("inside", "?focus", "?here")
        text = (
            f"{{ SELECT DISTINCT ?here WHERE {{ GRAPH work:marks {{ ?focus work:member {mark} . }} "
            f"{inner.text} FILTER (!isLiteral(?here)) }} }}"
        )
        return Fragment(text, {**_WORK, **inner.prefixes})

    def _chained(
        self,
        section: str,
        start: str,
        end: str,
        last: str = "",
        among: Fragment = _ANYTHING,
        *,
        aside: bool = False,
    ) -> Fragment:
        first = MOST + 1 if aside else 1
        between = [f"?node{place}" for place in range(first, first + len(self.steps) - 1)]
        names = [Fragment(name) for name in (start, *between, end)]
        sections = [*(section for _ in between), last or section]
        parts = [
            step.render(sections[place], names[place], names[place + 1], place + first, among)
            for place, step in enumerate(self.steps)
        ]
        prefixes = {p: iri for part in parts for p, iri in part.prefixes.items()}
        return Fragment(" ".join(part.text.strip() for part in parts), prefixes)

    def then(self, step: Step) -> "Path":
        """Return the path with one step more."""
        return Path((*self.steps, step))

    @property
    def before(self) -> "Path":
        """The path without its last step."""
        return Path(self.steps[:-1])

    @property
    def kind(self) -> str:
        """The kind of cause that a condition on this path is, if the test does not say otherwise.

        Whatever lies behind a source or an activity is a source.
        """
        kinds_ = {step.template.header["kind"] for step in self.steps}
        return "source" if "source" in kinds_ else "cohort"

    def words(self, names: Callable[[Term | None], str]) -> str:
        """Describe what lies at the end: from the end inwards, a long way as SPARQL writes it."""
        if not self.steps:
            return "IRI"
        marks = [_MARKS.get(step.kind) for step in self.steps]
        long = len(marks) > _SPOKEN or (len(marks) == _SPOKEN and "^" in marks)
        if long and None not in marks:
            named = zip(marks, self.steps, strict=True)
            return "/".join(f"{mark}{names(step.along)}" for mark, step in named)
        said = [
            step.template.header["words"].format(property=names(step.along)) for step in self.steps
        ]
        return " of ".join(reversed(said)).replace(" in of ", " in ")

    def goes_back(self, step: Step) -> bool:
        """Check whether a step only takes back the last one."""
        if not self.steps:
            return False
        last, pair = self.steps[-1], {self.steps[-1].kind, step.kind}
        return last.along == step.along and "backward" in pair and len(pair) > 1


_SPOKEN: Final = 2  # steps that are said in words
_MARKS: Final = {"forward": "", "made-by": "", "backward": "^"}
_WORK: Final = {"work": WORK.iri}
