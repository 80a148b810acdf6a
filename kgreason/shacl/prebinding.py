"""Queries of the shapes' author (sh:select), made to run once for all focus nodes.

SHACL binds `$this` before it runs such a query for each focus node. Here the target is put in front
of the WHERE instead, and again into each inner group that looks at `$this` in a FILTER or BIND,
since an inner group does not see what is bound outside. What that cannot express goes to pySHACL.
"""

import itertools
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import pyoxigraph as ox

from kgreason.base.errors import QueryError
from kgreason.base.store import Term, check_query
from kgreason.base.templates import Fragment
from kgreason.base.terms import OWL, PREFIXES, SH, XSD
from kgreason.shacl.exists_joins import Pieces, set_apart
from kgreason.shacl.paths import IllFormedError
from kgreason.shacl.shapes import Node, Shapes
from kgreason.shacl.tokens import Token, Tokens, closing, direct, spaced, text_of, tokenize
from kgreason.shacl.values import NotCompilableError, Variables

_DEFAULTS: Final = {**PREFIXES, "dcterms": PREFIXES["dct"]}
AGGREGATES: Final = frozenset({"COUNT", "SUM", "MIN", "MAX", "AVG", "SAMPLE", "GROUP_CONCAT"})
_COUNTING: Final = AGGREGATES | {"GROUP"}
_AFTER_HAVING: Final = frozenset({"ORDER", "LIMIT", "OFFSET", "VALUES"})
_FORBIDDEN: Final = ("SERVICE", "MINUS", "VALUES")
_NAMES_OF_SHACL: Final = frozenset({"this", "currentShape", "shapesGraph"})


@dataclass(frozen=True)
class Select:
    """A SELECT in three parts: what stands before its WHERE group, in it, and after it."""

    head: tuple[Token, ...]
    body: tuple[Token, ...]
    tail: tuple[Token, ...]
    bindings: Mapping[str, Term] = field(default_factory=dict)

    @property
    def tokens(self) -> tuple[Token, ...]:
        """All its tokens."""
        return (*self.head, *self.body, *self.tail)

    @property
    def projected(self) -> list[str]:
        """The names of the variables it gives; ["*"] for all."""
        return _projected(self.head)

    @property
    def aggregates(self) -> bool:
        """Whether it forms groups."""
        words = {t.word for t in (*self.head, *self.tail)}
        return bool(words & AGGREGATES) or bool({"GROUP", "HAVING"} & {t.word for t in self.tail})

    @property
    def early(self) -> list[str]:
        """The variables that HAVING names, and that SELECT gives a value only after it."""
        given = {
            t.name for n, t in enumerate(self.head) if t.name and _before(self.head, n) == "AS"
        }
        words = [t.word for t in self.tail]
        if "HAVING" not in words:
            return []
        after = self.tail[words.index("HAVING") :]
        end = next((n for n, t in enumerate(after) if t.word in _AFTER_HAVING), len(after))
        return sorted({t.name for t in after[:end]} & given)

    def as_target(self, focus: Fragment) -> Fragment:
        """Return the pattern that binds `focus` to what it selects as ?this."""
        if self.projected != ["*"] and "this" not in self.projected:
            raise IllFormedError("the SELECT of sh:target does not give ?this")
        names = _Names(focus.text, Variables(f"{focus.text[1:]}_t"), None, None, self.bindings)
        head, body, tail = (
            "".join(names(t) for t in part) for part in (self.head, self.body, self.tail)
        )
        inner = f"SELECT {head} WHERE {{ {body} }} {tail}"
        return Fragment(f"{{ SELECT DISTINCT {focus.text} WHERE {{ {{ {inner} }} }} }}")

    def as_violation(
        self,
        focus: Fragment,
        target: tuple[Fragment, Fragment] | None,
        variables: Variables,
        path: str | None,
        shape: Node,
    ) -> Fragment:
        """Return a SELECT of `focus`, and of ?given and ?path where the author binds them.

        `target` is the pattern of the target, as it is and with each node once; without it `focus`
        is bound outside (in an EXISTS). What `refuse` refuses must not come here. Raises
        NotCompilableError or IllFormedError.
        """
        if target is None and (self.aggregates or _needs_target(self.body)):
            raise NotCompilableError("its query forms groups inside another shape")
        names = _Names(focus.text, variables, path, shape, self.bindings)
        if target is not None:
            names.made |= {"value": "?given", "path": "?path"}
        # A group that counts, this one or one inside, must have each node once.
        counts = self.aggregates or bool(_COUNTING & {t.word for t in self.body})
        pattern = "" if target is None else target[1 if counts else 0].text
        kept, apart = (self.body, []) if target is None else set_apart(self.body, pattern)
        body = "".join(
            t if isinstance(t, str) else names(t) for t in (*_spread(kept, pattern), *apart)
        )
        head = "".join(names(t) for t in self._head())
        tail = "".join(names(t) for t in self._tail())
        prefixes = {} if target is None else target[0].prefixes
        return Fragment(f"{head} WHERE {{ {pattern} {body} }} {tail}", prefixes)

    def as_query(self, path: str | None) -> str:
        """Return the query by itself as a SELECT of ?this, `path` in place of $PATH."""
        of_path = {"PATH": path} if path else {}
        named = of_path | {name: str(term) for name, term in self.bindings.items()}
        body, tail = (
            "".join(named.get(t.name, "?this" if t.name == "this" else t.text) for t in part)
            for part in (self.body, self.tail)
        )
        return f"SELECT ?this WHERE {{ {body} }} {tail}"

    def refuse(self) -> None:
        """Raise IllFormedError or NotCompilableError for words that cannot stand in it."""
        words = {token.word for token in self.tokens}
        for word in _FORBIDDEN:
            if word in words:
                raise IllFormedError(f"its query uses {word}, which SHACL does not allow")
        tokens = [t for t in self.tokens if t.kind != "space"]
        for before, token in itertools.pairwise(tokens):
            if before.word == "AS" and token.name in _NAMES_OF_SHACL:
                raise IllFormedError(f"its query binds {token.text} anew")
        if "GRAPH" in words:
            raise NotCompilableError("its query asks for a named graph")
        if {"LIMIT", "OFFSET"} & words:
            raise NotCompilableError("its query has a LIMIT or OFFSET for each node")
        if any(_orders_truths(tokens[at : at + 5]) for at in range(len(tokens))):
            raise NotCompilableError(
                "its query asks which boolean is less, which the store does not"
            )
        if self.aggregates and "GROUP" not in words:
            raise NotCompilableError("its query counts without GROUP BY, for each node")

    def _head(self) -> list[Token]:
        """Return SELECT and what it projects: the focus node, value, path, and all expressions."""
        kept = [Token("word", "SELECT"), Token("space", " "), Token("word", "DISTINCT")]
        this = Token("var", "?this")
        if self.projected == ["*"]:
            names = {t.name for t in self.body} & {"value", "path"}
            kept += spaced([this, *(Token("var", f"?{name}") for name in sorted(names))])
            return kept
        plain = {"value", "path"} & set(self.projected)
        kept += spaced([this])
        depth = 0
        for token in self.head:
            depth += {"(": 1, ")": -1}.get(token.text, 0)
            if depth or token.text == ")":
                kept += spaced([token]) if token.text == "(" and depth == 1 else [token]
            elif token.name in plain or (self.aggregates and token.name not in {"", "this"}):
                kept += spaced([token])
        return kept

    def _tail(self) -> list[Token]:
        """Return the modifiers, with the focus node among the keys of GROUP BY."""
        words = [t.word for t in self.tail]
        if "GROUP" not in words:
            return list(self.tail)
        by = words.index("BY", words.index("GROUP"))
        return [*self.tail[: by + 1], *spaced([Token("var", "?this")]), *self.tail[by + 1 :]]


_ORDERS: Final = frozenset({"<", ">", "<=", ">="})


def _orders_truths(tokens: Tokens) -> bool:
    """Check whether some tokens begin with a boolean and a sign of order, or the reverse."""
    signs = [at for at, token in enumerate(tokens) if token.text in _ORDERS]
    if not signs:
        return False
    words = [token.word for token in tokens]
    texts = [token.text for token in tokens]
    typed = [at for at, t in enumerate(texts) if t == str(XSD.boolean) and texts[at - 1] == "^^"]
    # A boolean is one token, or three: a string, ^^ and the datatype.
    length = 3 if typed in ([2], [3]) else 1
    before = signs[0] == length and (typed == [2] or words[0] in _TRUTHS)
    behind = signs[0] == 0 and (typed == [3] or bool(_TRUTHS & set(words[1:2])))
    return before or behind


_TRUTHS: Final = frozenset({"TRUE", "FALSE"})


class _Names:
    """Writes tokens with the variables of a query renamed."""

    def __init__(
        self,
        focus: str,
        variables: Variables,
        path: str | None,
        shape: Node | None,
        bindings: Mapping[str, Term],
    ) -> None:
        self.made = {"this": focus}
        self._variables, self._path, self._shape = variables, path, shape
        self._bindings = bindings

    def __call__(self, token: Token) -> str:
        name = token.name
        if not name:
            return token.text
        if name in self._bindings:
            return str(self._bindings[name])
        if name == "PATH":
            if self._path is None:
                raise IllFormedError("its query uses $PATH on a shape without sh:path")
            return self._path
        if name == "shapesGraph":
            raise NotCompilableError("its query asks for $shapesGraph")
        if name == "currentShape":
            if not isinstance(self._shape, ox.NamedNode):
                raise NotCompilableError("its query asks for $currentShape, which has no name")
            return str(self._shape)
        if name not in self.made:
            self.made[name] = self._variables.new().text
        return self.made[name]


def _before(tokens: Tokens, place: int) -> str:
    """Return the keyword or sign that stands before a token."""
    return next((t.word for t in reversed(tokens[:place]) if t.kind != "space"), "")


def _projected(head: Tokens) -> list[str]:
    depth, names, last = 0, [], ""
    for token in head:
        depth += {"(": 1, ")": -1}.get(token.text, 0)
        if token.name and (depth == 0 or last == "AS"):
            names.append(token.name)
        if token.text == "*" and depth == 0:
            return ["*"]
        if token.kind != "space":
            last = token.word
    return names


def _cut(tokens: Tokens) -> Select:
    """Cut a SELECT into head, body and tail."""
    depth = 0
    for index, token in enumerate(tokens):
        depth += {"(": 1, ")": -1}.get(token.text, 0)
        if depth == 0 and token.text == "{":
            end = closing(tokens, index)
            head = [t for t in tokens[:index] if t.word != "WHERE"]
            return Select(tuple(head), tuple(tokens[index + 1 : end]), tuple(tokens[end + 1 :]))
    raise IllFormedError("its query has no WHERE group")


def _looks(group: Tokens, words: frozenset[str]) -> bool:
    """Check whether a FILTER or BIND of the group may look at ?this."""
    here = {t.word for t in direct(group)}
    return bool(here & words) and any(t.name == "this" for t in group)


_FILTERS: Final = frozenset({"FILTER", "BIND"})
_BINDS: Final = frozenset({"BIND"})


def _needs_target(body: Tokens) -> bool:
    return any(isinstance(piece, str) for piece in _spread(body, "{}"))


def _spread(body: Tokens, pattern: str) -> Pieces:
    """Put the target pattern into each inner group that needs it."""
    out: Pieces = []
    index = 0
    while index < len(body):
        token = body[index]
        out.append(token)
        if token.text == "{" and token.kind == "sign":
            end = closing(body, index)
            before = [t.word for t in body[:index] if t.kind != "space"][-1:]
            out += _inner(body[index + 1 : end], before[0] if before else "", pattern)
            out.append(body[end])
            index = end
        index += 1
    return out


def _inner(group: Tokens, before: str, pattern: str) -> Pieces:
    if before == "EXISTS":
        # The pattern of an EXISTS sees what is bound outside, at any depth.
        return list(group)
    first = next((t.word for t in group if t.kind != "space"), "")
    if first == "SELECT":
        inner = _cut(group)
        if "this" not in inner.projected:
            raise IllFormedError("an inner SELECT of its query does not project $this")
        if inner.aggregates and "this" not in {t.name for t in inner.tail}:
            raise NotCompilableError("an inner SELECT of its query does not group by $this")
        mine = [f" {pattern} "] if _looks(inner.body, _FILTERS) else []
        where, end = Token("sign", " WHERE { "), Token("sign", "}")
        return [*inner.head, where, *mine, *_spread(inner.body, pattern), end, *inner.tail]
    needed = _looks(group, _BINDS if before == "OPTIONAL" else _FILTERS)
    return [*([f" {pattern} "] if needed else []), *_spread(group, pattern)]


def read_select(shapes: Shapes, node: Node, bindings: Mapping[str, Term]) -> Select:
    """Read the sh:select of a node, all names as full IRIs; raises IllFormedError."""
    text = shapes.objects(node, SH.select)[0]
    if not isinstance(text, ox.Literal):
        raise IllFormedError("sh:select is no string")
    tokens, own = _prologue(tokenize(text.value))
    # Like pySHACL, take the prefixes of the file for those that nothing declares.
    prefixes = {**_DEFAULTS, **shapes.prefixes, **declared(shapes, node), **own}
    expanded = [_expand(token, prefixes) for token in tokens]
    first = next((t.word for t in expanded if t.kind != "space"), "")
    if first != "SELECT":
        raise IllFormedError("sh:select is no SELECT query")
    cut = _cut(expanded)
    after = next(i for i, t in enumerate(cut.head) if t.word == "SELECT") + 1
    head = [t for t in cut.head[after:] if t.word not in {"DISTINCT", "REDUCED"}]
    made = Select(tuple(head), cut.body, cut.tail, dict(bindings))
    _parses(made)
    return made


def _parses(select: Select) -> None:
    """Raise IllFormedError where the text is no valid SPARQL."""
    body = "".join(
        "<urn:x-kgreason:work:path>" if t.name == "PATH" else t.text for t in select.body
    )
    text = f"SELECT {text_of(select.head)} WHERE {{ {body} }} {text_of(select.tail)}"
    if "SERVICE" in {token.word for token in select.tokens}:
        return  # it is refused by name; to parse it here would call it
    try:
        check_query(text, "its query")
    except QueryError as error:
        what = str(error).removeprefix("its query: the query ").rstrip(".")
        raise IllFormedError(f"its query {what}") from error


def _prologue(tokens: list[Token]) -> tuple[list[Token], dict[str, str]]:
    own: dict[str, str] = {}
    rest = [t for t in tokens if t.kind != "space"]
    index = 0
    while index + 2 < len(rest) and rest[index].word == "PREFIX":
        own[rest[index + 1].text.rstrip(":")] = rest[index + 2].text[1:-1]
        index += 3
    if index < len(rest) and rest[index].word == "BASE":
        raise IllFormedError("its query has a BASE; write full IRIs")
    skipped = 0
    while skipped < len(tokens) and index:
        index -= tokens[skipped].kind != "space"
        skipped += 1
    return tokens[skipped:], own


def _expand(token: Token, prefixes: Mapping[str, str]) -> Token:
    if token.kind != "pname":
        return token
    prefix, _, name = token.text.partition(":")
    if prefix not in prefixes:
        raise IllFormedError(f"its query uses the prefix {prefix}:, which nothing declares")
    local = re.sub(r"\\(.)", r"\1", name)
    return Token("iri", f"<{prefixes[prefix]}{local}>")


def expanded(text: str) -> str:
    """Return a user's SELECT with full IRIs and no prologue, fit to stand in another query.

    Raises IllFormedError for what cannot stand there.
    """
    tokens, own = _prologue(tokenize(text))
    if "FROM" in {token.word for token in tokens}:
        raise IllFormedError("the query has a FROM; the graph is what was loaded")
    return text_of([_expand(token, own) for token in tokens])


def expanded_tokens(text: str, prefixes: Mapping[str, str]) -> list[Token]:
    """Return the tokens of a piece of ours with all names as full IRIs; raises IllFormedError."""
    return [_expand(token, prefixes) for token in tokenize(text)]


def declared(shapes: Shapes, node: Node) -> dict[str, str]:
    """Return prefixes of a query: its own by sh:prefixes, then those of any other sh:declare."""
    everywhere = shapes.subjects(SH.declare)
    own: dict[Node, None] = {}
    waiting = list(shapes.nodes(node, SH.prefixes))
    while waiting:
        holder = waiting.pop()
        if holder not in own:
            own[holder] = None
            waiting += shapes.nodes(holder, OWL.imports)
    found: dict[str, str] = {}
    for holder in (*own, *everywhere):
        for declaration in shapes.nodes(holder, SH.declare):
            prefix, namespace = (
                shapes.one(declaration, SH.prefix),
                shapes.one(declaration, SH.namespace),
            )
            if isinstance(prefix, ox.Literal) and namespace is not None:
                found.setdefault(prefix.value, getattr(namespace, "value", ""))
    return found
