#+ summary: Takes a source out that others stand in place of.
#+ title: Drop a replaced source
#+ does: leave out the source {level}, which others replace
#+ explanation: The named graph that the failures come from is removed as a whole, such as an old export that was left beside the new one. It is in the way that the graph says something that no other graph says: a property of a node that has a value nowhere else. Values may differ; which is right the data do not say.
#+ example: Last year's list of suppliers, left beside this year's, goes.
#+ families: source-graph
#+ region: named-graph
#+ operation: remove
#+ mends: data
#+ order: 66
#+ reads: graph
#+ writes: graph
#+ param nodes: pattern, binds ?focus to the nodes that are mended
#+ param level: iri, the named graph
PREFIX work: <urn:x-kgreason:work:>
DELETE { GRAPH {{ level }} { ?subject ?property ?value . } }
WHERE {
  { SELECT (MIN(?one) AS ?focus) WHERE {
    { SELECT (?focus AS ?one) WHERE { {{ nodes }} FILTER EXISTS { GRAPH {{ level }} { ?focus ?told ?of . } } } } } }
  FILTER (BOUND(?focus))
  GRAPH {{ level }} { ?subject ?property ?value . }
}
#= obstacles
INSERT { GRAPH work:marks { ?focus work:obstacle ?why . } }
WHERE {
  { SELECT (COUNT(*) AS ?alone) WHERE {
    GRAPH {{ level }} { ?subject ?property ?value . }
    # A blank node belongs to what points at it, which is looked at itself.
    FILTER (!isBlank(?subject))
    FILTER NOT EXISTS { GRAPH ?other { ?subject ?property ?else . } FILTER (?other != {{ level }} && !STRSTARTS(STR(?other), "urn:x-kgreason:work:")) }
  } }
  FILTER (?alone > 0)
  {{ nodes }}
  BIND (CONCAT("no other source says ", STR(?alone), " of the things that this one says") AS ?why)
}
