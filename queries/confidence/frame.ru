#+ summary: Bayes over a frame of rivals: each member's confidence times the registered probability of what was observed, divided by the sum over the frame.
#+ title: Frame posterior
#+ explanation: after_i = before_i L_i / sum of before_j L_j. L of the tested member is the policy's probability under the hypothesis; of a rival, that under a rival, moved towards it by the registered overlap of their failing nodes; of the rival the test names, that under the named rival; of the catch-all, that under none.
#+ example: Two members and the catch-all start at 0.25, 0.25 and 0.5; a strong association of the first gives 0.87, 0.11 (if apart) and 0.02.
#+ moves: members
#+ reads: ledger
#+ writes: ledger
#+ param investigation: iri, the investigation
#+ param step: iri, the step that applies the rule
#+ param evidence: iri, the evidence
PREFIX policy: <https://w3id.org/trails/policy#>
PREFIX prov: <http://www.w3.org/ns/prov#>
PREFIX trails: <https://w3id.org/trails#>
DELETE { GRAPH {{ investigation }} { ?member trails:confidence ?before ; trails:lastUpdate ?previous . } }
INSERT { GRAPH {{ investigation }} {
  ?member trails:confidence ?after .
  ?update a trails:ConfidenceUpdate , prov:Activity ;
    trails:step {{ step }} ; trails:hypothesis ?member ; trails:evidence {{ evidence }} ; prov:used {{ evidence }} ;
    trails:rule "frame" ; trails:policy ?policy ; trails:before ?before ; trails:likelihood ?likelihood ;
    trails:normaliser ?total ; trails:after ?after ; prov:startedAtTime ?begun ; prov:endedAtTime ?done .
  ?update trails:previous ?previous .
  ?member trails:lastUpdate ?update .
} }
WHERE {
  { SELECT (SUM(ROUND(?b * ?l * 1000000000) / 1000000000) AS ?total) WHERE {
    GRAPH {{ investigation }} {
      {{ evidence }} trails:test ?t ; trails:outcomeClass ?c .
      ?t trails:kind ?k ; trails:expects ?e .
      ?e trails:hypothesis ?m ; trails:role ?r ; trails:overlap ?o .
      ?m trails:confidence ?b .
      {{ investigation }} trails:policy ?p .
      ?p policy:likelihood ?row .
      ?row policy:testKind ?k ; policy:outcomeClass ?c ; policy:underSelf ?ls ; policy:underRival ?lr ; policy:underNone ?ln .
      OPTIONAL { ?row policy:underNamed ?lx . }
    }
    BIND (IF(?r = "self", ?ls, IF(?r = "none", ?ln, IF(?r = "named", COALESCE(?lx, ?lr),
      ?lr + ROUND((?ls - ?lr) * ?o * 1000000) / 1000000))) AS ?l)
  } }
  GRAPH {{ investigation }} {
    {{ step }} prov:startedAtTime ?begun ; prov:endedAtTime ?done .
    {{ evidence }} trails:test ?test ; trails:outcomeClass ?class .
    ?test trails:kind ?kind ; trails:expects ?expectation .
    ?expectation trails:hypothesis ?member ; trails:role ?role ; trails:overlap ?overlap .
    ?member trails:confidence ?before ; trails:index ?number .
    {{ investigation }} trails:policy ?policy .
    ?policy policy:likelihood ?likely .
    ?likely policy:testKind ?kind ; policy:outcomeClass ?class ;
      policy:underSelf ?self ; policy:underRival ?rival ; policy:underNone ?none .
    OPTIONAL { ?likely policy:underNamed ?named . }
    OPTIONAL { ?member trails:lastUpdate ?previous . }
  }
  BIND (IF(?role = "self", ?self, IF(?role = "none", ?none, IF(?role = "named", COALESCE(?named, ?rival),
    ?rival + ROUND((?self - ?rival) * ?overlap * 1000000) / 1000000))) AS ?likelihood)
  FILTER (BOUND(?total) && ?total > 0)
  BIND (ROUND(?before * ?likelihood * 1000000000) / 1000000000 AS ?joint)
  BIND (ROUND(?joint / ?total * 1000000000) / 1000000000 AS ?raw)
  BIND (IF(?raw < 0.000001, 0.000001, IF(?raw > 0.999999, 0.999999, ?raw)) AS ?after)
  FILTER (BOUND(?after))
  BIND (IRI(CONCAT(STR({{ evidence }}), ":update:", STR(?number))) AS ?update)
}
