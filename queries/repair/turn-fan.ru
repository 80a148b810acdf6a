#+ summary: Turns round all links of a property at nodes where they were written from their other end.
#+ title: Turn links round
#+ does: turn {dimension} round
#+ explanation: Every link that starts from a claimed node goes the other way then, in the same named graph.
#+ example: What a concept has as broader concepts gets the concept as its own.
#+ families: mapping-turned
#+ region: property-assertion
#+ operation: turn
#+ mends: data
#+ order: 12
#+ reads: graph
#+ writes: graph
#+ param nodes: pattern, binds ?focus to the nodes that are mended
#+ param dimension: iri, the predicate that was written from the other end
DELETE { GRAPH ?graph { ?focus {{ dimension }} ?thing . } }
INSERT { GRAPH ?graph { ?thing {{ dimension }} ?focus . } }
WHERE {
  {{ nodes }}
  GRAPH ?graph { ?focus {{ dimension }} ?thing . }
  FILTER isIRI(?thing)
}
