"""The result of an investigation as data: the contract of docs/result.schema.json."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from pyoxigraph import NamedNode

from kgreason.base.store import Row
from kgreason.base.templates import template
from kgreason.hypothesize.frames import NEAREST
from kgreason.record import Record, node_name
from kgreason.record.divided import told_whole
from kgreason.record.joined import with_origins
from kgreason.record.modalities import notations
from kgreason.record.plan_steps import answer_of
from kgreason.record.ranking import Hypothesis, hypotheses, rank, short, symptoms
from kgreason.report.causes import causes_of
from kgreason.report.summary import called, next_step, said
from kgreason.report.synthesis import synthesis

_PASSAGE: Final = ("work", "quote", "locator", "reading", "span", "key")
_OPEN: Final = "inconclusive"

Evidence = Mapping[str, list[dict[str, Any]]]


def as_dict(record: Record) -> dict[str, Any]:
    """Return result of an investigation, finished or not, made by queries over its record alone.

    Counts are numbers of focus nodes, shares and confidences are 0 to 1, `seconds` is the time
    worked. What a symptom has no verdict on yet is inconclusive.
    """
    parent, record = record, told_whole(record)
    about = record.select("result-investigation")[0]
    known = hypotheses(record)
    joined, findings = record.select("joint-explanation"), record.select("joined-findings")
    told = _symptoms(record, known, about, findings)
    members = [h for s in told for h in known.get(s["id"], [])]
    return {
        "investigation": record.iri.value,
        "question": _text(about, "question"),
        "correlation": _text(about, "correlation"),
        "conversation": _text(about, "conversation"),
        "principal": next((row["name"].value for row in record.select("principal")), None),
        "policy": about["policy"].value,
        "seed": int(about["seed"].value),
        "graph": {
            "triples": int(about["triples"].value),
            "graphs": int(about["graphs"].value),
            "fingerprint": about["fingerprint"].value,
        },
        "notices": [row["sentence"].value for row in record.select("notices", role="report")],
        "symptoms": told,
        "reassessments": _reassessments(record),
        "explanation": _explanation(joined),
        "causes": _acted_on(record, _causes(members, joined, findings, told)),
        "settled": _settled(record),
        "broken_exclusions": _broken(record),
        "strategy": _strategy(record),
        "answer": _answer(record),
        "steps": _steps(record),
        "synthesis": synthesis(parent),
        "state": _state(about),
        "error": _error(about),
        "budget": {
            "seconds": _seconds(record, about),
            "steps": int(about["steps"].value),
            "cut": _text(about, "cut"),
        },
    }


def _settled(record: Record) -> list[dict[str, Any]]:
    """Return the hypotheses that were settled since a premise of them was refuted."""
    out: dict[str, dict[str, Any]] = {}
    for row in record.select("settlements"):
        entry = {"hypothesis": row["hypothesis"].value, "premises": [], "why": row["cause"].value}
        made = out.setdefault(row["hypothesis"].value, entry)
        if row["premise"].value not in made["premises"]:
            made["premises"].append(row["premise"].value)
    return list(out.values())


def _broken(record: Record) -> list[dict[str, Any]]:
    """Return pairs of supported hypotheses of which one was said to exclude the other."""
    return [
        {"hypotheses": [row["one"].value, row["other"].value], "statement": row["said"].value}
        for row in record.select("broken-exclusions")
    ]


def _strategy(record: Record) -> str:
    """Return the notation of the pattern that an investigation was worked on by."""
    rows = record.select("worked-on-by")
    return rows[0]["name"].value if rows else "hypothesis"


def _answer(record: Record) -> dict[str, Any] | None:
    """Return what a strategy answered, with the nodes it rests on; None where it was the loop."""
    given = answer_of(record)
    if given is None:
        return None
    cited = [r for r in record.select("plan-citations") if r["answer"].value == given["id"]]
    return {
        "text": given["text"],
        "answered": given["answered"],
        "citations": [node_name(row["node"]) for row in cited],
    }


def _steps(record: Record) -> list[dict[str, Any]]:
    """Return the calls of tools by a strategy, in their order."""
    return [
        {
            "id": row["call"].value,
            "thought": row["thought"].value,
            "tool": row["tool"].value,
            "arguments": row["arguments"].value,
            "observation": row["observation"].value,
            "found": int(row["found"].value) if "found" in row else None,
            "status": row["status"].value,
        }
        for row in record.select("plan-calls")
    ]


def _symptoms(
    record: Record,
    known: Mapping[str, Sequence[Hypothesis]],
    about: Row,
    findings: Sequence[Row],
) -> list[dict[str, Any]]:
    """Return the entries of `symptoms`, each with its hypotheses as they are ranked."""
    evidence, authors = _evidence(record), _authors(record)
    features, estimates, nearest = _features(record), _estimates(record), _nearest(record)
    searches, bits = _searches(record), _bits(record)
    seeded = {row["hypothesis"].value for row in record.select("result-seeds")}
    narration = _narration(record)
    open_: dict[str, list[str]] = {}
    for row in record.select("undecided"):
        open_.setdefault(row["symptom"].value, []).append(row["why"].value)
    told = [
        symptom(row)
        | {"not_examined": _text(row, "unexamined")}
        | {"open": _why_open(row, open_.get(row["symptom"].value, []), about)}
        | {"detectable": _detectable(row)}
        | {"nearest": nearest.get(row["symptom"].value, [])}
        | {"features": features.get(row["symptom"].value)}
        | {"search": searches.get(row["symptom"].value)}
        | {"narration": narration.get(row["symptom"].value, [])}
        | {
            "hypotheses": [
                entry | {"bits": bits.get(entry["id"]), "depends_on_seed": entry["id"] in seeded}
                for entry in _ranked(
                    row, known.get(row["symptom"].value, []), evidence, estimates, authors, about
                )
            ]
        }
        for row in symptoms(record)
    ]
    return [one | {"hypotheses": with_origins(one["hypotheses"], findings)} for one in told]


def _narration(record: Record) -> dict[str, list[dict[str, Any]]]:
    """Return what a model told, sentence by sentence, by the IRI of the symptom.

    What is plain was answered without a competition of hypotheses, and cites nothing.
    """
    out: dict[str, list[dict[str, Any]]] = {}
    for row in record.select("result-narration"):
        told = {"text": row["text"].value, "by": row["by"].value, "evidence": []}
        several = out.setdefault(row["symptom"].value, [])
        if not several or several[-1]["text"] != told["text"]:
            several.append(told | {"tested": "evidence" in row})
        if "evidence" in row:
            several[-1]["evidence"].append(row["evidence"].value)
    return out


def _searches(record: Record) -> dict[str, dict[str, Any]]:
    """Return how far the search in conditions went, by the IRI of the symptom."""
    out: dict[str, dict[str, Any]] = {}
    for row in record.select("result-searches"):
        names = {"paths": "paths", "conditions": "conditions", "beyond": "unreached"}
        counts: dict[str, Any] = {told: int(row[name].value) for name, told in names.items()}
        nodes = int(row["nodes"].value) if "nodes" in row else None
        made = out.setdefault(row["symptom"].value, counts | {"nodes": nodes, "examples": []})
        if "unreached" in row:
            made["examples"].append(row["unreached"].value)
    return out


def _bits(record: Record) -> dict[str, dict[str, float]]:
    """Return the bits saved and the code length of what the language of conditions tells.

    Both are in bits, by the IRI of the hypothesis; of several ways to say it, the shortest counts.
    """
    out: dict[str, dict[str, float]] = {}
    for row in record.select("result-bits"):
        told = {"saved": float(row["saved"].value), "code_length": float(row["length"].value)}
        out.setdefault(row["hypothesis"].value, told)
    return out


def _state(about: Row) -> str:
    """Return where an investigation stands: running, failed or finished."""
    return about["state"].value.rpartition("#")[2].lower() if "state" in about else "running"


def _error(about: Row) -> dict[str, str] | None:
    """Return the error that ended the run, None where none did."""
    if "errorType" not in about:
        return None
    return {"type": about["errorType"].value, "message": about["errorMessage"].value}


def _reassessments(record: Record) -> list[dict[str, Any]]:
    """Return what other policies made of each hypothesis, where the evidence was judged again."""
    return [
        {
            "policy": row["policy"].value,
            "hypothesis": row["hypothesis"].value,
            "status": row["status"].value,
            "confidence": float(row["confidence"].value),
            "agrees": row["status"].value == row["recorded"].value,
        }
        for row in record.select("result-reassessments")
    ]


def _features(record: Record) -> dict[str, dict[str, Any]]:
    """Return what calibration goes by, by the IRI of the symptom."""
    names = {"proposed": int, "pruned": int, "winning": float, "round": int, "adjustment": float}
    return {
        row["symptom"].value: {
            name: made(row[name].value) if name in row else None for name, made in names.items()
        }
        for row in record.select("result-features")
    }


def _estimates(record: Record) -> dict[str, Row]:
    """Return the calibrated confidence, and what it rests on, by the IRI of the hypothesis."""
    return {row["hypothesis"].value: row for row in record.select("result-estimates")}


def _rests_on(estimate: Row | None) -> dict[str, int] | None:
    """Return the cases whose cause was known that an estimate by kind of proof rests on."""
    if estimate is None or "leaders" not in estimate:
        return None
    names = {
        "cases": "leaders",
        "right": "right",
        "natural": "natural",
        "natural_right": "naturalRight",
    }
    return {name: int(estimate[found].value) for name, found in names.items()}


def symptom(row: Row) -> dict[str, Any]:
    """Return one entry of `symptoms`, without its hypotheses, from a row that names its parts."""
    failing = int(row["failing"].value)
    return {
        "id": row["symptom"].value,
        "key": _text(row, "key"),
        "name": row["name"].value,
        "shape": _text(row, "shape"),
        "constraint": _text(row, "constraint"),
        "axiom": _text(row, "axiom"),
        "path": _text(row, "path"),
        "severity": _text(row, "severity"),
        "population": int(row["population"].value) if "population" in row else failing,
        "failing": failing,
        "explained": int(row["explained"].value) if "explained" in row else 0,
        "narrowed": int(row["narrowed"].value) if "narrowed" in row else 0,
        "excess": float(row["excess"].value) if "excess" in row else None,
        "verdict": _text(row, "verdict") or _OPEN,
    }


def _why_open(row: Row, found: list[str], about: Row) -> list[str]:
    """Explain why an inconclusive symptom is open: what was not, or could not be, tried."""
    if symptom(row)["verdict"] != _OPEN:
        return []
    cut = _text(about, "cut")
    return found if cut is None else [*found, f"the run {cut}"]


def _detectable(row: Row) -> dict[str, Any] | None:
    """Return the smallest effects that would have been seen, where the verdict names no cause."""
    if "fewest" not in row:
        return None
    nodes, failing, fewest = (int(row[n].value) for n in ("size", "needed", "fewest"))
    return {"nodes": nodes, "failing": failing, "rate": failing / nodes, "fewest": fewest}


def _nearest(record: Record) -> dict[str, list[dict[str, Any]]]:
    """Return what came nearest without a test, by the IRI of the symptom; at most five of each."""
    nearest = template("record", "nearest").fragment()
    asked = template("record", "result-nearest").render(investigation=record.iri, nearest=nearest)
    out: dict[str, list[dict[str, Any]]] = {}
    for row in record.store.select(asked):
        told = out.setdefault(row["symptom"].value, [])
        if len(told) < NEAREST:
            counts = {name: int(row[name].value) for name in "abcd"}
            told.append(
                {
                    "statement": row["words"].value,
                    "inside": {"failing": counts["a"], "population": counts["b"]},
                    "outside": {"failing": counts["c"], "population": counts["d"]},
                    "reason": row["reason"].value,
                    "tested": False,
                }
            )
    return out


def _ranked(
    row: Row,
    members: Sequence[Hypothesis],
    evidence: Evidence,
    estimates: Mapping[str, Row],
    authors: Mapping[str, list[str]],
    about: Row,
) -> list[dict[str, Any]]:
    told = symptom(row)
    ranked = rank(members, told["verdict"])
    # A calibration is learned from leaders, and says nothing of a rival that is far behind.
    known = {h.id: estimates.get(h.id) for h in ranked if h is ranked[0] or h.cause}
    entries = [_entry(h, told, evidence.get(h.id, []), known.get(h.id)) for h in ranked]
    if not any(entry["kind"] == "none" for entry in entries):
        entries.append(_not_looked_into(told, about, _text(row, "unexamined")))
    return [
        {"id": e["id"], "rank": n, **e, "proposers": authors.get(e["id"], [])}
        for n, e in enumerate(entries, start=1)
    ]


def _authors(record: Record) -> dict[str, list[str]]:
    """Return who proposed each hypothesis, by its IRI."""
    out: dict[str, list[str]] = {}
    for row in record.select("authors"):
        out.setdefault(row["hypothesis"].value, []).append(row["name"].value)
    return out


def _entry(
    hypothesis: Hypothesis,
    told: Mapping[str, Any],
    evidence: list[dict[str, Any]],
    estimate: Row | None,
) -> dict[str, Any]:
    counts = hypothesis.counts
    inside = (counts.inside_failing, counts.inside) if counts else (0, 0)
    outside = (
        (counts.outside_failing, counts.outside)
        if counts
        else (told["failing"], told["population"])
    )
    return {
        "id": hypothesis.id,
        "kind": hypothesis.kind,
        "statement": hypothesis.statement,
        "status": hypothesis.status,
        "confidence": hypothesis.confidence,
        "posterior": hypothesis.posterior,
        "calibrated": None if estimate is None else float(estimate["calibrated"].value),
        "calibrated_on": _rests_on(estimate),
        "proof": hypothesis.proof,
        "e_value": hypothesis.e if hypothesis.gate == "statistics" else None,
        "region": hypothesis.region,
        "region_plain": hypothesis.plain,
        "region_needs": hypothesis.needs,
        "inside": dict(zip(("failing", "population"), inside, strict=True)),
        "outside": dict(zip(("failing", "population"), outside, strict=True)),
        "evidence": evidence,
    }


def _not_looked_into(told: Mapping[str, Any], about: Row, why: str | None) -> dict[str, Any]:
    """Return the catch-all of a symptom for which nothing was proposed, with its prior."""
    header = template("hypothesize", "none").header
    words = header["statement"] if why is None else header["unexamined"].replace("{why}", why)
    return {
        "id": f"{told['id']}:none",
        "kind": "none",
        "statement": words.replace("{Failures}", "The failures"),
        "status": "proposed",
        "confidence": (prior := float(about["prior"].value) if "prior" in about else 1.0),
        "posterior": prior,
        "calibrated": None,
        "calibrated_on": None,
        "proof": "none",
        "e_value": None,
        "region": None,
        "region_plain": None,
        "region_needs": None,
        "inside": {"failing": 0, "population": 0},
        "outside": {"failing": told["failing"], "population": told["population"]},
        "evidence": [],
    }


def _evidence(record: Record) -> Evidence:
    """Return the evidence of each hypothesis, by its IRI."""
    cited: dict[str, list[dict[str, Any]]] = {}
    for row in record.select("result-citations"):
        entry = {
            "node": node_name(row["node"]),
            "field": _text(row, "field"),
            "value": _text(row, "value"),
        }
        known = cited.setdefault(row["evidence"].value, [])
        if entry not in known:
            known.append(entry)
    quoted: dict[str, list[dict[str, Any]]] = {}
    for row in record.select("result-passages"):
        passage = {name: row[name].value for name in _PASSAGE if name in row}
        quoted.setdefault(row["evidence"].value, []).append(passage)
    out: dict[str, list[dict[str, Any]]] = {}
    for row in record.select("result-evidence"):
        node = row["evidence"].value
        out.setdefault(row["hypothesis"].value, []).append(
            {
                "id": node,
                "test": row["test"].value,
                "polarity": short(row["polarity"].value),
                "strength": float(row["strength"].value),
                "note": _text(row, "note"),
                "citations": cited.get(node, []),
                "modality": notations().get(row["modality"].value) if "modality" in row else None,
                "source": _text(row, "source"),
                "passages": quoted.get(node, []),
                "effect": _effect(row),
            }
        )
    return out


def _effect(row: Row) -> dict[str, float | None] | None:
    """Return the effect in the outcome's own numbers, or None where it has none."""
    if "effect" not in row:
        return None
    names = {
        "inside": "meanInside",
        "outside": "meanOutside",
        "difference": "effect",
        "low": "effectFrom",
        "high": "effectUntil",
    }
    return {n: float(row[key].value) if key in row else None for n, key in names.items()}


def _explanation(joined: Sequence[Row]) -> dict[str, int] | None:
    """Return how many causes explain how many failures, or None where nothing is concluded yet."""
    names = {"failures": "failing", "explained": "explained", "causes": "causes"}
    return {name: int(joined[0][key].value) for name, key in names.items()} if joined else None


def _causes(
    members: Sequence[Hypothesis],
    joined: Sequence[Row],
    findings: Sequence[Row],
    told: Sequence[dict[str, Any]],
) -> list[dict[str, Any]]:
    """Return each cause with the fingerprint of what it says, and the most bits that it saves."""
    keys = {one["id"]: one["key"] or one["name"] for one in told}
    bits = {h["id"]: h["bits"] for one in told for h in one["hypotheses"] if h["bits"]}
    return [
        cause.as_dict()
        | {"fingerprint": cause.fingerprint(keys)}
        | {"bits": _most([bits[h.id] for h in cause.hypotheses if h.id in bits])}
        for cause in causes_of(members, joined, findings)
    ]


def _acted_on(record: Record, told: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return causes with what to do next, and what a repair did that was tried on a copy."""
    which, tried = called(record), _repairs(record)
    out = []
    for cause in told:
        step = next_step(record, NamedNode(cause["hypotheses"][0]), which, cause["id"])
        known = [tried[one] for one in cause["hypotheses"] if one in tried]
        next_ = {"words": step.words, "command": step.command}
        named = {"said": said(record, cause["hypotheses"])}
        out.append(cause | named | {"repair": next(iter(known), None), "next": next_})
    return out


def _repairs(record: Record) -> dict[str, dict[str, Any]]:
    """Return the last repair that was tried for each hypothesis, by its IRI, or why none was."""
    texts = ("repair", "instruction", "outcome")
    counts = ("nodes", "violations", "cleared", "caused")
    return {
        row["hypothesis"].value: {"hypothesis": row["hypothesis"].value}
        | {name: _text(row, name) for name in texts}
        | {name: int(row[name].value) if name in row else None for name in counts}
        | {"not_tried": _text(row, "why"), "caution": _text(row, "caution")}
        for row in record.select("result-repairs")
    }


def _most(bits: Sequence[Mapping[str, float]]) -> Mapping[str, float] | None:
    return max(bits, key=lambda one: one["saved"], default=None)


def _seconds(record: Record, about: Row) -> float:
    """Return the time worked: as the end of the run had it, else as the steps have it."""
    if "elapsed" in about:
        return float(about["elapsed"].value)
    rows = record.select("sessions")
    return float(rows[0]["seconds"].value) if rows and "seconds" in rows[0] else 0.0


def _text(row: Row, name: str) -> str | None:
    return row[name].value if name in row else None
