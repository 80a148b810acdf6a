#+ summary: Puts the zeros before a number that it lost.
#+ title: Put the zeros before a number
#+ does: put the zeros back before the numbers in {predicate}
#+ explanation: A number with fewer figures than others gets zeros before it. A text keeps its datatype and language; a value that was read as a number becomes a text, for a number has no zeros before it.
#+ example: "1067" becomes "01067".
#+ families: value-zeros
#+ region: literal-value
#+ operation: replace
#+ mends: data
#+ order: 31
#+ reads: graph
#+ writes: graph
#+ param nodes: pattern, binds ?focus to the nodes that are mended
#+ param predicate: iri, the predicate of the constrained path
#+ param level: literal, the regular expression of the texts that are too short
#+ param figures: literal, how many figures the others have
DELETE { GRAPH ?graph { ?focus {{ predicate }} ?value . } }
INSERT { GRAPH ?graph { ?focus {{ predicate }} ?padded . } }
WHERE {
  {{ nodes }}
  GRAPH ?graph { ?focus {{ predicate }} ?value . }
  FILTER (isLiteral(?value) && REGEX(STR(?value), {{ level }}))
  BIND (STR(?value) AS ?text)
  BIND (REPLACE(?text, "[0-9].*$", "") AS ?before)
  BIND (CONCAT(?before, SUBSTR("00000000000000000000", 1, {{ figures }} - STRLEN(REPLACE(?text, "[^0-9]", ""))), SUBSTR(?text, STRLEN(?before) + 1)) AS ?whole)
  BIND (IF(isNumeric(?value), ?whole, IF(LANG(?value) != "", STRLANG(?whole, LANG(?value)), STRDT(?whole, DATATYPE(?value)))) AS ?padded)
}
