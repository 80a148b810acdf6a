"""Regular expressions that look ahead at their beginning, said without looking ahead.

The store's expressions run in linear time and cannot look ahead. `^(?!A)B`, the usual way to say
that a text must not begin with A, is two expressions: `^(?:A)`, which must not match, and `^B`,
which must. Only what stands right behind the first `^` can be taken apart so.
"""

from typing import Final, NamedTuple

_AHEAD: Final = {"(?!": False, "(?=": True}
_NO_START: Final = frozenset("mxq")


class Parts(NamedTuple):
    """Expressions that say together what one says: `wanted` must match, `barred` must not."""

    wanted: tuple[str, ...]
    barred: tuple[str, ...]


def in_parts(expression: str, flags: str) -> Parts:
    """Return an expression as those that it consists of; the last wanted one is what remains.

    An expression that does not look ahead at its beginning is returned as it stands, and so is one
    in which that cannot be told apart: alternatives outside of brackets, or a flag under which ^
    stands elsewhere or blanks do not count.
    """
    whole = Parts((expression,), ())
    if not expression.startswith("^(?") or _NO_START & set(flags):
        return whole
    wanted: list[str] = []
    barred: list[str] = []
    rest = expression[1:]
    while (kind := _AHEAD.get(rest[:3])) is not None:
        end = _closing(rest)
        if end is None:
            return whole
        (wanted if kind else barred).append(f"^(?:{rest[3:end]})")
        rest = rest[end + 1 :]
        # What repeats a look ahead says nothing that can be told in parts.
        if rest[:1] in {"*", "+", "?", "{"}:
            return whole
    if _closing(rest, alternative=True) is not None:
        return whole
    return Parts((*wanted, f"^{rest}"), tuple(barred))


def _closing(text: str, *, alternative: bool = False) -> int | None:
    """Return where the group ends that a text begins with, or None where it does not end.

    Of an `alternative`, where a bar outside of all groups stands.
    """
    depth = at = 0
    in_class = False
    while at < len(text):
        sign = text[at]
        if sign == "\\":
            at += 1
        elif in_class:
            in_class = sign != "]"
        elif sign == "[":
            in_class = True
            # A bracket that stands first in a class is one of its signs.
            at += 2 if text.startswith("^]", at + 1) else int(text.startswith("]", at + 1))
        elif sign == "(":
            depth += 1
        elif sign == ")":
            depth -= 1
            if depth == 0 and not alternative:
                return at
        elif sign == "|" and depth == 0 and alternative:
            return at
        at += 1
    return None
