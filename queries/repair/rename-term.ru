#+ summary: Points at the terms of the same names in the namespace that has them.
#+ title: Point into the right namespace
#+ does: point by {predicate} at the terms of the same names under {space}
#+ explanation: What claimed nodes point at in the namespace that does not have it becomes the term of the same local name in the one that does, where that term is described or, if the rule lists its values, is one of them. A name that is there in neither is an obstacle.
#+ example: The codes under http://example.org/codes/ become those under https://example.org/codes/.
#+ families: reference-elsewhere
#+ region: property-assertion
#+ operation: replace
#+ mends: data
#+ order: 9
#+ reads: graph
#+ writes: graph
#+ param nodes: pattern, binds ?focus to the nodes that are mended
#+ param predicate: iri, the predicate of the constrained path
#+ param level: literal, the namespace that does not have the terms
#+ param space: literal, the namespace that has them
#+ param allowed: terms, the values that the rule lists or asks for
PREFIX work: <urn:x-kgreason:work:>
DELETE { GRAPH ?graph { ?focus {{ predicate }} ?old . } }
INSERT { GRAPH ?graph { ?focus {{ predicate }} ?new . } }
WHERE {
  {{ nodes }}
  GRAPH ?graph { ?focus {{ predicate }} ?old . }
  FILTER (isIRI(?old) && REPLACE(STR(?old), "^(.*[/#]|[^/#]*:).*$", "$1") = {{ level }})
  BIND (IRI(CONCAT({{ space }}, SUBSTR(STR(?old), STRLEN({{ level }}) + 1))) AS ?new)
  {% if allowed %}
  FILTER (?old NOT IN ({{ allowed | enumerated }}) && ?new IN ({{ allowed | enumerated }}))
  {% else %}
  FILTER NOT EXISTS { ?old ?property ?value . }
  FILTER EXISTS { ?new ?said ?so . }
  {% endif %}
}
#= obstacles
INSERT { GRAPH work:marks { ?focus work:obstacle "the other namespace does not have the term either" . } }
WHERE {
  {{ nodes }}
  ?focus {{ predicate }} ?old .
  FILTER (isIRI(?old) && REPLACE(STR(?old), "^(.*[/#]|[^/#]*:).*$", "$1") = {{ level }})
  BIND (IRI(CONCAT({{ space }}, SUBSTR(STR(?old), STRLEN({{ level }}) + 1))) AS ?new)
  {% if allowed %}
  FILTER (?old NOT IN ({{ allowed | enumerated }}) && ?new NOT IN ({{ allowed | enumerated }}))
  {% else %}
  FILTER NOT EXISTS { ?old ?property ?value . }
  FILTER NOT EXISTS { ?new ?said ?so . }
  {% endif %}
}
