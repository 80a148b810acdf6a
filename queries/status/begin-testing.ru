#+ summary: A proposed hypothesis is being tested once its first evidence is in.
#+ from: Proposed
#+ to: Testing
#+ order: 1
#+ reads: ledger
#+ writes: ledger
#+ param investigation: iri, the investigation
#+ param step: iri, the step
#+ param evidence: iri, the evidence
PREFIX policy: <https://w3id.org/trails/policy#>
PREFIX prov: <http://www.w3.org/ns/prov#>
PREFIX trails: <https://w3id.org/trails#>
DELETE { GRAPH {{ investigation }} { ?hypothesis trails:status trails:Proposed . } }
INSERT { GRAPH {{ investigation }} {
  ?hypothesis trails:status trails:Testing .
  ?transition a trails:StatusTransition , prov:Activity ;
    trails:step {{ step }} ; trails:hypothesis ?hypothesis ; trails:from trails:Proposed ; trails:to trails:Testing ;
    trails:rule "begin-testing" ; trails:evidence {{ evidence }} ; trails:cause "first evidence" ;
    prov:startedAtTime ?begun ; prov:endedAtTime ?done .
  ?transition trails:update ?update .
} }
WHERE {
  GRAPH {{ investigation }} {
    {{ step }} prov:startedAtTime ?begun ; prov:endedAtTime ?done .
    {{ evidence }} trails:hypothesis ?hypothesis .
    ?hypothesis trails:status trails:Proposed .
    OPTIONAL { ?hypothesis trails:lastUpdate ?update . }
    {{ investigation }} trails:policy ?policy .
    ?policy policy:transition [ trails:from trails:Proposed ; trails:to trails:Testing ] .
  }
  BIND (IRI(CONCAT(STR({{ step }}), ":transition")) AS ?transition)
}
