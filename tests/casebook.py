"""Cases for templates: a folder gives a graph and parameters, and what has to come out.

``tests/cases/<role>/<template>/<case>/`` holds

- ``case.toml``: ``[params]``, each written as its type asks: an IRI, literal or term in Turtle, a
  list of them, a pattern as SPARQL text, a flag as true or false. ``data`` names a given graph that
  several cases share, ``context`` is what stands before a section that is no query of its own.
- ``data.trig``: the graph given. As in a loaded graph, the default graph is the merge of the named
  ones (those of ``work:`` apart), unless the role reads the ledger.
- ``expected.csv``: the rows of a query, a cell a term in Turtle, an empty one not bound. In the
  order given where the query orders its rows, in any order otherwise. ``expected-SECTION.csv`` for
  a section. What an ASK gives stands under ``answer``.
- or ``added.trig`` and ``removed.trig``: what an update changes; nothing else may change. A file
  that is missing says "nothing".

A phrase is written with variables called as its parameters are, but for those that ``[params]``
give. Where it is an expression, the expected rows are its table: what these variables are, and
under ``value`` what it comes to.

Prefixes are those of `kgreason.base.terms`, and ``ex:``.
"""

import csv
import re
import tomllib
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

import pyoxigraph as ox
import rdflib
from rdflib.plugins.sparql import prepareQuery

from kgreason.base.templates import PHRASE, Fragment, Parameter, Template, Value, template
from kgreason.base.terms import PREFIXES
from kgreason.record.seal import Functions

CASES: Final = Path(__file__).resolve().parent / "cases"
KNOWN: Final = PREFIXES | {"ex": "https://example.org/"}
LEDGER_ROLES: Final = frozenset({"confidence", "explore", "next", "record", "status", "summary"})
_EXPECTED: Final = re.compile(r"expected(?:-(?P<section>[a-z-]+))?\.csv")
_NAMELESS = "_:"
_QUERY: Final = re.compile(r"\s*(SELECT|ASK|CONSTRUCT|DELETE|INSERT|WITH)\b", re.IGNORECASE)
_ORDERED: Final = re.compile(r"\}\s*ORDER BY[^{}]*$", re.IGNORECASE)

Cell = tuple[str, ...] | None
Row = tuple[Cell, ...]


@dataclass(frozen=True)
class Case:
    """One case folder."""

    folder: Path

    def __str__(self) -> str:
        return "/".join(self.folder.relative_to(CASES).parts)

    @property
    def template(self) -> Template:
        """The template that it is about."""
        role, name, _ = self.folder.relative_to(CASES).parts
        return template(role, name)

    @property
    def settings(self) -> dict[str, Any]:
        """What `case.toml` says."""
        return tomllib.loads((self.folder / "case.toml").read_text(encoding="utf-8"))

    @property
    def expected(self) -> dict[str, Path]:
        """The expected rows by section."""
        found = ((_EXPECTED.fullmatch(p.name), p) for p in sorted(self.folder.iterdir()))
        return {m["section"] or "main": path for m, path in found if m is not None}

    @property
    def sections(self) -> list[str]:
        """The sections of the template that it says something about."""
        return ["main"] if self.template.is_update else list(self.expected)

    def quads(self) -> list[ox.Quad]:
        """Give the graph given."""
        path = self.folder / self.settings.get("data", "data.trig")
        found = trig(path)
        if self.template.role in LEDGER_ROLES:
            return found
        data = [q for q in found if not str(q.graph_name).startswith(f"<{PREFIXES['work']}")]
        return found + [ox.Quad(q.subject, q.predicate, q.object) for q in data]

    def text(self, section: str) -> str:
        """Give the SPARQL text of a section, made a query where it is only a part of one."""
        made = self.template
        given = self.settings.get("params", {})
        if made.role == PHRASE:
            return self._phrase(made, given)
        values = {name: value(made.parameters[name], text) for name, text in given.items()}
        used = made.parameters if section == "main" else parameters_of(made, section)
        chosen = {name: values[name] for name in used}
        body = made.fragment(section, **chosen).text
        if _QUERY.match(body):
            return made.render(section, **chosen)
        context = self.settings.get("context")
        if context is None:
            context = f"GRAPH work:marks {{ ?focus work:member {values['half']} . }}"
        header = self.expected[section].read_text(encoding="utf-8").splitlines()[0]
        names = " ".join(f"?{name}" for name in header.split(","))
        return f"{prologue()}SELECT DISTINCT {names} WHERE {{ {context}\n{body} }}"

    def _phrase(self, made: Template, given: dict[str, Any]) -> str:
        """Give a query around a phrase."""
        body = made.sections["main"]
        for name in made.parameters.keys() - given.keys():
            body = body.replace(f"{{{{ {name} }}}}", f"?{name}")
        own = {name: one for name, one in made.parameters.items() if name in given}
        values = {name: value(own[name], text) for name, text in given.items()}
        body = replace(made, sections={"main": body}, parameters=own).fragment(**values).text
        with self.expected["main"].open(encoding="utf-8", newline="") as file:
            names, *rows = csv.reader(file)
        if made.header["form"] == "expression":
            told = [" ".join(cell or "UNDEF" for cell in row[:-1]) for row in rows]
            given_rows = "".join(f"({row}) " for row in told)
            variables = " ".join(f"?{name}" for name in names[:-1])
            body = f"VALUES ({variables}) {{ {given_rows}}} BIND ({body} AS ?value)"
        shown = " ".join(f"?{name}" for name in names)
        return f"{prologue()}SELECT DISTINCT {shown} WHERE {{ {body} }}"


def cases(*roles: str) -> list[Case]:
    """Give all cases of some roles (or of the roles a pattern fits), sorted."""
    found = sorted(path for role in roles for path in CASES.glob(f"{role}/*/*") if path.is_dir())
    return [Case(path) for path in found]


def prologue() -> str:
    """Give the PREFIX lines of a query."""
    return "".join(f"PREFIX {prefix}: <{iri}>\n" for prefix, iri in KNOWN.items())


def parameters_of(made: Template, section: str) -> list[str]:
    """Give the parameters that a section uses, as declared."""
    body = made.sections[section]
    return [name for name in made.parameters if re.search(rf"\{{[{{%][^}}]*\b{name}\b", body)]


def trig(path: Path) -> list[ox.Quad]:
    """Read a TriG file; the known prefixes need not be declared. A missing file is empty."""
    if not path.is_file():
        return []
    head = "".join(f"@prefix {prefix}: <{iri}> .\n" for prefix, iri in KNOWN.items())
    text = head + path.read_text(encoding="utf-8")
    return list(ox.parse(text, format=ox.RdfFormat.TRIG))


def term(text: str) -> ox.NamedNode | ox.Literal:
    """Read one term in Turtle."""
    head = "".join(f"@prefix {prefix}: <{iri}> .\n" for prefix, iri in KNOWN.items())
    (quad,) = ox.parse(f"{head}<urn:s> <urn:p> {text} .", format=ox.RdfFormat.TURTLE)
    if not isinstance(quad.object, ox.NamedNode | ox.Literal):
        raise TypeError(f"{text!r} is no IRI and no literal")
    return quad.object


def value(parameter: Parameter, given: Any) -> Value:
    """Read a parameter as its type asks."""
    if parameter.type == "flag":
        return bool(given)
    if parameter.type == "pattern":
        return Fragment(given, {p: iri for p, iri in KNOWN.items() if f"{p}:" in given})
    if parameter.type.endswith("s"):
        one = Parameter(parameter.name, parameter.type[:-1], parameter.meaning)
        made = [value(one, item) for item in given]
        return [item for item in made if isinstance(item, ox.NamedNode | ox.Literal | Fragment)]
    return term(given)


def wanted(path: Path) -> list[Row]:
    """Read expected rows."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))[1:]
    return [tuple(_expected(text.strip()) for text in row) for row in rows]


def _expected(text: str) -> Cell:
    """Read a cell of expected rows: nothing, `_:` for any blank node, or a term in Turtle."""
    if text == _NAMELESS:
        return (_NAMELESS,)
    return cell(term(text)) if text else None


def names(path: Path) -> list[str]:
    """Give the variables of expected rows."""
    return path.read_text(encoding="utf-8").splitlines()[0].split(",")


def cell(found: Any) -> Cell:
    """Give a term so that it can be compared: numbers by value, times by the same zone."""
    if found is None:
        return None
    if isinstance(found, ox.BlankNode):
        return (_NAMELESS,)
    if not isinstance(found, ox.Literal):
        return (str(found),)
    text, datatype = found.value, found.datatype.value.removeprefix(PREFIXES["xsd"])
    if datatype in {"decimal", "integer", "double"}:
        text = format(Decimal(text).normalize(), "f")
    if datatype == "dateTime":
        text = text.replace("+00:00", "Z")
    return (text, datatype, found.language or "")


def in_oxigraph(quads: list[ox.Quad], text: str, variables: list[str]) -> list[Row]:
    """Run a SELECT on pyoxigraph."""
    store = ox.Store()
    store.extend(quads)
    found = store.query(text)
    if isinstance(found, ox.QueryBoolean):
        return _answer(bool(found), variables)
    assert isinstance(found, ox.QuerySolutions)
    assert {v.value for v in found.variables} == set(variables)
    return [tuple(cell(row[name]) for name in variables) for row in found]


def in_rdflib(quads: list[ox.Quad], text: str, variables: list[str]) -> list[Row]:
    """Run a SELECT on rdflib, whose literals are kept as they are written."""
    found = _dataset(quads).query(prepareQuery(text))
    if found.askAnswer is not None:
        return _answer(found.askAnswer, variables)
    assert {str(v) for v in found.vars or []} == set(variables)
    return [
        tuple(_from_rdflib(b.get(rdflib.Variable(n))) for n in variables) for b in found.bindings
    ]


def _answer(found: bool, variables: list[str]) -> list[Row]:  # noqa: FBT001 - it is the answer
    assert variables == ["answer"]
    return [(cell(term(str(found).lower())),)]


def _from_rdflib(node: Any) -> Cell:
    if node is None:
        return None
    return cell(term(node.n3())) if not isinstance(node, rdflib.BNode) else (_NAMELESS,)


def changed_in_oxigraph(quads: list[ox.Quad], text: str) -> tuple[set[Row], set[Row]]:
    """Run an update on pyoxigraph, and give what it added and what it removed."""
    store = ox.Store()
    store.extend(quads)
    before = set(map(row, store))
    functions = Functions(lambda _: ())
    store.update(text, custom_functions=functions.plain)
    after = set(map(row, store))
    return after - before, before - after


def changed_in_rdflib(quads: list[ox.Quad], text: str) -> tuple[set[Row], set[Row]]:
    """Run an update on rdflib, and give what it added and what it removed."""
    dataset = _dataset(quads)
    before = _rows(dataset)
    dataset.update(text)
    after = _rows(dataset)
    return after - before, before - after


def row(quad: ox.Quad) -> Row:
    """Give a quad so that it can be compared."""
    return (cell(quad.subject), cell(quad.predicate), cell(quad.object), cell(quad.graph_name))


def _dataset(quads: list[ox.Quad]) -> rdflib.Dataset:
    dataset = rdflib.Dataset()
    text = ox.serialize(quads, format=ox.RdfFormat.N_QUADS)
    dataset.parse(data=text, format="nquads")
    return dataset


def _rows(dataset: rdflib.Dataset) -> set[Row]:
    text = dataset.serialize(format="nquads")
    return set(map(row, ox.parse(text, format=ox.RdfFormat.N_QUADS)))


def is_ordered(text: str) -> bool:
    """Tell whether a query orders its rows."""
    return _ORDERED.search(text) is not None
