"""Counts and sums of a query, said in the plain way.

“More values than classes of values”, “no value that is counted” and “nothing but what stands in for
a missing value” all ask whether a variable is bound, or whether a condition holds, in any solution
of a node. Here such a comparison is written as one of these, which are read elsewhere.
"""

from collections.abc import Callable, Iterator
from typing import Any, Final

_TURNED: Final = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "=": "=", "!=": "!="}
_OPEN: Final = "Variable"
_NOUGHT: Final = {"=": "none", "<=": "none", ">": "some", "!=": "some"}
_ONE: Final = {"<": "none", ">=": "some"}
Plain = Callable[[Any], Any]


def simpler(expression: Any, row: Any, plain: Plain) -> Any:
    """Return what asks the same as a comparison without its counts; None for any other.

    `row` tells what the query binds, and which variables only an OPTIONAL does; `plain` takes the
    names of the grammar off an expression.
    """
    if getattr(expression, "name", "") != "RelationalExpression" or isinstance(
        expression.other, list
    ):
        return None
    made = type(expression)
    for one, sign, other in _turns(expression, plain):
        resolved = _behind(one, row, plain)
        for rule in (_stood_in_for, _counted, _compared):
            found = rule(made, resolved, sign, other, row, plain)
            if found is not None:
                return found
    return None


def of_each(expression: Any, row: Any, plain: Plain) -> Any:
    """Return what a test of all values as one text asks of each of them; None for any other test.

    Where it does not hold of the whole text it holds of no value.
    """
    place = _TEXTS.get(getattr(expression, "name", ""))
    if place is None:
        return None
    joined = _behind(plain(expression[place]), row, plain)
    if getattr(joined, "name", "") != "Aggregate_GroupConcat":
        return None
    return type(expression)(expression.name, **{**expression, place: joined.vars})


_TEXTS: Final = {"Builtin_REGEX": "text", "Builtin_CONTAINS": "arg1"}
"""Tests that hold of a text where they hold of a part, by the place of the text."""


def _turns(expression: Any, plain: Plain) -> Iterator[tuple[Any, str, Any]]:
    """Return a comparison as it stands, and turned round; a difference with nought as one."""
    one, sign, other = plain(expression.expr), expression.op, plain(expression.other)
    if getattr(one, "name", "") == "AdditiveExpression" and str(other) == "0":
        if list(one.op) == ["-"]:
            yield from _turns(type(expression)("RelationalExpression", expr=one.expr, op=sign,
                                               other=one.other[0]), plain)  # fmt: skip
        return
    if sign in _TURNED:
        yield one, sign, other
        yield other, _TURNED[sign], one


def _behind(term: Any, row: Any, plain: Plain) -> Any:
    """Return the expression that BIND or the head named so; the term itself where none did."""
    return plain(dict(row.binds).get(str(term), term)) if _is_variable(term) else term


def _stood_in_for(made: Any, one: Any, sign: str, other: Any, row: Any, plain: Plain) -> Any:
    """Read that a value is what stands in for a missing one: COALESCE(?n, 0) = 0, or no text."""
    text, none = _text_of(one, plain), _said(other)
    if getattr(one, "name", "") == "Builtin_COALESCE" and len(one.arg) == 2:  # noqa: PLR2004
        first, last = (plain(each) for each in one.arg)
        same = none is not None and _said(last) == none
        name = _optional(first, row) if same else None
        if name is not None and sign in {"=", "!="} | ({">", "<="} if none == "0" else set()):
            return _bound(made, name, there=sign in {"!=", ">"})
    if text is not None and sign in {"=", "!=", ">"}:
        wanted = "0" if getattr(one, "name", "") == "Builtin_STRLEN" else ""
        name = _optional(text, row)
        if none == wanted and name is not None:
            return _bound(made, name, there=sign != "=")
    return None


def _said(term: Any) -> str | None:
    """Return the text of a constant; None for anything else."""
    name = getattr(term, "name", "")
    if name == "literal":
        return str(term.string)
    return None if name or _is_variable(term) else str(term)


def _text_of(one: Any, plain: Plain) -> Any:
    """Return what a text is put together of, whose length may be asked; None for any other."""
    inner = plain(one.arg) if getattr(one, "name", "") == "Builtin_STRLEN" else one
    return plain(inner.vars) if getattr(inner, "name", "") == "Aggregate_GroupConcat" else None


def _counted(made: Any, one: Any, sign: str, other: Any, row: Any, plain: Plain) -> Any:
    """Read a count that is compared with nought or one."""
    asked = {"0": _NOUGHT, "1": _ONE}.get(str(other), {}).get(sign)
    if getattr(one, "name", "") != "Aggregate_Count" or asked is None:
        return None
    inner = _behind(plain(one.vars), row, plain)
    weighed = _where_bound(made, inner, row, plain)
    if weighed is not None:
        return made("RelationalExpression", expr=weighed, op=sign, other=other)
    name = plain(one.vars) if _is_variable(plain(one.vars)) else None
    if name is None or _optional(name, row) is None:
        return None
    if asked == "some":
        return _bound(made, name, there=True)
    # Of a node's own values it is read elsewhere how many there are.
    return _bound(made, name, there=False) if _lies_behind(name, row) else None


def _lies_behind(name: Any, row: Any) -> bool:
    """Check whether a variable says whatever is said of a value: in place of a property."""
    open_ = (t for option in row.options for each in option for t in each.triples)
    return any(str(triple[1]) == str(name) for triple in open_ if _is_variable(triple[1]))


def _where_bound(made: Any, inner: Any, row: Any, plain: Plain) -> Any:
    """Return the sum of ones that counts what IF binds in one of its branches; None for others."""
    if getattr(inner, "name", "") != "Builtin_IF":
        return None
    # What the condition is about is bound, whatever is known of the row here.
    about = {str(one) for one in _variables(inner.arg1)}
    branches = [plain(inner[key]) for key in ("arg2", "arg3")]
    nothing = [str(one) not in about and _is_unbound(one, row) for one in branches]
    if nothing[0] == nothing[1]:
        return None
    ends = (0, 1) if nothing[0] else (1, 0)
    return _sum_of(made, plain(inner.arg1), ends)


def _compared(made: Any, one: Any, sign: str, other: Any, row: Any, plain: Plain) -> Any:
    """Read that there are more solutions than those in which something is bound, or holds."""
    less = _behind(other, row, plain)
    if getattr(one, "name", "") != "Aggregate_Count" or sign not in {">", "!="}:
        return None
    kind = getattr(less, "name", "")
    if kind == "Aggregate_Count":
        name, whole = plain(less.vars), plain(one.vars)
        held = _is_variable(name) and _optional(name, row) is not None
        if held and str(whole) != str(name):
            return _bound(made, name, there=False)
    return (
        _not_all(made, _behind(plain(less.vars), row, plain), plain)
        if kind == "Aggregate_Sum"
        else None
    )


def _not_all(made: Any, weighed: Any, plain: Plain) -> Any:
    """Return the test that not all solutions are counted as one; None for other weights."""
    if getattr(weighed, "name", "") != "Builtin_IF":
        return None
    ends = tuple(_said(plain(weighed[key])) for key in ("arg2", "arg3"))
    if set(ends) != {"0", "1"}:
        return None
    total = _sum_of(made, plain(weighed.arg1), (1, 0) if ends[0] == "0" else (0, 1))
    return made("RelationalExpression", expr=total, op=">", other=_number(0))


def _sum_of(made: Any, condition: Any, ends: tuple[int, int]) -> Any:
    weighed = made("Builtin_IF", arg1=condition, arg2=_number(ends[0]), arg3=_number(ends[1]))
    return made("Aggregate_Sum", vars=weighed, distinct="")


def _bound(made: Any, name: Any, *, there: bool) -> Any:
    test = made("Builtin_BOUND", arg=name)
    return test if there else made("UnaryNot", expr=test)


def _number(value: int) -> Any:
    from rdflib import Literal  # noqa: PLC0415 - slow to load, and loaded where a query was read

    return Literal(value)


def _optional(thing: Any, row: Any) -> Any:
    """Return the one variable of an expression, where only an OPTIONAL binds it; else None."""
    found = {str(one): one for one in _variables(thing)}
    if len(found) != 1:
        return None
    name, variable = next(iter(found.items()))
    sure = {str(one) for triple in row.triples for one in triple}
    held = any(
        name in {*map(str, _variables(each.triples)), *dict(each.binds)}
        for option in row.options
        for each in option
    )
    return variable if held and name not in sure else None


def _is_unbound(term: Any, row: Any) -> bool:
    """Check whether a term is a variable that nothing binds."""
    known = [*row.triples, *dict(row.binds), *row.options]
    return _is_variable(term) and str(term) not in {str(one) for one in _variables(known)} | {
        *dict(row.binds)
    }


def _is_variable(term: Any) -> bool:
    return type(term).__name__ == _OPEN


def _variables(thing: Any) -> Iterator[Any]:
    """Return the variables of a term, an expression, or several."""
    if _is_variable(thing):
        yield thing
    elif isinstance(thing, dict):
        for inner in thing.values():
            yield from _variables(inner)
    elif type(thing).__name__ == "Row":
        yield from _variables([thing.triples])
    elif isinstance(thing, list | tuple):
        for inner in thing:
            yield from _variables(inner)
