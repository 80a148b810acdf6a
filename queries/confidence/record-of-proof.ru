#+ summary: Brings what stands as a cause down to what the record of its kind of proof bears, once, when the verdicts are given.
#+ title: Record of proof
#+ explanation: A posterior is one within a frame: it says how the hypotheses that were thought of stand to each other, and nothing of a truth that has another form. How often that is so depends on the kind of proof, and is known where the cause was known: the calibration. after = the estimate of the calibration, where that is less than the confidence; else nothing moves. What is taken goes to no rival, but is left for a truth of another form. Where the calibration knows no case of the kind of proof there is no estimate, and nothing moves.
#+ example: Supported at 0.98 by its bits; of 20 causes told so 11 were right where the cause was known, which is 0.545455 by the rule of succession: 0.545455.
#+ moves: supported
#+ reads: ledger
#+ writes: ledger
#+ param investigation: iri, the investigation
#+ param step: iri, the step that concludes
PREFIX prov: <http://www.w3.org/ns/prov#>
PREFIX trails: <https://w3id.org/trails#>
DELETE { GRAPH {{ investigation }} { ?hypothesis trails:confidence ?before ; trails:lastUpdate ?previous . } }
INSERT { GRAPH {{ investigation }} {
  ?hypothesis trails:confidence ?after .
  ?update a trails:ConfidenceUpdate , prov:Activity ;
    trails:step {{ step }} ; trails:hypothesis ?hypothesis ; trails:estimate ?estimate ; prov:used ?estimate ;
    trails:rule "record-of-proof" ; trails:policy ?policy ; trails:before ?before ; trails:after ?after ;
    prov:startedAtTime ?begun ; prov:endedAtTime ?done .
  ?update trails:previous ?previous .
  ?hypothesis trails:lastUpdate ?update .
} }
WHERE {
  GRAPH {{ investigation }} {
    {{ step }} prov:startedAtTime ?begun ; prov:endedAtTime ?done .
    # What it moved has another confidence than the estimate is of, and so is not moved again.
    ?estimate a trails:Estimate ; trails:step {{ step }} ; trails:hypothesis ?hypothesis ; trails:raw ?before ; trails:calibrated ?after .
    ?hypothesis trails:confidence ?before ; trails:status ?status .
    FILTER ((?status = trails:Supported || ?status = trails:Converged) && ?after < ?before)
    {{ investigation }} trails:policy ?policy .
    OPTIONAL { ?hypothesis trails:lastUpdate ?previous . }
  }
  BIND (IRI(CONCAT(STR(?estimate), ":update")) AS ?update)
}
