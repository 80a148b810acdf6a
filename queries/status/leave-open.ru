#+ summary: What is neither supported nor refuted when a round is over is inconclusive.
#+ to: Inconclusive
#+ order: 5
#+ reads: ledger
#+ writes: ledger
#+ param investigation: iri, the investigation
#+ param step: iri, the step
PREFIX policy: <https://w3id.org/trails/policy#>
PREFIX prov: <http://www.w3.org/ns/prov#>
PREFIX trails: <https://w3id.org/trails#>
DELETE { GRAPH {{ investigation }} { ?hypothesis trails:status ?old . } }
INSERT { GRAPH {{ investigation }} {
  ?hypothesis trails:status trails:Inconclusive .
  ?transition a trails:StatusTransition , prov:Activity ;
    trails:step {{ step }} ; trails:hypothesis ?hypothesis ; trails:from ?old ; trails:to trails:Inconclusive ;
    trails:rule "leave-open" ; trails:cause "not all gates passed" ;
    prov:startedAtTime ?begun ; prov:endedAtTime ?done .
  ?transition trails:update ?update .
} }
WHERE {
  GRAPH {{ investigation }} {
    {{ step }} prov:startedAtTime ?begun ; prov:endedAtTime ?done .
    {{ investigation }} trails:policy ?policy .
    ?hypothesis a trails:Hypothesis ; trails:status ?old ; trails:index ?number .
    FILTER (?old IN (trails:Proposed, trails:Testing))
    ?policy policy:transition [ trails:from ?old ; trails:to trails:Inconclusive ] .
    OPTIONAL { ?hypothesis trails:lastUpdate ?update . }
  }
  BIND (IRI(CONCAT(STR({{ step }}), ":open:", STR(?number))) AS ?transition)
}
