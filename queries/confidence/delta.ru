#+ summary: Moves the confidence of the hypothesis tested by the signed strength of the evidence.
#+ title: Delta
#+ explanation: after = before + delta, kept within 0 and 1; delta is the strength of the evidence times the step of the policy, with a minus where it contradicts, kept within -1 and 1. Neutral evidence moves nothing.
#+ example: 0.5, support of strength 0.8 and a step of 0.5 give 0.9; another such support gives 1, not 1.3.
#+ moves: tested
#+ numbers: deltaStep
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
    trails:rule "delta" ; trails:policy ?policy ; trails:before ?before ; trails:delta ?delta ; trails:after ?after ;
    prov:startedAtTime ?begun ; prov:endedAtTime ?done .
  ?update trails:previous ?previous .
  ?hypothesis trails:lastUpdate ?update .
} }
WHERE {
  GRAPH {{ investigation }} {
    {{ step }} prov:startedAtTime ?begun ; prov:endedAtTime ?done .
    {{ evidence }} trails:hypothesis ?hypothesis ; trails:polarity ?polarity ; trails:strength ?strength .
    ?hypothesis trails:confidence ?before ; trails:index ?number .
    {{ investigation }} trails:policy ?policy .
    ?policy policy:deltaStep ?size .
    OPTIONAL { ?hypothesis trails:lastUpdate ?previous . }
  }
  BIND (ROUND(?strength * ?size * 1000000000) / 1000000000 AS ?moved)
  BIND (IF(?polarity = trails:Supports, ?moved, IF(?polarity = trails:Contradicts, 0.0 - ?moved,
    IF(?polarity = trails:Neutral, 0.0, 1 / 0))) AS ?raw)
  BIND (IF(?raw < -1.0, -1.0, IF(?raw > 1.0, 1.0, ?raw)) AS ?delta)
  BIND (?before + ?delta AS ?sum)
  BIND (IF(?sum < 0.0, 0.0, IF(?sum > 1.0, 1.0, ?sum)) AS ?after)
  FILTER (BOUND(?after))
  BIND (IRI(CONCAT(STR({{ evidence }}), ":update:", STR(?number))) AS ?update)
}
