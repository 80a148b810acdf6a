"""Look through templates as their author would want it done: every fault of a file, in a line.

What stops a template from being read is found there; here comes what is seen only beside the rest
of the catalogue or when the text is parsed: names that there are not, parameters and prefixes that
do not fit the body, sections that are missing, text that one of two SPARQL engines refuses.
"""

import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pyoxigraph as ox
from jinja2 import TemplateError as JinjaError
from jinja2 import meta
from jinja2.sandbox import ImmutableSandboxedEnvironment

from kgreason.base import extensions
from kgreason.base.errors import KgreasonError, OptionError
from kgreason.base.extensions import Extension, using
from kgreason.base.headers import keys_of
from kgreason.base.resources import folder
from kgreason.base.templates import (
    FILTERS,
    Fragment,
    Parameter,
    Template,
    Value,
    parse,
    role,
    roles,
)
from kgreason.base.terms import PREFIXES, SKOS, TRAILS
from kgreason.record import policy
from kgreason.record.seal import Functions
from kgreason.record.whole_shapes import files

_EXPRESSION: Final = re.compile(r"\{\{ [a-z_0-9]+(?: \| (?:balanced\(.*?\)|enumerated|rows))? \}\}")
_STATEMENT: Final = re.compile(r"\{% (?:if|elif|else|endif|for|endfor|set) ?[^%{}]*%\}")
_STRINGS_AND_IRIS: Final = re.compile(
    r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|<[^<>"{}|^`\\\s]*>'
)
_PREFIXED: Final = re.compile(r"(?<![\w:$?.%-])([a-z][\w-]*):(?=[A-Za-z_]|$|[\s)*])", re.MULTILINE)
_LISTED: Final = re.compile(r"\bIN \(\s*\{% for \w+ in (\w+)")
_WORDING: Final = ("statement", "mechanism", "prediction", "explanation", "example")
_ALWAYS_TOLD: Final = {"fail", "Failures", "parts", "condition", "why"}
"""Names that a sentence of a family may have in braces without binding them."""
_SHAPED: Final = {
    **dict.fromkeys(
        (
            *("value", "against", "other", "holder", "object", "stored", "any", "focus", "bound"),
            *("label", "class"),
        ),
        "?{name}",
    ),
    **dict.fromkeys(["datatype", "same", "plain", "other_plain", "number"], "?value"),
    **dict.fromkeys(["fails", "tests", "each_fails", "unqualified", "among"], "isBlank(?value)"),
    **dict.fromkeys(["below", "above", "within", "ordered"], "isBlank(?value)"),
    **dict.fromkeys(["path", "second", "first", "rest", "along"], "<urn:example:p>"),
    "made": "BIND (1 AS ?object)",
    "select": "SELECT ?focus ?outcome WHERE {{ ?focus <urn:example:o> ?outcome }}",
    "body": "SELECT (1 AS ?claimed) (0 AS ?holds) WHERE {{ }}",
    "arms": "{{ SELECT (1 AS ?armClaimed) (0 AS ?armHolds) WHERE {{ }} }}",
}
"""What a parameter of type pattern stands for while text is parsed; any other is a triple."""


def faults(
    place: str | Path | None = None, engines: Iterable[str] = ("Oxigraph", "rdflib")
) -> list[str]:
    """Return every fault of an extension's folder, or of the catalogue; each names its file.

    The engines named parse all texts of the catalogue (rdflib takes a minute for them); an
    extension's are parsed by both. Raises OptionError where there is no such folder, or nothing in
    it.
    """
    if place is None:
        cases = folder("queries").parent / "tests" / "cases"
        every = [one for r in roles() for one in role(r).values()]
        return list(_of_all(every, cases, engines, shipped=True))
    extension, found = extensions.sifted(place)
    found = [f"{place}: {stray}" for stray in found]
    if not extension.files and not found:
        extensions.read(place)  # says that there is nothing
    extension, read = _read(extension, found)
    with using((*extensions.installed(), extension)):
        return found + list(_of_all(read, Path(place) / "tests" / "cases", _ENGINES))


def _read(extension: Extension, found: list[str]) -> tuple[Extension, list[Template]]:
    """Return what can be used of an extension, and its templates; the rest is told."""
    bad: set[Path] = set()
    read: list[Template] = []
    for name in extensions.ROLES:
        for path in extension.queries(name):
            try:
                made = parse(path, name)
            except KgreasonError as error:
                found.append(f"{path.parent}/{error}")
                bad.add(path)
            except UnicodeDecodeError:
                found.append(f"{path}: this is not text in UTF-8.")
                bad.add(path)
            else:
                if made.name in role(name):
                    found.append(
                        f"{path}: the name {name}/{made.name} is taken already; rename it."
                    )
                    bad.add(path)
                read.append(made)
    usable = _without(extension, bad)
    with using((*extensions.installed(), usable)):
        try:
            policy.names()
        except OptionError as error:
            found.append(str(error))
            usable = _without(usable, set(extension.policies()))
    return usable, read


def _without(extension: Extension, bad: set[Path]) -> Extension:
    kept = tuple(one for one in extension.files if extension.folder / one[0] not in bad)
    return replace(extension, files=kept)


def _of_all(
    templates: Iterable[Template], cases: Path, engines: Iterable[str], *, shipped: bool = False
) -> Iterator[str]:
    known = names()
    by = tuple(engines)
    for made in templates:
        for look in (
            _parameters,
            _prefixes,
            _braces,
            _lists,
            _sections,
            _words,
            _rows,
        ):
            yield from (f"{made.path}: {fault}" for fault in look(made))
        yield from (f"{made.path}: {fault}" for fault in _sparql(made, by))
        yield from (f"{made.path}: {fault}" for fault in _names(made, known))
        if not shipped or cases.is_dir():
            yield from (f"{made.path}: {fault}" for fault in _cases(made, cases))


# One look each


def body(made: Template) -> str:
    """Return all sections of a template as one text."""
    return "\n".join(made.sections.values())


def used(text: str) -> set[str]:
    """Return the parameters that a text uses; raises jinja2.TemplateError for a broken one."""
    environment = ImmutableSandboxedEnvironment(autoescape=True)
    environment.filters.update(FILTERS)
    return meta.find_undeclared_variables(environment.parse(text))


def _parameters(made: Template) -> Iterator[str]:
    try:
        found = used(body(made))
    except JinjaError as error:
        yield f"its jinja cannot be read: {error}."
        return
    for name in sorted(found - set(made.parameters)):
        yield f"the body uses {name!r}; declare it by '#+ param {name}: TYPE, meaning'."
    for name in sorted(set(made.parameters) - found):
        yield f"the parameter {name!r} is declared, but the body does not use it."
    for parameter in made.parameters.values():
        if not parameter.meaning:
            yield f"say what the parameter {parameter.name!r} means."


def _prefixes(made: Template) -> Iterator[str]:
    bare = _STATEMENT.sub(" ", _EXPRESSION.sub(" ", body(made)))
    found = set(_PREFIXED.findall(re.sub(r"(?m)#.*$", " ", _STRINGS_AND_IRIS.sub(" ", bare))))
    for prefix in sorted(found - set(made.prefixes)):
        yield f"the prefix {prefix}: is used, but not declared."
    for prefix in sorted(set(made.prefixes) - found):
        yield f"the prefix {prefix}: is declared, but not used."


def _braces(made: Template) -> Iterator[str]:
    left = _STATEMENT.sub("", _EXPRESSION.sub("", body(made)))
    for sign in sorted(set(re.findall(r"\{\{|\}\}|\{#|#\}|\{%|%\}", left))):
        yield f"jinja would read {sign!r}; leave a blank after a brace of SPARQL."


def _lists(made: Template) -> Iterator[str]:
    """Find lists that may be empty: the store gives no row at all for `NOT IN ()`."""
    text = body(made)
    for found in _LISTED.finditer(text):
        if f"{{% if {found[1]} %}}" not in text[: found.start()]:
            yield f"without {found[1]} the list after IN is empty; begin it with a dummy."


def _sections(made: Template) -> Iterator[str]:
    if made.role != "hypothesize" or not made.sections:
        return
    tests = set(made.header["tests"].split())
    needed = {"region", "propose"}
    if made.name in {one.header.get("into") for one in role("refine").values()}:
        needed = {"region"}
    if "{condition}" in made.header["statement"]:
        needed = set()  # the search in conditions proposes it, and knows its region
    if tests & {"sibling-spread", "period-spread"}:
        needed |= {"levels"}
    needed |= {"prediction"} if "direct-check" in tests else set()
    needed |= {"placebo"} if "placebo" in tests else set()
    for name in sorted(needed - set(made.sections)):
        yield f"the section '#= {name}' is missing."


def _words(made: Template) -> Iterator[str]:
    if made.role != "hypothesize":
        return
    bound = set(made.parameters) | _ALWAYS_TOLD
    bound |= set(re.findall(r"\?(\w+)", made.sections.get("propose", "")))
    for key in _WORDING:
        for name in re.findall(r"\{(\w+)\}", made.header[key]):
            if name not in bound:
                yield f"its {key} has {{{name}}}, which is no parameter and not bound in 'propose'."


def _rows(made: Template) -> Iterator[str]:
    if made.role != "test":
        return
    try:
        known = policy.load().outcomes
    except OptionError as error:
        yield str(error)
        return
    for outcome in made.header["outcomes"].split():
        if (made.name, outcome) not in known:
            yield (
                f"no likelihood says what its outcome {outcome!r} is worth; add rows for the "
                "policy frame in ontology/policies/."
            )


def _cases(made: Template, cases: Path) -> Iterator[str]:
    place = cases / made.role / made.name
    elsewhere = made.role in {"audit", "probe"}  # a probe says in its header what it gives
    if made.sections and not elsewhere and not any(place.glob("*")):
        yield f"it has no case; add a folder {place / 'NAME'}."


def names() -> dict[str, set[str]]:
    """Return the names that header keys may refer to, by what queries/headers.toml calls them."""
    known: dict[str, set[str]] = {
        name: set(role(name)) for name in ("hypothesize", "test", "refine")
    }
    components = (made.header.get("component", "") for made in role("observe").values())
    known["kinds"] = set(policy.kinds())
    known["hypothesize or kinds"] = known["hypothesize"] | known["kinds"]
    known["components"] = {
        one.removeprefix("sh:").removesuffix("ConstraintComponent") for one in components
    } | {"OutcomeQuery", "UniqueValue"}  # a query may ask whether another node has a value, too
    known["test roles"] = _concepts("trails", "TestRoleScheme")
    known["statuses"] = _concepts("trails", "StatusScheme", by_notation=False)
    known["regions"] = _concepts("repair", "RegionKindScheme")
    known["operations"] = _concepts("repair", "OperationScheme")
    text = "\n".join(path.read_text(encoding="utf-8") for path in files())
    prefix = re.escape("shape:")
    known["shapes"] = set(re.findall(rf"(?m)^{prefix}([\w-]+) a sh:NodeShape", text))
    return known


def _concepts(file: str, scheme: str, *, by_notation: bool = True) -> set[str]:
    store = ox.Store()
    path = folder("ontology") / f"{file}.ttl"
    store.load(path=str(path), format=ox.RdfFormat.TURTLE)
    found = store.quads_for_pattern(None, SKOS.inScheme, TRAILS[scheme], None)
    nodes = [quad.subject for quad in found if isinstance(quad.subject, ox.NamedNode)]
    if not by_notation:
        return {node.value.rpartition("#")[2] for node in nodes}
    return {
        quad.object.value
        for node in nodes
        for quad in store.quads_for_pattern(node, SKOS.notation, None, None)
        if isinstance(quad.object, ox.Literal)
    }


def _names(made: Template, known: Mapping[str, set[str]]) -> Iterator[str]:
    for key, said in made.header.items():
        about = keys_of(made.role).get(key)
        if about is None or not about.catalogue:
            continue
        for name in said.split():
            if name not in known[about.catalogue]:
                near = ", ".join(sorted(known[about.catalogue]))
                yield f"its {key} names {name!r}, which there is not; there are {near}."


# Both engines


def texts(made: Template) -> Iterator[tuple[str, str]]:
    """Return each section with its text as a whole query, for every way its parameters may turn."""
    for section, text in made.sections.items():
        taken = [n for n in made.parameters if section == "main" or n in used(text)]
        choices = [_stand_ins(made.parameters[name], text) for name in taken]
        for values in itertools.product(*choices):
            part = made.fragment(section, **dict(zip(taken, values, strict=True)))
            yield section, _whole(made, part)


def _sparql(made: Template, engines: Iterable[str]) -> Iterator[str]:
    try:
        every = dict.fromkeys(texts(made))
    except (KgreasonError, JinjaError) as error:
        yield f"it cannot be filled in: {error}"
        return
    for section, text in every:
        for engine in engines:
            try:
                _ENGINES[engine](made, text)
            except Exception as error:  # noqa: BLE001 - parsers raise what they like
                if made.name == "refuse" and "already exists" in str(error):
                    continue  # to fail on an empty store is what it is for
                where = "" if section == "main" else f"the section {section!r}: "
                yield f"{where}{engine} cannot read it: {' '.join(str(error).split())}"
                return


def _in_oxigraph(made: Template, text: str) -> None:
    if made.is_update:
        ox.Store().update(text, custom_functions=Functions(lambda _: ()).plain)
    else:
        ox.Store().query(text)


def _in_rdflib(made: Template, text: str) -> None:
    from rdflib.plugins.sparql.algebra import (  # noqa: PLC0415 - takes long to load
        translateQuery,
        translateUpdate,
    )
    from rdflib.plugins.sparql.parser import parseQuery, parseUpdate  # noqa: PLC0415

    if made.is_update:
        translateUpdate(parseUpdate(text))
    else:
        translateQuery(parseQuery(text))


_ENGINES: Final[Mapping[str, Callable[[Template, str], None]]] = {
    "Oxigraph": _in_oxigraph,
    "rdflib": _in_rdflib,
}


def _stand_ins(parameter: Parameter, text: str) -> list[Value]:
    """Return values of a parameter's type: one, or one for each way a text may turn."""
    if parameter.type == "flag":
        return [True, False]
    if parameter.type == "pattern":
        shape = _SHAPED.get(parameter.name, "?focus <urn:example:p> ?value .")
        return [Fragment(shape.format(name=parameter.name))]
    if parameter.type.endswith("s"):
        single = Parameter(parameter.name, parameter.type[:-1], parameter.meaning)
        (one,) = _stand_ins(single, text)
        several: list[Any] = [one, one]
        optional = re.search(rf"\{{% if [^%]*\b{parameter.name}\b", text)
        return [several, []] if optional else [several]
    if parameter.type == "literal":
        return [ox.Literal("7", datatype=ox.NamedNode(PREFIXES["xsd"] + "integer"))]
    return [ox.NamedNode("urn:example:node")]


def _whole(made: Template, part: Fragment) -> str:
    declared = PREFIXES | part.prefixes
    head = "".join(f"PREFIX {prefix}: <{iri}>\n" for prefix, iri in declared.items())
    text = part.text
    if re.match(r"\s*(SELECT|ASK|CONSTRUCT|DELETE|INSERT)\b", text):
        return head + text
    form = {made.header.get("form"), made.header.get("use")}
    if form & {"test", "expression"}:
        text = f"FILTER ({text})"
    return f"{head}SELECT * WHERE {{ ?focus a ?class . {text} }}"
