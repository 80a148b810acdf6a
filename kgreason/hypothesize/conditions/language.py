r"""The language of conditions as JSON, in which a person or a program can propose a cause.

A region is a list of conditions. A condition has a `path`, a list of steps each with its kind and
the property (or class) it goes along, a `test`, and `terms`, what the test names, as N-Triples; one
that compares the ends of two paths has the other one as `beside`:

    [{"path": [{"step": "forward", "along": "<urn:p>"}], "test": "equals",
      "terms": {"term": "\"5\""}}]
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from pyoxigraph import Literal, NamedNode, RdfFormat, Triple, parse

from kgreason.base.errors import OptionError
from kgreason.base.templates import Fragment, Value, role, template
from kgreason.base.terms import WORK
from kgreason.hypothesize.conditions.condition import Condition
from kgreason.hypothesize.conditions.paths import MOST, Path, Step

_BESIDE: Final = "beside"
_GIVEN: Final = frozenset({"route", "value", _BESIDE, "against", "sharing"})


def written(parts: Sequence[Condition]) -> list[dict[str, Any]]:
    """Return a conjunction as plain lists and texts; `read` makes it again."""
    return [
        {
            "path": path_written(part.path),
            "test": part.test,
            "terms": {name: _value_written(value) for name, value in part.terms},
            **({_BESIDE: path_written(part.beside)} if part.beside is not None else {}),
        }
        for part in parts
    ]


def read(plain: Any) -> tuple[Condition, ...]:
    """Make conditions of plain lists and texts; who they hold is not filled in.

    Raises OptionError, which says what is not as the language has it.
    """
    if not isinstance(plain, list) or not plain:
        raise OptionError("A region is a list of conditions, and has at least one.")
    return tuple(_condition(each) for each in plain)


def path_written(path: Path) -> list[dict[str, str]]:
    """Return a path as plain lists and texts; `path_read` makes it again."""
    return [_step_written(step) for step in path.steps]


def path_read(plain: Any) -> Path:
    """Make a path of plain lists and texts; raises OptionError as `read` does."""
    if not isinstance(plain, list) or len(plain) > MOST:
        raise OptionError(f"A path is a list of at most {MOST} steps, not {plain!r}.")
    return Path(tuple(_step(step) for step in plain))


def _step_written(step: Step) -> dict[str, str]:
    return {"step": step.kind, "along": str(step.along)} if step.named else {"step": step.kind}


def _value_written(value: Value) -> str | bool | list[str]:
    if isinstance(value, bool):
        return value
    return [str(v) for v in value] if isinstance(value, list) else str(value)


def _condition(plain: Any) -> Condition:
    if not isinstance(plain, Mapping) or not {"path", "test"} <= set(plain):
        raise OptionError(f"A condition has a path and a test; this has not: {plain!r}.")
    test, tests = plain["test"], role("condition")
    if test not in tests:
        raise OptionError(f"There is no test {test!r}; there are {', '.join(tests)}.")
    path, terms = path_read(plain["path"]), plain.get("terms", {})
    wanted = [name for name in template("condition", test).parameters if name not in _GIVEN]
    if not isinstance(terms, Mapping) or sorted(terms) != sorted(wanted):
        raise OptionError(f"The test {test} takes {wanted or 'no terms'}, not {terms!r}.")
    made = tuple((name, _value(test, name, terms[name])) for name in wanted)
    compares = _BESIDE in template("condition", test).parameters
    if compares != (_BESIDE in plain):
        raise OptionError(
            f"The test {test} compares the end of its path with that of another one, which stands "
            f"under {_BESIDE!r}."
            if compares
            else f"The test {test} takes no other path under {_BESIDE!r}."
        )
    return Condition(path, test, made, 0, beside=path_read(plain[_BESIDE]) if compares else None)


def _step(plain: Any) -> Step:
    kind = plain.get("step") if isinstance(plain, Mapping) else None
    if kind not in role("path"):
        raise OptionError(f"There is no step {plain!r}; there are {', '.join(role('path'))}.")
    step = Step(str(kind), _ALONG.get(str(kind), WORK.source))
    if not step.named:
        return step
    along = _term(str(plain.get("along", "")))
    if not isinstance(along, NamedNode):
        raise OptionError(f"A step {kind} goes along an IRI, in angle brackets, not {plain!r}.")
    return Step(step.kind, along)


_ALONG: Final = {
    "classes": NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#type"),
    "properties": WORK.member,
}
"""What stands for the property in steps that have none, as their queries give it."""


def _value(test: str, name: str, given: Any) -> Value:
    kind = template("condition", test).parameters[name].type
    if kind == "flag":
        return bool(given)
    if kind == "terms" and isinstance(given, list):
        return [*list[NamedNode | Literal | Fragment](_term(str(text)) for text in given)]
    found = _term(str(given))
    if kind == "iri" and not isinstance(found, NamedNode):
        raise OptionError(f"{name} of the test {test} is an IRI, in angle brackets, not {given!r}.")
    if kind == "literal" and not isinstance(found, Literal):
        raise OptionError(f"{name} of the test {test} is a literal, not {given!r}.")
    return found


def _term(text: str) -> NamedNode | Literal:
    """Read one term in N-Triples; raises OptionError."""
    try:
        triples = list(parse(f"<urn:s> <urn:p> {text} .", format=RdfFormat.N_TRIPLES))
    except (SyntaxError, ValueError) as error:
        raise OptionError(f'{text!r} is no term: write <an IRI> or "a literal".') from error
    found = triples[0].object if len(triples) == 1 else None
    if found is None or isinstance(found, Triple) or not isinstance(found, NamedNode | Literal):
        raise OptionError(f'{text!r} is no term: write <an IRI> or "a literal".')
    return found
