"""A pattern over merged data, written anew for data of which each triple is in any graph.

What kgreason asks of its merged copy, others ask of a store that holds the data in named graphs, in
the default graph, or partly so. `Anywhere` puts each triple of a pattern into
`{ … } UNION { GRAPH ?any { … } }`, and takes property paths apart for that.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import Final

import pyoxigraph as ox

from kgreason.base.templates import Fragment
from kgreason.shacl.tokens import Token, closing, text_of, tokenize

Closure = Callable[[str], Sequence[str]]
"""Returns the terms, as text, that a SELECT of ?end with one triple pattern finds in the data."""

_MOST: Final = 1_000  # terms that a walk of any length is written out as
_TERMS: Final = frozenset({"iri", "pname", "var", "blank", "string", "number"})
_WORDS: Final = frozenset({"OPTIONAL", "MINUS", "UNION"})
_AGGREGATES: Final = frozenset(
    {"COUNT", "SUM", "AVG", "MIN", "MAX", "SAMPLE", "GROUP_CONCAT", "LIMIT", "OFFSET"}
)


class UnspreadableError(Exception):
    """A pattern that only merged data can answer, and why."""


def flat(pattern: Fragment) -> Fragment:
    """Take off each GRAPH that says no more than that a triple is in some graph.

    One whose variable stands anywhere else says which, and stays.
    """
    return Fragment(text_of(list(_without_graphs(tokenize(pattern.text)))), pattern.prefixes)


def _without_graphs(
    tokens: Sequence[Token], times: Mapping[str, int] | None = None
) -> Iterator[Token]:
    """Return the tokens of one scope; a SELECT within it has variables of its own."""
    times = _times(tokens) if times is None else times
    index = 0
    while index < len(tokens):
        after = [i for i in range(index + 1, len(tokens)) if tokens[i].kind != "space"][:2]
        if (end := _end_of_select(tokens, index)) is not None:
            yield tokens[index]
            yield from _without_graphs(tokens[index + 1 : end])
            index = end
            yield tokens[index]
        elif tokens[index].word == "GRAPH" and times.get(tokens[after[0]].name) == 1:
            end = closing(tokens, after[1])
            inner = text_of(tokens[after[1] + 1 : end]).strip()
            yield from _without_graphs(tokenize(inner), times)
            index = end
        else:
            yield tokens[index]
        index += 1


def _times(tokens: Sequence[Token]) -> dict[str, int]:
    """Count each variable of a scope: of a SELECT within it, those that it gives."""
    times: dict[str, int] = {}
    index = 0
    while index < len(tokens):
        times[tokens[index].name] = times.get(tokens[index].name, 0) + 1
        end = _end_of_select(tokens, index)
        if end is not None:
            given = next(i for i in range(index + 1, end) if tokens[i].text == "{")
            for token in tokens[index + 1 : given]:
                times[token.name] = times.get(token.name, 0) + 1
            index = end
        index += 1
    return times


def _end_of_select(tokens: Sequence[Token], index: int) -> int | None:
    """Return where a brace closes that opens a SELECT with a list of variables, else None."""
    if tokens[index].text != "{":
        return None
    inner = (token for token in tokens[index + 1 :] if token.kind != "space")
    head = list(takewhile(lambda token: token.text != "{", inner))
    if not head or head[0].word != "SELECT" or any(token.text == "*" for token in head):
        return None
    return closing(tokens, index)


def names_sources(pattern: Fragment) -> bool:
    """Check whether a pattern, made flat, is about the graphs that triples are in."""
    return any(token.word == "GRAPH" for token in tokenize(pattern.text))


def mentions(pattern: Fragment, terms: Mapping[str, str]) -> bool:
    """Check whether one of some IRIs stands in a pattern."""
    found = (t.text[1:-1] for t in tokenize(pattern.text) if t.kind == "iri")
    return bool(terms) and any(iri in terms for iri in found)


@dataclass
class Anywhere:
    """Writes patterns anew; `taken` are the variables that may not be used.

    `mended` are IRIs that stand otherwise in the files, each with how. Without `graphs` nothing is
    changed but those.
    """

    closure: Closure
    mended: Mapping[str, str] = field(default_factory=dict)
    taken: set[str] = field(default_factory=set)
    graphs: bool = True

    def over(self, pattern: Fragment) -> Fragment:
        """Return a pattern anew; raises UnspreadableError."""
        tokens = tokenize(pattern.text)
        self.taken |= {token.name for token in tokens}
        writer = _Writer(self, [Token("sign", "{"), *tokens, Token("sign", "}")], pattern.prefixes)
        return Fragment(writer.body(), pattern.prefixes)

    def new(self, stem: str) -> str:
        """Return a variable that no one else uses."""
        number = 1
        while f"{stem}{number}" in self.taken:
            number += 1
        self.taken.add(f"{stem}{number}")
        return f"?{stem}{number}"


@dataclass(frozen=True)
class _Path:
    """A step of a path: `kind` is "step" (with its text), or as in `kgreason.symptoms.Path`."""

    kind: str
    text: str
    parts: tuple["_Path", ...] = ()


class _Writer:
    """Reads the tokens of one pattern and writes it anew, in braces."""

    def __init__(
        self, given: Anywhere, tokens: Sequence[Token], prefixes: Mapping[str, str]
    ) -> None:
        self._given, self._tokens, self._at = given, tokens, 0
        self._head = "".join(f"PREFIX {p}: <{iri}>\n" for p, iri in prefixes.items())
        self._out: list[str] = []
        self._blanks: dict[str, str] = {}
        self._exists = 0
        self._counted = any(t.word in _AGGREGATES for t in tokens)

    def body(self) -> str:
        """Return the whole without its braces."""
        self._group()
        lines = "".join(self._out).strip()[1:-1].splitlines()
        return "\n".join(line.rstrip() for line in lines if line.strip())

    # --- tokens -------------------------------------------------------------------------

    def _peek(self) -> Token:
        while self._tokens[self._at].kind == "space":
            self._out.append(self._tokens[self._at].text)
            self._at += 1
        return self._tokens[self._at]

    def _take(self) -> Token:
        while self._tokens[self._at].kind == "space":
            self._at += 1
        self._at += 1
        return self._tokens[self._at - 1]

    def _next(self) -> Token:
        """Return the next token and stay before it; blanks are passed over in silence."""
        index = self._at
        while self._tokens[index].kind == "space":
            index += 1
        return self._tokens[index]

    def _pass(self) -> Token:
        token = self._peek()
        self._out.append(token.text)
        self._at += 1
        return token

    # --- groups -------------------------------------------------------------------------

    def _group(self) -> None:
        self._pass()
        if self._peek().word == "SELECT":
            while self._peek().text != "{":
                self._pass_expression() if self._peek().text == "(" else self._pass()
            self._group()
            self._modifiers()
        while self._peek().text != "}":
            self._element()
        self._pass()

    def _modifiers(self) -> None:
        """Pass on what stands after the group of a SELECT."""
        while (token := self._peek()).text != "}":
            if token.word == "VALUES":
                self._element()
            elif token.text == "(":
                self._pass_expression()
            else:
                self._pass()

    def _element(self) -> None:
        token = self._peek()
        if token.text == "{":
            self._group()
        elif token.word in _WORDS:
            self._pass()
        elif token.word == "GRAPH":
            self._graph()
        elif token.word in {"FILTER", "BIND"}:
            self._pass()
            self._filter()
        elif token.word == "VALUES":
            while self._pass().text != "}":
                pass
        elif token.text == ".":
            self._take()
        elif token.word == "SERVICE":
            raise UnspreadableError("it calls another service")
        else:
            self._triples()

    def _graph(self) -> None:
        self._pass()
        graph = self._peek()
        known = self._given.mended.get(graph.text[1:-1]) if graph.kind == "iri" else None
        if known is not None:
            self._take()
            name, condition = self._otherwise(graph.text)
            self._out.append(name)
        else:
            self._pass()
        self._peek()
        end = closing(self._tokens, self._at)
        self._out.append(text_of(self._tokens[self._at : end + 1]))
        self._at = end + 1
        if known is not None:
            self._out.append(condition)

    def _filter(self) -> None:
        while self._peek().word in {"NOT", "EXISTS"}:
            self._pass()
        if self._peek().text == "{":
            self._inside_exists()
            return
        while self._peek().text != "(":
            self._pass()
        self._pass_expression()

    def _pass_expression(self) -> None:
        """Pass a piece in parentheses on; what an EXISTS in it asks for is written anew."""
        depth = 0
        while True:
            token = self._pass()
            depth += {"(": 1, ")": -1}.get(token.text, 0)
            if token.word == "EXISTS":
                self._peek()
                self._inside_exists()
            if depth == 0:
                return

    def _inside_exists(self) -> None:
        self._exists += 1
        self._group()
        self._exists -= 1

    # --- triples ------------------------------------------------------------------------

    def _triples(self) -> None:
        subject = self._term()
        if self._next().text not in {".", "}"}:
            self._properties(subject)

    def _properties(self, subject: str) -> None:
        while True:
            path = self._path() if self._next().kind != "var" else _Path("step", self._term())
            while True:
                self._walk(subject, path, self._term())
                if self._next().text != ",":
                    break
                self._take()
            while self._next().text == ";":
                self._take()
                if self._next().text in {".", "}", "]", ";"}:
                    continue
                break
            else:
                return

    def _term(self) -> str:
        token = self._take()
        if token.kind == "var":
            return f"?{token.name}"
        if token.kind == "blank":
            if token.text not in self._blanks:
                self._blanks[token.text] = self._given.new("node")
            return self._blanks[token.text]
        if token.text == "[":
            name = self._given.new("node")
            if self._next().text != "]":
                self._properties(name)
            self._take()
            return name
        if token.text in {"+", "-"} and self._next().kind == "number":
            return token.text + self._take().text
        if token.kind not in _TERMS and token.word not in {"TRUE", "FALSE"}:
            raise UnspreadableError(f"{token.text!r} in it is not understood")
        text = token.text
        if token.kind == "string" and self._next().kind == "lang":
            text += self._take().text
        elif token.kind == "string" and self._next().text == "^^":
            text += self._take().text + self._take().text
        return text

    # --- paths --------------------------------------------------------------------------

    def _path(self) -> _Path:
        return self._several("|", lambda: self._several("/", self._step))

    def _several(self, sign: str, one: Callable[[], _Path]) -> _Path:
        parts = [one()]
        while self._next().text == sign:
            self._take()
            parts.append(one())
        if len(parts) == 1:
            return parts[0]
        return _Path(sign, sign.join(f"({part.text})" for part in parts), tuple(parts))

    def _step(self) -> _Path:
        if self._next().text == "^":
            self._take()
            inner = self._step()
            return _Path("^", f"^({inner.text})", (inner,))
        made = self._primary()
        while self._next().text in {"*", "+", "?"}:
            kind = self._take().text
            made = _Path(kind, f"({made.text}){kind}", (made,))
        return made

    def _primary(self) -> _Path:
        token = self._take()
        if token.text == "(":
            made = self._path()
            self._take()
            return made
        if token.text == "!":
            return _Path("step", f"!{self._negated()}")
        if token.kind in {"iri", "pname"} or token.text == "a":
            return _Path("step", token.text)
        raise UnspreadableError(f"{token.text!r} in it is not understood")

    def _negated(self) -> str:
        """Take what stands behind a "!": it is one step, whatever stands in it."""
        texts = [self._take().text]
        while texts[0] == "(" and texts[-1] != ")":
            texts.append(self._take().text)
        if texts[0] == "^":
            texts.append(self._take().text)
        return "".join(texts)

    def _walk(self, start: str, path: _Path, end: str) -> None:
        if not self._given.graphs or path.kind == "step":
            self._triple(start, path.text, end)
        elif path.kind == "^":
            self._walk(end, path.parts[0], start)
        elif path.kind == "/":
            stops = [start, *(self._given.new("step") for _ in path.parts[1:]), end]
            for place, part in enumerate(path.parts):
                self._walk(stops[place], part, stops[place + 1])
        elif path.kind == "|":
            for place, part in enumerate(path.parts):
                self._out.append("UNION { " if place else "{ ")
                self._walk(start, part, end)
                self._out.append("} ")
        else:
            self._any_length(start, path, end)

    def _any_length(self, start: str, path: _Path, end: str) -> None:
        """Write out what a walk of any length leads to, from the end that is known."""
        if start.startswith("?") == end.startswith("?"):
            raise UnspreadableError(f"the walk {path.text} may go through several graphs")
        open_ = start if start.startswith("?") else end
        ends = [t if t != open_ else "?end" for t in (start, end)]
        query = f"{self._head}SELECT DISTINCT ?end WHERE {{ {ends[0]} {path.text} {ends[1]} }}"
        found = set(self._given.closure(query))
        if path.kind == "*":
            found.add(next(term for term in (start, end) if term != open_))  # there or not
        if len(found) > _MOST or any(term.startswith("_:") for term in found):
            raise UnspreadableError(f"the walk {path.text} leads too far to be written out")
        listed = " ".join(sorted(found))
        self._write(f"VALUES {open_} {{ {listed} }}" if found else "FILTER (false)")

    def _write(self, text: str) -> None:
        """Write a pattern on a line of its own."""
        first = "".join(self._out[-2:]).endswith(("{", "{ ", "\n", "  "))
        self._out.append(f"{text} " if first else f"\n  {text} ")

    def _triple(self, start: str, step: str, end: str) -> None:
        conditions = []
        told = [start, step, end]
        for place, text in enumerate(told):
            if text.startswith("<") and text[1:-1] in self._given.mended:
                told[place], condition = self._otherwise(text)
                conditions.append(condition)
        triple = f"{told[0]} {told[1]} {told[2]} ."
        if self._given.graphs:
            triple = f"{{ {triple} }} UNION {{ GRAPH {self._given.new('any')} {{ {triple} }} }}"
            names = [text for text in dict.fromkeys(told) if text.startswith("?")]
            if self._counted and not self._exists and names:
                # What is counted counts once, in however many graphs it stands.
                triple = f"{{ SELECT DISTINCT {' '.join(names)} WHERE {{ {triple} }} }}"
        self._write(f"{triple}{''.join(conditions)}")

    def _otherwise(self, iri: str) -> tuple[str, str]:
        """Return a variable for an IRI that the files have otherwise, and what it must be."""
        name = self._given.new("written")
        both = [ox.Literal(self._given.mended[iri[1:-1]]), ox.Literal(iri[1:-1])]
        return name, f" FILTER (STR({name}) IN ({both[0]}, {both[1]}))"


def in_plain(given: Anywhere) -> Anywhere:
    """Return one that leaves graphs alone."""
    return replace(given, graphs=False, taken=set(given.taken))
