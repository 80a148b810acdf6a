#+ summary: A hypothesis is archived where a test of it failed to run as often as the policy tries it, so that it cannot be judged, or where as many repairs were tried for it and left every violation as it was.
#+ explanation: A repair that does harm, or that strays, tells of the repair; one after which nothing has changed tells of the cause.
#+ to: Archived
#+ order: 0
#+ numbers: attempts
#+ reads: ledger
#+ writes: ledger
#+ param investigation: iri, the investigation
#+ param step: iri, the step
PREFIX policy: <https://w3id.org/trails/policy#>
PREFIX prov: <http://www.w3.org/ns/prov#>
PREFIX trails: <https://w3id.org/trails#>
DELETE { GRAPH {{ investigation }} { ?hypothesis trails:status ?old . } }
INSERT { GRAPH {{ investigation }} {
  ?hypothesis trails:status trails:Archived .
  ?transition a trails:StatusTransition , prov:Activity ;
    trails:step {{ step }} ; trails:hypothesis ?hypothesis ; trails:from ?old ; trails:to trails:Archived ;
    trails:rule "archive" ; trails:cause ?cause ;
    prov:startedAtTime ?begun ; prov:endedAtTime ?done .
  ?transition trails:update ?update .
} }
WHERE {
  {
    { SELECT ?hypothesis (MAX(?failed) AS ?times) WHERE {
      { SELECT ?hypothesis ?test (COUNT(?execution) AS ?failed) WHERE {
        GRAPH {{ investigation }} {
          ?execution a trails:Execution ; trails:closed trails:Error ; trails:test ?test .
          ?test trails:hypothesis ?hypothesis .
          # A tester outside the graph that fails says nothing of the hypothesis.
          FILTER NOT EXISTS { ?test trails:modality ?modality . FILTER (?modality != trails:GraphQuery && ?modality != trails:ScratchIntervention) }
          FILTER NOT EXISTS { ?other trails:test ?test . FILTER EXISTS { ?other trails:closed trails:Result . } }
        } } GROUP BY ?hypothesis ?test }
    } GROUP BY ?hypothesis }
    BIND (CONCAT("a test failed to run ", STR(?times), " times") AS ?cause)
  } UNION {
    { SELECT ?hypothesis (COUNT(?attempt) AS ?times) WHERE {
      GRAPH {{ investigation }} {
        ?attempt a trails:RepairAttempt ; trails:repairOutcome "unchanged" ; trails:hypothesis ?hypothesis .
      } } GROUP BY ?hypothesis }
    BIND (CONCAT(STR(?times), " repairs were tried, and each left all violations as they were") AS ?cause)
  }
  # Some engines make a group of nothing.
  FILTER (BOUND(?times))
  GRAPH {{ investigation }} {
    {{ step }} prov:startedAtTime ?begun ; prov:endedAtTime ?done .
    {{ investigation }} trails:policy ?policy .
    ?policy policy:attempts ?most .
    ?hypothesis a trails:Hypothesis ; trails:status ?old ; trails:index ?number .
    ?policy policy:transition [ trails:from ?old ; trails:to trails:Archived ] .
    OPTIONAL { ?hypothesis trails:lastUpdate ?update . }
  }
  FILTER (?times >= ?most)
  BIND (IRI(CONCAT(STR({{ step }}), ":archive:", STR(?number))) AS ?transition)
}
