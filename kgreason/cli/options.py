"""The options that several commands share, declared once."""

import re
from collections.abc import Callable, Iterable
from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from typer.core import TyperCommand

from kgreason.base import resources
from kgreason.base.errors import OptionError
from kgreason.cli.errors import LEDGER

if TYPE_CHECKING:
    from kgreason.graph.given import Text

WRONG: Final = "What is wrong"
RECORD: Final = "Record and result"
BUDGET: Final = "Budget"
INPUT: Final = "Reading"
HELD: Final = "Held to the data"
GATE: Final = "In CI"


class ReportFormat(StrEnum):
    """How a result is written."""

    MD = "md"
    HTML = "html"
    JSON = "json"
    TTL = "ttl"
    SUMMARY = "summary"
    SARIF = "sarif"
    JUNIT = "junit"
    GITHUB = "github"
    CSV = "csv"
    SHACL = "shacl"
    EARL = "earl"
    DQV = "dqv"


class TableFormat(StrEnum):
    """How rows are written."""

    TABLE = "table"
    CSV = "csv"
    JSON = "json"


class ListFormat(StrEnum):
    """How symptoms and findings are written."""

    TABLE = "table"
    JSON = "json"


class NodeFormat(StrEnum):
    """How the nodes of a cause are written."""

    TABLE = "table"
    CSV = "csv"
    TTL = "ttl"
    JSONL = "jsonl"


REPORTS: Final = {
    **dict.fromkeys(("md", "markdown", "txt"), ReportFormat.MD),
    **dict.fromkeys(("html", "htm"), ReportFormat.HTML),
    "json": ReportFormat.JSON,
    "ttl": ReportFormat.TTL,
    "sarif": ReportFormat.SARIF,
    "xml": ReportFormat.JUNIT,
    "csv": ReportFormat.CSV,
}
FOR_TOOLS: Final = frozenset(list(ReportFormat)[5:])
"""The formats that name every failing node, for which the data are wanted at hand."""
TABLES: Final = {"txt": TableFormat.TABLE, "csv": TableFormat.CSV, "json": TableFormat.JSON}
ANSWERS: Final = TABLES | {"ttl": TableFormat.TABLE}
NODES: Final = {
    "txt": NodeFormat.TABLE,
    **{kind.value: kind for kind in NodeFormat if kind is not NodeFormat.TABLE},
}
LISTS: Final = {"txt": ListFormat.TABLE, "json": ListFormat.JSON}
"""What the endings of files say, the format of stdout first."""


class FailOn(StrEnum):
    """What makes a finished investigation end with exit code 1."""

    VIOLATION = "violation"
    CAUSE = "cause"
    NEW_CAUSE = "new-cause"


class Several(TyperCommand):
    """Lets several files follow --shapes, --axioms and --ontology, once DATA was given."""

    several: tuple[str, ...] = ("--shapes", "-s", "--axioms", "--ontology")
    data_first = True

    # Typer hands its own class of context to what click declares with another.
    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        """Put the option before each further file, as the parser wants it."""
        return super().parse_args(ctx, list(self._spread(args)))

    def _spread(self, args: list[str]) -> Iterable[str]:
        flags = {o for p in self.params for o in p.opts if getattr(p, "is_flag", False)}
        flags |= {"--help", "-h"}
        data = not self.data_first
        current = waiting = ""  # the option that takes what follows; the one that lacks its value
        for position, arg in enumerate(args):
            if arg == "--":
                yield from args[position:]
                return
            if waiting:
                waiting = ""
            elif arg.startswith("-") and len(arg) > 1:
                name, has_value, _ = arg.partition("=")
                if not arg.startswith("--") and len(arg) > len("-s"):  # its value stands at it
                    name, has_value = arg[:2], "="
                waiting = "" if has_value or name in flags else name
                current = name if name in self.several else ""
            elif current and data:
                yield current
            else:
                data = True
            yield arg


class FilesLast(Several):
    """Lets several files follow --data too; what is no option has to stand before them."""

    several = ("--data", "--shapes", "-s", "--axioms", "--ontology")
    data_first = False


def policies() -> Iterable[str]:
    """Return the names of policies, for completion."""
    from kgreason.record.policy import names  # noqa: PLC0415 - keeps --help quick

    return names()


def templates() -> Iterable[str]:
    """Return the names of templates and their roles, for completion."""
    from kgreason.base.templates import role, roles  # noqa: PLC0415 - keeps --help quick

    return [*roles(), *(f"{r}/{name}" for r in roles() for name in role(r))]


def _completing(names: Callable[[], Iterable[str]]) -> Callable[[str], list[str]]:
    def complete(incomplete: str) -> list[str]:
        return [name for name in names() if name.startswith(incomplete)]

    return complete


Data = Annotated[
    list[str],
    typer.Argument(
        metavar="DATA",
        help="Files (.ttl .nt .nq .trig .rdf .jsonld, each also .gz), folders of them, or an "
        "Oxigraph store folder, which is opened read-only; - is stdin. `investigate` takes the "
        "address of a SPARQL endpoint, too.",
        show_default=False,
    ),
]
Shapes = Annotated[
    list[str] | None,
    typer.Option(
        "--shapes",
        "-s",
        metavar="FILE…",
        help="SHACL shapes to check the data with: files, or folders of them.",
        rich_help_panel=WRONG,
        show_default=False,
    ),
]
Axioms = Annotated[
    list[str] | None,
    typer.Option(
        "--axioms",
        metavar="FILE…",
        help="OWL axioms to check the data with, alone or beside --shapes: disjoint classes, "
        "functional properties and more (docs/cli.md). They are read as --ontology too.",
        rich_help_panel=WRONG,
        show_default=False,
    ),
]
DataOfThen = Annotated[
    list[str] | None,
    typer.Option(
        "--data",
        metavar="PATH…",
        rich_help_panel=HELD,
        show_default=False,
        help="The data that were investigated, named as then: files or folders.",
    ),
]
ShapesOfThen = Annotated[
    list[str] | None,
    typer.Option(
        "--shapes",
        metavar="FILE…",
        rich_help_panel=HELD,
        show_default="the recorded files",
        help="The shapes of then, where they have moved.",
    ),
]
AxiomsOfThen = Annotated[
    list[str] | None,
    typer.Option(
        "--axioms",
        metavar="FILE…",
        rich_help_panel=HELD,
        show_default="the recorded files",
        help="The axioms of then, where they have moved.",
    ),
]
OntologyOfThen = Annotated[
    list[str] | None,
    typer.Option(
        "--ontology",
        metavar="FILE…",
        rich_help_panel=HELD,
        show_default="the recorded files",
        help="The ontologies of then, where they have moved.",
    ),
]
Violations = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        rich_help_panel=WRONG,
        show_default=False,
        help="A SHACL validation report to start from instead of validating. Give --shapes or "
        "--population too, else nobody knows who did not fail.",
    ),
]
Population = Annotated[
    str | None,
    typer.Option(
        metavar="FILE.rq",
        rich_help_panel=WRONG,
        show_default=False,
        help="A SELECT of ?focus: all nodes that the --violations were looked for in.",
    ),
]
Outcome = Annotated[
    str | None,
    typer.Option(
        metavar="FILE.rq",
        rich_help_panel=WRONG,
        show_default=False,
        help="A SELECT of ?focus and ?outcome in place of shapes: a boolean, true where the node "
        "is to be explained, or a number.",
    ),
]
At = Annotated[
    float | None,
    typer.Option(
        metavar="VALUE",
        rich_help_panel=WRONG,
        show_default="where two groups of numbers part, else the upper quartile",
        help="Explain nodes whose number in --outcome is VALUE or more.",
    ),
]
Severity = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        rich_help_panel=WRONG,
        show_default=False,
        help="Only constraints of this severity: violation, warning, info, or an IRI.",
    ),
]
Only = Annotated[
    str | None,
    typer.Option(
        metavar="SHAPE|PATH",
        rich_help_panel=WRONG,
        show_default=False,
        help="Only constraints of this shape (its IRI) or on this path (SPARQL, full IRIs).",
    ),
]
Ontology = Annotated[
    list[str] | None,
    typer.Option(
        "--ontology",
        metavar="FILE…",
        rich_help_panel=INPUT,
        show_default=False,
        help="Schema and vocabularies that the data need (owl:imports are never fetched).",
    ),
]
Lenient = Annotated[
    bool,
    typer.Option(
        "--lenient",
        rich_help_panel=INPUT,
        help="Accept what can be accepted of broken data, and count what was not.",
    ),
]
Strict = Annotated[
    bool,
    typer.Option(
        "--strict",
        rich_help_panel=INPUT,
        help="Refuse shapes that are not well-formed instead of passing them over.",
    ),
]
Jobs = Annotated[
    int,
    typer.Option(
        metavar="N",
        rich_help_panel=BUDGET,
        help="Processes in which causes are looked for, a symptom at a time, or independent goals "
        "of a plan are worked on; the record is the same for any number.",
    ),
]
Queue = Annotated[
    str | None,
    typer.Option(
        "--queue",
        metavar="URL",
        rich_help_panel=BUDGET,
        show_default="this process alone",
        help="Have symptoms looked into by the workers of a queue: nats://…, postgresql://…, or "
        "the folder of the ledger for workers on this machine (`kgreason worker`).",
    ),
]
MaxSeconds = Annotated[
    float | None,
    typer.Option(
        metavar="SECONDS",
        rich_help_panel=BUDGET,
        show_default="no limit",
        help="Seconds of work once the data are read and checked; what was found until then "
        "is the result.",
    ),
]
QuerySeconds = Annotated[
    float,
    typer.Option(
        metavar="SECONDS",
        rich_help_panel=INPUT,
        help="Stop a query that a user or a shape's author wrote after this time.",
    ),
]
AllowService = Annotated[
    bool,
    typer.Option(
        "--allow-service",
        rich_help_panel=INPUT,
        help="Let queries of yours call other endpoints by SERVICE.",
    ),
]
MaxBytes = Annotated[
    str,
    typer.Option(
        "--max-bytes",
        metavar="SIZE",
        rich_help_panel=INPUT,
        help="The most that a packed file (.gz) may unpack to: bytes, or a number with K, M, G "
        "or T (powers of 1024).",
    ),
]
Complete = Annotated[
    list[str] | None,
    typer.Option(
        "--complete",
        metavar="IRI",
        rich_help_panel=INPUT,
        show_default=False,
        help="A property or class that is complete: what the data do not say of it is not so. "
        "Give it again for several. Properties that a shape needs a value of are complete anyway.",
    ),
]
Redact = Annotated[
    list[str] | None,
    typer.Option(
        "--redact",
        metavar="IRI",
        rich_help_panel=INPUT,
        show_default=False,
        help="Keep the values of this property, or of the nodes of this class and their IRIs, out "
        "of the result and its record: a digest stands in place of each. Give it again for "
        "several.",
    ),
]
Extend = Annotated[
    list[str] | None,
    typer.Option(
        "--extend",
        metavar="DIR",
        rich_help_panel=INPUT,
        show_default=False,
        help="A folder of your own with families, tests, rules, policies, sections, questions, "
        "checks or repairs. Give it again for several.",
    ),
]
Hypotheses = Annotated[
    str | None,
    typer.Option(
        "--hypothesis",
        metavar="FILE.json",
        rich_help_panel=RECORD,
        show_default=False,
        help="Hypotheses of your own, to be tested beside those that are found: a JSON list, each "
        "with a statement and a region.",
    ),
]
As = Annotated[
    str | None,
    typer.Option(
        "--as",
        metavar="NAME|IRI",
        rich_help_panel=RECORD,
        show_default="unnamed",
        help="Who asks; the record names you with what you did.",
    ),
]
Correlation = Annotated[
    str | None,
    typer.Option(
        metavar="NAME|IRI",
        rich_help_panel=RECORD,
        show_default=False,
        help="The name that the parts of one divided question share; `kgreason correlation NAME` "
        "judges them as one.",
    ),
]
Conversation = Annotated[
    str | None,
    typer.Option(
        metavar="NAME|IRI",
        rich_help_panel=RECORD,
        show_default=False,
        help="The name that questions share which are asked one after the other. A later one may "
        "name what an earlier one found: is C1 the same in 2025?",
    ),
]
LedgerFolder = Annotated[
    str,
    typer.Option(
        "--ledger",
        metavar="DIR",
        rich_help_panel=RECORD,
        help="The folder of the reasoning history, or the address of a store on a server.",
    ),
]
Policy = Annotated[
    str,
    typer.Option(
        metavar="NAME|FILE.ttl",
        rich_help_panel=RECORD,
        autocompletion=_completing(policies),
        help="The rules by which evidence changes confidence and status: a name, or a file with a "
        "policy of your own.",
    ),
]
Calibration = Annotated[
    str,
    typer.Option(
        metavar="FILE.ttl|none",
        rich_help_panel=RECORD,
        show_default="the one that comes along",
        help="What calibrates confidence: a file that `kgreason calibrate` wrote, or nothing.",
    ),
]
Format = Annotated[
    ReportFormat | None,
    typer.Option(
        "--format",
        "-f",
        metavar="summary|md|html|json|ttl|sarif|junit|github|csv|shacl|earl|dqv",
        rich_help_panel=RECORD,
        show_default="by the ending of --out, else summary on a terminal and md elsewhere",
        help="How the result is written: for people, as data, or for the tools of a CI "
        "(docs/ci.md).",
    ),
]
ListAs = Annotated[
    ListFormat | None,
    typer.Option(
        "--format",
        "-f",
        metavar="table|json",
        show_default="by the ending of --out, else table",
        help="How it is written.",
    ),
]
TableAs = Annotated[
    TableFormat | None,
    typer.Option(
        "--format",
        "-f",
        metavar="table|csv|json",
        show_default="by the ending of --out, else table",
        help="How it is written.",
    ),
]
Out = Annotated[
    str | None,
    typer.Option(
        "--out",
        "-o",
        metavar="FILE",
        rich_help_panel=RECORD,
        show_default="stdout",
        help="Write the result to a file, all of it or nothing.",
    ),
]
Events = Annotated[
    str | None,
    typer.Option(
        "--events",
        metavar="FILE",
        rich_help_panel=RECORD,
        show_default=False,
        help="Write what happened to a file too: JSON lines, one for each change.",
    ),
]
Which = Annotated[
    str | None,
    typer.Argument(
        metavar="INVESTIGATION",
        show_default="the latest",
        help="The investigation, such as I1, or its IRI. Where a command knows no hypotheses, 1 "
        "will do.",
    ),
]
TemplateName = Annotated[
    str | None,
    typer.Argument(
        metavar="NAME",
        autocompletion=_completing(templates),
        show_default="all",
        help="A role, or a template as role/name (or its name alone).",
    ),
]
DEFAULT_LEDGER: Final = LEDGER
DEFAULT_MAX_BYTES: Final = "1G"
DEFAULT_POLICY: Final = resources.DEFAULT_POLICY

_TEXTUAL: Final = frozenset("\r\n{")


def path(name: str | None) -> str | Path | None:
    """Return a path as the API takes it for one: a name with a line end or a brace as a Path."""
    return Path(name) if name and _TEXTUAL & set(name) else name


def paths(names: Iterable[str] | None) -> "list[str | Path | Text]":
    """Return several paths as the API takes them; `-` is what is on stdin."""
    return [_piped() if name == "-" else path(name) or name for name in names or ()]


def _piped() -> "Text":
    from kgreason.cli.piped import piped  # noqa: PLC0415 - keeps --help quick

    return piped()


_SHACL: Final = "http://www.w3.org/ns/shacl#"


def severity_iri(name: str | None) -> str | None:
    """Return the IRI of a severity; raises OptionError for a name there is not."""
    known = {kind.lower(): f"{_SHACL}{kind}" for kind in ("Violation", "Warning", "Info")}
    if name is None or ":" in name:
        return None if name is None else name.strip("<>")
    if name.lower() not in known:
        raise OptionError(f"--severity {name}: use {', '.join(known)} or the IRI of a severity.")
    return known[name.lower()]


_SIZE: Final = re.compile(r"(\d{1,18}(?:\.\d{1,9})?) ?([KMGT]?)(?:I?B)?", re.ASCII | re.IGNORECASE)


def size(text: str, option: str = "--max-bytes") -> int:
    """Return a number of bytes may be told with a unit; raises OptionError for anything else."""
    found = _SIZE.fullmatch(text.strip())
    number = int(Decimal(found[1]) * 1024 ** " KMGT".index(found[2].upper() or " ")) if found else 0
    if number < 1:
        raise OptionError(
            f"{option} {text}: give a number of bytes, perhaps with K, M, G or T, such as 4G."
        )
    return number


def asking(principal: str | None, conversation: str | None) -> dict[str, Any]:
    """Return who asks, and in which conversation, as the API takes them."""
    return {"principal": principal, "conversation": conversation}
