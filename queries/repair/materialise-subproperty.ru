#+ summary: Asserts what follows from a subproperty.
#+ title: Materialise a subproperty
#+ does: add each {level} as {predicate} too
#+ explanation: Each value that claimed nodes have under the subproperty is asserted under the property too, in the same graph.
#+ example: The main supplier is a supplier.
#+ families: inference-subproperty
#+ region: property-assertion
#+ operation: materialise
#+ mends: data
#+ order: 50
#+ copies: level
#+ reads: graph
#+ writes: graph
#+ param nodes: pattern, binds ?focus to the nodes that are mended
#+ param predicate: iri, the predicate of the constrained path
#+ param level: iri, the subproperty
INSERT { GRAPH ?graph { ?focus {{ predicate }} ?value . } }
WHERE {
  {{ nodes }}
  GRAPH ?graph { ?focus {{ level }} ?value . }
}
