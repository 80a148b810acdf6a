#+ summary: Closes the shape without a property that is in common use.
#+ title: Stale closed shape
#+ explanation: The shape is closed and lists all properties but one; the data are left as they are.
#+ example: The shape is older than the property.
#+ cause: shape
#+ components: Closed
#+ values: any
#+ corrupts: shape
#+ param shape: iri, the node shape
#+ param listed: terms, the properties that it lists
PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#>
PREFIX sh: <http://www.w3.org/ns/shacl#>
PREFIX work: <urn:x-kgreason:work:>
INSERT DATA { GRAPH work:shapes {
  {{ shape }} sh:closed true ; sh:ignoredProperties work:ignored .
  work:ignored rdf:first rdf:type ; rdf:rest rdf:nil .
  {% for path in listed %}
  {{ shape }} sh:property {{ path }} . {{ path }} sh:path {{ path }} .
  {% endfor %}
} }
