#+ summary: Confidence from the balance of all strengths for and against, damped so that little evidence moves it little.
#+ title: Damped net weight
#+ explanation: after = 0.5 + (supporting - w opposing) / (2 (supporting + opposing + k)), kept within 0 and 1, with the weight w of what opposes and the damping k of the policy. It depends on all evidence so far, and not on the confidence before.
#+ example: Support of 0.7 and 0.6 against 0.4 gives 0.63 with w = 1.5 and k = 1; a single support of 0.1 gives 0.545.
#+ moves: tested
#+ numbers: opposingWeight damping
#+ reads: ledger
#+ writes: ledger
#+ param investigation: iri, the investigation
#+ param step: iri, the step that applies the rule
#+ param evidence: iri, the evidence
PREFIX policy: <https://w3id.org/trails/policy#>
PREFIX prov: <http://www.w3.org/ns/prov#>
PREFIX trails: <https://w3id.org/trails#>
DELETE { GRAPH {{ investigation }} { ?hypothesis trails:confidence ?before ; trails:lastUpdate ?previous . } }
INSERT { GRAPH {{ investigation }} {
  ?hypothesis trails:confidence ?after .
  ?update a trails:ConfidenceUpdate , prov:Activity ;
    trails:step {{ step }} ; trails:hypothesis ?hypothesis ; trails:evidence {{ evidence }} ; prov:used {{ evidence }} ;
    trails:rule "net-weight-damped" ; trails:policy ?policy ; trails:before ?before ; trails:supporting ?supporting ; trails:opposing ?opposing ; trails:after ?after ;
    prov:startedAtTime ?begun ; prov:endedAtTime ?done .
  ?update trails:previous ?previous .
  ?hypothesis trails:lastUpdate ?update .
} }
WHERE {
  { SELECT (SUM(IF(?p = trails:Supports, ?s, 0.0)) AS ?supporting) (SUM(IF(?p = trails:Contradicts, ?s, 0.0)) AS ?opposing) WHERE {
    GRAPH {{ investigation }} {
      {{ evidence }} trails:hypothesis ?h .
      ?any trails:hypothesis ?h ; trails:polarity ?p ; trails:strength ?s .
    }
  } }
  GRAPH {{ investigation }} {
    {{ step }} prov:startedAtTime ?begun ; prov:endedAtTime ?done .
    {{ evidence }} trails:hypothesis ?hypothesis .
    ?hypothesis trails:confidence ?before ; trails:index ?number .
    {{ investigation }} trails:policy ?policy .
    ?policy policy:opposingWeight ?weight ; policy:damping ?damping .
    OPTIONAL { ?hypothesis trails:lastUpdate ?previous . }
  }
  BIND (?supporting + ?opposing + ?damping AS ?sum)
  BIND (IF(?sum < 0.01, 0.01, ?sum) AS ?total)
  # 0.5 + net / (2 total), as one fraction that is never below zero.
  BIND (?total + ?supporting - ROUND(?weight * ?opposing * 1000000000) / 1000000000 AS ?part)
  BIND (?total + ?total AS ?whole)
  BIND (IF(?part <= 0.0, 0.0, IF(?part >= ?whole, 1.0, ROUND(?part / ?whole * 1000000000) / 1000000000)) AS ?after)
  FILTER (BOUND(?after))
  BIND (IRI(CONCAT(STR({{ evidence }}), ":update:", STR(?number))) AS ?update)
}
