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
INSERT { GRAPH {{ investigation }} {
  ?update a trails:ConfidenceUpdate , prov:Activity ;
    trails:step {{ step }} ; trails:hypothesis ?member ; trails:evidence {{ evidence }} ; prov:used {{ evidence }} ;
    trails:rule "frame" ; trails:policy ?policy ; trails:before ?before ; trails:likelihood ?likelihood ;
    prov:startedAtTime ?begun ; prov:endedAtTime ?done .
  ?update trails:previous ?previous .
} }
WHERE {
  # First what each member makes of the evidence, then, below, what that is of the sum over the
  # frame: the store takes longer to plan one long pattern than to run several short ones.
  { SELECT ?policy ?self ?rival ?none ?named WHERE { GRAPH {{ investigation }} {
    {{ evidence }} trails:test/trails:kind ?kind ; trails:outcomeClass ?class .
    {{ investigation }} trails:policy ?policy .
    ?policy policy:likelihood ?likely .
    ?likely policy:testKind ?kind ; policy:outcomeClass ?class ;
      policy:underSelf ?self ; policy:underRival ?rival ; policy:underNone ?none .
    OPTIONAL { ?likely policy:underNamed ?named . }
  } } }
  GRAPH {{ investigation }} {
    {{ evidence }} trails:test/trails:expects ?expectation .
    ?expectation trails:hypothesis ?member ; trails:role ?role ; trails:overlap ?overlap .
    ?member trails:confidence ?before ; trails:index ?number .
    OPTIONAL { ?member trails:lastUpdate ?previous . }
    {{ step }} prov:startedAtTime ?begun ; prov:endedAtTime ?done .
  }
  BIND (IF(?role = "self", ?self, IF(?role = "none", ?none, IF(?role = "named", COALESCE(?named, ?rival),
    ?rival + ROUND((?self - ?rival) * ?overlap * 1000000) / 1000000))) AS ?likelihood)
  FILTER (BOUND(?likelihood))
  BIND (IRI(CONCAT(STR({{ evidence }}), ":update:", STR(?number))) AS ?update)
} ;
DELETE { GRAPH {{ investigation }} { ?member trails:confidence ?before ; trails:lastUpdate ?previous . } }
INSERT { GRAPH {{ investigation }} {
  ?update trails:normaliser ?total ; trails:after ?after .
  ?member trails:confidence ?after ; trails:lastUpdate ?update .
} }
WHERE {
  { SELECT (SUM(ROUND(?b * ?l * 1000000000) / 1000000000) AS ?total) WHERE {
    GRAPH {{ investigation }} { ?any trails:evidence {{ evidence }} ; trails:rule "frame" ; trails:before ?b ; trails:likelihood ?l . }
  } }
  GRAPH {{ investigation }} {
    ?update trails:evidence {{ evidence }} ; trails:rule "frame" ; trails:hypothesis ?member ; trails:before ?before ; trails:likelihood ?likelihood .
    OPTIONAL { ?update trails:previous ?previous . }
  }
  FILTER (BOUND(?total) && ?total > 0)
  BIND (ROUND(?before * ?likelihood * 1000000000) / 1000000000 AS ?joint)
  BIND (ROUND(?joint / ?total * 1000000000) / 1000000000 AS ?raw)
  BIND (IF(?raw < 0.000001, 0.000001, IF(?raw > 0.999999, 0.999999, ?raw)) AS ?after)
  FILTER (BOUND(?after))
}
