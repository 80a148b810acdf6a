#+ summary: Sets where an investigation stands.
#+ reads: ledger
#+ writes: ledger
#+ param investigation: iri, the investigation
#+ param state: iri, trails:Running or trails:Finished
PREFIX trails: <https://w3id.org/trails#>
DELETE { GRAPH {{ investigation }} { {{ investigation }} trails:state ?old . } }
INSERT { GRAPH {{ investigation }} { {{ investigation }} trails:state {{ state }} . } }
WHERE { GRAPH {{ investigation }} { {{ investigation }} trails:state ?old . } }
