#+ summary: A hypothesis is refuted by an outcome that the policy counts as a refutation, whatever its confidence.
#+ to: Refuted
#+ explanation: The refutation is the cause that the transition records; the confidence stays what the evidence made it.
#+ order: 1
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
    trails:rule "refute-outright" ; trails:cause ?cause ;
    prov:startedAtTime ?begun ; prov:endedAtTime ?done .
  ?transition trails:update ?update .
} }
WHERE {
  { SELECT ?hypothesis (MIN(?named) AS ?outcome) WHERE {
    GRAPH {{ investigation }} {
      {{ investigation }} trails:policy ?rules . ?rules policy:refutedBy ?named .
      ?any a trails:Evidence ; trails:hypothesis ?hypothesis ; trails:testRole ?role ; trails:outcomeClass ?class .
      FILTER (?named = CONCAT(LCASE(REPLACE(STR(?role), "^.*#", "")), " ", ?class))
    }
  } GROUP BY ?hypothesis }
  # Some engines make a group of nothing.
  FILTER (BOUND(?outcome))
  GRAPH {{ investigation }} {
    {{ step }} prov:startedAtTime ?begun ; prov:endedAtTime ?done .
    {{ investigation }} trails:policy ?policy .
    ?hypothesis a trails:Hypothesis ; trails:status ?old ; trails:index ?number ; trails:gate ?gate .
    ?policy policy:transition [ trails:from ?old ; trails:to trails:Refuted ] .
    OPTIONAL { ?hypothesis trails:lastUpdate ?update . }
    FILTER (?gate != "none")
  }
  BIND (CONCAT("refuted outright by ", ?outcome) AS ?cause)
  BIND (IRI(CONCAT(STR({{ step }}), ":refute-outright:", STR(?number))) AS ?transition)
}
