#+ summary: Takes blanks off the ends of texts.
#+ title: Trim a text
#+ does: take the blanks off the ends of {predicate}
#+ explanation: Values that have the wrong form only for blanks at their ends lose them, and keep datatype and language.
#+ example: "DE " becomes "DE".
#+ families: value-form
#+ region: literal-value
#+ operation: replace
#+ mends: data
#+ order: 32
#+ reads: graph
#+ writes: graph
#+ param nodes: pattern, binds ?focus to the nodes that are mended
#+ param predicate: iri, the predicate of the constrained path
#+ param level: literal, the regular expression of the form
DELETE { GRAPH ?graph { ?focus {{ predicate }} ?value . } }
INSERT { GRAPH ?graph { ?focus {{ predicate }} ?trimmed . } }
WHERE {
  {{ nodes }}
  GRAPH ?graph { ?focus {{ predicate }} ?value . }
  FILTER (isLiteral(?value) && !isNumeric(?value) && REGEX(STR(?value), {{ level }}))
  BIND (REPLACE(STR(?value), "^\\s+|\\s+$", "") AS ?text)
  FILTER (?text != STR(?value) && ?text != "" && !REGEX(?text, {{ level }}))
  BIND (IF(LANG(?value) != "", STRLANG(?text, LANG(?value)), STRDT(?text, DATATYPE(?value))) AS ?trimmed)
}
