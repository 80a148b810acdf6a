#+ summary: Types what is pointed at by an equivalent class.
#+ title: Missing closure: equivalent class
#+ explanation: The corrupted things change their class for one that the ontology says is the same.
#+ example: Vendors are suppliers by an equivalence.
#+ cause: inference
#+ components: Class
#+ values: thing
#+ corrupts: value
#+ param class: iri, the class that the constraint asks for
#+ param other: iri, the equivalent class
PREFIX owl: <http://www.w3.org/2002/07/owl#>
PREFIX work: <urn:x-kgreason:work:>
DELETE { GRAPH ?graph { ?thing a {{ class }} . } }
INSERT {
  GRAPH ?graph { ?thing a {{ other }} . }
  GRAPH work:ontology { {{ other }} owl:equivalentClass {{ class }} . }
}
WHERE {
  GRAPH work:marks { ?thing work:corrupted work:fault . }
  GRAPH ?graph { ?thing a {{ class }} . }
}
