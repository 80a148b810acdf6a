"""Single tests of a query on a value: of which constraint components they have the meaning."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import ceil
from typing import Any, Final

from pyoxigraph import Literal, NamedNode

from kgreason.base.store import Term
from kgreason.base.terms import RDF, SH
from kgreason.shacl.query_row import plain, variables
from kgreason.shacl.query_text import as_term

_KINDS: Final = {"isIRI": SH.IRI, "isURI": SH.IRI, "isBLANK": SH.BlankNode, "isLITERAL": SH.Literal}
_OF: Final = {
    **{name.upper(): "NodeKind" for name in _KINDS},
    "LANG": "LanguageIn",
    "LANGMATCHES": "LanguageIn",
    "DATATYPE": "Datatype",
    "ISNUMERIC": "Datatype",
    "STRLEN": "MinLength",
    **dict.fromkeys(
        ("REGEX", "CONTAINS", "STRSTARTS", "STRENDS", "STRBEFORE", "STRAFTER", "REPLACE"), "Pattern"
    ),
    **dict.fromkeys(("SUBSTR", "UCASE", "LCASE"), "Pattern"),
}
_TEXT: Final = frozenset({"Pattern", "MinLength"})
_ORDER: Final = frozenset({"<", ">", "<=", ">="})
_TURNED: Final = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
_DENIED: Final = {
    "<": ">=", ">=": "<", ">": "<=", "<=": ">", "=": "!=", "!=": "=", "IN": "NOT IN",
    "NOT IN": "IN",
}  # fmt: skip


@dataclass(frozen=True)
class Test:
    """What one test asks: `of` which variables, and as which components.

    `parameters` are what a value at fault lacks where the test is what makes it fail, `right` what
    one has that passes the test. `allowed` are the values that do not pass it, where it lists them,
    `listed` those that do. `counted` is the variable whose values are counted, "*" for solutions;
    more than `most` of them fail, or fewer than `least` where that is None; `apart` says that each
    language counts for itself. `before` are two variables, of which the first has to come before
    the second.
    """

    of: tuple[str, ...] = ()
    components: frozenset[str] = frozenset()
    parameters: Mapping[NamedNode, tuple[Term, ...]] = field(default_factory=dict)
    right: Mapping[NamedNode, tuple[Term, ...]] = field(default_factory=dict)
    allowed: tuple[NamedNode | Literal, ...] = ()
    listed: tuple[NamedNode | Literal, ...] = ()
    text: bool = False
    linked: bool = False
    counted: str | None = None
    most: int | None = None
    least: int = 1
    apart: bool = False
    before: tuple[str, str] | None = None


def read_test(given: Any, binds: Mapping[str, Any], ends: set[str], focus: str = "") -> Test:
    """Return what a test asks of some of the variables `ends`; nothing of what is not read.

    What compares a value with the focus node itself says nothing of the value alone, but for a text
    that is held against that of its IRI.
    """
    test, denied = given, False
    while isinstance(test, tuple) and test[0] == "denied":
        test, denied = test[1], not denied
    test = test if isinstance(test, tuple) else _resolved(plain(test), binds)
    whole = _counted(test, binds, denied=denied) or _true(test, ends, denied=denied)
    if whole is not None:
        return whole
    inner = test[1] if isinstance(test, tuple) else test
    named = _named(inner, binds)
    of = tuple(sorted(named & ends))
    if focus in named:
        # A text that has to be a piece of the node's own IRI is what is at fault where it is none.
        texts = {"STRSTARTS", "STRENDS", "CONTAINS", "REPLACE", "STRAFTER"}
        own = len(of) == 1 and texts.intersection(_calls(inner, binds))
        return Test(of, frozenset({"SPARQL"}), text=True) if own else Test()
    if len(of) > 1:
        return _ordered(test, of, denied=denied)
    components = {_OF[name] for name in _calls(inner, binds) if name in _OF}
    sign, values = _against(test, denied=denied)
    parameters: dict[NamedNode, tuple[Term, ...]] = {}
    right: dict[NamedNode, tuple[Term, ...]] = {}
    allowed: tuple[Term, ...] = ()
    listed: tuple[Term, ...] = ()
    if "Datatype" in components:
        sign, wanted = _of_datatype(inner, sign, values)
        (parameters if sign in {"!=", "NOT IN"} else right)[SH.datatype] = wanted[:1]
    elif "LanguageIn" in components and sign == "=" and values == [Literal("")]:
        components |= {"Datatype"}
        parameters[SH.datatype] = (RDF.langString,)
    elif not components and sign in {"=", "!=", "IN", "NOT IN"}:
        components = {"In"}
        allowed = tuple(values) if sign in {"!=", "NOT IN"} else ()
        listed = tuple(values) if sign in {"=", "IN"} else ()
    elif not components and (sign in _ORDER or isinstance(test, tuple)):
        components = {"MinInclusive"}
    if not components:
        components = {"Pattern"} if of and not isinstance(test, tuple) else {"MinInclusive"}
    kind = _kind(test, denied=denied)
    return Test(
        of,
        frozenset(components),
        {k: v for k, v in parameters.items() if v},
        {k: v for k, v in right.items() if v},
        tuple(one for one in allowed if isinstance(one, NamedNode | Literal)),
        tuple(one for one in listed if isinstance(one, NamedNode | Literal)),
        text=bool(components & _TEXT),
        linked=kind,
    )


def _ordered(test: Any, of: tuple[str, ...], *, denied: bool) -> Test:
    """Return what a test asks that compares several values: which has to come first."""
    if getattr(test, "op", None) not in _ORDER:
        return Test()
    sides, sign = _held_against(test)
    names = [variables([side]) for side in sides]
    if any(len(one) != 1 for one in names):
        return Test(of, frozenset({"LessThan"}))
    (one,), (other,) = names
    first = (one, other) if (sign in {">", ">="}) != denied else (other, one)
    return Test(of, frozenset({"LessThan"}), before=first)


def _held_against(test: Any) -> tuple[list[Any], str]:
    """Return the two sides of a comparison and its sign; of a difference and nought, its parts."""
    sides, sign = [plain(side) for side in (test.expr, test.other)], test.op
    if str(sides[0]) == "0":
        sides, sign = sides[::-1], _TURNED[sign]
    whole = sides[0]
    parted = getattr(whole, "name", "") == "AdditiveExpression" and list(whole.op) == ["-"]
    if parted and str(sides[1]) == "0":
        sides = [plain(whole.expr), plain(whole.other[0])]
    return sides, sign


def _true(test: Any, ends: set[str], *, denied: bool) -> Test | None:
    """Return what is asked where a value is a test by itself: that it is true, or false."""
    if type(test).__name__ != "Variable":
        return None
    asked = (Literal(not denied),)
    return Test((str(test),), frozenset({"In"}), listed=asked) if str(test) in ends else Test()


def asked_truth(given: Any) -> bool | None:
    """Return which of the two a test wants a value to be that it names alone; else None."""
    test, wanted = given, True
    while isinstance(test, tuple) and test[0] == "denied":
        test, wanted = test[1], not wanted
    return wanted if type(plain(test)).__name__ == "Variable" else None


def _resolved(test: Any, binds: Mapping[str, Any]) -> Any:
    """Return the expression behind a variable that BIND named."""
    while type(test).__name__ == "Variable" and str(test) in binds:
        test = plain(binds[str(test)])
    return test


def _counted(test: Any, binds: Mapping[str, Any], *, denied: bool) -> Test | None:
    """Return what a comparison with a number of values asks; None where nothing is counted."""
    one, sign, number = _sides(test, binds)
    if getattr(one, "name", "") != "Aggregate_Count":
        return None
    names = variables([one.vars])
    # Of an expression over several it is not known whose values are counted.
    name = next(iter(names)) if len(names) == 1 else "*" if str(one.vars) == "*" else None
    alike = _counted_apart(one, sign if not denied else _DENIED.get(sign, sign), number)
    if alike is not None:
        return alike
    try:
        bound = float(str(number))
    except ValueError:
        return Test()
    sign = _DENIED.get(sign, sign) if denied else sign
    few = sign in {"<", "<="} or (sign == "=" and bound == 0)
    most = int(bound) - (sign == ">=")
    many = (sign in {">", ">="} and most > 0) or (sign == "!=" and bound >= 1)
    if name is None or not (few or many):
        return Test()
    least = max(1, ceil(bound) if sign == "<" else int(bound) + 1)
    return Test(counted=name, least=least) if few else Test(counted=name, most=most)


def _counted_apart(one: Any, sign: str, other: Any) -> Test | None:
    """Return what it asks that there are more values than languages or texts; None for others."""
    if getattr(other, "name", "") != "Aggregate_Count" or sign not in {">", "<", "!="}:
        return None
    more, less = (one, other) if sign != "<" else (other, one)
    if sign == "!=" and str(less.distinct) != "DISTINCT":
        more, less = less, more
    kind = getattr(plain(less.vars), "name", "")
    name = next(iter(variables([more.vars])), None)
    if kind not in _APART or name is None or variables([less.vars]) != {name}:
        return Test()
    return Test(counted=name, most=1, apart=kind == "Builtin_LANG")


_APART: Final = frozenset({"Builtin_LANG", "Builtin_STR"})


def _sides(test: Any, binds: Mapping[str, Any]) -> tuple[Any, str, Any]:
    """Return what is compared, by which sign and with what, a count to the left; else nothing."""
    if isinstance(test, tuple):
        return (_resolved(plain(test[1]), binds), ">=", test[2]) if test[0] == "least" else _NONE
    if getattr(test, "name", "") != "RelationalExpression" or isinstance(test.other, list):
        return _NONE
    one, other = (_resolved(plain(side), binds) for side in (test.expr, test.other))
    if getattr(other, "name", "") == "Aggregate_Count":
        return other, _TURNED.get(test.op, test.op), one
    return one, test.op, other


_NONE: Final = (None, "", None)


def _named(thing: Any, binds: Mapping[str, Any], depth: int = 0) -> set[str]:
    """Return the variables in an expression, and those behind what BIND named."""
    found = variables([thing])
    behind = [binds[name] for name in found if name in binds and depth < _DEEP]
    return found.union(*(_named(one, binds, depth + 1) for one in behind)) if behind else found


_DEEP: Final = 5


def _calls(thing: Any, binds: Mapping[str, Any], depth: int = 0) -> Iterator[str]:
    """Return the names of the functions in an expression, casts as DATATYPE."""
    name = getattr(thing, "name", "")
    if name.startswith("Builtin_"):
        yield name.removeprefix("Builtin_").upper()
    if name == "Function" and "XMLSchema#" in str(thing.iri):
        yield "DATATYPE"
    if type(thing).__name__ == "Variable" and str(thing) in binds and depth < _DEEP:
        yield from _calls(binds[str(thing)], binds, depth + 1)
    if isinstance(thing, Mapping):
        for inner in thing.values():
            yield from _calls(inner, binds, depth)
    elif isinstance(thing, list):
        for inner in thing:
            yield from _calls(inner, binds, depth)


def _of_datatype(inner: Any, sign: str, values: list[Term]) -> tuple[str, tuple[NamedNode, ...]]:
    """Return the datatypes that a test names, and by which sign; what a cast cannot make is not it.

    That it makes nothing is said by an empty text in place of what it makes.
    """
    if sign == "=" and values == [Literal("")]:
        return "!=", tuple(_casts(inner))
    return sign, tuple(v for v in values if isinstance(v, NamedNode))


def _casts(thing: Any) -> Iterator[NamedNode]:
    """Return the datatypes that an expression makes of its values."""
    if getattr(thing, "name", "") == "Function" and "XMLSchema#" in str(thing.iri):
        yield NamedNode(str(thing.iri))
    if isinstance(thing, Mapping | list):
        for inner in thing.values() if isinstance(thing, Mapping) else thing:
            yield from _casts(inner)


def _against(test: Any, *, denied: bool) -> tuple[str, list[Term]]:
    """Return the sign of a comparison, turned where it is denied, and the terms on its right."""
    if isinstance(test, tuple):
        if test[0] != "listed":
            return "", []
        sign, others = "IN", test[2]
    elif getattr(test, "name", "") == "RelationalExpression":
        others = test.other if isinstance(test.other, list) else [test.other]
        sign = test.op
        if as_term(plain(test.expr)) is not None:
            others, sign = [test.expr], _TURNED.get(sign, sign)
    else:
        return "", []
    values = [term for one in others if (term := as_term(plain(one))) is not None]
    return (_DENIED.get(sign, sign) if denied else sign), values


def _kind(test: Any, *, denied: bool) -> bool:
    """Check whether what passes the test (fails, where it is denied) is a literal, not a thing."""
    name = getattr(test, "name", "").removeprefix("Builtin_").upper()
    return (name in {"ISIRI", "ISURI"} and denied) or (name == "ISLITERAL" and not denied)
