#+ summary: Loses the language of a text.
#+ title: Language slip
#+ explanation: The texts of the corrupted nodes become plain strings without a language tag.
#+ example: Labels lose their language on the way through a table.
#+ cause: datatype
#+ components: Datatype
#+ values: language
#+ corrupts: focus
#+ param predicate: iri, the predicate of the constraint that is to be broken
PREFIX work: <urn:x-kgreason:work:>
DELETE { GRAPH ?graph { ?focus {{ predicate }} ?value . } }
INSERT { GRAPH ?graph { ?focus {{ predicate }} ?wrong . } }
WHERE {
  GRAPH work:marks { ?focus work:corrupted work:fault . }
  GRAPH ?graph { ?focus {{ predicate }} ?value . }
  FILTER (LANG(?value) != "")
  BIND (STR(?value) AS ?wrong)
}
