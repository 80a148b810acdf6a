#+ summary: A supported hypothesis that a step settles, since a premise of it was refuted, is inconclusive.
#+ reads: ledger
#+ writes: ledger
#+ param investigation: iri, the investigation
#+ param step: iri, the step that settles
PREFIX policy: <https://w3id.org/trails/policy#>
PREFIX prov: <http://www.w3.org/ns/prov#>
PREFIX trails: <https://w3id.org/trails#>
DELETE { GRAPH {{ investigation }} { ?hypothesis trails:status trails:Supported . } }
INSERT { GRAPH {{ investigation }} {
  ?hypothesis trails:status trails:Inconclusive .
  ?transition a trails:StatusTransition , prov:Activity ;
    trails:step {{ step }} ; trails:hypothesis ?hypothesis ; trails:from trails:Supported ; trails:to trails:Inconclusive ;
    trails:rule "settle" ; trails:cause ?cause ;
    prov:startedAtTime ?begun ; prov:endedAtTime ?done .
  ?transition trails:update ?update .
} }
WHERE {
  GRAPH {{ investigation }} {
    ?settlement a trails:Settlement ; trails:step {{ step }} ; trails:hypothesis ?hypothesis ; trails:cause ?cause ;
      prov:startedAtTime ?begun ; prov:endedAtTime ?done .
    ?hypothesis trails:status trails:Supported ; trails:index ?number .
    {{ investigation }} trails:policy ?policy .
    ?policy policy:transition [ trails:from trails:Supported ; trails:to trails:Inconclusive ] .
    OPTIONAL { ?hypothesis trails:lastUpdate ?update . }
  }
  BIND (IRI(CONCAT(STR({{ step }}), ":settle:", STR(?number))) AS ?transition)
}
