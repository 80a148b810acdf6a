"""A SELECT read as what its rows have in common: triples, tests, and what may not be there.

rdflib parses the query. A group becomes rows, one for each way through its UNIONs; conditions are
brought into a form without brackets, in which only single tests and groups are denied.
"""

import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import reduce
from itertools import product
from typing import Any, Final

from kgreason.base.terms import TYPE
from kgreason.shacl.listed_predicates import pinned
from kgreason.shacl.query_row import Row, Rows, UnreadError, name_of, plain, variables
from kgreason.shacl.query_sums import of_each, simpler

_MOST: Final = 24
"""How many rows a condition may fall into; what has more is not read."""


def parsed(query: str) -> Any:
    """Return the tree of a SELECT with full IRIs; raises UnreadError where rdflib has none."""
    # Slow to load, and only needed where there is a query to be read.
    from rdflib.plugins.sparql.algebra import translatePath, traverse  # noqa: PLC0415
    from rdflib.plugins.sparql.parser import Query  # noqa: PLC0415

    try:
        read = Query.parse_string(_unescaped(query), parse_all=True)[1]
        tree = traverse(read, visitPost=translatePath)
    except Exception as problem:
        raise UnreadError(str(problem)) from problem
    if tree.name != "SelectQuery":
        raise UnreadError(tree.name)
    return tree


def _unescaped(query: str) -> str:
    r"""Return a query with its code point escapes as characters.

    A backslash that is itself escaped begins none: "[^\\u0000]" is a regular expression with one.
    rdflib's own reader takes it for one, and then finds no query.
    """
    return _ESCAPES.sub(lambda m: chr(int(m[1] or m[2], 16)) if m[1] or m[2] else m[0], query)


_ESCAPES: Final = re.compile(r"\\\\|\\u([0-9A-Fa-f]{4})|\\U([0-9A-Fa-f]{8})")


def rows_of(select: Any) -> Rows:
    """Return the rows of a SELECT, with what its head binds and HAVING tests."""
    found = _group(select.where)
    head = {str(one.evar): one.expr for one in select.projection or () if one.evar is not None}
    having = tuple(select.having.condition) if select.having is not None else ()
    if select.groupby is None and having:
        raise UnreadError("HAVING without GROUP BY")
    made = Row(tests=having, binds=head)
    return tuple(row.joined(made) for row in found)


def _group(group: Any) -> Rows:
    """Return the rows of a group or an inner SELECT."""
    if group.name == "SubSelect":
        return rows_of(group)
    if group.name not in {"GroupGraphPatternSub", "GroupGraphPattern"}:
        raise UnreadError(group.name)
    return reduce(_crossed, map(_part, group.part or ()), (Row(),))


def _crossed(some: Rows, others: Rows) -> Rows:
    if len(some) * len(others) > _MOST:
        raise UnreadError("too many ways")
    return tuple(one.joined(other) for one, other in product(some, others))


def _part(part: Any) -> Rows:
    """Return the rows of one part of a group."""
    if part.name == "TriplesBlock":
        flat = [block[i : i + 3] for block in part.triples for i in range(0, len(block), 3)]
        return reduce(_crossed, (_of_triple(*one) for one in flat), (Row(),))
    if part.name == "GroupOrUnionGraphPattern":
        return tuple(row for each in part.graph for row in _group(each))
    if part.name == "SubSelect":
        return rows_of(part)
    made = _single(part)
    if made is None:
        raise UnreadError(part.name)
    return (made,)


def _single(part: Any) -> Row | None:
    """Return the row of a part that is no choice; None for a form that is not read."""
    if part.name == "Filter":
        return Row(tests=(part.expr,))
    if part.name == "Bind":
        return Row(binds={str(part.var): part.expr})
    if part.name == "OptionalGraphPattern":
        return Row(options=(_group(part.graph),))
    if part.name == "MinusGraphPattern":
        return Row(lacks=(_group(part.graph),))
    if part.name == "InlineData" and len(part.var) == 1 and part.value:
        listed = [one[0] if isinstance(one, list) else one for one in part.value]
        return Row(tests=(("listed", part.var[0], listed),))
    return None


def _of_triple(subject: Any, path: Any, value: Any) -> Rows:
    """Return the rows of a triple: one for each path where there are several to choose from."""
    if type(path).__name__ == "AlternativePath":
        return tuple(row for one in path.args for row in _of_triple(subject, one, value))
    if type(path).__name__ == "SequencePath" and type(value).__name__ == "URIRef":
        *way, last = path.args
        if str(last) == str(TYPE.value):
            # A class at the end of a path is a class of the value before.
            start = type(path)(*way) if len(way) > 1 else way[0]
            between = _between(subject, path)
            return (Row(triples=((subject, start, between), (between, last, value))),)
    return (Row(triples=((subject, path, value),)),)


def _between(subject: Any, path: Any) -> Any:
    """Return a variable for what lies before the end of a path, one for each path of a subject."""
    from rdflib import Variable  # noqa: PLC0415 - loaded by then: it parsed the query

    name = hashlib.sha256(f"{subject} {path}".encode()).hexdigest()[:8]
    return Variable(f"before{name}")


def where_true(row: Row, expression: Any, *, wanted: bool = True) -> Rows:
    """Return the rows in which an expression over a row is true, or is not."""
    return tuple(row.joined(one) for one in _true(plain(expression), row, wanted=wanted))


def settled(row: Row) -> Rows:
    """Return the rows of a row whose tests are brought into their form: EXISTS as triples."""
    bare: Rows = (replace(row, tests=()),)
    tests = (_true(plain(test), row, wanted=True) for test in row.tests)
    return tuple(each for one in reduce(_crossed, tests, bare) for each in pinned(one))


def _true(expression: Any, row: Row, *, wanted: bool) -> Rows:
    """Return the rows that make an expression true, or false; what they add to `row`."""
    name = getattr(expression, "name", "")
    if name == "UnaryNot":
        return _true(plain(expression.expr), row, wanted=not wanted)
    if name in _FORMS:
        return _FORMS[name](expression, row, wanted)
    least = name == "Aggregate_Min" and not wanted
    shorter = plain(expression.vars) if least else simpler(expression, row, plain)
    compared = (
        (shorter, True)
        if shorter is not None
        else _compared_with_truth(expression) or _any_of(expression, row)
    )
    if compared is not None:
        return _true(compared[0], row, wanted=wanted == compared[1])
    truth = truth_of(expression)
    if truth is not None:
        return (Row(),) if truth == wanted else ()
    extreme = _of_extreme(expression, row)
    return _of_variable(expression if extreme is None else extreme, row, wanted=wanted)


def _of_variable(expression: Any, row: Row, *, wanted: bool) -> Rows:
    """Return what it means that a variable is true, which BIND made; any other is a test."""
    bound = dict(row.binds).get(name_of(expression))
    if bound is not None:
        return _true(plain(bound), row, wanted=wanted)
    for option in row.options if name_of(expression) else ():
        if any(name_of(expression) in dict(found.binds) for found in option):
            # Where the OPTIONAL is not there the variable has no value, and is no more false.
            return _inside(option, name_of(expression), wanted=wanted)
    return (Row(tests=(expression if wanted else ("denied", expression),)),)


def _of_several(expression: Any, row: Row, wanted: bool) -> Rows:  # noqa: FBT001 - one of _FORMS
    parts = [plain(one) for one in (expression.expr, *expression.other)]
    each = [_true(one, row, wanted=wanted) for one in parts]
    if (expression.name == "ConditionalAndExpression") == wanted:
        return reduce(_crossed, each, (Row(),))
    return tuple(one for some in each for one in some)


def _of_exists(expression: Any, _row: Row, wanted: bool) -> Rows:  # noqa: FBT001 - one of _FORMS
    group = tuple(one for found in _group(expression.graph) for one in settled(found))
    if (expression.name == "Builtin_EXISTS") == wanted:
        return group
    return (Row(lacks=(group,)),)


def _of_choice(expression: Any, row: Row, wanted: bool) -> Rows:  # noqa: FBT001 - one of _FORMS
    given, one, other = (plain(expression[f"arg{n}"]) for n in (1, 2, 3))
    return (
        *_crossed(_true(given, row, wanted=True), _true(one, row, wanted=wanted)),
        *_crossed(_true(given, row, wanted=False), _true(other, row, wanted=wanted)),
    )


def _bound(expression: Any, row: Row, wanted: bool) -> Rows:  # noqa: FBT001 - one of _FORMS
    """Return what it means that a variable is bound, or is not: its OPTIONAL is there, or lacks."""
    variable = plain(expression.arg)
    for option in row.options:
        if any(name_of(variable) in {*variables(one.triples), *dict(one.binds)} for one in option):
            group = tuple(one for found in option for one in settled(found))
            return group if wanted else (Row(lacks=(group,)),)
    cast = plain(dict(row.binds).get(name_of(variable)))
    if getattr(cast, "name", "") == "Function":
        return (Row(tests=(_made(cast, wanted=wanted),)),)
    return (Row(),) if wanted else ()


def _made(cast: Any, *, wanted: bool) -> Any:
    """Return the test that a cast gives a value, or none: what BIND binds to it is there or not."""
    from rdflib import Literal  # noqa: PLC0415 - loaded by then: it parsed the query

    made, nothing = type(cast), Literal("")
    text = made("Builtin_COALESCE", arg=[made("Builtin_STR", arg=cast), nothing])
    sign = "!=" if wanted else "="
    return made("RelationalExpression", expr=text, op=sign, other=nothing)


def _first_bound(expression: Any, row: Row, wanted: bool) -> Rows:  # noqa: FBT001 - as above
    """Read COALESCE of something that may be unbound and a truth: the usual way to say "else"."""
    parts = [plain(one) for one in expression.arg]
    last = truth_of(parts[-1])
    if len(parts) != 2 or last is None:  # noqa: PLR2004 - the one, and what stands in for it
        raise UnreadError("COALESCE")
    beyond = _beyond(parts[0], row, wanted=not last) if not name_of(parts[0]) else ()
    if beyond:
        return beyond if wanted != last else (Row(lacks=(beyond,)),)
    if wanted != last:
        return _true(parts[0], row, wanted=wanted)
    for option in row.options:
        inner = _inside(option, name_of(parts[0]))
        if inner:
            return (Row(lacks=(inner,)),)
    if not name_of(parts[0]):
        return _true(parts[0], row, wanted=wanted)
    raise UnreadError("COALESCE")


_FORMS: Final[Mapping[str, Callable[[Any, Row, bool], Rows]]] = {
    "ConditionalAndExpression": _of_several,
    "ConditionalOrExpression": _of_several,
    "Builtin_EXISTS": _of_exists,
    "Builtin_NOTEXISTS": _of_exists,
    "Builtin_BOUND": _bound,
    "Builtin_IF": _of_choice,
    "Builtin_COALESCE": _first_bound,
}


def _inside(option: Rows, name: str, *, wanted: bool = True) -> Rows:
    """Return the rows of an OPTIONAL in which a variable that it binds is true, or is false."""
    return tuple(
        each
        for found in option
        if name in dict(found.binds)
        for one in settled(found)
        for each in where_true(one, dict(found.binds)[name], wanted=wanted)
    )


def _beyond(expression: Any, row: Row, *, wanted: bool) -> Rows:
    """Return the rows of the OPTIONAL that an expression is about in which it is true, or is not.

    Without a value there it is neither.
    """
    named = variables([expression])
    return tuple(
        each
        for option in row.options
        if any(named & variables(one.triples) for one in option)
        for found in option
        for one in settled(found)
        for each in where_true(one, expression, wanted=wanted)
    )


def _compared_with_truth(expression: Any) -> tuple[Any, bool] | None:
    """Return what is compared with true or false, and whether it has to be true."""
    if getattr(expression, "name", "") != "RelationalExpression" or expression.op not in {
        "=",
        "!=",
    }:
        return None
    sides = [plain(expression.expr), plain(expression.other)]
    for one, other in (sides, sides[::-1]):
        truth = truth_of(other)
        if truth is not None:
            return one, truth == (expression.op == "=")
    return None


def _any_of(expression: Any, row: Row) -> tuple[Any, bool] | None:
    """Return the truth of which an aggregate asks whether it holds of any value.

    The greatest of truths is true where one is; so it is with ones and noughts that IF or a cast
    made of them, whatever BIND called them, and with their sum. The least is nought where one is
    not true.
    """
    name = getattr(expression, "name", "")
    if name in {"Aggregate_Max", "Aggregate_Sample"}:
        return plain(expression.vars), True
    if name != "RelationalExpression" or isinstance(expression.other, list):
        return None
    made, bound = plain(expression.expr), plain(expression.other)
    aggregate = getattr(made, "name", "")
    truth = _ASKING_ANY.get((aggregate, expression.op, str(bound)))
    if truth is None:
        return None
    return _weighed(made, row, truth=truth)


def none_asked(expression: Any, row: Row) -> tuple[Any, bool] | None:
    """Return the truth that no solution of a node may have, and whether it is that it holds.

    None for an expression that asks anything else than whether there is no such solution.
    """
    made = plain(expression)
    if name_of(made) in dict(row.binds):
        return none_asked(dict(row.binds)[name_of(made)], row)
    name = getattr(made, "name", "")
    if name == "UnaryNot":
        return _any_aggregated(made.expr, row)
    if name == "Aggregate_Min":
        return _all_true(made, row)
    shorter = simpler(made, row, plain)
    compared = (
        _compared_with_truth(made) or _chosen_by(made) if shorter is None else (shorter, True)
    )
    if compared is not None:
        return none_asked(compared[0], row) if compared[1] else _any_aggregated(compared[0], row)
    if name != "RelationalExpression" or isinstance(made.other, list):
        return None
    counted, bound = plain(made.expr), str(plain(made.other))
    counted = plain(dict(row.binds).get(name_of(counted), counted))
    truth = _ASKING_NONE.get((getattr(counted, "name", ""), made.op, bound))
    return None if truth is None else _weighed(counted, row, truth=truth)


def _all_true(least: Any, row: Row) -> tuple[Any, bool] | None:
    """Return the truth that no solution may miss where the least of truths is asked for."""
    inner = plain(dict(row.binds).get(name_of(plain(least.vars)), plain(least.vars)))
    return (inner, False) if getattr(inner, "name", "") in _TRUTHS else None


def _chosen_by(expression: Any) -> tuple[Any, bool] | None:
    """Return what an IF makes true of, or false; None where it makes anything else."""
    if getattr(expression, "name", "") != "Builtin_IF":
        return None
    ends = [truth_of(expression[key]) for key in ("arg2", "arg3")]
    return (expression.arg1, ends[0] is True) if set(ends) == {True, False} else None


def _any_aggregated(expression: Any, row: Row) -> tuple[Any, bool] | None:
    """Return the truth of which an aggregate of all solutions asks whether any has it."""
    made = plain(expression)
    if name_of(made) in dict(row.binds):
        return _any_aggregated(dict(row.binds)[name_of(made)], row)
    single = of_each(made, row, plain)
    if single is not None:
        return single, True
    name = getattr(plain(made.expr), "name", "") if hasattr(made, "expr") else ""
    aggregated = getattr(made, "name", "") == "Aggregate_Max" or name.startswith("Aggregate_")
    return _any_of(made, row) if aggregated else None


def _weighed(aggregate: Any, row: Row, *, truth: bool) -> tuple[Any, bool] | None:
    """Return the truth that an aggregate counts, and whether it is that it holds."""
    inner = plain(aggregate.vars)
    counted = _counted_truth(plain(dict(row.binds).get(name_of(inner), inner)))
    return None if counted is None else (counted[0], counted[1] == truth)


def _counted_truth(expression: Any) -> tuple[Any, bool] | None:
    """Return the truth that is counted as one, and True; or as nought, and False."""
    if _is_cast(expression):
        return plain(expression.expr[0]), True
    if getattr(expression, "name", "") != "Builtin_IF":
        return (expression, True) if _is_weight(expression) else None
    weights = [str(plain(expression[key])) for key in ("arg2", "arg3")]
    made = {("1", "0"): True, ("0", "1"): False}.get((weights[0], weights[1]))
    return None if made is None else (plain(expression.arg1), made)


def _is_weight(expression: Any) -> bool:
    """Check whether a term is the one or the nought of a branch of its own."""
    return str(expression) in {"0", "1"} and str(getattr(expression, "datatype", "")).endswith(
        "#integer"
    )


def _is_cast(expression: Any) -> bool:
    """Check whether an expression makes a number of a truth: 1 where it holds, else 0."""
    if getattr(expression, "name", "") != "Function" or len(expression.expr or ()) != 1:
        return False
    kind = getattr(plain(expression.expr[0]), "name", "")
    return kind in _TRUTHS and str(expression.iri).endswith("XMLSchema#integer")


_TRUTHS: Final = frozenset({
    *("UnaryNot", "RelationalExpression", "ConditionalAndExpression", "ConditionalOrExpression"),
    *("Builtin_BOUND", "Builtin_EXISTS", "Builtin_NOTEXISTS", "Builtin_LANGMATCHES"),
    *("Builtin_REGEX", "Builtin_CONTAINS", "Builtin_STRSTARTS", "Builtin_STRENDS"),
    *("Builtin_isIRI", "Builtin_isLITERAL", "Builtin_isBLANK", "Builtin_isNUMERIC"),
})  # fmt: skip
"""Expressions that are true or false, by the names of the parser."""


def _of_extreme(expression: Any, row: Row) -> Any:
    """Return the comparison that one value at least passes where the least or greatest does.

    The least is below a bound where one value is, the greatest above it; where either is equal to
    the bound, one value is. None for a comparison of anything else.
    """
    if getattr(expression, "name", "") != "RelationalExpression" or isinstance(
        expression.other, list
    ):
        return None
    sides = [plain(expression.expr), plain(expression.other)]
    sign = expression.op
    if not getattr(sides[0], "name", "").startswith("Aggregate_"):
        sides, sign = sides[::-1], _TURNED.get(sign, sign)
    made = plain(dict(row.binds).get(name_of(sides[0]), sides[0]))
    if sign not in _EXTREMES.get(getattr(made, "name", ""), ()) or _aggregates(sides[1]):
        return None
    return type(expression)(expression.name, expr=plain(made.vars), op=sign, other=sides[1])


def _aggregates(expression: Any) -> bool:
    """Check whether an expression is an aggregate."""
    return str(getattr(expression, "name", "")).startswith("Aggregate_")


_TURNED: Final = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
_EXTREMES: Final = {
    "Aggregate_Min": frozenset({"<", "<=", "="}),
    "Aggregate_Max": frozenset({">", ">=", "="}),
    "Aggregate_Sample": frozenset({"<", "<=", "=", ">=", ">", "!="}),
}
"""How a comparison of the least or greatest of all values asks whether there is one such value."""
_ASKING_ANY: Final = {
    **{
        (aggregate, sign, bound): True
        for aggregate in ("Aggregate_Max", "Aggregate_Sum", "Aggregate_Avg")
        for sign, bound in ((">", "0"), (">=", "1"), ("!=", "0"))
        if (aggregate, bound) != ("Aggregate_Avg", "1")
    },
    ("Aggregate_Max", "=", "1"): True,
    ("Aggregate_Min", "=", "0"): False,
    ("Aggregate_Min", "<", "1"): False,
    ("Aggregate_Avg", "<", "1"): False,
}
"""How an aggregate of ones and noughts asks whether any is one, or whether any is nought."""
_ASKING_NONE: Final = {
    **{
        (aggregate, sign, bound): True
        for aggregate in ("Aggregate_Max", "Aggregate_Sum", "Aggregate_Avg")
        for sign, bound in (("=", "0"), ("<=", "0"), ("<", "1"))
        if (aggregate, bound) != ("Aggregate_Avg", "1")
    },
    **{
        ("Aggregate_Min", sign, bound): False
        for sign, bound in (("=", "1"), (">", "0"), (">=", "1"))
    },
}
"""How it asks whether none is one, or whether none is nought."""


def truth_of(expression: Any) -> bool | None:
    """Return whether a term is true or false; None for anything else."""
    expression = plain(expression)
    text = str(expression) if not hasattr(expression, "name") else ""
    kind = str(getattr(expression, "datatype", "") or "")
    if getattr(expression, "name", "") == "literal":
        text, kind = str(expression.string), str(expression.datatype or "")
    if not kind.endswith("#boolean"):
        return None
    return text in {"true", "1"}
