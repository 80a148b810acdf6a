#+ summary: Leaves out a class that follows from the domain of a property.
#+ title: Missing closure: domain
#+ explanation: The corrupted things lose their class and get a property whose domain it is.
#+ example: Whatever has a credit limit is a customer.
#+ cause: inference
#+ components: Class
#+ values: thing
#+ corrupts: value
#+ param class: iri, the class that the constraint asks for
#+ param other: iri, the property with the domain
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
PREFIX work: <urn:x-kgreason:work:>
DELETE { GRAPH ?graph { ?thing a {{ class }} . } }
INSERT {
  GRAPH ?graph { ?thing {{ other }} "1" . }
  GRAPH work:ontology { {{ other }} rdfs:domain {{ class }} . }
}
WHERE {
  GRAPH work:marks { ?thing work:corrupted work:fault . }
  GRAPH ?graph { ?thing a {{ class }} . }
}
