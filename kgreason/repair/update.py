"""An update of ours as rows: what it would remove and add, without doing it.

The updates of `queries/repair/` are of one plain form, `DELETE { … } INSERT { … } WHERE { … }` with
either of the first two left out, whose triples each stand whole in a `GRAPH`. So each triple of a
template is a SELECT over the same WHERE, and the store need not be copied to see what would change.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import pyoxigraph as ox

from kgreason.base.errors import TemplateError
from kgreason.base.templates import Fragment
from kgreason.base.terms import TYPE
from kgreason.shacl.tokens import Token, closing, text_of, tokenize

COLUMNS: Final = ("graph", "subject", "predicate", "object")
_TERMS: Final = frozenset({"var", "iri", "pname", "string", "number", "word"})


@dataclass(frozen=True)
class Slot:
    """A triple of an update template, each place a term in SPARQL: graph, then the triple."""

    graph: str
    subject: str
    predicate: str
    object: str

    @property
    def places(self) -> tuple[str, ...]:
        """The four places in the order of `COLUMNS`."""
        return (self.graph, self.subject, self.predicate, self.object)


@dataclass(frozen=True)
class Update:
    """What an update removes and adds, and where it looks."""

    removes: tuple[Slot, ...]
    adds: tuple[Slot, ...]
    where: str
    prefixes: Mapping[str, str]


def read_update(made: Fragment, name: str) -> Update:
    """Take an update apart; raises TemplateError, which calls it `name`, where it is not plain."""
    tokens = [token for token in tokenize(made.text) if token.kind != "space"]
    whole = tokenize(made.text)
    parts: dict[str, list[Token]] = {}
    place = 0
    while place < len(whole):
        word = whole[place].word
        if word in {"DELETE", "INSERT", "WHERE"}:
            start = next((i for i in range(place, len(whole)) if whole[i].text == "{"), -1)
            if start < 0 or word in parts:
                raise TemplateError(f"{name}: {word} has to be followed by a group, once.")
            end = closing(whole, start)
            parts[word] = list(whole[start + 1 : end])
            place = end
        elif whole[place].kind != "space":
            raise TemplateError(f"{name}: {whole[place].text!r} has no place in a repair.")
        place += 1
    if "WHERE" not in parts or not tokens:
        raise TemplateError(f"{name}: a repair is DELETE, INSERT or both, and WHERE.")
    removes, adds = (tuple(_slots(parts.get(w, []), name)) for w in ("DELETE", "INSERT"))
    return Update(removes, adds, text_of(parts["WHERE"]).strip(), made.prefixes)


def _slots(tokens: Sequence[Token], name: str) -> Iterator[Slot]:
    left: Sequence[Token] = [token for token in tokens if token.kind != "space"]
    while left:
        if left[0].word != "GRAPH" or len(left) < 3 or left[2].text != "{":  # noqa: PLR2004
            raise TemplateError(f"{name}: each triple stands in GRAPH ?graph {{ … }}.")
        end = closing(left, 2)
        graph = left[1].text
        inside: Sequence[Token] = left[3:end]
        left = left[end + 1 :]
        while inside:
            terms = []
            for _ in range(3):
                term, inside = _term(inside, name)
                terms.append(term)
            if inside and inside[0].text != ".":
                raise TemplateError(f"{name}: write each triple out: subject property value.")
            yield Slot(graph, *terms)
            inside = inside[1:]


def _term(tokens: Sequence[Token], name: str) -> tuple[str, Sequence[Token]]:
    """Return the term that some tokens begin with, and the tokens after it."""
    if not tokens or tokens[0].kind not in _TERMS:
        raise TemplateError(f"{name}: write each triple out: subject property value.")
    first, rest = tokens[0], tokens[1:]
    if first.text == "a":
        return str(TYPE), rest
    if first.kind == "string" and rest and rest[0].kind == "lang":
        return first.text + rest[0].text, rest[1:]
    if first.kind == "string" and len(rest) > 1 and rest[0].text == "^^":
        return f"{first.text}^^{rest[1].text}", rest[2:]
    return first.text, rest


def rows(
    update: Update,
    *,
    arm: ox.Literal,
    repair: ox.Literal,
    copies: ox.NamedNode | None = None,
    obstacles: bool = False,
) -> list[Fragment]:
    """Return one SELECT for each triple of an update, to be joined by UNION.

    Each gives ?arm ?repair ?change ?focus ?graph ?subject ?predicate ?object. An added literal that
    is a copy has ?source and ?from: the statement with the same variable that is removed, or
    (?focus, `copies`). `obstacles` reads an update that adds what stands in the way of nodes.
    """
    if obstacles:
        return [_select(update, slot, "obstacle", arm, repair, None) for slot in update.adds]
    by_value = {s.object: (s.subject, s.predicate) for s in update.removes if s.object[0] == "?"}
    made = [_select(update, slot, "remove", arm, repair, None) for slot in update.removes]
    for slot in update.adds:
        copied = by_value.get(slot.object)
        if copied is None and copies is not None and slot.object[0] == "?":
            copied = ("?focus", str(copies))
        made.append(_select(update, slot, "add", arm, repair, copied))
    return made


def _select(
    update: Update,
    slot: Slot,
    change: str,
    arm: ox.Literal,
    repair: ox.Literal,
    copied: tuple[str, str] | None,
) -> Fragment:
    named = [(str(arm), "arm"), (str(repair), "repair"), (f'"{change}"', "change")]
    named += list(zip(slot.places, COLUMNS, strict=True))
    if copied is not None:
        named += list(zip(copied, ("source", "from"), strict=True))
    shown = " ".join(v if v == f"?{name}" else f"({v} AS ?{name})" for v, name in named)
    text = f"{{ SELECT DISTINCT ?focus {shown} WHERE {{\n{update.where}\n}} }}"
    return Fragment(text, update.prefixes)


def node_rows(nodes: Fragment, *, arm: ox.Literal, repair: ox.Literal) -> Fragment:
    """Return the SELECT of the nodes of an arm."""
    text = (
        f'{{ SELECT ?focus ({arm} AS ?arm) ({repair} AS ?repair) ("node" AS ?change) '
        f"WHERE {{ {nodes.text} }} }}"
    )
    return Fragment(text, nodes.prefixes)
