#+ summary: A hypothesis with supporting evidence and enough confidence converges, from the round that the policy names on; this ends the search on its symptom.
#+ to: Converged
#+ order: 2
#+ numbers: convergeFrom convergeRound
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
    trails:rule "converge" ; trails:cause ?cause ;
    prov:startedAtTime ?begun ; prov:endedAtTime ?done .
  ?transition trails:update ?update .
} }
WHERE {
  { SELECT ?hypothesis (SUM(IF(?p = trails:Supports, ?s, 0.0)) AS ?supporting) (SUM(IF(?p = trails:Contradicts, ?s, 0.0)) AS ?opposing)
      (SUM(IF(?p = trails:Contradicts, 1, 0)) AS ?items) WHERE {
    GRAPH {{ investigation }} { ?any a trails:Evidence ; trails:hypothesis ?hypothesis ; trails:polarity ?p ; trails:strength ?s . }
  } GROUP BY ?hypothesis }
  GRAPH {{ investigation }} {
    {{ step }} prov:startedAtTime ?begun ; prov:endedAtTime ?done .
    {{ investigation }} trails:policy ?policy .
    ?policy policy:convergeFrom ?least ; policy:convergeRound ?first .
    {{ step }} trails:round ?round .
    ?hypothesis a trails:Hypothesis ; trails:status ?old ; trails:index ?number ; trails:confidence ?confidence .
    ?policy policy:transition [ trails:from ?old ; trails:to trails:Converged ] .
    OPTIONAL { ?hypothesis trails:lastUpdate ?update . }
    # What was proposed with a look at all data needs a direct check, or a code length that is paid for.
    FILTER NOT EXISTS { ?hypothesis trails:paid false ; trails:gate "statistics" . }
    # What only says the rule again is no cause.
    FILTER NOT EXISTS { ?again trails:hypothesis ?hypothesis . FILTER EXISTS { ?again trails:testRole trails:Restatement . } FILTER EXISTS { ?again trails:polarity trails:Contradicts . } }
  }
  FILTER (?round >= ?first && ?confidence >= ?least && ?supporting > 0.0)
  BIND (CONCAT("confidence is at least ", STR(?least), " in round ", STR(?round)) AS ?cause)
  BIND (IRI(CONCAT(STR({{ step }}), ":converge:", STR(?number))) AS ?transition)
}
