#+ summary: Moves the head of an investigation to a step.
#+ reads: ledger
#+ writes: ledger
#+ param investigation: iri, the investigation
#+ param step: iri, the step
PREFIX trails: <https://w3id.org/trails#>
DELETE { GRAPH {{ investigation }} { {{ investigation }} trails:head ?old . } }
INSERT { GRAPH {{ investigation }} { {{ investigation }} trails:head {{ step }} . } }
WHERE { OPTIONAL { GRAPH {{ investigation }} { {{ investigation }} trails:head ?old . } } }
