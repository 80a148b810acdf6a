#+ summary: Writes a number that stands for "not known".
#+ title: Sentinel number
#+ explanation: The numbers of the corrupted nodes become one number that means nothing.
#+ example: Missing weights are delivered as -999.
#+ cause: value
#+ components: MinInclusive
#+ values: number
#+ corrupts: focus
#+ param predicate: iri, the predicate of the constraint that is to be broken
#+ param sentinel: literal, the text of the number
PREFIX work: <urn:x-kgreason:work:>
DELETE { GRAPH ?graph { ?focus {{ predicate }} ?value . } }
INSERT { GRAPH ?graph { ?focus {{ predicate }} ?wrong . } }
WHERE {
  GRAPH work:marks { ?focus work:corrupted work:fault . }
  GRAPH ?graph { ?focus {{ predicate }} ?value . }
  FILTER (isNumeric(?value))
  BIND (STRDT({{ sentinel }}, DATATYPE(?value)) AS ?wrong)
}
