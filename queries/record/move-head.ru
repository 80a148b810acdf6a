#+ summary: Moves the head of an investigation to a step; one that was running has failed if that step is an error, and one that had failed is running again if it is not.
#+ reads: ledger
#+ writes: ledger
#+ param investigation: iri, the investigation
#+ param step: iri, the step
PREFIX trails: <https://w3id.org/trails#>
DELETE { GRAPH {{ investigation }} { {{ investigation }} trails:head ?old . } }
INSERT { GRAPH {{ investigation }} { {{ investigation }} trails:head {{ step }} . } }
WHERE { OPTIONAL { GRAPH {{ investigation }} { {{ investigation }} trails:head ?old . } } } ;
DELETE { GRAPH {{ investigation }} { {{ investigation }} trails:state ?state . } }
INSERT { GRAPH {{ investigation }} { {{ investigation }} trails:state ?next . } }
WHERE {
  GRAPH {{ investigation }} { {{ investigation }} trails:state ?state . {{ step }} trails:phase ?phase . }
  BIND (IF(?phase = trails:Fail, trails:Failed, trails:Running) AS ?next)
  FILTER (?state != ?next && ?state != trails:Finished)
}
