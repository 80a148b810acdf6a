#+ summary: Takes away the value of the smaller of two sources that differ.
#+ title: Drop a duplicate
#+ does: leave out the {predicate} of the smaller source
#+ explanation: Where two sources give different values, the source that gives the property for more of the claimed and other nodes is kept. Which value is right the data do not say, so a change of the shape is shown beside it.
#+ example: The numbers of the second register are left out.
#+ families: duplicate-sources
#+ region: property-assertion
#+ operation: remove
#+ mends: data
#+ order: 62
#+ reads: graph
#+ writes: graph
#+ param nodes: pattern, binds ?focus to the nodes that are mended
#+ param predicate: iri, the predicate of the constrained path
DELETE { GRAPH ?graph { ?focus {{ predicate }} ?value . } }
WHERE {
  {{ nodes }}
  { SELECT ?graph (COUNT(DISTINCT ?one) AS ?few) WHERE { GRAPH ?graph { ?one {{ predicate }} ?first . } } GROUP BY ?graph }
  { SELECT ?better (COUNT(DISTINCT ?two) AS ?many) WHERE { GRAPH ?better { ?two {{ predicate }} ?second . } } GROUP BY ?better }
  FILTER (?many > ?few || (?many = ?few && STR(?better) < STR(?graph)))
  GRAPH ?graph { ?focus {{ predicate }} ?value . }
  GRAPH ?better { ?focus {{ predicate }} ?other . }
  FILTER (COALESCE(LANG(?value), "") = COALESCE(LANG(?other), ""))
  FILTER NOT EXISTS { GRAPH ?better { ?focus {{ predicate }} ?value . } }
}
