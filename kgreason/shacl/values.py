"""Patterns that bind the values of a path, just as they were written where that matters."""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Final, TypeVar

import pyoxigraph as ox

from kgreason.base.store import Term
from kgreason.base.templates import Fragment, template
from kgreason.base.terms import FORM_PREFIX, XSD
from kgreason.graph.forms import mark
from kgreason.shacl.components import ROLE
from kgreason.shacl.paths import Path

_T = TypeVar("_T")
_FEW: Final = 16
_PROBE: Final = ox.NamedNode("urn:x-kgreason:work:probe")


class NotCompilableError(Exception):
    """A constraint that is left to pySHACL, and why."""


class Variables:
    """Returns variables that no one else uses."""

    def __init__(self, stem: str = "v") -> None:
        self._stem, self._next = stem, 0

    def new(self) -> Fragment:
        """Return the next variable."""
        self._next += 1
        return Fragment(f"?{self._stem}{self._next}")


class Exact:
    """Knows which predicates have values that the store rewrote (`formed`).

    With `portable` nothing of the graph of forms is used: the text then is for any SPARQL engine
    that keeps literals as they are. `used` says whether it made a difference. `holds` says whether
    a term is a node of the graph, `beyond` whether the graph has numbers that their types do not
    admit.
    """

    def __init__(
        self,
        formed: frozenset[ox.NamedNode],
        *,
        portable: bool = False,
        holds: Callable[[Term], bool] | None = None,
        beyond: bool = False,
    ) -> None:
        self._formed = formed
        self.beyond = beyond
        self.holds = holds or (lambda _: True)
        self.portable = portable
        self.used = False

    def concerns(self, path: Path) -> bool:
        """Check whether values of this path may carry a mark."""
        if self._formed and not self._formed.isdisjoint(path.last()):
            self.used = True
            return not self.portable
        return False

    def asked(self, query: _T, as_written: Callable[[frozenset[ox.NamedNode]], _T]) -> _T:
        """Return a query of someone else as it can be asked of the store.

        `as_written` makes it, or raises NotCompilableError; the portable one is as it is.
        """
        try:
            made = as_written(self._formed)
        except NotCompilableError:
            self.used = True
            if not self.portable:
                raise
            return query
        self.used = self.used or made is not query
        return query if self.portable else made

    def check_backwards(self, path: Path) -> None:
        """Raise NotCompilableError where a path goes from literals that the store rewrote."""
        if self._formed and not self._formed.isdisjoint(path.backwards()):
            self.used = True
            if not self.portable:
                raise NotCompilableError(
                    f"the path {path.text} goes backwards from literals that the store rewrote"
                )

    def unstable(self, terms: list[Term]) -> bool:
        """Check whether the store would rewrite one of these."""
        if any(as_stored(term) != term for term in terms):
            self.used = True
            return not self.portable
        return False

    def candidates(self, terms: list[Term], *, marked: bool) -> list[ox.NamedNode | ox.Literal]:
        """Return the terms as they can stand among values, marked or not.

        A literal that storing would change never stands among the values that are not marked.
        """
        named = [term for term in terms if isinstance(term, ox.NamedNode | ox.Literal)]
        if self.portable:
            self.used = self.used or any(as_stored(term) != term for term in named)
            return named
        if marked:
            return [t for t in map(mark, named) if isinstance(t, ox.NamedNode | ox.Literal)]
        stable = [term for term in named if as_stored(term) == term]
        self.used = self.used or len(stable) != len(named)
        return stable


def as_stored(term: Term) -> Term:
    """Return a term as the embedded store would keep it."""
    if not isinstance(term, ox.Literal) or mark(term) == term:
        return term
    return _through_store(term)


@lru_cache(maxsize=100_000)
def _through_store(term: ox.Literal) -> ox.Literal:
    probe = ox.Store()
    probe.add(ox.Quad(_PROBE, _PROBE, term))
    value = next(iter(probe)).object
    return value if isinstance(value, ox.Literal) else term


def bind_values(
    path: Path,
    focus: Fragment,
    value: Fragment,
    variables: Variables,
    exact: Exact,
    *,
    inside: bool = False,
    marked: bool | None = None,
    around: Fragment | None = None,
) -> Fragment:
    """Return the pattern that binds `value` to what `path` reaches from `focus`.

    `inside` says that it will stand inside an EXISTS. Literals are `marked` where the path concerns
    forms, and then all of them; False takes them as they are stored. `around` binds `focus` where
    that may be no node of the graph. Raises NotCompilableError.
    """
    if around is not None and path.may_be_empty:
        # A walk of no step does not find a node that the graph does not have.
        walk = bind_values(path, focus, value, variables, exact, inside=inside, marked=marked)
        itself = template(ROLE, "itself").fragment(focus=focus, value=value)
        both: list[ox.NamedNode | ox.Literal | Fragment] = [
            template(ROLE, "values-joined").fragment(before=around, values=values)
            for values in (walk, itself)
        ]
        return template(ROLE, "target-union").fragment(parts=both)
    exact.check_backwards(path)
    marked = exact.concerns(path) if marked is None else marked
    literals = path.may_be_empty or any(True for _ in path.last())
    if not marked or not literals:
        name = "values-inside" if inside and path.is_sequence else "values"
        return template(ROLE, name).fragment(focus=focus, path=Fragment(path.text), value=value)
    if path.iri is not None:
        return template(ROLE, "values-exact").fragment(
            focus=focus,
            predicate=path.iri,
            form=ox.NamedNode(FORM_PREFIX + path.iri.value),
            value=value,
            stored=variables.new(),
            any=variables.new(),
        )
    if path.kind == "|":
        parts: list[ox.NamedNode | ox.Literal | Fragment] = [
            bind_values(part, focus, value, variables, exact, inside=inside, marked=True)
            for part in path.parts
        ]
        return template(ROLE, "target-union").fragment(parts=parts)
    if path.kind == "/" and not path.parts[-1].may_be_empty and not inside:
        middle = variables.new()
        before = path.parts[0] if len(path.parts) == 2 else Path("/", parts=path.parts[:-1])  # noqa: PLR2004
        return template(ROLE, "values-joined").fragment(
            before=template(ROLE, "values").fragment(
                focus=focus, path=Fragment(before.text), value=middle
            ),
            values=bind_values(path.parts[-1], middle, value, variables, exact, marked=True),
        )
    raise NotCompilableError(
        f"literals at the end of the path {path.text} were rewritten by the store"
    )


def check_start(path: Path | None, *, marked: bool) -> None:
    """Raise NotCompilableError where a path starts at literals that may carry a mark."""
    if marked and path is not None and (path.may_be_empty or path.starts_backwards):
        raise NotCompilableError(
            f"the path {path.text} starts at literals that were rewritten by the store"
        )


def among(value: Fragment, terms: Sequence[ox.NamedNode | ox.Literal]) -> Fragment:
    """Return the condition under which a value is one of some terms."""
    if len(terms) <= _FEW:
        return template(ROLE, "among").fragment(value=value, given=list(terms))
    return _among(value, sorted(dict.fromkeys(terms), key=lambda term: term.value))


def _among(value: Fragment, terms: list[ox.NamedNode | ox.Literal]) -> Fragment:
    middle = terms[len(terms) // 2].value
    at = bisect_left(terms, middle, key=lambda term: term.value)
    if len(terms) <= _FEW or at == 0:
        # Terms of one text stay together, be they many.
        return template(ROLE, "among").fragment(value=value, given=list(terms))
    return template(ROLE, "among-halves").fragment(
        value=value,
        middle=ox.Literal(middle),
        below=_among(value, terms[:at]),
        above=_among(value, terms[at:]),
    )


def datatype_of(value: Fragment, *, marked: bool) -> Fragment:
    """Return the expression for the datatype of a value as it was written."""
    if marked:
        return template(ROLE, "exact-datatype").fragment(value=value)
    return Fragment(f"DATATYPE({value.text})")


def plain(value: Fragment, *, marked: bool, beyond: bool) -> Fragment:
    """Return the expression for a value that can be compared.

    `beyond` says that it may be a number that its type does not admit.
    """
    if not marked:
        return value
    number = Fragment(f"xsd:decimal(STR({value.text}))", {"xsd": XSD.iri})
    datatype = Fragment(f'IRI(STRAFTER(STR(DATATYPE({value.text})), "{FORM_PREFIX}"))')
    within = Fragment("true")
    if beyond:
        within = template(ROLE, "in-range").fragment(datatype=datatype, number=number)
    return template(ROLE, "exact-plain").fragment(value=value, within=within)
