#+ summary: Asserts the class that follows from the domain of a property.
#+ title: Materialise a domain
#+ does: type what {predicate} points at and has {level} as {class}
#+ explanation: Each thing with the property that claimed nodes point at is typed by the class asked for, in the same graph.
#+ example: Whatever has a licence number is a supplier.
#+ families: inference-domain
#+ components: Class
#+ region: type-assertion
#+ operation: materialise
#+ mends: data
#+ order: 53
#+ reads: graph
#+ writes: graph
#+ param nodes: pattern, binds ?focus to the nodes that are mended
#+ param predicate: iri, the predicate of the constrained path
#+ param class: iri, the class that the shape asks for
#+ param level: iri, the property with the domain
PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#>
INSERT { GRAPH ?graph { ?thing rdf:type {{ class }} . } }
WHERE {
  {{ nodes }}
  ?focus {{ predicate }} ?thing .
  GRAPH ?graph { ?thing {{ level }} ?any . }
  FILTER NOT EXISTS { ?thing rdf:type {{ class }} . }
}
