#+ summary: Puts the values of two properties back in their places.
#+ title: Exchange two values
#+ does: exchange the values of {dimension} and {level}
#+ explanation: Of every claimed node the values of one property go under the other one, in the named graph where they stand.
#+ example: What stands under longitude goes under latitude, and the other way round.
#+ families: value-exchanged value-exchanged-order mapping-crossed mapping-crossed-class
#+ region: property-assertion
#+ operation: exchange
#+ mends: data
#+ order: 12
#+ reads: graph
#+ writes: graph
#+ param nodes: pattern, binds ?focus to the nodes that are mended
#+ param dimension: iri, a property
#+ param level: iri, the other property
DELETE { GRAPH ?graph { ?focus ?from ?value . } }
INSERT { GRAPH ?graph { ?focus ?to ?value . } }
WHERE {
  {{ nodes }}
  VALUES (?from ?to) { ({{ dimension }} {{ level }}) ({{ level }} {{ dimension }}) }
  GRAPH ?graph { ?focus ?from ?value . }
}
