"""The catalogue of `queries/`: find a template, read its header, check it, render it.

A template is a document: a header of `#+ key: value` lines (a further `#+ ` line that starts with a
blank continues the value), PREFIX lines, and a SPARQL body with jinja2 expressions. The folder is
its role, the file name its name. A document may have several sections, each begun by a line
`#= name`; without one the whole body is the section `main`. Only typed
RDF terms and fragments made by other templates can be put in, so no string ever becomes part of a
query.

What several templates say alike is a file in `queries/phrase/`, and is written in them as
`{{ name(?variable, parameter) }}`; it is put in its place when the template is read.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Final

from jinja2 import StrictUndefined
from jinja2 import TemplateError as JinjaError
from jinja2.sandbox import ImmutableSandboxedEnvironment
from pyoxigraph import Literal, NamedNode

from kgreason.base.errors import OptionError, TemplateError
from kgreason.base.extensions import ROLES, active, cached
from kgreason.base.headers import faults
from kgreason.base.resources import folder
from kgreason.base.terms import PREFIXES

PARAMETER_TYPES: Final = ("iri", "literal", "term", "terms", "pattern", "patterns", "flag")
_HEADER = re.compile(r"^#\+ ?(?P<text>.*)$")
_KEY = re.compile(r"^(?P<key>[a-z][a-z-]*)(?: (?P<name>[a-z_0-9]+))?:\s*(?P<value>.*)$")
_SECTION = re.compile(r"^#= (?P<name>[a-z][a-z-]*)\s*$")
_PREFIX = re.compile(r"^\s*PREFIX\s+(?P<prefix>[\w-]*):\s*<(?P<iri>[^>]*)>\s*$", re.IGNORECASE)


_TAG = re.compile(r"\{[{%#]")
_EXPRESSION = re.compile(r"\{\{ ([a-z_0-9]+) \}\}")
PHRASE: Final = "phrase"
"""The role of what other templates may be made of."""
_CALL = re.compile(r"\{\{ (?P<name>[a-z-]+)\((?P<given>[^(){}]*)\) \}\}")
_GIVEN = re.compile(r"\?\w+|[a-z_0-9]+")
_PLACE = re.compile(r"\{\{ ([a-z_0-9]+)((?: \| [a-z]+)?) \}\}")


class Fragment:
    """Part of a SPARQL text that a template or a path made; carries the prefixes it uses."""

    __slots__ = ("prefixes", "text")

    def __init__(self, text: str, prefixes: Mapping[str, str] | None = None) -> None:
        self.text = text
        self.prefixes: dict[str, str] = dict(prefixes or {})

    def __repr__(self) -> str:
        return f"Fragment({self.text!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Fragment) and other.text == self.text

    def __hash__(self) -> int:
        return hash(self.text)


Value = NamedNode | Literal | Fragment | bool | list["NamedNode | Literal | Fragment"]


@dataclass(frozen=True)
class Parameter:
    """A declared parameter: its name, one of PARAMETER_TYPES, and what it means."""

    name: str
    type: str
    meaning: str


@dataclass(frozen=True)
class Template:
    """One file of the catalogue.

    `header` keeps every key but the parameters as text; `prefixes` and `sections` come after it.
    """

    role: str
    name: str
    path: Path
    header: Mapping[str, str]
    parameters: Mapping[str, Parameter]
    prefixes: Mapping[str, str]
    sections: Mapping[str, str] = field(repr=False)

    def __reduce__(self) -> "tuple[Callable[[str, str], Template], tuple[str, str]]":
        """Go to another process by name: the catalogue is the same there."""
        return template, (self.role, self.name)

    @property
    def summary(self) -> str:
        """One sentence that says what the template gives."""
        return self.header["summary"]

    @property
    def is_update(self) -> bool:
        """Whether the file is a SPARQL UPDATE (.ru)."""
        return self.path.suffix == ".ru"

    def render(self, section: str = "main", /, **values: Value) -> str:
        """Return a complete SPARQL text; raises TemplateError for a wrong or missing parameter."""
        made = self.fragment(section, **values)
        head = "".join(f"PREFIX {p}: <{iri}>\n" for p, iri in sorted(made.prefixes.items()))
        return head + made.text

    def fragment(self, section: str = "main", /, **values: Value) -> Fragment:
        """Return one section alone, to be put into another template; raises TemplateError.

        The section `main` takes all declared parameters; any other takes those it uses.
        """
        if section not in self.sections:
            raise TemplateError(f"{self.role}/{self.path.name} has no section {section!r}.")
        self._check(values, whole=section == "main")
        body = self.sections[section]
        prefixes = dict(self._used[section])
        for part in _fragments(values.values()):
            for prefix, iri in part.prefixes.items():
                if prefixes.setdefault(prefix, iri) != iri:
                    raise TemplateError(
                        f"{self.path.name}: the prefix {prefix!r} stands for <{iri}> and for "
                        f"<{prefixes[prefix]}>; rename it in the query that was given."
                    )
        try:
            text = self._filled(body, values)
        except (TemplateError, JinjaError) as error:
            raise TemplateError(f"{self.role}/{self.path.name}: {error}") from error
        return Fragment(text.strip() + "\n", prefixes)

    @cached_property
    def _used(self) -> Mapping[str, Mapping[str, str]]:
        """The prefixes that stand in each section."""
        return {
            name: {p: iri for p, iri in self.prefixes.items() if f"{p}:" in body}
            for name, body in self.sections.items()
        }

    def _filled(self, body: str, values: Mapping[str, Value]) -> str:
        # Most sections only name parameters, and jinja takes a millisecond and more to compile one.
        pieces = _pieces(body)
        if set(pieces[1::2]) <= values.keys() and not any(map(_TAG.search, pieces[::2])):
            pieces = [_finalize(values[p]) if i % 2 else p for i, p in enumerate(pieces)]
            return "".join(pieces)
        return str(_compiled(body).render(values))

    def takes(self, name: str, term: object) -> bool:
        """Check whether a term fits the parameter of that name, if there is one for one term."""
        kind = self.parameters[name].type if name in self.parameters else ""
        return kind not in _TERMS or isinstance(term, _ALLOWED[kind])

    def _check(self, values: Mapping[str, Value], *, whole: bool) -> None:
        wrong = set(values) ^ set(self.parameters) if whole else set(values) - set(self.parameters)
        if wrong:
            raise TemplateError(
                f"{self.role}/{self.path.name}: takes {sorted(self.parameters)}, "
                f"got {sorted(values)}."
            )
        for name, value in values.items():
            if not _fits(value, self.parameters[name].type):
                raise TemplateError(
                    f"{self.role}/{self.path.name}: {name} must be of type "
                    f"{self.parameters[name].type}, got {type(value).__name__}."
                )


def _fragments(values: Any) -> Iterator[Fragment]:
    for value in values:
        if isinstance(value, Fragment):
            yield value
        elif isinstance(value, list):
            yield from _fragments(value)


_TERMS: Final = frozenset({"iri", "literal", "term"})
_ALLOWED: Final[Mapping[str, tuple[type, ...]]] = {
    "iri": (NamedNode,),
    "literal": (Literal,),
    "term": (NamedNode, Literal),
    "pattern": (Fragment,),
    "flag": (bool,),
}


def _fits(value: Value, kind: str) -> bool:
    if kind.endswith("s"):
        return isinstance(value, list) and all(_fits(item, kind[:-1]) for item in value)
    return isinstance(value, _ALLOWED[kind])


def _finalize(value: object) -> str:
    """Turn a typed value into SPARQL text; anything else is refused."""
    if isinstance(value, Fragment):
        return value.text.strip()
    if isinstance(value, NamedNode | Literal):
        return str(value)
    raise TemplateError(
        f"only RDF terms and fragments may be put into a query, not {type(value).__name__}"
    )


_ABREAST: Final = 16


def balanced(
    items: Sequence[object],
    operator: str,
    form: str = "(%s)",
    brackets: tuple[str, str] = ("(", ")"),
    blank: str = " ",
) -> Fragment:
    """Join any number of items by an operator that is associative, as a tree of brackets.

    An engine reads a chain of ten thousand as ten thousand levels, and its stack ends before.
    `form` is what each item is written in, in place of its %s.
    """
    before, _, after = form.partition("%s")
    texts = [before + _finalize(item) + after for item in items]
    sign = f"{blank}{operator}{blank}"
    while len(texts) > _ABREAST:
        groups = [texts[at : at + _ABREAST] for at in range(0, len(texts), _ABREAST)]
        texts = [sign.join(group).join(brackets) for group in groups]
    return Fragment(sign.join(texts))


_ENVIRONMENT: Final = ImmutableSandboxedEnvironment(  # a template may be a stranger's
    finalize=_finalize,
    undefined=StrictUndefined,
    autoescape=False,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
)


def enumerated(items: Sequence[object]) -> Fragment:
    """Write terms as what stands after IN; never empty, for `NOT IN ()` gives no row at all."""
    return Fragment(", ".join(map(_finalize, items)) or _NOTHING)


def rows(items: Sequence[object]) -> Fragment:
    """Write terms as the rows of VALUES; never empty, for rdflib cannot read that."""
    return Fragment(" ".join(map(_finalize, items)) or _NOTHING)


_NOTHING: Final = f"<{PREFIXES['work']}nothing>"
"""A term that is in no graph."""
FILTERS: Final[Mapping[str, Callable[..., Fragment]]] = {
    "balanced": balanced,
    "enumerated": enumerated,
    "rows": rows,
}
"""What a template may put a list through."""
_ENVIRONMENT.filters.update(FILTERS)


@cache
def _pieces(body: str) -> list[str]:
    """Return text and names of parameters by turns."""
    return _EXPRESSION.split(body)


@cache
def _compiled(body: str) -> Any:
    return _ENVIRONMENT.from_string(body)


def parse(path: Path, role: str) -> Template:
    """Read one template file; raises TemplateError that names the file and the line."""
    header: dict[str, str] = {}
    parameters: dict[str, Parameter] = {}
    prefixes: dict[str, str] = {}
    lines = path.read_text(encoding="utf-8").splitlines()
    start, numbers = _read_header(path, lines, header, parameters)
    while start < len(lines) and (not lines[start].strip() or _PREFIX.match(lines[start])):
        match = _PREFIX.match(lines[start])
        if match:
            prefixes[match["prefix"]] = match["iri"]
        start += 1
    if "summary" not in header:
        raise TemplateError(f"{path.name}: the header has no summary; add a line '#+ summary: …'.")
    for key, fault in faults(role, header):
        place = path.name if key is None else f"{path.name}, line {numbers[key]}"
        raise TemplateError(f"{place}: {fault}")
    for prefix, iri in prefixes.items():
        if PREFIXES.get(prefix, iri) != iri:
            raise TemplateError(
                f"{path.name}: the prefix {prefix!r} stands for <{PREFIXES[prefix]}> everywhere; "
                "give yours another name."
            )
    sections = _sections(lines[start:])
    for name, body in sections.items():
        try:
            sections[name] = _written_out(body, prefixes)
        except TemplateError as error:
            raise TemplateError(f"{path.name}: {error}") from error
    return Template(role, path.stem, path, header, parameters, prefixes, sections)


def _written_out(body: str, prefixes: dict[str, str]) -> str:
    """Put each phrase in the place where it is called; adds the prefixes that they use."""

    def said(call: re.Match[str]) -> str:
        phrase = _phrase(call["name"])
        given = [one.strip() for one in call["given"].split(",")]
        if len(given) != len(phrase.parameters) or not all(map(_GIVEN.fullmatch, given)):
            wanted = ", ".join(phrase.parameters)
            raise TemplateError(
                f"{call[0]} should be {{{{ {phrase.name}({wanted}) }}}}, each a variable or the "
                "name of a parameter."
            )
        prefixes.update(phrase.prefixes)
        places = dict(zip(phrase.parameters, given, strict=True))

        def filled(found: re.Match[str]) -> str:
            place = places[found[1]]
            return place if place.startswith("?") else f"{{{{ {place}{found[2]} }}}}"

        return _PLACE.sub(filled, phrase.sections["main"].strip())

    return _CALL.sub(said, body)


@cache
def _phrase(name: str) -> Template:
    path = folder("queries") / PHRASE / f"{name}.rq"
    if not path.is_file():
        raise TemplateError(f"There is no phrase queries/{PHRASE}/{name}.rq.")
    return parse(path, PHRASE)


def _read_header(
    path: Path, lines: list[str], header: dict[str, str], parameters: dict[str, Parameter]
) -> tuple[int, dict[str, int]]:
    """Read the header into `header` and `parameters`; return its length and the lines of keys."""
    key = ""
    numbers: dict[str, int] = {}
    for number, line in enumerate(lines, start=1):
        match = _HEADER.match(line)
        if not match:
            return number - 1, numbers
        text = match["text"]
        entry = _KEY.match(text)
        if text.startswith(" ") and key:
            header[key] = f"{header[key]}\n{text.strip()}".strip()
        elif entry and entry["key"] == "param":
            key = ""
            parameter = _parameter(path, number, entry["name"], entry["value"])
            parameters[parameter.name] = parameter
        elif entry:
            key = entry["key"] if not entry["name"] else f"{entry['key']} {entry['name']}"
            if key in header:
                raise TemplateError(f"{path.name}, line {number}: the key {key!r} stands twice.")
            header[key] = entry["value"].strip()
            numbers[key] = number
        else:
            raise TemplateError(f"{path.name}, line {number}: not a header line: {line!r}")
    return len(lines), numbers


def _sections(lines: list[str]) -> dict[str, str]:
    sections: dict[str, list[str]] = {}
    name = "main"
    for line in lines:
        match = _SECTION.match(line)
        if match:
            name = match["name"]
        elif line.strip() or name in sections:
            sections.setdefault(name, []).append(line)
    return {name: "\n".join(rows) + "\n" for name, rows in sections.items()}


def _parameter(path: Path, number: int, name: str | None, value: str) -> Parameter:
    kind, _, meaning = value.partition(",")
    if not name or kind.strip() not in PARAMETER_TYPES:
        raise TemplateError(
            f"{path.name}, line {number}: a parameter is written "
            f"'#+ param NAME: TYPE, meaning' with TYPE one of {', '.join(PARAMETER_TYPES)}."
        )
    return Parameter(name, kind.strip(), meaning.strip())


@cached
def role(name: str) -> Mapping[str, Template]:
    """Return every template of one role (a folder of `queries/`), by name, sorted.

    Those of the extensions at hand are among them; raises TemplateError for a name taken already.
    """
    place = folder("queries") / name
    if not place.is_dir():
        raise TemplateError(f"There is no folder queries/{name}.")
    files = sorted(p for p in place.iterdir() if p.suffix in {".rq", ".ru"})
    found = {file.stem: parse(file, name) for file in files}
    for extension in active():
        for file in extension.queries(name):
            if file.stem in found:
                other = found[file.stem].path
                whose = "kgreason" if other in files else str(other)
                raise OptionError(
                    f"{file}: the name {name}/{file.stem} is taken already (by {whose}); "
                    "give your file another name."
                )
            found[file.stem] = _own(file, name)
    return {stem: found[stem] for stem in sorted(found)}


def _own(file: Path, role_name: str) -> Template:
    """Read a template of a user's own; what is wrong with it is an OptionError."""
    try:
        return parse(file, role_name)
    except TemplateError as error:
        raise OptionError(f"{file.parent}/{error}") from error
    except UnicodeDecodeError as error:
        raise OptionError(f"{file}: this is not text in UTF-8.") from error


def check_extensions() -> None:
    """Read every template of the extensions at hand; raises OptionError for one that is wrong."""
    for name in ROLES if active() else ():
        role(name)


def template(role_name: str, name: str) -> Template:
    """Return one template; raises TemplateError if there is none of that name."""
    found = role(role_name).get(name)
    if found is None:
        raise TemplateError(f"There is no template queries/{role_name}/{name}.")
    return found


def roles() -> list[str]:
    """Return the names of all roles, sorted."""
    return sorted(p.name for p in folder("queries").iterdir() if p.is_dir())
