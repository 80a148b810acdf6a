#+ summary: A hypothesis that was still open is refined once one that revises it is proposed.
#+ to: Refined
#+ phase: Hypothesize
#+ order: 1
#+ numbers: refineRound
#+ reads: ledger
#+ writes: ledger
#+ param investigation: iri, the investigation
#+ param step: iri, the step
PREFIX policy: <https://w3id.org/trails/policy#>
PREFIX prov: <http://www.w3.org/ns/prov#>
PREFIX trails: <https://w3id.org/trails#>
DELETE { GRAPH {{ investigation }} { ?hypothesis trails:status ?old . } }
INSERT { GRAPH {{ investigation }} {
  ?hypothesis trails:status trails:Refined .
  ?transition a trails:StatusTransition , prov:Activity ;
    trails:step {{ step }} ; trails:hypothesis ?hypothesis ; trails:from ?old ; trails:to trails:Refined ;
    trails:rule "refine" ; trails:cause ?cause ;
    prov:startedAtTime ?begun ; prov:endedAtTime ?done .
  ?transition trails:update ?update .
} }
WHERE {
  { SELECT ?hypothesis (MIN(?other) AS ?first) WHERE {
    GRAPH {{ investigation }} { ?new trails:step {{ step }} ; prov:wasRevisionOf ?hypothesis . BIND (STR(?new) AS ?other) }
  } GROUP BY ?hypothesis }
  # Some engines make a group of nothing.
  FILTER (BOUND(?first))
  GRAPH {{ investigation }} {
    {{ step }} prov:startedAtTime ?begun ; prov:endedAtTime ?done ; trails:round ?round .
    {{ investigation }} trails:policy ?policy .
    ?policy policy:refineRound ?from .
    ?hypothesis a trails:Hypothesis ; trails:status ?old ; trails:index ?number .
    ?policy policy:transition [ trails:from ?old ; trails:to trails:Refined ] .
    OPTIONAL { ?hypothesis trails:lastUpdate ?update . }
  }
  FILTER (?round >= ?from)
  BIND (CONCAT("revised by ", ?first) AS ?cause)
  BIND (IRI(CONCAT(STR({{ step }}), ":refine:", STR(?number))) AS ?transition)
}
