#+ summary: Seals a step with SHA-256 over the hash of the step before and its own sorted statements.
#+ explanation: The functions are of the ledger (kgreason.record.seal), since standard SPARQL promises no order of GROUP_CONCAT and has no escaping of literals. One notes each statement of the step as it stands in the store; the other gives their hash, or nothing where the step is not allowed.
#+ reads: ledger
#+ writes: ledger
#+ param investigation: iri, the investigation
#+ param step: iri, the step
#+ param before: literal, the hash of the step before, or nothing
PREFIX trails: <https://w3id.org/trails#>
INSERT { GRAPH {{ investigation }} { {{ step }} trails:hash ?hash . } }
WHERE {
  { SELECT (COUNT(<urn:kgreason:function:noted>(?node, ?property, ?value)) AS ?count) WHERE {
    GRAPH {{ investigation }} { ?node trails:step {{ step }} ; ?property ?value . }
  } }
  BIND (<urn:kgreason:function:sealed>({{ before }}, ?count) AS ?hash)
  FILTER (BOUND(?hash))
}
