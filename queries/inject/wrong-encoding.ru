#+ summary: Reads a text in the wrong encoding.
#+ title: Wrong encoding
#+ explanation: A letter of the texts of the corrupted nodes becomes two that make no sense.
#+ example: UTF-8 was read as Latin-1.
#+ cause: value
#+ components: Pattern
#+ values: text
#+ corrupts: focus
#+ param predicate: iri, the predicate of the constraint that is to be broken
PREFIX work: <urn:x-kgreason:work:>
DELETE { GRAPH ?graph { ?focus {{ predicate }} ?value . } }
INSERT { GRAPH ?graph { ?focus {{ predicate }} ?wrong . } }
WHERE {
  GRAPH work:marks { ?focus work:corrupted work:fault . }
  GRAPH ?graph { ?focus {{ predicate }} ?value . }
  FILTER (isLiteral(?value))
  BIND (CONCAT(SUBSTR(?value, 1, 1), "\u00C3\u00A9", SUBSTR(?value, 2)) AS ?wrong)
}
