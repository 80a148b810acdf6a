#+ summary: Writes values as the rule lists them.
#+ title: Write as the rule does
#+ does: write {predicate} as the rule lists it
#+ explanation: A value that differs from a listed one in capitals, blanks, underscores or hyphens alone becomes that one.
#+ example: The status “Open” becomes “open”.
#+ families: value-cased
#+ region: property-assertion
#+ operation: replace
#+ needs: values
#+ mends: data
#+ order: 10
#+ reads: graph
#+ writes: graph
#+ param nodes: pattern, binds ?focus to the nodes that are mended
#+ param predicate: iri, the predicate of the constrained path
#+ param allowed: terms, the values that the rule lists or asks for
DELETE { GRAPH ?graph { ?focus {{ predicate }} ?old . } }
INSERT { GRAPH ?graph { ?focus {{ predicate }} ?near . } }
WHERE {
  {{ nodes }}
  GRAPH ?graph { ?focus {{ predicate }} ?old . }
  VALUES ?near { {{ allowed | rows }} }
  FILTER (isLiteral(?old) && isLiteral(?near) && STR(?old) != STR(?near) && {{ bare-name(?old) }} = {{ bare-name(?near) }})
}
