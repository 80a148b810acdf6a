"""What a result holds, as frozen dataclasses: the entries of its JSON under the same names."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Self


@dataclass(frozen=True)
class NodeCount:
    """Counted focus nodes: those that fail, and all."""

    failing: int
    population: int


@dataclass(frozen=True)
class ReportedCitation:
    """A node that evidence rests on, with the property and value cited, where it has one."""

    node: str
    field: str | None
    value: str | None


@dataclass(frozen=True)
class ReportedPassage:
    """A passage that evidence quotes: the IRI or title of its work, its words, and where.

    `reading` is what somebody who read it found (supports, contradicts, neither), or empty; `span`
    are the words that a model goes by which read it, and `key` by what a file of readings names it.
    """

    work: str
    quote: str
    locator: str
    reading: str = ""
    key: str = ""
    span: str = ""


@dataclass(frozen=True)
class ReportedEffect:
    """The means of a numeric outcome inside and outside a region, their difference, its interval.

    All in the outcome's unit; `low` and `high` are None where no interval can be given.
    """

    inside: float
    outside: float
    difference: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class ReportedEvidence:
    """A piece of evidence: the kind of its test, its polarity, its strength, and its citations.

    `note` says in a sentence what was found, `modality` in what way it was come by, `source` what
    it was drawn from (of the graph its fingerprint); they are None in records that do not say it.
    `effect` is that of a numeric outcome.
    """

    id: str
    test: str
    polarity: str
    strength: float
    note: str | None
    citations: tuple[ReportedCitation, ...]
    modality: str | None
    source: str | None
    passages: tuple[ReportedPassage, ...]
    effect: ReportedEffect | None

    @classmethod
    def of(cls, entry: Mapping[str, Any]) -> Self:
        """Make it of an entry of the JSON."""
        citations = tuple(ReportedCitation(**one) for one in entry["citations"])
        passages = tuple(ReportedPassage(**one) for one in entry["passages"])
        effect = None if entry["effect"] is None else ReportedEffect(**entry["effect"])
        return cls(**{**entry, "citations": citations, "passages": passages, "effect": effect})


@dataclass(frozen=True)
class ReportedOrigin:
    """Where the failures of a mechanism come from: the hypothesis with its counts and its evidence.

    `shared` counts the failures of the mechanism that it holds too, and all of the mechanism.
    """

    id: str
    kind: str
    statement: str
    status: str
    region: str | None
    inside: NodeCount
    outside: NodeCount
    evidence: tuple[ReportedEvidence, ...]
    shared: NodeCount

    @classmethod
    def of(cls, entry: Mapping[str, Any]) -> Self:
        """Make it of an entry of the JSON."""
        counts = {name: NodeCount(**entry[name]) for name in ("inside", "outside", "shared")}
        evidence = tuple(map(ReportedEvidence.of, entry["evidence"]))
        return cls(**{**entry, **counts, "evidence": evidence})


@dataclass(frozen=True)
class ReportedBits:
    """What a region in the language of conditions saves, in bits, and the length of its code.

    `saved` is what is left when the length is paid: two to the power of it is the e-value where
    nodes are exchangeable (docs/conditions.md).
    """

    saved: float
    code_length: float


@dataclass(frozen=True)
class ReportedCases:
    """How many cases of a kind of proof, of about that confidence, were right.

    Their cause was known. `natural` are those of them that nobody sowed.
    """

    cases: int
    right: int
    natural: int
    natural_right: int


@dataclass(frozen=True)
class ReportedSearch:
    """How far the search in conditions went: paths, and conditions on what lies at their ends.

    `unreached` counts the paths that might have told more and were not looked at; `examples` names
    a few of them. `nodes` counts those of a sample; None where every node was looked at.
    """

    paths: int
    conditions: int
    unreached: int
    examples: tuple[str, ...]
    nodes: int | None = None

    @classmethod
    def of(cls, entry: Mapping[str, Any]) -> Self:
        """Make it of an entry of the JSON."""
        return cls(**{**entry, "examples": tuple(entry["examples"])})


@dataclass(frozen=True)
class ReportedHypothesis:
    """A hypothesis on a symptom, as ranked among its rivals.

    `region` is a SELECT of ?focus; `inside` and `outside` count over the whole population;
    `proposers` are those who proposed it, as people call them. `finding` is the sentence that joins
    a mechanism with its `origin` and its `pieces`; None where it is told by itself. `bits` are
    those of a region in the language of conditions. `proof` is by what it stands or falls: direct
    (a check), bits, halves, or none (no cause); `calibrated_on` are the cases behind `calibrated`.
    What `depends_on_seed` was borne out only by the half that the seed held out.
    `posterior` is the confidence within its frame, before the record of its kind of proof counted.
    """

    id: str
    rank: int
    kind: str
    statement: str
    status: str
    confidence: float
    posterior: float
    calibrated: float | None
    calibrated_on: "ReportedCases | None"
    proof: str | None
    e_value: float | None
    region: str | None
    region_plain: str | None
    region_needs: str | None
    inside: NodeCount
    outside: NodeCount
    evidence: tuple[ReportedEvidence, ...]
    proposers: tuple[str, ...]
    finding: str | None
    origin: ReportedOrigin | None
    pieces: tuple[str, ...]
    bits: ReportedBits | None
    depends_on_seed: bool

    @classmethod
    def of(cls, entry: Mapping[str, Any]) -> Self:
        """Make it of an entry of the JSON."""
        on = entry["calibrated_on"]
        inner = {
            "inside": NodeCount(**entry["inside"]),
            "outside": NodeCount(**entry["outside"]),
            "evidence": tuple(map(ReportedEvidence.of, entry["evidence"])),
            "proposers": tuple(entry["proposers"]),
            "origin": ReportedOrigin.of(entry["origin"]) if entry["origin"] else None,
            "pieces": tuple(entry["pieces"]),
            "calibrated_on": on and ReportedCases(**on),
            "bits": ReportedBits(**entry["bits"]) if entry["bits"] else None,
        }
        return cls(**{**entry, **inner})


@dataclass(frozen=True)
class DetectableEffect:
    """The smallest effects that would have been seen, in four of five splits of the nodes.

    A condition on `nodes` nodes is seen where at least `failing` of them fail, which is a `rate`
    from 0 to 1; one all of whose nodes fail is seen where it has at least `fewest` nodes.
    """

    nodes: int
    failing: int
    rate: float
    fewest: int


@dataclass(frozen=True)
class NearestCandidate:
    """What came near where a symptom is inconclusive, and was not `tested`; `reason` says why.

    `inside` and `outside` count over the half of the nodes in which causes are looked for.
    """

    statement: str
    inside: NodeCount
    outside: NodeCount
    reason: str
    tested: bool

    @classmethod
    def of(cls, entry: Mapping[str, Any]) -> Self:
        """Make it of an entry of the JSON."""
        sides = {name: NodeCount(**entry[name]) for name in ("inside", "outside")}
        return cls(**{**entry, **sides})


@dataclass(frozen=True)
class VerdictFeatures:
    """What calibration goes by."""

    proposed: int
    pruned: int
    winning: float | None
    round: int | None
    adjustment: float


@dataclass(frozen=True)
class SeenSymptom:
    """A constraint or outcome that somebody fails, as it is seen before any cause is looked for.

    `population` is 0 where it is not known. `axiom` is the OWL term that states it, where no shape
    does; `shape` is then the property or class that the axiom is said of.
    """

    id: str
    name: str
    shape: str | None
    constraint: str | None
    axiom: str | None
    path: str | None
    severity: str | None
    population: int
    failing: int


@dataclass(frozen=True)
class NarratedSentence:
    """A sentence of a model about a symptom, with the IRIs of the evidence that it cites.

    What was not `tested` is a plain answer, and cites nothing.
    """

    text: str
    by: str
    evidence: tuple[str, ...]
    tested: bool

    @classmethod
    def of(cls, entry: Mapping[str, Any]) -> Self:
        """Make it of an entry of the JSON."""
        return cls(**{**entry, "evidence": tuple(entry["evidence"])})


@dataclass(frozen=True)
class ReportedSymptom(SeenSymptom):
    """A symptom with the verdict on it and its hypotheses, the best first.

    `key` is that of its constraint, which stays the same from run to run.
    `explained` are its failing nodes in supported regions of which at least half fails, `narrowed`
    those in other supported regions alone; `excess` is the share of the failing nodes that all of
    these hold beyond the rate outside (None before the conclusion).
    """

    key: str | None
    explained: int
    narrowed: int
    excess: float | None
    verdict: str
    not_examined: str | None
    open: tuple[str, ...]
    detectable: DetectableEffect | None
    nearest: tuple[NearestCandidate, ...]
    features: VerdictFeatures | None
    search: ReportedSearch | None
    hypotheses: tuple[ReportedHypothesis, ...]
    narration: tuple[NarratedSentence, ...]

    @classmethod
    def of(cls, entry: Mapping[str, Any]) -> Self:
        """Make it of an entry of the JSON."""
        features, effect = entry["features"], entry["detectable"]
        inner = {
            "open": tuple(entry["open"]),
            "detectable": None if effect is None else DetectableEffect(**effect),
            "nearest": tuple(map(NearestCandidate.of, entry["nearest"])),
            "features": None if features is None else VerdictFeatures(**features),
            "search": ReportedSearch.of(entry["search"]) if entry["search"] else None,
            "hypotheses": tuple(map(ReportedHypothesis.of, entry["hypotheses"])),
            "narration": tuple(map(NarratedSentence.of, entry["narration"])),
        }
        return cls(**{**entry, **inner})


@dataclass(frozen=True)
class CausePart:
    """What a cause that is one mechanism over several properties says of one of them.

    `explains` counts the failing nodes of the symptom in the regions of the cause.
    """

    hypothesis: str
    symptom: str
    statement: str
    explains: int


@dataclass(frozen=True)
class ReportedRepair:
    """What a repair did that was tried on a scratch copy for one hypothesis of a cause.

    `repair` is its name, `instruction` what it does in words, `outcome` what came of it: cleared,
    partly, unchanged, harmful, unspecific or out-of-scope. It changed `nodes`, and of their
    `violations` it `cleared` some and `caused` new ones. Where none was tried, all that is None and
    `not_tried` says why. `caution` is what to look at before it is applied.
    """

    hypothesis: str
    repair: str | None
    instruction: str | None
    outcome: str | None
    nodes: int | None
    violations: int | None
    cleared: int | None
    caused: int | None
    not_tried: str | None
    caution: str | None = None


@dataclass(frozen=True)
class ReportedStep:
    """What to do next about a cause, and the command for it: what follows `kgreason`, or None."""

    words: str
    command: str | None


@dataclass(frozen=True)
class ReportedCause:
    """A supported cause with all the symptoms it is behind; `id` is what it is called: C1, C2.

    `fingerprint` is the same in another investigation that finds a cause which says the same.
    `explains` counts the failing nodes in its regions, `adds` those that no cause before it holds
    (None before the conclusion). Where it `narrows`, too few of its region fail, or not many more
    than elsewhere: it tells where the failures lie, and adds nothing to what is explained; a
    `sliver` adds but a handful to causes that hold nearly all, and is not counted. One mechanism
    over several properties has them in `same_mechanism`. `bits` are those of that of its hypotheses
    which saves most; None where none is in the language of conditions. `repair` is what was tried
    on a scratch copy, None where nothing was; `next` is what to do. `said` is the statement of
    nodes that are called by their class.
    """

    id: str
    hypotheses: tuple[str, ...]
    symptoms: tuple[str, ...]
    explains: int
    adds: int | None
    statement: str
    narrows: bool
    sliver: bool
    fingerprint: str
    same_mechanism: tuple[CausePart, ...]
    bits: ReportedBits | None
    repair: ReportedRepair | None
    next: ReportedStep
    said: str

    @classmethod
    def of(cls, entry: Mapping[str, Any]) -> Self:
        """Make it of an entry of the JSON."""
        lists: dict[str, Any] = {n: tuple(entry[n]) for n in ("hypotheses", "symptoms")}
        parts = tuple(CausePart(**each) for each in entry["same_mechanism"])
        bits = ReportedBits(**entry["bits"]) if entry["bits"] else None
        tried = ReportedRepair(**entry["repair"]) if entry["repair"] else None
        lists |= {"repair": tried, "next": ReportedStep(**entry["next"])}
        return cls(**{**entry, **lists, "same_mechanism": parts, "bits": bits})


def rows(symptoms: Iterable[ReportedSymptom]) -> list[dict[str, Any]]:
    """Return one flat dict a symptom, with the hypothesis that leads, for any frame library."""
    return [_row(symptom) for symptom in symptoms]


def _row(symptom: ReportedSymptom) -> dict[str, Any]:
    names = [field.name for field in fields(SeenSymptom)]
    leader = min(symptom.hypotheses, key=lambda one: one.rank)
    return {
        **{name: getattr(symptom, name) for name in names},
        "explained": symptom.explained,
        "narrowed": symptom.narrowed,
        "excess": symptom.excess,
        "verdict": symptom.verdict,
        "hypothesis": leader.id,
        "kind": leader.kind,
        "statement": leader.statement,
        "status": leader.status,
        "confidence": leader.confidence,
        "calibrated": leader.calibrated,
    }
