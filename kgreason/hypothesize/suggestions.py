"""Suggestions of hypotheses in a file: read, checked, and proposed on the symptoms they are about.

What is read stays a list of plain texts, which goes into the record with the other options, so that
a run goes on, and is repeated, without the file. `docs/hypotheses.schema.json` is the schema.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from pyoxigraph import Literal, NamedNode

from kgreason.base.errors import KgreasonError, OptionError, QueryError, TemplateError
from kgreason.base.store import Term
from kgreason.base.templates import Fragment, Template, Value, role
from kgreason.context.view import View
from kgreason.graph import Graph
from kgreason.hypothesize.bindings import made_of, term
from kgreason.hypothesize.candidates import Candidate, applies, bound_by
from kgreason.hypothesize.conditions.condition import Condition
from kgreason.hypothesize.conditions.language import path_read
from kgreason.hypothesize.conditions.language import read as read_conditions
from kgreason.hypothesize.conditions.paths import Path as Steps
from kgreason.hypothesize.conditions.search import best_along
from kgreason.hypothesize.free_region import FreeRegion, evaluated, free_region
from kgreason.hypothesize.proposer import Suggestion
from kgreason.record.agents import Agent, agent
from kgreason.shacl import Constraint, names

Plain = Mapping[str, Any]
MOST: Final = 200
"""Suggestions that one investigation may be given."""
_MOST_BYTES: Final = 10_000_000
_LONGEST: Final = 1_000
_WORDS: Final = ("statement", "mechanism", "prediction")
_REGIONS: Final = ("region", "condition", "family", "factor")
_LINKS: Final = ("only_if", "excludes")
KEYS: Final = (*_WORDS, "symptom", "proposer", "name", *_LINKS, *_REGIONS, "values")
"""What a hypothesis in a file may say."""
_SECTIONS: Final = ("region", "inside", "levels", "exception", "prediction", "placebo")


@dataclass(frozen=True)
class FamilyRegion:
    """A family with the terms that it is to bind."""

    family: Template
    values: Mapping[str, Term]


@dataclass(frozen=True)
class Factor:
    """What may go with the failures: of the conditions on its path the best is taken."""

    path: Steps


@dataclass(frozen=True)
class Given:
    """A suggestion as it was read: its number, where it stands, who makes it, what it is about.

    `keys` are those of the constraints that it is proposed on; None for all. `name` is what others
    call it that hold `only_if` it holds, or that it `excludes`.
    """

    number: int
    where: str
    by: Agent
    region: FreeRegion | tuple[Condition, ...] | FamilyRegion | Factor
    symptom: str | None
    words: Mapping[str, str]
    plain: Plain = field(repr=False)
    keys: frozenset[str] | None = None
    name: str | None = None
    only_if: tuple[str, ...] = ()
    excludes: tuple[str, ...] = ()


def read_suggestions(given: Path | str | Sequence[Plain], proposer: str | None) -> list[Plain]:
    """Return the suggestions of a file, or those in a list, checked and with all that is known.

    `proposer` is who makes those that name nobody. Raises OptionError or QueryError, which name the
    file and the place in it.
    """
    if isinstance(given, str | Path):
        where, found = str(given), _loaded(Path(given))
    else:
        where, found = "hypotheses", given
    if isinstance(found, Mapping):
        unknown = sorted(set(found) - {"proposer", "hypotheses"})
        if unknown or "hypotheses" not in found:
            raise OptionError(
                f"{where}: the file holds a list of hypotheses, or an object with `hypotheses` and "
                f"perhaps `proposer`{f', not {unknown[0]!r}' if unknown else ''}."
            )
        proposer, found = found.get("proposer", proposer), found["hypotheses"]
    if isinstance(found, str | bytes | Mapping) or not isinstance(found, Sequence) or not found:
        raise OptionError(f"{where}: give a list of at least one hypothesis.")
    if len(found) > MOST:
        raise OptionError(f"{where}: there are {len(found)} hypotheses; give at most {MOST}.")
    out: list[Plain] = []
    for place, one in enumerate(found, start=1):
        here = f"{where}, hypothesis {place}"
        if not isinstance(one, Mapping):
            raise OptionError(f"{here}: it is no object with `statement` and a region.")
        plain = dict(one) | {"place": here}
        if plain.get("proposer", proposer) is not None:
            plain["proposer"] = plain.get("proposer", proposer)
        out.append(plain)
        parsed(place, plain)
    _linked([parsed(place, plain) for place, plain in enumerate(out, start=1)])
    return out


def _linked(given: Sequence[Given]) -> None:
    """Check that names are given once, that each link leads to one, and none leads back to itself.

    Raises OptionError.
    """
    named: dict[str, Given] = {}
    for one in given:
        if one.name is not None and named.setdefault(one.name, one) is not one:
            raise OptionError(
                f"{one.where}: `name` {one.name!r} is that of another one; give each its own."
            )
    for one in given:
        for link in (*one.only_if, *one.excludes):
            if link not in named:
                known = ", ".join(named) or "none"
                raise OptionError(
                    f"{one.where}: no hypothesis has the name {link!r}; the names are: {known}."
                )
        if one.name in one.excludes or _comes_back(one, named):
            raise OptionError(
                f"{one.where}: {one.name!r} would exclude itself, or hold only if it holds itself."
            )


def _comes_back(one: Given, named: Mapping[str, Given]) -> bool:
    """Check whether the premises of a suggestion lead back to it."""
    left, seen = list(one.only_if), set[str]()
    while left:
        name = left.pop()
        if name == one.name:
            return True
        if name not in seen:
            seen.add(name)
            left += named[name].only_if
    return False


def _loaded(path: Path) -> Any:
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise OptionError(f"{path}: the file is larger than {_MOST_BYTES} bytes.")
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        why = error.strerror or error
        raise OptionError(f"{path}: the file cannot be read ({why}).") from error
    except UnicodeDecodeError as error:
        raise OptionError(f"{path}: the file is no UTF-8 (byte {error.start}).") from error
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise OptionError(f"{path}: this is no JSON: {place}: {error.msg}.") from error
    except RecursionError as error:
        raise OptionError(f"{path}: the JSON is nested too deeply.") from error


def parsed(number: int, plain: Plain) -> Given:
    """Read a suggestion; raises OptionError or QueryError, which say where it stands."""
    where = str(plain.get("place", f"hypothesis {number}"))
    unknown = sorted(set(map(str, plain)) - {*KEYS, "place"})
    if unknown:
        raise OptionError(f"{where}: there is no key {unknown[0]!r}; there are {', '.join(KEYS)}.")
    texts = {name: _text(plain, name, where) for name in (*_WORDS, "symptom", "proposer")}
    words = {name: texts[name] for name in _WORDS if texts[name]}
    chosen = [name for name in _REGIONS if name in plain]
    if len(chosen) != 1 or ("values" in plain and chosen != ["family"]):
        raise OptionError(
            f"{where}: give one of `region` (a pattern), `condition`, `factor`, or `family` with "
            "`values`."
        )
    if chosen == ["region"] and "statement" not in words:
        raise OptionError(f"{where}: a region needs a `statement` that says what it is.")
    try:
        region = _READERS[chosen[0]](plain, where)
        by = agent(texts["proposer"] or None, "`proposer`")
    except (OptionError, QueryError) as error:
        told = str(error)
        raise type(error)(told if where in told else f"{where}: {told}") from error
    name = _text(plain, "name", where) or None
    only_if, excludes = (_names(plain, link, where) for link in _LINKS)
    symptom = texts["symptom"] or None
    return Given(number, where, by, region, symptom, words, plain, None, name, only_if, excludes)


def _names(plain: Plain, link: str, where: str) -> tuple[str, ...]:
    """Return the names of other hypotheses in a text or in a list of texts."""
    given = plain.get(link, [])
    listed = [given] if isinstance(given, str) else given
    if not isinstance(listed, Sequence) or not all(isinstance(one, str) for one in listed):
        raise OptionError(
            f"{where}: `{link}` is the name of another hypothesis, or a list of them."
        )
    return tuple(dict.fromkeys(" ".join(one.split()) for one in listed))


def _text(plain: Plain, name: str, where: str) -> str:
    given = plain.get(name)
    if given is None:
        return ""
    made = " ".join(given.split()) if isinstance(given, str) else ""
    if not made or len(made) > _LONGEST or not made.isprintable():
        raise OptionError(
            f"{where}: `{name}` is a text of one to {_LONGEST} characters that can be printed."
        )
    return made


def _free(plain: Plain, where: str) -> FreeRegion:
    given = plain["region"]
    given = {"pattern": given} if isinstance(given, str) else given
    if (
        not isinstance(given, Mapping)
        or not isinstance(given.get("pattern"), str)
        or not set(given) <= {"pattern", "prefixes"}
    ):
        raise OptionError(f"{where}: `region` has a `pattern`, and perhaps `prefixes`.")
    prefixes = given.get("prefixes", {})
    if not isinstance(prefixes, Mapping) or not all(map(_is_text, prefixes.items())):
        raise OptionError(f"{where}: `prefixes` is an object of texts: prefix and namespace.")
    return free_region(given["pattern"], prefixes, where)


def _is_text(item: tuple[Any, Any]) -> bool:
    return all(isinstance(part, str) for part in item)


def _conditions(plain: Plain, _where: str) -> tuple[Condition, ...]:
    given = plain["condition"]
    return read_conditions([given] if isinstance(given, Mapping) else given)


def _factor(plain: Plain, where: str) -> Factor:
    given = plain["factor"]
    steps = [{"step": "forward", "along": given}] if isinstance(given, str) else given
    path = path_read(steps)
    if not path.steps:
        raise OptionError(f"{where}: `factor` is a property, <an IRI>, or a path of steps.")
    return Factor(path)


def _family(plain: Plain, where: str) -> FamilyRegion:
    """Read a family with its values; all that its sections need has to be among these."""
    offered = {
        name: one
        for name, one in role("hypothesize").items()
        if {"propose", "region"} <= set(one.sections)
    }
    family = offered.get(str(plain["family"]))
    if family is None:
        raise OptionError(
            f"{where}: there is no family {plain['family']!r}; there are {', '.join(offered)}."
        )
    given = plain.get("values", {})
    if not isinstance(given, Mapping) or not all(map(_is_text, given.items())):
        raise OptionError(f"{where}: `values` is an object of terms, each as N-Triples has it.")
    values: dict[str, Term] = {}
    for name, text in given.items():
        try:
            values[name] = term(text)
        except (SyntaxError, ValueError, IndexError) as error:
            raise OptionError(
                f'{where}: {name} is no term: {text!r}; write <an IRI> or "a literal".'
            ) from error
    for name in ("dimension", "level"):
        used = "{" + name + "}" in family.header["statement"] or name in family.parameters
        if used and name not in values and name not in _GIVEN:
            raise OptionError(f"{where}: `values` of the family {family.name} lack {name!r}.")
    _try(family, values, where)
    return FamilyRegion(family, values)


def _try(family: Template, values: Mapping[str, Term], where: str) -> None:
    """Render the sections of a family with values that stand for what a symptom would offer."""
    bound = bound_by(family, values)
    made: dict[str, Value] = {}
    for name, parameter in family.parameters.items():
        if name in bound:
            made[name] = bound[name]
        elif name in _GIVEN:
            made[name] = _STANDS_FOR.get(parameter.type, [])
    for section in _SECTIONS:
        if section in family.sections:
            try:
                family.fragment(section, **made)
            except TemplateError as error:
                raise OptionError(f"{where}: `values` do not fit: {error}") from error


_GIVEN: Final = frozenset(
    {
        *("symptom", "half", "population", "least", "passing", "failed", "constrained", "raised"),
        "weight",
        *(
            "listed",
            "imported",
            "uniform",
            "everywhere",
            "qualified",
            "allowed",
            "counted",
            "unique",
            "textual",
            "most",
            "leading",
            "closing",
            "classed",
            "spoken",
            "exposed",
            "needed",
            "partly",
            "compared",
            "bound",
            "ordered",
            "link",
            "inward",
            "brought",
            "kinds",
            "peers",
            "asked",
            "absence",
            "compiled",
            "offending",
            "shape",
            "sound",
        ),
        *("predicate", "formed", "form", "class", "conforming", "turned", "arms"),
    }
)
"""What a symptom, and the design of tests, offer to a family."""
_STANDS_FOR: Final[Mapping[str, Value]] = {
    "iri": NamedNode("urn:x"),
    "literal": Literal("0"),
    "term": NamedNode("urn:x"),
    "pattern": Fragment(""),
    "flag": False,
}
_READERS: Final[Mapping[str, Callable[[Plain, str], Any]]] = {
    "region": _free,
    "condition": _conditions,
    "family": _family,
    "factor": _factor,
}


def checked(
    given: Iterable[Given], graph: Graph, failing: Sequence[Constraint], seconds: float
) -> list[Given]:
    """Run free regions on the graph, and find the symptoms that each suggestion is about.

    Raises QueryError for a region that cannot be run within `seconds`, OptionError for a symptom
    that there is not.
    """
    called = names(failing)
    out = []
    for one in given:
        region = one.region
        if isinstance(region, FreeRegion):
            region = evaluated(region, graph, seconds, one.where)
        keys = None if one.symptom is None else _about(one, failing, called)
        out.append(replace(one, region=region, keys=keys))
    return out


def _about(one: Given, failing: Sequence[Constraint], called: Sequence[str]) -> frozenset[str]:
    wanted = str(one.symptom)
    bare = wanted.removeprefix("<").removesuffix(">")
    found = frozenset(
        c.key
        for c, name in zip(failing, called, strict=True)
        if wanted.casefold() == name.casefold()
        or bare == f"urn:kgreason:symptom:{c.key}"
        or (c.named_shape is not None and bare == c.named_shape.value)
        or (c.path is not None and bare == c.path.text.removeprefix("<").removesuffix(">"))
    )
    if not found:
        there = ", ".join(f"“{name}”" for name in called[:5]) or "none"
        raise OptionError(
            f"{one.where}: nothing fails that is called {wanted!r}; give the name, shape or path "
            f"of a symptom, as `kgreason symptoms` lists them: {there}"
            f"{', …' if len(called) > 5 else ''}."  # noqa: PLR2004 - enough to see how they look
        )
    return found


@dataclass(frozen=True)
class Scripted:
    """Proposes what was given, in the name of one agent; it has nothing to add later.

    Who gave it may have looked at all data, the held-out half too.
    """

    agent: Agent
    given: tuple[Given, ...]
    mines: bool = False
    blinded: bool = False

    def propose(self, view: View, /) -> Iterator[Suggestion]:
        """Return what was given for the symptom of a view, where its family can be asked there."""
        for one in self.given:
            if one.keys is not None and view.constraint.key not in one.keys:
                continue
            region = one.region
            made: Candidate | FreeRegion | tuple[Condition, ...] | None
            if isinstance(region, FamilyRegion):
                made = _of_family(view, region)
            elif isinstance(region, Factor):
                best = best_along(view, region.path)
                made = None if best is None else best.parts
            else:
                made = region
            if made is not None:
                words = one.words
                yield Suggestion(
                    made,
                    words.get("statement", ""),
                    words.get("mechanism", ""),
                    words.get("prediction", ""),
                    one.number,
                )

    def refine(
        self, _view: View, _parent: Candidate, _others: Sequence[Candidate], /
    ) -> Iterator[Suggestion]:
        """Return nothing."""
        return iter(())


def _of_family(view: View, region: FamilyRegion) -> Candidate | None:
    reading = view.read_as(region.family, region.values)
    offered = view.values(view.split(region.family), reading)
    if not applies(region.family, view.constraint, offered):
        return None
    try:
        return made_of(view, region.family, region.values)
    except KgreasonError:
        return None


def scripted(given: Iterable[Given]) -> tuple[Scripted, ...]:
    """Return a proposer for each agent that suggests something, in the order of their first."""
    found: dict[Agent, list[Given]] = {}
    for one in given:
        found.setdefault(one.by, []).append(one)
    return tuple(Scripted(by, tuple(several)) for by, several in found.items())
