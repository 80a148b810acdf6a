#+ summary: A tested hypothesis whose confidence fell below the policy's bound is refuted.
#+ to: Refuted
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
    trails:rule "refute" ; trails:cause ?cause ;
    prov:startedAtTime ?begun ; prov:endedAtTime ?done .
  ?transition trails:update ?update .
} }
WHERE {
  GRAPH {{ investigation }} {
    {{ step }} prov:startedAtTime ?begun ; prov:endedAtTime ?done .
    {{ investigation }} trails:policy ?policy .
    ?policy policy:refuteBelow ?bound .
    ?hypothesis a trails:Hypothesis ; trails:gate ?gate ; trails:status ?old ; trails:confidence ?confidence ; trails:index ?number .
    ?policy policy:transition [ trails:from ?old ; trails:to trails:Refuted ] .
    OPTIONAL { ?hypothesis trails:lastUpdate ?update . }
    FILTER (?gate != "none" && ?confidence < ?bound)
  }
  BIND (CONCAT("confidence fell below ", STR(?bound)) AS ?cause)
  BIND (IRI(CONCAT(STR({{ step }}), ":refute:", STR(?number))) AS ?transition)
}
