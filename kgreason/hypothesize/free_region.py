"""Free regions: a graph pattern over ?focus that somebody wrote, checked before it is used."""

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from kgreason.base.errors import KgreasonError, QueryError, TimeoutExceeded
from kgreason.base.store import Term, check_query, guarded_select
from kgreason.base.templates import Fragment
from kgreason.base.terms import PREFIXES
from kgreason.graph import Graph
from kgreason.shacl.anywhere import flat
from kgreason.shacl.paths import IllFormedError
from kgreason.shacl.prebinding import expanded_tokens
from kgreason.shacl.tokens import Token, closing, text_of

_OWN: Final = "urn:x-kgreason:"
"""What the scratch copy holds beside the data: who fails, and who is in which half."""
_PREFIXES: Final = {p: iri for p, iri in PREFIXES.items() if not iri.startswith(_OWN)}
_LONGEST: Final = 20_000
_OPENS: Final = {"(": ")", "[": "]", "{": "}"}
_LINE: Final = re.compile(r"\bline (\d+)")


@dataclass(frozen=True)
class FreeRegion:
    """A pattern of ?focus that somebody wrote, with full IRIs; `nodes` are those it was seen with.

    `region` is for anyone to run on the data. `pattern` is for the scratch copy: a GRAPH in it
    sees graphs of the data only.
    """

    text: str
    nodes: frozenset[Term] | None = field(default=None, compare=False, repr=False)

    @property
    def region(self) -> Fragment:
        """The pattern of ?focus that anyone can run; its other variables are its own."""
        return _alone(self.text)

    @property
    def pattern(self) -> Fragment:
        """The pattern that is run on the scratch copy."""
        tokens = expanded_tokens(flat(Fragment(self.text)).text, {})
        return _alone(text_of(list(_of_the_data(tokens))))


def free_region(pattern: str, prefixes: Mapping[str, str], where: str) -> FreeRegion:
    """Check a pattern as somebody wrote it, without running it.

    Raises QueryError, which names `where`, for what does not parse, calls SERVICE, is no group of
    its own, does not use ?focus, or reads what kgreason marks on its copy.
    """
    if len(pattern) > _LONGEST:
        raise QueryError(f"{where}: the pattern is longer than {_LONGEST} characters.")
    known = {**_PREFIXES, **prefixes}
    try:
        check_query(f"SELECT ?focus WHERE {{\n{pattern}\n}}", where, prefixes=known)
        tokens = expanded_tokens(pattern, known)
    except QueryError as error:
        raise QueryError(_LINE.sub(lambda m: f"line {int(m[1]) - 1}", str(error))) from error
    except (IllFormedError, ValueError) as error:
        raise QueryError(f"{where}: {error}.".replace("its query", "the pattern")) from error
    if not _balanced(tokens):
        raise QueryError(
            f"{where}: the brackets of the pattern do not match; give what stands between the "
            "braces of WHERE."
        )
    if "FROM" in {token.word for token in tokens}:
        raise QueryError(f"{where}: the pattern has a FROM; the graph is what was loaded.")
    if not any(token.name == "focus" for token in tokens):
        raise QueryError(f"{where}: the pattern does not use ?focus, the node that is meant.")
    if any(token.kind == "iri" and token.text[1:].startswith(_OWN) for token in tokens):
        raise QueryError(
            f"{where}: the pattern names <{_OWN}…>, which holds who fails; a region is made of the "
            "data alone."
        )
    return FreeRegion(text_of(list(_renamed(tokens))).strip())


def evaluated(region: FreeRegion, graph: Graph, seconds: float, where: str) -> FreeRegion:
    """Run a region in a process that can be killed, and return it with its nodes.

    Raises QueryError where it takes longer than `seconds` or too much memory, or gives a row
    without ?focus.
    """
    query = f"SELECT DISTINCT ?focus WHERE {{ {region.pattern.text} }}"
    try:
        rows = guarded_select(graph.store, query, seconds, where)
    except TimeoutExceeded as error:
        raise QueryError(str(error)) from error
    except KgreasonError as error:
        told = str(error).partition("\n")[0]
        raise QueryError(told if where in told else f"{where}: {told}") from error
    if any("focus" not in row for row in rows):
        raise QueryError(
            f"{where}: the pattern has solutions without ?focus; let each of its branches bind it, "
            "such as by `?focus a ex:Part .`"
        )
    return FreeRegion(region.text, frozenset(row["focus"] for row in rows))


def _alone(text: str) -> Fragment:
    return Fragment(f"{{ SELECT DISTINCT ?focus WHERE {{ {text} }} }}")


def _balanced(tokens: Sequence[Token]) -> bool:
    waiting: list[str] = []
    for token in tokens:
        if token.kind != "sign":
            continue
        if token.text in _OPENS:
            waiting.append(_OPENS[token.text])
        elif token.text in _OPENS.values() and (not waiting or waiting.pop() != token.text):
            return False
    return not waiting


def _renamed(tokens: Sequence[Token]) -> Iterator[Token]:
    """Write named blank nodes as variables: a label may not stand in two groups of a query."""
    taken = {token.name for token in tokens}
    made: dict[str, str] = {}
    for token in tokens:
        if token.kind != "blank":
            yield Token("var", f"?{token.name}") if token.name else token
            continue
        if token.text not in made:
            names = (f"blank{n}" for n in itertools.count(1))
            made[token.text] = next(name for name in names if name not in taken)
            taken.add(made[token.text])
        yield Token("var", f"?{made[token.text]}")


def _of_the_data(tokens: Sequence[Token]) -> Iterator[Token]:
    """Let GRAPH with a variable see graphs of the data alone, at any depth."""
    index = 0
    while index < len(tokens):
        yield tokens[index]
        if tokens[index].word == "GRAPH":
            name = next(at for at in range(index + 1, len(tokens)) if tokens[at].kind != "space")
            begin = next(at for at in range(name, len(tokens)) if tokens[at].text == "{")
            end = closing(tokens, begin)
            yield from tokens[index + 1 : begin + 1]
            yield from _of_the_data(tokens[begin + 1 : end])
            yield tokens[end]
            if tokens[name].name:
                variable = tokens[name].text
                yield Token("sign", f' FILTER (!STRSTARTS(STR({variable}), "{_OWN}")) ')
            index = end
        index += 1
