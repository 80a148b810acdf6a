#+ summary: Seals a step with SHA-256 over its sorted statements and the hash of the step before.
#+ reads: ledger
#+ writes: ledger
#+ explanation: Current values (status, confidence, e-process, evidence lists, head, state) are replaced later and stay outside the hash.
#+ param investigation: iri, the investigation
#+ param step: iri, the step
#+ param before: literal, the hash of the step before, or nothing
PREFIX trails: <https://w3id.org/trails#>
INSERT { GRAPH {{ investigation }} { {{ step }} trails:hash ?hash . } }
WHERE {
  { SELECT (SHA256(CONCAT({{ before }}, "\n", GROUP_CONCAT(?line ; SEPARATOR = "\n"))) AS ?hash) WHERE {
    { SELECT ?line WHERE {
      GRAPH {{ investigation }} { ?node trails:step {{ step }} ; ?property ?value . }
      FILTER (?property NOT IN (trails:status, trails:confidence, trails:eProcess, trails:head, trails:state,
        trails:hash, trails:supportingEvidence, trails:contradictingEvidence, trails:lastUpdate))
      BIND (IF(isIRI(?value), "iri", CONCAT(STR(DATATYPE(?value)), "@", LANG(?value))) AS ?type)
      BIND (CONCAT(STR(?node), " ", STR(?property), " ", ?type, " ", STR(?value)) AS ?line)
    } ORDER BY ?line }
  } }
  FILTER (BOUND(?hash))
}
