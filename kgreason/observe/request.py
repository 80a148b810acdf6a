"""What can be asked for."""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Final

from kgreason.base.errors import GraphError, OptionError
from kgreason.base.resources import DEFAULT_POLICY
from kgreason.graph.bounds import MOST_BYTES
from kgreason.graph.given import Objects
from kgreason.graph.load import FORMATS, files_in

_ABSOLUTE: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\x00-\x20<>\"{}|^`\\]+")
_LONGEST: Final = 200
_SNIFFED: Final = 1_000_000
_REPORT: Final = re.compile(rb"\bValidationReport\b")
_SHAPES: Final = re.compile(
    rb"ns/shacl#[\s\S]*?\b(?:NodeShape|PropertyShape|targetClass|targetNode|targetSubjectsOf|targetObjectsOf)\b"
)
Paths = str | Path | Sequence[str | Path]


@dataclass(frozen=True)
class Request:
    """Everything that can be asked for; kept in the record, so that a run can be resumed.

    `data`, `shapes`, `axioms` and `ontology` are paths of files or folders. Exactly one of
    `shapes`, `violations` and `outcome` says what is wrong (`violations` may have `shapes` or
    `population` beside it), or the OWL axioms of `axioms` do, with or without `shapes`; these files
    are read as ontologies too.
    `at` cuts a numeric outcome. `calibration` is `default`, `none` or a file. `severity` and `only`
    narrow the shapes. `complete` are the IRIs of properties and classes of which silence means
    absence. `max_steps` and `max_seconds` are budgets, None is without limit; `query_seconds`
    bounds each query that a user wrote, `max_bytes` what a packed file (.gz) may unpack to. Data
    that would take more than `memory` bytes (None: half of the machine's) are not loaded whole.
    `extend` are folders with families, tests, policies and more of a user's own. `objects` are
    those of the paths that are no files, with what they hold; they are not recorded. `hypotheses`
    are those that somebody suggests, as `kgreason.hypothesize.suggestions` reads them; `principal`
    is who asks, by name or IRI. `correlation` is the name or IRI that all parts of one divided
    question share, `conversation` the one that questions asked one after the other share. With
    `try_repairs` repairs of the first causes are tried on a scratch copy at the end;
    `interventions` are repairs that are tried as evidence. `redact` are the IRIs of properties and
    classes whose values are kept out of all that is made of the data. `model` is a language model
    that proposes too, as PROVIDER:NAME; `max_tokens` and `max_usd` are what its calls may cost, by
    the price table `prices`. With `plain` the model answers without hypotheses. `sources` are
    looked up for what they say of the hypotheses: names of services, folders of documents, or
    graph: and an IRI; `readings` is a file of what somebody who read their passages found. `tests`
    are those that somebody designed, as `kgreason.computation.designed` reads them. `routing` is
    how the question was routed, as `kgreason.record.routing_decision` keeps it. A sub-investigation
    names its `parent` and its `assignment` by IRI, has the `depth` of the fan-outs above it, and
    looks into the symptoms of the keys `symptoms` alone, where there are any.

    Data may be the address of a SPARQL endpoint; then `graphs`, `dialect`, `cap`, `ratio`, `hops`
    and `pause` say what is asked of it and how, as `kgreason.endpoint.named_endpoint` has them.
    Once an extract was taken, it is the data; `endpoint` is where it came from, `extract` and
    `lists` are the SHA-256 of its two texts beside the record. `headers` may hold secrets, and are
    not recorded.
    """

    data: tuple[str, ...]
    shapes: tuple[str, ...] = ()
    axioms: tuple[str, ...] = ()
    ontology: tuple[str, ...] = ()
    violations: str | None = None
    population: str | None = None
    outcome: str | None = None
    at: float | None = None
    question: str | None = None
    severity: str | None = None
    only: str | None = None
    lenient: bool = False
    strict: bool = False
    policy: str = DEFAULT_POLICY
    calibration: str = "default"
    seed: int = 0
    max_hypotheses: int = 6
    max_steps: int | None = None
    max_seconds: float | None = None
    interventions: int = 0
    try_repairs: bool = True
    complete: tuple[str, ...] = ()
    query_seconds: float = 60.0
    allow_service: bool = False
    max_bytes: int = MOST_BYTES
    memory: int | None = None
    extend: tuple[str, ...] = ()
    principal: str | None = None
    correlation: str | None = None
    conversation: str | None = None
    hypotheses: tuple[Mapping[str, Any], ...] = ()
    redact: tuple[str, ...] = ()
    model: str | None = None
    max_tokens: int | None = None
    max_usd: float | None = None
    prices: str | None = None
    plain: bool = False
    sources: tuple[str, ...] = ()
    readings: str | None = None
    tests: tuple[Mapping[str, Any], ...] = ()
    routing: Mapping[str, Any] | None = None
    parent: str | None = None
    assignment: str | None = None
    depth: int = 0
    symptoms: tuple[str, ...] = ()
    graphs: tuple[str, ...] = ()
    dialect: str | None = None
    cap: int = 5000
    ratio: int = 4
    hops: int = 2
    pause: float = 0.0
    endpoint: str | None = None
    extract: str | None = None
    lists: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)
    fingerprint: str = field(default="", compare=False)
    objects: Objects = field(default_factory=dict, compare=False, repr=False)

    def check(self) -> None:
        """Refuse options that do not go together; raises OptionError."""
        if not self.data:
            raise OptionError("No data was given; name files, folders or a store folder.")
        if self.outcome and (self.shapes or self.violations):
            raise OptionError("--outcome stands in place of --shapes and --violations; give one.")
        if self.axioms and (self.outcome or self.violations):
            raise OptionError("--axioms stands alone or beside --shapes.")
        if not (self.shapes or self.axioms or self.violations or self.outcome):
            raise OptionError(
                _meant(self.data)
                or "What is wrong? Give --shapes FILE, --axioms FILE, --violations FILE or "
                "--outcome FILE."
            )
        if self.at is not None and not self.outcome:
            raise OptionError("--at cuts the number of an --outcome query; there is none.")
        if self.model is None and (self.max_tokens or self.max_usd or self.prices or self.plain):
            raise OptionError(
                "--max-tokens, --max-usd, --prices and --plain are about --model; give one."
            )
        if self.readings and not self.sources:
            raise OptionError("--readings are of passages of sources; name them by --source.")
        if self.population and not self.violations:
            raise OptionError("--population goes with --violations.")
        self._check_numbers()

    def _check_numbers(self) -> None:
        for name, least in (
            ("max_hypotheses", 1),
            ("max_steps", 1),
            ("interventions", 0),
            ("max_bytes", 1),
            ("memory", 1),
            ("max_tokens", 1),
        ):
            value = getattr(self, name)
            if value is not None and value < least:
                raise OptionError(f"--{name.replace('_', '-')} must be at least {least}.")
        for name in ("max_seconds", "query_seconds", "max_usd"):
            value = getattr(self, name)
            if value is not None and value <= 0:
                raise OptionError(f"--{name.replace('_', '-')} must be more than 0.")

    @property
    def schema(self) -> tuple[str, ...]:
        """The files that are read beside the data: ontologies, and axioms that are no data."""
        known = {os.path.realpath(name) for name in (*self.data, *self.ontology)}
        own = (name for name in self.axioms if os.path.realpath(name) not in known)
        return (*self.ontology, *dict.fromkeys(own))


def _meant(data: Sequence[str]) -> str | None:
    """Return what somebody may have meant who gave shapes, a report or a query as data."""
    for name in data:
        ending = Path(name).suffix.lower()
        beginning = _beginning(name)
        if ending in {".rq", ".sparql"}:
            return f"What is wrong? {name} is a query; did you mean --outcome {name}?"
        if _REPORT.search(beginning):
            return (
                f"What is wrong? {name} holds a SHACL validation report; did you mean "
                f"--violations {name}?"
            )
        if _SHAPES.search(beginning):
            return f"What is wrong? {name} holds SHACL shapes; did you mean --shapes {name}?"
    return None


def _beginning(name: str) -> bytes:
    try:
        with Path(name).open("rb") as file:
            return file.read(_SNIFFED)
    except OSError:
        return b""


def paths(given: Paths) -> tuple[str, ...]:
    """Return one or several paths as a tuple of texts."""
    if isinstance(given, str | Path):
        return (str(given),)
    return tuple(str(path) for path in given)


def correlation_name(text: str, of: str = "correlation") -> str:
    """Return the name of a correlation without blanks around it, an IRI without angle brackets.

    So is that of a conversation (`of`).

    Raises OptionError for a name that is empty, longer than 200 characters or several lines.
    """
    name = text.strip()
    if name.startswith("<") and name.endswith(">"):
        name = name[1:-1]
    if not name or len(name) > _LONGEST or not name.isprintable():
        raise OptionError(
            f"A {of} needs a name or an IRI, in one line of at most {_LONGEST} characters."
        )
    return name


def request_of(data: Paths, **options: Any) -> Request:  # noqa: C901 - a line for each kind of option
    """Make a checked request; raises OptionError for an option there is not."""
    known = {f.name for f in fields(Request)}
    unknown = sorted(set(options) - known)
    if unknown:
        raise OptionError(f"There is no option {unknown[0]!r}; there are {', '.join(known)}.")
    for name in ("shapes", "axioms", "ontology", "extend"):
        if name in options:
            given = paths(options[name])
            options[name] = tuple(_inside(given)) if name in {"shapes", "axioms"} else given
    for name, said in (("complete", "complete"), ("redact", "redact"), ("graphs", "graph")):
        if name in options:
            options[name] = absolute(options[name], f"--{said}")
    options["headers"] = dict(options.get("headers", {}))
    for name in ("violations", "population", "outcome"):
        if options.get(name) is not None:
            options[name] = str(options[name])
    if "sources" in options:
        options["sources"] = source_names(options["sources"])
    for name in ("readings", "prices"):
        if options.get(name) is not None:
            options[name] = str(Path(options[name]).resolve())
    if options.get("correlation") is not None:
        options["correlation"] = correlation_name(options["correlation"])
    if options.get("conversation") is not None:
        options["conversation"] = correlation_name(options["conversation"], "conversation")
    request = Request(paths(data), **options)
    request.check()
    return request


def _inside(names: Sequence[str]) -> Iterator[str]:
    """Return the files that are named, those inside of a folder in its place.

    Raises GraphError for a folder without any that can be read.
    """
    for name in names:
        if not os.path.isdir(name):  # noqa: PTH112 - unlike Path.is_dir it never raises
            yield name
            continue
        files = files_in([Path(name)])
        if not files:
            raise GraphError(
                f"{name}: no file in this folder ends in one of {', '.join(FORMATS)}; name the "
                "folder or the files that hold the rules."
            )
        yield from (str(file.path) for file in files)


def source_names(given: str | Path | Sequence[str | Path] | None) -> tuple[str, ...]:
    """Return the names of sources, each once; a folder is named by its absolute path."""
    several = (given,) if isinstance(given, str | Path) else given or ()
    names = (str(Path(one).resolve()) if Path(one).is_dir() else str(one) for one in several)
    return tuple(dict.fromkeys(names))


def absolute(given: str | Sequence[str] | None, option: str) -> tuple[str, ...]:
    """Return IRIs without their brackets, each once; raises OptionError for one not absolute."""
    found = []
    for one in (given,) if isinstance(given, str) else given or ():
        iri = one.removeprefix("<").removesuffix(">")
        if not _ABSOLUTE.fullmatch(iri):
            raise OptionError(f"{option} {one}: give the absolute IRI of a property or class.")
        found.append(iri)
    return tuple(dict.fromkeys(found))
