#+ summary: Takes away a value that stands for "not known".
#+ title: Map a sentinel to absence
#+ does: leave out the {dimension} {level}
#+ explanation: The one wrong value that many nodes share is removed; that nothing is known is then told by there being nothing. Where the shapes ask for a value, that is an obstacle: what it is nobody knows.
#+ example: A weight of -999 is left out.
#+ families: value-repeated value-repeated-order value-default value-filler value-unset
#+ region: literal-value
#+ operation: remove
#+ mends: data
#+ order: 30
#+ reads: graph
#+ writes: graph
#+ param nodes: pattern, binds ?focus to the nodes that are mended
#+ param dimension: iri, the property of the value
#+ param level: term, the value
#+ param required: flag, whether the shapes ask for a value
PREFIX work: <urn:x-kgreason:work:>
DELETE { GRAPH ?graph { ?focus {{ dimension }} {{ level }} . } }
WHERE {
  {{ nodes }}
  GRAPH ?graph { ?focus {{ dimension }} {{ level }} . }
}
#= obstacles
INSERT { GRAPH work:marks { ?focus work:obstacle "a value is asked for and nobody knows which" . } }
WHERE {
  {{ nodes }}
  ?focus {{ dimension }} {{ level }} .
  {% if required %}
  FILTER NOT EXISTS { ?focus {{ dimension }} ?other . FILTER (?other != {{ level }}) }
  {% else %}
  FILTER (false)
  {% endif %}
}
