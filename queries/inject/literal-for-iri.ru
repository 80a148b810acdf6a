#+ summary: Writes the address of a thing as a text.
#+ title: Literal for IRI
#+ explanation: The IRIs that the corrupted nodes point at become strings.
#+ example: A column of links is loaded as text.
#+ cause: datatype mapping
#+ components: NodeKind
#+ values: iri
#+ corrupts: focus
#+ param predicate: iri, the predicate of the constraint that is to be broken
PREFIX work: <urn:x-kgreason:work:>
DELETE { GRAPH ?graph { ?focus {{ predicate }} ?value . } }
INSERT { GRAPH ?graph { ?focus {{ predicate }} ?wrong . } }
WHERE {
  GRAPH work:marks { ?focus work:corrupted work:fault . }
  GRAPH ?graph { ?focus {{ predicate }} ?value . }
  FILTER (isIRI(?value))
  BIND (STR(?value) AS ?wrong)
}
