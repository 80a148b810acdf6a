#+ summary: Makes an IRI of a text that is one.
#+ title: Cast a text to an IRI
#+ does: make IRIs of the texts of {predicate}
#+ explanation: Texts of claimed nodes that are absolute IRIs become the nodes they name. Other texts are an obstacle.
#+ example: A column of links that was loaded as text points at things again.
#+ families: datatype datatype-iri
#+ components: NodeKind Class Node
#+ needs: wants
#+ region: property-assertion
#+ operation: cast
#+ mends: data
#+ order: 24
#+ reads: graph
#+ writes: graph
#+ param nodes: pattern, binds ?focus to the nodes that are mended
#+ param predicate: iri, the predicate of the constrained path
PREFIX work: <urn:x-kgreason:work:>
DELETE { GRAPH ?graph { ?focus {{ predicate }} ?value . } }
INSERT { GRAPH ?graph { ?focus {{ predicate }} ?node . } }
WHERE {
  {{ nodes }}
  GRAPH ?graph { ?focus {{ predicate }} ?value . }
  FILTER (isLiteral(?value) && REGEX(STR(?value), "^[A-Za-z][A-Za-z0-9+.-]*:[^ <>{}|^`]+$"))
  BIND (IRI(STR(?value)) AS ?node)
}
#= obstacles
INSERT { GRAPH work:marks { ?focus work:obstacle "a text is no absolute IRI" . } }
WHERE {
  {{ nodes }}
  ?focus {{ predicate }} ?value .
  FILTER (isLiteral(?value) && !REGEX(STR(?value), "^[A-Za-z][A-Za-z0-9+.-]*:[^ <>{}|^`]+$"))
}
