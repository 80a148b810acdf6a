#+ summary: Asserts the class that follows from another class.
#+ title: Materialise a class
#+ does: type each {level} that {predicate} points at as {class} too
#+ explanation: Each thing of the equivalent or narrower class that claimed nodes point at is typed by the class asked for, in the same graph.
#+ example: A vendor is a supplier.
#+ families: inference-class
#+ components: Class
#+ region: type-assertion
#+ operation: materialise
#+ mends: data
#+ order: 52
#+ reads: graph
#+ writes: graph
#+ param nodes: pattern, binds ?focus to the nodes that are mended
#+ param predicate: iri, the predicate of the constrained path
#+ param class: iri, the class that the shape asks for
#+ param level: iri, the class from which it follows
PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#>
INSERT { GRAPH ?graph { ?thing rdf:type {{ class }} . } }
WHERE {
  {{ nodes }}
  ?focus {{ predicate }} ?thing .
  GRAPH ?graph { ?thing rdf:type {{ level }} . }
  FILTER NOT EXISTS { ?thing rdf:type {{ class }} . }
}
