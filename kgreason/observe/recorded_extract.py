"""Write down what was taken from an endpoint, how it was probed, and how nodes were drawn."""

from collections.abc import Sequence

import pyoxigraph as ox

from kgreason.base.terms import PROV, XSD
from kgreason.context.symptom import Symptom
from kgreason.endpoint.extract import Asked, Extract
from kgreason.observe.request import Request
from kgreason.record import Record, Step


def record_extract(
    record: Record,
    step: Step,
    request: Request,
    extract: Extract,
    symptoms: Sequence[Symptom],
) -> dict[str, int]:
    """Add the extract, its probes and the samples to a step; gives how many of each."""
    node = step.make(
        "Extract",
        PROV.Entity,
        investigation=record.iri,
        endpoint=_address(extract.address),
        onlyGraph=[_address(one) for one in extract.graphs],
        dialect=extract.dialect,
        server=extract.server or None,
        failingCap=extract.cap,
        passingRatio=extract.ratio,
        hops=extract.hops,
        queriesAsked=extract.queries,
        bytesRead=extract.bytes,
        answersKept=extract.kept or None,
        cutNodes=len(extract.cut),
        extracted=request.extract,
        listed=request.lists,
        formsLost=extract.lost,
        originPath=extract.origin,
        originDigest=extract.origin_digest or None,
    )
    for probe in extract.probes:
        step.make(
            "Probe",
            PROV.Entity,
            investigation=record.iri,
            probeName=probe.name,
            expectedAnswer=probe.expected,
            gaveAnswer=probe.found,
            passed=probe.passed,
        )
    strata = 0
    for symptom in symptoms:
        asked = extract.asked(symptom.constraint.key)
        if asked is None:
            continue
        taken, failing = len(extract.lists[asked.members]), len(asked.failed)
        sample = step.make(
            "Sample",
            PROV.Entity,
            symptom=symptom.node,
            drawnBy=asked.rule,
            drawnWith=extract.seed,
            failingThere=asked.failing,
            failingTaken=failing,
            passingThere=asked.population - asked.failing,
            passingTaken=taken - failing,
        )
        step.add(sample, PROV.wasDerivedFrom, node)
        strata += _record_strata(step, sample, asked)
    return {"Extract": 1, "Probe": len(extract.probes), "SampledSource": strata}


def _record_strata(step: Step, sample: ox.NamedNode, asked: Asked) -> int:
    """Write how the nodes of a sample are spread over sources; gives how many these are."""
    for one in asked.strata:
        step.make(
            "SampledSource",
            PROV.Entity,
            ofSample=sample,
            stratumGraph=_address(one.graph),
            stratumFailing=one.failing_there,
            stratumFailingTaken=one.failing,
            stratumPassing=one.passing_there,
            stratumPassingTaken=one.passing,
        )
    return len(asked.strata)


def _address(text: str) -> ox.Literal:
    return ox.Literal(text, datatype=XSD.anyURI)
