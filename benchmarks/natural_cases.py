"""The cases of benchmarks/natural: read, and laid out from a folder of git directories.

A case is a state of a public repository just before a commit that mends a fault: one TOML file with
the repository, the commit before and after, the files, the rule that the mending states, and the
true cause. Nothing of the repositories is kept here. `nodes` are not written down either: they are
the focus nodes that break the rule before the mending and no longer after it.

The rule is written twice, so that neither engine nor scorer has to be believed: as `population` and
`fails` (patterns of SPARQL on ?focus), and as `shapes` where SHACL says it; without `shapes`, the
two patterns make the outcome query. A case may word that query otherwise (`outcome`), for people
ask in many forms; the layout refuses one that finds other nodes than the two patterns.

The first set was split by repository: one half to learn from, and one that was held out, run once,
and is learned from since. `unseen-2` is a second set, of other repositories, that was run once;
`unseen-3` to `unseen-34` are later ones, each of repositories that no other one uses. `few` is
another set, of any repositories, of rules that only one to four nodes break.
"""

import contextlib
import gzip
import hashlib
import io
import json
import re
import subprocess
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

import pyoxigraph as ox

HERE = Path(__file__).resolve().parent
NATURAL = HERE / "natural"
FORMATS = {
    ".ttl": ox.RdfFormat.TURTLE,
    ".nt": ox.RdfFormat.N_TRIPLES,
    ".rdf": ox.RdfFormat.RDF_XML,
    ".owl": ox.RdfFormat.RDF_XML,
    ".xml": ox.RdfFormat.RDF_XML,
    ".jsonld": ox.RdfFormat.JSON_LD,
}
PREFIXES = {
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "owl": "http://www.w3.org/2002/07/owl#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
    "skos": "http://www.w3.org/2004/02/skos/core#",
    "dcterms": "http://purl.org/dc/terms/",
    "sh": "http://www.w3.org/ns/shacl#",
    "ex": "urn:rule:",
}
NONE = "none"
BY_HAND = "judgements.toml"
HALVES = ("learn", "learned-from")
UNSEEN = tuple(f"unseen-{number}" for number in range(2, 35))
FEW = ("few",)
SPLITS = (*HALVES, *UNSEEN, *FEW)
BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Case:
    """A natural fault as its TOML file tells it; `kinds` and `vague` are kinds of hypotheses.

    `whole` says that the cause is behind the failures, too, that the mending left.
    """

    name: str
    repository: str
    before: str
    after: str
    paths: tuple[str, ...]
    message: str
    domain: str
    licence: str
    split: str
    population: str
    fails: str
    failing: int
    cause: str
    kinds: tuple[str, ...]
    vague: tuple[str, ...] = ()
    restates: tuple[str, ...] = ()
    acceptable: str = ""
    shapes: str = ""
    outcome: str = ""
    whole: bool = False
    prefixes: dict[str, str] = field(default_factory=dict)

    @property
    def broken(self) -> str:
        """Return the pattern of the focus nodes that break the rule."""
        return f"{self.population} . {self.fails}"

    @property
    def header(self) -> dict[str, str]:
        """Return the prefixes that the rule may use."""
        return {**PREFIXES, **self.prefixes}


@dataclass(frozen=True)
class Laid:
    """A case in a folder, ready to be investigated: data.nq, its rule, and what is true of it."""

    name: str
    folder: Path
    data: Path
    rule: tuple[str, Path]
    cause: str
    kinds: tuple[str, ...]
    vague: tuple[str, ...]
    restates: tuple[str, ...]
    nodes: frozenset[str]
    split: str


def split_of(repository: str) -> str:
    """Return the half a repository of the first set belongs to, by its name alone."""
    return HALVES[hashlib.sha256(repository.lower().encode()).digest()[0] % 2]


def cases(folder: Path = NATURAL) -> list[Case]:
    """Read the cases of a folder, in the order of their names.

    Raises TypeError if a file lacks a field, or has one that is not known.
    """
    return [case_of(path) for path in sorted(folder.glob("*.toml")) if path.name != BY_HAND]


def case_of(path: Path) -> Case:
    """Read one case."""
    told: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    as_tuples: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in told.items()}
    return Case(name=path.stem, **as_tuples)


def by_hand(folder: Path = NATURAL) -> dict[tuple[str, str], str]:
    """Return what a person judged of a statement on a case, by case and statement."""
    path = folder / BY_HAND
    told = tomllib.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return {(one["case"], one["statement"]): one["verdict"] for one in told.get("judged", ())}


def git_folder(mirror: Path, repository: str) -> Path | None:
    """Return the git directory of a repository in a mirror folder, None if it is not there."""
    base = mirror / repository.replace("/", "+")
    tried = (base, base / ".git", base / "repo", base / "repo" / ".git", mirror / repository)
    return next((one for one in tried if (one / "HEAD").exists()), None)


def git(folder: Path, *words: str) -> bytes:
    """Run git in a git directory; gives what it prints."""
    done = subprocess.run(
        ["git", f"--git-dir={folder}", *words],  # noqa: S607
        check=True,
        stdout=subprocess.PIPE,
    )
    return done.stdout


def matching(glob: str) -> re.Pattern[str]:
    """Return what a glob matches: * within a folder, **/ through any number of them."""
    parts = re.split(r"(\*\*/|\*)", glob)
    told = {"**/": "(?:.*/)?", "*": "[^/]*"}
    return re.compile("".join(told.get(one) or re.escape(one) for one in parts))


def sources(folder: Path, commit: str, globs: tuple[str, ...]) -> Iterator[tuple[str, bytes]]:
    """Return path and content of the files of a commit that a glob matches, in order of path."""
    wanted = [matching(one) for one in globs]
    listed = git(folder, "ls-tree", "-r", "-z", "--name-only", commit).decode().split("\0")
    for path in sorted(filter(None, listed)):
        if PurePosixPath(path).suffix in FORMATS and any(one.fullmatch(path) for one in wanted):
            yield path, git(folder, "show", f"{commit}:{path}")


def quads(path: str, content: bytes, number: int) -> Iterator[ox.Quad]:
    """Parse a file into its named graph, its blank nodes called by file and order.

    A file that is not well-formed ends where the parser gives it up, as a lenient reader would.
    """
    content = content.removeprefix(BOM)
    kind = FORMATS[PurePosixPath(path).suffix]
    if kind == ox.RdfFormat.RDF_XML and not content.lstrip().startswith(b"<"):
        kind = ox.RdfFormat.TURTLE
    graph = ox.NamedNode(f"urn:src:{path.replace(' ', '%20')}")
    names: dict[Any, ox.BlankNode] = {}

    def named(term: Any) -> Any:
        if not isinstance(term, ox.BlankNode):
            return term
        return names.setdefault(term, ox.BlankNode(f"b{number}x{len(names)}"))

    try:
        for quad in ox.parse(io.BytesIO(content), kind, base_iri="urn:base:", lenient=True):
            yield ox.Quad(named(quad.subject), quad.predicate, named(quad.object), graph)
    except (SyntaxError, ValueError, OSError) as problem:
        print(f"    {path}: {problem}")


def store_of(folder: Path, commit: str, globs: tuple[str, ...]) -> ox.Store:
    """Read the files of a commit into a store."""
    store = ox.Store()
    for number, (path, content) in enumerate(sources(folder, commit, globs)):
        store.bulk_extend(quads(path, content, number))
    return store


def chosen(store: ox.Store, case: Case, pattern: str) -> set[str]:
    """Return the focus nodes of a pattern, as N-Triples terms."""
    found = store.query(
        f"{header(case)}SELECT DISTINCT ?focus WHERE {{ {pattern} }}",
        use_default_graph_as_union=True,
    )
    return {str(row["focus"]) for row in found}  # type: ignore[union-attr]


def outcomes(store: ox.Store, case: Case) -> dict[str, bool]:
    """Return what the case's own outcome query says of each focus node."""
    found = store.query(header(case) + case.outcome, use_default_graph_as_union=True)
    return {
        str(row["focus"]): row["outcome"].value == "true"
        for row in found  # type: ignore[union-attr]
    }


def header(case: Case) -> str:
    """Write the prefixes of a case as SPARQL."""
    return "".join(f"PREFIX {name}: <{iri}>\n" for name, iri in case.header.items())


def lay_out(case: Case, mirror: Path, work: Path) -> Laid | None:
    """Write a case into work/NAME; None (and a line that says so) if its repository is not there.

    Raises ValueError if the nodes that fail are not as many as the case says, or if its own outcome
    query finds other ones.
    """
    source = git_folder(mirror, case.repository)
    if source is None:
        print(f"{case.name}: skipped, {case.repository} is not in {mirror}")
        return None
    folder = work / case.name
    folder.mkdir(parents=True, exist_ok=True)
    before = store_of(source, case.before, case.paths)
    population = chosen(before, case, case.population)
    failing = population & chosen(before, case, case.broken)
    if len(failing) != case.failing:
        raise ValueError(f"{case.name}: {len(failing)} fail, not {case.failing}")
    if case.outcome and outcomes(before, case) != {one: one in failing for one in population}:
        raise ValueError(f"{case.name}: the outcome query finds other nodes than the patterns")
    after = store_of(source, case.after, case.paths)
    still = chosen(after, case, case.broken)
    # Blank nodes have no name that lasts from one commit to the next.
    unnamed = {one for one in failing if one.startswith("_:")}
    nodes = failing - unnamed - still
    if not any(one.startswith("_:") for one in still):
        nodes |= unnamed
    if case.whole:
        nodes = failing
    before.dump(str(folder / "data.nq"), ox.RdfFormat.N_QUADS)
    rule = write_rule(case, folder)
    truth = {
        "kinds": case.kinds, "vague": case.vague, "restates": case.restates, "cause": case.cause,
        "population": len(population), "failing": len(failing), "still_failing_after": len(still),
        "split": case.split, "nodes": sorted(nodes),
    }  # fmt: skip
    (folder / "truth.json").write_text(json.dumps(truth, indent=1), encoding="utf-8")
    print(f"{case.name}: {len(population)} nodes, {len(failing)} fail, {len(nodes)} mended,"
          f" {len(still)} fail after, {len(before)} statements", flush=True)  # fmt: skip
    return Laid(
        case.name, folder, folder / "data.nq", rule, case.cause, case.kinds, case.vague,
        case.restates, frozenset(nodes), case.split,
    )  # fmt: skip


def write_rule(case: Case, folder: Path) -> tuple[str, Path]:
    """Write the rule as shapes or as an outcome query; gives the option and the file."""
    if case.shapes:
        head = "".join(f"@prefix {name}: <{iri}> .\n" for name, iri in case.header.items())
        (folder / "shapes.ttl").write_text(head + case.shapes, encoding="utf-8")
        return "--shapes", folder / "shapes.ttl"
    query = "SELECT ?focus ?outcome WHERE {\n"
    query += f"  {{ SELECT DISTINCT ?focus {{ {case.population} }} }}\n"
    query += f"  BIND (EXISTS {{ {case.broken} }} AS ?outcome)\n}}\n"
    (folder / "outcome.rq").write_text(header(case) + (case.outcome or query), encoding="utf-8")
    return "--outcome", folder / "outcome.rq"


def laid_before(folder: Path) -> Laid:
    """Read a case that lies ready: truth.json, data.nq.gz or data.nq, shapes.ttl or outcome.rq."""
    truth = json.loads((folder / "truth.json").read_text(encoding="utf-8"))
    data = next(one for one in (folder / "data.nq.gz", folder / "data.nq") if one.exists())
    shapes, outcome = folder / "shapes.ttl", folder / "outcome.rq"
    rule = ("--shapes", shapes) if shapes.exists() else ("--outcome", outcome)
    nodes = (one if one[:1] in "<_" else f"<{one}>" for one in truth["nodes"])
    return Laid(
        folder.name, folder, data, rule, truth["cause"], tuple(truth["kinds"]),
        tuple(truth.get("vague", ())), tuple(truth.get("restates", ())), frozenset(nodes),
        truth.get("split", "shared"),
    )  # fmt: skip


def read_quads(data: Path, store: ox.Store) -> None:
    """Read N-Quads, packed or not, into a store; lines that cannot be read are passed over."""
    content = gzip.decompress(data.read_bytes()) if data.suffix == ".gz" else data.read_bytes()
    try:
        store.bulk_extend(ox.parse(content, ox.RdfFormat.N_QUADS, lenient=True))
    except SyntaxError:  # an IRI with a ">" was laid out as it stood
        for line in content.splitlines():
            with contextlib.suppress(SyntaxError):
                store.extend(ox.parse(line, ox.RdfFormat.N_QUADS, lenient=True))
