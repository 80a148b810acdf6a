#+ summary: Writes for every hypothesis what the calibration of a step makes of its confidence.
#+ explanation: The value of the stretch, of those that were learned from the kind of proof of the hypothesis or from all kinds, that holds the confidence, or with features the confidence plus the adjustment of the verdict, kept between 0 and 1. A stretch begins with its lower end; the last one has 1 too.
#+ example: A confidence of 0.94 in the stretch from 0.9 to 1, of whose leaders 87 % were right, is estimated at 0.87.
#+ reads: ledger
#+ writes: ledger
#+ param investigation: iri, the investigation
#+ param step: iri, the step that concludes
PREFIX prov: <http://www.w3.org/ns/prov#>
PREFIX trails: <https://w3id.org/trails#>
INSERT { GRAPH {{ investigation }} {
  ?estimate a trails:Estimate , prov:Entity ; trails:step {{ step }} ; prov:wasGeneratedBy {{ step }} ;
    trails:hypothesis ?hypothesis ; trails:calibration ?calibration ; trails:raw ?raw ; trails:calibrated ?calibrated .
} }
WHERE {
  GRAPH {{ investigation }} {
    {{ step }} trails:calibration ?calibration .
    ?calibration trails:withFeatures ?with ; trails:calibrationStep ?stretch .
    ?stretch trails:lower ?lower ; trails:upper ?upper ; trails:calibrated ?calibrated .
    ?hypothesis a trails:Hypothesis ; trails:symptom ?symptom ; trails:confidence ?raw .
    ?verdict a trails:Verdict ; trails:symptom ?symptom ; trails:adjustment ?adjustment .
    OPTIONAL { ?hypothesis trails:proof ?proof . }
    OPTIONAL { ?stretch trails:proof ?learned . }
    FILTER (!BOUND(?learned) || COALESCE(?learned = ?proof, false))
  }
  BIND (IF(?with, ?raw + ?adjustment, ?raw) AS ?sum)
  BIND (IF(?sum < 0.0, 0.0, IF(?sum > 1.0, 1.0, ?sum)) AS ?input)
  FILTER (?lower <= ?input && (?input < ?upper || ?upper = 1.0))
  BIND (IRI(CONCAT(STR({{ investigation }}), ":estimate:", REPLACE(STR(?hypothesis), "^.*:", ""))) AS ?estimate)
}
