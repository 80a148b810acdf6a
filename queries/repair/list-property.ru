#+ summary: Lists a property in a closed shape.
#+ title: List a property
#+ does: list {level} in the closed shape
#+ explanation: The closed shape gets a property shape for the property in common use, which asks nothing else of it.
#+ example: The shape of parts lists their weight.
#+ families: shape-closed
#+ components: Closed
#+ region: shape
#+ operation: add
#+ mends: shapes
#+ order: 70
#+ reads: shapes
#+ writes: shapes
#+ param shape: iri, the closed shape
#+ param level: iri, the property
PREFIX sh: <http://www.w3.org/ns/shacl#>
PREFIX work: <urn:x-kgreason:work:>
INSERT { GRAPH work:shapes { {{ shape }} sh:property ?listed . ?listed sh:path {{ level }} . } }
WHERE {
  GRAPH work:shapes { {{ shape }} sh:closed ?closed . }
  BIND (IRI(CONCAT(STR({{ shape }}), "-", {{ local-name(level) }})) AS ?listed)
}
