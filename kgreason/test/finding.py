"""What a test gives, and what reading it needs to know."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Final

from pyoxigraph import Literal, NamedNode

from kgreason.base.errors import RunError
from kgreason.base.statistics import Table
from kgreason.base.store import Row, Term
from kgreason.base.templates import Fragment, template
from kgreason.base.terms import XSD
from kgreason.base.weights import weighted_nodes
from kgreason.graph import Graph
from kgreason.shacl import Constraint


@dataclass(frozen=True)
class Setting:
    """What is known before a test runs.

    `discovery` is the 2×2 table of the region on the discovery half; `level` the value that marks
    the region among its siblings, `dimension` the property that the hypothesis names; graph,
    constraint and the pattern of the region are for kinds that look at more than rows. `numbers`
    are those of a numeric outcome on the half that is counted, inside and outside. `direct` says
    that the hypothesis is checked directly. A passing node counts with `weight` in rates.
    """

    discovery: Table | None = None
    level: Term | None = None
    dimension: Term | None = None
    graph: Graph | None = None
    constraint: Constraint | None = None
    region: Fragment | None = None
    numbers: tuple[Sequence[Decimal], Sequence[Decimal]] | None = None
    direct: bool = False
    weight: float = 1.0

    def percent(self, failing: int, nodes: int) -> str:
        """Write the weighted rate of failing nodes as people read it."""
        return percent(failing, weighted_nodes(failing, nodes, self.weight))


Figures = Mapping[str, int | Decimal]
"""Figures by the name of their trails property."""
Stratum = Mapping[str, int | Decimal | str]
"""A row of a table, by the names of trails properties."""


@dataclass(frozen=True)
class Passage:
    """A passage of a work, which is named by its IRI or title: its words, and where they stand.

    `study` is what several works may tell of, and `work_keys` by what they are known to do so.
    `reading` says what whoever read it found: supports,
    contradicts, neither; `key` is the name by which they do. Where a model read it, `judged` are
    the two probabilities that it gives, and `span` the words that it goes by.
    """

    work: NamedNode | str
    quote: str
    locator: str
    study: str = ""
    reading: str = ""
    key: str = ""
    work_keys: tuple[str, ...] = ()
    span: str = ""
    judged: tuple[Decimal, Decimal] | None = None


@dataclass(frozen=True)
class Reading:
    """What a model found a passage to say: a side, the words it goes by, and two probabilities.

    `said` is supports, contradicts or neither; `judged` how probable such words are where the
    hypothesis holds, and where it does not.
    """

    said: str
    span: str
    judged: tuple[Decimal, Decimal]


@dataclass(frozen=True)
class Retrieved:
    """What a source answered to a look-up: its name, the terms, how many works, the answers.

    `merged` passages were left out, since another source gave the same study.
    """

    source: str
    searched: str
    works: int
    answers: tuple[str, ...] = ()
    merged: int = 0


@dataclass(frozen=True)
class Finding:
    """The outcome class of a test, its raw figures by trails property, and a sentence.

    `cite` names nodes that the finding rests on beside the usual ones, with why. `strata` are the
    rows of a table that figures alone do not hold (siblings, strata of a rival): with them and the
    figures everything the reader gave can be worked out again. What comes from outside the graph
    names its `source`, by default its tester, and quotes `passages`; what shares its `group` with
    other evidence depends on it, by default what is of the same source. A look-up tells what was
    `retrieved`, a computation what was `computed`, as a text.
    """

    outcome: str
    note: str
    figures: Figures = field(default_factory=dict)
    cite: Sequence[tuple[Term, str]] = ()
    strata: Sequence[Stratum] = ()
    source: str = ""
    passages: Sequence[Passage] = ()
    group: str = ""
    retrieved: Retrieved | None = None
    computed: str = ""


Reader = Callable[[Sequence[Row], Setting], Finding]


READERS: Final = ("test", "repair")
"""The rooms in which a module named for a kind of test may read its rows."""


def read(kind: str, rows: Sequence[Row], setting: Setting) -> Finding:
    """Read the rows of a test of a kind.

    Without a module of that name, the query itself has to bind ?outcome; it may bind ?note, and
    figures by the names of their properties, such as ?rate. Raises RunError where neither is there.
    """
    template("test", kind)  # an unknown kind is an error of its own
    reader = reader_of(kind)
    if reader is not None:
        return reader(rows, setting)
    if not rows or "outcome" not in rows[0]:
        raise RunError(f"queries/test/{kind}.rq binds no ?outcome, and no module reads it.")
    note = rows[0].get("note")
    said = note.value if note is not None else ""
    return Finding(rows[0]["outcome"].value, said, _figures(rows[0]))


def _figures(row: Row) -> dict[str, int | Decimal]:
    """Return the numbers that a query bound, by the names of their variables."""
    figures: dict[str, int | Decimal] = {}
    for name, term in row.items():
        if isinstance(term, Literal) and term.datatype == XSD.integer:
            figures[name] = int(term.value)
        elif isinstance(term, Literal) and term.datatype == XSD.decimal:
            figures[name] = decimal(float(term.value))
    return figures


@cache
def reader_of(kind: str) -> Reader | None:
    """Return what reads the rows of a kind of test, or None where its query says it all."""
    for room in READERS:
        name = f"kgreason.{room}.{kind.replace('-', '_')}"
        if find_spec(name) is not None:
            found: Reader = import_module(name).read
            return found
    return None


def integers(row: Row, *names: str) -> list[int]:
    """Return the values of some variables as integers."""
    return [int(row[name].value) for name in names]


def decimal(value: float, places: int = 6) -> Decimal:
    """Return a number with a fixed number of places, for the record."""
    return Decimal(f"{value:.{places}f}")


def percent(part: float, whole: float) -> str:
    """Write a share as people read it."""
    if not whole:
        return "0 %"
    share = 100 * part / whole
    return f"{share:.0f} %" if share >= 10 or share == 0 else f"{share:.1f} %"  # noqa: PLR2004 - two figures are enough
