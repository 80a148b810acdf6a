"""SPARQL texts as tokens: enough to put a query of someone else into one of ours."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from kgreason.shacl.paths import IllFormedError

# A string that is never closed goes as far as it could, and the name of a prefix has a bound, so
# that no text is looked at again and again.
_TOKEN: Final = re.compile(
    r"""
    (?P<space>\s+|\#[^\n]*)
  | (?P<string>\"{3}(?:[^\"\\]++|\\.|\"(?!\"\"))*+(?:\"{3})?
      | '{3}(?:[^'\\]++|\\.|'(?!''))*+(?:'{3})?
      | \"(?:[^\"\\\n]++|\\.)*+\"? | '(?:[^'\\\n]++|\\.)*+'?)
  | (?P<iri><[^<>"{}|^`\\\x00-\x20]*>)
  | (?P<var>[?$]\w+)
  | (?P<blank>_:\w+)
  | (?P<pname>(?:[^\W\d_][\w.\-]{0,255}+)?:
      (?:(?:[\w:.\-]|%[0-9A-Fa-f]{2}|\\.)*(?:[\w:\-]|%[0-9A-Fa-f]{2}|\\.))?)
  | (?P<lang>@[A-Za-z]+(?:-[A-Za-z0-9]+)*)
  | (?P<word>[^\W\d]\w*)
  | (?P<number>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)
  | (?P<sign>\^\^|&&|\|\||!=|<=|>=|.)
    """,
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True)
class Token:
    """A piece of a SPARQL text; `kind` is a group name of the pattern above."""

    kind: str
    text: str

    @property
    def word(self) -> str:
        """The keyword in upper case, or the sign, or nothing."""
        return self.text.upper() if self.kind in {"word", "sign"} else ""

    @property
    def name(self) -> str:
        """The name of a variable, or nothing."""
        return self.text[1:] if self.kind == "var" else ""


Tokens = Sequence[Token]


def tokenize(text: str) -> list[Token]:
    """Cut a SPARQL text into tokens; joined they give the text again, without its comments."""
    found = []
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup or "sign"
        value = match.group()
        found.append(Token(kind, "\n" if value.startswith("#") and kind == "space" else value))
    return found


def text_of(tokens: Tokens) -> str:
    """Join tokens again."""
    return "".join(token.text for token in tokens)


def spaced(tokens: Tokens) -> list[Token]:
    """Put a blank before each token."""
    return [piece for token in tokens for piece in (Token("space", " "), token)]


def closing(tokens: Tokens, start: int) -> int:
    """Return the index of the brace that closes the one at `start`."""
    depth = 0
    for index in range(start, len(tokens)):
        depth += {"{": 1, "}": -1}.get(tokens[index].text, 0)
        if depth == 0:
            return index
    raise IllFormedError("the braces of its query do not match")


def direct(group: Tokens) -> list[Token]:
    """Return the tokens of a group that stand in no inner group."""
    depth, found = 0, []
    for token in group:
        depth += {"{": 1, "}": -1}.get(token.text, 0)
        if depth == 0:
            found.append(token)
    return found


def last_word(tokens: Tokens) -> str:
    """Return the last keyword or sign, as Token.word has it."""
    return next((t.word for t in reversed(tokens) if t.kind != "space"), "")
