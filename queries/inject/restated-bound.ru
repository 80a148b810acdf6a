#+ summary: Makes a number larger than the shape allows, each by another amount.
#+ title: Past the bound
#+ explanation: The numbers of the corrupted nodes lie beyond the bound and have nothing else in common; to say that they lie there restates the rule.
#+ example: Single results were typed wrongly by hand.
#+ cause: value none
#+ components: MaxInclusive
#+ values: number
#+ corrupts: focus
#+ param predicate: iri, the predicate of the constraint that is to be broken
#+ param bound: literal, the largest number allowed
PREFIX work: <urn:x-kgreason:work:>
PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
DELETE { GRAPH ?graph { ?focus {{ predicate }} ?value . } }
INSERT { GRAPH ?graph { ?focus {{ predicate }} ?wrong . } }
WHERE {
  GRAPH work:marks { ?focus work:corrupted work:fault . }
  GRAPH ?graph { ?focus {{ predicate }} ?value . }
  FILTER (isNumeric(?value))
  BIND (STRDT(STR(ROUND(ABS(?value) + ABS(xsd:decimal({{ bound }})) + 1)), DATATYPE(?value)) AS ?wrong)
}
