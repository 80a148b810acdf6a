#+ summary: A hypothesis is refuted when what opposes it outweighs by far what supports it, and is more than one item.
#+ to: Refuted
#+ explanation: Refuted if the strengths against add up to more than the ratio of the policy times those for, in at least so many items.
#+ order: 1
#+ numbers: rejectRatio rejectItems
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
    trails:rule "reject" ; trails:cause ?cause ;
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
    ?policy policy:rejectRatio ?ratio ; policy:rejectItems ?least .
    ?hypothesis a trails:Hypothesis ; trails:status ?old ; trails:index ?number ; trails:gate ?gate .
    ?policy policy:transition [ trails:from ?old ; trails:to trails:Refuted ] .
    OPTIONAL { ?hypothesis trails:lastUpdate ?update . }
  }
  FILTER (?gate != "none" && ?items >= ?least && ?opposing > ROUND(?ratio * ?supporting * 1000000000) / 1000000000)
  BIND (CONCAT("opposed by ", STR(?opposing), " in ", STR(?items), " items, supported by ", STR(?supporting)) AS ?cause)
  BIND (IRI(CONCAT(STR({{ step }}), ":reject:", STR(?number))) AS ?transition)
}
