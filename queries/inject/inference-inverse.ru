#+ summary: Writes the statement the other way round, under the inverse property.
#+ title: Missing closure: inverse
#+ explanation: What the corrupted nodes point at points at them instead; the ontology says that the properties are inverse.
#+ example: The supplier lists its parts, the parts name no supplier.
#+ cause: inference
#+ components: MinCount
#+ values: thing
#+ corrupts: focus
#+ param predicate: iri, the predicate of the constraint that is to be broken
#+ param other: iri, the inverse property
PREFIX owl: <http://www.w3.org/2002/07/owl#>
PREFIX work: <urn:x-kgreason:work:>
DELETE { GRAPH ?graph { ?focus {{ predicate }} ?value . } }
INSERT {
  GRAPH ?graph { ?value {{ other }} ?focus . }
  GRAPH work:ontology { {{ other }} owl:inverseOf {{ predicate }} . }
}
WHERE {
  GRAPH work:marks { ?focus work:corrupted work:fault . }
  GRAPH ?graph { ?focus {{ predicate }} ?value . }
  FILTER (isIRI(?value))
}
