#+ summary: Asserts what follows from an inverse property.
#+ title: Materialise an inverse
#+ does: add the {predicate} that follows from {level}
#+ explanation: What points at a claimed node by the inverse property is asserted as its value, in the same graph.
#+ example: The supplier that lists a part is the supplier of the part.
#+ families: inference-inverse
#+ region: property-assertion
#+ operation: materialise
#+ mends: data
#+ order: 51
#+ reads: graph
#+ writes: graph
#+ param nodes: pattern, binds ?focus to the nodes that are mended
#+ param predicate: iri, the predicate of the constrained path
#+ param level: iri, the inverse property
INSERT { GRAPH ?graph { ?focus {{ predicate }} ?thing . } }
WHERE {
  {{ nodes }}
  GRAPH ?graph { ?thing {{ level }} ?focus . }
}
