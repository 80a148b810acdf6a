"""The group of a SELECT taken apart: triples one by one, and the tokens of its expressions.

Only as much of SPARQL as the analysis of literal forms needs; what it does not know raises
UnreadError, and the query is then treated with caution.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from kgreason.base.terms import TYPE
from kgreason.shacl.tokens import Token, Tokens

_ODD_WORDS: Final = frozenset({"MINUS", "VALUES", "GRAPH", "SERVICE"})
_JOINING: Final = frozenset({"OPTIONAL", "UNION"})
_AFTER: Final = frozenset({"*", "+", "?"})
_TYPE: Final = Token("iri", str(TYPE))


class UnreadError(Exception):
    """A text with something that is not taken apart here."""


@dataclass(frozen=True)
class Triple:
    """One triple pattern; `path` and `object` may be several tokens.

    `groups` are the numbers of the groups it stands in, the innermost last, from the nearest
    sub-select on, whose variables may be its own; `tests` those of the EXISTS among them, and
    around that sub-select.
    """

    subject: Token
    path: tuple[Token, ...]
    object: Token
    groups: tuple[int, ...]
    tests: tuple[int, ...] = ()

    @property
    def predicate(self) -> Token | None:
        """The predicate where the path is one IRI."""
        only = self.path[0]
        return only if len(self.path) == 1 and only.kind == "iri" else None


@dataclass(frozen=True)
class Use:
    """A token of an expression or a modifier; `depth` counts the brackets around it.

    `blank` says whether a blank stood before it: the store's parser does not take one everywhere.
    `tests` are the numbers of the EXISTS it stands in.
    """

    token: Token
    depth: int
    blank: bool = True
    tests: tuple[int, ...] = ()


Item = Token | Triple | Use


def read_group(body: Tokens) -> list[Item]:
    """Take the inside of a WHERE group apart; raises UnreadError."""
    reader = _Reader(body)
    items = list(reader.group((0,)))
    if not reader.at_end:
        raise UnreadError("}")
    return items


def read_modifiers(tokens: Tokens) -> list[Item]:
    """Take apart what stands before or after the WHERE group; raises UnreadError."""
    reader = _Reader(tokens)
    items = list(reader.modifiers())
    if not reader.at_end:
        raise UnreadError("{")
    return items


class _Reader:
    def __init__(self, tokens: Tokens) -> None:
        self._tokens = [t for t in tokens if t.kind != "space"]
        after = zip(tokens, [Token("space", ""), *tokens], strict=False)
        self._blanks = [last.kind == "space" for token, last in after if token.kind != "space"]
        self._at = 0
        self._groups = 0
        self._tests: tuple[int, ...] = ()

    @property
    def at_end(self) -> bool:
        return self._at >= len(self._tokens)

    def _peek(self) -> Token:
        return Token("end", "") if self.at_end else self._tokens[self._at]

    def _next(self) -> Token:
        token = self._peek()
        self._at += 1
        return token

    def _use(self, depth: int) -> Use:
        blank = not self.at_end and self._blanks[self._at]
        return Use(self._next(), depth, blank, self._tests)

    def _expect(self, text: str) -> Token:
        token = self._next()
        if token.text != text:
            raise UnreadError(token.text)
        return token

    def group(self, inside: tuple[int, ...]) -> Iterator[Item]:
        """Read up to the brace that closes the group."""
        if self._peek().word == "SELECT":
            yield from self.modifiers()
            if self._peek().text != "{":
                raise UnreadError(self._peek().text)
            yield from self._braces(())
            yield from self.modifiers()
            return
        while not self.at_end and self._peek().text != "}":
            token = self._peek()
            if token.text == ".":
                self._next()  # every triple is written with a full stop of its own
            elif token.text == "{":
                yield from self._braces(inside)
            elif token.word in _JOINING:
                yield self._next()
            elif token.word in {"FILTER", "BIND"}:
                yield self._next()
                yield from self._constraint(inside)
            elif token.word in _ODD_WORDS:
                raise UnreadError(token.text)
            else:
                yield from self._triples(inside)

    def _braces(self, inside: tuple[int, ...], *, test: bool = False) -> Iterator[Item]:
        yield self._expect("{")
        self._groups += 1
        around = self._tests
        if test:
            self._tests = (*around, self._groups)
        yield from self.group((*inside, self._groups))
        self._tests = around
        yield self._expect("}")

    def _constraint(self, inside: tuple[int, ...]) -> Iterator[Item]:
        while self._peek().text != "(":
            token = self._peek()
            if token.kind not in {"word", "iri"}:
                raise UnreadError(token.text)
            if token.word == "EXISTS":
                yield self._next()
                yield from self._braces(inside, test=True)
                return
            yield self._next() if token.word == "NOT" else self._use(0)
        yield from self._brackets(inside, 0)

    def _brackets(self, inside: tuple[int, ...], depth: int) -> Iterator[Item]:
        yield self._use(depth)
        while self._peek().text != ")":
            token = self._peek()
            if token.text == "(":
                yield from self._brackets(inside, depth + 1)
            elif token.word == "EXISTS":
                yield self._next()
                yield from self._braces(inside, test=True)
            elif self.at_end or token.text in {"{", "}"}:
                raise UnreadError(token.text)
            else:
                yield self._use(depth + 1)
        yield self._use(depth)

    def modifiers(self) -> Iterator[Item]:
        """Read the head or the tail of a SELECT."""
        while not self.at_end and self._peek().text not in {"{", "}"}:
            if self._peek().text == "(":
                yield from self._brackets((), 0)
            else:
                yield self._use(0)

    def _triples(self, inside: tuple[int, ...]) -> Iterator[Triple]:
        subject = self._next()
        if subject.kind not in {"var", "iri", "blank"}:
            raise UnreadError(subject.text)
        while True:
            path = tuple(self._path())
            while True:
                yield Triple(subject, path, self._object(), inside, self._tests)
                if self._peek().text != ",":
                    break
                self._next()
            if self._peek().text != ";":
                return
            while self._peek().text == ";":
                self._next()
            if self._peek().text in {".", "}", ""}:
                return

    def _object(self) -> Token:
        token = self._next()
        if token.kind in {"var", "iri", "blank"}:
            return token
        if token.text in {"+", "-"} and self._peek().kind == "number":
            return Token("literal", token.text + self._next().text)
        if token.kind == "number" or token.word in {"TRUE", "FALSE"}:
            return Token("literal", token.text.lower())
        if token.kind != "string":
            raise UnreadError(token.text)
        if self._peek().kind == "lang":
            return Token("literal", token.text + self._next().text)
        if self._peek().text == "^^":
            return Token("literal", token.text + self._next().text + self._next().text)
        return Token("literal", token.text)

    def _path(self) -> Iterator[Token]:
        if self._peek().kind == "var":
            yield self._next()
            return
        while True:
            yield from self._step()
            if self._peek().text not in {"/", "|"}:
                return
            yield self._next()

    def _step(self) -> Iterator[Token]:
        while self._peek().text in {"^", "!"}:
            yield self._next()
        token = self._next()
        if token.text == "(":
            yield token
            while self._peek().text != ")":
                yield from self._step()
                if self._peek().text in {"/", "|"}:
                    yield self._next()
            yield self._next()
        elif token.text == "a":
            yield _TYPE
        elif token.kind == "iri":
            yield token
        else:
            raise UnreadError(token.text)
        if self._peek().text in _AFTER and self._peek().kind == "sign":
            yield self._next()
