#+ summary: Multiplies a number: another unit, a shifted decimal point.
#+ title: Unit or scale error
#+ explanation: The numbers of the corrupted nodes are multiplied by a factor.
#+ example: Kilograms are delivered as grams.
#+ cause: value
#+ components: MaxInclusive
#+ values: number
#+ corrupts: focus
#+ param predicate: iri, the predicate of the constraint that is to be broken
#+ param factor: literal, what numbers are multiplied by
PREFIX work: <urn:x-kgreason:work:>
DELETE { GRAPH ?graph { ?focus {{ predicate }} ?value . } }
INSERT { GRAPH ?graph { ?focus {{ predicate }} ?wrong . } }
WHERE {
  GRAPH work:marks { ?focus work:corrupted work:fault . }
  GRAPH ?graph { ?focus {{ predicate }} ?value . }
  FILTER (isNumeric(?value))
  BIND (STRDT(STR(?value * {{ factor }}), DATATYPE(?value)) AS ?wrong)
}
