#+ summary: Lists several properties in a closed shape.
#+ title: List properties
#+ does: list the properties in the closed shape
#+ explanation: The closed shape gets a property shape for each of the properties in common use, which asks nothing else of them.
#+ example: The shape of parts lists their weight, colour and maker.
#+ families: shape-closed-several
#+ components: Closed
#+ region: shape
#+ operation: add
#+ mends: shapes
#+ order: 70
#+ reads: shapes
#+ writes: shapes
#+ param shape: iri, the closed shape
#+ param levels: terms, the properties
PREFIX sh: <http://www.w3.org/ns/shacl#>
PREFIX work: <urn:x-kgreason:work:>
INSERT { GRAPH work:shapes { {{ shape }} sh:property ?listed . ?listed sh:path ?level . } }
WHERE {
  GRAPH work:shapes { {{ shape }} sh:closed ?closed . }
  VALUES ?level { {{ levels | rows }} }
  BIND (IRI(CONCAT(STR({{ shape }}), "-", {{ local-name(?level) }})) AS ?listed)
}
