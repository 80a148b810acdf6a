#+ summary: Cuts a text off.
#+ title: Truncated text
#+ explanation: The texts of the corrupted nodes lose all but their first letters.
#+ example: A column of the staging table was too narrow.
#+ cause: value
#+ components: MinLength
#+ values: text
#+ corrupts: focus
#+ param predicate: iri, the predicate of the constraint that is to be broken
#+ param length: literal, the number of letters left
PREFIX work: <urn:x-kgreason:work:>
DELETE { GRAPH ?graph { ?focus {{ predicate }} ?value . } }
INSERT { GRAPH ?graph { ?focus {{ predicate }} ?wrong . } }
WHERE {
  GRAPH work:marks { ?focus work:corrupted work:fault . }
  GRAPH ?graph { ?focus {{ predicate }} ?value . }
  FILTER (isLiteral(?value))
  BIND (SUBSTR(?value, 1, {{ length }}) AS ?wrong)
}
