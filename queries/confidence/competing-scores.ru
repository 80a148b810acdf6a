#+ summary: Each member of a frame gets a bare score from its own evidence, and the scores are divided by their sum.
#+ title: Competing scores
#+ explanation: The score of a member is the base score of the policy plus the strengths that support it, less those that contradict it, kept within 0 and 1; the catch-all has a score of its own that nothing moves. after = score / sum of the scores over the frame (equal shares where all are 0). No prior is carried: the confidence before plays no part.
#+ example: A member with support of 0.5 and one with opposition of 0.4, base 0.5 and a catch-all of 0.2, score 1, 0.1 and 0.2: 0.769230769, 0.076923077 and 0.153846154.
#+ moves: members
#+ numbers: baseScore catchAllScore
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
    trails:rule "competing-scores" ; trails:policy ?policy ; trails:before ?before ; trails:score ?score ; trails:normaliser ?total ; trails:after ?after ;
    prov:startedAtTime ?begun ; prov:endedAtTime ?done .
  ?update trails:previous ?previous .
  ?hypothesis trails:lastUpdate ?update .
} }
WHERE {
  { SELECT (SUM(?bare) AS ?total) (COUNT(?bare) AS ?size) WHERE {
    { SELECT ?rival (SUM(IF(?polarity1 = trails:Supports, ?strength1, 0.0)) AS ?weight1For)
        (SUM(IF(?polarity1 = trails:Contradicts, ?strength1, 0.0)) AS ?weight1Against) WHERE {
      GRAPH {{ investigation }} {
        {{ evidence }} trails:test ?rivalTest .
        ?rivalTest trails:expects ?rivalExpected . ?rivalExpected trails:hypothesis ?rival .
        { ?rivalAny trails:hypothesis ?rival ; trails:polarity ?polarity1 ; trails:strength ?strength1 . }
        UNION { ?rival trails:index ?rivalNumber . BIND (trails:Neutral AS ?polarity1) BIND (0.0 AS ?strength1) }
      }
    } GROUP BY ?rival }
    GRAPH {{ investigation }} {
      ?rival trails:catchAll ?rivalNone .
      {{ investigation }} trails:policy ?rivalRules . ?rivalRules policy:baseScore ?rivalBase ; policy:catchAllScore ?rivalRest .
    }
    BIND (?weight1For - ?weight1Against AS ?weight1)
    BIND (IF(?rivalNone, ?rivalRest, IF(?rivalBase + ?weight1 < 0.0, 0.0, IF(?rivalBase + ?weight1 > 1.0, 1.0, ?rivalBase + ?weight1))) AS ?bare)
  } }
  { SELECT ?hypothesis ?score WHERE {
    { SELECT ?hypothesis (SUM(IF(?polarity2 = trails:Supports, ?strength2, 0.0)) AS ?weight2For)
        (SUM(IF(?polarity2 = trails:Contradicts, ?strength2, 0.0)) AS ?weight2Against) WHERE {
      GRAPH {{ investigation }} {
        {{ evidence }} trails:test ?hypothesisTest .
        ?hypothesisTest trails:expects ?hypothesisExpected . ?hypothesisExpected trails:hypothesis ?hypothesis .
        { ?hypothesisAny trails:hypothesis ?hypothesis ; trails:polarity ?polarity2 ; trails:strength ?strength2 . }
        UNION { ?hypothesis trails:index ?hypothesisNumber . BIND (trails:Neutral AS ?polarity2) BIND (0.0 AS ?strength2) }
      }
    } GROUP BY ?hypothesis }
    GRAPH {{ investigation }} {
      ?hypothesis trails:catchAll ?hypothesisNone .
      {{ investigation }} trails:policy ?hypothesisRules . ?hypothesisRules policy:baseScore ?hypothesisBase ; policy:catchAllScore ?hypothesisRest .
    }
    BIND (?weight2For - ?weight2Against AS ?weight2)
    BIND (IF(?hypothesisNone, ?hypothesisRest, IF(?hypothesisBase + ?weight2 < 0.0, 0.0, IF(?hypothesisBase + ?weight2 > 1.0, 1.0, ?hypothesisBase + ?weight2))) AS ?score)
  } }
  GRAPH {{ investigation }} {
    {{ step }} prov:startedAtTime ?begun ; prov:endedAtTime ?done .
    ?hypothesis trails:confidence ?before ; trails:index ?number .
    {{ investigation }} trails:policy ?policy .
    OPTIONAL { ?hypothesis trails:lastUpdate ?previous . }
  }
  # The embedded store cannot divide zero by a fraction.
  BIND (IF(?total = 0.0, ROUND(1.0 / ?size * 1000000000) / 1000000000,
    IF(?score = 0.0, 0.0, ROUND(?score / ?total * 1000000000) / 1000000000)) AS ?after)
  FILTER (BOUND(?after))
  BIND (IRI(CONCAT(STR({{ evidence }}), ":update:", STR(?number))) AS ?update)
}
