"""Make the pages that are made from headers and terms: docs/queries/, ontology.md, lifecycle.md.

`python docs/build.py` writes them, `python docs/build.py --check` names those that are not as they
would be written, and ends with 1 if there are any. It reads files only and needs no kgreason.
"""

import json
import re
import sys
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pyoxigraph as ox

ROOT: Final = Path(__file__).resolve().parents[1]
ROLES: Final = {
    "observe": "What is wrong: SHACL components, OWL axioms, targets and paths as SPARQL.",
    "context": "Looking at the graph: who is described where, who lies in a region.",
    "endpoint": "What an endpoint is asked: pages of nodes, and what lies around them.",
    "probe": "Finding out what an endpoint can be asked: one small query with a known answer each.",
    "path": "Where a condition looks: one file for each kind of step from the focus node.",
    "condition": "What a condition asks of the end of a path: one file for each test.",
    "phrase": "What several queries say alike: one file for each, called by its name in them.",
    "hypothesize": "Proposing causes: one file for each family of hypotheses.",
    "refine": "Making what is still open tighter or wider: one file for each way.",
    "test": "Putting hypotheses to the test: one file for each kind of test.",
    "break": "Breaking passing nodes at the rule's own statement: one file for each way.",
    "confidence": "What evidence does to confidence: one update for each rule.",
    "status": "When a hypothesis changes its status: one update for each transition.",
    "record": "What the loop asks of the record, and the updates that keep it.",
    "report": "The sections of a report.",
    "summary": "What is said first of a cause: in the short answer and on the first screen.",
    "next": "What to do about a cause: one file for each kind of next step.",
    "history": "Questions people ask of a reasoning history.",
    "explore": "The sections of the pages of `kgreason serve`.",
    "look": "What strategies ask the graph for with the tool `query`.",
    "export": "What goes into a record's exports: PROV-JSON, nanopublications, RO-Crate.",
    "inject": "Injecting faults into sound data, for `kgreason bench`: one update an operation.",
    "repair": "Mending what a cause broke, tried on a scratch copy first: one update a repair.",
    "audit": "What may not be found in a record: each a SHACL constraint of the shape it names.",
}
SHOWN_APART: Final = ("summary", "title", "explanation", "example", "note")
TRAILS: Final = "https://w3id.org/trails#"
LIFECYCLE: Final = "https://w3id.org/trails/lifecycle#"
POLICY: Final = "https://w3id.org/trails/policy#"
RDF: Final = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS: Final = "http://www.w3.org/2000/01/rdf-schema#"
OWL: Final = "http://www.w3.org/2002/07/owl#"
SKOS: Final = "http://www.w3.org/2004/02/skos/core#"
SHORT: Final = {
    TRAILS: "trails:",
    POLICY: "policy:",
    RDF: "rdf:",
    RDFS: "rdfs:",
    OWL: "owl:",
    "http://www.w3.org/2001/XMLSchema#": "xsd:",
    "http://www.w3.org/ns/prov#": "prov:",
    SKOS: "skos:",
}


@dataclass
class Document:
    """The header of a template: its keys, its parameters as (name, type, meaning), its sections."""

    path: Path
    keys: dict[str, str] = field(default_factory=dict)
    parameters: list[tuple[str, str, str]] = field(default_factory=list)
    sections: list[str] = field(default_factory=list)


def read(path: Path) -> Document:
    """Read the header of a template."""
    document, key = Document(path), ""
    for line in path.read_text(encoding="utf-8").splitlines():
        if found := re.match(r"#\+ param (\w+): (\w+),\s*(.*)", line):
            document.parameters.append((found[1], found[2], found[3]))
        elif found := re.match(r"#\+ ([a-z-]+):\s*(.*)", line):
            key = found[1]
            document.keys[key] = found[2].strip()
        elif found := re.match(r"#\+\s+(.*)", line):
            document.keys[key] += f" {found[1].strip()}"
        elif found := re.match(r"#= ([a-z-]+)", line):
            document.sections.append(found[1])
    return document


def told(text: str) -> str:
    """Write text so that Markdown shows it as it is."""
    return re.sub(r"([\\*_<|\[])", r"\\\1", text)


def table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    """Write a table."""
    yield ""
    yield "| " + " | ".join(head) + " |"
    yield "|" + "---|" * len(head)
    for row in rows:
        yield "| " + " | ".join(row) + " |"


def page(role: str, documents: list[Document]) -> Iterator[str]:
    """Write the page of a role."""
    yield f"# queries/{role}"
    yield ""
    yield ROLES[role]
    for document in documents:
        name = document.path.name
        yield ""
        yield f"## {document.path.stem}"
        yield ""
        yield f"[{name}](../../queries/{role}/{name}): {told(document.keys['summary'])}"
        for key in ("explanation", "note"):
            if key in document.keys:
                yield ""
                yield told(document.keys[key])
        if "example" in document.keys:
            yield ""
            yield f"*{told(document.keys['example'])}*"
        facts = [(k, told(v)) for k, v in document.keys.items() if k not in SHOWN_APART and v]
        if facts:
            yield from table(("", ""), facts)
        if document.parameters:
            rows = [(f"`{n}`", kind, told(meaning)) for n, kind, meaning in document.parameters]
            yield from table(("parameter", "type", "meaning"), rows)
        if document.sections:
            yield ""
            yield "Sections: " + ", ".join(f"`{section}`" for section in document.sections)


def overview(roles: dict[str, list[Document]]) -> Iterator[str]:
    """Write the first page: every template with its sentence."""
    yield "# Queries"
    yield ""
    yield "Everything that kgreason asks of a graph or a record is a file in `queries/`. These"
    yield "pages are made from the headers of those files; `kgreason queries` prints the same."
    yield "What may stand in a header is told in [headers.md](headers.md)."
    for role, documents in roles.items():
        yield ""
        yield f"## [{role}]({role}.md)"
        yield ""
        yield ROLES[role]
        rows = [
            (f"[{d.path.stem}]({role}.md#{d.path.stem})", told(d.keys["summary"]))
            for d in documents
        ]
        yield from table(("", ""), rows)


def headers() -> Iterator[str]:
    """Write the page of header keys."""
    rows = tomllib.loads((ROOT / "queries" / "headers.toml").read_text(encoding="utf-8"))["key"]
    yield "# Header keys"
    yield ""
    yield "What may stand in the header of a template (`#+ key: value`), by role, made from"
    yield "[queries/headers.toml](../../queries/headers.toml). A key that is not here, or a value"
    yield "that does not fit, is refused when the template is read, with its file and line. Every"
    yield "template may also declare parameters: `#+ param NAME: TYPE, meaning`."
    for role in sorted({role for row in rows for role in row["roles"]}):
        yield ""
        yield f"## {role}"
        mine = [row for row in rows if role in row["roles"]]
        yield from table(
            ("key", "value", "where it is left out", "meaning"),
            [
                (f"`{r['key']}`", _value(r), _left_out(r), told(r["meaning"]))
                for r in sorted(mine, key=lambda r: not r.get("needed", False))
            ],
        )


def _value(row: dict[str, Any]) -> str:
    """Say what a header key may say."""
    if "choice" in row:
        return f"{row['value']} " + ", ".join(f"`{word}`" for word in row["choice"])
    if row["value"] == "yes":
        return "`yes`"
    return str(row["value"])


def _left_out(row: dict[str, Any]) -> str:
    """Say what holds where a header key is left out."""
    return "**needed**" if row.get("needed") else told(row["default"])


class Ontology:
    """The terms of ontology/."""

    def __init__(self) -> None:
        self.store = ox.Store()
        for path in sorted(ROOT.glob("ontology/**/*.ttl")):
            self.store.load(path=str(path), format=ox.RdfFormat.TURTLE)

    def of(self, kind: str, namespace: str) -> list[ox.NamedNode]:
        """Give the terms of a kind in a namespace, sorted."""
        quads = self.store.quads_for_pattern(None, _node(RDF, "type"), ox.NamedNode(kind), None)
        found = {q.subject for q in quads if isinstance(q.subject, ox.NamedNode)}
        return sorted((n for n in found if n.value.startswith(namespace)), key=lambda n: n.value)

    def values(self, node: ox.NamedNode | ox.BlankNode, iri: str) -> list[str]:
        """Give the values of a property, IRIs shortened, sorted."""
        quads = self.store.quads_for_pattern(node, ox.NamedNode(iri), None, None)
        return sorted(short(q.object) for q in quads)

    def meaning(self, node: ox.NamedNode) -> str:
        """Say what a term means."""
        found = self.values(node, RDFS + "comment") + self.values(node, SKOS + "definition")
        return told(" ".join(found))


def _node(namespace: str, name: str) -> ox.NamedNode:
    return ox.NamedNode(namespace + name)


def short(term: object) -> str:
    """Give a term as people write it."""
    if isinstance(term, ox.NamedNode):
        for namespace, prefix in SHORT.items():
            if term.value.startswith(namespace):
                return prefix + term.value.removeprefix(namespace)
        return f"<{term.value}>"
    return term.value if isinstance(term, ox.Literal | ox.BlankNode) else str(term)


def ontology() -> Iterator[str]:
    """Write the page of the ontology."""
    known = Ontology()
    yield "# Ontology"
    yield ""
    yield "The terms of a reasoning history (`trails:`, `https://w3id.org/trails#`) and of the"
    yield "policies that rule it (`policy:`, `https://w3id.org/trails/policy#`), from `ontology/`."
    yield ""
    yield "## Classes"
    rows = [
        (f"`{short(c)}`", ", ".join(known.values(c, RDFS + "subClassOf")), known.meaning(c))
        for c in known.of(OWL + "Class", TRAILS)
    ]
    yield from table(("class", "is a", "meaning"), rows)
    for title, namespace in (("Properties", TRAILS), ("Properties of policies", POLICY)):
        yield ""
        yield f"## {title}"
        yield from table(
            ("property", "of", "value", "meaning"), list(_properties(known, namespace))
        )
    yield from _figures(known)
    for scheme in known.of(SKOS + "ConceptScheme", TRAILS):
        (label,) = known.values(scheme, RDFS + "label")
        yield ""
        yield f"## {label}"
        yield ""
        yield known.meaning(scheme)
        members = [
            n
            for n in known.of(SKOS + "Concept", TRAILS)
            if short(scheme) in known.values(n, SKOS + "inScheme")
        ]
        yield from table(("", ""), [(f"`{short(n)}`", known.meaning(n)) for n in members])
    for policy in known.of(TRAILS + "Policy", POLICY):
        yield from _policy(known, policy)


def _properties(known: Ontology, namespace: str) -> Iterator[tuple[str, ...]]:
    kinds = (OWL + "ObjectProperty", OWL + "DatatypeProperty", RDF + "Property")
    found = {node for kind in kinds for node in known.of(kind, namespace)}
    found -= set(known.of(TRAILS + "EngineFigure", namespace))
    for node in sorted(found, key=lambda n: n.value.lower()):
        of, to = (", ".join(known.values(node, RDFS + name)) for name in ("domain", "range"))
        yield f"`{short(node)}`", of, to, known.meaning(node)


def _figures(known: Ontology) -> Iterator[str]:
    """Write the figures by which the engine judges, in the order of their names."""
    yield ""
    yield "## Figures of the engine"
    yield ""
    yield "The figures by which the engine judges, whatever the policy, from"
    yield "[ontology/engine.ttl](../ontology/engine.ttl)."
    (engine,) = known.of(TRAILS + "EngineFigures", POLICY)
    rows = [
        (
            f"`{short(node)}`",
            " ".join(known.values(engine, node.value)),
            " ".join(known.values(node, TRAILS + "unit")),
            known.meaning(node),
            told(" ".join(known.values(node, "http://purl.org/dc/terms/source"))),
        )
        for node in known.of(TRAILS + "EngineFigure", POLICY)
    ]
    yield from table(("figure", "value", "unit", "meaning", "source"), rows)


def _policy(known: Ontology, policy: ox.NamedNode) -> Iterator[str]:
    """Write a policy: its numbers, its transitions, its likelihoods."""
    yield ""
    yield f"## Policy: {' '.join(known.values(policy, RDFS + 'label'))}"
    yield ""
    yield known.meaning(policy)
    inner: dict[str, list[ox.BlankNode | ox.NamedNode]] = {"likelihood": [], "transition": []}
    facts = []
    for quad in _policy_quads(known, policy):
        name = quad.predicate.value.removeprefix(POLICY)
        if name in inner and not isinstance(quad.object, ox.Literal | ox.Triple):
            inner[name].append(quad.object)
        elif isinstance(quad.object, ox.Literal) and quad.predicate.value.startswith(POLICY):
            facts.append((f"`{short(quad.predicate)}`", quad.object.value))
    yield from table(("", ""), sorted(facts))
    changes = [
        (" ".join(known.values(n, TRAILS + "from")), " ".join(known.values(n, TRAILS + "to")))
        for n in inner["transition"]
    ]
    yield from table(("from", "to"), sorted(changes))
    names = ("testKind", "outcomeClass", "underSelf", "underRival", "underNamed", "underNone")
    rows = [
        tuple(" ".join(known.values(n, POLICY + m)) for m in names) for n in inner["likelihood"]
    ]
    head = ("test", "outcome", "hypothesis", "rival", "named rival", "none")
    yield from table(head, sorted(rows))


def _policy_quads(known: Ontology, policy: ox.NamedNode) -> Iterator[ox.Quad]:
    """Give what is said of a policy, and of the table of transitions that it shares."""
    for quad in known.store.quads_for_pattern(policy, None, None, None):
        yield quad
        shared = quad.predicate.value == POLICY + "transitionsOf"
        if shared and isinstance(quad.object, ox.NamedNode):
            transition = ox.NamedNode(POLICY + "transition")
            yield from known.store.quads_for_pattern(quad.object, transition, None, None)


def _rules(known: Ontology) -> list[dict[str, Any]]:
    """Give the rules of a lifetime, in their order."""
    rules: list[dict[str, Any]] = []
    for node in known.of(TRAILS + "LifecycleRule", LIFECYCLE):
        one = {name: " ".join(known.values(node, TRAILS + name)) for name in ("index", "keptBy")}
        (rule,), (says,) = (known.values(node, SKOS + name) for name in ("notation", "definition"))
        checks = known.values(node, TRAILS + "checkedBy")
        rules.append({"rule": rule, "says": says, **one, "checkedBy": checks})
    rules.sort(key=lambda one: int(one["index"]))
    return [{name: v for name, v in one.items() if name != "index"} for one in rules]


def _gates() -> list[dict[str, str]]:
    """Give the gates with where they lead, the phase, and the sentence of their file."""
    gates = []
    for path in sorted((ROOT / "queries" / "status").glob("*.ru")):
        made = read(path)
        usual = "Execute" if "evidence" in {name for name, _, _ in made.parameters} else "Decide"
        phase = made.keys.get("phase", usual)
        says = made.keys["summary"]
        gates.append({"gate": path.stem, "to": made.keys["to"], "phase": phase, "says": says})
    return gates


def _transitions(known: Ontology) -> dict[tuple[str, str], list[str]]:
    """Give each transition with the policies that allow it."""
    allowed: dict[tuple[str, str], list[str]] = {}
    for policy in known.of(TRAILS + "Policy", POLICY):
        for quad in _policy_quads(known, policy):
            if quad.predicate.value != POLICY + "transition":
                continue
            if isinstance(quad.object, ox.NamedNode | ox.BlankNode):
                ends = [
                    " ".join(known.values(quad.object, TRAILS + end)).removeprefix("trails:")
                    for end in ("from", "to")
                ]
                name = short(policy).removeprefix("policy:")
                allowed.setdefault((ends[0], ends[1]), []).append(name)
    return allowed


def lifecycle() -> Iterator[str]:
    """Write the page of the lifetime of a hypothesis."""
    known = Ontology()
    yield "# The lifetime of a hypothesis"
    yield ""
    yield "Made from `ontology/`; the same for programs is [lifecycle.json](lifecycle.json)."
    yield ""
    yield "## Statuses"
    yield from table(
        ("status", "meaning"),
        [
            (f"`{short(n)}`", known.meaning(n))
            for n in known.of(SKOS + "Concept", TRAILS)
            if "trails:StatusScheme" in known.values(n, SKOS + "inScheme")
        ],
    )
    yield ""
    yield "## Gates"
    yield ""
    yield "A status changes by a gate alone: a template of `queries/status/` that the policy names."
    yield from table(
        ("gate", "leads to", "in the phase", "when"),
        [(f"`{one['gate']}`", one["to"], one["phase"], told(one["says"])) for one in _gates()],
    )
    yield ""
    yield "## Transitions"
    yield ""
    yield "What is not in the table of a policy cannot happen under it."
    every = known.of(TRAILS + "Policy", POLICY)
    rows = [
        (*ends, "all" if len(names) == len(every) else ", ".join(sorted(names)))
        for ends, names in sorted(_transitions(known).items())
    ]
    yield from table(("from", "to", "policies"), rows)
    yield ""
    yield "## Rules"
    yield ""
    yield "Each is kept by a phase or gate, and checked by queries of `queries/audit/`."
    yield from table(
        ("rule", "says", "kept by", "checked by"),
        [
            (
                one["rule"],
                told(one["says"]),
                one["keptBy"],
                ", ".join(f"[{c}](queries/audit.md#{c})" for c in one["checkedBy"]),
            )
            for one in _rules(known)
        ],
    )


def checklist() -> str:
    """Give the lifetime of a hypothesis for programs."""
    known = Ontology()
    made = {
        "gates": _gates(),
        "transitions": [
            {"from": ends[0], "to": ends[1], "policies": sorted(names)}
            for ends, names in sorted(_transitions(known).items())
        ],
        "rules": _rules(known),
    }
    return json.dumps(made, indent=2, ensure_ascii=False)


def pages() -> dict[Path, str]:
    """Give every page with its text."""
    roles: dict[str, list[Document]] = {}
    for role in ROLES:
        files = sorted(p for p in (ROOT / "queries" / role).glob("*.r[qu]"))
        roles[role] = [read(path) for path in files]
    unknown = {p.parent.name for p in ROOT.glob("queries/*/*.r[qu]")} - set(ROLES)
    if unknown:
        sys.exit(f"Say in docs/build.py what queries/{min(unknown)}/ is for (ROLES).")
    folder = ROOT / "docs" / "queries"
    made = {folder / f"{role}.md": page(role, documents) for role, documents in roles.items()}
    made |= {
        folder / "index.md": overview(roles),
        folder / "headers.md": headers(),
        ROOT / "docs" / "ontology.md": ontology(),
    }
    made |= {ROOT / "docs" / "lifecycle.md": lifecycle()}
    made |= {ROOT / "docs" / "lifecycle.json": iter(checklist().split("\n"))}
    return {path: "\n".join(lines) + "\n" for path, lines in made.items()}


def main() -> None:
    """Write the pages, or check them."""
    made = pages()
    old = set((ROOT / "docs" / "queries").glob("*.md")) - set(made)
    if "--check" in sys.argv[1:]:
        wrong = [p for p, text in made.items() if not p.is_file() or p.read_text("utf-8") != text]
        for path in sorted([*wrong, *old]):
            print(f"{path.relative_to(ROOT)} is not as its sources are; run `make docs`.")
        sys.exit(1 if wrong or old else 0)
    for path in old:
        path.unlink()
    for path, text in made.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
