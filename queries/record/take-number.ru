#+ summary: Gives an investigation the next number of its ledger, by which people call it.
#+ explanation: The number is a fact of the ledger, not of the record: another ledger that holds the same investigation may call it otherwise.
#+ reads: ledger
#+ writes: ledger
#+ param investigation: iri, the investigation
PREFIX trails: <https://w3id.org/trails#>
INSERT { GRAPH <urn:kgreason:ledger> { {{ investigation }} trails:number ?next . } }
WHERE {
  { SELECT (MAX(?taken) + 1 AS ?next) WHERE {
    { GRAPH <urn:kgreason:ledger> { ?other trails:number ?taken . } } UNION { BIND (0 AS ?taken) }
  } }
  FILTER NOT EXISTS { GRAPH <urn:kgreason:ledger> { {{ investigation }} trails:number ?mine . } }
}
