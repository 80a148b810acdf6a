#+ summary: Puts the value that was meant in place of a misspelt one.
#+ title: Put the name that was meant
#+ does: put {near} as {predicate} in place of what was misspelt
#+ explanation: The misspelt value becomes the one that it is nearly the same as. Where the node has that one already, only the misspelt one goes.
#+ example: The status “Shiped” becomes “Shipped”.
#+ families: reference-misspelt value-misspelt value-published
#+ region: property-assertion
#+ operation: replace
#+ needs: values
#+ mends: data
#+ order: 10
#+ reads: graph
#+ writes: graph
#+ param nodes: pattern, binds ?focus to the nodes that are mended
#+ param predicate: iri, the predicate of the constrained path
#+ param level: term, what was misspelt
#+ param levels: terms, the same, where a family binds several
#+ param near: term, what was meant
DELETE { GRAPH ?graph { ?focus {{ predicate }} ?old . } }
INSERT { GRAPH ?graph { ?focus {{ predicate }} {{ near }} . } }
WHERE {
  {{ nodes }}
  GRAPH ?graph { ?focus {{ predicate }} ?old . }
  VALUES ?old { {% if levels %}{{ levels | rows }}{% else %}{{ level }} {% endif %}}
}
