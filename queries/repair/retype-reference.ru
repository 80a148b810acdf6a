#+ summary: Gives what is pointed at the class that the shape asks for, instead of the one it has.
#+ title: Retype what is referred to
#+ does: retype what {predicate} points at from {level} to {class}
#+ explanation: The wrong class of each thing that claimed nodes point at is replaced by the right one, in the same graph.
#+ example: Certificates that were loaded as documents become certificates, and are documents no more.
#+ families: reference-retyped
#+ components: Class
#+ region: type-assertion
#+ operation: replace
#+ mends: data
#+ order: 42
#+ reads: graph
#+ writes: graph
#+ param nodes: pattern, binds ?focus to the nodes that are mended
#+ param predicate: iri, the predicate of the constrained path
#+ param class: iri, the class that the shape asks for
#+ param level: iri, the class found
PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#>
DELETE { GRAPH ?graph { ?thing rdf:type {{ level }} . } }
INSERT { GRAPH ?graph { ?thing rdf:type {{ class }} . } }
WHERE {
  {{ nodes }}
  ?focus {{ predicate }} ?thing .
  GRAPH ?graph { ?thing rdf:type {{ level }} . }
  FILTER NOT EXISTS { ?thing rdf:type {{ class }} . }
}
