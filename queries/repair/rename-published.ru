#+ summary: Points at the published terms of the same names, in the vocabulary that has them.
#+ title: Point into the published vocabulary that has the names
#+ does: point by {predicate} at the terms of the same names under {space}
#+ explanation: Names that a published vocabulary does not have become the terms of the same names in another one, which has all of them.
#+ example: What is named dcmitype:date and dcmitype:hasPart becomes dcterms:date and dcterms:hasPart.
#+ families: value-published
#+ region: property-assertion
#+ operation: replace
#+ needs: values
#+ mends: data
#+ order: 11
#+ reads: graph
#+ writes: graph
#+ param nodes: pattern, binds ?focus to the nodes that are mended
#+ param predicate: iri, the predicate of the constrained path
#+ param levels: terms, the names that are no terms
#+ param space: literal, the namespace that has them
DELETE { GRAPH ?graph { ?focus {{ predicate }} ?old . } }
INSERT { GRAPH ?graph { ?focus {{ predicate }} ?new . } }
WHERE {
  {{ nodes }}
  GRAPH ?graph { ?focus {{ predicate }} ?old . }
  VALUES ?old { {{ levels | rows }} }
  BIND (IRI(CONCAT({{ space }}, REPLACE(STR(?old), "^.*[/#]", ""))) AS ?new)
}
