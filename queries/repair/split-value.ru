#+ summary: Makes several values of one that has a mark between them.
#+ title: Split a value
#+ does: split the values of {predicate} at the mark
#+ explanation: Each part, without blanks at its ends, becomes a value of its own with the datatype and language of the whole; up to twenty of them.
#+ example: “history; theory” becomes “history” and “theory”.
#+ families: value-joined
#+ region: literal-value
#+ operation: replace
#+ mends: data
#+ order: 31
#+ reads: graph
#+ writes: graph
#+ param nodes: pattern, binds ?focus to the nodes that are mended
#+ param predicate: iri, the predicate of the constrained path
#+ param level: literal, the mark
DELETE { GRAPH ?graph { ?focus {{ predicate }} ?value . } }
INSERT { GRAPH ?graph { ?focus {{ predicate }} ?part . } }
WHERE {
  {{ nodes }}
  GRAPH ?graph { ?focus {{ predicate }} ?value . }
  FILTER (isLiteral(?value) && CONTAINS(STR(?value), {{ level }}))
  BIND (CONCAT("[", {{ level }}, "]") AS ?mark)
  BIND (CONCAT("[^", {{ level }}, "]*") AS ?any)
  # A value of more parts stays as it is.
  FILTER (!REGEX(STR(?value), CONCAT("(", ?any, ?mark, "){20}")))
  VALUES ?before { 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 }
  BIND (CONCAT("^(", ?any, ?mark, "){", STR(?before), "}") AS ?skipped)
  FILTER (REGEX(STR(?value), ?skipped))
  BIND (IF(?before = 0, STR(?value), REPLACE(STR(?value), ?skipped, "")) AS ?left)
  BIND (REPLACE(IF(CONTAINS(?left, {{ level }}), STRBEFORE(?left, {{ level }}), ?left), "^\\s+|\\s+$", "") AS ?text)
  FILTER (?text != "")
  BIND (IF(LANG(?value) != "", STRLANG(?text, LANG(?value)), STRDT(?text, DATATYPE(?value))) AS ?part)
}
