#+ summary: Multiplies the odds of the hypothesis tested by how much more probable the outcome is under it than without it.
#+ title: Likelihood ratio
#+ explanation: after = b l1 / (b l1 + (1 - b) l0), which is the odds times l1 / l0 without a logarithm: b the confidence before, l1 the policy's probability of the outcome under the hypothesis, l0 that under none. Kept within 0.000001 and 0.999999.
#+ example: 0.5 and a strong association (0.80 against 0.01) give 0.987654321.
#+ moves: tested
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
    trails:rule "likelihood-ratio" ; trails:policy ?policy ; trails:before ?before ; trails:likelihood ?likelihood ; trails:otherwise ?otherwise ; trails:after ?after ;
    prov:startedAtTime ?begun ; prov:endedAtTime ?done .
  ?update trails:previous ?previous .
  ?hypothesis trails:lastUpdate ?update .
} }
WHERE {
  GRAPH {{ investigation }} {
    {{ step }} prov:startedAtTime ?begun ; prov:endedAtTime ?done .
    {{ evidence }} trails:hypothesis ?hypothesis ; trails:test/trails:kind ?kind ; trails:outcomeClass ?class .
    ?hypothesis trails:confidence ?before ; trails:index ?number .
    {{ investigation }} trails:policy ?policy .
    ?policy policy:likelihood ?row .
    ?row policy:testKind ?kind ; policy:outcomeClass ?class ; policy:underSelf ?likelihood ; policy:underNone ?otherwise .
    OPTIONAL { ?hypothesis trails:lastUpdate ?previous . }
  }
  BIND (ROUND(?before * ?likelihood * 1000000000) / 1000000000 AS ?joint)
  BIND (ROUND((1.0 - ?before) * ?otherwise * 1000000000) / 1000000000 AS ?apart)
  BIND (ROUND(?joint / (?joint + ?apart) * 1000000000) / 1000000000 AS ?raw)
  BIND (IF(?raw < 0.000001, 0.000001, IF(?raw > 0.999999, 0.999999, ?raw)) AS ?after)
  FILTER (BOUND(?after))
  BIND (IRI(CONCAT(STR({{ evidence }}), ":update:", STR(?number))) AS ?update)
}
