#+ summary: A hypothesis is supported when it passes every gate of the policy for its kind.
#+ to: Supported
#+ explanation: Every kind needs confidence from the threshold on. Kinds told by statistics also need membership of the e-BH set, enough failing nodes to split, and a rate beyond the spread of their siblings where there are enough; no test may have found them a proxy. Kinds checked directly need a prediction that holds for nearly all claimed failures, and a placebo that clears almost none; of any kind no prediction may fail, and no placebo clear more. Tests are asked for by their role. That there is no cause needs enough failing nodes, and a test of a rival in its frame, that no form which only says the rule again holds half of them, and that nothing waits that yielded to a mechanism which was not borne out.
#+ order: 2
#+ reads: ledger
#+ writes: ledger
#+ param investigation: iri, the investigation
#+ param step: iri, the step
#+ param threshold: literal, the least e-value of the e-BH set
PREFIX policy: <https://w3id.org/trails/policy#>
PREFIX prov: <http://www.w3.org/ns/prov#>
PREFIX trails: <https://w3id.org/trails#>
DELETE { GRAPH {{ investigation }} { ?hypothesis trails:status ?old . } }
INSERT { GRAPH {{ investigation }} {
  ?hypothesis trails:status trails:Supported .
  ?transition a trails:StatusTransition , prov:Activity ;
    trails:step {{ step }} ; trails:hypothesis ?hypothesis ; trails:from ?old ; trails:to trails:Supported ;
    trails:rule "support" ; trails:cause "passes every gate" ;
    prov:startedAtTime ?begun ; prov:endedAtTime ?done .
  ?transition trails:update ?update .
} }
WHERE {
  GRAPH {{ investigation }} {
    {{ step }} prov:startedAtTime ?begun ; prov:endedAtTime ?done .
    {{ investigation }} trails:policy ?policy .
    ?policy policy:threshold ?least ; policy:leastFailing ?enough .
    ?hypothesis a trails:Hypothesis ; trails:gate ?gate ; trails:status ?old ; trails:confidence ?confidence ;
      trails:eProcess ?e ; trails:index ?number ; trails:symptom ?symptom ; trails:claimable ?claimable .
    ?policy policy:transition [ trails:from ?old ; trails:to trails:Supported ] .
    OPTIONAL { ?hypothesis trails:lastUpdate ?update . }
    FILTER (?old != trails:Supported && ?confidence >= ?least)
    FILTER (?gate != "statistics" || (?e >= {{ threshold }} && ?claimable >= ?enough))
    # That there is no cause is not said of too few nodes to look for one.
    FILTER (?gate != "none" || ?claimable >= ?enough)
    # What follows is worked out once for all hypotheses; as an EXISTS the store would join it anew for each.
    # What was proposed with a look at all data needs a direct check, or a code length that is paid for.
    MINUS { ?hypothesis trails:paid false ; trails:gate "statistics" . }
    # What was said outside the graph, such as the judgement of a model, alone supports nothing.
    MINUS { SELECT DISTINCT ?hypothesis WHERE {
      ?beside trails:hypothesis ?hypothesis ; trails:testRole trails:Corroboration ; trails:polarity trails:Supports .
      MINUS { SELECT DISTINCT ?hypothesis WHERE {
        ?ground trails:hypothesis ?hypothesis ; trails:polarity trails:Supports ; trails:testRole ?other .
        FILTER (?other != trails:Corroboration) } }
    } }
    # What only says the rule again is no cause.
    MINUS { SELECT DISTINCT ?hypothesis WHERE {
      ?again trails:hypothesis ?hypothesis ; trails:testRole trails:Restatement ; trails:polarity trails:Contradicts . } }
    # Nor where no rival of the frame was put to a test that could have borne it out.
    OPTIONAL {
      { SELECT ?hypothesis (COUNT(?tried) AS ?tests) WHERE {
        ?hypothesis trails:catchAll true ; trails:frame/trails:member ?rival . ?rival trails:catchAll false .
        ?tried a trails:Evidence ; trails:hypothesis ?rival ; trails:outcomeClass ?told ; trails:testRole ?for .
        FILTER (?told != "undetermined" && ?for != trails:Restatement)
        # A rival that restates the rule could not have been borne out.
        MINUS { SELECT DISTINCT ?rival WHERE {
          ?same trails:hypothesis ?rival ; trails:testRole trails:Restatement ; trails:polarity trails:Contradicts . } }
      } GROUP BY ?hypothesis }
    }
    FILTER (?gate != "none" || BOUND(?tests))
    # Nor while a mechanism, or an origin, waits that yielded to a mechanism which its own tests did not bear out.
    MINUS { SELECT DISTINCT ?hypothesis WHERE {
      {{ investigation }} trails:policy/policy:threshold ?bar .
      ?hypothesis trails:gate "none" ; trails:symptom ?failed .
      ?waiting a trails:Candidate ; trails:symptom ?failed ; trails:aspect ?aspect ; trails:regionPattern ?place ; trails:yieldedTo ?instead .
      # What was counted on one half may be noise; what has a code was paid for in bits.
      OPTIONAL { ?waiting trails:bitsSaved ?saved . }
      FILTER (?aspect = trails:Mechanism || BOUND(?saved))
      ?instead trails:aspect trails:Mechanism ; trails:confidence ?left . FILTER (?left < ?bar)
      MINUS { SELECT DISTINCT ?failed ?place WHERE { ?tried a trails:Hypothesis ; trails:symptom ?failed ; trails:regionPattern ?place . } }
    } }
    # Nor where a form that only says the rule again holds most of the failing nodes: they have that in common.
    MINUS { SELECT DISTINCT ?hypothesis WHERE {
      ?hypothesis trails:gate "none" ; trails:symptom ?failed ; trails:claimable ?claims .
      ?said trails:symptom ?failed ; trails:gate "direct" ; trails:insideFailing ?has . FILTER (?has * 2 >= ?claims)
      ?form trails:hypothesis ?said ; trails:testRole trails:Prediction ; trails:polarity trails:Supports .
      ?named trails:hypothesis ?said ; trails:testRole trails:Restatement ; trails:polarity trails:Contradicts . } }
    MINUS { SELECT DISTINCT ?hypothesis WHERE {
      {{ investigation }} trails:policy/policy:siblingLevels ?many ; trails:policy/policy:siblingTail ?tail .
      ?sibling trails:testRole trails:Spread ; trails:hypothesis ?hypothesis ; trails:levels ?levels ; trails:pValue ?p .
      ?hypothesis trails:gate "statistics" .
      FILTER (?levels >= ?many && ?p > ?tail)
    } }
    MINUS { SELECT DISTINCT ?hypothesis WHERE {
      ?proxy trails:testRole trails:Confounder ; trails:polarity trails:Contradicts ; trails:hypothesis ?hypothesis ;
        trails:test/trails:rival ?better .
      ?hypothesis trails:confidence ?own . ?better trails:confidence ?higher .
      OPTIONAL { ?back trails:hypothesis ?better ; trails:testRole trails:Confounder ; trails:polarity trails:Supports ;
        trails:test/trails:rival ?hypothesis . }
      FILTER (?higher > ?own || BOUND(?back))
    } }
    OPTIONAL { { SELECT DISTINCT ?hypothesis (true AS ?predicted) WHERE {
      {{ investigation }} trails:policy/policy:directRate ?direct .
      ?check trails:testRole trails:Prediction ; trails:hypothesis ?hypothesis ; trails:rate ?rate . FILTER (?rate >= ?direct) } } }
    OPTIONAL { { SELECT DISTINCT ?hypothesis (true AS ?spared) WHERE {
      {{ investigation }} trails:policy/policy:placeboRate ?placebo .
      ?control trails:testRole trails:Placebo ; trails:hypothesis ?hypothesis ; trails:rate ?cleared . FILTER (?cleared <= ?placebo) } } }
    FILTER (?gate != "direct" || (BOUND(?predicted) && BOUND(?spared)))
    # Where several tests have one of these roles, each of them has to pass.
    MINUS { SELECT DISTINCT ?hypothesis WHERE {
      {{ investigation }} trails:policy/policy:directRate ?direct .
      ?miss trails:testRole trails:Prediction ; trails:hypothesis ?hypothesis ; trails:rate ?low . FILTER (?low < ?direct) } }
    MINUS { SELECT DISTINCT ?hypothesis WHERE {
      {{ investigation }} trails:policy/policy:placeboRate ?placebo .
      ?loose trails:testRole trails:Placebo ; trails:hypothesis ?hypothesis ; trails:rate ?high . FILTER (?high > ?placebo) } }
  }
  BIND (IRI(CONCAT(STR({{ step }}), ":support:", STR(?number))) AS ?transition)
}
