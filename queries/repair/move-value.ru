#+ summary: Moves a value from a neighbour to the node that it belongs to.
#+ title: Move a value
#+ does: move {predicate} over {level} to the node that it belongs to
#+ explanation: The values of the constrained property that stand on the one neighbour of a claimed node are put on the node itself, in the same named graph. Where several neighbours have one, or the neighbour belongs to other nodes too, nobody knows whose value it is.
#+ example: The weight that stands on the packing of a part becomes that of the part.
#+ families: mapping-outward mapping-inward
#+ components: MinCount
#+ region: property-assertion
#+ operation: move
#+ mends: data
#+ order: 15
#+ reads: graph
#+ writes: graph
#+ param nodes: pattern, binds ?focus to the nodes that are mended
#+ param predicate: iri, the predicate of the constrained path
#+ param level: iri, the property between the node and its neighbour, in either direction
PREFIX work: <urn:x-kgreason:work:>
DELETE { GRAPH ?graph { ?neighbour {{ predicate }} ?value . } }
INSERT { GRAPH ?graph { ?focus {{ predicate }} ?value . } }
WHERE {
  {{ nodes }}
  ?focus {{ level }}|^{{ level }} ?neighbour .
  GRAPH ?graph { ?neighbour {{ predicate }} ?value . }
  FILTER (!STRSTARTS(STR(?graph), "urn:x-kgreason:work:"))
}
#= obstacles
INSERT { GRAPH work:marks { ?focus work:obstacle ?why . } }
WHERE {
  {{ nodes }}
  { ?focus {{ level }}|^{{ level }} ?one , ?two .
    ?one {{ predicate }} ?value1 . ?two {{ predicate }} ?value2 .
    FILTER (?one != ?two)
    BIND ("several of its neighbours have a value" AS ?why) }
  UNION
  { ?focus {{ level }}|^{{ level }} ?neighbour . ?neighbour {{ predicate }} ?value .
    ?neighbour {{ level }}|^{{ level }} ?other .
    FILTER (?other != ?focus)
    BIND ("the neighbour with the value belongs to other nodes too" AS ?why) }
}
