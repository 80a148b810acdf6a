#+ summary: Reads a text again that was read in the wrong encoding.
#+ title: Read in the right encoding
#+ does: read {predicate} again as UTF-8
#+ explanation: UTF-8 that was read as Latin-1 or Windows-1252 has two to four signs for one letter. They become the letter again. A text in which such signs are left, since letters were lost, stays as it is.
#+ example: "GÃ¤rtnerweg" becomes "Gärtnerweg".
#+ families: value-form
#+ region: literal-value
#+ operation: replace
#+ mends: data
#+ order: 35
#+ note: SPARQL cannot decode; which signs stand for which letters is found in the texts beforehand.
#+ reads: graph
#+ writes: graph
#+ param nodes: pattern, binds ?focus to the nodes that are mended
#+ param predicate: iri, the predicate of the constrained path
#+ param level: literal, the regular expression of the form
#+ param reading: pattern, binds ?read to ?text as it is when it is read as UTF-8
DELETE { GRAPH ?graph { ?focus {{ predicate }} ?value . } }
INSERT { GRAPH ?graph { ?focus {{ predicate }} ?mended . } }
WHERE {
  {{ nodes }}
  GRAPH ?graph { ?focus {{ predicate }} ?value . }
  FILTER (isLiteral(?value) && REGEX(STR(?value), {{ level }}))
  BIND (STR(?value) AS ?text)
  {{ reading }}
  FILTER (?read != ?text && !REGEX(?read, {{ level }}))
  BIND (IF(LANG(?value) != "", STRLANG(?read, LANG(?value)), STRDT(?read, DATATYPE(?value))) AS ?mended)
}
