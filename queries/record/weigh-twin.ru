#+ summary: Gives a hypothesis on a scratch copy what was found outside the graph for a twin of it, the same hypothesis in another part of a divided question.
#+ explanation: Tests on the graph look at the same nodes in both parts, so those of one of them count alone. What a source outside the graph gave counts unless the hypothesis has it: the same source, question and outcome. Expectations are those of the twin's test, for the members of the frame that have a twin there; other rivals expect it as rivals that overlap in nothing.
#+ reads: ledger
#+ writes: ledger
#+ param investigation: iri, the investigation on the scratch copy
#+ param hypothesis: iri, the hypothesis that stands for both
#+ param twin: iri, the same hypothesis of another part
PREFIX trails: <https://w3id.org/trails#>
INSERT { GRAPH {{ investigation }} {
  ?copy ?property ?value ; trails:hypothesis {{ hypothesis }} ; trails:test ?asked .
  {{ hypothesis }} ?list ?copy .
  ?asked trails:kind ?kind ; trails:query ?query ; trails:expects ?expects .
  ?expects trails:hypothesis ?member ; trails:role ?role ; trails:overlap ?overlap .
} }
WHERE {
  { SELECT ?evidence ?test ?kind ?query WHERE {
    GRAPH {{ investigation }} {
      ?evidence a trails:Evidence ; trails:hypothesis {{ twin }} ; trails:test ?test ; trails:modality ?modality ;
        trails:evidenceSource ?source ; trails:outcomeClass ?class .
      ?test trails:kind ?kind ; trails:query ?query .
      FILTER (?modality != trails:GraphQuery && ?modality != trails:ScratchIntervention)
    }
    MINUS { GRAPH {{ investigation }} {
      ?own a trails:Evidence ; trails:hypothesis {{ hypothesis }} ; trails:test/trails:query ?query ;
        trails:evidenceSource ?source ; trails:outcomeClass ?class .
    } }
  } }
  GRAPH {{ investigation }} {
    ?evidence ?property ?value .
    {{ twin }} ?list ?evidence .
    {{ hypothesis }} trails:frame/trails:member ?member .
    ?member trails:index ?number ; trails:catchAll ?none .
    FILTER (?property != trails:hypothesis && ?property != trails:test)
  }
  OPTIONAL {
    GRAPH {{ investigation }} {
      ?theirs trails:toldAs ?member .
      ?test trails:expects ?expectation .
      ?expectation trails:hypothesis ?theirs ; trails:role ?said ; trails:overlap ?shared .
    }
  }
  BIND (COALESCE(?said, IF(?none, "none", "rival")) AS ?role)
  BIND (COALESCE(?shared, 0.0) AS ?overlap)
  BIND (IRI(CONCAT(STR(?evidence), ":again")) AS ?copy)
  BIND (IRI(CONCAT(STR(?test), ":again")) AS ?asked)
  BIND (IRI(CONCAT(STR(?test), ":again:", STR(?number))) AS ?expects)
}
