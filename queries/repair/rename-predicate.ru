#+ summary: Moves values to the predicate that the shape asks for.
#+ title: Rename a predicate
#+ does: rename {level} to {predicate}
#+ explanation: Every value that a claimed node has under the other predicate is put under the right one, in the same named graph.
#+ example: The prices that stand under ex:cost are put under ex:price.
#+ families: mapping-predicate mapping-listed mapping-listed-instead
#+ region: property-assertion
#+ operation: rename
#+ mends: data
#+ order: 10
#+ reads: graph
#+ writes: graph
#+ param nodes: pattern, binds ?focus to the nodes that are mended
#+ param predicate: iri, the predicate that the shape asks for or lists
#+ param level: iri, the predicate that was used instead
PREFIX work: <urn:x-kgreason:work:>
DELETE { GRAPH ?graph { ?focus {{ level }} ?value . } }
INSERT { GRAPH ?graph { ?focus {{ predicate }} ?value . } }
WHERE {
  {{ nodes }}
  GRAPH ?graph { ?focus {{ level }} ?value . }
}
#= obstacles
INSERT { GRAPH work:marks { ?focus work:obstacle "it has another value under the right predicate" . } }
WHERE {
  {{ nodes }}
  ?focus {{ level }} ?value ; {{ predicate }} ?other .
  FILTER (?other != ?value)
}
