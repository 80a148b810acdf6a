"""Queries of the shapes' author that look at the form of literals, made to see it.

The store has rewritten some literals ("05" became "5"); how they were written stands in the graph
of forms, with a mark before the datatype. Where a query cannot notice the difference, it runs as it
is. Else the triples that bind the variables concerned read the graph of forms, and the expressions
take the mark off. What cannot be done so raises NotCompilableError.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

import pyoxigraph as ox

from kgreason.base.templates import Fragment, template
from kgreason.base.terms import FORM_PREFIX, XSD
from kgreason.graph.forms import mark
from kgreason.shacl.components import ROLE
from kgreason.shacl.prebinding import AGGREGATES, Select, expanded_tokens
from kgreason.shacl.select_groups import Item, Triple, UnreadError, Use, read_group, read_modifiers
from kgreason.shacl.tokens import Token, spaced
from kgreason.shacl.values import NotCompilableError, as_stored, datatype_of, plain

_READS_FORM: Final = frozenset(
    {
        *("STR", "DATATYPE", "STRLEN", "REGEX", "CONTAINS", "STRSTARTS", "STRENDS", "SUBSTR"),
        *("REPLACE", "SAMETERM", "CONCAT", "STRBEFORE", "STRAFTER", "GROUP", *AGGREGATES),
    }
)
_GROUPS: Final = frozenset({"GROUP", "HAVING", *AGGREGATES})
_OPERATORS: Final = frozenset(
    {"=", "!=", "<", ">", "<=", ">=", "+", "-", "*", "/", "&&", "||", "!", "IN", "NOT"}
)
_NEUTRAL: Final = frozenset({"BOUND", "LANG", "ISLITERAL", "ISIRI", "ISURI", "ISBLANK", "COUNT"})
_OF_VALUE: Final = frozenset(
    {
        *("ABS", "CEIL", "FLOOR", "ROUND", "YEAR", "MONTH", "DAY", "HOURS", "MINUTES", "SECONDS"),
        *("TIMEZONE", "SUM", "AVG"),
        *(f"<{XSD.iri}{name}>" for name in ("integer", "decimal", "double", "float", "boolean")),
    }
)
_WALKS: Final = frozenset({"^", "*", "?", "!"})
_NUMBERS: Final = (
    (re.compile(r"[+-]?\d+"), XSD.integer),
    (re.compile(r"[+-]?\d*\.\d+"), XSD.decimal),
    (re.compile(r"[+-]?[\d.]+e[+-]?\d+"), XSD.double),
    (re.compile(r"true|false"), XSD.boolean),
)
_TYPED: Final = re.compile(r"""(["'])(?P<text>[^"'\\]*)\1\^\^<(?P<type>[^<>]+)>""")
_REASON: Final = "its query looks at the form of literals that the store has rewritten"


def as_written(
    query: Select,
    formed: frozenset[ox.NamedNode],
    *,
    path: str | None = None,
    focus_marked: bool = False,
    focus_literal: bool = True,
    gives_focus: bool = False,
    nested: bool = False,
    beyond: bool = False,
) -> Select:
    """Return a query that answers on the store as it would on the data as they were written.

    `formed` are the predicates with rewritten literals, `path` stands for $PATH. `focus_marked`
    says that $this may be a literal with a mark, `focus_literal` that it may be a literal at all;
    `gives_focus` that it is a target, which binds $this itself; `nested` that the query will stand
    inside an EXISTS, with $this bound outside; `beyond` that numbers may be none of their types.
    Gives the query itself where no form makes a difference; raises NotCompilableError.
    """
    if not formed and not focus_marked:
        return query
    try:
        parts = [
            read_modifiers(query.head),
            read_group(_with_path(query.body, path)),
            read_modifiers(query.tail),
        ]
    except UnreadError as error:
        named = {t.text[1:-1] for t in query.tokens if t.kind == "iri"}
        reads = any(t.word in _READS_FORM for t in query.tokens)
        if focus_marked or reads or any(p.value in named for p in formed):
            raise NotCompilableError(f"{_REASON}, in a way that is not known") from error
        return query
    forms = _Forms(
        parts,
        formed,
        focus_marked=focus_marked,
        focus_literal=focus_literal or gives_focus,
        gives_focus=gives_focus,
        nested=nested,
        beyond=beyond,
    )
    if not forms.marked and not forms.constants:
        return query
    head, body, tail = (tuple(forms.written(items)) for items in parts)
    return replace(query, head=head, body=body, tail=tail)


def _with_path(body: Sequence[Token], path: str | None) -> list[Token]:
    """Put the path of the shape for $PATH, as what is asked of it depends on the path."""
    if path is None:
        return list(body)
    whole = [Token("sign", "("), *expanded_tokens(path, {}), Token("sign", ")")]
    steps = whole[1:-1] if len(whole) == 3 else whole  # noqa: PLR2004 - brackets around one IRI
    return [made for t in body for made in (steps if t.name == "PATH" else [t])]


class _Forms:
    """Finds the variables whose form matters, and writes the query anew."""

    def __init__(
        self,
        parts: Sequence[Sequence[Item]],
        formed: frozenset[ox.NamedNode],
        *,
        focus_marked: bool,
        focus_literal: bool,
        gives_focus: bool,
        nested: bool,
        beyond: bool,
    ) -> None:
        self._prebound, self._nested, self._beyond = not gives_focus, nested, beyond
        self._formed = frozenset(str(predicate) for predicate in formed)
        self._head = parts[0]
        self._items = [item for part in parts for item in part]
        self._triples = [item for item in self._items if isinstance(item, Triple)]
        uses = [item for item in self._items if isinstance(item, Use)]
        self._counts = any(use.token.word in _GROUPS for use in uses)
        self._taken = {t.name for item in self._items for t in _tokens(item)}
        self._fresh = 0
        self.marked: set[str] = {"this"} if focus_marked else set()
        self.constants: set[Token] = set()
        for name in sorted({t.object.name for t in self._triples} - {""}):
            if name != "this":
                self._decide(name)
            elif not focus_marked and focus_literal and self._matters("this"):
                raise NotCompilableError(_REASON)
        self._constants()
        self._check()

    def _decide(self, name: str) -> None:
        """Mark a variable if it may be a rewritten literal and the query could tell."""
        if not self._matters(name):
            return
        places = [t for t in self._triples if t.object.name == name]
        uses = [self._use(part, i) for part, i in self._places_of(name)]
        shown = name == "value" and all(t.predicate for t in places)
        if len(places) > 1 or self._counts or shown or {"form", "other"} & set(uses):
            self.marked.add(name)

    def _matters(self, name: str) -> bool:
        """Check whether a variable may be a literal that was rewritten."""
        return any(
            self._reaches(t) and not self._is_node(name, t.groups)
            for t in self._triples
            if t.object.name == name
        )

    def _reaches(self, triple: Triple) -> bool:
        """Check whether the path of a triple may end at a rewritten literal."""
        signs = {token.text for token in triple.path}
        if triple.path[0].kind == "var" or "!" in signs:
            return True
        return bool(self._formed & signs)

    def _is_node(self, name: str, groups: tuple[int, ...]) -> bool:
        """Check whether a variable is a subject too, here or around, so that it is no literal."""
        return any(
            t.subject.name == name
            and t.groups == groups[: len(t.groups)]
            and bool(t.groups)
            and not _WALKS & {token.text for token in t.path}
            for t in self._triples
        )

    def _constants(self) -> None:
        for triple in self._triples:
            if triple.object.kind != "literal":
                continue
            literal = _literal(triple.object)
            if literal is None:
                if "^^" in triple.object.text:
                    raise NotCompilableError(_REASON)
            elif mark(literal) == literal:
                continue
            elif self._reaches(triple) or as_stored(literal) != literal:
                self.constants.add(triple.object)

    def _check(self) -> None:
        """Raise NotCompilableError where a marked variable stands in the way."""
        for name in self.marked:
            for part, i in self._places_of(name):
                if self._use(part, i) == "other":
                    raise NotCompilableError(_REASON)
        blank = any(t.kind == "blank" for item in self._items for t in _tokens(item))
        if (
            any(self._in_the_way(triple) for triple in self._triples)
            # A label of a blank node cannot stand on both sides of a new group.
            or (blank and (self.marked or self.constants))
            or any(self._is_exact(t) and self._bound_outside(t) is None for t in self._triples)
        ):
            raise NotCompilableError(_REASON)

    def _in_the_way(self, triple: Triple) -> bool:
        """Check whether a triple would have to be read as written and cannot be."""
        walks = _WALKS & {token.text for token in triple.path}
        if triple.predicate is None:
            concerned = self._is_exact(triple) or (self._counts and self._reaches(triple))
        else:
            concerned = False
        backwards = "^" in walks and self._reaches(triple)
        return concerned or backwards or bool(walks and triple.subject.name in self.marked)

    def _is_exact(self, triple: Triple) -> bool:
        return triple.object.name in self.marked or triple.object in self.constants

    def _bound_outside(self, triple: Triple) -> bool | None:
        """Check whether object of a triple is a variable bound outside its EXISTS, None if maybe.

        The pattern of an EXISTS is asked with what is bound outside put in. A BIND to such a
        variable would not compare with it but put another value in its place.
        """
        name = triple.object.name
        if name == "this" and self._prebound:
            return self._nested or bool(triple.tests)
        if not name or not any(self._sees(triple.tests, item, name) for item in self._items):
            return False
        around = [
            triple.groups[: triple.groups.index(n)] for n in triple.tests if n in triple.groups
        ]
        if any(name in _names(t) and t.groups in around for t in self._triples):
            return True
        return None

    def _sees(self, tests: tuple[int, ...], item: Item, name: str) -> bool:
        """Check whether an item outside an EXISTS that encloses it may bind a variable in it."""
        if isinstance(item, Token) or (isinstance(item, Use) and item.depth == 0):
            return False
        outside = len(item.tests) < len(tests) and item.tests == tests[: len(item.tests)]
        return outside and name in _names(item)

    def _places_of(self, name: str) -> Iterator[tuple[Sequence[Item], int]]:
        for i, item in enumerate(self._items):
            if isinstance(item, Use) and item.token.name == name:
                yield self._items, i

    def _use(self, items: Sequence[Item], index: int) -> str:
        """Return what an expression asks of a variable: its form, its value, neither, or other."""
        around = [_word(items, index + step) for step in (-3, -2, -1, 1)]
        use = items[index]
        if isinstance(use, Use) and use.depth == 0:
            return "neutral"  # projected, or a key of a group
        if around[2] == "DISTINCT" and around[:2] == ["COUNT", "("]:
            return "neutral"
        if around[2:] == ["(", ")"]:
            function = around[1]
            if function in {"STR", "DATATYPE"}:
                return "form"
            if function in _NEUTRAL:
                return "neutral"
            return "value" if function in _OF_VALUE else "other"
        return "value" if {around[2], around[3]} & _OPERATORS else "other"

    def written(self, items: Sequence[Item]) -> Iterator[Token]:
        """Write items as tokens again, those concerned in their new form."""
        start = next((i for i, item in enumerate(self._items) if items and item is items[0]), 0)
        skipped = 0
        for i, item in enumerate(items, start):
            if skipped:
                skipped -= 1
            elif isinstance(item, Triple):
                yield from self._triple(item)
            elif isinstance(item, Token):
                yield from spaced([item])
            elif item.token.word == "DATATYPE" and _name(self._items, i + 2) in self.marked:
                variable = Fragment(f"?{_name(self._items, i + 2)}")
                yield from _tokenized(datatype_of(variable, marked=True))
                skipped = 3  # the brackets and the variable
            elif item.token.name in self.marked and self._use(self._items, i) == "value":
                variable = Fragment(item.token.text)
                yield from _tokenized(plain(variable, marked=True, beyond=self._beyond))
            else:
                yield from spaced([item.token]) if item.blank else [item.token]

    def _triple(self, triple: Triple) -> Iterator[Token]:
        predicate = triple.predicate
        if predicate is None or not self._is_exact(triple):
            yield from spaced([triple.subject, *triple.path, triple.object, Token("sign", ".")])
            return
        iri = predicate.text[1:-1]
        constant = triple.object.kind == "literal"
        compared = constant or bool(self._bound_outside(triple))
        value = self._new() if compared else Fragment(triple.object.text)
        made = template(ROLE, "values-exact").fragment(
            focus=Fragment(triple.subject.text),
            predicate=ox.NamedNode(iri),
            form=ox.NamedNode(FORM_PREFIX + iri),
            value=value,
            stored=self._new(),
            any=self._new(),
        )
        if not compared:
            yield from _tokenized(made)
            return
        literal = _literal(triple.object)
        other = mark(literal) if literal else triple.object.text
        yield Token("sign", " { ")
        yield from _tokenized(made)
        yield from _tokenized(Fragment(f"FILTER (sameTerm({value.text}, {other}))"))
        yield Token("sign", " } ")

    def _new(self) -> Fragment:
        while True:
            self._fresh += 1
            name = f"form{self._fresh}"
            if name not in self._taken:
                return Fragment(f"?{name}")


def _tokens(item: Item) -> tuple[Token, ...]:
    if isinstance(item, Triple):
        return (item.subject, *item.path, item.object)
    return (item.token if isinstance(item, Use) else item,)


def _names(item: Triple | Use) -> set[str]:
    return {token.name for token in _tokens(item)} - {""}


def _word(items: Sequence[Item], index: int) -> str:
    """Return the keyword, sign or IRI of an expression at a place, or nothing."""
    if not 0 <= index < len(items):
        return ""
    item = items[index]
    if not isinstance(item, Use):
        return ""
    return item.token.word or (item.token.text if item.token.kind == "iri" else "")


def _name(items: Sequence[Item], index: int) -> str:
    item = items[index] if index < len(items) else None
    return item.token.name if isinstance(item, Use) else ""


def _tokenized(fragment: Fragment) -> list[Token]:
    return [Token("space", " "), *expanded_tokens(fragment.text, fragment.prefixes)]


def _literal(token: Token) -> ox.Literal | None:
    """Return a number, a boolean or a literal with a datatype; None for all is not so plain."""
    for form, datatype in _NUMBERS:
        if form.fullmatch(token.text):
            return ox.Literal(token.text, datatype=datatype)
    typed = _TYPED.fullmatch(token.text)
    if typed is None:
        return None
    return ox.Literal(typed["text"], datatype=ox.NamedNode(typed["type"]))
