#+ summary: Puts numbers right that are off by a factor.
#+ title: Rescale a number
#+ does: rescale {predicate} by a factor of {level}
#+ explanation: The values of claimed nodes are divided by the factor where they are larger than others on the average, and multiplied where they are smaller. Integers stay integers; one that would get a fraction is an obstacle.
#+ example: Grams become kilograms.
#+ families: value-scale
#+ region: literal-value
#+ operation: replace
#+ mends: data
#+ order: 34
#+ reads: graph
#+ writes: graph
#+ param nodes: pattern, binds ?focus to the nodes that are mended
#+ param predicate: iri, the predicate of the constrained path
#+ param level: literal, the factor
PREFIX work: <urn:x-kgreason:work:>
PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
DELETE { GRAPH ?graph { ?focus {{ predicate }} ?value . } }
INSERT { GRAPH ?graph { ?focus {{ predicate }} ?mended . } }
WHERE {
  { SELECT (AVG(?wrong) AS ?mine) WHERE { {{ nodes }} ?focus {{ predicate }} ?wrong . FILTER (isNumeric(?wrong)) } }
  { SELECT (AVG(?any) AS ?others) WHERE { ?one {{ predicate }} ?any . FILTER (isNumeric(?any)) } }
  {{ nodes }}
  GRAPH ?graph { ?focus {{ predicate }} ?value . }
  FILTER (isNumeric(?value))
  BIND (IF(?mine > ?others, ?value / xsd:decimal({{ level }}), ?value * xsd:decimal({{ level }})) AS ?number)
  BIND (IF(DATATYPE(?value) = xsd:integer, xsd:integer(ROUND(?number)), STRDT(STR(?number), DATATYPE(?value))) AS ?mended)
}
#= obstacles
INSERT { GRAPH work:marks { ?focus work:obstacle "an integer would get a fraction" . } }
WHERE {
  { SELECT (AVG(?wrong) AS ?mine) WHERE { {{ nodes }} ?focus {{ predicate }} ?wrong . FILTER (isNumeric(?wrong)) } }
  { SELECT (AVG(?any) AS ?others) WHERE { ?one {{ predicate }} ?any . FILTER (isNumeric(?any)) } }
  {{ nodes }}
  ?focus {{ predicate }} ?value .
  FILTER (DATATYPE(?value) = xsd:integer && ?mine > ?others)
  BIND (?value / xsd:decimal({{ level }}) AS ?number)
  FILTER (ROUND(?number) != ?number)
}
