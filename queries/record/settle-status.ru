#+ summary: A supported hypothesis that a step settles is inconclusive: a premise of it was refuted, or the endpoint that the data came from counts otherwise than the sample.
#+ reads: ledger
#+ writes: ledger
#+ param investigation: iri, the investigation
#+ param step: iri, the step that settles
PREFIX policy: <https://w3id.org/trails/policy#>
PREFIX prov: <http://www.w3.org/ns/prov#>
PREFIX trails: <https://w3id.org/trails#>
DELETE { GRAPH {{ investigation }} { ?hypothesis trails:status ?old . } }
INSERT { GRAPH {{ investigation }} {
  ?hypothesis trails:status trails:Inconclusive .
  ?transition a trails:StatusTransition , prov:Activity ;
    trails:step {{ step }} ; trails:hypothesis ?hypothesis ; trails:from ?old ; trails:to trails:Inconclusive ;
    trails:rule ?rule ; trails:cause ?cause ;
    prov:startedAtTime ?begun ; prov:endedAtTime ?done .
  ?transition trails:update ?update .
} }
WHERE {
  GRAPH {{ investigation }} {
    ?hypothesis trails:status ?old ; trails:index ?number .
    FILTER (?old = trails:Supported || ?old = trails:Converged)
    {{ investigation }} trails:policy ?policy .
    ?policy policy:transition [ trails:from ?old ; trails:to trails:Inconclusive ] .
  }
  {
    GRAPH {{ investigation }} {
      ?settlement a trails:Settlement ; trails:step {{ step }} ; trails:hypothesis ?hypothesis ; trails:cause ?cause ;
        prov:startedAtTime ?begun ; prov:endedAtTime ?done .
    }
    BIND ("settle" AS ?rule)
  } UNION {
    GRAPH {{ investigation }} {
      ?confirmation a trails:Confirmation ; trails:step {{ step }} ; trails:hypothesis ?hypothesis ; trails:agrees false ;
        trails:insideFailingThere ?failing ; trails:insideThere ?there ; trails:leastFailing ?least ; trails:mostFailing ?most ;
        trails:leastPassing ?low ; trails:mostPassing ?high .
      {{ step }} prov:startedAtTime ?begun ; prov:endedAtTime ?done .
    }
    BIND ("confirm" AS ?rule)
    BIND (CONCAT("the endpoint counts ", STR(?failing), " failing and ", STR(?there - ?failing), " passing nodes of its region, where ", STR(ROUND(?least)), " to ", STR(ROUND(?most)),
      " and ", STR(ROUND(?low)), " to ", STR(ROUND(?high)), " were to be expected") AS ?cause)
  }
  BIND (IRI(CONCAT(STR({{ step }}), ":settle:", STR(?number))) AS ?transition)
  OPTIONAL { GRAPH {{ investigation }} { ?hypothesis trails:lastUpdate ?update . } }
}
