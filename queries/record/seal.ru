#+ summary: Seals a step with SHA-256 over the hash of the step before and its own sorted statements.
#+ explanation: The lines and their order come from functions of the ledger (kgreason.ledger.seal), since standard SPARQL promises no order of GROUP_CONCAT and has no escaping of literals. Where a function says that the step is not allowed, it gets no hash.
#+ reads: ledger
#+ writes: ledger
#+ param investigation: iri, the investigation
#+ param step: iri, the step
#+ param before: literal, the hash of the step before, or nothing
PREFIX trails: <https://w3id.org/trails#>
INSERT { GRAPH {{ investigation }} { {{ step }} trails:hash ?hash . } }
WHERE {
  { SELECT (<urn:kgreason:function:sorted>(?line) AS ?text) WHERE {
    GRAPH {{ investigation }} {
      ?node trails:step {{ step }} ; ?property ?value .
      OPTIONAL { ?value a ?kind . }
    }
    BIND (<urn:kgreason:function:line>(?node, ?property, ?value, COALESCE(?kind, "")) AS ?line)
  } }
  FILTER (<urn:kgreason:function:allowed>(?text))
  BIND (SHA256(CONCAT({{ before }}, "\n", ?text)) AS ?hash)
  FILTER (BOUND(?hash))
}
