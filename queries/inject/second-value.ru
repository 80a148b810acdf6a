#+ summary: Gives a second value where there is one.
#+ title: Second value
#+ explanation: The corrupted nodes get another value of the property beside the right one.
#+ example: A feed repeats the part number with a suffix.
#+ cause: region
#+ components: MaxCount
#+ values: iri text number
#+ corrupts: focus
#+ param predicate: iri, the predicate of the constraint that is to be broken
PREFIX work: <urn:x-kgreason:work:>
INSERT { GRAPH ?graph { ?focus {{ predicate }} ?second . } }
WHERE {
  GRAPH work:marks { ?focus work:corrupted work:fault . }
  GRAPH ?graph { ?focus {{ predicate }} ?value . }
  BIND (IF(isIRI(?value), IRI(CONCAT(STR(?value), "-2")), IF(isNumeric(?value), ?value + 1,
    IF(LANG(?value) != "", STRLANG(CONCAT(STR(?value), " 2"), LANG(?value)), STRDT(CONCAT(STR(?value), "2"), DATATYPE(?value))))) AS ?second)
}
