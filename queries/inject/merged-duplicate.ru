#+ summary: Merges the node with another source that has another value.
#+ title: Merged duplicate
#+ explanation: The corrupted nodes are described in a second source too, with another value; each source is fine alone.
#+ example: Two registers know the same firm under different numbers.
#+ cause: duplicate
#+ components: MaxCount
#+ values: iri text number
#+ corrupts: focus
#+ param predicate: iri, the predicate of the constraint that is to be broken
#+ param class: iri, the class of the nodes
#+ param graph: iri, the second source
PREFIX work: <urn:x-kgreason:work:>
INSERT { GRAPH {{ graph }} { ?focus a {{ class }} ; {{ predicate }} ?second . } }
WHERE {
  GRAPH work:marks { ?focus work:corrupted work:fault . }
  GRAPH ?graph { ?focus {{ predicate }} ?value . }
  BIND (IF(isIRI(?value), IRI(CONCAT(STR(?value), "-2")), IF(isNumeric(?value), ?value + 1,
    IF(LANG(?value) != "", STRLANG(CONCAT(STR(?value), " 2"), LANG(?value)), STRDT(CONCAT(STR(?value), "2"), DATATYPE(?value))))) AS ?second)
}
