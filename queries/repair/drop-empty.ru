#+ summary: Takes away texts that are empty.
#+ title: Leave out empty texts
#+ does: leave out the empty texts of {predicate}
#+ explanation: An empty cell of a table says nothing, and there is no statement for it. Where the shapes ask for a value, that is an obstacle: what it is nobody knows.
#+ example: A telephone number of “” is left out.
#+ families: value-empty
#+ region: literal-value
#+ operation: remove
#+ mends: data
#+ order: 30
#+ reads: graph
#+ writes: graph
#+ param nodes: pattern, binds ?focus to the nodes that are mended
#+ param predicate: iri, the predicate of the constrained path
#+ param required: flag, whether the shapes ask for a value
PREFIX work: <urn:x-kgreason:work:>
DELETE { GRAPH ?graph { ?focus {{ predicate }} ?nothing . } }
WHERE {
  {{ nodes }}
  GRAPH ?graph { ?focus {{ predicate }} ?nothing . }
  FILTER (isLiteral(?nothing) && STR(?nothing) = "")
}
#= obstacles
INSERT { GRAPH work:marks { ?focus work:obstacle "a value is asked for and nobody knows which" . } }
WHERE {
  {{ nodes }}
  ?focus {{ predicate }} ?nothing .
  FILTER (isLiteral(?nothing) && STR(?nothing) = "")
  {% if required %}
  FILTER NOT EXISTS { ?focus {{ predicate }} ?other . FILTER (?other != ?nothing) }
  {% else %}
  FILTER (false)
  {% endif %}
}
