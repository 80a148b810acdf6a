#+ summary: Puts the class that was meant in place of a misspelt one.
#+ title: Put the class that was meant
#+ does: make those of the misspelt class nodes of {near}
#+ explanation: The misspelt class of a node becomes the one that it is nearly the same as. Other classes of the node stay.
#+ example: What is typed owl:DataTypeProperty is typed owl:DatatypeProperty.
#+ families: reference-misspelt value-misspelt value-published
#+ region: type-assertion
#+ operation: replace
#+ needs: classes
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
