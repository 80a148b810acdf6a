#+ summary: Multiplies an e-value into the e-process of the hypothesis tested; evidence of one dependence group counts by its mean.
#+ title: E-process
#+ explanation: E is the product over dependence groups of the mean e-value in the group. A further item of a group replaces the group's mean by the new one. Capped at 10,000,000,000 before anything is multiplied, and rounded down at every step: both keep it valid.
#+ example: E of 4 and an e-value of 50 from other nodes give 200.
#+ moves: tested
#+ needs: eValue
#+ reads: ledger
#+ writes: ledger
#+ param investigation: iri, the investigation
#+ param step: iri, the step that applies the rule
#+ param evidence: iri, the evidence, with an e-value
PREFIX prov: <http://www.w3.org/ns/prov#>
PREFIX trails: <https://w3id.org/trails#>
DELETE { GRAPH {{ investigation }} { ?hypothesis trails:eProcess ?before . } }
INSERT { GRAPH {{ investigation }} {
  ?hypothesis trails:eProcess ?after .
  ?update a trails:ConfidenceUpdate , prov:Activity ;
    trails:step {{ step }} ; trails:hypothesis ?hypothesis ; trails:evidence {{ evidence }} ; prov:used {{ evidence }} ;
    trails:rule "e-process" ; trails:policy ?policy ; trails:before ?before ; trails:factor ?factor ; trails:after ?after ;
    prov:startedAtTime ?begun ; prov:endedAtTime ?done .
} }
WHERE {
  GRAPH {{ investigation }} {
    {{ step }} prov:startedAtTime ?begun ; prov:endedAtTime ?done .
    {{ evidence }} trails:hypothesis ?hypothesis ; trails:eValue ?e ; trails:group ?group .
    ?hypothesis trails:eProcess ?before .
    {{ investigation }} trails:policy ?policy .
  }
  { SELECT (SUM(?x) AS ?sum) (COUNT(?x) AS ?count) WHERE {
    GRAPH {{ investigation }} {
      {{ evidence }} trails:hypothesis ?h ; trails:group ?g .
      ?other trails:hypothesis ?h ; trails:group ?g ; trails:eValue ?x .
      FILTER (?other != {{ evidence }})
    }
  } }
  BIND (COALESCE(IF(?count > 0, FLOOR(?sum / ?count * 1000000) / 1000000, 1.0), 1.0) AS ?old)
  BIND (IF(?count > 0, FLOOR((?sum + ?e) / (?count + 1) * 1000000) / 1000000, ?e) AS ?new)
  BIND (IF(?old < 0.000001, 0.000001, ?old) AS ?divisor)
  # The embedded store cannot divide zero by a fraction.
  BIND (IF(?new = 0, 0.0, FLOOR(?new / ?divisor * 1000000) / 1000000) AS ?factor)
  BIND (IF(COALESCE(?factor > 10000000000.0 / ?before, false), 10000000000.0, FLOOR(?before * ?factor * 1000000) / 1000000) AS ?after)
  FILTER (BOUND(?after))
  BIND (IRI(CONCAT(STR({{ evidence }}), ":update:e")) AS ?update)
}
