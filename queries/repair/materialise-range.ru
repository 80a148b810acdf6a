#+ summary: Asserts the class that follows from the range of a property.
#+ title: Materialise a range
#+ does: type what {predicate} points at as {class}
#+ explanation: Each thing that the property points at, and claimed nodes point at, is typed by the class asked for, once, in a graph in which it is described.
#+ example: Whatever delivers is a supplier.
#+ families: inference-range
#+ components: Class
#+ region: type-assertion
#+ operation: materialise
#+ mends: data
#+ order: 54
#+ reads: graph
#+ writes: graph
#+ param nodes: pattern, binds ?focus to the nodes that are mended
#+ param predicate: iri, the predicate of the constrained path
#+ param class: iri, the class that the shape asks for
#+ param level: iri, the property with the range
PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#>
INSERT { GRAPH ?graph { ?thing rdf:type {{ class }} . } }
WHERE {
  { SELECT ?focus ?thing (MIN(STR(?where)) AS ?first) WHERE {
    {{ nodes }}
    ?focus {{ predicate }} ?thing .
    ?from {{ level }} ?thing .
    FILTER NOT EXISTS { ?thing rdf:type {{ class }} . }
    GRAPH ?where { ?thing ?property ?any . }
    FILTER (!STRSTARTS(STR(?where), "urn:x-kgreason:work:"))
  } GROUP BY ?focus ?thing }
  BIND (IRI(?first) AS ?graph)
}
