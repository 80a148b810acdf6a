"""Joins inside an EXISTS, computed once for all nodes instead of anew for each."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count, groupby
from operator import attrgetter
from typing import Final

from kgreason.shacl.tokens import (
    Token,
    Tokens,
    closing,
    direct,
    last_word,
    spaced,
    text_of,
    tokenize,
)

Pieces = list[Token | str]
"""Tokens, and patterns that are put between them."""


def set_apart(body: Tokens, pattern: str) -> "tuple[Tokens, Pieces]":
    """Take each FILTER [NOT] EXISTS that holds a join out of a group, to be computed once.

    The embedded store computes a join inside an EXISTS anew for every node, all of the graph each
    time. Where all that the EXISTS shares with its surroundings is bound by its own triples, FILTER
    NOT EXISTS means MINUS, and FILTER EXISTS a join with its distinct solutions.
    """
    kept: list[Token] = []
    apart: Pieces = []
    index = 0
    while index < len(body):
        end, negative, group = _exists_at(body, index)
        if group:
            rest = [*body[:index], *body[end + 1 :]]
            shared = _shared(group, rest)
            if shared:
                inner: Pieces = [f" {pattern} " if "this" in shared else " ", *group]
                apart += _apart(inner, shared, negative=negative)
                index = end + 1
                continue
        if body[index].text == "{":
            end = closing(body, index)
            kept += body[index : end + 1]
            index = end
        else:
            kept.append(body[index])
        index += 1
    return kept, apart


def _apart(inner: "Pieces", shared: list[str], *, negative: bool) -> "Pieces":
    if negative:
        return [Token("sign", " MINUS { "), *inner, Token("sign", " } ")]
    names = spaced([Token("var", f"?{name}") for name in shared])
    head = [Token("sign", " { SELECT DISTINCT"), *names, Token("sign", " WHERE { ")]
    return [*head, *inner, Token("sign", " } } ")]


def _exists_at(body: Tokens, index: int) -> tuple[int, bool, Tokens]:
    """Return the end, the sense and the group of a FILTER [NOT] EXISTS that starts at `index`."""
    if body[index].word != "FILTER":
        return index, False, ()
    words: list[str] = []
    for at in range(index + 1, len(body)):
        token = body[at]
        if token.kind == "space":
            continue
        if token.text == "{" and words in (["EXISTS"], ["NOT", "EXISTS"]):
            end = closing(body, at)
            return end, len(words) == 2, body[at + 1 : end]  # noqa: PLR2004 - NOT and EXISTS
        if token.word not in {"NOT", "EXISTS"}:
            break
        words.append(token.word)
    return index, False, ()


def _patterns(group: Tokens) -> list[Token]:
    """Return the tokens of the triple patterns of a group: no FILTER, BIND or inner group."""
    out: list[Token] = []
    depth, after_filter = 0, False
    for token in direct(group):
        if token.word in {"FILTER", "BIND"}:
            after_filter = True
        depth += {"(": 1, ")": -1}.get(token.text, 0) if after_filter else 0
        if not after_filter and token.kind != "space":
            out.append(token)
        if after_filter and depth == 0 and token.text == ")":
            after_filter = False
    return out


def _without_exists(tokens: Tokens) -> list[Token]:
    """Leave out what stands inside an EXISTS: its variables are its own if no one else has them."""
    out: list[Token] = []
    index = 0
    while index < len(tokens):
        if tokens[index].text == "{" and out and last_word(out) == "EXISTS":
            index = closing(tokens, index)
        else:
            out.append(tokens[index])
        index += 1
    return out


_PLAIN_WORDS: Final = frozenset({"", "A", "FILTER", "TRUE", "FALSE"})


def _shared(group: Tokens, rest: Tokens) -> list[str]:
    """Return the variables by which a group can be joined, none if it cannot or need not be."""
    patterns = _patterns(group)
    joins = sum(token.text in {".", ";", ",", "/"} for token in patterns[:-1])
    simple = all(t.text not in "{}" and t.word != "OPTIONAL" for t in group if t.kind == "sign")
    if not joins or not simple or {t.word for t in patterns if t.kind == "word"} - _PLAIN_WORDS:
        return []
    names = {t.name for t in group if t.name}
    outside = {t.name for t in _without_exists(rest) if t.name} | {"this"}
    bound_here = {t.name for t in patterns if t.name}
    bound_there = {t.name for t in _patterns(rest) if t.name} | {"this"}
    shared = names & outside
    return sorted(shared) if shared <= bound_here and shared <= bound_there else []


@dataclass(frozen=True)
class _Site:
    """An EXISTS within a statement of a group: the places of its tokens, and what it shares."""

    statement: int
    first: int
    last: int
    negative: bool
    group: Tokens
    shared: list[str]


def once(text: str) -> str:
    """Return a SELECT with each EXISTS that holds a join worked out once, not anew for each row.

    Only those in the outermost group of a SELECT are, or of one within it, as part of a BIND or
    FILTER, where all that an EXISTS shares with its SELECT is bound by triples of its own and by
    triples that stand before it. The answer is the same; a text that no such EXISTS stands in is
    returned as it is.
    """
    tokens = tokenize(text)
    known = {token.name for token in tokens}
    return _once(tokens, (name for name in map("held{}".format, count()) if name not in known))


def _once(tokens: Tokens, free: Iterator[str]) -> str:
    """Return a SELECT so changed; `free` are names for what is worked out."""
    out, done = list[str](), 0
    for statement, sites in groupby(_sites(tokens), key=attrgetter("statement")):
        out.append(_within(tokens[done:statement], free))
        done, said = statement, list[str]()
        for site, name in zip(sites, free, strict=False):
            names = " ".join(f"?{one}" for one in site.shared)
            inner = f"SELECT DISTINCT {names} (true AS ?{name}) WHERE {{{text_of(site.group)}}}"
            out.append(f"OPTIONAL {{ {inner} }} ")
            said += [text_of(tokens[done : site.first]), f"({'!' * site.negative}BOUND(?{name}))"]
            done = site.last + 1
        out += said
    return "".join(out) + _within(tokens[done:], free)


def _within(tokens: Tokens, free: Iterator[str]) -> str:
    """Return tokens with each SELECT that stands in them changed."""
    out, index = list[str](), 0
    while index < len(tokens):
        after = (t.word for t in tokens[index + 1 : index + 3] if t.kind != "space")
        if tokens[index].text == "{" and next(after, "") == "SELECT":
            end = closing(tokens, index)
            out += ["{", _once(tokens[index + 1 : end], free), "}"]
            index = end
        else:
            out.append(tokens[index].text)
        index += 1
    return "".join(out)


def _sites(tokens: Tokens) -> Iterator[_Site]:
    """Find what `once` works out, from left to right."""
    start = next((n for n, token in enumerate(tokens) if token.text == "{"), len(tokens))
    end = closing(tokens, start) if start < len(tokens) else 0
    index = statement = start + 1
    while index < end:
        if tokens[index].word in {"BIND", "FILTER"}:
            statement = index
        if tokens[index].text == "{":
            last = closing(tokens, index)
            first, negative = _exists_before(tokens, index)
            group, rest = tokens[index + 1 : last], [*tokens[:first], *tokens[last + 1 :]]
            shared = _shared(group, rest) if first > statement > start + 1 else []
            before = {t.name for t in _patterns(tokens[start + 1 : statement])}
            if shared and before.issuperset(shared):
                yield _Site(statement, first, last, negative, group, shared)
            index = last
        index += 1


def _exists_before(tokens: Tokens, brace: int) -> tuple[int, bool]:
    """Return where an EXISTS or NOT EXISTS begins whose group begins at `brace`; 0 for none."""
    words = [n for n in range(brace) if tokens[n].kind != "space"][-2:]
    if not words or tokens[words[-1]].word != "EXISTS":
        return 0, False
    negative = tokens[words[0]].word == "NOT"
    return words[0] if negative else words[-1], negative
