#+ summary: The only hypothesis of a frame that was not pruned or refuted has won, if its confidence is high enough; this ends the search on its symptom.
#+ to: Converged
#+ explanation: The catch-all is no rival here: it is always left.
#+ order: 2
#+ numbers: outlastFrom
#+ reads: ledger
#+ writes: ledger
#+ param investigation: iri, the investigation
#+ param step: iri, the step
PREFIX policy: <https://w3id.org/trails/policy#>
PREFIX prov: <http://www.w3.org/ns/prov#>
PREFIX trails: <https://w3id.org/trails#>
DELETE { GRAPH {{ investigation }} { ?hypothesis trails:status ?old . } }
INSERT { GRAPH {{ investigation }} {
  ?hypothesis trails:status trails:Converged .
  ?transition a trails:StatusTransition , prov:Activity ;
    trails:step {{ step }} ; trails:hypothesis ?hypothesis ; trails:from ?old ; trails:to trails:Converged ;
    trails:rule "outlast" ; trails:cause ?cause ;
    prov:startedAtTime ?begun ; prov:endedAtTime ?done .
  ?transition trails:update ?update .
} }
WHERE {
  GRAPH {{ investigation }} {
    {{ step }} prov:startedAtTime ?begun ; prov:endedAtTime ?done .
    {{ investigation }} trails:policy ?policy .
    ?policy policy:outlastFrom ?least .
    ?hypothesis a trails:Hypothesis ; trails:status ?old ; trails:index ?number ; trails:catchAll false ; trails:frame ?frame ; trails:confidence ?confidence .
    ?policy policy:transition [ trails:from ?old ; trails:to trails:Converged ] .
    OPTIONAL { ?hypothesis trails:lastUpdate ?update . }
    # What was proposed with a look at all data needs a direct check, or a code length that is paid for.
    FILTER NOT EXISTS { ?hypothesis trails:paid false ; trails:gate "statistics" . }
    # What only says the rule again is no cause.
    FILTER NOT EXISTS { ?again trails:hypothesis ?hypothesis . FILTER EXISTS { ?again trails:testRole trails:Restatement . } FILTER EXISTS { ?again trails:polarity trails:Contradicts . } }
    FILTER (?confidence >= ?least)
    FILTER NOT EXISTS { ?frame trails:member ?rival . FILTER EXISTS { ?rival trails:catchAll false . } FILTER EXISTS { ?rival trails:status ?left . FILTER (?rival != ?hypothesis && ?left != trails:Pruned && ?left != trails:Refuted) } }
  }
  BIND (CONCAT("the only one left, with confidence of at least ", STR(?least)) AS ?cause)
  BIND (IRI(CONCAT(STR({{ step }}), ":outlast:", STR(?number))) AS ?transition)
}
