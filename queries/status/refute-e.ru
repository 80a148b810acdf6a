#+ summary: A hypothesis told by statistics is refuted when its e-process fell to alpha: one over it is then an e-value against the registered effect.
#+ to: Refuted
#+ explanation: It refutes an effect of the registered size, not any effect. Each e-value weighs the registered effect against no association, so that one over it does the reverse.
#+ order: 4
#+ reads: ledger
#+ writes: ledger
#+ param investigation: iri, the investigation
#+ param step: iri, the step
PREFIX policy: <https://w3id.org/trails/policy#>
PREFIX prov: <http://www.w3.org/ns/prov#>
PREFIX trails: <https://w3id.org/trails#>
DELETE { GRAPH {{ investigation }} { ?hypothesis trails:status ?old . } }
INSERT { GRAPH {{ investigation }} {
  ?hypothesis trails:status trails:Refuted .
  ?transition a trails:StatusTransition , prov:Activity ;
    trails:step {{ step }} ; trails:hypothesis ?hypothesis ; trails:from ?old ; trails:to trails:Refuted ;
    trails:rule "refute-e" ; trails:cause ?cause ;
    prov:startedAtTime ?begun ; prov:endedAtTime ?done .
  ?transition trails:update ?update .
} }
WHERE {
  GRAPH {{ investigation }} {
    {{ step }} prov:startedAtTime ?begun ; prov:endedAtTime ?done .
    {{ investigation }} trails:policy ?policy .
    ?policy policy:alpha ?alpha .
    ?hypothesis a trails:Hypothesis ; trails:status ?old ; trails:index ?number ; trails:gate "statistics" ; trails:eProcess ?e .
    ?policy policy:transition [ trails:from ?old ; trails:to trails:Refuted ] .
    OPTIONAL { ?hypothesis trails:lastUpdate ?update . }
    FILTER (?e <= ?alpha)
  }
  BIND (CONCAT("e-process is at most ", STR(?alpha), ": the registered effect is refuted") AS ?cause)
  BIND (IRI(CONCAT(STR({{ step }}), ":refute-e:", STR(?number))) AS ?transition)
}
