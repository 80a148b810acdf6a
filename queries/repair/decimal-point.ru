#+ summary: Writes a decimal comma as a point.
#+ title: Decimal comma to point
#+ does: write the decimal comma of {predicate} as a point
#+ explanation: Numbers with a comma get a point; where the shape asks for a datatype, they get that too.
#+ example: "3,5" becomes 3.5.
#+ families: value-form
#+ region: literal-value
#+ operation: replace
#+ mends: data
#+ order: 33
#+ reads: graph
#+ writes: graph
#+ param nodes: pattern, binds ?focus to the nodes that are mended
#+ param predicate: iri, the predicate of the constrained path
DELETE { GRAPH ?graph { ?focus {{ predicate }} ?value . } }
INSERT { GRAPH ?graph { ?focus {{ predicate }} ?mended . } }
WHERE {
  {{ nodes }}
  GRAPH ?graph { ?focus {{ predicate }} ?value . }
  FILTER (isLiteral(?value) && REGEX(STR(?value), "^[+-]?[0-9]+,[0-9]+$"))
  BIND (STRDT(REPLACE(STR(?value), ",", "."), DATATYPE(?value)) AS ?mended)
}
