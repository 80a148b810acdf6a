#+ summary: Writes the predicate with its own name under another namespace.
#+ title: Wrong namespace
#+ explanation: The predicate of the corrupted nodes keeps its local name and changes its namespace.
#+ example: http became https in the address of a vocabulary.
#+ cause: mapping
#+ components: MinCount
#+ values: any
#+ corrupts: focus
#+ param predicate: iri, the predicate of the constraint that is to be broken
#+ param space: literal, the namespace used instead
PREFIX work: <urn:x-kgreason:work:>
DELETE { GRAPH ?graph { ?focus {{ predicate }} ?value . } }
INSERT { GRAPH ?graph { ?focus ?other ?value . } }
WHERE {
  GRAPH work:marks { ?focus work:corrupted work:fault . }
  GRAPH ?graph { ?focus {{ predicate }} ?value . }
  BIND (IRI(CONCAT({{ space }}, {{ local-name(predicate) }})) AS ?other)
}
