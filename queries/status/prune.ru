#+ summary: A hypothesis that fell too low against its rivals is pruned, from the round that the policy names on; the catch-all never is.
#+ to: Pruned
#+ order: 1
#+ numbers: pruneBelow pruneRound
#+ reads: ledger
#+ writes: ledger
#+ param investigation: iri, the investigation
#+ param step: iri, the step
PREFIX policy: <https://w3id.org/trails/policy#>
PREFIX prov: <http://www.w3.org/ns/prov#>
PREFIX trails: <https://w3id.org/trails#>
DELETE { GRAPH {{ investigation }} { ?hypothesis trails:status ?old . } }
INSERT { GRAPH {{ investigation }} {
  ?hypothesis trails:status trails:Pruned .
  ?transition a trails:StatusTransition , prov:Activity ;
    trails:step {{ step }} ; trails:hypothesis ?hypothesis ; trails:from ?old ; trails:to trails:Pruned ;
    trails:rule "prune" ; trails:cause ?cause ;
    prov:startedAtTime ?begun ; prov:endedAtTime ?done .
  ?transition trails:update ?update .
} }
WHERE {
  GRAPH {{ investigation }} {
    {{ step }} prov:startedAtTime ?begun ; prov:endedAtTime ?done .
    {{ investigation }} trails:policy ?policy .
    ?policy policy:pruneBelow ?bound ; policy:pruneRound ?first .
    {{ step }} trails:round ?round .
    ?hypothesis a trails:Hypothesis ; trails:status ?old ; trails:index ?number ; trails:catchAll false ; trails:confidence ?confidence .
    ?policy policy:transition [ trails:from ?old ; trails:to trails:Pruned ] .
    OPTIONAL { ?hypothesis trails:lastUpdate ?update . }
    FILTER (?round >= ?first && ?confidence < ?bound)
  }
  BIND (CONCAT("confidence fell below ", STR(?bound), " by round ", STR(?round)) AS ?cause)
  BIND (IRI(CONCAT(STR({{ step }}), ":prune:", STR(?number))) AS ?transition)
}
