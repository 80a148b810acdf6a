#+ summary: Puts day and month of dates back in their places.
#+ title: Turn day and month
#+ does: put day and month of {dimension} in each other's place
#+ explanation: The values of claimed nodes alone are changed, and keep their datatype and the time of day. Dates of the same origin that fit the rule as they stand may be wrong as well.
#+ example: 2024-03-04 becomes 2024-04-03.
#+ families: value-day-month
#+ region: literal-value
#+ operation: replace
#+ mends: data
#+ order: 33
#+ reads: graph
#+ writes: graph
#+ param nodes: pattern, binds ?focus to the nodes that are mended
#+ param dimension: iri, the property of the dates
DELETE { GRAPH ?graph { ?focus {{ dimension }} ?value . } }
INSERT { GRAPH ?graph { ?focus {{ dimension }} ?mended . } }
WHERE {
  {{ nodes }}
  GRAPH ?graph { ?focus {{ dimension }} ?value . }
  FILTER ({{ turnable(?value) }})
  BIND (STRDT(CONCAT({{ turned(?value) }}, SUBSTR(STR(?value), 11)), DATATYPE(?value)) AS ?mended)
}
