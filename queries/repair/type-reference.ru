#+ summary: Gives what is pointed at the class that the shape asks for, beside those it has.
#+ title: Type what is referred to
#+ does: type what {predicate} points at as {class} too
#+ explanation: Each thing of the class found (or of none) that claimed nodes point at gets the right class, in one graph in which it is described.
#+ example: Certificates that were loaded as documents are typed as certificates too.
#+ families: reference-retyped
#+ components: Class
#+ region: type-assertion
#+ operation: add
#+ mends: data
#+ order: 40
#+ reads: graph
#+ writes: graph
#+ param nodes: pattern, binds ?focus to the nodes that are mended
#+ param predicate: iri, the predicate of the constrained path
#+ param class: iri, the class that the shape asks for
#+ param level: iri, the class found, or rdfs:Resource where there is none
PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#>
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
INSERT { GRAPH ?graph { ?thing rdf:type {{ class }} . } }
WHERE {
  { SELECT ?focus ?thing (MIN(STR(?where)) AS ?first) WHERE {
    {{ nodes }}
    ?focus {{ predicate }} ?thing .
    FILTER (!isLiteral(?thing))
    OPTIONAL { ?thing rdf:type ?found . }
    FILTER (COALESCE(?found, rdfs:Resource) = {{ level }})
    FILTER NOT EXISTS { ?thing rdf:type {{ class }} . }
    GRAPH ?where { ?thing ?property ?any . }
    FILTER (!STRSTARTS(STR(?where), "urn:x-kgreason:work:"))
  } GROUP BY ?focus ?thing }
  BIND (IRI(?first) AS ?graph)
}
