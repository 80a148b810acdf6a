"""Write the figures of a benchmark as a Markdown page, and its trials as RDF."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import pyoxigraph as ox

from kgreason.base.terms import PREFIXES, PROV, RDFS, TRAILS, TYPE, XSD
from kgreason.inject.summary import Result, figures
from kgreason.record import policy

_SHARES: Final = (
    ("top1", "top-1"),
    ("top3", "top-3"),
    ("f1", "set F1"),
    ("kind", "kind, place right"),
    ("wrong", "wrong"),
    ("abstained", "abstained, not detectable"),
    ("false_report", "false report"),
    ("fdr", "FDR"),
    ("parts", "parts"),
)
_BESIDE: Final = (
    ("trials", "trials"),
    ("top1", "top-1"),
    ("top3", "top-3"),
    ("f1", "set F1"),
    ("false_report", "false report"),
    ("clear_top1", "top-1, p ≤ 0.05"),
    ("clear_top3", "top-3, p ≤ 0.05"),
    ("clear_f1", "set F1, p ≤ 0.05"),
    ("clear_false_report", "false report, p ≤ 0.05"),
    ("seconds", "CPU s"),
    ("failed", "failed"),
)
_PREFIXES: Final = {p: PREFIXES[p] for p in ("trails", "prov", "rdfs", "xsd")}


def as_json(results: Sequence[Result]) -> str:
    """Return the figures and every trial as JSON text."""
    whole = {"figures": figures(results), "trials": list(results)}
    return json.dumps(whole, indent=2, ensure_ascii=False) + "\n"


def as_markdown(results: Sequence[Result]) -> str:
    """Return the page: figures by group, fault, graph, and both; calibration; what went wrong."""
    return "\n".join(_page(results)) + "\n"


def _page(results: Sequence[Result]) -> Iterator[str]:
    found = figures(results)
    whole = found["all"]
    yield "# Injected faults"
    yield ""
    yield (
        f"{whole['trials']} trials: {whole['done']} done, {whole['not_sown']} not injected (the "
        f"graph has no place for the fault), {whole['failed']} failed."
    )
    yield ""
    yield (
        "An answer is a supported hypothesis. It is right if its kind is right and the nodes of "
        "its region have a Jaccard index of at least 0.8 with those the cause was injected into. "
        "top-1, top-3, set F1, kind and wrong are over trials whose cause an oracle would see (its "
        "p on all data times the number of levels at most 0.01, asked of weak causes only); top-3 "
        "counts what is proposed and not refuted. FDR is the share of wrong answers among "
        "all, parts that of answers that only name some of the nodes of a true cause."
    )
    for key, title in (("group", "By group"), ("fault", "By fault"), ("graph", "By graph")):
        yield ""
        yield f"## {title}"
        yield from _table(key, {"all": whole, **found[key]})
    yield ""
    yield "## top-1 by fault and graph"
    yield from _cells(results, found["cell"])
    yield from _compared_page(found["peers"])
    yield from _calibration(found["calibration"])
    yield from _misses(results)


def _compared_page(groups: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Return the table of kgreason and its baselines, if there are any."""
    if not groups:
        return
    yield ""
    yield "## Baselines on the same data"
    yield ""
    yield (
        "An answer is right here if its region is right, whatever its kind, for the baselines know "
        "of no kinds; the first row of each group asks for the kind as well. Where the cause is an "
        "operation by itself, its nodes are those corrupted, which need not have anything in "
        "common that a table shows. Baselines never abstain: "
        "the first figures are of their lists as they come, those with p of the regions whose "
        "hypergeometric p, times the number of candidates, is at most 0.05. CPU seconds are of a "
        "whole investigation, reading included, and of the search of a baseline alone."
    )
    yield ""
    yield "| group | tool | " + " | ".join(title for _, title in _BESIDE) + " |"
    yield "|---|---" + "|---:" * len(_BESIDE) + "|"
    for group, rows in groups.items():
        for name, row in rows.items():
            cells = [_shown(row.get(key)) for key, _ in _BESIDE]
            yield "| " + " | ".join([group, name, *cells]) + " |"


def _shown(value: float | None) -> str:
    return str(value) if isinstance(value, int) else _number(value)


def _table(key: str, rows: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    shown = [
        (name, title) for name, title in _SHARES if any(r[name] is not None for r in rows.values())
    ]
    yield ""
    yield "| " + " | ".join([key, "done", *(t for _, t in shown), "seconds", "tests"]) + " |"
    yield "|---" + "|---:" * (len(shown) + 3) + "|"
    for name, row in rows.items():
        cells = [_number(row[each]) for each, _ in shown]
        time = "" if row["seconds"] is None else f"{row['seconds']:.1f}"
        tests = "" if row["tests"] is None else f"{row['tests']:g}"
        yield "| " + " | ".join([name, str(row["done"]), *cells, time, tests]) + " |"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def _cells(results: Sequence[Result], cells: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    graphs = list(dict.fromkeys(str(r["graph"]) for r in results))
    faults = list(dict.fromkeys(str(r["fault"]) for r in results))
    yield ""
    yield "Of weak causes the detectable ones; of nulls the share without a false report."
    yield ""
    yield "| fault | " + " | ".join(graphs) + " |"
    yield "|---" + "|---:" * len(graphs) + "|"
    for fault in faults:
        yield (
            f"| {fault} | " + " | ".join(_cell(cells.get(f"{fault} | {g}")) for g in graphs) + " |"
        )


def _cell(row: Mapping[str, Any] | None) -> str:
    if row is None or not row["done"]:
        return "-" if row is None or not row["failed"] else f"{row['failed']} failed"
    number, share = row["with_cause"], row["top1"]
    if row["nulls"]:
        number, share = row["nulls"], 1 - row["false_report"]
    return "-" if share is None else f"{round(share * number)}/{number}"


def _calibration(found: Mapping[str, Any]) -> Iterator[str]:
    yield ""
    yield "## Calibration of the leader's confidence"
    yield ""
    yield (
        f"ECE {_number(found['ece'])}, Brier {_number(found['brier'])}, over "
        f"{found['leaders']} leaders."
    )
    yield ""
    yield "| confidence | leaders | mean confidence | right |"
    yield "|---|---:|---:|---:|"
    for row in found["reliability"]:
        begin, end = f"{row['from']:.1f}", f"{row['to']:.1f}"
        shown = f"{_number(row['confidence'])} | {_number(row['right'])}"
        yield f"| {begin} to {end} | {row['leaders']} | {shown} |"


def _misses(results: Sequence[Result]) -> Iterator[str]:
    yield ""
    yield "## What went wrong"
    yield ""
    for result in results:
        text = miss(result)
        if text:
            yield f"- {text}"


def miss(result: Result) -> str | None:
    """Return one line on what was injected and what was said instead; None where all is well."""
    name = f"{result['graph']}, {result['fault']}, seed {result['seed']}"
    if result["outcome"] == "failed":
        return f"{name}: failed, {result['why'].splitlines()[0]}"
    if result["outcome"] != "done":
        return None
    causes = result["truth"]["causes"]
    said = "; ".join(
        f"{s['kind']} “{s['statement']}” (Jaccard {s['jaccard']})" for s in result["supported"]
    )
    if not causes:
        return None if result["abstained"] else f"{name}: no cause, but {said}"
    expected = result["abstained"] and not result["detectable"] and result["group"] == "weak"
    if expected or (result["top1"] and not result["wrong_answers"] and result["f1"] == 1):
        return None
    sown = "; ".join(
        f"{'/'.join(c['kinds'])} {c['condition']} ({c['struck']} of {c['nodes']} nodes corrupted, "
        f"{result['truth']['component']})"
        for c in causes
    )
    proposed = [
        "not proposed" if p is None else f"{p['status']} ({p['confidence']:.2f}, rank {p['rank']})"
        for p in result["proposed"]
    ]
    return (
        f"{name}: injected {sown}; {'; '.join(proposed)}; "
        f"said {said or 'nothing (' + result['verdict'] + ')'}"
    )


def as_turtle(results: Sequence[Result]) -> str:
    """Return every trial with its faults as Turtle, in the terms of ontology/faults.ttl."""
    triples = [t for number, r in enumerate(results, 1) for t in _trial(number, r)]
    made = ox.serialize(triples, format=ox.RdfFormat.TURTLE, prefixes=_PREFIXES)
    return (made or b"").decode()


def _trial(number: int, result: Result) -> Iterator[ox.Triple]:
    node = ox.NamedNode(f"urn:kgreason:bench:{number}")
    name = f"{result['fault']} in {result['graph']}, seed {result['seed']}"
    yield ox.Triple(node, TYPE, TRAILS.Trial)
    yield ox.Triple(node, RDFS.label, ox.Literal(name))
    yield ox.Triple(node, TRAILS.design, ox.Literal(result["fault"]))
    yield ox.Triple(node, TRAILS.injectedInto, ox.Literal(result["graph"]))
    yield ox.Triple(node, TRAILS.trialSeed, ox.Literal(result["seed"]))
    yield ox.Triple(node, TRAILS.trialOutcome, ox.Literal(result["outcome"]))
    if result["outcome"] != "done":
        return
    yield ox.Triple(node, TRAILS.found, ox.Literal(result["verdict"]))
    yield ox.Triple(node, TRAILS.leaderRight, ox.Literal(result["leader_right"]))
    if result["confidence"] is not None:
        confidence = ox.Literal(str(result["confidence"]), datatype=XSD.decimal)
        yield ox.Triple(node, TRAILS.leaderConfidence, confidence)
    for place, cause in enumerate(result["truth"]["causes"], 1):
        fault = ox.NamedNode(f"{node.value}:fault:{place}")
        yield ox.Triple(node, TRAILS.injected, fault)
        yield from _fault(fault, cause)


def _fault(fault: ox.NamedNode, cause: Mapping[str, Any]) -> Iterator[ox.Triple]:
    yield ox.Triple(fault, TYPE, TRAILS.Fault)
    yield ox.Triple(fault, TYPE, PROV.Entity)
    for kind in cause["kinds"]:
        yield ox.Triple(fault, TRAILS.kind, policy.kinds()[kind][0])
    yield ox.Triple(fault, TRAILS.condition, ox.Literal(cause["condition"]))
    yield ox.Triple(fault, TRAILS.inRegion, ox.Literal(cause["nodes"]))
    yield ox.Triple(fault, TRAILS.corruptedNodes, ox.Literal(cause["struck"]))
    for iri in cause["affected"]:
        yield ox.Triple(fault, TRAILS.affected, ox.NamedNode(iri))
