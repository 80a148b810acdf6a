#+ summary: Leaves out a class that follows from the range of the property.
#+ title: Missing closure: range
#+ explanation: The corrupted things lose their class; the ontology says that it is the range of what points at them.
#+ example: Whatever delivers is a supplier.
#+ cause: inference
#+ components: Class
#+ values: thing
#+ corrupts: value
#+ param predicate: iri, the predicate of the constraint that is to be broken
#+ param class: iri, the class that the constraint asks for
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
PREFIX work: <urn:x-kgreason:work:>
DELETE { GRAPH ?graph { ?thing a {{ class }} . } }
INSERT { GRAPH work:ontology { {{ predicate }} rdfs:range {{ class }} . } }
WHERE {
  GRAPH work:marks { ?thing work:corrupted work:fault . }
  GRAPH ?graph { ?thing a {{ class }} . }
}
