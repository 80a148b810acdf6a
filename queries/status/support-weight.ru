#+ summary: A hypothesis with supporting evidence whose confidence is above the threshold of the policy is supported.
#+ to: Supported
#+ order: 3
#+ reads: ledger
#+ writes: ledger
#+ param investigation: iri, the investigation
#+ param step: iri, the step
PREFIX policy: <https://w3id.org/trails/policy#>
PREFIX prov: <http://www.w3.org/ns/prov#>
PREFIX trails: <https://w3id.org/trails#>
DELETE { GRAPH {{ investigation }} { ?hypothesis trails:status ?old . } }
INSERT { GRAPH {{ investigation }} {
  ?hypothesis trails:status trails:Supported .
  ?transition a trails:StatusTransition , prov:Activity ;
    trails:step {{ step }} ; trails:hypothesis ?hypothesis ; trails:from ?old ; trails:to trails:Supported ;
    trails:rule "support-weight" ; trails:cause ?cause ;
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
    ?policy policy:threshold ?least .
    ?hypothesis a trails:Hypothesis ; trails:status ?old ; trails:index ?number ; trails:confidence ?confidence .
    ?policy policy:transition [ trails:from ?old ; trails:to trails:Supported ] .
    OPTIONAL { ?hypothesis trails:lastUpdate ?update . }
    # What was proposed with a look at all data needs a direct check, or a code length that is paid for.
    FILTER NOT EXISTS { ?hypothesis trails:paid false ; trails:gate "statistics" . }
    # What was said outside the graph, such as the judgement of a model, alone supports nothing.
    FILTER NOT EXISTS {
      ?beside trails:hypothesis ?hypothesis .
      FILTER EXISTS { ?beside trails:testRole trails:Corroboration . } FILTER EXISTS { ?beside trails:polarity trails:Supports . }
      FILTER NOT EXISTS {
        ?own trails:hypothesis ?hypothesis .
        FILTER EXISTS { ?own trails:polarity trails:Supports . } FILTER EXISTS { ?own trails:testRole ?other . FILTER (?other != trails:Corroboration) }
      }
    }
    # What only says the rule again is no cause.
    FILTER NOT EXISTS { ?again trails:hypothesis ?hypothesis . FILTER EXISTS { ?again trails:testRole trails:Restatement . } FILTER EXISTS { ?again trails:polarity trails:Contradicts . } }
  }
  FILTER (?old != trails:Supported && ?confidence > ?least && ?supporting > 0.0)
  BIND (CONCAT("supported, and confidence is above ", STR(?least)) AS ?cause)
  BIND (IRI(CONCAT(STR({{ step }}), ":support-weight:", STR(?number))) AS ?transition)
}
