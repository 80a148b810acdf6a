#+ summary: Closes the shape, and gives nodes one of three properties that it does not list.
#+ title: Unlisted properties
#+ explanation: The shape lists all properties that are in use; the corrupted nodes each get one more. To say that a property is not listed restates the rule; which one it is does not.
#+ example: Notes of an older system were left in some records.
#+ cause: mapping shape none
#+ components: Closed
#+ values: any
#+ corrupts: focus
#+ param shape: iri, the node shape
#+ param used: terms, the properties that it lists
PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#>
PREFIX sh: <http://www.w3.org/ns/shacl#>
PREFIX work: <urn:x-kgreason:work:>
INSERT DATA { GRAPH work:shapes {
  {{ shape }} sh:closed true ; sh:ignoredProperties work:ignored .
  work:ignored rdf:first rdf:type ; rdf:rest rdf:nil .
  {% for path in used %}
  {{ shape }} sh:property {{ path }} . {{ path }} sh:path {{ path }} .
  {% endfor %}
} } ;
INSERT { GRAPH ?graph { ?focus ?unlisted "see file" . } }
WHERE {
  GRAPH work:marks { ?focus work:corrupted work:fault . }
  { SELECT ?focus (MIN(?one) AS ?graph) WHERE { GRAPH ?one { ?focus a ?class . } } GROUP BY ?focus }
  BIND (SUBSTR(MD5(STR(?focus)), 1, 1) AS ?digit)
  BIND (IRI(CONCAT("https://example.org/sown/vocab#", IF(?digit < "8", "oldNote", IF(?digit < "c", "fileMark", "flag")))) AS ?unlisted)
}
