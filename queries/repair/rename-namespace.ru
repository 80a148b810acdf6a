#+ summary: Moves values to the namespace that the shape asks for.
#+ title: Rename a namespace
#+ does: move {predicate} and its like into the namespace that the shape asks for
#+ explanation: Every property of a claimed node that stands in the namespace of the other predicate is put into that of the right one, keeping its local name, if the property is in use there.
#+ example: Properties under http://example.org/v# move to https://example.org/v#.
#+ families: mapping-predicate
#+ region: property-assertion
#+ operation: rename
#+ mends: data
#+ order: 8
#+ reads: graph
#+ writes: graph
#+ param nodes: pattern, binds ?focus to the nodes that are mended
#+ param predicate: iri, the predicate of the constrained path
#+ param level: iri, the predicate that was used instead
DELETE { GRAPH ?graph { ?focus ?wrong ?value . } }
INSERT { GRAPH ?graph { ?focus ?right ?value . } }
WHERE {
  {{ nodes }}
  BIND (REPLACE(STR({{ level }}), "[^/#:]*$", "") AS ?space)
  BIND (REPLACE(STR({{ predicate }}), "[^/#:]*$", "") AS ?asked)
  FILTER ({{ local-name(level) }} = {{ local-name(predicate) }})
  GRAPH ?graph { ?focus ?wrong ?value . }
  FILTER (STRSTARTS(STR(?wrong), ?space) && !REGEX(STRAFTER(STR(?wrong), ?space), "[/#:]"))
  BIND (IRI(CONCAT(?asked, STRAFTER(STR(?wrong), ?space))) AS ?right)
  FILTER (?right = {{ predicate }} || EXISTS { ?other ?right ?any . })
}
