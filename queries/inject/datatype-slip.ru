#+ summary: Gives the value another datatype.
#+ title: Datatype slip
#+ explanation: The values of the corrupted nodes keep their text and change their datatype.
#+ example: A date is written as a string.
#+ cause: datatype
#+ components: Datatype
#+ values: typed
#+ corrupts: focus
#+ param predicate: iri, the predicate of the constraint that is to be broken
#+ param datatype: iri, the datatype given
PREFIX work: <urn:x-kgreason:work:>
DELETE { GRAPH ?graph { ?focus {{ predicate }} ?value . } }
INSERT { GRAPH ?graph { ?focus {{ predicate }} ?wrong . } }
WHERE {
  GRAPH work:marks { ?focus work:corrupted work:fault . }
  GRAPH ?graph { ?focus {{ predicate }} ?value . }
  FILTER (isLiteral(?value))
  BIND (STRDT(STR(?value), {{ datatype }}) AS ?wrong)
}
