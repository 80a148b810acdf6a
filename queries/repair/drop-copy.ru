#+ summary: Takes the smaller of two sources out where the other stands in its place.
#+ title: Drop a copy
#+ does: leave out the smaller of two sources as a whole, which the other replaces
#+ explanation: Where two sources give different values, the named graph that gives the property for fewer nodes is removed as a whole, such as what the first of two runs of one import has left. It is in the way that it says something that no other graph says: a property of a node that has a value nowhere else.
#+ example: An import was run twice, with other numbers the second time; what the first run wrote goes.
#+ families: duplicate-sources
#+ region: named-graph
#+ operation: remove
#+ mends: data
#+ order: 64
#+ reads: graph
#+ writes: graph
#+ param nodes: pattern, binds ?focus to the nodes that are mended
#+ param predicate: iri, the predicate of the constrained path
PREFIX work: <urn:x-kgreason:work:>
DELETE { GRAPH ?graph { ?subject ?property ?value . } }
WHERE {
  { SELECT ?graph (MIN(?node) AS ?focus) WHERE {
    { SELECT DISTINCT ?graph (?focus AS ?node) WHERE {
      {{ nodes }}
      { SELECT ?graph (COUNT(DISTINCT ?first) AS ?few) WHERE { GRAPH ?graph { ?first {{ predicate }} ?any . } } GROUP BY ?graph }
      { SELECT ?better (COUNT(DISTINCT ?second) AS ?many) WHERE { GRAPH ?better { ?second {{ predicate }} ?any . } } GROUP BY ?better }
      FILTER (?many > ?few || (?many = ?few && STR(?better) < STR(?graph)))
      GRAPH ?graph { ?focus {{ predicate }} ?one . }
      GRAPH ?better { ?focus {{ predicate }} ?two . }
      FILTER (COALESCE(LANG(?one), "") = COALESCE(LANG(?two), "") && !STRSTARTS(STR(?graph), "urn:x-kgreason:work:"))
      FILTER NOT EXISTS { GRAPH ?better { ?focus {{ predicate }} ?one . } }
    } }
  } GROUP BY ?graph }
  FILTER (BOUND(?focus))
  GRAPH ?graph { ?subject ?property ?value . }
}
#= obstacles
INSERT { GRAPH work:marks { ?focus work:obstacle ?why . } }
WHERE {
  { SELECT ?smaller (COUNT(*) AS ?alone) WHERE {
    { SELECT DISTINCT ?smaller WHERE {
      {{ nodes }}
      { SELECT ?smaller (COUNT(DISTINCT ?first) AS ?few) WHERE { GRAPH ?smaller { ?first {{ predicate }} ?any . } } GROUP BY ?smaller }
      { SELECT ?better (COUNT(DISTINCT ?second) AS ?many) WHERE { GRAPH ?better { ?second {{ predicate }} ?any . } } GROUP BY ?better }
      FILTER (?many > ?few || (?many = ?few && STR(?better) < STR(?smaller)))
      GRAPH ?smaller { ?focus {{ predicate }} ?one . }
      GRAPH ?better { ?focus {{ predicate }} ?two . }
      FILTER (COALESCE(LANG(?one), "") = COALESCE(LANG(?two), "") && !STRSTARTS(STR(?smaller), "urn:x-kgreason:work:"))
      FILTER NOT EXISTS { GRAPH ?better { ?focus {{ predicate }} ?one . } }
    } }
    GRAPH ?smaller { ?subject ?property ?value . }
    # A blank node belongs to what points at it, which is looked at itself.
    FILTER (!isBlank(?subject))
    FILTER NOT EXISTS { GRAPH ?other { ?subject ?property ?else . } FILTER (?other != ?smaller && !STRSTARTS(STR(?other), "urn:x-kgreason:work:")) }
  } GROUP BY ?smaller }
  FILTER (?alone > 0)
  { SELECT DISTINCT ?smaller ?focus WHERE {
      {{ nodes }}
      { SELECT ?smaller (COUNT(DISTINCT ?first) AS ?few) WHERE { GRAPH ?smaller { ?first {{ predicate }} ?any . } } GROUP BY ?smaller }
      { SELECT ?better (COUNT(DISTINCT ?second) AS ?many) WHERE { GRAPH ?better { ?second {{ predicate }} ?any . } } GROUP BY ?better }
      FILTER (?many > ?few || (?many = ?few && STR(?better) < STR(?smaller)))
      GRAPH ?smaller { ?focus {{ predicate }} ?one . }
      GRAPH ?better { ?focus {{ predicate }} ?two . }
      FILTER (COALESCE(LANG(?one), "") = COALESCE(LANG(?two), "") && !STRSTARTS(STR(?smaller), "urn:x-kgreason:work:"))
      FILTER NOT EXISTS { GRAPH ?better { ?focus {{ predicate }} ?one . } }
  } }
  BIND (CONCAT("no other source says ", STR(?alone), " of the things that the smaller one says") AS ?why)
}
