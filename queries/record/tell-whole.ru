#+ summary: Puts what the last synthesis of a divided question concludes into a copy of its record, in the place of what each part concludes for itself.
#+ explanation: Final statuses, e-values and the family of e-BH take the place of provisional ones; the verdicts, findings and causes of the synthesis count as those of one investigation. What several parts proposed is told once.
#+ reads: ledger
#+ writes: ledger
#+ param investigation: iri, the investigation that divided the question
PREFIX trails: <https://w3id.org/trails#>
DELETE { GRAPH {{ investigation }} { ?hypothesis trails:status ?before ; trails:eProcess ?alone . } }
INSERT { GRAPH {{ investigation }} { ?hypothesis trails:status ?after ; trails:eProcess ?combined . } }
WHERE {
  { SELECT (MAX(?number) AS ?last) WHERE { GRAPH {{ investigation }} { ?any a trails:Synthesis ; trails:index ?number . } } }
  GRAPH {{ investigation }} {
    ?synthesis a trails:Synthesis ; trails:index ?last .
    ?standing a trails:FinalStatus ; trails:synthesis ?synthesis ; trails:hypothesis ?hypothesis ; trails:finalStatus ?after ; trails:combinedE ?combined .
    ?hypothesis trails:status ?before ; trails:eProcess ?alone .
  }
} ;
DELETE { GRAPH {{ investigation }} { ?hypothesis trails:confidence ?alone . } }
INSERT { GRAPH {{ investigation }} { ?hypothesis trails:confidence ?combined . } }
WHERE {
  { SELECT (MAX(?number) AS ?last) WHERE { GRAPH {{ investigation }} { ?any a trails:Synthesis ; trails:index ?number . } } }
  GRAPH {{ investigation }} {
    ?synthesis a trails:Synthesis ; trails:index ?last .
    ?standing a trails:FinalStatus ; trails:synthesis ?synthesis ; trails:hypothesis ?hypothesis ; trails:combinedConfidence ?combined .
    ?hypothesis trails:confidence ?alone .
  }
} ;
DELETE { GRAPH {{ investigation }} { ?twin a trails:Hypothesis ; trails:gate ?gate . } }
WHERE {
  { SELECT (MAX(?number) AS ?last) WHERE { GRAPH {{ investigation }} { ?any a trails:Synthesis ; trails:index ?number . } } }
  GRAPH {{ investigation }} {
    ?synthesis a trails:Synthesis ; trails:index ?last .
    ?standing a trails:FinalStatus ; trails:synthesis ?synthesis ; trails:hypothesis ?twin ; trails:toldAs ?told .
    ?twin trails:gate ?gate .
  }
} ;
DELETE { GRAPH {{ investigation }} { ?decide trails:ebhFamily ?alone . } }
INSERT { GRAPH {{ investigation }} { ?decide trails:ebhFamily ?family . } }
WHERE {
  { SELECT (MAX(?number) AS ?last) WHERE { GRAPH {{ investigation }} { ?any a trails:Synthesis ; trails:index ?number . } } }
  GRAPH {{ investigation }} {
    ?synthesis a trails:Synthesis ; trails:index ?last ; trails:ebhFamily ?family .
    ?decide trails:phase trails:Decide ; trails:ebhFamily ?alone .
  }
} ;
DELETE { GRAPH {{ investigation }} { ?decide trails:ebhThreshold ?alone . } }
INSERT { GRAPH {{ investigation }} { ?decide trails:ebhThreshold ?least . } }
WHERE {
  { SELECT (MAX(?number) AS ?last) WHERE { GRAPH {{ investigation }} { ?any a trails:Synthesis ; trails:index ?number . } } }
  GRAPH {{ investigation }} {
    ?synthesis a trails:Synthesis ; trails:index ?last .
    ?decide trails:phase trails:Decide .
    OPTIONAL { ?synthesis trails:ebhThreshold ?least . }
    OPTIONAL { ?decide trails:ebhThreshold ?alone . }
  }
} ;
INSERT { GRAPH {{ investigation }} { ?concluded a ?plain . } }
WHERE {
  { SELECT (MAX(?number) AS ?last) WHERE { GRAPH {{ investigation }} { ?any a trails:Synthesis ; trails:index ?number . } } }
  GRAPH {{ investigation }} {
    ?synthesis a trails:Synthesis ; trails:index ?last .
    ?concluded a ?kind ; trails:synthesis ?synthesis .
    VALUES (?kind ?plain) { (trails:SynthesisedVerdict trails:Verdict) (trails:SynthesisedFinding trails:JoinedFinding) }
  }
} ;
INSERT { GRAPH {{ investigation }} { ?synthesis a trails:JointExplanation . } }
WHERE {
  { SELECT (MAX(?number) AS ?last) WHERE { GRAPH {{ investigation }} { ?any a trails:Synthesis ; trails:index ?number . } } }
  GRAPH {{ investigation }} { ?synthesis a trails:Synthesis ; trails:index ?last ; trails:explained ?explained . }
} ;
INSERT { GRAPH {{ investigation }} { ?cause a trails:JointCause ; trails:explanation ?synthesis . } }
WHERE {
  { SELECT (MAX(?number) AS ?last) WHERE { GRAPH {{ investigation }} { ?any a trails:Synthesis ; trails:index ?number . } } }
  GRAPH {{ investigation }} {
    ?synthesis a trails:Synthesis ; trails:index ?last .
    ?cause a trails:SynthesisedCause ; trails:synthesis ?synthesis ; trails:adds ?adds .
  }
}
