"""Joins inside an EXISTS, computed once for all nodes instead of anew for each."""

from typing import Final

from kgreason.shacl.tokens import Token, Tokens, closing, direct, last_word, spaced

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
    """Return the tokens of the triple patterns of a group: no FILTER, no inner group."""
    out: list[Token] = []
    depth, after_filter = 0, False
    for token in direct(group):
        if token.word == "FILTER":
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
