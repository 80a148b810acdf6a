#+ summary: A hypothesis is supported when it passes every gate of the policy for its kind.
#+ to: Supported
#+ explanation: Every kind needs confidence from the threshold on. Kinds told by statistics also need membership of the e-BH set, enough failing nodes to split, and a rate beyond the spread of their siblings where there are enough; no test may have found them a proxy. Kinds checked directly need a prediction that holds for nearly all claimed failures, and a placebo that clears almost none; of any kind no prediction may fail, and no placebo clear more. Tests are asked for by their role. That there is no cause needs enough failing nodes, and a test of a rival in its frame.
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
    ?policy policy:threshold ?least ; policy:leastFailing ?enough ; policy:siblingLevels ?many ; policy:siblingTail ?tail ;
      policy:directRate ?direct ; policy:placeboRate ?placebo .
    ?hypothesis a trails:Hypothesis ; trails:gate ?gate ; trails:status ?old ; trails:confidence ?confidence ;
      trails:eProcess ?e ; trails:index ?number ; trails:symptom ?symptom ; trails:claimable ?claimable .
    ?policy policy:transition [ trails:from ?old ; trails:to trails:Supported ] .
    OPTIONAL { ?hypothesis trails:lastUpdate ?update . }
    # What was proposed with a look at all data needs a direct check, or a code length that is paid for.
    FILTER NOT EXISTS { ?hypothesis trails:paid false ; trails:gate "statistics" . }
    # What was said outside the graph, such as the judgement of a model, alone supports nothing.
    FILTER NOT EXISTS { ?beside trails:hypothesis ?hypothesis ; trails:testRole trails:Corroboration ; trails:polarity trails:Supports .
      FILTER NOT EXISTS { ?own trails:hypothesis ?hypothesis ; trails:polarity trails:Supports ; trails:testRole ?other . FILTER (?other != trails:Corroboration) } }
    # What only says the rule again is no cause.
    FILTER NOT EXISTS { ?again trails:hypothesis ?hypothesis ; trails:testRole trails:Restatement ; trails:polarity trails:Contradicts . }
    FILTER (?old != trails:Supported && ?confidence >= ?least)
    FILTER (?gate != "statistics" || (?e >= {{ threshold }} && ?claimable >= ?enough))
    # That there is no cause is not said of too few nodes to look for one.
    FILTER (?gate != "none" || ?claimable >= ?enough)
    # Nor where no rival of the frame was put to a test that could have borne it out.
    # (Counted once for all; as an EXISTS the store would join it anew for each hypothesis.)
    OPTIONAL {
      { SELECT ?hypothesis (COUNT(?tried) AS ?tests) WHERE {
        ?hypothesis trails:catchAll true ; trails:frame/trails:member ?rival . ?rival trails:catchAll false .
        ?tried a trails:Evidence ; trails:hypothesis ?rival ; trails:outcomeClass ?told ; trails:testRole ?for .
        FILTER (?told != "undetermined" && ?for != trails:Restatement)
        # A rival that restates the rule could not have been borne out.
        FILTER NOT EXISTS { ?same trails:hypothesis ?rival ; trails:testRole trails:Restatement ; trails:polarity trails:Contradicts . }
      } GROUP BY ?hypothesis }
    }
    FILTER (?gate != "none" || BOUND(?tests))
    FILTER NOT EXISTS {
      ?sibling trails:hypothesis ?hypothesis ; trails:testRole trails:Spread ; trails:levels ?levels ; trails:pValue ?p .
      FILTER (?gate = "statistics" && ?levels >= ?many && ?p > ?tail)
    }
    FILTER NOT EXISTS {
      ?proxy trails:hypothesis ?hypothesis ; trails:testRole trails:Confounder ; trails:polarity trails:Contradicts ;
        trails:test/trails:rival ?better .
      ?better trails:confidence ?higher .
      OPTIONAL { ?back trails:hypothesis ?better ; trails:testRole trails:Confounder ; trails:polarity trails:Supports ;
        trails:test/trails:rival ?hypothesis . }
      FILTER (?higher > ?confidence || BOUND(?back))
    }
    FILTER (?gate != "direct" || EXISTS {
      ?check trails:hypothesis ?hypothesis ; trails:testRole trails:Prediction ; trails:rate ?rate . FILTER (?rate >= ?direct) })
    FILTER (?gate != "direct" || EXISTS {
      ?control trails:hypothesis ?hypothesis ; trails:testRole trails:Placebo ; trails:rate ?cleared . FILTER (?cleared <= ?placebo) })
    # Where several tests have one of these roles, each of them has to pass.
    FILTER NOT EXISTS {
      ?miss trails:hypothesis ?hypothesis ; trails:testRole trails:Prediction ; trails:rate ?low . FILTER (?low < ?direct) }
    FILTER NOT EXISTS {
      ?loose trails:hypothesis ?hypothesis ; trails:testRole trails:Placebo ; trails:rate ?high . FILTER (?high > ?placebo) }
  }
  BIND (IRI(CONCAT(STR({{ step }}), ":support:", STR(?number))) AS ?transition)
}
