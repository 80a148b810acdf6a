#+ summary: Leaves one of several values that are the same but for case and blanks.
#+ title: Merge a duplicate
#+ does: merge the spellings of one {predicate}
#+ explanation: Where two sources give one value in two spellings, the first in order is kept. Values that differ otherwise are an obstacle: which of them is right is not known.
#+ example: "Acme Ltd" and "ACME LTD " become one.
#+ families: duplicate-sources
#+ region: property-assertion
#+ operation: merge
#+ mends: data
#+ order: 60
#+ reads: graph
#+ writes: graph
#+ param nodes: pattern, binds ?focus to the nodes that are mended
#+ param predicate: iri, the predicate of the constrained path
PREFIX work: <urn:x-kgreason:work:>
DELETE { GRAPH ?graph { ?focus {{ predicate }} ?value . } }
WHERE {
  {{ nodes }}
  GRAPH ?graph { ?focus {{ predicate }} ?value . }
  ?focus {{ predicate }} ?kept .
  FILTER (STR(?kept) < STR(?value) && isLiteral(?kept) && isLiteral(?value) && LANG(?kept) = LANG(?value))
  FILTER (LCASE(REPLACE(STR(?kept), "^\\s+|\\s+$", "")) = LCASE(REPLACE(STR(?value), "^\\s+|\\s+$", "")))
}
#= obstacles
INSERT { GRAPH work:marks { ?focus work:obstacle "two values differ in more than case and blanks" . } }
WHERE {
  {{ nodes }}
  ?focus {{ predicate }} ?value , ?other .
  FILTER (!sameTerm(?value, ?other) && COALESCE(LANG(?value), "") = COALESCE(LANG(?other), ""))
  FILTER (LCASE(REPLACE(STR(?other), "^\\s+|\\s+$", "")) != LCASE(REPLACE(STR(?value), "^\\s+|\\s+$", "")))
}
