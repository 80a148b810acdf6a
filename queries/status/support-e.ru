#+ summary: A hypothesis told by statistics is supported when its e-process is in the e-BH set.
#+ to: Supported
#+ order: 3
#+ reads: ledger
#+ writes: ledger
#+ param investigation: iri, the investigation
#+ param step: iri, the step
#+ param threshold: literal, the least e-value of the e-BH set
PREFIX policy: <https://w3id.org/trails/policy#>
PREFIX prov: <http://www.w3.org/ns/prov#>
PREFIX trails: <https://w3id.org/trails#>
DELETE { GRAPH {{ investigation }} { ?hypothesis trails:status ?old . } }
INSERT { GRAPH {{ investigation }} {
  ?hypothesis trails:status trails:Supported .
  ?transition a trails:StatusTransition , prov:Activity ;
    trails:step {{ step }} ; trails:hypothesis ?hypothesis ; trails:from ?old ; trails:to trails:Supported ;
    trails:rule "support-e" ; trails:cause ?cause ;
    prov:startedAtTime ?begun ; prov:endedAtTime ?done .
  ?transition trails:update ?update .
} }
WHERE {
  GRAPH {{ investigation }} {
    {{ step }} prov:startedAtTime ?begun ; prov:endedAtTime ?done .
    {{ investigation }} trails:policy ?policy .
    ?hypothesis a trails:Hypothesis ; trails:status ?old ; trails:index ?number ; trails:gate "statistics" ; trails:eProcess ?e .
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
    FILTER (?old != trails:Supported && ?e >= {{ threshold }})
  }
  BIND ("in the e-BH set" AS ?cause)
  BIND (IRI(CONCAT(STR({{ step }}), ":support-e:", STR(?number))) AS ?transition)
}
