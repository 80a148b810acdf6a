#+ summary: A supported hypothesis that left the e-BH set, since more hypotheses were registered, is inconclusive.
#+ from: Supported
#+ to: Inconclusive
#+ order: 3
#+ reads: ledger
#+ writes: ledger
#+ param investigation: iri, the investigation
#+ param step: iri, the step
#+ param threshold: literal, the least e-value of the e-BH set
PREFIX policy: <https://w3id.org/trails/policy#>
PREFIX prov: <http://www.w3.org/ns/prov#>
PREFIX trails: <https://w3id.org/trails#>
DELETE { GRAPH {{ investigation }} { ?hypothesis trails:status trails:Supported . } }
INSERT { GRAPH {{ investigation }} {
  ?hypothesis trails:status trails:Inconclusive .
  ?transition a trails:StatusTransition , prov:Activity ;
    trails:step {{ step }} ; trails:hypothesis ?hypothesis ; trails:from trails:Supported ; trails:to trails:Inconclusive ;
    trails:rule "demote" ; trails:cause "no longer in the e-BH set" ;
    prov:startedAtTime ?begun ; prov:endedAtTime ?done .
} }
WHERE {
  GRAPH {{ investigation }} {
    {{ step }} prov:startedAtTime ?begun ; prov:endedAtTime ?done .
    {{ investigation }} trails:policy ?policy .
    ?hypothesis trails:gate "statistics" ; trails:status trails:Supported ; trails:eProcess ?e ; trails:index ?number .
    ?policy policy:transition [ trails:from trails:Supported ; trails:to trails:Inconclusive ] .
    FILTER (?e < {{ threshold }})
  }
  BIND (IRI(CONCAT(STR({{ step }}), ":demote:", STR(?number))) AS ?transition)
}
