#+ summary: Ends a transaction without any effect where its step has no hash.
#+ explanation: A graph that is there already cannot be created; that is the one way in which an update request can fail on a condition.
#+ reads: ledger
#+ writes: ledger
#+ param investigation: iri, the investigation
#+ param step: iri, the step
PREFIX trails: <https://w3id.org/trails#>
INSERT { GRAPH <urn:kgreason:refused> { {{ step }} trails:step {{ step }} . } }
WHERE { FILTER NOT EXISTS { GRAPH {{ investigation }} { {{ step }} trails:hash ?hash . } } } ;
CREATE GRAPH <urn:kgreason:refused> ;
DROP GRAPH <urn:kgreason:refused>
